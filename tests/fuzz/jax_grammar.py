"""Texts of random calls of JAX's functions, for `tests/fuzz/jax_calls.py`."""

# ruff: noqa: E501 – one expression a line

SETUP = """
import numpy, jax, jax.numpy as jnp
from jax import lax, nn, random
import jax.scipy.special as jsp
def ar(seed, kind, shape=(), how='n'):
    r = numpy.random.default_rng(seed)
    if kind == 'bool': return jnp.array(r.integers(0, 2, shape).astype('bool'))
    if kind[0] in 'iu':
        i = numpy.iinfo(kind)
        low, high = {'p': (1, 5), 't': (0, 3), 's': (i.min, i.max)}.get(how, (-5, 6))
        return jnp.array(r.integers(max(low, i.min), high, shape).astype(kind))
    x = r.normal(size=shape) * 2
    if how == 'p': x = r.uniform(0.1, 0.9, shape)
    if how == 't': x = r.integers(-1, 2, shape).astype('float64')
    if how == 's':
        x = numpy.where(r.random(shape) < 0.4, r.choice(
            [numpy.nan, numpy.inf, -numpy.inf, -0.0, 0.0, 1.0], shape), x)
    if kind == 'complex64': x = x + 1j * r.normal(size=shape)
    return jnp.array(x.astype('float32') if kind == 'bfloat16' else x.astype(kind)).astype(kind)
def tangent(seed, y):
    return jax.tree.map(lambda v: ar(seed, 'float32', v.shape).astype(v.dtype), y)
@jax.custom_vjp
def twice(x, y): return jnp.sin(x) * y
twice.defvjp(lambda x, y: (twice(x, y), (x, y)), lambda r, g: (g * 2 * r[1], g + r[0]))
@jax.custom_jvp
def soft(x): return jnp.log1p(jnp.exp(x))
@soft.defjvp
def _(p, t): return soft(*p), nn.sigmoid(*p) * t[0] * 3
def body(c, x): return (c * 0.5 + x, {'y': c - x})
"""

KINDS = "int32 float32 bool uint8 int8 float16 bfloat16 complex64 int16 uint32".split()
REAL = "int32 float32 float32 bool uint8 int8 float16 bfloat16".split()
UNARY = (
    "abs absolute acos acosh angle arccos arccosh arcsin arcsinh arctan arctanh asin atan "
    "bitwise_count bitwise_not cbrt ceil conj cos cosh deg2rad degrees exp exp2 expm1 fabs floor "
    "i0 imag invert iscomplex isfinite isinf isnan isneginf isposinf isreal log log10 log1p log2 "
    "logical_not modf nan_to_num negative positive rad2deg radians real reciprocal rint round sign "
    "signbit sin sinc sinh spacing sqrt square tan tanh trunc frexp ravel transpose".split()
)
BINARY = (
    "add arctan2 atan2 bitwise_and bitwise_or bitwise_xor copysign divide divmod equal "
    "float_power floor_divide fmax fmin fmod gcd greater greater_equal heaviside hypot lcm "
    "left_shift less less_equal logaddexp logaddexp2 logical_and logical_or logical_xor maximum "
    "minimum mod multiply nextafter not_equal pow power remainder right_shift subtract "
    "true_divide ldexp isclose allclose array_equal array_equiv polyval polyadd outer kron "
    "append".split()
)
OPERATORS = "+ - * / // % ** & | ^ << >> == != < <= > >=".split()


class Draw:
    """Random arguments."""

    def __init__(self, rng):
        self.rng = rng
        self.pick, self.int = lambda *x: rng.choice(x), rng.randint

    def flag(self):
        return self.rng.choice([True, False])

    def kind(self):
        return self.rng.choice(KINDS)

    def real(self):
        return self.rng.choice(REAL)

    def how(self):
        return self.rng.choice("nnntsp")

    def x(self, *shape, kind=None, how=None):
        """The text of an array."""
        kind, how = kind or self.kind(), how or self.how()
        return f"ar({self.int(0, 99)}, '{kind}', {tuple(shape)}, '{how}')"

    def f(self, *shape, how="n"):
        return self.x(*shape, kind="float32", how=how)

    def shape(self, low=0, high=3):
        none = self.rng.random() < 0.04
        return [0 if none and k == 0 else self.int(1, 4) for k in range(self.int(low, high))]

    def number(self):
        return self.pick("2", "-3", "0", "0.5", "-1.5", "True", "1j", "100", "jnp.float32(2)",
                         "numpy.float32(1.5)", "numpy.int8(3)", "numpy.float64(0.1)", "1e30",
                         "jnp.array(3)", "jnp.array(0.5)", "numpy.array([1, 2])[0]")  # fmt: skip

    def axis(self, n):
        return self.int(-n, n - 1) if n else 0

    def axes(self, n):
        """None, an axis or some."""
        if self.rng.random() < 0.05:
            return n
        if not n:
            return None
        some = tuple(self.rng.sample(range(n), self.int(1, n)))
        return self.pick(None, self.axis(n), self.axis(n), self.axis(n), some)


