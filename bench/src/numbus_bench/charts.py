"""The charts of the report. Each is a function of a width: one drawing for wide, one for phones."""

from __future__ import annotations

import math

from . import summary
from .libraries import Engine
from .svg import Scale, Svg, text_width
from .text import about, count, rate, seconds, times
from .text import tick as plain

__all__ = ["LOOKS", "breakdown", "curves", "latencies", "roofline", "speedups", "transfers"]

# library: (class, shape of its points)
LOOKS = {
    "numbus": ("numbus", "circle"),
    "numpy": ("numpy", "circle"),
    "numexpr": ("numexpr", "square"),
    "numba": ("numba", "up"),
    "jax": ("jax", "down"),
    "torch": ("torch", "diamond"),
    "cupy": ("cupy", "square"),
}


def engine(name):
    return Engine(*name.split(":"))


def look(name):
    """The classes of an engine: its library and its device."""
    e = engine(name)
    return f"{LOOKS[e.library][0]} {e.device}"


def shape(name):
    return LOOKS[engine(name).library][1]


def is_narrow(width):
    return width < 600


# ---- bars of speed-ups ---------------------------------------------------------------------------
def speed_rows(suite, cases):
    """(operation, size, [(engine, speed-up, tip)]) of each case that has any."""
    rows = []
    for case in cases:
        values = []
        for name, r in case["results"].items():
            value = summary.speedup(case, suite, name)
            if value is None or name == summary.NUMPY:
                continue
            tip = f"{engine(name).label}: {seconds(r['median'])}, {times(value)} NumPy"
            values.append((name, value, tip))
        if values:
            rows.append((case["operation"], case["size"], values))
    # The sizes of an operation stand together.
    order = list(dict.fromkeys(operation for operation, _, _ in rows))
    return sorted(rows, key=lambda row: order.index(row[0]))


def head(svg, heading, names):
    """A heading and a legend within a drawing that stands alone; returns their height."""
    svg.text(0, 12, heading[0], "title")
    svg.text(0, 33, heading[1], "quiet")
    across, down = 0.0, 58.0
    for name in names:
        label = engine(name).label
        if across + text_width(label, 12) + 24 > svg.width:
            across, down = 0.0, down + 20
        if name.startswith("numbus"):
            svg.bar(across, down - 9, 14, 9, look(name))
        else:
            svg.mark(across + 7, down - 4.5, shape(name), look(name))
        svg.text(across + 20, down, label, "quiet")
        across += text_width(label, 12) + 42
    return down + 20


def speedups(rows, title, width, heading=None, names=(), style=""):
    """Bars of Numbus and points of the others beside NumPy at 1×, on a log scale."""
    svg, narrow = Svg(width), is_narrow(width)
    values = [value for _, _, row in rows for _, value, _ in row]
    left = 2.0 if narrow else 236.0
    right = width - (52.0 if narrow else 64.0)
    scale = Scale(min(0.5, *values) / 1.1, max(4.0, *values) * 1.1, left, right)
    above = head(svg, heading, names) if heading else 0.0
    top, y = above + 24.0, above + 32.0
    body = Svg(width)
    before = None
    for operation, size, row in rows:
        ours = [v for v in row if v[0].startswith("numbus")]
        peers = [v for v in row if not v[0].startswith("numbus")]
        if before is not None and operation != before:
            y += 10
        if narrow:
            body.text(0, y + 9, operation, "name")
            body.text(text_width(operation, 13, True) + 7, y + 9, size, "quiet")
            y += 17
        height = 12.0 * len(ours) + (14.0 if peers else 0.0)
        if not narrow:
            middle = y + height / 2 + 4
            if operation != before:
                body.text(0, middle, operation, "name")
            body.text(left - 14, middle, size, "quiet", "end")
        before = operation
        for name, value, tip in ours:
            a, b = sorted((scale(1), scale(value)))
            body.bar(a, y, b - a, 10, look(name), f"{operation}, {size}. {tip}")
            body.text(max(b, scale(1)) + 6, y + 9, times(value), "value")
            y += 12
        if peers:
            position = y + 7
            for name, value, tip in peers:
                body.mark(scale(value), position, shape(name), look(name),
                          f"{operation}, {size}. {tip}")  # fmt: skip
            best = max(peers, key=lambda v: v[1])
            label = engine(best[0]).label
            if scale(best[1]) + 9 + text_width(label, 11) < width:
                body.text(scale(best[1]) + 9, position + 4, label, "tiny")
            y += 14
        y += 8
    for tick in scale.ticks(5 if narrow else 9):
        svg.line(scale(tick), top, scale(tick), y, "base" if tick == 1 else "grid")
        label = "NumPy" if tick == 1 else f"{tick:,g}×"
        svg.text(scale(tick), top - 8, label, "axis strong" if tick == 1 else "axis", "middle")
    svg.parts += body.parts
    best = max(((v, o, s) for o, s, row in rows for n, v, _ in row if n.startswith("numbus")),
               default=None)  # fmt: skip
    text = f"{len(rows)} workloads"
    if best:
        text += f"; Numbus at most {times(best[0])} NumPy ({best[1]}, {best[2]})"
    return svg.done(y + 4, title, text + ".", style)


