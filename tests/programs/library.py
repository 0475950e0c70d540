"""Calls of NumPy, math and Python's builtins as templates.

{a} is any array, {a1} one of one dimension ({a2}, …), {f} and {f1} of floats, {i1} of integers,
{m} a mask of the array before, {s} a number, {x} a real number, {n} a small Python int, {axis} an
axis of the first array, {t} a dtype, {l} a list, {c} a condition, {z} a string. A part in « » is
there or not.
"""

UNARY = """abs absolute fabs sqrt floor ceil trunc rint sign signbit negative positive square
    reciprocal sin cos tan exp exp2 expm1 log log2 log10 log1p tanh sinh cosh arcsin arccos arctan
    arcsinh arccosh arctanh cbrt deg2rad rad2deg isnan isfinite isinf logical_not conjugate invert
    real imag""".split()
BINARY = """minimum maximum fmin fmax add subtract multiply divide true_divide floor_divide
    remainder mod fmod power copysign arctan2 hypot logaddexp logaddexp2 logical_and logical_or
    logical_xor bitwise_and bitwise_or bitwise_xor left_shift right_shift equal not_equal less
    less_equal greater greater_equal heaviside nextafter gcd lcm""".split()
MATH = """sqrt sin cos tan exp expm1 log log2 log10 log1p tanh sinh cosh asin acos atan asinh
    acosh atanh floor ceil trunc fabs isnan isinf isfinite degrees radians erf erfc gamma lgamma
    exp2 cbrt""".split()
MATH2 = "atan2 hypot copysign fmod pow ldexp".split()

# Functions that give a number (or, with axis, an array).
REDUCTIONS = [
    f"np.{name}({{a}}«, axis={{axis}}»«, keepdims=True»)"
    for name in "sum prod min max mean any all amin amax std var count_nonzero".split()
] + [
    f"{{a}}.{name}(«axis={{axis}}»)" for name in "sum prod min max mean any all std var".split()
] + [
    "np.sum({a}«, axis={axis}», dtype={t})",
    "{a}.sum({axis})",
    "np.sum({a}«, axis={axis}»«, initial={s}»)",
    "np.var({a}«, axis={axis}», ddof=1)",
    "{a}.std(«axis={axis}, »ddof=1)",
    "np.argmin({a}«, axis={axis}»)", "np.argmax({a}«, axis={axis}»)",
    "{a}.argmax(«axis={axis}»)", "{a}.argmin()",
    "np.median({f})", "np.ptp({a})", "np.average({f1})", "np.average({f}, axis={axis})",
    "np.average({f}, axis={axis}, weights={f})", "np.average({f2}, axis={axis}, weights={f1})",
    "np.average({a}, weights=np.abs({a}) + 1)",
    "np.nansum({f})", "np.nanmax({f})", "np.nanmin({f})", "np.nanmean({f})",
    "np.trace({a2})", "np.dot({a1}, {a1})", "np.vdot({a1}, {a1})", "np.inner({a1}, {a1})",
    "np.linalg.norm({f1})", "np.percentile({f1}, {n} * 10)", "np.quantile({f1}, 0.5)",
    "np.array_equal({a}, {a})", "np.allclose({f}, {f})",
    "np.searchsorted(np.sort({a1}), {s}«, side='right'»)", "np.interp({x}, {f1}, {f1})",
    "np.trapezoid({f1})", "np.max({a1}) - np.min({a1})",
]  # fmt: skip

