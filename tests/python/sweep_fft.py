"""numpy.fft in the sweep: every transform over types, layouts, extents, axes, norms and `out`."""

import numbus as nb
import numpy as np
from numbus import _core as core
from sweep_calls import (
    ABSENT,
    DTYPES,
    OTHERS,
    Call,
    Given,
    given,
    identical,
    near,
    same_kind,
    stands_in,
)

EXTENTS = [1, 2, 3, 4, 5, 6, 8, 9, 16, 17, 0]
NORMS = [None, "backward", "ortho", "forward", "wrong", b"ortho", 1, "Ortho"]
SEVERAL = "fftn ifftn rfftn irfftn fft2 ifft2 rfft2 irfft2".split()
ONE = "fft ifft rfft irfft hfft ihfft".split()


def signal(rng, name):
    shape = tuple([rng.choice(EXTENTS) for _ in range(rng.choice([0, 1, 1, 1, 2, 2, 2, 3, 3, 4]))])
    while np.prod(shape) > 3000:
        shape = shape[1:]
    x = rng.numbers(shape, rng.choice(DTYPES) if rng.random() < 0.7 else rng.choice(OTHERS))
    if x.dtype.kind in "fc" and x.size and rng.random() < 0.05:
        x.flat[rng.randrange(x.size)] = rng.choice([np.nan, np.inf])
    return x


def points(rng, n):
    return rng.mostly(n, n + 1, 2 * n, max(n - 1, 1), n // 2 + 1, 1, 7, np.int64(3), share=0.2)


def draw_one(rng, name):
    x = signal(rng, name)
    axis = rng.choice([ABSENT, ABSENT, -1, *range(-x.ndim, x.ndim)])
    at = -1 if axis is ABSENT else axis
    n = rng.mostly(ABSENT, points(rng, x.shape[at] if x.ndim else 2), share=0.5)
    if rng.random() < 0.06:
        n = rng.choice([None, 0, -1, 2.5, "x", (3,), True])
    if rng.random() < 0.06:
        axis = rng.choice([x.ndim, -x.ndim - 1, None, 0.5, (0,), np.int8(0), True])
    return {"a": x, "n": n, "axis": axis}


def draw_several(rng, name):
    x = signal(rng, name)
    given_axes = [ABSENT, ABSENT, None]
    if x.ndim:
        given_axes += [(rng.randrange(-x.ndim, x.ndim),), [0], range(x.ndim), (-1,)]
    if x.ndim > 1:
        given_axes += [(-1, 0), (0, 1), tuple(rng.sample(range(x.ndim), x.ndim)), (1, 0)]
    axes = rng.choice(given_axes)
    if rng.random() < 0.08:
        axes = rng.choice([(), (0, 0), (-1, -1, 0), 0, (x.ndim,), (0.5,), np.array([0])])
    s = ABSENT
    if rng.random() < 0.5:
        default = (-2, -1) if "2" in name else range(x.ndim)
        over = [a for a in (default if axes is ABSENT or axes is None else np.atleast_1d(axes))]
        extents = []
        for axis in over:
            inside = isinstance(axis, (int, np.integer)) and -x.ndim <= axis < x.ndim
            extents.append(points(rng, x.shape[axis] if inside else 3))
        s = rng.choice([tuple, list])(extents)
        if rng.random() < 0.15:
            s = rng.choice([None, (), s[:-1], (*s, 2), [-1] * len(s), [0] * len(s), 3, (None,)])
    return {"a": x, "s": s, "axes": axes}


def with_out(rng, name, chosen):
    # Of these NumPy leaves `out` as it was; test_fft.py has them.
    # Of others it stores what comes between in `out`, which may be smaller, and then repeats it.
    if (
        rng.random() >= 0.2
        or name in ("hfft", "ifft2", "irfft2")
        or chosen.get("s", ABSENT) is not ABSENT
    ):
        return {}
    arguments = {key: x for key, x in chosen.items() if x is not ABSENT}
    try:
        made = getattr(np.fft, name)(**arguments)
    except Exception:
        return {}
    if not made.ndim or np.size(chosen.get("axes", 1)) == 0:
        return {}  # NumPy stores nothing where there is nothing to transform
    other = "complex64 complex128 float32 float64".split()
    shape = rng.mostly(made.shape, (*made.shape, 2), made.shape[:-1], share=0.9)
    out = np.full(shape, 7, rng.mostly(made.dtype, *other, share=0.7))
    return {"out": given_out(rng, out)}


def given_out(rng, x):
    made = given(rng, x)
    return Given(x) if made.view in ("list", "NumPy's", "repeated", "pending") else made


def draw(rng, name):
    if name in ("fftfreq", "rfftfreq"):
        n = rng.mostly(rng.randrange(1, 20), 0, -3, 2.5, np.int64(5), np.int8(3), True, "x", None)
        d = rng.mostly(ABSENT, 0.1, 2, np.float32(0.5), 0, -1, 1j, "x", Given(np.array([1.0, 2])))
        return {"n": n, "d": d}
    if name in ("fftshift", "ifftshift"):
        x = signal(rng, name)
        axes = [ABSENT, None, 0, -1, (0,), (0, -1), [0], (0, 0), x.ndim, (), np.int8(0), 0.5]
        return {"x": given(rng, x), "axes": rng.choice(axes)}
    chosen = (draw_one if name in ONE else draw_several)(rng, name)
    chosen["norm"] = rng.mostly(ABSENT, *NORMS, share=0.4)
    chosen |= with_out(rng, name, chosen)
    return chosen | {"a": given(rng, chosen["a"])}


def compare(got, want, call):
    if call.original.__name__ in ("fftshift", "ifftshift"):
        identical(got, want)
    elif of_nothing(call):
        same_kind(got, want)
        assert not np.asarray(got).any(), "is not zero"
    elif not call.on_gpu and core.get_device() in ("cpu", "fenced"):
        near(got, want, 8)  # fftfreq() is composed; transforms are NumPy's own
    else:
        spectrum(got, want, call)


def of_nothing(call):
    """Whether coefficients are missing for which NumPy reads memory that is not theirs."""
    c2r = "irfft" in call.original.__name__ or call.original.__name__ == "hfft"
    return c2r and not np.size(call.chosen["a"].of(np))


def spectrum(got, want, call):
    # Frequencies are of no array.
    x = call.chosen["a"].of(np) if "a" in call.chosen else 0.0
    dtype = np.asarray(x).dtype
    if np.isfinite(np.asarray(x)).all():
        # NumPy rounds the factors of half floats to their type, and computes in that of `out`.
        near(
            got,
            want,
            40 * (2**13 if dtype.char == "e" else 1),
            units="f" if dtype.char in "efF" else None,
        )
        return
    here = np.asarray(got)
    assert here.dtype == want.dtype and here.shape == want.shape, (here, want)


# What differs on purpose, by words of our error or of NumPy's.
DECIDED = (
    "unknown norm",  # NumPy does not look at it where there is nothing to transform
    "not enough values to unpack",  # it cannot shift what has no axes
    "remapped",  # it stores in `out` what comes between, which has another shape
    "an integer is required",  # by some of its transforms for True
    "output array has wrong shape",
)
NAMES = sorted(f"fft.{name}" for name in np.fft.__all__)


def call(name, rng):
    name = name.removeprefix("fft.")
    functions = getattr(nb.fft, name), getattr(np.fft, name)
    transform = name in ONE + SEVERAL
    made = Call(functions, draw(rng, name), compare, rng, on_gpu=transform and stands_in(rng))
    made.decided, made.several = DECIDED, "shift" not in name
    return made