# ---- curves with their crossing ------------------------------------------------------------------
def spread_labels(labels, gap, low, high):
    """(y, …) moved apart so that no two are nearer than gap, between low and high."""
    labels = sorted(labels, key=lambda l: l[0])
    positions = []
    for label in labels:
        positions.append(max(label[0], positions[-1] + gap if positions else low))
    over = positions[-1] - high if positions else 0
    if over > 0:
        positions[-1] = high
        for k in range(len(positions) - 2, -1, -1):
            positions[k] = min(positions[k], positions[k + 1] - gap)
    return [(position, *label[1:]) for position, label in zip(positions, labels)]


def curves(suite, operation, copies, title, width):
    """Time over problem size for each engine; where the faster one changes, a mark."""
    svg, narrow = Svg(width), is_narrow(width)
    names = {name for c in suite["cases"] for name in c["results"]}
    lines = [(name, operation, points) for name in sorted(names)
             if (points := summary.curve(suite, operation, name))]  # fmt: skip
    lines += [(name, copies, points) for name in sorted(names)
              if (points := summary.curve(suite, copies, name))]  # fmt: skip
    if narrow:
        lines = [l for l in lines if l[0].startswith(("numbus", "numpy", "cupy"))]
    xs = [n for _, _, points in lines for n, _ in points]
    ts = [t for _, _, points in lines for _, t in points]
    left, right = (44.0, width - 92.0) if narrow else (62.0, width - 190.0)
    top, bottom = 26.0, 300.0 if narrow else 380.0
    x = Scale(min(xs), max(xs), left, right)
    y = Scale(min(ts) / 1.3, max(ts) * 1.3, bottom, top)
    for tick in y.ticks(8):
        if math.log10(tick) % 1 < 1e-9 or len(y.ticks(8)) < 5:
            svg.line(left, y(tick), right, y(tick), "grid")
            svg.text(left - 8, y(tick) + 4, plain(seconds(tick)), "axis", "end")
    for tick in x.ticks(5 if narrow else 9):
        svg.line(x(tick), bottom, x(tick), bottom + 4, "tick")
        svg.text(x(tick), bottom + 18, count(tick), "axis", "middle")
    svg.text(right, bottom + 36, "problem size n", "quiet", "end")
    svg.text(0, top - 12, "time of one run", "quiet")
    labels = []
    # Ours last, so that they lie on top.
    lines.sort(key=lambda l: l[0].startswith("numbus"))
    for name, what, points in lines:
        kind = look(name) + (" copies" if what == copies else "")
        label = engine(name).label + (", copies included" if what == copies else "")
        short = engine(name).label
        if what == copies:
            short = "with copies" if narrow else short + " with copies"
        svg.path([(x(n), y(t)) for n, t in points], kind)
        for n, t in points:
            svg.mark(x(n), y(t), shape(name), kind, f"{label}, n = {n:,}: {seconds(t)}",
                     3.2 if name.startswith("numbus") else 2.6)  # fmt: skip
        labels.append((y(points[-1][1]) + 4, x(points[-1][0]) + 9, short, kind))
    for position, across, text, kind in spread_labels(labels, 15, top + 4, bottom):
        svg.text(across, position, text, "label " + kind)
    for found in suite.get("crossings", ()):
        if found["curve"] != operation or found["kind"] != "crossing":
            continue
        across, down = x(found["n"]), y(found["seconds"])
        svg.line(across, down, across, bottom, "crossing")
        svg.tag("circle", cx=float(across), cy=float(down), r=7, class_="crossing")
        text = f"n ≈ {about(found['n'])}"
        if found["operation"] == copies:
            text += " with copies"
        # With copies below the curves, without above them.
        below = found["operation"] == copies
        anchor = "end" if across > (left + right) / 2 else "start"
        shift = -11 if anchor == "end" else 11
        svg.text(across + shift, bottom - (24 if below else 8), text, "crossing-label", anchor)
    said = [f"{f['operation']}: {f['kind']}" + (f" at n = {about(f['n'])}" if "n" in f else "")
            for f in suite.get("crossings", ()) if f["curve"] == operation]  # fmt: skip
    return svg.done(bottom + 44, title, "; ".join(said) or "No crossing.")


