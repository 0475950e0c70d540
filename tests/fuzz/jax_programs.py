"""Texts of random calls of JAX's transformations, loops, nets, random numbers and trees, and the
choice among all subjects, for `tests/fuzz/jax_calls.py`.
"""

# ruff: noqa: E501 – one expression a line

import jax_grammar as arrays
from jax_grammar import SETUP, Draw  # noqa: F401

ACTIVATIONS = (
    "relu relu6 sigmoid softplus soft_sign silu swish hard_tanh hard_sigmoid hard_silu hard_swish "
    "log_sigmoid selu mish tanh identity leaky_relu elu celu gelu squareplus sparse_plus "
    "sparse_sigmoid log1mexp".split()
)
SPECIAL = (
    "bessel_jn digamma entr erf erfc erfinv expit exp1 gammaln gammasgn i0 i0e i1 i1e log_ndtr "
    "log_softmax logit ndtr ndtri softmax loggamma factorial expi spence".split()
)
SPECIAL_2 = "betaln xlogy xlog1py rel_entr kl_div gammainc gammaincc beta zeta poch".split()
INNER = (
    "jnp.sin(x) * x|x ** 3|jnp.exp(-x ** 2)|nn.softmax(x)|jnp.cumsum(x) * x[0]|jnp.sort(x)|"
    "x / (1 + jnp.abs(x))|jnp.where(x > 0, x, x ** 2)|jnp.clip(x, -1, 1) * x|twice(x, 2.0)|"
    "soft(x)|lax.stop_gradient(x) * x|jnp.linalg.norm(x) * x|jnp.maximum(x, 0.1)|"
    "jax.checkpoint(lambda v: jnp.sin(v) ** 2)(x)|jnp.prod(x) + x|jnp.logaddexp(x, 0.3)|"
    "lax.scan(body, x, jnp.ones((3, x.shape[0])))[0]|x @ x * x|x.at[0].mul(3.0)|nn.gelu(x)|"
    "lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x)|jnp.roll(x, 1) * x|x[::-1] * x|x.max() * x|"
    "lax.fori_loop(0, 3, lambda i, v: v * 1.1 + i, x)|jax.jit(jnp.tanh)(x)|jnp.var(x) * x|"
    "lax.map(lambda v: v * 2, x)|lax.associative_scan(jnp.multiply, x)|jnp.hypot(x, 2.0)|"
    "jnp.interp(x, jnp.arange(3.0), jnp.array([1.0, 4, 2]))|jnp.arctan2(x, 1 + x * x)|"
    "x.astype(jnp.float16).astype(jnp.float32) * 2|nn.logsumexp(x) * x|jnp.take(x, 0) * x|"
    "jax.vmap(lambda v: v * x[0])(x)|jnp.median(x) * x|jnp.pad(x, 1)[:-2]|jnp.outer(x, x)[0]|"
    "jnp.convolve(x, x)[: x.shape[0]]|jnp.abs(jnp.fft.fft(x)).astype(x.dtype)|nn.silu(x)"
)


