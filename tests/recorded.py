"""Results that another library gave for expressions, as text, and how ours compare with them."""

import json
import math
import sys

import numpy

TOLERANCE = {"float16": 4e-3, "float32": 4e-5, "complex64": 4e-5, "float64": 1e-6}


def told(value):
    """A result as JSON holds it: [dtype, weak, shape, elements], lists and dicts of such, texts."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, dict):
        return {str(k): told(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [told(v) for v in value]
    if isinstance(value, (numpy.dtype, type)):
        return str(numpy.dtype(value))
    weak = bool(getattr(value, "weak_type", False))
    a = numpy.asarray(value)
    flat = a.ravel()
    if a.dtype.kind == "c":
        flat = flat.view(a.real.dtype)
    numbers = [float(f"{x:.9g}") if a.dtype.itemsize <= 8 else float(x) for x in flat.tolist()] if (
        a.dtype.kind in "fc"
    ) else flat.tolist()  # fmt: skip
    return ["array", str(a.dtype), weak, list(a.shape), [
        repr(x) if isinstance(x, float) and x - x != 0 else x for x in numbers
    ]]  # fmt: skip


def evaluated(call, names):
    """What a call gives, or the type of the error."""
    try:
        return told(eval(call, names))
    except Exception as error:
        return ["raises", type(error).__name__]


def written(path, title, groups):
    """Writes a file of results: `groups` are prefixes, names and calls.

    With `--new` on the command line only calls whose results are not in it are evaluated.
    """
    known = {}
    if "--new" in sys.argv:
        with open(path) as old:
            known = {line.rpartition("\t")[0]: line for line in old}
    lines = [f"# {title}\n"]
    for prefix, names, calls in groups:
        for call in calls:
            line = known.get(prefix + call)
            if line is None:
                found = json.dumps(evaluated(call, names()), separators=(",", ":"))
                line = f"{prefix}{call}\t{found}\n"
            lines.append(line)
    with open(path, "w") as out:
        out.writelines(lines)


def read(path):
    """Pairs of a call and its result."""
    for line in path.read_text().splitlines():
        if not line.startswith("#"):
            call, _, found = line.rpartition("\t")
            yield call, json.loads(found)


def _number(x):
    return float(x) if isinstance(x, str) else x


def differs(got, expected, factor=1):
    """What tells two results apart, or None. `factor` multiplies what floats may differ by."""
    if isinstance(expected, list) and expected[:1] == ["array"]:
        if not isinstance(got, list) or got[:4] != expected[:4]:
            return f"{got[:4] if isinstance(got, list) else got} for {expected[:4]}"
        _, kind, _, _, numbers = expected
        size = max([abs(x) for x in map(_number, numbers) if math.isfinite(x)], default=0)
        for a, b in zip(map(_number, got[4]), map(_number, numbers), strict=True):
            near = TOLERANCE.get(kind, 0) * factor
            if (
                a != b
                and not (a != a and b != b)
                and not (abs(a - b) <= near * max(abs(b), 0.01 * size))
            ):
                return f"{a} for {b} ({kind})"
        return None
    if isinstance(expected, list):
        if not isinstance(got, list) or len(got) != len(expected):
            return f"{got} for {expected}"
        return next(
            filter(None, [differs(a, b, factor) for a, b in zip(got, expected, strict=True)]), None
        )
    if isinstance(expected, dict):
        if not isinstance(got, dict) or sorted(got) != sorted(expected):
            return f"{got} for {expected}"
        return next(filter(None, [differs(got[k], expected[k], factor) for k in expected]), None)
    if isinstance(expected, str) and isinstance(got, str):
        try:
            return (
                None
                if math.isclose(float(got), float(expected), rel_tol=4e-5 * factor)
                else f"{got}"
            )
        except ValueError:
            pass
    return None if got == expected else f"{got} for {expected}"