def unary(d):
    name, x = d.pick(*UNARY), d.pick(d.x(*d.shape()), d.x(*d.shape()), d.number())
    how = d.pick("", "", "", ", 1") if name == "round" else ""
    return f"jnp.{name}({x}{how})"


def binary(d):
    s = d.shape()
    t = d.pick(s, s, s[1:], [1] * len(s))
    x, y = d.x(*s), d.pick(d.x(*t), d.x(*t), d.number())
    x, y = (y, x) if d.rng.random() < 0.3 else (x, y)
    if d.flag():
        return f"{x} {d.pick(*OPERATORS)} {y}"
    return f"jnp.{d.pick(*BINARY)}({x}, {y})"


def reductions(d):
    s = d.shape()
    n, kind = len(s), d.kind()
    x, k, keep = d.x(*s, kind=kind), d.axes(n), d.pick("", f", keepdims={d.flag()}")
    where = d.pick("", "", f", where={d.x(*d.pick(s, s[-1:]), kind='bool')}")
    start = d.pick("", "", f", initial={d.pick(0, 1, 2.5, -7)}")
    t = d.pick("", "", "", f", dtype='{d.kind()}'")
    one = k if isinstance(k, int) else d.axis(n)
    return d.pick(
        f"jnp.{d.pick('sum', 'prod')}({x}, axis={k}{keep}{where}{start}{t})",
        f"jnp.{d.pick('max', 'min', 'amax', 'amin')}({x}, axis={k}{keep}{start}{where})",
        f"jnp.{d.pick('max', 'min')}({x}, {k}{keep})",
        f"jnp.{d.pick('mean', 'nanmean')}({x}, axis={k}{keep}{where}{t})",
        f"jnp.{d.pick('std', 'var', 'nanstd', 'nanvar')}({x}, axis={k}{keep}{where}"
        f"{d.pick('', ', ddof=1')})",
        f"jnp.{d.pick('std', 'var')}({x}, axis={k}, correction=1)",
        f"jnp.{d.pick('any', 'all')}({x}, axis={k}{keep}{where})",
        f"jnp.{d.pick('argmax', 'argmin', 'nanargmax', 'nanargmin')}({x}, axis={one}{keep})",
        f"jnp.{d.pick('nansum', 'nanprod', 'nanmax', 'nanmin')}({x}, axis={k}{keep}{start}{where})",
        f"jnp.{d.pick('cumsum', 'cumprod', 'nancumsum', 'nancumprod')}({x}, axis={one}{t})",
        f"jnp.cumulative_sum({x}, axis={one}, include_initial={d.flag()})",
        f"jnp.{d.pick('median', 'nanmedian', 'ptp')}({x}, axis={k}{keep})",
        f"jnp.{d.pick('quantile', 'nanquantile')}({x}, {d.pick('0.3', 'jnp.array([0.1, 1.0])')}, "
        f"axis={k}{keep}, method='{d.pick('linear', 'lower', 'higher', 'midpoint', 'nearest')}')",
        f"jnp.percentile({x}, 30, axis={one}{keep})",
        f"jnp.count_nonzero({x}, axis={k}{keep})",
        f"jnp.average({x}, axis={one}, weights={d.x(*s, how='p')}, returned={d.flag()})",
        f"{x}.{d.pick('sum', 'mean', 'max', 'std', 'prod', 'any')}({k}{keep})",
        f"jnp.linalg.norm({x}, axis={one}, ord={d.pick(None, 1, 2, 'jnp.inf', 3)})",
        f"jnp.trapezoid({x}, dx=0.5, axis={one})",
        f"jsp.logsumexp({x}, axis={k}{keep}{where})",
        f"nn.logsumexp({x}, axis={k}{keep}, b={d.x(*s, how='p', kind='float32')})",
    )  # fmt: skip


