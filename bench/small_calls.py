"""Every function of NumPy's main namespace that takes arrays, at ten elements: NumPy beside Numbus.

    OPENBLAS_NUM_THREADS=1 python bench/small_calls.py [--only WORD,WORD] [--all] [--rounds N]

Each call is made of NumPy's arrays by NumPy and of ours by Numbus, in alternating blocks in one
process; the least time counts, with what is pending carried out at the end of a block. Results are
compared, and no result of ours may be an array of NumPy's. Prints the calls below 0.97 of NumPy's
speed, worst first (--all: all), then how many there are and the geometric mean.
"""

import argparse
import math
import sys
import time
import types
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))
import numbus
from numbus import _core

SETUP = """
a = xp.array([0.7, 0.2, 0.9, 0.4, 0.1, 0.8, 0.3, 0.6, 0.5, 0.25])
b = xp.array([0.3, 1.2, 0.7, 2.1, 0.4, 1.9, 0.2, 0.6, 0.5, 1.25])
c = xp.array([0.5, 0.25, 0.25])
e = xp.array([0.0, 0.5, 1.0, 1.5, 2.0])
o = xp.zeros(10)
i = xp.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3])
j = xp.array([2, 7, 1, 8, 2, 8, 1, 8, 2, 8])
k = xp.array([0, 2, 5])
u = xp.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3], dtype=xp.uint8)
m = xp.array([True, False] * 5)
n = xp.array([False, False, True, True, False] * 2)
z = xp.array([1 + 2j, 3 - 1j, 0.5j])
M = xp.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
N = xp.array([[1.0, 2.0, 3.0], [0.0, 1.0, 4.0], [5.0, 6.0, 0.0]])
T = xp.array([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]])
v = xp.array([1.0, 2.0, 3.0])
w = xp.array([3.0, 0.5, 2.0])
s = numpy.float64(2.5)
g = xp.random.default_rng(1)
l = [0.7, 0.2, 0.9, 0.4, 0.1, 0.8, 0.3, 0.6, 0.5, 0.25]
twice = lambda x: 2 * x
"""

# The operands of ufuncs by their number; the names with others follow.
ONE, TWO = "a", "a, b"
OPERANDS = {
    **dict.fromkeys(["invert", "bitwise_invert", "bitwise_not", "bitwise_count"], "i"),
    **dict.fromkeys("gcd lcm bitwise_and bitwise_or bitwise_xor".split(), "i, j"),
    **dict.fromkeys("left_shift right_shift".split(), "i, j"),
    **dict.fromkeys("bitwise_left_shift bitwise_right_shift".split(), "i, j"),
    **dict.fromkeys(["arccosh", "acosh"], "a + 1.0"),
    **dict.fromkeys(["logical_and", "logical_or", "logical_xor"], "m, n"),
    "logical_not": "m",
    "ldexp": "a, i",
    "matmul": "M, N",
    "matvec": "M, v",
    "vecmat": "v, M",
    "vecdot": "a, b",
    "isnat": None,
}