def nets(d):
    s = d.shape(1)
    n, a = len(s), d.axis(len(s))
    x, where = d.x(*s), d.x(*s, kind="bool")
    k = d.pick(a, None, tuple(range(n)))
    w = d.pick("", f", where={where}")
    act = d.pick(*ACTIVATIONS)
    more = f", approximate={d.flag()}" if act == "gelu" and d.flag() else ""
    init = d.pick("glorot_normal", "he_uniform", "lecun_normal", "xavier_uniform", "he_normal")
    q, kv = d.f(2, 3, 2, 4), d.f(2, 5, 2, 4)
    return d.pick(
        f"nn.{act}({d.pick(x, x, d.number())}{more})", f"nn.{act}({x}{more})",
        f"nn.softmax({x}, axis={k}{w})", f"nn.log_softmax({x}, axis={k}{w})",
        f"nn.softmax({x}, axis={a}, where={where}, initial=-1)",
        f"nn.logsumexp({x}, axis={k}{w}, keepdims={d.flag()})",
        f"nn.logsumexp({x}, axis={a}, return_sign=True, b={d.f(*s)})",
        f"nn.logmeanexp({x}, axis={a}{w})", f"nn.standardize({x}, axis={a}{w})",
        f"nn.standardize({x}, axis={a}, epsilon=0.1, mean=0.5, variance=2.0)",
        f"nn.one_hot({d.x(3, kind=d.pick('int32', 'uint8', 'float32'))}, {d.int(1, 4)}, "
        f"axis={d.pick(-1, 0)}{d.pick('', ', dtype=jnp.int32')})", f"nn.glu({d.f(2, 4)}, {a % 1})",
        f"nn.{d.pick('leaky_relu', 'elu', 'celu')}({x}, {d.pick(0.3, 2)})",
        f"nn.dot_product_attention({q}, {kv}, {kv}, is_causal={d.flag()}, "
        f"scale={d.pick(None, 0.3)})",
        f"nn.dot_product_attention({q}, {kv}, {kv}, bias={d.f(2, 2, 3, 5)})",
        f"nn.dot_product_attention({q}, {kv}, {kv}, mask={d.x(2, 1, 3, 5, kind='bool')})",
        f"nn.dot_product_attention({q}, {d.f(2, 5, 1, 4)}, {d.f(2, 5, 1, 4)})",
        f"nn.initializers.{init}()(random.key(3), ({d.int(1, 4)}, 5))",
        f"nn.initializers.{d.pick('normal', 'uniform')}({d.pick('', 0.3)})(random.key(3), (4,))",
        f"nn.initializers.{d.pick('orthogonal', 'truncated_normal')}()(random.key(3), (3, 3))",
        f"nn.initializers.variance_scaling(2.0, 'fan_{d.pick('in', 'out', 'avg')}', '"
        f"{d.pick('normal', 'uniform', 'truncated_normal')}')(random.key(1), (3, 4))",
        f"jsp.{d.pick(*SPECIAL)}({d.pick(x, d.f(3, how='p'))})",
        f"jsp.{d.pick(*SPECIAL_2)}({d.f(3, how='p')}, {d.pick(d.f(3, how='p'), x)})",
        f"jsp.polygamma({d.int(0, 2)}, {d.f(3, how='p')})",
        f"jsp.betainc({d.f(3, how='p')}, {d.f(3, how='p')}, {d.f(3, how='p')})",
    )  # fmt: skip


def windows(d):
    x, w = d.f(2, 2, d.int(3, 6), d.int(3, 6)), d.f(3, 2, d.int(1, 3), d.int(1, 3))
    step, apart = (d.int(1, 2), d.int(1, 2)), (d.int(1, 2), d.int(1, 2))
    pad = d.pick("'SAME'", "'VALID'", [(d.int(0, 2), d.int(0, 2)) for _ in "ab"])
    flat = d.pick("(1, 2, 2, 1)", "(1, 1, 2, 2)")
    return d.pick(
        f"lax.conv({x}, {w}, {step}, {d.pick(repr('SAME'), repr('VALID'))})",
        f"lax.conv_general_dilated({x}, {w}, {step}, {pad}, rhs_dilation={apart})",
        f"lax.conv_general_dilated({x}, {w}, {step}, {pad}, lhs_dilation={apart})",
        f"lax.conv_general_dilated({d.f(1, 4, 5)}, {d.f(4, 2, 3)}, (1,), {d.pick(repr('SAME'), [(1, 0)])}, "
        "feature_group_count=2)",
        f"lax.conv_general_dilated({d.f(2, 5, 5, 3)}, {d.f(3, 3, 3, 4)}, {step}, {pad}, "
        "dimension_numbers=('NHWC', 'HWIO', 'NHWC'))",
        f"lax.conv_transpose({d.f(1, 4, 4, 2)}, {d.f(3, 3, 2, 3)}, {step}, "
        f"{d.pick(repr('SAME'), repr('VALID'))}, dimension_numbers=('NHWC', 'HWIO', 'NHWC'))",
        f"lax.reduce_window({d.x(4, 5, kind=d.pick('float32', 'int32'))}, "
        f"{d.pick('0, lax.add', '-9, lax.max', '9, lax.min')}, (2, 2), {step}, "
        f"{d.pick(repr('SAME'), repr('VALID'))})",
        f"lax.reduce_window({d.f(1, 4, 5, 2)}, -jnp.inf, lax.max, {flat}, {flat}, 'SAME')",
        f"jax.grad(lambda w: (lax.conv({x}, w, {step}, 'SAME') ** 2).sum())({w})",
        f"jax.grad(lambda x: (lax.conv({x}, {w}, {step}, 'VALID') ** 2).sum())({x})",
        f"jax.grad(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, {flat}, {flat}, 'SAME').sum())"
        f"({d.f(1, 4, 5, 2)})",
        f"jax.image.resize({d.f(4, 5)}, ({d.int(2, 7)}, {d.int(2, 7)}), "
        f"'{d.pick('nearest', 'bilinear', 'linear', 'bicubic')}')",
        f"lax.conv_general_dilated_patches({x}, (2, 2), {step}, {pad})",
        f"jax.scipy.signal.convolve({d.f(4)}, {d.f(3)}, mode='{d.pick('same', 'full')}')",
        f"jax.scipy.signal.convolve2d({d.f(4, 5)}, {d.f(2, 3)}, mode='{d.pick('same', 'valid')}')",
    )  # fmt: skip