def key(d, s):
    """The text of an index into a shape, and whether it is of one kind with arrays."""
    parts = []
    for n in s[: d.int(1, max(1, len(s)))]:
        parts.append(d.pick(
            str(d.int(-n - 2, n + 2)), f"{d.pick('', d.int(-5, 5))}:{d.pick('', d.int(-5, 5))}",
            f"{d.pick('', d.int(-5, 5))}:{d.pick('', d.int(-5, 5))}:{d.pick(-2, -1, 2)}",
            f"jnp.array({[d.int(-n - 2, n + 2) for _ in range(2)]})",
            f"numpy.array({[d.int(-n, n - 1) for _ in range(2)] if n else '[], int'})",
            f"jnp.array({d.int(-n - 2, n + 2)})", ":",
            f"numpy.array({[d.flag() for _ in range(n)]}, dtype=bool)",
            f"jnp.array({[[d.int(-n - 2, n + 2)] for _ in range(2)]})",
            f"jnp.array({d.int(0, n)}, dtype='uint8')",
        ))  # fmt: skip
    if d.rng.random() < 0.2:
        parts.insert(d.int(0, len(parts)), d.pick("None", "..."))
    return ", ".join(parts)


def indexing(d):
    s = d.shape(1)
    x, k = d.x(*s), key(d, s)
    how = d.pick("", "mode='clip'", "mode='fill'", "mode='fill', fill_value=7", "mode='drop'",
                 "mode='promise_in_bounds'" if d.rng.random() < 0.1 else "mode='wrap'")  # fmt: skip
    n, a = len(s), d.axis(len(s))
    i = f"jnp.array({[d.int(-6, 6) for _ in range(3)]})"
    return d.pick(
        f"{x}[{k}]", f"{x}[{k}]", f"{x}.at[{k}].get({how})",
        f"jnp.take({x}, {i}, axis={a}, {how})", f"jnp.take({x}, {i}, {how})",
        f"jnp.take_along_axis({x}, jnp.argsort({x}, axis={a}), axis={a})",
        f"jnp.take_along_axis({x}, {d.x(*s, kind='int32')}, {a}, {how})",
        f"lax.dynamic_slice({x}, {tuple(d.int(-5, 5) for _ in s)}, "
        f"{tuple(d.int(0, m) for m in s)})",
        f"lax.dynamic_index_in_dim({x}, {d.int(-6, 6)}, {a}, keepdims={d.flag()})",
        f"lax.dynamic_slice_in_dim({x}, {d.int(-6, 6)}, {d.int(0, s[a])}, {a})",
        f"lax.dynamic_update_slice({x}, {d.x(*[1] * n)}, {tuple(d.int(-5, 5) for _ in s)})",
        f"lax.dynamic_update_slice_in_dim({x}, {x}[:1] if {n} == 1 else {x}, {d.int(-5, 5)}, {a})",
        f"lax.dynamic_update_index_in_dim({x}, {d.number()}, {d.int(-5, 5)}, {a})",
        f"lax.slice_in_dim({x}, {d.int(-3, 2)}, {d.pick(None, d.int(-1, 4))}, axis={a})",
        f"lax.index_in_dim({x}, {d.int(-6, 6)}, {a}, {d.flag()})",
        f"jnp.choose({d.x(3, kind='int32')}, [{d.x(3)}, {d.x(3)}], mode='{d.pick('clip', 'wrap')}')",
        f"jnp.select([{d.x(3, kind='bool')}, {d.x(3, kind='bool')}], [{d.x(3)}, {d.x(3)}], "
        f"{d.number()})",
        f"jnp.where({d.x(*s)}, {x}, {d.pick(d.number(), d.x(*s))})",
        f"jnp.compress({d.x(s[a], kind='bool')}, {x}, axis={a})",
        f"jnp.insert({x}, {d.int(0, 1)}, {d.number()}, axis={a})",
        f"jnp.delete({x}, {d.pick(0, -1, 'jnp.array([0])')}, axis={a})",
        f"jnp.put_along_axis({x}, jnp.argsort({x}, {a})[:1], 5, {a}, inplace=False)",
        f"jnp.fill_diagonal({d.x(3, 3)}, {d.number()}, inplace=False)",
        f"jnp.place({x}, {x} > 0, {d.x(3)}, inplace=False)",
        f"jnp.put({x}, {i}, {d.x(3)}, inplace=False)",
    )  # fmt: skip