# By function; what begins with "+" is another case of the same function.
CASES = """
all: m
allclose: a, b
amax: a
amin: a
angle: z
any: m
append: a, b
apply_along_axis: twice, 0, M
apply_over_axes: xp.sum, M, [0, 1]
arange: 10
+ 0.0, 1.0, 0.1
argmax: a
argmin: a
argpartition: a, 4
argsort: a
argwhere: m
around: a, 2
array: l
+ a
array_equal: a, a
array_equiv: a, a
array_split: a, 3
asanyarray: a
asarray: a
+ l
asarray_chkfinite: a
ascontiguousarray: a
asfortranarray: a
astype: a, xp.float32
atleast_1d: a
atleast_2d: a
atleast_3d: a
average: a
+ a, weights=b
bartlett: 10
bincount: i
+ i, a
+ i, minlength=12
blackman: 10
block: [[M, N], [N, M]]
broadcast_arrays: M, v
broadcast_to: v, (3, 3)
choose: i % 3, (a, b, a)
clip: a, 0.2, 0.6
column_stack: (a, b)
common_type: a, b
compress: m, a
concat: (a, b)
concatenate: (a, b)
+ (M, N), axis=1
conjugate: z
convolve: a, c
+ a, c, 'same'
+ a, c, mode='valid'
copy: a
copysign: a, b
copyto: o, a
+ o, 1.0
+ o, a, where=m
corrcoef: a, b
correlate: a, c
+ a, c, 'full'
count_nonzero: m
+ a
cov: a, b
cross: v, w
cumprod: a
cumsum: a
+ M, axis=1
cumulative_prod: a
cumulative_sum: a
delete: a, 3
+ a, [1, 2]
+ M, 1, axis=0
+ a, slice(1, 3)
diag: v
+ M
diag_indices: 3
diag_indices_from: M
diagflat: v
diagonal: M
diff: a
+ a, n=2
digitize: a, e
divmod: a, b
dot: a, b
+ M, v
dsplit: T, 2
dstack: (a, b)
ediff1d: a
einsum: 'ij,j->i', M, v
empty: 10
empty_like: a
expand_dims: a, 0
extract: m, a
eye: 3
fill_diagonal: M + 0.0, 1.0
fix: a
flatnonzero: m
flip: a
fliplr: M
flipud: M
frombuffer: b'12345678' * 10
fromfunction: twice, (10,)
fromiter: l, float
+ (x for x in l), float, 10
full: 10, 1.5
full_like: a, 1.5
geomspace: 1.0, 100.0, 10
gradient: a
hamming: 10
hanning: 10
heaviside: a, b
histogram: a
+ a, bins=5
+ a, e
histogram2d: a, b, 3
histogram_bin_edges: a
histogramdd: (a, b), 3
hsplit: a, 2
hstack: (a, b)
i0: a
identity: 3
imag: z
indices: (3, 3)
inner: a, b
insert: a, 3, 1.0
+ a, [1, 2], 5.0
interp: 0.7, b.cumsum(), a
+ a, b.cumsum(), a
intersect1d: i, j
isclose: a, b
iscomplex: z
iscomplexobj: a
isfortran: a
isin: i, k
isneginf: a
isposinf: a
isreal: z
isrealobj: a
ix_: k, k
kaiser: 10, 5.0
kron: v, w
lexsort: (a, b)
+ (i, a)
linspace: 0.0, 1.0, 10
logspace: 0.0, 1.0, 10
mask_indices: 3, xp.triu
matrix_transpose: M
max: a
+ M, axis=0
may_share_memory: a, b
mean: a
+ M, axis=1
median: a
meshgrid: v, w
min: a
moveaxis: T, 0, 2
nan_to_num: a
nanargmax: a
nanargmin: a
nancumprod: a
nancumsum: a
nanmax: a
nanmean: a
nanmedian: a
nanmin: a
nanpercentile: a, 30
nanprod: a
nanquantile: a, 0.3
nanstd: a
nansum: a
nanvar: a
ndim: a
nonzero: m
+ M
ones: 10
ones_like: a
outer: a, b
packbits: m
pad: a, 2
+ a, 2, 'edge'
+ M, 1, mode='constant'
partition: a, 4
percentile: a, 30
+ a, [25, 50, 75]
permute_dims: T, (2, 0, 1)
piecewise: a, [a < 0.5, a >= 0.5], [0.0, 1.0]
place: o, m, [1.0, 2.0]
+ o, m, a
poly: v
polyadd: v, w
polyder: a
polydiv: a, v
polyfit: a, b, 2
polyint: a
polymul: v, w
polysub: v, w
polyval: v, a
prod: a
ptp: a
put: o, k, v
+ o, 3, 1.5
+ o, [1, 2], [3.0, 4.0]
put_along_axis: o, i, 1.0, 0
putmask: o, m, a
+ o, m, 1.0
quantile: a, 0.3
ravel: M
ravel_multi_index: (k, k), (6, 6)
real: z
real_if_close: z
repeat: a, 3
+ M, 2, axis=1
require: a, float, 'C'
reshape: a, (2, 5)
resize: a, (3, 4)
roll: a, 2
+ M, 1, axis=1
rollaxis: T, 2
roots: c
rot90: M
round: a
+ a, 2
searchsorted: e, a
+ e, 0.7
select: [a < 0.5, a >= 0.5], [a, b]
setdiff1d: i, j
setxor1d: i, j
shape: a
shares_memory: a, b
sinc: a
size: a
sort: a
+ i
sort_complex: z
split: a, 2
squeeze: a
stack: (a, b)
std: a
+ M, axis=1
sum: a
+ M, axis=0
swapaxes: M, 0, 1
take: a, k
+ M, k % 3, axis=1
take_along_axis: a, i, 0
tensordot: M, N
+ M, N, axes=1
tile: a, 2
trace: M
transpose: M
trapezoid: a
tri: 3
tril: M
tril_indices: 3
tril_indices_from: M
trim_zeros: a
triu: M
triu_indices: 3
triu_indices_from: M
union1d: a, b
+ i, j
unique: a
+ i
+ i, return_counts=True
+ i, return_inverse=True
unique_all: i
unique_counts: i
unique_inverse: i
unique_values: i
unpackbits: u
unravel_index: k, (3, 3)
unstack: M
unwrap: a
vander: v
+ v, 4
var: a
+ M, axis=1
vdot: a, b
vsplit: M, 3
vstack: (a, b)
where: m
+ m, a, b
zeros: 10
zeros_like: a
"""