def loops(d):
    x, v, n = d.x(4, kind=d.real()), d.f(3), d.int(0, 4)
    fn = d.pick("jnp.add", "jnp.multiply", "jnp.maximum", "lambda a, b: a * 0 + b")
    return d.pick(
        f"lax.scan(body, 0.0, {x}, reverse={d.flag()})", f"lax.scan(body, {v}, {d.f(n, 3)})",
        f"lax.scan(lambda c, _: (c + 1, c), {d.number()}, None, length={n})",
        f"lax.scan(lambda c, x: (c + x['a'], x['b']), 0, {{'a': jnp.arange({n}), 'b': "
        f"{d.x(n, 2)}}}, unroll=2)",
        f"lax.scan(lambda c, x: (c + 1, None), 1, {x})",
        "lax.scan(lambda c, x: ((c[1], c[0] + c[1]), c[0]), (0, 1), None, 6)",
        f"lax.fori_loop({d.int(-1, 2)}, {n}, lambda i, v: v + i, {d.number()})",
        f"lax.fori_loop(0, {n}, lambda i, v: v.at[i].set(i), {x})",
        f"lax.while_loop(lambda c: c[0] < {n}, lambda c: (c[0] + 1, c[1] * 2), (0, {d.number()}))",
        f"lax.cond({d.pick('True', d.x(), '0', '2.5')}, lambda v: v + 1, lambda v: v * 2, {x})",
        f"lax.cond({d.flag()}, lambda: {d.number()}, lambda: {d.number()})",
        f"lax.switch({d.int(-2, 4)}, [lambda v: v, lambda v: v * 2, lambda v: -v], {v})",
        f"lax.switch({d.x()}, [jnp.sin, jnp.cos], {v})",
        f"lax.map(lambda v: (v * 2, v.sum()), {d.x(3, 2)}{d.pick('', ', batch_size=2')})",
        f"lax.associative_scan({fn}, {x}, reverse={d.flag()})",
        f"lax.associative_scan({fn}, {d.x(2, 3)}, axis={d.int(-2, 1)})",
        f"lax.associative_scan(lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), ({v}, {d.f(3)}))",
        f"lax.select({d.x(3, kind='bool')}, {v}, {d.f(3)})", f"lax.rem({x}, {d.x(4)})",
        f"lax.select({d.flag()}, {v}, {d.f(3)})", f"lax.div({x}, {d.x(4, how='p')})",
        f"lax.select_n({d.x(3, kind='int32', how='t')}, {v}, {d.f(3)}, {d.f(3)})",
        f"lax.clamp({d.number()}, {x}, {d.number()})", f"lax.rsqrt({x})",
        f"lax.integer_pow({x}, {d.int(-2, 3)})", f"lax.logistic({x})",
        f"lax.{d.pick('add', 'mul', 'sub', 'max', 'atan2', 'pow', 'bitwise_and')}({x}, {x})",
        f"lax.{d.pick('add', 'mul', 'lt')}({x}, {d.pick(d.x(4), d.x(), d.number())})",
        f"lax.{d.pick('sign', 'neg', 'abs', 'floor', 'round', 'erf', 'lgamma', 'digamma')}({x})",
        f"lax.{d.pick('population_count', 'clz', 'bitwise_not')}({x})",
        f"lax.shift_{d.pick('left', 'right_logical', 'right_arithmetic')}({x}, {d.x(4)})",
        f"lax.reduce_precision({v}, 5, 10)", f"lax.concatenate([{v}, {d.f(2)}], 0)",
        f"lax.full((2,), {d.number()})", f"lax.full_like({x}, {d.number()})",
        f"lax.complex({v}, {d.f(3)})", f"lax.sort_key_val({v}, jnp.arange(3))",
    )  # fmt: skip