def breakdown(suite, whole, parts, title, width):
    """The shares of the parts of an operation on its largest size, one bar for each engine."""
    svg, narrow = Svg(width), is_narrow(width)
    rows, size = part_rows(suite, whole, parts)
    left, right = (0.0, width - 2.0) if narrow else (150.0, width - 210.0)
    y = 8.0
    for name, times_, total in rows:
        everything = sum(times_)
        if narrow:
            svg.text(0, y + 9, engine(name).label, "name")
            svg.text(width - 2, y + 9, f"{seconds(everything)}, whole {seconds(total)}", "quiet",
                     "end")  # fmt: skip
            y += 16
        else:
            svg.text(0, y + 15, engine(name).label, "name")
            svg.text(right + 14, y + 15, f"{seconds(everything)}, whole {seconds(total)}", "quiet")
        across = left
        for k, (part, t) in enumerate(zip(parts, times_)):
            long = (right - left) * t / everything
            tip = f"{engine(name).label}, {part}: {seconds(t)}, {100 * t / everything:.0f} %"
            svg.bar(across, y, long - 1.5, 22, f"part{k}", tip)
            text = f"{part} {100 * t / everything:.0f} %"
            if text_width(text, 12) + 10 < long:
                svg.text(across + 7, y + 15, text, f"inpart part{k}")
            across += long
        y += 34
    return svg.done(y, title, f"{', '.join(parts)} of the {whole} at n = {size}.")


def part_rows(suite, whole, parts):
    """[(engine, [seconds of each part], seconds of the whole)] on the largest size; the size."""
    size = max((c["n"] for c in suite["cases"] if c["operation"] == whole), default=0)
    at = {c["operation"]: c["results"] for c in suite["cases"] if c["n"] == size}
    rows = []
    for name in at.get(whole, {}):
        found = [at.get(part, {}).get(name, {}).get("median") for part in parts]
        total = at[whole][name].get("median")
        if total and all(found):
            rows.append((name, found, total))
    rows.sort(key=lambda r: (not r[0].startswith("numbus"), r[0]))
    return rows, size


