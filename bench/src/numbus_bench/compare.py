"""What changed since an earlier run."""

from __future__ import annotations

import json

from .errors import complain
from .session import SCHEMA, VERSION
from .text import seconds, times

__all__ = ["changes", "read", "text"]


def read(file):
    """The report in a bench.json. Raises BenchError where it is none."""
    try:
        with open(file) as stream:
            report = json.load(stream)
    except OSError as error:
        raise complain("cannot open the run to compare with", f"{file!r}: {error.strerror}",
                       "a bench.json") from None  # fmt: skip
    except ValueError:
        raise complain("the run to compare with is not JSON", repr(file), "a bench.json") from None
    if not isinstance(report, dict) or report.get("schema") != SCHEMA:
        raise complain("the run to compare with is no report", repr(file), "a bench.json")
    if report.get("version") != VERSION:
        raise complain("the report has another version", report.get("version"), VERSION)
    return report


def changes(before, after):
    """What became faster or slower: a dict with a list of changes, and what is in one run only.

    A change counts where the quartiles of the two runs do not overlap and the medians differ by
    more than 5 %.
    """

    def timed(report):
        return {
            (s["name"], c["name"], engine): r
            for s in report["suites"] for c in s["cases"] for engine, r in c["results"].items()
        }  # fmt: skip

    old, new = timed(before), timed(after)
    found, same = [], 0
    for key, now in new.items():
        then = old.get(key)
        if then is None or "median" not in then:
            continue
        entry = {"suite": key[0], "case": key[1], "engine": key[2], "before": then["median"]}
        if "median" not in now:
            found.append({**entry, "now": None, "reason": now.get("wrong") or now.get("error")
                          or now.get("skipped")})  # fmt: skip
            continue
        ratio = then["median"] / now["median"]
        apart = then["low"] > now["high"] or then["high"] < now["low"]
        if apart and not 0.95 < ratio < 1.05:
            found.append({**entry, "now": now["median"], "speedup": ratio})
        else:
            same += 1
    found.sort(key=lambda c: c.get("speedup", 0))
    return {
        "date": before["date"], "machine": before["machine"]["processor"],
        "same_machine": before["machine"] == after["machine"], "unchanged": same, "changes": found,
        "only_before": len(set(old) - set(new)), "only_now": len(set(new) - set(old)),
    }  # fmt: skip


def text(compared):
    """The changes for a terminal."""
    out = ["", f"Compared with {compared['date']}"]
    if not compared["same_machine"]:
        out[-1] += f", on another machine or system: {compared['machine']}"
    for c in compared["changes"]:
        name = f"  {c['suite']}: {c['case']}, {c['engine']}"
        if c["now"] is None:
            out.append(f"{name}: {seconds(c['before'])}, now {c['reason']}")
            continue
        ratio = c["speedup"]
        word = f"{times(ratio)} faster" if ratio > 1 else f"{times(1 / ratio)} slower"
        out.append(f"{name}: {seconds(c['before'])} → {seconds(c['now'])}, {word}")
    only = f"; {compared['only_now']} new, {compared['only_before']} gone"
    out.append(f"  {compared['unchanged']} unchanged, {len(compared['changes'])} changed" + only)
    return "\n".join(out)