def updates(d):
    s = d.shape(1)
    x, k = d.x(*s), key(d, s)
    value = d.pick(d.number(), d.number(), d.x(), d.x(1), f"{x}[{k}]")
    how = d.pick("", "", "", ", mode='drop'", ", mode='clip'", ", mode='wrap'", ", mode='fill'",
                 ", indices_are_sorted=False", ", unique_indices=False")  # fmt: skip
    op = d.pick("set", "set", "add", "add", "mul", "multiply", "min", "max", "divide", "power",
                "subtract")  # fmt: skip
    return d.pick(
        f"{x}.at[{k}].{op}({value}{how})",
        f"{x}.at[{k}].{op}({value}{how})",
        f"{x}.at[{k}].apply({d.pick('jnp.sin', 'jnp.abs', 'lambda v: v * 2 + 1')}{how})",
        f"jax.grad(lambda v: ({d.f(*s)}.at[{k}].{op}(v{how}) * {d.f(*s)}).sum())(0.7)",
        f"jax.grad(lambda v: (v.at[{k}].{op}(1.5{how}) * {d.f(*s)}).sum())({d.f(*s)})",
        f"jax.grad(lambda v: (v[{k}] ** 2).sum())({d.f(*s)})",
        f"jax.ops.segment_{d.pick('sum', 'max', 'min', 'prod')}({d.x(4)}, "
        f"jnp.array({[d.int(-1, 4) for _ in range(4)]}){d.pick('', ', num_segments=3')})",
    )


def shapes(d):
    s = d.shape(1)
    n, a, b = len(s), d.axis(len(s)), d.axis(len(s))
    x, m = d.x(*s), d.x(3, 3)
    modes = ["constant", "edge", "reflect", "symmetric", "wrap", "mean", "maximum", "linear_ramp"]
    size = 1
    for k in s:
        size *= k
    return d.pick(
        f"jnp.reshape({x}, {d.pick(-1, (1, -1), (-1, 1), (size,))}, order='{d.pick('C', 'F')}')",
        f"{x}.reshape({d.pick('-1', '1, -1', '(-1, 1)', '2, -1')})",
        f"{x}.T",
        f"{x}.mT",
        f"{x}.ravel(order='{d.pick('C', 'F')}')",
        f"jnp.moveaxis({x}, {a}, {b})",
        f"jnp.swapaxes({x}, {a}, {b})",
        f"jnp.transpose({x}, {d.rng.sample(range(n), n)})",
        f"jnp.expand_dims({x}, {d.pick(0, -1, (0, 1), (0, -1))})",
        f"jnp.squeeze({x}, {d.axes(n)})",
        f"jnp.squeeze({x})",
        f"jnp.roll({x}, {d.int(-3, 3)}, axis={d.axes(n)})",
        f"jnp.flip({x}, {d.axes(n)})",
        f"jnp.tile({x}, {d.pick(2, (2, 1), (1, 2, 1))})",
        f"jnp.repeat({x}, {d.pick(2, 0)}, axis={d.pick(None, a)})",
        f"jnp.repeat({x}, jnp.arange({s[a]}), axis={a}, total_repeat_length={d.int(2, 8)})",
        f"jnp.repeat({x}, jnp.arange({s[a]}), axis={a})",
        f"jnp.broadcast_to({x}, {tuple([2, *s])})",
        f"jnp.atleast_{d.int(1, 3)}d({x})",
        f"jnp.concatenate([{x}, {d.x(*s)}], axis={d.pick(a, None)}"
        f"{d.pick('', ', dtype=' + repr(d.kind()))})",
        f"jnp.stack([{x}, {d.x(*s)}], axis={a}{d.pick('', ', dtype=' + repr(d.kind()))})",
        f"jnp.{d.pick('hstack', 'vstack', 'dstack', 'column_stack')}([{x}, {d.x(*s)}])",
        f"jnp.split({x}, {d.pick(1, 2, [1], [1, 2])}, axis={a})",
        f"jnp.array_split({x}, {d.int(1, 3)}, axis={a})",
        f"jnp.pad({x}, {d.pick(1, (1, 2), [(1, 0)] * n)}, mode='{d.pick(*modes)}')",
        f"jnp.pad({x}, 1, constant_values={d.number()})",
        f"jnp.rot90({m}, {d.int(-2, 3)})",
        f"jnp.tril({m}, {d.int(-2, 2)})",
        f"jnp.triu({m}, {d.int(-2, 2)})",
        f"jnp.diag({m}, {d.int(-2, 2)})",
        f"jnp.diag({d.x(3)}, {d.int(-2, 2)})",
        f"jnp.diagonal({m}, {d.int(-1, 1)})",
        f"jnp.trace({m}, {d.int(-1, 1)})",
        f"jnp.diff({x}, n={d.int(0, 2)}, axis={a})",
        f"jnp.diff({x}, axis={a}, prepend={d.number()})",
        f"jnp.ediff1d({x}, to_end={d.number()})",
        f"jnp.gradient({d.x(3, 4)}, {d.pick('', '0.5, ')}axis={d.pick(0, 1, None)})",
        f"jnp.meshgrid({d.x(2)}, {d.x(3)}, indexing='{d.pick('ij', 'xy')}', sparse={d.flag()})",
        f"lax.pad({x}, jnp.array({d.int(0, 1)}).astype({x}.dtype), "
        f"{[(d.int(-1, 2), d.int(-1, 2), d.int(0, 2)) for _ in s]})",
        f"lax.broadcast_in_dim({d.x(3)}, (2, 3), (1,))",
        f"lax.rev({x}, ({a % n},))",
        f"lax.collapse({d.x(2, 3, 4)}, 0, 2)",
        f"lax.expand_dims({x}, (0,))",
        f"jnp.block([[{m}, {m}], [{m}, {m}]])",
        f"jnp.resize({x}, (2, 3))",
        f"jnp.unstack({x}, axis={a})",
        f"jnp.vander({d.x(3)}, {d.int(1, 4)})",
    )


