"""What a run says: speed-ups over NumPy, their mean, crossings of curves, shares of the limits."""

from __future__ import annotations

import math

__all__ = ["baseline", "best_device", "crossing", "limit", "mean_speedup", "speedup", "summarise"]

NUMPY = "numpy:cpu"
LEVEL = 1.1  # times that are no further apart are taken as the same


def median(case, engine):
    """Seconds, or None where the engine was not timed on this case."""
    return case["results"].get(engine, {}).get("median")


def baseline(case, suite):
    """NumPy's seconds for the same result, or None."""
    if case["baseline"]:
        case = next((c for c in suite["cases"] if c["name"] == case["baseline"]), case)
    return median(case, NUMPY)


def speedup(case, suite, engine):
    """How many times faster than NumPy, or None."""
    ours, theirs = median(case, engine), baseline(case, suite)
    return theirs / ours if ours and theirs else None


def limit(case, report, device):
    """The least seconds that a device needs by its measured limits; None where unknown, and for
    the small sizes of a quick run, of which these limits say nothing.
    """
    limits = report["limits"].get(device)
    if report["options"]["quick"] or not limits or "copy_bytes_per_s" not in limits:
        return None
    link = limits.get("link_bytes_per_s")
    if case["link"] and link:
        slowest = min(link.values()) if case["link"] == "both" else link[case["link"]]
        # Both directions at once is the most that a link can do.
        return (case["bytes"] / 2 if case["link"] == "both" else case["bytes"]) / slowest
    rate = limits["read_bytes_per_s" if case["reads_only"] else "copy_bytes_per_s"]
    flops = limits["flops"].get(case["dtype"], limits["flops"]["float64"])
    return max(case["bytes"] / rate, case["flops"] / flops) or None


def mean_speedup(report, engine):
    """The geometric mean over the workloads that count, with its range; None without any."""
    found = [
        (value, f"{case['operation']}, {case['size']}")
        for suite in report["suites"]
        for case in suite["cases"]
        if case["headline"] and (value := speedup(case, suite, engine))
    ]
    if not found:
        return None
    mean = math.exp(sum(math.log(value) for value, _ in found) / len(found))
    low, high = min(found), max(found)
    counted = [s["title"] for s in report["suites"] if any(c["headline"] for c in s["cases"])]
    total = sum(c["headline"] for s in report["suites"] for c in s["cases"])
    return {
        "engine": engine, "mean": mean, "workloads": len(found), "of": total,
        "beside": beside(report, engine),
        "slower": sum(value < 1 for value, _ in found), "suites": counted,
        "least": {"value": low[0], "case": low[1]}, "most": {"value": high[0], "case": high[1]},
    }  # fmt: skip


def beside(report, engine):
    """The geometric mean over the fastest other library on the same device, workload by workload;
    None where none but NumPy was measured.
    """
    device = engine.split(":")[1]
    values, libraries = [], set()
    for suite in report["suites"]:
        for case in suite["cases"]:
            others = {
                name: r["median"] for name, r in case["results"].items()
                if "median" in r and name.endswith(device) and not name.startswith("numbus")
            }  # fmt: skip
            ours = median(case, engine)
            if case["headline"] and others and ours:
                values.append(min(others.values()) / ours)
                libraries |= others.keys()
    if not libraries - {NUMPY}:
        return None
    mean = math.exp(sum(math.log(value) for value in values) / len(values))
    return {"mean": mean, "workloads": len(values), "libraries": sorted(libraries)}


def best_device(report):
    """The device that a user gets: the GPU where it was measured."""
    return "cuda" if "cuda" in report["options"]["devices"] else "cpu"


def crossing(slow, fast):
    """Where `fast` becomes the faster one for good: {"kind": …, "n": …}.

    slow, fast: lists of (n, seconds) on the same sizes, ascending. Times within 10 % are level.
    kind: 'crossing' with n and seconds, interpolated between two sizes on logarithms; 'always';
    'never'; 'level' where the largest size shows no difference; 'unknown' without common sizes.
    """
    other = dict(fast)
    points = [(n, t, other[n]) for n, t in slow if n in other]
    if not points:
        return {"kind": "unknown"}
    slower = max((k for k, (_, a, b) in enumerate(points) if b > LEVEL * a), default=None)
    if slower == len(points) - 1:
        return {"kind": "never"}
    if points[-1][1] <= LEVEL * points[-1][2]:
        return {"kind": "level"}
    if slower is None:
        return {"kind": "always"}
    (n0, a0, b0), (n1, a1, b1) = points[slower], points[slower + 1]
    d0, d1 = math.log(b0 / a0), min(0.0, math.log(b1 / a1))
    share = d0 / (d0 - d1)
    return {
        "kind": "crossing",
        "n": math.exp(math.log(n0) + share * (math.log(n1) - math.log(n0))),
        "seconds": math.exp(math.log(a0) + share * (math.log(a1) - math.log(a0))),
    }


def curve(suite, operation, engine):
    """(n, seconds) of an operation on an engine."""
    cases = [c for c in suite["cases"] if c["operation"] == operation]
    return [(c["n"], t) for c in cases if (t := median(c, engine)) is not None]


def pairs(report):
    """(engine of the slow start, engine of the fast end) whose crossing is looked for."""
    if "cuda" in report["options"]["devices"] and "cpu" in report["options"]["devices"]:
        return "numbus:cpu", "numbus:cuda"
    return NUMPY, "numbus:" + best_device(report)


def summarise(report):
    """Adds headline and crossings to a report."""
    report["headline"] = [
        found
        for device in report["options"]["devices"]
        if (found := mean_speedup(report, f"numbus:{device}"))
    ]
    slow, fast = pairs(report)
    for suite in report["suites"]:
        if "curves" not in suite:
            continue
        suite["crossings"] = []
        for plain, copies in suite["curves"]:
            for operation in (plain, copies):
                ends = curve(suite, operation, fast)
                if not ends:
                    continue
                found = crossing(curve(suite, plain, slow), ends)
                suite["crossings"].append(
                    {"curve": plain, "operation": operation, "slow": slow, "fast": fast, **found}
                )
    return report