def chance(d):
    key = d.pick("random.key", "random.PRNGKey") + f"({d.pick(0, 1, 42, -1, 2**31)})"
    key = d.pick(key, key, f"random.split({key}, 3)[1]", f"random.fold_in({key}, {d.int(0, 9)})")
    s = d.pick((), (5,), (2, 3), (0,), 3)
    t = d.pick("", "", "", ", dtype=jnp.float16", ", dtype=jnp.bfloat16")
    line = d.pick(d.x(5), "6", d.x(3, 2), "jnp.arange(4)")
    p = d.pick("", "", f", p=nn.softmax({d.f(6)})")
    return d.pick(
        f"random.split({key}{d.pick('', ', 3', ', (2, 2)')})", f"random.fold_in({key}, 7)",
        f"random.bits({key}, {s}{d.pick('', ', jnp.uint8', ', jnp.uint16')})",
        f"random.uniform({key}, {s}{t}{d.pick('', ', minval=-2', ', maxval=7.5')})",
        f"random.normal({key}, {s}{t})", f"random.normal({key}, {s}, jnp.complex64)",
        f"random.uniform({key}, (2, 3), minval={d.f(3)}, maxval=9.0)",
        f"random.randint({key}, {s}, {d.pick(0, -5)}, {d.pick(10, 3, 255, 2**31 - 1)}"
        f"{d.pick('', ', jnp.int8', ', jnp.uint8', ', jnp.int16')})",
        f"random.randint({key}, (3,), {d.x(3, kind='int32', how='t')}, {d.pick(9, 200)})",
        f"random.permutation({key}, {line}{d.pick('', ', independent=True', ', axis=-1')})",
        f"random.choice({key}, 6, {s}, replace={d.flag()}{p})",
        f"random.choice({key}, {d.x(6, 2)}, (3,){d.pick('', ', axis=0')}, replace={d.flag()}{p})",
        f"random.categorical({key}, {d.f(2, 4)}{d.pick('', ', axis=0', ', shape=(3, 2)')})",
        f"random.categorical({key}, {d.f(4)}, replace=False, shape=(2,))",
        f"random.bernoulli({key}, {d.pick(0.3, d.f(3, how='p'))}, (2, 3))",
        f"random.bernoulli({key}{d.pick('', ', shape=(4,)')})",
        f"random.truncated_normal({key}, {d.pick(-1, -2.0)}, 2, {s}{t})",
        f"random.{d.pick('exponential', 'gumbel', 'laplace', 'cauchy', 'logistic')}({key}, {s}{t})",
        f"random.gamma({key}, {d.pick(0.5, 3, d.f(3, how='p'))}, (2, 3))",
        f"random.beta({key}, 0.5, {d.f(3, how='p')})", f"random.poisson({key}, {d.pick(0.5, 40)}, {s})",
        f"random.dirichlet({key}, {d.f(3, how='p')}, (2,))", f"random.rademacher({key}, {s})",
        f"random.multivariate_normal({key}, jnp.zeros(2), jnp.eye(2) + 0.2, (3,))",
        f"random.ball({key}, 3, {d.pick(2, 1)}, (2,))", f"random.orthogonal({key}, 3)",
        f"random.binomial({key}, 10, 0.3, {s})", f"random.geometric({key}, 0.3, {s})",
        f"random.{d.pick('t', 'chisquare', 'pareto')}({key}, 3.0, {s})",
        f"random.{d.pick('rayleigh', 'weibull_min')}({key}, 2.0, {d.pick(1.5, 3.0)}, (3,))",
        f"random.maxwell({key}, {s})", f"random.triangular({key}, 0.0, 0.5, 1.0, {s})",
        f"random.key_data({key})", "random.wrap_key_data(jnp.array([1, 2], dtype='uint32'))",
        f"jax.vmap(lambda k: random.{d.pick('normal', 'uniform', 'gumbel')}(k, (2,)))"
        f"(random.split({key}, 3))",
        f"jax.vmap(random.permutation, (0, None))(random.split({key}, 2), 5)",
        f"jax.vmap(lambda k: random.randint(k, (), 0, 9))(random.split({key}, 3))",
        f"jax.vmap(random.categorical)(random.split({key}, 2), {d.f(2, 4)})",
        f"jax.vmap(random.bernoulli)(random.split({key}, 3), {d.f(3, how='p')})",
        f"random.normal({key}, (3,)) + random.split({key}).shape[0]", f"{key}.dtype", f"{key}.shape",
    )  # fmt: skip


