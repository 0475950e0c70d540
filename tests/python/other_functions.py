"""The parameters of functions that are ours, though not registered, in the registry's words, and
what is drawn for them: the sweep (sweep.py) calls these as it does registered ones.
"""

import numbus as nb
import numpy as np
import registry_samples
from numbus import _core as core
from numbus.functions import registry
from registry_values import ABSENT, values

SIGNATURES = """
all(a: Array, axis: Axes = None, out: Out = None, keepdims: Flag = False, *, where: Any = True)
any(a: Array, axis: Axes = None, out: Out = None, keepdims: Flag = False, *, where: Any = True)
max(a: Array, axis: Axes = None, out: Out = None, keepdims: Flag = False, initial: Any = 0, where: Any = True)
min(a: Array, axis: Axes = None, out: Out = None, keepdims: Flag = False, initial: Any = 0, where: Any = True)
sum(a: Array, axis: Axes = None, dtype: Any = None, out: Out = None, keepdims: Flag = False, initial: Any = 0, where: Any = True)
prod(a: Array, axis: Axes = None, dtype: Any = None, out: Out = None, keepdims: Flag = False, initial: Any = 0, where: Any = True)
mean(a: Array, axis: Axes = None, dtype: Any = None, out: Out = None, keepdims: Flag = False, *, where: Any = True)
std(a: Array, axis: Axes = None, dtype: Any = None, out: Out = None, ddof: Any = 0, keepdims: Flag = False, *, where: Any = True, correction: Any = 0)
var(a: Array, axis: Axes = None, dtype: Any = None, out: Out = None, ddof: Any = 0, keepdims: Flag = False, *, where: Any = True, correction: Any = 0)
argmax(a: Array, axis: Axis | None = None, out: Out = None, *, keepdims: Flag = False)
argmin(a: Array, axis: Axis | None = None, out: Out = None, *, keepdims: Flag = False)
count_nonzero(a: Array, axis: Axes = None, *, keepdims: Flag = False)
average(a: Array, axis: Axes = None, weights: Any = None, returned: Flag = False, *, keepdims: Flag = False)
cumsum(a: Array, axis: Axis | None = None, dtype: Any = None, out: Out = None)
cumprod(a: Array, axis: Axis | None = None, dtype: Any = None, out: Out = None)
argwhere(a: Array)
nonzero(a: Array)
flatnonzero(a: Array)
around(a: Array, decimals: Any = 0, out: Out = None)
clip(a: Array, a_min: Any, a_max: Any, out: Out = None, *, where: Any = True, order: Any = "K", casting: Any = "", dtype: Any = None)
moveaxis(a: Array, source: Any, destination: Any)
swapaxes(a: Array, axis1: Any, axis2: Any)
transpose(a: Array, axes: Any = None)
ravel(a: Array, order: Any = "C")
reshape(a: Array, /, shape: Any, order: Any = "C", *, copy: Any = None)
real(val: Array)
imag(val: Array)
stack(arrays: Any, axis: Any = 0, out: Out = None, *, dtype: Any = None, casting: Any = "")
concatenate(arrays: Any, /, axis: Any = 0, out: Out = None, *, dtype: Any = None, casting: Any = "")
block(arrays: Any)
broadcast_to(array: Array, shape: Any)
where(condition: Array, x: Operand, y: Operand, /)
zeros_like(a: Array, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None)
ones_like(a: Array, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None)
full_like(a: Array, fill_value: Any, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None)
copy(a: Array, order: Any = "K", subok: Any = False)
array(a: Array, dtype: Any = None, *, copy: Any = True, order: Any = "K", ndmin: Any = 0)
asarray(a: Array, dtype: Any = None, order: Any = "K", *, copy: Any = None)
asanyarray(a: Array, dtype: Any = None, order: Any = "K", *, copy: Any = None)
ascontiguousarray(a: Array, dtype: Any = None)
asfortranarray(a: Array, dtype: Any = None)
astype(x: Array, dtype: Any, /, *, copy: Flag = True)
full(shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C")
linspace(start: Any, stop: Any, num: Any = 50, endpoint: Flag = True, retstep: Flag = False, dtype: Any = None, axis: Any = 0)
dot(a: Array, b: Any, out: Out = None)
matmul(x1: Array, x2: Any, /, out: Out = None, *, casting: Any = "", order: Any = "K", dtype: Any = None)
vecdot(x1: Array, x2: Any, /)
einsum(subscripts: Any, a: Array, /)
iscomplexobj(x: Array)
isrealobj(x: Array)
"""  # noqa: E501


def any_axis(a, axis):
    return [0, 1, -1, a.ndim - 1, a.ndim, -a.ndim, 0.5]