# ---- rates, times, roofline ----------------------------------------------------------------------
def transfers(suite, report, title, width):
    """Bars of bytes per second for each kind of copy, with the link's measured limit."""
    svg, narrow = Svg(width), is_narrow(width)
    rows = []
    for case in suite["cases"]:
        values = [(name, case["bytes"] / r["median"]) for name, r in case["results"].items()
                  if "median" in r]  # fmt: skip
        if values:
            rows.append((case["operation"], values))
    link = (report["limits"].get("cuda") or {}).get("link_bytes_per_s") or {}
    high = max([v for _, row in rows for _, v in row] + list(link.values())) * 1.02
    left, right = (0.0, width - 76.0) if narrow else (276.0, width - 84.0)
    scale = Scale(0, high, left, right, log=False)
    body, y = Svg(width), 30.0
    for operation, values in rows:
        if narrow:
            body.text(0, y + 9, operation, "name")
            y += 17
        else:
            body.text(0, y + 6 * len(values) + 5, operation, "name")
        for name, value in values:
            label = f"{rate(value, 'B/s')}  {engine(name).label}"
            body.bar(left, y, scale(value) - left, 12, look(name), f"{operation}: {label}")
            body.text(scale(value) + 7, y + 10, rate(value, "B/s"), "value")
            y += 15
        y += 9
    for tick in scale.ticks():
        svg.line(scale(tick), 20, scale(tick), y, "grid")
        svg.text(scale(tick), 14, plain(rate(tick, "B/s"))
                 if tick else "0", "axis", "middle" if tick or not narrow else "start")  # fmt: skip
    if link:
        position = scale(max(link.values()))
        svg.line(position, 20, position, y, "crossing")
        svg.text(position, y + 12, "the link\u2019s limit", "tiny", "end")
        y += 16
    svg.parts += body.parts
    return svg.done(y, title, f"{len(rows)} kinds of copy.")


def latencies(suite, title, width):
    """Points of time on a log scale, one row for each kind of call."""
    svg, narrow = Svg(width), is_narrow(width)
    rows = []
    for case in suite["cases"]:
        values = sorted((r["median"], name) for name, r in case["results"].items() if "median" in r)
        if values:
            rows.append((case["operation"], values))
    every = [t for _, row in rows for t, _ in row]
    left, right = (8.0, width - 70.0) if narrow else (180.0, width - 90.0)
    scale = Scale(min(every) / 1.5, max(every) * 1.5, left, right)
    body, y = Svg(width), 34.0
    for operation, values in rows:
        if narrow:
            body.text(0, y + 4, operation, "name")
            y += 18
        else:
            body.text(0, y + 4, operation, "name")
        # Labels go below the line, each clear of the one before.
        body.line(left, y, right, y, "rail")
        ends: list[float] = []
        for t, name in values:
            label = f"{engine(name).label} {seconds(t)}"
            tip = f"{operation}, {label}"
            body.mark(scale(t), y, shape(name), look(name), tip, 5)
            lane = 0
            start = min(scale(t) - 4, width - text_width(label, 11, True) - 2)
            while lane < len(ends) and ends[lane] > start - 6:
                lane += 1
            ends[lane : lane + 1] = [start + text_width(label, 11, True)]
            kind = f"tiny {look(name)}" if name.startswith("numbus") else "tiny"
            body.text(start, y + 19 + 13 * lane, label, kind)
        y += 34 + 13 * len(ends)
    for tick in scale.ticks(5 if narrow else 9):
        svg.line(scale(tick), 20, scale(tick), y - 10, "grid")
        svg.text(scale(tick), 14, plain(seconds(tick)), "axis",
                 "middle")  # fmt: skip
    svg.parts += body.parts
    return svg.done(y, title, f"{len(rows)} kinds of call.")


