"""Runs a program in NumPy and in Numbus in every mode, and says what differs."""

from __future__ import annotations

import importlib
import re
import traceback
from collections import Counter

import numpy as np
from program import compile_text, execute
from resize import resized
from shadow import PERTURB, Shadow, real_size, shadow_numpy, spread

# What the null device cannot follow: shapes that hang on data, memory shared with NumPy.
NOT_ON_NULL = re.compile(r"\[~?m\d*\b|\[[^\]]*[<>=]=? |nonzero|np\.asarray\(")
SHADOWS = 3
MANY_SHADOWS = 40
# Elements up to which operations are carried out at once: of all that is small, of some.
AT_ONCE = {"small": 1024, "mixed": 12}
# When windows are carried out without a plan: as costs are estimated, or always.
WITHOUT_PLAN = {"mixed": 1, "unplanned": 2}
FACTOR = 4.0  # allowed: this many times what the perturbation moved the result


class Unsupported(Exception):
    """The program uses something that the module under test has not (yet)."""


class Broken(Exception):
    """The program does not run in NumPy: no verdict (a candidate of the minimiser)."""


def load_numbus():
    """(module, array type, flush, set_mode); raises ImportError where _core is not built."""
    nb = importlib.import_module("numbus")
    core = importlib.import_module("numbus._core")
    return nb, core.ndarray, core.flush, core.set_mode


class Subject:
    """The library under test. `numpy` stands in for Numbus where that is not built."""

    def __init__(self, name: str = "numbus"):
        self.name = name
        if name == "numbus":
            self.xp, self.array_type, self.flush, self.set_mode = load_numbus()
            core = importlib.import_module("numbus._core")
            self.forget_plans, self.set_at_once = core.forget_plans, core.set_at_once
            self.set_without_plan, self.set_spilling = core.set_without_plan, core.set_spilling
        else:
            self.xp, self.array_type, self.flush = np, np.ndarray, None
            self.set_mode = self.set_at_once = self.set_without_plan = lambda mode: None
            if name != "numpy":
                from mutants import MUTANTS

                self.xp, self.array_type = MUTANTS[name]

    def run(self, code, mode: str):
        self.set_at_once(AT_ONCE.get(mode, 0))
        self.set_without_plan(WITHOUT_PLAN.get(mode, 0))
        if mode == "spilled":
            # On a device of its own, where each request for memory sends an array to the host.
            self.set_mode("auto")
            self.set_spilling(1, True)
            try:
                with self.xp.device("fenced"):
                    return execute(code, self.xp, np, self.array_type, self.flush)
            finally:
                self.set_spilling(0, False)
        if mode != "null":
            self.set_mode("auto" if mode in AT_ONCE or mode in WITHOUT_PLAN else mode)
            return execute(code, self.xp, np, self.array_type, self.flush)
        self.set_mode("auto")
        with self.xp.device("null"):
            return execute(code, self.xp, np, self.array_type, self.flush)


def reference(code, count=SHADOWS):
    """NumPy's results, for each float result how far a correct library may be away, and whether a
    product of complex numbers leaves the signs of their zeros open.
    """
    try:
        expected = execute(code, np)
        shadows = []
        Shadow.complex_products = 0
        # Two perturbations of one value may cancel, seldom in each of several shadows.
        for start in range(0, 1000 * count, 1000):
            Shadow.counter, Shadow.tainted = start, False
            Shadow.nan, Shadow.whole = np.copysign(np.nan, 1 - start), start == 1000
            shadows.append(execute(code, shadow_numpy, shadow_numpy, np.ndarray))
    except Exception as e:
        raise Broken(repr(e)) from e
    if any(len(expected) != len(shadow) for shadow in shadows):
        raise Broken("control flow depends on rounding")
    tolerances = []
    for e, *seen in zip(expected, *shadows, strict=True):
        if not isinstance(e.data, np.ndarray):
            tolerances.append(0.0)
            continue
        d = max(spread(e.data, s.data) for s in seen)
        if not np.isfinite(d):
            raise Broken(f"{e.label}: a tie at a threshold")
        if d and e.data.dtype.kind in "fc" and e.data.size:
            size = np.abs(np.where(np.isfinite(e.data), e.data, 0)).max()
            d += PERTURB.get(real_size(e.data.dtype), 1e-12) * 0.05 * float(size)
        tolerances.append(FACTOR * d)
    return expected, tolerances, Shadow.complex_products > 0


