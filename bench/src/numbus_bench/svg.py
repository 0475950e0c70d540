"""Drawing: text, shapes and logarithmic axes as inline SVG, coloured by the page's style sheet."""

from __future__ import annotations

import html
import math

__all__ = ["Scale", "Svg", "text_width"]


def text_width(text, size=12.0, bold=False):
    """About how wide a text is, in pixels; rather too wide than too narrow."""
    size *= 1.14 if bold else 1.0
    narrow = sum(c in "ijl.,:;|!'()[]f tr1" for c in text)
    wide = sum(c in "mwMW%—×" for c in text)
    return size * (0.62 * (len(text) - narrow - wide) + 0.37 * narrow + 0.92 * wide)


class Scale:
    """Numbers to pixels, by logarithms or straight."""

    def __init__(self, low, high, start, end, log=True):
        high = high if high > low else low * 10
        self.low, self.high, self.start, self.end, self.log = low, high, start, end, log
        self.change = (lambda x: math.log(x)) if log else (lambda x: x)

    def __call__(self, x):
        x = max(x, self.low) if self.log else x
        share = self.change(x) - self.change(self.low)
        share /= self.change(self.high) - self.change(self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, most=8):
        """Round numbers within the range: powers of ten, with 2 and 5 where there is room."""
        if not self.log:
            step = 10 ** math.floor(math.log10(self.high / 3))
            step *= next(k for k in (1, 2, 5, 10) if self.high / (step * k) <= 5)
            return [step * k for k in range(int(self.high / step) + 1)]
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for factors in ((1, 2, 5), (1,)):
            found = [f * 10.0**p for p in powers for f in factors]
            found = [x for x in found if self.low * 0.999 <= x <= self.high * 1.001]
            if len(found) <= most:
                return found
        return found[:: math.ceil(len(found) / most)]


class Svg:
    """A drawing of a width in pixels; the height is given when all is drawn."""

    def __init__(self, width):
        self.width, self.parts = width, []

    def tag(self, name, text=None, tip="", **attributes):
        """One element. `tip` is shown by the page, and is the element's text for readers."""
        found = []
        for key, value in attributes.items():
            if value is None:
                continue
            value = f"{value:.1f}".rstrip("0").rstrip(".") if isinstance(value, float) else value
            found.append(f'{key.rstrip("_").replace("_", "-")}="{html.escape(str(value))}"')
        if tip:
            found.append(f'data-tip="{html.escape(tip)}"')
        inside = html.escape(text) if text is not None else ""
        self.parts.append(f"<{name} {' '.join(found)}>{inside}</{name}>")

    def line(self, x1, y1, x2, y2, kind):
        self.tag("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), class_=kind)

    def text(self, x, y, text, kind="", anchor=None):
        self.tag("text", text, x=float(x), y=float(y), class_=kind or None,
                 text_anchor=anchor if anchor != "start" else None)  # fmt: skip

    def bar(self, x, y, width, height, kind, tip=""):
        """A bar with rounded corners; never thinner than a pixel."""
        self.tag("rect", x=float(x), y=float(y), width=float(max(1.0, width)),
                 height=float(height), rx=2, class_=f"bar {kind}", tip=tip)  # fmt: skip

    def path(self, points, kind, tip=""):
        d = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        self.tag("path", d=d, class_=f"curve {kind}", tip=tip)

    def mark(self, x, y, shape, kind, tip="", r=4.5):
        """A point: the shape tells the library, hollow tells the CPU (by the class)."""
        if shape == "circle":
            self.tag("circle", cx=float(x), cy=float(y), r=float(r), class_=f"mark {kind}", tip=tip)
            return
        corners = {
            "square": ((-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)),
            "diamond": ((0, -1.2), (1.2, 0), (0, 1.2), (-1.2, 0)),
            "up": ((0, -1.15), (1.1, 0.85), (-1.1, 0.85)),
            "down": ((0, 1.15), (1.1, -0.85), (-1.1, -0.85)),
        }[shape]
        d = "M" + "L".join(f"{x + r * a:.1f} {y + r * b:.1f}" for a, b in corners) + "Z"
        self.tag("path", d=d, class_=f"mark {kind}", tip=tip)

    def done(self, height, title, description, style=""):
        """The whole element."""
        size = f'viewBox="0 0 {self.width} {height:.0f}" width="{self.width}" height="{height:.0f}"'
        head = f"<title>{html.escape(title)}</title><desc>{html.escape(description)}</desc>"
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" '
            f'aria-label="{html.escape(title + ". " + description)}">{head}{style}'
            f"{''.join(self.parts)}</svg>"
        )