def making(d):
    t = d.pick("", f", dtype='{d.kind()}'", f", dtype=jnp.{d.kind().replace('bool', 'bool_')}")
    return d.pick(
        f"jnp.arange({d.pick(3, 2.5, '1, 4', '0, 1, 0.3', '5, 0, -2', '0, 3, dtype=float')})",
        f"jnp.arange({d.int(0, 5)}{t})", f"jnp.linspace(0, {d.int(1, 9)}, {d.int(1, 6)}{t})",
        f"jnp.linspace({d.number()}, {d.number()}, 4, endpoint={d.flag()}, retstep={d.flag()})",
        f"jnp.linspace({d.x(2)}, {d.x(2)}, 3, axis={d.pick(0, -1)})",
        f"jnp.logspace(0, 2, 4, endpoint={d.flag()}, base={d.pick(2, 10.0)}{t})",
        f"jnp.geomspace(1, 100, 3{t})", f"jnp.full({d.pick(3, (2, 2), ())}, {d.number()}{t})",
        f"jnp.full_like({d.x(2)}, {d.number()}{t})", f"jnp.{d.pick('zeros', 'ones')}((2, 3){t})",
        f"jnp.{d.pick('zeros', 'ones')}_like({d.pick(d.x(2), d.number())}{t})",
        f"jnp.eye({d.int(1, 4)}, {d.pick(None, 2)}, {d.int(-1, 1)}{t})", f"jnp.identity(2{t})",
        f"jnp.tri(3, 4, {d.int(-1, 1)}{t})", f"jnp.array([{d.number()}, {d.number()}]{t})",
        f"jnp.asarray({d.number()}{t})", f"jnp.array({d.x(2)}{t}, ndmin={d.int(0, 3)})",
        f"jnp.array([[{d.x()}, {d.number()}]])", f"{d.x(3)}.astype('{d.kind()}')",
        f"{d.x(3, how='s')}.astype('{d.kind()}')", f"{d.x(4, kind='float32')}.view('int32')",
        f"jnp.result_type({d.x()}, {d.number()})", f"jnp.promote_types('{d.kind()}', '{d.kind()}')",
        f"lax.iota('{d.kind()}', 3)", f"lax.broadcasted_iota('{d.kind()}', (2, 3), {d.int(0, 1)})",
        f"lax.convert_element_type({d.x(3)}, '{d.kind()}')",
        f"lax.bitcast_convert_type({d.x(4)}, '{d.kind()}')", "jnp.indices((2, 3), sparse=True)",
        f"jnp.finfo('{d.pick('float32', 'bfloat16', 'float16')}').{d.pick('eps', 'max', 'tiny')}",
        f"jnp.issubdtype({d.x()}.dtype, jnp.{d.pick('floating', 'integer', 'number', 'inexact')})",
        f"jnp.can_cast('{d.kind()}', '{d.kind()}')", f"jnp.{d.pick('tril', 'triu')}_indices(3, 1)",
        f"jnp.unravel_index({d.int(-9, 9)}, (2, 3))", f"jnp.bartlett({d.int(1, 5)})",
        f"jnp.ravel_multi_index((jnp.array([1, 5]), jnp.array([0, -2])), (2, 3), mode='"
        f"{d.pick('clip', 'wrap')}')", f"jnp.packbits({d.x(9, kind='bool')})",
    )  # fmt: skip