def same_bits(x, y) -> bool:
    """Equal bit for bit, any NaN being equal to any NaN."""
    if x.tobytes() == y.tobytes():
        return True
    if x.dtype.kind not in "fc":
        return False
    if x.dtype.kind == "c":
        return same_bits(x.real.copy(), y.real.copy()) and same_bits(x.imag.copy(), y.imag.copy())
    unsigned = f"u{x.dtype.itemsize}"
    bits = x.view(unsigned) == y.view(unsigned)
    return bool((bits | (np.isnan(x) & np.isnan(y))).all())


def metadata(got, want) -> str:
    """What differs in kind, shape, dtype or strides; strides count where an axis has steps."""
    if isinstance(want.data, np.ndarray) != isinstance(got.data, np.ndarray):
        return f"got {got.data!r}, NumPy {want.data!r}"
    if got.shape != want.shape:
        return f"shape {got.shape}, NumPy {want.shape}"
    if got.dtype != want.dtype:
        return f"dtype {got.dtype}, NumPy {want.dtype}"
    if got.scalar != want.scalar:
        kind = {True: "scalar", False: "array"}
        return f"{kind[got.scalar]}, NumPy {kind[want.scalar]}"
    if 0 not in want.shape:
        for extent, s, t in zip(want.shape, got.strides, want.strides, strict=False):
            if extent > 1 and s != t:
                return f"strides {got.strides}, NumPy {want.strides}"
    return ""


def difference(got, want, tolerance, signed_zero, products=False) -> str:
    """How a value differs from NumPy's; empty when it does not.

    The order of a product of complex numbers shows in the signs of its zero parts; `products` lets
    these differ.
    """
    text = metadata(got, want)
    if text or want.data is None:
        return text
    if isinstance(want.data, str):
        return "" if got.data == want.data else f"got {got.data}, NumPy {want.data}"
    x, y = got.data, want.data
    if tolerance == 0.0:
        if same_bits(x, y) or (
            not signed_zero and np.array_equal(x, y, equal_nan=y.dtype.kind in "fc")
        ):
            return ""
        if products and y.dtype.kind in "fc" and same_bits(x + 0, y + 0):
            return ""  # of a part, too
        bad = ~(x == y)
        if y.dtype.kind in "fc":
            bad &= ~(np.isnan(x) & np.isnan(y))
        return describe(x, y, bad, "exact") if bad.any() else "signs of zeros or NaN parts differ"
    d = spread(x, y)
    if d <= tolerance:
        return ""
    with np.errstate(all="ignore"):
        bad = ~(np.abs(x - y) <= tolerance) & ~(np.isnan(x) & np.isnan(y))
    return describe(x, y, bad, f"tolerance {tolerance:.3g}")


def sign_is_open(x, y, tolerance) -> bool:
    """Whether nothing but signs differ, of values whose sign the shadows changed: `copysign` and
    `signbit` have seen a NaN that an operation made.
    """
    if x.dtype.kind != "f" or not same_bits(np.abs(x), np.abs(y)):
        return False
    size = np.abs(np.where(np.isfinite(x), x, 0)).max(initial=0)
    return tolerance >= 2 * float(size)


def describe(x, y, bad, how) -> str:
    at = np.argwhere(np.atleast_1d(bad))[0] if bad.ndim else ()
    at = tuple(int(i) for i in at)[: y.ndim]
    count = f"{int(bad.sum())} of {y.size} elements ({how})"
    return f"{count}, first at {at}: got {x[at]!r}, want {y[at]!r}"