def inner(d):
    """A function of a vector."""
    return d.pick(*INNER.split("|"))


def derivatives(d):
    f, g, x = inner(d), inner(d), d.f(3)
    weighted = f"lambda x: (({f}) * {d.f(3)}).sum()"
    nested = f"lambda x: (lambda x: {g})({f})"
    two = f"lambda x, y: (({f}) * jnp.cos(y)).sum()"
    start = d.pick(x, x, "jnp.array([0.5, 0.5, -1.0])", "jnp.zeros(3)", d.x(3, kind="float16"))
    names = d.pick("0", "1", "(0, 1)", "(1,)", "-1")
    tree = f"{{'w': {x}, 'b': [{d.f()}, {d.f()}]}}"
    return d.pick(
        f"jax.grad({weighted})({start})", f"jax.value_and_grad({weighted})({start})",
        f"jax.grad({two}, argnums={names})({x}, {d.pick(d.f(3), d.f(1), d.f(), '1.5')})",
        f"jax.value_and_grad(lambda x: (({f}).sum(), {{'a': x * 2, 'n': 3}}), has_aux=True)({x})",
        f"jax.grad(lambda x: (({f}).sum(), x * 2), has_aux=True)({x})",
        f"jax.jvp(lambda x: {f}, ({x},), ({d.f(3)},))", f"jax.vjp({nested}, {x})[1]({d.f(3)})",
        f"jax.jvp({two}, ({x}, {d.f(3)}), ({d.f(3)}, {d.f(3)}))",
        f"jax.{d.pick('jacobian', 'jacrev', 'jacfwd')}({nested})({x})",
        f"jax.{d.pick('jacrev', 'jacfwd')}({two}, argnums={names})({x}, {d.f(3)})",
        f"jax.hessian({weighted})({x})", f"jax.jacfwd(jax.jacrev({weighted}))({x})",
        f"jax.jacrev(jax.grad({weighted}))({x})", f"jax.linearize({nested}, {x})[1]({d.f(3)})",
        f"jax.vmap(jax.grad({weighted}))({d.f(2, 3)})", f"jax.jit(jax.grad({weighted}))({x})",
        f"jax.grad(lambda x: jax.grad({weighted})(x).sum())({x})",
        f"jax.grad(lambda p: (p['w'] * p['b'][0] + p['b'][1] ** 2).sum())({tree})",
        f"jax.hessian(lambda p: (p['w'] ** 2 * p['b'][0] * p['b'][1]).sum())({tree})",
        f"jax.jacrev(lambda p: p['w'] ** 2 * p['b'][0])({tree})",
        f"jax.jvp(jax.grad({weighted}), ({x},), ({d.f(3)},))[1]",
        f"jax.grad(lambda t: ({f.replace('x', 'u')}).sum() if False else jnp.sin(t) * t)(0.7)",
        f"jax.grad(lambda x, n: (x ** n).sum())({x}, {d.int(1, 3)})",
        f"jax.grad(jnp.linalg.{d.pick('det', 'norm')})({d.f(2, 2)})",
        f"jax.grad(lambda x: jnp.{d.pick('max', 'min', 'prod', 'std', 'median')}({f}))({start})",
        f"jax.grad(lambda x: jnp.{d.pick(*arrays.UNARY)}(x).sum())({d.f(3, how=d.pick('n', 'p'))})",
        f"jax.vjp({two}, {x}, {d.f(3)})[1](2.0)", f"jax.vjp(lambda x: (x, x * 2), {x}, has_aux=True)[2]",
        f"jax.grad(lambda x, y: jnp.{d.pick(*arrays.BINARY)}(x, y).sum(), (0, 1))({x}, {d.f(3)})",
        f"jax.jacobian(jnp.{d.pick('sin', 'cumsum', 'sort', 'cumprod')})({start})",
        f"jax.eval_shape({nested}, {x})", f"jax.grad({weighted}, allow_int=True)(jnp.arange(3))",
        f"jax.grad(lambda x: jnp.abs(x).sum())({d.x(3, how='t', kind='float32')})",
        f"jax.grad(lambda x: jnp.{d.pick('max', 'min', 'sort', 'median')}(x).sum())"
        f"({d.x(4, how='t', kind='float32')})",
        f"jax.grad(lambda x: jnp.sqrt(jnp.sum(x ** 2)))({d.pick('jnp.zeros(2)', x)})",
        f"jax.grad(lambda x: jnp.{d.pick('maximum', 'minimum', 'fmax')}(x, 0.0).sum())(jnp.zeros(2))",
        f"jax.grad(lambda x: nn.{d.pick('relu', 'relu6', 'elu', 'hard_tanh', 'leaky_relu')}(x).sum())"
        "(jnp.array([0.0, 1.0, -1.0, 6.0]))",
    )  # fmt: skip


