"""Writes lab.xlsx, a workbook as a laboratory keeps one, and rows.csv, the table in it as weir reads it.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install xlsxwriter
    /tmp/venv/bin/python make.py

The values come from arithmetic on the row number: no data of others, nothing random.
"""

import datetime
import os

import xlsxwriter

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    book = xlsxwriter.Workbook(os.path.join(HERE, "lab.xlsx"), {"default_date_format": "yyyy-mm-dd"})
    book.set_properties({"created": datetime.datetime(2020, 1, 1)})
    book.add_worksheet("Notes").write("A1", "made up")
    lab = book.add_worksheet("Lab")
    form = {name: book.add_format({"num_format": code}) for name, code in {
        "day": "dd.mm.yyyy", "at": 'dd/mm/yy "at" hh:mm', "clock": "[$-409]h:mm AM/PM", "share": "0.0%", "money": '#,##0.00 "€"', "month": "mmm-yy"}.items()}
    lab.write("B1", "Results of the week")
    names = ["code", "day", "at", "clock", "share", "money", "flag", "sum", "note"]
    lab.write_row("B3", names)
    lines = [",".join(names)]
    for i in range(40):
        at = datetime.datetime(2019, 12, 30) + datetime.timedelta(days=i * 3, seconds=i * 3607)
        cells = [f"{i:05d}", at.date(), at, at.time(), i / 8, i * 12.25 - 100, i % 3 == 0, i + 0.5, ["low", "high", None][i % 3]]
        row = i + 3 if i < 20 else i + 5  # two empty rows between
        lab.write_string(row, 1, cells[0])
        lab.write_datetime(row, 2, datetime.datetime.combine(cells[1], datetime.time()), form["day"])
        lab.write_datetime(row, 3, at, form["at"])
        lab.write_datetime(row, 4, cells[3], form["clock"])
        lab.write_number(row, 5, cells[4], form["share"])
        lab.write_number(row, 6, cells[5], form["money"])
        lab.write_boolean(row, 7, cells[6])
        lab.write_formula(row, 8, f"=ROW()-3.5+{i}-ROW()+4", None, cells[7])
        if cells[8]:
            lab.write_string(row, 9, cells[8])
        number = lambda x: repr(x).removesuffix(".0")
        lines.append(",".join([cells[0], str(cells[1]), at.strftime("%Y-%m-%dT%H:%M:%S"), at.strftime("%H:%M:%S"), number(cells[4]), number(cells[5]),
                               str(cells[6]).lower(), number(cells[7]), cells[8] or ""]))
    lab.write("L50", "a remark beside the table")
    book.close()
    with open(os.path.join(HERE, "rows.csv"), "w", newline="") as f:
        f.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
