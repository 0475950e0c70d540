"""The results as text for a terminal."""

from __future__ import annotations

import textwrap

from . import summary
from .text import about, digits, rate, seconds, times

__all__ = ["closing", "crossing_text", "suite"]

HEADS = ("operation", "size", "library", "median", "quartiles", "first call", "NumPy", "of limit")


def line_of(case, suite, report, engine):
    """The cells after operation and size."""
    r = case["results"][engine.id]
    if "median" not in r:
        reason = f"WRONG: {r['wrong']}" if "wrong" in r else r.get("error") or r.get("skipped")
        return [engine.label, reason]
    fraction = summary.speedup(case, suite, engine.id)
    least = summary.limit(case, report, engine.device)
    return [
        engine.label,
        seconds(r["median"]),
        f"{seconds(r['low'])} – {seconds(r['high'])}" if r["samples"] > 1 else "one run",
        seconds(r["first"]),
        times(fraction) if fraction else "",
        f"{digits(100 * least / r['median'], 2)} %" if least else "",
    ]


def suite(found, report, engines):
    """One suite's table."""
    rows = []
    for case in found["cases"]:
        names = [case["operation"], case["size"]]
        lines = [e for e in engines if e.id in case["results"]]
        reasons = {case["results"][e.id].get("skipped") for e in lines}
        if len(reasons) == 1 and None not in reasons and len(lines) > 1:
            rows.append([*names, "all", f"left out: {reasons.pop()}"])
            continue
        for engine in lines:
            rows.append([*names, *line_of(case, found, report, engine)])
            names = ["", ""]
    widths = [max([len(h), *[len(r[k]) for r in rows if len(r) > 4 or k < 3]], default=0)
              for k, h in enumerate(HEADS) if k < 3]  # fmt: skip
    widths += [max([len(h), *[len(r[k + 3]) for r in rows if len(r) > 4]])
               for k, h in enumerate(HEADS[3:])]  # fmt: skip
    out = ["", *textwrap.wrap(f"{found['title']}: {found['about']}", 100), ""]
    for row in [list(HEADS), *rows]:
        cells = [c.ljust(w) if k < 3 else c.rjust(w) for k, (c, w) in enumerate(zip(row, widths))]
        if len(row) == 4:
            cells[3] = row[3]
        out.append("  ".join(cells).rstrip())
    return "\n".join(out)


def crossing_text(found, labels):
    """One sentence about a crossing."""
    slow, fast = labels.get(found["slow"], found["slow"]), labels.get(found["fast"], found["fast"])
    name = found["operation"]
    if found["kind"] == "crossing":
        return f"{name}: {fast} is faster than {slow} from n ≈ {about(found['n'])} on"
    if found["kind"] == "always":
        return f"{name}: {fast} is faster than {slow} from the smallest size on"
    if found["kind"] == "never":
        return f"{name}: {fast} is not faster than {slow} up to the largest size"
    if found["kind"] == "level":
        return f"{name}: {fast} and {slow} are level (within 10 %) on the largest size"
    return f"{name}: the curves have no sizes in common"


def headline(found):
    """The sentence about one device's mean."""
    where = "the GPU" if found["engine"].endswith("cuda") else "the CPU"
    return (
        f"On this machine Numbus is {times(found['mean'])} NumPy on {where} "
        f"(geometric mean of {found['workloads']} of {found['of']} workloads; from "
        f"{times(found['least']['value'])}, {found['least']['case']}, to "
        f"{times(found['most']['value'])}, {found['most']['case']})"
    )


def closing(report, folder):
    """What is said last: limits, crossings, the mean, where the report is."""
    labels = {e["id"]: e["label"] for e in report["engines"]}
    out = [""]
    for device, found in report["limits"].items():
        if "copy_bytes_per_s" not in found:
            continue
        products = ", ".join(f"{d} {rate(f, 'FLOP/s')}" for d, f in found["flops"].items())
        text = f"limits of {device}: copy {rate(found['copy_bytes_per_s'], 'B/s')}, {products}"
        if found["link_bytes_per_s"]:
            link = found["link_bytes_per_s"]
            text += f", link {rate(link['to'], 'B/s')} to it, {rate(link['from'], 'B/s')} from it"
        out.append(text)
    for s in report["suites"]:
        out += [crossing_text(c, labels) for c in s.get("crossings", ())]
    for e in report["engines"]:
        if "unavailable" in e:
            out.append(f"{e['label']} was left out: {e['unavailable']}")
    out += [headline(found) for found in report["headline"]]
    if report["options"]["quick"]:
        out.append("a quick run: sizes are far too small to say anything about this machine")
    out.append(f"{report['seconds']:.0f} s; report: {folder / 'index.html'}")
    return "\n".join(out)