def several(a, axis):
    given = [[a], [a, a], (a, a, a), [a, a[:0] if a.ndim else a], [], [a, [1, 2]], [a, 1]]
    return given + [[a, a.astype(np.float32) if a.dtype.kind != "c" else a], [a.T, a.T]]


def factors(a, axis):
    given = [
        a,
        a.T,
        a[..., 0] if a.ndim and a.shape[-1] else a,
        2,
        [1, 2, 3],
        a[:1] if a.ndim else 1,
    ]
    return given + [np.ones((4, 3)), np.ones((3, 2, 4), np.float32), np.arange(6)]


SAMPLES = {
    ("average", "weights"): lambda a, axis: [
        ABSENT,
        None,
        np.linspace(0.5, 1, a.size).reshape(a.shape),
        np.linspace(0, 1, a.shape[axis]) if a.ndim else np.ones(()),
        np.arange(3),
    ],
    ("around", "decimals"): lambda a, axis: [ABSENT, 0, 1, -1, 2],
    ("clip", "a_min"): lambda a, axis: [
        0,
        -1,
        1.5,
        None,
        a,
        np.float32(0.5),
        np.int8(1),
        300,
        -300,
    ],
    ("clip", "a_max"): lambda a, axis: [2, 1.5, None, a, np.float32(1.5), np.int8(1), 300, -300],
    ("moveaxis", "source"): lambda a, axis: [0, -1, 1, (0, 1), [0], (0, 0), a.ndim, ()],
    ("moveaxis", "destination"): lambda a, axis: [0, -1, 1, (1, 0), [-1], (0, 0), a.ndim, ()],
    ("swapaxes", "axis1"): any_axis,
    ("swapaxes", "axis2"): any_axis,
    ("transpose", "axes"): lambda a, axis: [
        ABSENT,
        None,
        tuple(range(a.ndim))[::-1],
        [*range(a.ndim)],
        (0,),
        (-1, 0),
        (0, 0),
        (),
    ],
    ("reshape", "shape"): lambda a, axis: [
        -1,
        (-1, 1),
        (a.size,),
        a.shape[::-1],
        (),
        3,
        (2, -1),
        (-1, -1),
    ],
    ("reshape", "copy"): lambda a, axis: [ABSENT, ABSENT, None, True, False],
    ("stack", "arrays"): several,
    ("stack", "axis"): lambda a, axis: [ABSENT, 0, -1, 1, a.ndim, a.ndim + 1],
    ("concatenate", "arrays"): several,
    ("concatenate", "axis"): lambda a, axis: [ABSENT, 0, -1, 1, None, a.ndim],
    ("block", "arrays"): lambda a, axis: [
        a,
        [a],
        [a, a],
        [[a, a], [a, a]],
        [a, [a]],
        [],
        [[a], [1]],
        [1, 2],
    ],
    ("broadcast_to", "shape"): lambda a, axis: [a.shape, (2, *a.shape), (), 4, (-1,), (3, 4), (0,)],
    ("full_like", "fill_value"): values,
    ("full", "shape"): lambda a, axis: [a.shape, 3, (2, 2), (), (0,), -1, 2.5],
    ("full", "fill_value"): values,
    ("full", "order"): lambda a, axis: [ABSENT, "C", "F", "K"],
    ("array", "copy"): lambda a, axis: [ABSENT, ABSENT, None, True, False],
    ("asarray", "copy"): lambda a, axis: [ABSENT, ABSENT, None, True, False],
    ("asanyarray", "copy"): lambda a, axis: [ABSENT, ABSENT, None, True, False],
    ("array", "ndmin"): lambda a, axis: [ABSENT, 0, 1, 3],
    ("astype", "dtype"): lambda a, axis: [np.float32, "int8", bool, "complex64", a.dtype, "uint64"],
    ("linspace", "start"): lambda a, axis: [0, -1.5, a, 1j, True],
    ("linspace", "stop"): lambda a, axis: [3, 2.5, a, [1, 2], np.float32(3)],
    ("linspace", "axis"): lambda a, axis: [ABSENT, ABSENT, 0, -1],
    **{
        (name, key): factors
        for name, key in (
            ("dot", "b"),
            ("matmul", "x2"),
            ("vecdot", "x2"),
        )
    },
    ("einsum", "subscripts"): lambda a, axis: [
        "".join("ijkl"[d] for d in range(a.ndim)) + "->",
        "".join("ijkl"[d] for d in range(a.ndim)),
        "...i->i...",
        "...->...",
        "...ii->...i",
        "...ii",
        "",
        "->",
        "ij->ji",
        "...i->...",
        "i...->...",
        "ii",
    ],
}
SAMPLES = {(f"np.{name}", parameter): given for (name, parameter), given in SAMPLES.items()}