ARRAYS = [
    "{a}.T", "{a}.copy()", "{a}.ravel()", "{a}.flatten()", "{a}.astype({t})", "{a}.reshape(-1)",
    "np.transpose({a})", "np.ravel({a})", "np.copy({a})", "np.asarray({a})",
    "np.ascontiguousarray({a})", "np.swapaxes({a2}, 0, 1)", "np.expand_dims({a}, {axis})",
    "np.flip({a}«, axis={axis}»)", "np.fliplr({a2})", "np.flipud({a})", "np.roll({a1}, {n})",
    "np.roll({a}, {n}«, axis={axis}»)", "np.rot90({a2})", "np.repeat({a1}, {n})",
    "np.repeat({a}, 2, axis={axis})", "np.tile({a1}, {n})",
    "np.concatenate(({a1}, {a1}))", "np.concatenate(({a2}, {a2})«, axis={axis}»)",
    "np.stack(({a1}, {a1})«, axis={axis}»)", "np.vstack(({a1}, {a1}))", "np.hstack(({a1}, {a1}))",
    "np.column_stack(({a1}, {a1}))", "np.diag({a})", "np.diagonal({a2})",
    "np.tril({a2}«, k={n}»)", "np.triu({a2}«, k={n}»)",
    "np.where({a} > {s}, {a}, {s})", "np.where({c}, {a}, {a})", "np.where({a} > {s})[0]",
    "np.clip({a}, {s}, {s})", "{a}.clip({s}, {s})", "np.minimum({a}, {s})", "np.maximum({a}, {a})",
    "np.cumsum({a}«, axis={axis}»)", "np.cumprod({a}«, axis={axis}»)", "{a1}.cumsum()",
    "np.diff({a1})", "np.diff({a}«, axis={axis}»)", "np.sort({a}«, axis={axis}»)",
    "np.argsort({a1}, kind='stable')", "np.unique({a1})", "np.nonzero({a1})[0]",
    "np.flatnonzero({a})", "np.isin({a1}, {a1})", "np.bincount(np.abs({i1}) % 5)",
    "np.searchsorted(np.sort({a1}), {a1}«, side='right'»)",
    "np.digitize({f1}, np.array([-1.0, 0.5, 2.0])«, right=True»)",
    "np.interp({f1}, np.array([0.0, 1.0, 2.5]), {f1})", "np.outer({a1}, {a1})",
    "np.dot({a2}, {a1})", "np.dot({a2}, {a2})", "({a2} @ {a2})", "np.matmul({a2}, {a1})",
    "np.kron({a1}, {a1})", "np.cross(np.ones(3), {f1})", "np.convolve({f1}, {f1}«, mode='same'»)",
    "np.take({a1}, {i1} % 2)", "np.take({a}, 0, axis={axis})", "np.delete({a1}, 0)",
    "np.append({a1}, {s})", "np.append({a1}, {a1})", "np.round({f}«, {n}»)", "np.around({f})",
    "np.nan_to_num({f})", "np.isclose({f}, {f})", "np.gradient({f1})", "np.squeeze({a})",
    "np.atleast_1d({a})", "np.atleast_2d({a})", "np.broadcast_to({a1}, (2, {a1}.size))",
    "np.zeros({n}«, dtype={t}»)", "np.ones(({n}, {n})«, dtype={t}»)", "np.full({n}, {s})",
    "np.full(({n}, 2), {s}«, dtype={t}»)", "np.zeros_like({a}«, dtype={t}»)",
    "np.ones_like({a})", "np.full_like({a}, {s})", "np.arange({n})", "np.arange({n}, {n})",
    "np.arange({n}, 9, 2«, dtype={t}»)", "np.arange(0.0, 2.0, 0.25)", "np.arange({x}, 5.0)",
    "np.linspace({x}, {x}, {n})", "np.linspace(0, 1, 5«, endpoint=False»)", "np.eye({n})",
    "np.eye({n}, 3«, k={n}»«, dtype={t}»)", "np.identity({n})", "np.array([{s}, {s}, {s}])",
    "np.array([{s}, {s}]«, dtype={t}»)", "np.array([[{s}, {s}], [{s}, {s}]])",
    "np.array(({s}, {s}))", "np.array({l})", "np.array([{a1}, {a1}])", "np.cov({f1}, {f1})",
    "np.corrcoef({f1}, {f1})", "np.tri({n})", "np.vander({f1}, 3)", "np.ediff1d({a1})",
    "np.median({f2}, axis={axis})", "np.array_split({a1}, 2)[0]", "np.split({a1}[:2], 2)[1]",
    "np.insert({a1}, 0, {s})", "np.compress({a1} > {s}, {a1})", "np.partition({a1}, 0)[:1]",
    "np.lexsort(({a1}, {a1}))", "np.meshgrid({a1}, {a1})[0]", "np.union1d({a1}, {a1})",
    "np.intersect1d({a1}, {a1})", "np.setdiff1d({a1}, {a1})", "np.argwhere({a})",
    "np.linalg.det(np.eye(2) + np.array([[{x}, 1.0], [0.5, {x}]]))",
    "np.linalg.inv(np.eye(2) * 3.0 + np.array([[0.5, {x}], [0.25, 1.0]]))",
    "np.linalg.solve(np.array([[3.0, {x}], [0.0, 2.0]]), np.array([{x}, 1.0]))",
    "np.polyval({f1}, {x})", "np.histogram({f1}, 4)[0]",
    "(np.abs({i1}) % 2).choose(({a1}, {a1}))",
]  # fmt: skip