def roof_points(report):
    """(device, operation, intensity, flop/s, tip) of Numbus, the largest size of each operation."""
    found = {}
    for suite in report["suites"]:
        for case in suite["cases"]:
            if not (case["headline"] and case["flops"] and case["bytes"]):
                continue
            for device in report["options"]["devices"]:
                t = summary.median(case, f"numbus:{device}")
                if t is None or "copy_bytes_per_s" not in report["limits"].get(device, {}):
                    continue
                reached = case["flops"] / t
                label = suite["title"] if case["operation"].endswith("steps") else case["operation"]
                tip = f"{label}, {case['size']}: {rate(reached, 'FLOP/s')}"
                key = (device, suite["name"], label if label != "square" else "matmul f32")
                found[key] = (device, key[2], case["flops"] / case["bytes"], reached, tip)
    return list(found.values())


def roofline(report, title, width):
    """What was reached over operations per byte, under the measured roofs of each device."""
    svg, narrow = Svg(width), is_narrow(width)
    points = roof_points(report)
    roofs = {d: l for d, l in report["limits"].items() if "copy_bytes_per_s" in l}
    left, right = (58.0, width - 8.0) if narrow else (84.0, width - 8.0)
    top, bottom = 28.0, 330.0 if narrow else 420.0
    xs = [p[2] for p in points]
    x = Scale(min(0.05, *xs) / 1.5, max(100.0, *xs) * 2, left, right)
    highest = max(f for l in roofs.values() for f in l["flops"].values())
    y = Scale(min(p[3] for p in points) / 3, highest * 2.5, bottom, top)
    for tick in y.ticks(9):
        svg.line(left, y(tick), right, y(tick), "grid")
        svg.text(left - 8, y(tick) + 4, plain(rate(tick, "F/s")), "axis", "end")
    for tick in x.ticks(5 if narrow else 8):
        svg.line(x(tick), bottom, x(tick), bottom + 4, "tick")
        svg.text(x(tick), bottom + 18, count(tick) if tick >= 1 else f"{tick:g}", "axis", "middle")
    svg.text(right, bottom + 36, "operations per byte that must move", "quiet", "end")
    svg.text(0, top - 14, "operations per second", "quiet")
    taken = []

    def put(across, down, text, kind, size):
        """A label beside a point, where it hides no other; none where there is no room."""
        wide = text_width(text, size)
        for a, b in ((8, 4), (-8 - wide, 4), (-wide / 2, -9), (-wide / 2, 18)):
            box = (across + a, down + b - size, across + a + wide, down + b)
            if box[0] < left + 4 or box[2] > right:
                continue
            if all(box[2] < t[0] or box[0] > t[2] or box[3] < t[1] or box[1] > t[3] for t in taken):
                taken.append(box)
                svg.text(across + a, down + b, text, kind)
                return

    for device, limits in roofs.items():
        copy = limits["copy_bytes_per_s"]
        rates = sorted(limits["flops"].items(), key=lambda item: -item[1])
        for rank, (_, flops) in enumerate(rates):
            roof = [(x(flops / copy), y(flops)), (right, y(flops))]
            if rank == 0:
                start = max(x.low, y.low / copy)
                roof.insert(0, (x(start), y(start * copy)))
            svg.path(roof, f"roof {device}" + (" second" if rank else ""))
        text = f"{'GPU' if device == 'cuda' else 'CPU'}: " + ", ".join(
            f"{rate(flops, 'F/s')} {dtype}" for dtype, flops in rates
        )
        down = y(rates[0][1])
        taken.append((right - text_width(text, 11, True), down - 20, right, down - 3))
        svg.text(right, down - 7, text, f"tiny roof {device}", "end")
    for _, _, f, reached, _ in points:
        taken.append((x(f) - 4, y(reached) - 4, x(f) + 4, y(reached) + 4))
    for device, label, f, reached, tip in points:
        where = "GPU" if device == "cuda" else "CPU"
        svg.mark(x(f), y(reached), "circle", f"numbus {device}", f"{where}, {tip}", 5)
        put(x(f), y(reached), label, "tiny", 11)
    return svg.done(bottom + 44, title, f"{len(points)} workloads under the measured limits.")