def batches(d):
    f, x, y = inner(d), d.f(2, 3), d.f(2, 3)
    name = d.pick(*arrays.UNARY)
    a, out = d.int(-2, 1), d.pick(0, 1, -1)
    if name in ("modf", "frexp"):
        out = 0
    return d.pick(
        f"jax.vmap(lambda x: {f}, in_axes={a}, out_axes={out})({d.f(3, 3)})",
        f"jax.vmap(lambda x, y: x * y[0], in_axes={d.pick('(0, None)', '(None, 0)', '(1, 0)')})"
        f"({d.f(3, 3)}, {d.f(3, 3)})",
        f"jax.vmap(jax.vmap(lambda x: {f}))({d.f(2, 2, 3)})",
        f"jax.vmap(jax.vmap(lambda a, b: a * b + 1, (None, 0)), (0, None))({d.x(2)}, {d.x(3)})",
        f"jax.vmap(jax.vmap(jnp.dot, (None, 0)), (0, None))({x}, {y})",
        f"jax.vmap(lambda p: p['a'] + p['b'].sum(), in_axes=({{'a': 0, 'b': None}},))"
        f"({{'a': {x}, 'b': {d.f(3)}}})",
        f"jax.vmap(lambda x: (x, {{'s': x.sum()}}), out_axes=({out}, 0))({x})",
        f"jax.vmap(lambda x, i: x[i])({x}, jnp.array([{d.int(-4, 4)}, {d.int(-4, 4)}]))",
        f"jax.vmap(lambda x, i: x.at[i].{d.pick('set', 'add')}(9.0))({x}, jnp.array([0, 2]))",
        f"jax.vmap(lambda x, i: lax.dynamic_slice(x, (i,), (2,)))({x}, jnp.array([0, 2]))",
        f"jax.vmap(jnp.{name}, out_axes={out})({d.x(2, 3)})",
        f"jax.vmap(lambda x: lax.cond(x[0] > 0, jnp.sin, jnp.cos, x))({x})",
        "jax.vmap(lambda n: lax.fori_loop(0, n, lambda i, v: v + i, 0))(jnp.array([2, 3]))",
        f"jax.vmap(lambda x: lax.while_loop(lambda v: v < 9, lambda v: v * 2, x))({d.f(3, how='p')})",
        f"jax.vmap(lambda x: lax.scan(body, 0.0, x))({x})",
        "jax.vmap(lambda x: lax.switch(x, [lambda: 1.0, lambda: 2.0]))(jnp.array([0, 1, 1]))",
        f"jax.vmap(lambda x: jnp.{d.pick('sort', 'argmax', 'cumsum', 'max', 'any')}(x))({x})",
        f"jax.vmap(lambda x: x.mean(axis={d.int(-1, 0)}, keepdims=True))({d.x(2, 3)})",
        f"jax.vmap(lambda x: lax.psum(x, 'i'), axis_name='i')({x})",
        f"jax.vmap(lambda x: x - lax.pmean(x, 'i'), axis_name='i', in_axes={a})({x})",
        f"jax.vmap(lambda x: 3.0)({x})", f"jax.vmap(jnp.linalg.inv)({d.f(2, 2, 2)})",
        f"jax.vmap(lambda x: jnp.where(x > 0, x, 0).reshape(-1, 1) @ x[None])({x})",
        f"jax.vmap(lambda x, k=2: x * k)({x})", f"jax.vmap(lambda x, k: x * k)({x}, k=jnp.arange(2))",
        f"jax.vmap(jax.jacrev(lambda x: {f}))({x})", f"jax.vmap(jax.hessian(lambda x: ({f}).sum()))({x})",
        f"jax.jit(jax.vmap(lambda x: {f}))({x})", f"jax.vmap(lambda x: jnp.stack([x, x]), {a})({x})",
        f"jax.jit(lambda x, n: x[:n], static_argnums={d.pick('1', '(1,)', '-1')})({x}, 1)",
        f"jax.jit(lambda x, n: x * n, static_argnames='n')({x}, n=2)",
        f"jax.jit(lambda x, **k: x + k['y'])({x}, y={d.number()})",
        f"jax.jit(lambda p: {{'a': p[0] * 2, 'b': (p[1], None)}})(({x}, {d.number()}))",
        f"jax.jit(lambda x: x + 1)({d.number()})", f"jax.jit(lambda x: 3)({x})",
    )  # fmt: skip