# Calls that are no functions of the main namespace.
OTHERS = """
linalg.cholesky(M)
linalg.cond(M)
linalg.det(M)
linalg.eig(M)
linalg.eigh(M)
linalg.eigvals(M)
linalg.eigvalsh(M)
linalg.inv(M)
linalg.lstsq(M, v)
linalg.matrix_power(M, 3)
linalg.matrix_rank(M)
linalg.multi_dot([M, N, M])
linalg.norm(a)
linalg.norm(M, axis=1)
linalg.pinv(M)
linalg.qr(M)
linalg.slogdet(M)
linalg.solve(M, v)
linalg.svd(M)
linalg.svdvals(M)
linalg.vector_norm(a)
fft.fft(a)
fft.ifft(a)
fft.rfft(a)
fft.irfft(a)
fft.fft2(M)
fft.fftfreq(10)
fft.fftfreq(10, 0.1)
fft.rfftfreq(10)
fft.fftshift(a)
fft.ifftshift(a)
random.rand(10)
random.rand(2, 5)
random.randn(10)
random.random(10)
random.random((2, 5))
random.randint(0, 10, 10)
random.uniform(0.0, 1.0, 10)
random.normal(0.0, 1.0, 10)
random.choice(a, 3)
random.permutation(10)
random.shuffle(o)
add.at(o, k, 1.0)
add.at(o, k, v)
subtract.at(o, k, v)
maximum.at(o, k, v)
add.reduce(a)
add.accumulate(a)
add.outer(a, b)
add.reduceat(a, k)
maximum.reduce(a)
maximum.accumulate(a)
multiply.outer(v, w)
add(a, b, out=o)
sqrt(a, out=o)
add(a, b, where=m, out=o)
"""
EXPRESSIONS = """
xp.random.default_rng(3)
g.random(10)
g.random()
g.random((2, 5))
g.normal(size=10)
g.standard_normal(10)
g.uniform(0.0, 1.0, 10)
g.integers(0, 10, 10)
g.choice(a, 3)
g.permutation(10)
g.exponential(1.0, 10)
g.shuffle(o)
[x for x in a]
a.tolist()
list(a)
a.flat
a.flat[3]
a.flat[2:5]
a.flat[k]
[x for x in a.flat]
[x for x in M.flat]
sum(a.flat)
list(M.T.flat)
s * a
a * s
s + a
a + 1
2.5 * a
a / b
a ** 2
a // b
a < b
~m
-a
abs(a)
m & n
i % 3
M @ v
M @ N
a[3]
a[k]
a[m]
a[2:5]
a[::-1]
a[None]
M[1]
M[1, 2]
M[:, 1]
M[k % 3]
M[1:, :2]
a.sum()
a.mean()
a.std()
a.max()
a.argmax()
a.cumsum()
a.copy()
a.astype(xp.float32)
a.reshape(2, 5)
a.ravel()
a.flatten()
M.T
M.transpose()
M.trace()
M.diagonal()
a.round(2)
a.clip(0.2, 0.6)
a.dot(b)
a.take(k)
a.repeat(2)
a.nonzero()
a.argsort()
a.searchsorted(0.5)
a.fill(1.0) if a is None else o.fill(1.0)
o.put(k, v)
o.sort()
o.partition(4)
a.tobytes()
a.item(3)
a.all()
a.any()
a.prod()
a.var()
a.min()
a.ptp() if hasattr(a, 'ptp') else None
a.swapaxes(0, 0)
a.squeeze()
a.view()
a.conj()
z.real
z.imag
len(a)
float(a[0])
bool(m[0])
a.shape
a.dtype
a in (1,) if a is None else 0.5 in a
xp.nditer(a) is None
[x for x in xp.ndenumerate(v)]
[x for x in xp.ndindex(3)]
xp.r_[a, b]
xp.c_[a, b]
xp.mgrid[0:3, 0:3]
xp.ogrid[0:3, 0:3]
xp.s_[1:3]
xp.lib.stride_tricks.sliding_window_view(a, 3)
xp.lib.stride_tricks.as_strided(a, (3,), (8,))
"""
STATEMENTS = """
o[3] = 1.5
o[2:5] = v
o[k] = v
o[k] = 1.5
o[m] = 0.5
o[:] = a
o[...] = 1.0
o += a
o *= 1.0
o.flat[3] = 1.5
o.flat[2:5] = v
o.flat = a
"""