def ordering(d):
    s = d.shape(1)
    n, a = len(s), d.axis(len(s))
    x, line = d.x(*s), d.x(6, how="t")
    size = d.pick("", f", size={d.int(1, 6)}", f", size={d.int(1, 6)}, fill_value={d.pick(-1, 9)}")
    more = ", ".join(f"{k}={d.flag()}" for k in ("return_index", "return_inverse", "return_counts"))
    side, many = d.pick("left", "right"), d.x(4, how=d.pick("t", "n"))
    return d.pick(
        f"jnp.sort({x}, axis={d.pick(a, None)}, descending={d.flag()}, stable={d.flag()})",
        f"jnp.argsort({x}, axis={d.pick(a, None)}, descending={d.flag()})",
        f"{x}.sort(axis={a}, descending=True)",
        f"{x}.argsort(axis={a})",
        f"jnp.searchsorted(jnp.sort({line}), {many}, side='{side}')",
        f"jnp.searchsorted({line}, {many}, sorter=jnp.argsort({line}), method='scan')",
        f"jnp.digitize({many}, jnp.sort({d.f(3)}), right={d.flag()})",
        f"jnp.unique({line}{size})",
        f"jnp.unique({line}, {more}{size})",
        f"jnp.unique({d.x(4, 2, how='t')}, axis={d.int(0, 1)}{size})",
        f"jnp.nonzero({x}{size})",
        f"jnp.where({x}{size})",
        f"jnp.argwhere({x}{size})",
        f"jnp.flatnonzero({x}{size})",
        f"jnp.unique_counts({line})",
        f"jnp.lexsort(({d.x(5, how='t')}, {d.x(5, how='t')}))",
        f"lax.top_k({x}, {d.int(1, 2)})",
        f"lax.sort({x}, dimension={a})",
        f"lax.sort(({line}, jnp.arange(6)), num_keys={d.int(1, 2)})",
        f"jnp.partition({line}, 2)[2]",
        f"jnp.bincount({d.x(5, kind='int32', how='t')}"
        f"{d.pick('', ', minlength=5', ', length=2', f', weights={d.x(5)}')})",
        f"jnp.isin({x}, {many}, invert={d.flag()})",
        f"jnp.{d.pick('union1d', 'intersect1d', 'setdiff1d', 'setxor1d')}({line}, {many}{size})",
        f"jnp.histogram({d.f(9)}, bins={d.pick(3, 'jnp.array([-1.0, 0, 2])')}, "
        f"density={d.flag()}{d.pick('', ', range=(-1, 1)')})",
        f"jnp.interp({d.f(4)}, jnp.arange(4.0), {d.f(4)}{d.pick('', ', left=-9, right=9')})",
        f"lax.{d.pick('cumsum', 'cumprod', 'cummax', 'cummin', 'cumlogsumexp')}({x}, axis={a % n}"
        f", reverse={d.flag()})",
        f"lax.{d.pick('argmax', 'argmin')}({x}, {a % n}, jnp.int32)",
        f"lax.reduce({d.x(2, 3, kind='float32')}, 0.0, lax.add, ({d.int(0, 1)},))",
        f"lax.reduce_{d.pick('sum', 'max', 'min', 'prod')}({x}, ({a % n},))",
        f"jnp.cov({d.x(2, 5)}, rowvar={d.flag()}, bias={d.flag()})",
        f"jnp.corrcoef({d.f(2, 5)})",
    )