def statistics(d):
    """Distributions, parts of arrays by numbers, pictures."""
    x, p, k = d.f(4), d.f(4, how="p"), "jnp.arange(4)"
    a, b = d.pick(0.5, 2.0, d.f(4, how="p")), d.pick(1.5, d.f(4, how="p"))
    two = d.pick("", f", {d.pick(0.3, -1)}, {d.pick(2, 0.7)}")
    name = d.pick("norm", "uniform", "expon", "laplace", "logistic", "cauchy", "gumbel_r")
    of = d.pick("logpdf", "pdf", "cdf", "logcdf", "sf")
    ids = f"jnp.array({[d.int(-1, 4) for _ in range(4)]})"
    return d.pick(
        f"jax.scipy.stats.{d.pick('norm', 'logistic')}.{of}({x}{two})",
        f"jax.scipy.stats.{name}.{d.pick('logpdf', 'pdf')}({x}{two})",
        f"jax.scipy.stats.{d.pick('norm', 'logistic', 'expon', 'uniform')}.ppf({p}{two})",
        f"jax.scipy.stats.{d.pick('gamma', 'chi2', 't', 'pareto')}.logpdf({p}, {a}{two})",
        f"jax.scipy.stats.{d.pick('gamma', 'chi2')}.cdf({p}, {a})",
        f"jax.scipy.stats.beta.{d.pick('logpdf', 'pdf', 'cdf')}({p}, {a}, {b})",
        f"jax.scipy.stats.poisson.{d.pick('pmf', 'logpmf', 'cdf')}({k}, {a})",
        f"jax.scipy.stats.bernoulli.{d.pick('pmf', 'logpmf')}({k}, {p})",
        f"jax.scipy.stats.binom.{d.pick('pmf', 'logpmf')}({k}, 3, {p})",
        f"jax.grad(lambda m: jax.scipy.stats.{name}.logpdf({x}, m, 1.5).sum())(0.3)",
        f"jax.grad(lambda m: jax.scipy.stats.norm.logcdf({x} * m).sum())(0.3)",
        f"jax.scipy.stats.multivariate_normal.logpdf({d.f(3, 2)}, {d.f(2)}, jnp.eye(2) + 0.3)",
        f"jax.grad(lambda v: (jax.ops.segment_sum(v, {ids}, 3) ** 2).sum())({x})",
        f"jax.image.resize({d.x(2, 3, kind=d.real(), how='p')}, (3, 2), 'linear')",
        f"jax.grad(lambda v: (jax.image.resize(v, (3, 5), 'cubic') ** 2).sum())({d.f(2, 3)})",
        f"jax.scipy.signal.{d.pick('convolve', 'correlate', 'fftconvolve')}({d.f(d.int(2, 5))}, "
        f"{d.f(d.int(2, 5))}, mode='{d.pick('full', 'same', 'valid')}')",
        f"jax.scipy.signal.correlate2d({d.f(4, 5)}, {d.f(2, 3)}, mode='{d.pick('full', 'same')}')",
        f"jax.scipy.linalg.{d.pick('toeplitz', 'expm')}({d.f(3, 3)})",
        f"jnp.linalg.eigvalsh({d.f(3, 3)})", f"jnp.linalg.eigh({d.f(3, 3)})[0]",
        f"jax.grad(lambda m: jnp.linalg.eigvalsh(m)[0])({d.f(3, 3)})",
        f"jax.grad(lambda m: jnp.linalg.{d.pick('slogdet', 'svd')}(m)[1].sum())({d.f(3, 3)})",
        f"jax.grad(lambda m: jnp.linalg.cholesky(m @ m.T + jnp.eye(3)).sum())({d.f(3, 3)})",
        f"jax.grad(lambda m: jnp.linalg.solve(m, {d.f(3)}).sum())({d.f(3, 3)} + 3 * jnp.eye(3))",
        f"jsp.{d.pick('gammainc', 'gammaincc')}({p}, {d.f(4, how='p')} * {d.pick(1, 5)})",
        f"jax.grad(lambda v: jsp.{d.pick(*SPECIAL)}(v).sum())({p})",
        f"jax.grad(lambda v: jsp.gammainc({p}, v).sum())({d.f(4, how='p')})",
    )  # fmt: skip


