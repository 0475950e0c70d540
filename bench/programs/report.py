"""What the runner says: lines and means for a terminal, tables for docs/performance.md."""

from __future__ import annotations

import math
import statistics

from numbus_bench.text import digits, seconds

CLASSES = ("loops", "small", "fused", "blas")
SIZES = ("small", "middle", "large")
LEVEL = 0.97  # what is below is listed as slower than NumPy
COLUMNS = ("warm", "least", "second", "first")


def cells(row) -> list[str]:
    """One line of the table."""
    head = [row["program"], row["class"], row["size"]]
    if "error" in row:
        return [*head, row["error"]]
    cells = [*head, seconds(row["numpy"]["median"])]
    if "warm" in row:
        low, high = row["warm_blocks"]
        cells += [digits(row["warm"], 2), f"{digits(low, 2)}–{digits(high, 2)}"]
        cells += [digits(row[call], 2) for call in COLUMNS[1:]]
    if "numba" in row:
        median = row["numba"].get("median")
        cells.append(digits(row["numpy"]["median"] / median, 2) if median else "n/a")
    return cells


HEADS = ("program", "class", "size", "NumPy", "warm", "blocks", "least", "second", "first", "Numba")
WIDTHS = (20, 6, 7, 9, 7, 12, 7, 7, 7, 7)


def line(values) -> str:
    parts = [f"{v:<{w}}" if k < 3 else f"{v:>{w}}" for k, (v, w) in enumerate(zip(values, WIDTHS))]
    return "  ".join(parts).rstrip()


def means(rows) -> list[dict]:
    """Geometric means by size and class, of all programs ("all") and of those without loops."""
    out = []
    for size in SIZES:
        timed = [r for r in rows if r["size"] == size and "warm" in r]
        groups = {kind: [r for r in timed if r["class"] == kind] for kind in CLASSES}
        groups["no loops"] = [r for r in timed if r["class"] != "loops"]
        groups["all"] = timed
        for group, some in groups.items():
            if not some:
                continue
            mean = {c: math.exp(statistics.fmean(math.log(r[c]) for r in some)) for c in COLUMNS}
            slower = sum(r["warm"] < LEVEL for r in some)
            out.append(
                {"size": size, "group": group, "programs": len(some), "slower": slower, **mean}
            )
    return out


def closing(rows) -> str:
    """The means, what is slower than NumPy, and what failed."""
    out = ["", "Geometric means of the speed-up over NumPy", ""]
    out.append(
        f"{'size':8}{'class':10}{'programs':>9}{'slower':>8}" + "".join(f"{c:>8}" for c in COLUMNS)
    )
    for m in means(rows):
        out.append(
            f"{m['size']:8}{m['group']:10}{m['programs']:>9}{m['slower']:>8}"
            + "".join(f"{digits(m[c], 2):>8}" for c in COLUMNS)
        )
    slow = sorted((r for r in rows if r.get("warm", 1.0) < LEVEL), key=lambda r: r["warm"])
    out += ["", f"Slower than NumPy when warm (below {LEVEL}): {len(slow)}"]
    out += [
        f"  {digits(r['warm'], 2):>6}  {r['program']}, {r['size']} ({r['class']})" for r in slow
    ]
    failed = [r for r in rows if "error" in r]
    out += [f"Failed: {len(failed)}"]
    out += [f"  {r['program']}, {r['size']}: {r['error']}" for r in failed]
    return "\n".join(out)


def markdown(rows) -> str:
    """The means, and one row a program with its speed-up at each size: warm; first call."""
    out = ["| size | class | programs | slower | " + " | ".join(COLUMNS) + " |", "|---" * 8 + "|"]
    for m in means(rows):
        found = [digits(m[c], 2) for c in COLUMNS]
        row = [m["size"], m["group"], m["programs"], m["slower"], *found]
        out.append("| " + " | ".join(map(str, row)) + " |")
    out += ["", f"| program | class | {' | '.join(SIZES)} |", "|---" * (2 + len(SIZES)) + "|"]
    found = {(r["program"], r["size"]): r for r in rows}
    for name, kind in dict.fromkeys((r["program"], r["class"]) for r in rows):
        row = [name, kind]
        for size in SIZES:
            r = found.get((name, size), {})
            times = f"{digits(r['warm'], 2)}; {digits(r['first'], 2)}" if "warm" in r else ""
            row.append("failed" if "error" in r else times)
        out.append("| " + " | ".join(row) + " |")
    return "\n".join(out) + "\n"