# Functions that take no arrays, or whose work is text, files, or the operands of others.
NOT_TIMED = set(
    """array2string array_repr array_str asmatrix base_repr binary_repr bmat broadcast_shapes
    busday_count busday_offset can_cast datetime_as_string datetime_data einsum_path
    format_float_positional format_float_scientific from_dlpack fromfile fromregex fromstring
    frompyfunc genfromtxt get_include get_printoptions getbufsize geterr geterrcall info is_busday
    isdtype isscalar issubdtype iterable load loadtxt min_scalar_type mintypecode nested_iters
    printoptions promote_types result_type row_stack save savetxt savez savez_compressed
    set_printoptions setbufsize seterr seterrcall show_config show_runtime test typename
    isnat""".split()
)


def cases():
    """(title, statement) of each call."""
    found, last = [], None
    given = set()
    for line in CASES.strip().splitlines():
        if line.startswith("+"):
            arguments = line[1:].strip()
        else:
            last, _, arguments = line.partition(": ")
            given.add(last)
        found.append(f"xp.{last}({arguments})")
    for name in numpy.__all__:
        f = getattr(numpy, name)
        if not callable(f) or isinstance(f, type) or name in given | NOT_TIMED:
            continue
        if not isinstance(f, numpy.ufunc):
            raise SystemExit(f"small_calls: no case for {name}")
        arguments = OPERANDS.get(name, ONE if f.nin == 1 else TWO)
        found.append(f"xp.{name}({arguments})")
    found += ["xp." + line for line in OTHERS.strip().splitlines()]
    found += EXPRESSIONS.strip().splitlines()
    return [(x.replace("xp.", ""), f"r = {x}") for x in found] + [
        (x, x) for x in STATEMENTS.strip().splitlines()
    ]