# Methods, whose values are drawn as for the functions of their names.
METHODS = """
all(a: Array, /, axis: Axes = None, *, out: Out = None, keepdims: Flag = False, where: Any = True)
any(a: Array, /, axis: Axes = None, *, out: Out = None, keepdims: Flag = False, where: Any = True)
max(a: Array, /, axis: Axes = None, out: Out = None, keepdims: Flag = False, initial: Any = 0, where: Any = True)
min(a: Array, /, axis: Axes = None, out: Out = None, keepdims: Flag = False, initial: Any = 0, where: Any = True)
sum(a: Array, /, axis: Axes = None, dtype: Any = None, out: Out = None, keepdims: Flag = False, initial: Any = 0, where: Any = True)
prod(a: Array, /, axis: Axes = None, dtype: Any = None, out: Out = None, keepdims: Flag = False, initial: Any = 0, where: Any = True)
mean(a: Array, /, axis: Axes = None, dtype: Any = None, out: Out = None, keepdims: Flag = False, *, where: Any = True)
std(a: Array, /, axis: Axes = None, dtype: Any = None, out: Out = None, ddof: Any = 0, keepdims: Flag = False, *, where: Any = True)
var(a: Array, /, axis: Axes = None, dtype: Any = None, out: Out = None, ddof: Any = 0, keepdims: Flag = False, *, where: Any = True)
argmax(a: Array, /, axis: Axis | None = None, out: Out = None, *, keepdims: Flag = False)
argmin(a: Array, /, axis: Axis | None = None, out: Out = None, *, keepdims: Flag = False)
cumsum(a: Array, /, axis: Axis | None = None, dtype: Any = None, out: Out = None)
cumprod(a: Array, /, axis: Axis | None = None, dtype: Any = None, out: Out = None)
compress(a: Array, condition: Any, /, axis: Axis | None = None, out: Out = None)
conj(a: Array, /)
copy(a: Array, /, order: Any = "C")
flatten(a: Array, /, order: Any = "C")
ravel(a: Array, /, order: Any = "C")
nonzero(a: Array, /)
put(a: Array, ind: Any, v: Any, /, mode: Any = "raise")
repeat(a: Array, repeats: Any, /, axis: Axis | None = None)
reshape(a: Array, shape: Any, /, *, order: Any = "C", copy: Any = None)
round(a: Array, /, decimals: Any = 0, out: Out = None)
squeeze(a: Array, /, axis: Axes = None)
swapaxes(a: Array, axis1: Any, axis2: Any, /)
take(a: Array, indices: Any, /, axis: Axis | None = None, out: Out = None, mode: Any = "raise")
trace(a: Array, /, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: Out = None)
diagonal(a: Array, /, offset: Any = 0, axis1: Any = 0, axis2: Any = 1)
dot(a: Array, b: Any, /, out: Out = None)
astype(a: Array, dtype: Any, /, order: Any = "K", casting: Any = "unsafe", subok: Any = True, copy: Any = True)
argsort(a: Array, /, axis: Axis | None = -1)
sort(a: Array, /, axis: Axis = -1)
tolist(a: Array, /)
"""  # noqa: E501


def method(name):
    """A function that calls the method of its first argument."""
    return lambda a, *args, **keywords: getattr(a, name)(*args, **keywords)


UFUNC = (
    "({}, /, out: Out = None, *, where: Any = True, casting: Any = '', order: Any = 'K', "
    "dtype: Any = None, subok: Any = True)"
)


def rows():
    """{"np.name": Row} of the operations and of the functions above, {"method.name": Row}."""
    texts = {}
    for row in core.table():
        operands = ", ".join(["x1: Array", "x2: Operand", "x3: Operand"][: row["nin"]])
        for name in (row["name"], *row["also"]):
            if hasattr(np, name):
                texts[f"np.{name}"] = UFUNC.format(operands)
    for kind, lines in (("np", SIGNATURES), ("method", METHODS)):
        for line in lines.strip().splitlines():
            name, _, rest = line.partition("(")
            texts[f"{kind}.{name}"] = "(" + rest
    return {name: made(name, text) for name, text in texts.items() if name not in registry.ROWS}


def made(name, text):
    known = {kind: getattr(registry, kind) for kind in registry._KINDS} | {"Flat": registry.Flat}
    exec(f"def body{text}: pass", known)
    kind, _, own = name.partition(".")
    function = method(own) if kind == "method" else getattr(nb, own)
    return registry.Row((name,), kind, known["body"], function, False)


ROWS = rows()
# Methods are called with what the functions of their names are called with.
for name, parameter in list(registry_samples.SAMPLES) + list(SAMPLES):
    given = SAMPLES.get((name, parameter)) or registry_samples.SAMPLES[name, parameter]
    SAMPLES[name.replace("np.", "method."), parameter] = given
SAMPLES["method.round", "decimals"] = SAMPLES["np.around", "decimals"]
