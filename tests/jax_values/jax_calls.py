"""Expressions that JAX and Numbus's names for it evaluate alike: `tests/jax_values/record.py` writes what
JAX gives for them, `tests/python/test_compat_jax.py` compares.
"""

# ruff: noqa: E501 – one expression a line
import itertools

SETUP = """
import jax, jax.numpy as jnp
from jax import lax, random
def ar(kind, shape=(4,)):
    n = 1
    for k in shape: n *= k
    a = jnp.arange(1, n + 1)
    if kind == 'bool': return (a % 2 == 0).reshape(shape)
    if kind.startswith('int'): return ((a * 7) % 5 - 2).astype(kind).reshape(shape)
    if kind.startswith('uint'): return ((a * 7) % 5).astype(kind).reshape(shape)
    x = (a * 0.37 % 1.0).astype('float32') + 0.1
    if kind.startswith('complex'): return (x + 0.5j * x).astype(kind).reshape(shape)
    return x.astype(kind).reshape(shape)
"""

KINDS = ("bool", "int8", "int32", "uint8", "uint32", "float16", "float32", "complex64")

UNARY_FLOAT = (
    "sin cos tan tanh sinh cosh exp exp2 expm1 log log2 log10 log1p sqrt cbrt arcsin arctan arcsinh "
    "sinc deg2rad rad2deg reciprocal i0"
).split()
UNARY = "abs negative sign square floor ceil trunc rint isfinite isnan signbit positive".split()
BINARY = (
    "add subtract multiply divide floor_divide remainder maximum minimum power equal less "
    "arctan2 logaddexp hypot copysign nextafter fmod bitwise_and left_shift logical_and"
).split()
REDUCTIONS = "sum prod mean std var max min argmax argmin any all cumsum cumprod median".split()


def _unary():
    for name, kind in itertools.product(UNARY_FLOAT + UNARY, KINDS):
        yield f"jnp.{name}(ar('{kind}'))"
    for name in UNARY_FLOAT:
        yield f"jnp.{name}(0.5)"


def _binary():
    kinds = ("bool", "int8", "int32", "uint8", "uint32", "float16", "float32")
    for name, (a, b) in itertools.product(BINARY, itertools.product(kinds, kinds)):
        if name in ("power", "left_shift"):
            yield f"jnp.{name}(ar('{a}'), abs(ar('{b}')) if '{b}' != 'bool' else ar('{b}'))"
        elif name in ("floor_divide", "remainder", "fmod"):
            yield f"jnp.{name}(ar('{a}'), ar('{b}') | 1 if '{b}'[0] in 'iu' else ar('{b}') + 1)"
        else:
            yield f"jnp.{name}(ar('{a}'), ar('{b}'))"
    for op, kind, x in itertools.product(("+", "*", "-", "/", "**"), KINDS, ("2", "0.5", "True")):
        if not (op == "-" and kind == "bool"):
            yield f"abs(ar('{kind}')) {op} {x}" if kind != "bool" else f"ar('bool') {op} {x}"
            yield f"{x} {op} (ar('{kind}') + 3)"
    for a, b in itertools.product(KINDS, KINDS):
        yield f"jnp.where(ar('bool'), ar('{a}'), ar('{b}'))"
        yield f"jnp.concatenate([ar('{a}'), ar('{b}')])"
        yield f"ar('{a}').at[jnp.array([0, 2])].get() + ar('{b}')[:2]"


def _reductions():
    for name, kind in itertools.product(REDUCTIONS, KINDS):
        if kind != "complex64" or name in ("sum", "prod", "mean", "cumsum", "any"):
            yield f"jnp.{name}(ar('{kind}', (3, 4)))"
            yield f"jnp.{name}(ar('{kind}', (3, 4)), axis=1)"


