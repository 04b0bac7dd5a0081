"use strict";
// Sorts a table by the column whose head is pressed. Without it the tables stand as the page was written.
const value = (row, k) => {
  const text = row.cells[k].textContent.trim();
  return { text, number: Number(text.replace(/\(.*|[\s%]/gs, "") || NaN) }; // without an interval behind it
};
const order = (a, b, up) => {
  if (isNaN(a.number) !== isNaN(b.number)) return isNaN(a.number) - isNaN(b.number);
  const by = isNaN(a.number) ? a.text.localeCompare(b.text) : a.number - b.number;
  return up ? by : -by;
};
const sort = (table, k) => {
  const heads = [...table.tHead.rows[0].cells];
  const up = heads[k].ariaSort !== "ascending";
  heads.forEach((head) => head.removeAttribute("aria-sort"));
  heads[k].ariaSort = up ? "ascending" : "descending";
  const rows = [...table.tBodies[0].rows].map((row) => ({ row, key: value(row, k) }));
  rows.sort((a, b) => order(a.key, b.key, up));
  table.tBodies[0].append(...rows.map((r) => r.row));
};
for (const table of document.querySelectorAll("table.sorts")) {
  [...table.tHead.rows[0].cells].forEach((head, k) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(table, k));
    head.append(button);
  });
}
