"""Draws the pictures of the documentation into docs/pictures: diagrams, and what the examples show.

python tools/draw_pictures.py [--diagrams] [--out docs/pictures]
"""

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INK, PALE, BLUE, ORANGE, GREEN = "#222", "#e8edf3", "#7fb0dd", "#f0a860", "#8cc79a"


class Drawing:
    """An SVG with a few shapes; it has its own white ground, for dark pages."""

    def __init__(self, width, height, title):
        self.size, self.parts = (width, height), [f"<title>{title}</title>"]

    def box(self, x, y, w, h, fill=PALE, text="", line=INK):
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="3" fill="{fill}" '
            f'stroke="{line}"/>'
        )
        if text != "":
            self.text(x + w / 2, y + h / 2 + 4, text)

    def text(self, x, y, text, anchor="middle", size=12):
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}">{text}</text>'
        )

    def arrow(self, x1, y1, x2, y2, colour=INK):
        self.parts.append(
            f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{colour}" '
            f'marker-end="url(#head)"/>'
        )

    def line(self, x1, y1, x2, y2, dash=""):
        self.parts.append(
            f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{INK}" '
            f'stroke-dasharray="{dash}"/>'
        )

    def __str__(self):
        width, height = self.size
        head = (
            '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker>'
        )
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
                f'width="{width}" height="{height}" font-family="sans-serif" fill="{INK}">',
                f"<defs>{head}</defs>",
                f'<rect width="{width}" height="{height}" fill="white"/>',
                *self.parts,
                "</svg>\n",
            ]
        )


def lanes():
    """Iterations of a loop side by side in one register, masked out as they finish."""
    steps = (3, 7, 2, 5, 7, 1, 4, 6)
    d = Drawing(560, 250, "Eight iterations of a parallel loop in the lanes of a vector register")
    d.text(80, 24, "iteration", "end")
    for lane, count in enumerate(steps):
        x = 95 + 54 * lane
        d.text(x + 23, 24, str(lane))
        for step in range(max(steps)):
            on = step < count
            d.box(x, 34 + 26 * step, 46, 22, BLUE if on else "white", "" if on else "off", "#99a")
    for step in range(max(steps)):
        d.text(80, 50 + 26 * step, f"step {step + 1}", "end")
    d.text(95, 238, "one vector instruction a row; finished lanes wait, masked out", "start")
    return d


def grid():
    """The grid, its blocks, their threads, and the numbers that a thread finds."""
    d = Drawing(720, 250, "A grid of three blocks of four threads")
    d.box(10, 30, 700, 120, "white")
    d.text(20, 22, "grid: kernel[3, 4](x, y)", "start")
    for block in range(3):
        left = 24 + 230 * block
        d.box(left, 60, 212, 76)
        d.text(left + 8, 54, f"block {block}: blockIdx.x = {block}", "start")
        for thread in range(4):
            d.box(left + 8 + 50 * thread, 72, 46, 52, BLUE)
            position = 4 * block + thread
            d.text(left + 31 + 50 * thread, 92, f"thread {thread}", size=10)
            d.text(left + 31 + 50 * thread, 114, f"i = {position}")
            outside = position >= 10
            d.box(left + 8 + 50 * thread, 190, 46, 26, "white" if outside else GREEN,
                  "" if outside else f"x[{position}]", "#99a")  # fmt: skip
            d.arrow(left + 31 + 50 * thread, 126, left + 31 + 50 * thread, 186)
    d.text(24, 238, "i = cuda.grid(1) = blockIdx.x * blockDim.x + threadIdx.x; ten elements: the "
           "last two threads have nothing to do", "start")  # fmt: skip
    return d


def tree():
    """The maximum of a block: a tree in shared memory."""
    values = [3, 1, 7, 0, 4, 1, 6, 3]
    d = Drawing(640, 290, "The maximum of eight values as a tree in shared memory")
    for row, half in enumerate((8, 4, 2, 1)):
        y = 20 + 66 * row
        if row:
            values = [
                max(values[t], values[t + half]) if t < half else v for t, v in enumerate(values)
            ]
        for t, value in enumerate(values):
            d.box(120 + 62 * t, y, 46, 30, ORANGE if t < half else "white", value, "#99a")
        if row:
            d.text(110, y + 20, f"t &lt; {half}", "end")
            d.line(10, y - 18, 630, y - 18, "4 3")
            d.text(10, y - 23, "syncthreads", "start", 10)
            for t in range(half):
                d.arrow(143 + 62 * t, y - 36, 143 + 62 * t, y - 2)
                d.arrow(143 + 62 * (t + half), y - 36, 150 + 62 * t, y - 2, "#888")
        else:
            d.text(110, y + 20, "s[t] = x[i]", "end")
    d.text(
        120,
        278,
        "s[t] = max(s[t], s[t + half]): after log2(n) barriers s[0] is the maximum",
        "start",
    )
    return d