BUILTINS = [
    "len('abc')", "('ab' == 'ab')", "('ab' != 'abc')", "len('é中')", "(not '')", "bool('a')",
    "abs({s})", "min({x}, {x})", "max({x}, {x}, {x})", "min({l})", "max({l})", "sum({l})",
    "len({a1})", "len({a})", "len({l})", "round({x})", "round({x}, {n})", "int({x})", "float({x})",
    "bool({s})", "complex({x}, {x})", "divmod({x}, {x})[{k2}]", "pow({x}, {n})", "{a}.size",
    "{a}.ndim", "{a}.shape[{axis}]", "sum({a1})", "min({a1})", "max({a1})", "{a}.itemsize",
    "any({a1})", "all({a1})", "({s}).real", "({s}).imag", "({s}).conjugate()", "sorted({l})[0]",
    "sum([{s} for k in range({n})])", "int({s} > {s})", "({x} in {l})", "({x} in ({x}, {x}))",
    "({n} in range({n}, {n}))", "({l}.count({x}))", "np.sum({l})", "np.max({l})", "{a}.nbytes",
    "math.gcd({n}, {n})", "math.lcm({n}, {n})", "math.factorial({n})", "math.comb({n}, {n})",
    "math.isqrt(abs({n}))", "math.isclose({x}, {x})", "math.log({x}, 2.0)", "math.modf({x})[{k2}]",
    "math.frexp({x})[{k2}]", "math.fsum({f1})", "math.dist(({x}, {x}), ({x}, {x}))",
    "(not {s})", "isinstance({s}, int)", "isinstance({s}, float)", "math.prod({l})",
    "({n}).bit_length()", "math.remainder({x}, {x})", "int({s} == {s})", "math.nextafter({x}, {x})",
    "len(range({n}, {n}, {k} + 1))", "sum(k * k for k in range({n}))", "len(({s}, {s}))",
    "max([{x} - k for k in range(3)])", "any([{x} > k for k in range(3)])",
]  # fmt: skip

# Numbers of strings.
TEXTS = [
    "len({z})", "({z} == {z})", "({z} != {z})", "({z} < {z})", "({z} >= {z})", "({z} in {z})",
    "({z} not in {z})", "bool({z})", "(not {z})", "({z} == {n})", "len({z} + {z})",
    "({z} in ({z}, {z}))", "isinstance({z}, str)", "({z} == {z} != {z})", "len(({z}, {s}))",
]  # fmt: skip

CONVERSIONS = ["int({x})", "float({x})", "bool({s})", "np.float64({x})", "np.float32({x})",
               "np.int64({x})", "np.int32({x})", "np.uint8(abs({n}) % 200)", "complex({s})",
               "np.complex128({s})", "np.float16({x})", "np.bool_({s})", "np.int8({n})",
               "np.int16({n})", "np.uint16(abs({n}))", "np.uint32(abs({n}))",
               "np.uint64(abs({n}))", "np.complex64({s})"]  # fmt: skip
