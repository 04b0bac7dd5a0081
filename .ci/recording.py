"""Records what a command prints in a terminal as an SVG that plays itself.

    recording.py COLUMNS LINES PICTURE.svg COMMAND...

Text stays text and moves by CSS alone: no script, no font, nothing that is loaded. It plays once; who asks for reduced
motion, and what does not animate, sees the last screen. Waits are shortened, and the folder is called ~/weir. Needs
pyte, which obeys the terminal's escape sequences.
"""

import fcntl
import html
import os
import pty
import struct
import sys
import termios
import time

import pyte

WIDTH, HEIGHT, MARGIN = 7.2, 16, 14  # of a cell, and around all, in pixels
FIRST, LEAST, MOST = 1.2, 0.1, 0.35  # seconds: before the first output, between two screens at least and at most
COLOURS = {"default": "#1b1f24", "green": "#1a6b34", "red": "#a3201c", "brown": "#7a5200", "blue": "#0b57a4",
           "cyan": "#0b6b6b", "magenta": "#8a3f8f"}  # brown is pyte's word for yellow


def record(columns, lines, command):
    """Yields the time and the bytes of each output of a command in a terminal of that size."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    while True:
        try:
            data = os.read(terminal, 1 << 16)
        except OSError:  # the terminal is closed
            break
        if not data:
            break
        yield time.monotonic(), data
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        sys.exit(f"recording.py: {' '.join(command)} failed")


def screens(columns, lines, command):
    """Yields the time in the picture and the rows of each screen, a row as a tuple of pieces (text, colour, bold)."""
    screen = pyte.Screen(columns, lines)
    stream = pyte.ByteStream(screen)
    stream.feed(f"\033[1m$ {' '.join(command)}\033[0m\r\n".encode())
    shown = rows(screen)
    yield 0, shown
    at, drawn, before = FIRST, 0, None
    for now, data in record(columns, lines, command):
        at += 0 if before is None else min(MOST, now - before)
        before = now
        stream.feed(data)
        if at - drawn >= LEAST:
            if rows(screen) == shown:
                at = drawn + LEAST  # nobody waits for what does not change
                continue
            drawn, shown = at, rows(screen)
            yield drawn, shown
    yield max(at, drawn + LEAST), rows(screen)


def rows(screen):
    """Returns the rows of a screen; an empty row is an empty tuple."""
    return [pieces([screen.buffer[y][x] for x in range(screen.columns)]) for y in range(screen.lines)]


def pieces(cells):
    """Returns the pieces of a row of equal style, without blanks at its end."""
    while cells and not cells[-1].data.strip():
        cells.pop()
    found = []
    for cell in cells:
        style = (cell.fg if cell.fg in COLOURS else "default", cell.bold)
        if found and found[-1][1:] == style:
            found[-1] = (found[-1][0] + cell.data, *style)
        else:
            found.append((cell.data, *style))
    return tuple((text.replace(os.getcwd(), "~/weir"), *style) for text, *style in found)


def spans(taken):
    """Returns of each row what it showed and from when until when; until is None for what the last screen shows."""
    times, pages = zip(*taken)
    found = []
    for y in range(len(pages[0])):
        start = 0
        for k in range(1, len(pages) + 1):
            if k == len(pages) or pages[k][y] != pages[start][y]:
                if pages[start][y]:
                    found.append((y, pages[start][y], times[start], times[k] if k < len(pages) else None))
                start = k
    return found


def text(y, row, start, end):
    """Returns a row as an element, as wide as its cells whatever font there is."""
    length = sum(len(p[0]) for p in row)
    inner = "".join(
        f'<tspan fill="{COLOURS[c]}"{" font-weight=" + chr(34) + "700" + chr(34) if bold else ""}>{html.escape(t)}</tspan>'
        if bold or c != "default" else html.escape(t) for t, c, bold in row)
    when = f"--a:{start:.2f}s" + ("" if end is None else f";--b:{end:.2f}s")
    return (f'<text class="{"last" if end is None else "past"}" style="{when}" x="{MARGIN}" y="{MARGIN + HEIGHT * (y + 0.75):g}"'
            f' textLength="{length * WIDTH:g}">{inner}</text>')


def picture(columns, command, taken):
    """Returns the recording as SVG."""
    found = spans(taken)
    width = columns * WIDTH + 2 * MARGIN
    height = (1 + max(y for y, *_ in found)) * HEIGHT + 2 * MARGIN
    body = "\n".join(text(*s) for s in found)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" role="img" aria-labelledby="title">
<title id="title">A terminal in which {html.escape(' '.join(command))} runs</title>
<style>
text{{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;white-space:pre;fill:{COLOURS['default']}}}
.past{{visibility:hidden}}
@media (prefers-reduced-motion:no-preference){{
.last{{visibility:hidden;animation:on 0s var(--a) forwards}}
.past{{animation:on 0s var(--a) forwards,off 0s var(--b) forwards}}
}}
@keyframes on{{to{{visibility:visible}}}}
@keyframes off{{to{{visibility:hidden}}}}
</style>
<rect x=".5" y=".5" width="{width - 1:g}" height="{height - 1:g}" rx="6" fill="#f6f8fa" stroke="#d0d7de"/>
{body}
</svg>
"""


def main():
    columns, lines, file, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]
    made = picture(columns, command, list(screens(columns, lines, command)))
    with open(file, "w", encoding="utf-8") as out:
        out.write(made)


main()