def tiles():
    """A product by tiles: what a block keeps in shared memory."""
    d = Drawing(620, 250, "A block of a matrix product reads tiles into shared memory")
    side = 26
    for name, left, mark in (("a", 20, "row"), ("b", 240, "column"), ("c", 460, "one")):
        for i in range(5):
            for j in range(5):
                chosen = {"row": i == 2, "column": j == 3, "one": (i, j) == (2, 3)}[mark]
                now = (mark, i, j) in (("row", 2, 1), ("column", 1, 3))
                fill = ORANGE if now else BLUE if chosen else "white"
                d.box(left + side * j, 40 + side * i, side, side, fill, "", "#99a")
        d.text(left + 65, 30, name, size=14)
    d.text(195, 112, "×", size=20)
    d.text(415, 112, "=", size=20)
    lines = (
        "Each square is a tile of 16 × 16. The block of the blue tile of c walks along a row of a",
        "and a column of b; the orange tiles are in its shared memory now. An element is read from",
        "global memory once for a block, in place of 16 times.",
    )
    for k, line in enumerate(lines):
        d.text(20, 200 + 18 * k, line, "start")
    return d


def atomics():
    """Threads at one element of global memory, and by way of shared memory."""
    d = Drawing(640, 230, "Atomics in global memory, and in shared memory first")
    for way, left in (("global", 10), ("shared", 330)):
        d.text(left, 20, f"atomics in {way} memory", "start")
        for block in range(3):
            x = left + 100 * block
            d.box(x, 34, 92, 40)
            for thread in range(4):
                d.box(x + 6 + 21 * thread, 44, 16, 20, BLUE)
                if way == "global":
                    d.arrow(x + 14 + 21 * thread, 66, left + 146 + 3 * (thread - 1.5), 166, "#888")
                else:
                    d.arrow(x + 14 + 21 * thread, 66, x + 46, 100, "#888")
            if way == "shared":
                d.box(x + 26, 102, 40, 22, ORANGE, "s[0]")
                d.arrow(x + 46, 126, left + 146, 166)
        d.box(left + 116, 168, 60, 26, GREEN, "out[0]")
        last = (
            "twelve wait for one position"
            if way == "global"
            else "three wait; the others meet in their block"
        )
        d.text(left, 218, last, "start")
    return d


def streams():
    """Copies and work of chunks, in one stream and in three."""
    d = Drawing(640, 220, "Copies and work in one stream, and overlapping in three")
    colours = {"in": BLUE, "work": ORANGE, "out": GREEN}
    d.text(10, 20, "one stream: in turn", "start")
    x = 10
    for chunk in range(3):
        for what in colours:
            d.box(x, 28, 62, 26, colours[what], f"{what} {chunk}")
            x += 66
    d.text(10, 90, "three streams: the copy engines and the cores work at the same time", "start")
    for chunk in range(3):
        for k, what in enumerate(colours):
            d.box(10 + 66 * (chunk + k), 98 + 30 * chunk, 62, 26, colours[what], f"{what} {chunk}")
        d.text(620, 115 + 30 * chunk, f"stream {chunk}", "end")
    d.arrow(10, 200, 610, 200)
    d.text(625, 204, "time", "middle", 10)
    return d


DIAGRAMS = (lanes, grid, tree, tiles, atomics, streams)
# Name of the picture: the example and its options, with sizes that make small files.
EXAMPLES = {
    "heat": "heat.py",
    "mandelbrot": "mandelbrot.py --size 300",
    "julia": "mandelbrot.py --julia --size 300",
    "distances": "distances.py --size 200",
    "matmul": "matmul_cuda.py --size 200",
    "vectors": "vectors_numba.py --size 20000",
    "smooth": "smooth.py --size 180 --passes 4",
    "maximum": "maximum_cuda.py",
    "inverse_heat": "inverse_heat.py",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "pictures")
    parser.add_argument("--diagrams", action="store_true", help="no pictures of the examples")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    for draw in DIAGRAMS:
        (chosen.out / f"{draw.__name__}.svg").write_text(str(draw()))
    for name, command in {} if chosen.diagrams else EXAMPLES.items():
        script, *options = command.split()
        file = str(chosen.out / f"{name}.png")
        line = [sys.executable, "-m", "numbus", str(ROOT / "examples" / script), *options]
        subprocess.run([*line, "--picture", file], check=True)


if __name__ == "__main__":
    main()