def products(d):
    i, j, k, b = [d.int(1, 3) for _ in range(4)]
    t, u = d.kind(), d.kind()
    x, y, v = d.x(i, j, kind=t), d.x(j, k, kind=u), d.x(j, kind=u)
    q, r = d.x(b, i, j, kind=t), d.x(b, j, k, kind=u)
    pref = d.pick("", "", ", preferred_element_type='float32'", ", precision='highest'")
    m = d.int(1, 4)
    a = f"(lambda m: m @ m.T + 3 * jnp.eye({m}))({d.f(m, m)})"
    return d.pick(
        f"jnp.dot({x}, {y}{pref})", f"jnp.matmul({q}, {r}{pref})", f"{x} @ {v}", f"{q} @ {y}",
        f"jnp.einsum('bij,bjk->bik', {q}, {r}{pref})", f"jnp.einsum('ij->j', {x})",
        f"jnp.einsum('...ij,j', {q}, {v})", f"jnp.tensordot({x}, {y}, axes={d.pick(1, 0)})",
        f"jnp.vdot({v}, {v})", f"jnp.inner({x}, {v})", f"jnp.outer({x}, {v})",
        f"jnp.vecdot({x}, {v})", f"jnp.cross({d.x(2, 3)}, {d.x(3)})", f"lax.dot({x}, {y}{pref})",
        f"lax.dot_general({q}, {r}, ((([2]), ([1])), (([0]), ([0]))){pref})",
        f"lax.batch_matmul({q}, {d.x(b, j, k, kind=t)})", f"jnp.linalg.inv({a})", f"jnp.linalg.det({a})",
        f"jnp.linalg.slogdet({a})", f"jnp.linalg.cholesky({a}{d.pick('', ', upper=True')})",
        f"jnp.linalg.solve({a}, {d.f(m, 2)})", f"jnp.linalg.eigvalsh({a})",
        f"jnp.linalg.svd({a}, compute_uv=False)", f"jnp.abs(jnp.linalg.qr({a})[1])",
        f"jnp.linalg.matrix_power({d.f(m, m)}, {d.int(-1, 3)})", f"jnp.linalg.pinv({a})",
        f"jnp.linalg.norm({d.x(i, j)}, {d.pick(None, 1, 2, repr('fro'), repr('nuc'))})",
        f"jnp.linalg.lstsq({a}, {d.f(m)})[0]", f"jnp.linalg.matrix_rank({a})",
        f"jnp.linalg.cond({a})", f"jnp.linalg.multi_dot([{d.f(2, 3)}, {d.f(3, 2)}, {d.f(2, 4)}])",
        f"jax.scipy.linalg.solve_triangular({a}, {d.f(m)}, lower={d.flag()}, trans={d.int(0, 1)})",
        f"jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor({a}), {d.f(m)})",
        f"jax.scipy.linalg.expm({d.f(m, m)} * 0.3)", f"jax.scipy.linalg.block_diag({x}, {y})",
        f"jax.scipy.linalg.solve({a}, {d.f(m)})", f"jax.scipy.linalg.det({a})",
        f"jnp.convolve({d.x(4)}, {d.x(3)}, mode='{d.pick('full', 'same', 'valid')}')",
        f"jnp.correlate({d.x(4)}, {d.x(3)}, mode='{d.pick('full', 'same', 'valid')}')",
        f"jnp.fft.{d.pick('fft', 'ifft', 'rfft', 'ihfft')}({d.x(5, kind='float32')}, "
        f"n={d.pick(None, 4, 7)}, norm={d.pick(None, repr('ortho'))})",
        f"jnp.fft.{d.pick('fft2', 'rfft2', 'fftn', 'fftshift')}({d.f(3, 4)})",
        f"jnp.fft.irfft({d.x(5, kind='complex64')}, n={d.pick(None, 7)})",
        f"jnp.fft.fftfreq({d.int(1, 5)}, 0.5)", f"jnp.polyfit({d.f(6)}, {d.f(6)}, {d.int(1, 2)})",
        "jnp.roots(jnp.array([1.0, -3, 2]))", f"jnp.apply_along_axis(jnp.sum, 0, {x})",
        f"jnp.vectorize(lambda u, v: u * v.sum(), signature='(),(n)->()')({d.x(2)}, {d.x(3)})",
    )  # fmt: skip