def trees(d):
    tree = d.pick(f"{{'b': {d.x(2)}, 'a': [1, (2.0, None)]}}", "[1, {'x': (2, 3)}, ()]", "(1, [])",
                  "{'z': 1, 'a': 2}", f"[{d.x(2)}, {d.x(3)}]", "None", "3.0")  # fmt: skip
    m = d.pick("jax.tree.", "jax.tree_util.tree_")
    return d.pick(
        f"{m}map(lambda v: v * 2, {tree})", f"{m}leaves({tree})", f"str({m}structure({tree}))",
        f"{m}map(lambda a, b: a + b, {tree}, {tree})", f"{m}reduce(lambda a, b: a + 1, {tree}, 0)",
        f"{m}flatten({tree})[0]", f"{m}unflatten({m}structure({tree}), {m}leaves({tree}))",
        f"{m}all({m}map(lambda v: True, {tree}))", f"{m}structure({tree}).num_leaves",
        f"[jax.tree_util.keystr(k) for k, _ in jax.tree_util.tree_leaves_with_path({tree})]",
        f"jax.tree_util.tree_map_with_path(lambda p, v: jax.tree_util.keystr(p), {tree})",
        f"{m}leaves({tree}, is_leaf=lambda v: isinstance(v, (list, type(None))))",
        f"{m}map(lambda v: v, {tree}, is_leaf=lambda v: v is None)",
        f"{m}transpose({m}structure([0, 0]), {m}structure({{'a': 0}}), [{{'a': 1}}, {{'a': 2}}])",
        f"jax.flatten_util.ravel_pytree([{d.x(2)}, {{'k': {d.x(2, 2)}}}])[0]",
        f"(lambda r: r[1](r[0] * 2))(jax.flatten_util.ravel_pytree([{d.x(2)}, {d.f()}]))",
        f"repr({d.x(3)})", f"repr({d.x(2, 3)})", f"str({d.x(3)})", f"format({d.x()})",
        f"repr({d.x()})", f"{d.x(2, 3)}.tolist()", f"len({d.x(*d.shape())})",
        f"bool({d.x(*d.shape(0, 2))})", f"float({d.x(*d.shape(0, 2))})", f"int({d.x()})",
        f"[v for v in {d.x(3)}]", f"{d.x(3)}.item()", f"numpy.asarray({d.x(3)})",
        f"numpy.sin({d.x(3, kind='float32')})", f"{d.x(2)} in [1]", f"range(3)[{d.x()}]",
        f"isinstance({d.x(2)}, jax.Array)", f"isinstance({d.x(2)}, jnp.ndarray)",
        f"{d.x(3)}.nbytes", f"{d.x(3)}.clip(0, 2)", f"{d.x(3)}.round(1)", f"jnp.shape({tree})",
        f"jnp.ndim({d.x(2)})", f"jnp.size({d.x(2, 3)}, {d.int(-1, 1)})", f"{d.x(4)}.copy()",
        f"jnp.isscalar({d.number()})", f"jax.device_get({d.x(2)})", f"jax.device_put({d.x(2)})",
    )  # fmt: skip


SUBJECTS = [
    arrays.unary, arrays.unary, arrays.binary, arrays.binary, arrays.binary, arrays.reductions,
    arrays.reductions, arrays.indexing, arrays.indexing, arrays.updates, arrays.updates,
    arrays.shapes, arrays.making, arrays.ordering, arrays.products, nets, windows, loops, loops,
    chance, chance, statistics, derivatives, derivatives, derivatives, batches, batches, trees,
]  # fmt: skip


def grow(rng, subject=None):
    """The text of a call."""
    some = [f for f in SUBJECTS if subject in (None, f.__name__)]
    return rng.choice(some)(Draw(rng))