class Checker:
    """Checks programs in the given modes; counts what the subject does not support."""

    def __init__(self, modes, subject: str = "numbus", strict: bool = False):
        self.modes = list(modes)
        self.subject = Subject(subject)
        self.strict = strict
        self.unsupported: Counter[str] = Counter()

    def check_text(self, text: str, note=None) -> str:
        """The first difference as text, or "" where there is none (or no verdict)."""
        # What is left of a sum where most of it cancels is the same in many shadows.
        problem = self._difference(text, note, SHADOWS)
        return problem and self._difference(text, note, MANY_SHADOWS)

    def _difference(self, text: str, note, shadows: int) -> str:
        try:
            code = compile_text(text)
            expected, tolerances, products = reference(code, shadows)
        except (Broken, SyntaxError):
            return ""
        signed_zero = not any(word in text for word in ("max", "min"))
        first = first_mode = None
        for mode in self.modes:
            if mode == "null" and (NOT_ON_NULL.search(text) or self.subject.name != "numbus"):
                continue
            # There an array of NumPy's is a copy.
            if mode == "spilled" and ("asarray(" in text or self.subject.name != "numbus"):
                continue
            if note:
                note(mode)
            if mode == "resized":
                problem = self.check_resized(text, signed_zero, shadows)
                if problem:
                    return f"[{mode}] {problem}"
                continue
            try:
                got = self.subject.run(code, mode)
            except Exception as e:
                if not self.strict and missing(e):
                    self.unsupported[str(e).split("\n")[0][:120]] += 1
                    return ""
                return f"[{mode}] {error_text(e)}"
            if len(got) != len(expected):
                return f"[{mode}] {len(got)} values, NumPy {len(expected)}"
            if mode == "null":
                problem = null_difference(got, expected)
                if problem:
                    return f"[{mode}] {problem}"
                continue
            for g, e, tolerance in zip(got, expected, tolerances, strict=True):
                text_ = difference(g, e, tolerance, signed_zero, products)
                if text_:
                    return f"[{mode}] {e.label}: {text_}"
            if first is None:
                first, first_mode = got, mode
                continue
            for g, f, tolerance in zip(got, first, tolerances, strict=True):
                if isinstance(g.data, np.ndarray) and not same_bits(g.data, f.data):
                    if "sign" in text and sign_is_open(g.data, f.data, tolerance):
                        continue
                    bad = ~(g.data == f.data)
                    if g.data.dtype.kind in "fc":
                        bad &= ~(np.isnan(g.data) & np.isnan(f.data))
                    if not bad.any():
                        return f"[{mode} against {first_mode}] {g.label}: signs of zeros differ"
                    return f"[{mode} against {first_mode}] {g.label}: " + describe(
                        g.data, f.data, bad, "bit for bit"
                    )
        return ""

    def check_resized(self, text: str, signed_zero: bool, shadows: int) -> str:
        """What is wrong where the program meets its own plans again with other extents.

        Against NumPy, and bit for bit against a run whose plans are made for these extents.
        """
        if self.subject.name != "numbus":
            return ""
        try:
            code = compile_text(resized(text))
            expected, tolerances, products = reference(code, shadows)
        except (Broken, SyntaxError, MemoryError):
            return ""
        try:
            got = self.subject.run(code, "auto")
            self.subject.forget_plans()
            cold = self.subject.run(code, "auto")
        except Exception as e:
            return "" if not self.strict and missing(e) else error_text(e)
        if len(got) != len(expected):
            return f"{len(got)} values, NumPy {len(expected)}"
        for g, e, tolerance in zip(got, expected, tolerances, strict=True):
            problem = difference(g, e, tolerance, signed_zero, products)
            if problem:
                return f"{e.label}: {problem}"
        for g, c in zip(got, cold, strict=True):
            if isinstance(g.data, np.ndarray) and not same_bits(g.data, c.data):
                return f"{g.label}: known plans and new ones differ in bits"
        return ""


def null_difference(got, expected) -> str:
    """Metadata only: the null device computes nothing."""
    for g, e in zip(got, expected, strict=True):
        text = metadata(g, e)
        if text and isinstance(e.data, np.ndarray):
            return f"{e.label}: {text}"
    return ""


def category(failure: str) -> str:
    """What kind of failure this is: the minimiser must not slip from one into another."""
    if not failure:
        return ""
    mode, _, rest = failure.partition("] ")
    rest = rest.split(": ", 1)[-1] if not re.match(r"line \d+", rest) else rest.split(": ", 1)[1]
    rest = re.sub(r"[\d.e+-]+ of \d+ elements \((\w+).*", r"elements \1", rest)
    words = " ".join(re.sub(r"[-\d.]+|\(.*?\)", "#", rest.split(";")[0]).split()[:8])
    return f"{'against' in mode} {words}"


def missing(e: Exception) -> bool:
    """True for what is not there yet, as opposed to there and wrong."""
    if isinstance(e, NotImplementedError):
        return True
    return isinstance(e, AttributeError) and "has no attribute" in str(e) and "numbus" in str(e)


def error_text(e: Exception) -> str:
    where = [f for f in traceback.extract_tb(e.__traceback__) if f.filename == "<program>"]
    line = f"line {where[-1].lineno}: " if where else ""
    return f"{line}{type(e).__name__}: {e}"