OTHERS = """
jnp.array([1.5, 2])
jnp.array([[1, 2], [3, 4]])
jnp.array([])
jnp.array(3)
jnp.array([jnp.float32(1), 2])
jnp.zeros((2, 3))
jnp.ones(3, dtype=int)
jnp.full((2,), 7)
jnp.full((2,), 7.0)
jnp.full_like(ar('int32'), 2.7)
jnp.arange(5)
jnp.arange(0, 1, 0.25)
jnp.linspace(0, 1, 5)
jnp.logspace(0, 2, 3)
jnp.eye(3)
jnp.identity(2)
jnp.tri(3)
jnp.zeros_like(ar('int8'))
jnp.arange(10)[11]
jnp.arange(10)[-12]
jnp.arange(10)[jnp.array([11, 2, -1, -30])]
jnp.arange(12).reshape(3, 4)[1:, ::2]
jnp.arange(12).reshape(3, 4)[:, jnp.array([0, 9])]
jnp.arange(12).reshape(3, 4)[jnp.array([0, 1]), jnp.array([2, 3])]
jnp.arange(12).reshape(3, 4)[..., None, 1]
jnp.arange(5)[jnp.arange(5) > 2]
jnp.zeros(5).at[1].set(3)
jnp.zeros(5).at[jnp.array([1, 1, 3])].add(2.0)
jnp.ones(5).at[jnp.array([1, 1, 3])].multiply(2.0)
jnp.ones(5).at[1:3].multiply(2.0)
jnp.ones(5).at[jnp.array([0, 4])].min(0.5)
jnp.ones(5).at[jnp.array([0, 4])].max(2)
jnp.ones(5).at[::2].subtract(1)
jnp.ones(5).at[::2].divide(4)
jnp.ones(5).at[2].power(3)
jnp.ones((3, 3)).at[1, 1].set(5)
jnp.ones((3, 3)).at[:, 0].add(jnp.arange(3))
jnp.ones((3, 3)).at[jnp.arange(3), jnp.arange(3)].set(0)
jnp.zeros(3).at[jnp.array([1, 7])].set(1.0, mode='drop')
jnp.zeros(3).at[jnp.array([1, 7])].add(1.0, mode='drop')
jnp.zeros(3).at[jnp.array([1, 7])].add(1.0, mode='clip')
jnp.zeros((3, 2)).at[jnp.array([1, 7])].set(jnp.ones((2, 2)), mode='drop')
jnp.arange(3.).at[jnp.array([1, 7])].get(mode='fill')
jnp.arange(3).at[jnp.array([1, 7])].get(mode='fill', fill_value=-1)
jnp.arange(3).at[jnp.array([1, 7])].get(mode='clip')
jnp.arange(5.).at[1:3].apply(jnp.square)
jnp.dot(ar('float32', (2, 3)), ar('float32', (3, 2)))
ar('int32', (2, 3)) @ ar('int32', (3, 2))
ar('int32', (2, 3)) @ ar('float32', (3, 2))
jnp.einsum('ij,kj->ik', ar('float32', (2, 3)), ar('float32', (4, 3)))
jnp.tensordot(ar('float32', (2, 3)), ar('float32', (3, 2)), axes=1)
jnp.outer(ar('float32'), ar('int8'))
jnp.vdot(ar('float32'), ar('float32'))
jnp.matmul(ar('float32', (2, 3)), ar('float32', (3, 2)), precision='highest')
jnp.stack([ar('int8'), ar('float32')])
jnp.vstack([ar('int8'), ar('int32')])
jnp.hstack([ar('float32'), ar('float32')])
jnp.split(jnp.arange(6), 3)
jnp.where(ar('int32') > 0)
jnp.nonzero(ar('int32'))
jnp.sort(ar('float32'))
jnp.argsort(ar('float32'))
jnp.unique(ar('int32'))
jnp.clip(ar('int32'), 0, 1)
jnp.clip(ar('float32'), 0.2)
jnp.take(ar('float32'), jnp.array([0, 2]))
jnp.squeeze(jnp.ones((1, 3)))
jnp.expand_dims(ar('float32'), 0)
jnp.transpose(ar('float32', (2, 3)))
jnp.broadcast_to(ar('float32'), (2, 4))
jnp.tile(ar('int32'), 2)
jnp.repeat(ar('int32'), 2)
jnp.roll(ar('int32'), 1)
jnp.flip(ar('int32'))
jnp.pad(ar('float32'), 1)
jnp.triu(ar('float32', (3, 3)))
jnp.diag(ar('float32'))
jnp.trace(ar('int32', (3, 3)))
jnp.meshgrid(jnp.arange(2), jnp.arange(3.))
jnp.searchsorted(jnp.arange(5.), jnp.array([1.5, 3.0]))
jnp.interp(1.5, jnp.arange(4.), jnp.arange(4.) ** 2)
jnp.histogram(ar('float32', (20,)), bins=4)
jnp.bincount(jnp.array([0, 1, 1, 3]))
jnp.cov(ar('float32', (2, 5)))
jnp.percentile(ar('float32', (9,)), 30)
jnp.nan_to_num(jnp.array([jnp.nan, 1.0]))
jnp.allclose(ar('float32'), ar('float32'))
jnp.array_equal(ar('float32'), ar('float32'))
jnp.isclose(ar('float32'), 0.47)
jnp.cross(jnp.arange(3.), jnp.ones(3))
jnp.diff(jnp.arange(5) ** 2)
jnp.gradient(jnp.arange(5.) ** 2)
jnp.trapezoid(jnp.arange(5.))
jnp.convolve(jnp.arange(5.), jnp.ones(3), mode='same')
jnp.polyval(jnp.array([1.0, 2.0, 3.0]), jnp.arange(3.))
jnp.linalg.norm(ar('int32'))
jnp.linalg.inv(ar('float32', (2, 2)))
jnp.linalg.solve(ar('float32', (2, 2)), jnp.ones(2))
jnp.linalg.det(ar('float32', (3, 3)) ** 2 + jnp.eye(3))
jnp.linalg.cholesky(jnp.eye(3) * 4)
jnp.linalg.eigvalsh(jnp.array([[2.0, 1.0], [1.0, 3.0]]))
jnp.abs(jnp.fft.fft(jnp.arange(4.)))
jnp.fft.fftfreq(4)
jnp.result_type(ar('int32'), 1.5)
jnp.promote_types('int8', 'uint8')
jnp.issubdtype(jnp.float32, jnp.floating)
jnp.float32(3) + ar('int32')
jnp.int8(100) + jnp.int8(100)
jnp.uint32(1) - jnp.uint32(2)
jnp.bool_(1)
ar('float32').sum().item()
ar('int32').tolist()
ar('float32', (2, 3)).T
ar('float32').astype(int)
ar('float32').astype(jnp.float16)
ar('float32', (2, 3)).reshape(3, -1)
ar('float32', (2, 3)).flatten()
ar('float32', (2, 3)).ravel().mean()
ar('float32', (2, 3)).max(axis=0)
-ar('int32') // 2
ar('int32') % 3
divmod(ar('int32'), 3)
~ar('bool')
ar('bool') & True
ar('int32') << 1
abs(ar('int32'))
round(ar('float32'), 1)
ar('float32') ** 2
2 ** ar('int32')
1 - ar('float32')
ar('float32') == 0.47
jax.nn.relu(ar('float32') - 0.5)
jax.nn.relu(ar('int32'))
jax.nn.relu6(ar('float32') * 10)
jax.nn.sigmoid(ar('float32'))
jax.nn.softplus(ar('float32'))
jax.nn.soft_sign(ar('float32'))
jax.nn.silu(ar('float32'))
jax.nn.log_sigmoid(ar('float32'))
jax.nn.gelu(ar('float32') - 0.5)
jax.nn.gelu(ar('float32') - 0.5, approximate=False)
jax.nn.elu(ar('float32') - 0.5)
jax.nn.selu(ar('float32') - 0.5)
jax.nn.celu(ar('float32') - 0.5)
jax.nn.leaky_relu(ar('float32') - 0.5)
jax.nn.hard_sigmoid(ar('float32'))
jax.nn.hard_tanh(ar('float32'))
jax.nn.hard_swish(ar('float32'))
jax.nn.mish(ar('float32'))
jax.nn.glu(ar('float32'))
jax.nn.softmax(ar('float32', (2, 3)))
jax.nn.softmax(ar('float32', (2, 3)), axis=None)
jax.nn.softmax(ar('float32', (2, 3, 2)), axis=(0, 2))
jax.nn.log_softmax(ar('float32', (2, 3)), axis=0)
jax.nn.logsumexp(ar('float32', (2, 3)), axis=1)
jax.nn.logsumexp(ar('int32'))
jax.nn.standardize(ar('float32', (2, 3)))
jax.nn.one_hot(jnp.array([0, 2, 5]), 4)
jax.nn.one_hot(jnp.array([[0], [1]]), 2, axis=0)
jax.nn.one_hot(jnp.array([0, 1]), 2, dtype=jnp.int32)
jax.nn.squareplus(ar('float32'))
jax.nn.dot_product_attention(*[ar('float32', (1, 3, 2, 4)) for _ in range(3)], is_causal=True)
jax.nn.initializers.glorot_uniform()(random.key(1), (3, 4))
jax.nn.initializers.he_normal()(random.key(1), (3, 4))
jax.nn.initializers.lecun_normal()(random.key(1), (2, 2, 3, 4))
jax.nn.initializers.zeros(random.key(1), (2,))
jax.scipy.special.logsumexp(ar('float32'))
jax.scipy.special.erf(ar('float32'))
jax.scipy.special.expit(ar('float32'))
jax.scipy.special.gammaln(ar('float32') + 1)
lax.fori_loop(0, 5, lambda i, v: v + i, 0)
lax.while_loop(lambda v: v < 50, lambda v: v * 2, 3)
lax.scan(lambda c, x: (c + x, c * x), 0.0, jnp.arange(4.0))
lax.scan(lambda c, x: (c + x, c * x), 0.0, jnp.arange(4.0), reverse=True)
lax.scan(lambda c, _: (c + 1, c), 0, None, length=3)
lax.map(lambda x: x * 2, jnp.arange(3))
lax.cond(True, lambda x: x + 1, lambda x: x - 1, 3)
lax.switch(5, [lambda x: x, lambda x: 2 * x], jnp.arange(2))
lax.select(ar('bool'), ar('float32'), -ar('float32'))
lax.associative_scan(jnp.add, jnp.arange(5))
lax.dot(ar('float32', (2, 3)), ar('float32', (3, 2)))
lax.dot_general(ar('float32', (2, 3, 4)), ar('float32', (2, 4, 5)), (((2,), (1,)), ((0,), (0,))))
lax.dynamic_slice(jnp.arange(10), (8,), (4,))
lax.dynamic_slice_in_dim(jnp.arange(10), 2, 3)
lax.dynamic_update_slice(jnp.zeros(5), jnp.ones(2), (4,))
lax.dynamic_index_in_dim(jnp.arange(10), 3, keepdims=False)
lax.slice(jnp.arange(10), (2,), (8,), (2,))
lax.div(jnp.array([-7, 7]), jnp.array([2, 2]))
lax.rem(jnp.array([-7, 7]), jnp.array([2, 2]))
lax.rsqrt(ar('float32'))
lax.clamp(0.2, ar('float32'), 0.5)
lax.top_k(ar('float32'), 2)
lax.cumsum(ar('float32'), reverse=True)
lax.cummax(ar('float32'))
lax.sort_key_val(ar('int32'), jnp.arange(4))
lax.iota(jnp.int32, 4)
lax.broadcasted_iota(jnp.int32, (2, 3), 1)
lax.broadcast_in_dim(ar('float32'), (2, 4), (1,))
lax.pad(ar('float32'), 0.0, [(1, 2, 0)])
lax.pad(ar('float32'), 0.0, [(-1, 2, 0)])
lax.concatenate([ar('float32'), ar('float32')], 0)
lax.erf_inv(ar('float32') / 2)
lax.conv(ar('float32', (1, 2, 5, 5)), ar('float32', (3, 2, 3, 3)), (1, 1), 'SAME')
lax.conv(ar('float32', (1, 2, 6, 6)), ar('float32', (3, 2, 3, 3)), (2, 2), 'SAME')
lax.conv_general_dilated(ar('float32', (1, 6, 6, 2)), ar('float32', (3, 3, 2, 3)), (2, 2), 'VALID', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))
lax.reduce_window(ar('float32', (1, 4, 4, 1)), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), 'VALID')
lax.reduce_window(ar('float32', (1, 5, 5, 1)), 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), 'SAME')
jax.tree.map(lambda x: x * 2, {'b': jnp.ones(2), 'a': [1, (2, None)]})
jax.tree.leaves({'b': 1, 'a': [2, (3, None)]})
str(jax.tree.structure({'b': 1, 'a': [2, (3, None)]}))
jax.tree.reduce(lambda a, b: a + b, {'b': 1, 'a': [2, 3]})
jax.tree_util.keystr(jax.tree_util.tree_flatten_with_path({'b': [1]})[0][0][0])
jax.grad(lambda x: x ** 2)(3.0)
jax.grad(lambda x: jnp.sum(jnp.sin(x) * x))(ar('float32'))
jax.grad(jax.grad(lambda x: jnp.tanh(x)))(0.3)
jax.grad(lambda x, y: jnp.sum(x * y ** 2), argnums=(0, 1))(ar('float32'), ar('float32') + 1)
jax.grad(lambda p: jnp.sum(p['w'] * 3) + p['b'] ** 2)({'w': ar('float32'), 'b': 2.0})
jax.grad(lambda x: jnp.sum(jnp.where(x > 0.5, x, x ** 2)))(ar('float32'))
jax.grad(lambda x: jnp.sum(x.at[0].set(2.0) * x))(ar('float32'))
jax.grad(lambda x: jnp.sum(jnp.zeros(3).at[jnp.array([0, 0, 2, 1])].add(x) ** 2))(ar('float32'))
jax.grad(lambda x: jnp.sum(x[jnp.array([0, 0, 9])] ** 2))(ar('float32'))
jax.grad(lambda x: jnp.sum(jax.nn.log_softmax(x) * jnp.arange(3.0)))(ar('float32', (2, 3)))
jax.grad(lambda x: jnp.sum(jax.nn.relu(x - 0.5) * 2))(ar('float32'))
jax.grad(lambda x: jax.nn.logsumexp(x))(ar('float32'))
jax.grad(lambda x: jnp.sum(lax.stop_gradient(x) * x))(ar('float32'))
jax.grad(lambda x: lax.fori_loop(0, 3, lambda i, v: v * x, 1.0))(2.0)
jax.grad(lambda x: lax.scan(lambda c, y: (c * y, c), 1.0, x)[0])(ar('float32'))
jax.grad(lambda x: jnp.sum(jax.vmap(lambda r: jnp.dot(r, r))(x)))(ar('float32', (2, 3)))
jax.grad(lambda x: jnp.sum(jax.checkpoint(jnp.sin)(x)))(ar('float32'))
jax.grad(lambda x: (jnp.sum(x), x * 2), has_aux=True)(ar('float32'))
jax.grad(lambda x: jnp.sum(lax.conv(x, ar('float32', (3, 2, 3, 3)), (1, 1), 'SAME') ** 2))(ar('float32', (1, 2, 5, 5)))
jax.grad(lambda x: jnp.linalg.norm(x))(ar('float32'))
jax.grad(lambda x: jnp.std(x))(ar('float32'))
jax.value_and_grad(lambda x: jnp.sum(x ** 3))(ar('float32'))
jax.value_and_grad(lambda x: (jnp.sum(x ** 3), {'a': 1}), has_aux=True)(ar('float32'))
jax.vmap(lambda a, b: a + b)(jnp.arange(3), jnp.arange(3.0))
jax.vmap(lambda a, b: a @ b, in_axes=(0, None))(ar('float32', (4, 2, 3)), ar('float32', (3,)))
jax.vmap(lambda a: a * 2, in_axes=1, out_axes=1)(ar('float32', (2, 3)))
jax.vmap(lambda d: d['a'] + d['b'], in_axes=({'a': 0, 'b': None},))({'a': jnp.arange(3), 'b': 2})
jax.vmap(jax.grad(lambda w, x: jnp.sum(jnp.sin(w * x))), in_axes=(None, 0))(jnp.ones(2), ar('float32', (3, 2)))
jax.vmap(jax.vmap(lambda a, b: a * b, (None, 0)), (0, None))(jnp.arange(2), jnp.arange(3))
jax.vmap(lambda k: random.normal(k))(random.split(random.key(3), 4))
jax.jit(lambda x: x)(3)
jax.jit(lambda x, n: x ** n, static_argnums=1)(ar('float32'), 3)
jax.jacrev(lambda x: x ** 2)(ar('float32'))
jax.jacfwd(lambda x: jnp.array([x[0] * x[1], jnp.sin(x[1])]))(jnp.array([1.0, 2.0]))
jax.hessian(lambda x: jnp.sum(x ** 3) + x[0] * x[1])(ar('float32'))
jax.jvp(jnp.sin, (ar('float32'),), (jnp.ones(4),))
jax.vjp(lambda x, y: x * y, ar('float32'), 2.0)[1](jnp.ones(4))
jax.eval_shape(lambda x: x @ x.T, ar('float32', (2, 3))).shape
random.PRNGKey(0)
random.PRNGKey(-1)
random.PRNGKey(2**33 + 5)
random.key_data(random.key(17))
random.split(random.PRNGKey(0))
random.split(random.PRNGKey(3), 5)
random.split(random.PRNGKey(3), (2, 2))
random.fold_in(random.PRNGKey(0), 7)
random.fold_in(random.PRNGKey(0), jnp.int32(-1))
random.bits(random.PRNGKey(0), (5,))
random.bits(random.PRNGKey(0), (3, 2), 'uint16')
random.bits(random.PRNGKey(0), (5,), 'uint8')
random.bits(random.key(1))
random.uniform(random.key(0), (3, 4))
random.uniform(random.key(0), (7,), minval=-2.0, maxval=5.0)
random.uniform(random.key(0), (5,), jnp.float16)
random.uniform(random.key(0))
random.normal(random.key(42), (1000,))
random.normal(random.key(42), (3,), jnp.float16)
random.truncated_normal(random.key(0), -2.0, 2.0, (50,))
random.randint(random.key(0), (50,), 0, 10)
random.randint(random.key(0), (50,), -7, 1000000007)
random.randint(random.key(0), (20,), 0, 256, jnp.uint8)
random.randint(random.key(0), (20,), -128, 127, jnp.int8)
random.randint(random.key(0), (2, 3), jnp.array([0, 10, 20]), jnp.array([5, 15, 25]))
random.randint(random.key(0), (20,), 0, 2**31 - 1)
random.bernoulli(random.key(0), 0.3, (40,))
random.bernoulli(random.key(0), jnp.array([0.1, 0.9]))
random.permutation(random.key(0), 100)
random.permutation(random.key(0), 5000)
random.permutation(random.key(2), jnp.arange(12).reshape(4, 3))
random.permutation(random.key(2), jnp.arange(12).reshape(4, 3), axis=1)
random.choice(random.key(0), 10, (20,))
random.choice(random.key(0), jnp.arange(10.0), (4,), replace=False)
random.choice(random.key(0), 4, (20,), p=jnp.array([0.1, 0.2, 0.3, 0.4]))
random.choice(random.key(0), 4, (2,), replace=False, p=jnp.array([0.1, 0.2, 0.3, 0.4]))
random.gumbel(random.key(0), (20,))
random.categorical(random.key(0), jnp.log(jnp.array([[0.2, 0.8], [0.5, 0.5]])))
random.categorical(random.key(0), jnp.zeros(5), shape=(30,))
random.exponential(random.key(0), (20,))
random.laplace(random.key(0), (20,))
random.rademacher(random.key(0), (20,))
random.multivariate_normal(random.key(0), jnp.zeros(2), jnp.array([[2.0, 0.5], [0.5, 1.0]]), (5,))
""".strip().splitlines()

X64 = """
jnp.sin(jnp.ones(2, 'int8'))
jnp.ones(2, 'uint32') / 2
jnp.mean(jnp.ones(2, 'int32'))
jnp.arctan2(jnp.ones(2, 'uint32'), jnp.ones(2, 'int8'))
jnp.arange(3)
jnp.array([1.5])
jnp.array(1) + 1.5
jnp.sin(jnp.arange(3))
jnp.sin(jnp.arange(3, dtype='int32'))
jnp.float32(1) + jnp.int32(2)
jnp.arange(3, dtype='uint64') + jnp.arange(3)
jnp.mean(jnp.arange(4))
jnp.argmax(jnp.arange(4))
random.PRNGKey(2**33 + 5)
random.PRNGKey(-1)
random.uniform(random.key(0), (5,))
random.normal(random.key(0), (50,))
random.randint(random.key(0), (20,), 0, 10**12)
random.bits(random.key(0), (3,), 'uint64')
random.permutation(random.key(0), 10)
jax.grad(lambda x: x ** 3)(2.0)
jax.nn.one_hot(jnp.arange(2), 2)
""".strip().splitlines()

CALLS = [*_unary(), *_binary(), *_reductions(), *OTHERS]