class Side:
    """One library: its arrays, and blocks of a statement."""

    def __init__(self, xp, flush):
        self.names = {"xp": xp, "numpy": numpy}
        exec(SETUP, self.names)
        self.flush = flush

    def prepare(self, statement):
        names = {key: x for key, x in self.names.items() if key != "__builtins__"}
        code = f"def block(_count, {', '.join(names)}):\n    for _ in range(_count):\n"
        made = {}
        exec(f"{code}        {statement}\n", made)

        def block(n):
            start = time.perf_counter()
            made["block"](n, *names.values())
            self.flush()
            return (time.perf_counter() - start) / n

        return block

    def result(self, statement):
        self.names.pop("r", None)
        for name in list(self.names):
            if name == "g":
                self.names["g"] = self.names["xp"].random.default_rng(1)
            elif name == "o":
                self.names["o"] = self.names["xp"].zeros(10)
        self.names["xp"].random.seed(1)
        exec(statement, self.names)
        r = self.names.pop("r", None)
        return self.names["o"] if r is None else r


def parts(x):
    if isinstance(x, (tuple, list)):
        return [p for item in x for p in parts(item)]
    return [x]


def difference(x, y):
    """What is wrong with the result `y` of ours beside NumPy's `x`; None: nothing."""
    if isinstance(x, (types.GeneratorType, numpy.random.Generator, numpy.flatiter)):
        return None
    x, y = parts(x), parts(y)
    if len(x) != len(y):
        return f"{len(y)} results, NumPy {len(x)}"
    for p, q in zip(x, y):
        if type(q) is numpy.ndarray:
            return "an array of NumPy's"
        if not isinstance(p, (numpy.ndarray, numpy.generic, int, float, complex)):
            continue
        p, q = numpy.asarray(p), numpy.asarray(q)
        if p.dtype != q.dtype or p.shape != q.shape:
            return f"{q.dtype}{q.shape}, NumPy {p.dtype}{p.shape}"
        if p.dtype.kind in "fc" and not numpy.allclose(p, q, 1e-12, 1e-14, equal_nan=True):
            return "other numbers"
        if p.dtype.kind not in "fc" and not numpy.array_equal(p, q):
            return "other elements"
    return None


def alternate(blocks, count, seconds, rounds):
    """The least seconds of a call, NumPy's and ours, in blocks that take that long at least."""
    while blocks[0](count) * count < seconds and count < 10_000:
        count *= 2
    blocks[1](count)
    least = [math.inf, math.inf]
    for _ in range(rounds):
        for n, block in enumerate(blocks):
            least[n] = min(least[n], block(count))
    return least


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    words = [w for w in options.only.split(",") if w]
    theirs, ours = Side(numpy, lambda: None), Side(numbus, _core.flush)
    rows = []
    for title, statement in cases():
        if words and not any([w in title for w in words]):
            continue
        unlike = ("empty", "default_rng")  # whose results say nothing
        x, y = theirs.result(statement), ours.result(statement)
        wrong = None if any([w in title for w in unlike]) else difference(x, y)
        del x, y
        counted = numbus.stats()["fallbacks"] if "fallbacks" in numbus.stats() else 0
        blocks = theirs.prepare(statement), ours.prepare(statement)
        least = alternate(blocks, 8, 4e-4, options.rounds)
        counted = numbus.stats().get("fallbacks", 0) - counted
        rows.append((least[0] / least[1], title, *least, bool(counted), wrong))
    rows.sort()
    for speed, title, numpy_time, our_time, counted, wrong in rows:
        if speed >= 0.97 and not options.all and not wrong:
            continue
        marks = (" counted" if counted else "") + (f"  WRONG: {wrong}" if wrong else "")
        print(f"{speed:6.2f} {numpy_time * 1e6:8.2f} {our_time * 1e6:8.2f}  {title}{marks}")
    below = sum([row[0] < 0.97 for row in rows])
    mean = math.exp(sum([math.log(row[0]) for row in rows]) / len(rows))
    print(f"{len(rows)} calls, {below} below 0.97; geometric mean of our speed {mean:.3f}")


if __name__ == "__main__":
    main()
