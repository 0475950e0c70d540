"""Expressions in which functions of NumPy and Python are used that Numba compiles, for
numba_names.py: `name: code`, or `name|arguments` where the code is a call of that function.
"""

# ruff: noqa: E501 (tables of code)

NUMPY = """
allclose: (np.allclose(x, x), np.allclose(x, y))
amax: np.amax(x)
amin: np.amin(x)
append: np.append(x, 2.5)
arange: np.arange(1.0, 4.0, 0.5)
argpartition: x[np.argpartition(x, 2)][2]
argsort: np.argsort(x)
argwhere: np.argwhere(b)
around: np.around(x, 1)
asarray_chkfinite: np.asarray_chkfinite(x)
array: np.array([[1.0, s], [2.0, s]])
array_equal: np.array_equal(x, y)
array_split: np.array_split(x, 4)
asarray: np.asarray([s, 2.0])
ascontiguousarray: np.ascontiguousarray(t.T)
asfortranarray: np.asfortranarray(t)
atleast_1d: np.atleast_1d(x)
atleast_2d: np.atleast_2d(x)
atleast_3d: np.atleast_3d(x)
average: np.average(x, weights=p)
bartlett: np.bartlett(6)
bincount: np.bincount(i)
blackman: np.blackman(6)
bool_: np.bool_(k)
broadcast_arrays: a, d = np.broadcast_arrays(t, x[:3]); (a.copy(), d.copy())
broadcast_shapes: np.broadcast_shapes((2, 1), (3,))
broadcast_to: np.broadcast_to(x, (2, 6)).copy()
column_stack: np.column_stack((x, y))
complex128: np.complex128(s)
complex64: np.complex64(s)
concatenate: np.concatenate((x, y))
convolve: np.convolve(x, y)
copy: np.copy(x)
corrcoef: np.corrcoef(x, y)
correlate: np.correlate(x, y, "full")
count_nonzero: np.count_nonzero(i)
cov: np.cov(x, y)
cross: np.cross(x[:3], y[:3])
delete: np.delete(x, 2)
diag: np.diag(x)
diagflat: np.diagflat(x, 1)
diff: np.diff(x)
digitize: np.digitize(x, p[:1])
dot: np.dot(x, y)
dsplit: np.dsplit(m.reshape(2, 2, 4), 2)
dstack: np.dstack((x, y))
dtype: np.zeros(3, dtype=x.dtype)
ediff1d: np.ediff1d(x)
empty: np.empty((2, 0))
empty_like: np.empty_like(x).shape
expand_dims: np.expand_dims(x, 0)
extract: np.extract(b, x)
eye: np.eye(3, 4, 1)
fill_diagonal: a = m.copy(); np.fill_diagonal(a, 7.0); a
finfo: np.finfo(np.float32).eps
flatnonzero: np.flatnonzero(i)
flatten: t.flatten()
flip: np.flip(t)
fliplr: np.fliplr(t)
flipud: np.flipud(t)
float32: np.float32(s)
float64: np.float64(k)
frombuffer: np.frombuffer(x, dtype=np.int64)
full: np.full((2, 3), s)
full_like: np.full_like(x, s)
geomspace: np.geomspace(1.0, 100.0, 5)
hamming: np.hamming(6)
hanning: np.hanning(6)
histogram: np.histogram(x, 4)
hsplit: np.hsplit(m, 2)
hstack: np.hstack((x, y))
identity: np.identity(3)
iinfo: np.iinfo(np.int16).max
indices: np.indices((2, 3))
insert: np.insert(x, 2, 9.5)
int16: np.int16(k)
int32: np.int32(k)
int64: np.int64(s)
int8: np.int8(k)
intc: np.intc(k)
interp: np.interp(s, x[:3], y[:3])
intersect1d: np.intersect1d(i, j)
intp: np.intp(k)
isclose: np.isclose(x, y)
iscomplex: np.iscomplex(c)
iscomplexobj: (np.iscomplexobj(c), np.iscomplexobj(x))
isin: np.isin(i, j)
isneginf: np.isneginf(x)
isposinf: np.isposinf(x)
isreal: np.isreal(c)
isrealobj: (np.isrealobj(c), np.isrealobj(x))
isscalar: np.isscalar(s)
kaiser: np.kaiser(6, 4.0)
kron: np.kron(t, t)
lib.stride_tricks.as_strided: np.lib.stride_tricks.as_strided(x, (2, 3), (16, 8)).copy()
lib.stride_tricks.sliding_window_view: np.lib.stride_tricks.sliding_window_view(x, 3).copy()
linalg.cholesky: np.linalg.cholesky(m @ m.T)
linalg.cond: np.linalg.cond(m)
linalg.det: np.linalg.det(m)
linalg.eig: np.sort(np.linalg.eig(m @ m.T)[0].real)
linalg.eigh: np.linalg.eigh(m @ m.T)[0]
linalg.eigvals: np.sort(np.linalg.eigvals(m @ m.T).real)
linalg.eigvalsh: np.linalg.eigvalsh(m @ m.T)
linalg.inv: np.linalg.inv(m)
linalg.lstsq: np.linalg.lstsq(m, x[:4])[0]
linalg.matrix_power: np.linalg.matrix_power(m, 3)
linalg.matrix_rank: np.linalg.matrix_rank(m)
linalg.norm: np.linalg.norm(x)
linalg.pinv: np.linalg.pinv(t)
linalg.qr: np.abs(np.linalg.qr(m)[1])
linalg.slogdet: np.linalg.slogdet(m)[1]
linalg.solve: np.linalg.solve(m, x[:4])
linalg.svd: np.linalg.svd(m)[1]
linspace: np.linspace(0.0, s, 5)
logspace: np.logspace(0.0, s, 5)
median: np.median(x)
moveaxis: np.moveaxis(t, 0, 1).copy()
nan_to_num: np.nan_to_num(np.sqrt(x))
nancumprod: np.nancumprod(np.sqrt(x))
nancumsum: np.nancumsum(np.sqrt(x))
nanmax: np.nanmax(np.sqrt(x))
nanmean: np.nanmean(np.sqrt(x))
nanmedian: np.nanmedian(np.sqrt(x))
nanmin: np.nanmin(np.sqrt(x))
nanpercentile: np.nanpercentile(np.sqrt(x), 30.0)
nanprod: np.nanprod(np.sqrt(x))
nanquantile: np.nanquantile(np.sqrt(x), 0.3)
nanstd: np.nanstd(np.sqrt(x))
nansum: np.nansum(np.sqrt(x))
nanvar: np.nanvar(np.sqrt(x))
ndarray.T: t.T.copy()
ndarray.__contains__: 0.25 in x
ndarray.all: b.all()
ndarray.any: b.any()
ndarray.argmax: x.argmax()
ndarray.argmin: x.argmin()
ndarray.argsort: x.argsort()
ndarray.astype: x.astype(np.float32)
ndarray.clip: x.clip(0.0, 1.0)
ndarray.conj: c.conj()
ndarray.conjugate: c.conjugate()
ndarray.copy: x.copy()
ndarray.cumprod: x.cumprod()
ndarray.cumsum: x.cumsum()
ndarray.dot: x.dot(y)
ndarray.dtype: np.ones(2, x.dtype)
ndarray.flags: (t.flags.c_contiguous, t.flags.f_contiguous)
ndarray.flat: [v + 1 for v in t.flat]
ndarray.flatten: t.flatten()
ndarray.imag: c.imag.copy()
ndarray.item: x[:1].item()
ndarray.itemsize: x.itemsize
ndarray.max: x.max()
ndarray.mean: x.mean()
ndarray.min: x.min()
ndarray.nbytes: x.nbytes
ndarray.ndim: t.ndim
ndarray.nonzero: i.nonzero()
ndarray.prod: x.prod()
ndarray.ravel: t.ravel().copy()
ndarray.real: c.real.copy()
ndarray.repeat: x.repeat(2)
ndarray.reshape: t.reshape(3, 2).copy()
ndarray.shape: t.shape
ndarray.size: t.size
ndarray.sort: a = x.copy(); a.sort(); a
ndarray.std: x.std()
ndarray.strides: t.strides
ndarray.sum: x.sum()
ndarray.take: x.take(i)
ndarray.transpose: t.transpose().copy()
ndarray.var: x.var()
ndarray.view: x.view(np.int64)
ndenumerate: [v + q[0] for q, v in np.ndenumerate(t)]
ndindex: [q[0] + q[1] for q in np.ndindex(2, 3)]
nditer: [v + 1.0 for v in np.nditer(t)]
ones: np.ones(3)
ones_like: np.ones_like(x)
outer: np.outer(x, y)
partition: np.partition(x, 2)[2]
percentile: np.percentile(x, 30.0)
polynomial.polynomial.polyadd: np.polynomial.polynomial.polyadd(x, y)
polynomial.polynomial.polydiv: np.polynomial.polynomial.polydiv(x, y[:3])
polynomial.polynomial.polyint: np.polynomial.polynomial.polyint(x)
polynomial.polynomial.polymul: np.polynomial.polynomial.polymul(x, y)
polynomial.polynomial.polysub: np.polynomial.polynomial.polysub(x, y)
polynomial.polynomial.polyval: np.polynomial.polynomial.polyval(y, x)
polynomial.polyutils.trimseq: np.polynomial.polyutils.trimseq(x)
ptp: np.ptp(x)
quantile: np.quantile(x, 0.3)
ravel: np.ravel(t).copy()
repeat: np.repeat(x, 2)
reshape: np.reshape(t, (3, 2)).copy()
resize: np.resize(x, (3, 4))
roll: np.roll(x, 2)
roots: np.sort(np.roots(np.array([1.0, -3.5, 3.5, -1.0])).real)
rot90: np.rot90(t).copy()
round_: np.round(x, 1)
searchsorted: np.searchsorted(np.sort(x), y)
select: np.select([x < 0, x > 1], [x, y])
setdiff1d: np.setdiff1d(i, j)
setxor1d: np.setxor1d(i, j)
shape: np.shape(t)
sinc: np.sinc(x)
sort: np.sort(x)
split: np.split(x, 3)
stack: np.stack((x, y))
swapaxes: np.swapaxes(t, 0, 1).copy()
take: np.take(x, i)
take_along_axis: np.take_along_axis(x, i, 0)
trace: np.trace(m)
transpose: np.transpose(t).copy()
trapezoid trapz: np.trapezoid(x)
tri: np.tri(3, 4, 1)
tril: np.tril(m)
tril_indices: np.tril_indices(3)
tril_indices_from: np.tril_indices_from(m)
trim_zeros: np.trim_zeros(np.array([0.0, s, 0.0]))
triu: np.triu(m)
triu_indices: np.triu_indices(3)
triu_indices_from: np.triu_indices_from(m)
uint16: np.uint16(k)
uint32: np.uint32(k)
uint64: np.uint64(k)
uint8: np.uint8(k)
uintc: np.uintc(k)
uintp: np.uintp(k)
union1d: np.union1d(i, j)
unique: np.unique(j)
unwrap: np.unwrap(x * 4)
vander: np.vander(x, 3)
vdot: np.vdot(c, c)
vsplit: np.vsplit(m, 2)
vstack row_stack: np.vstack((x, y))
where: np.where(b, x, y)
zeros: np.zeros((2, 3))
zeros_like: np.zeros_like(t)
random.choice: np.random.seed(5); (np.random.choice(10), np.random.choice(x, 3), np.random.random())
random.shuffle: a = x.copy(); np.random.seed(5); np.random.shuffle(a); (a, np.random.random())
random.seed: np.random.seed(k); np.random.random()
"""

RANDOM = """
beta 2.0, 3.0
binomial 20, 0.3
chisquare 3.0
dirichlet np.array([1.0, 2.0, 3.0])
exponential 2.0
f 3.0, 4.0
gamma 2.0, 1.5
geometric 0.3
gumbel 0.5, 2.0
hypergeometric 10, 8, 5
laplace 0.5, 2.0
logistic 0.5, 2.0
lognormal 0.5, 0.25
logseries 0.6
multinomial 20, np.array([0.25, 0.5, 0.25])
negative_binomial 5, 0.4
noncentral_chisquare 3.0, 1.5
normal 0.5, 2.0
pareto 3.0
permutation 8
poisson 3.5
power 2.0
rand 3
randint 3, 20
randn 3
random 3
random_sample 3
ranf
rayleigh 2.0
sample
standard_cauchy
standard_exponential
standard_gamma 2.0
standard_normal
standard_t 3.0
triangular 0.0, 1.0, 3.0
uniform 1.0, 2.0
vonmises 0.5, 2.0
wald 1.0, 2.0
weibull 2.0
zipf 2.5
"""

UFUNCS = """
abs absolute add|x,y arccos|p arccosh|y+3 arcsin|p arcsinh arctan arctan2|x,y arctanh|p bitwise_and|i,j
bitwise_not|i bitwise_or|i,j bitwise_xor|i,j cbrt ceil conj|c conjugate|c copysign|x,y cos cosh deg2rad degrees
divide|x,y equal|i,j exp exp2 expm1 fabs float_power|p,y floor floor_divide|i,j fmax|x,y fmin|x,y fmod|x,y frexp
gcd|i,j greater|x,y greater_equal|x,y hypot|x,y invert|i isfinite isinf isnan lcm|i,j ldexp|x,i left_shift|i,j
less|x,y less_equal|x,y log|p log10|p log1p|p log2|p logaddexp|x,y logaddexp2|x,y logical_and|b,i logical_not|b
logical_or|b,i logical_xor|b,i maximum|x,y minimum|x,y mod|i,j modf multiply|x,y negative nextafter|x,y
not_equal|i,j power|p,y rad2deg radians reciprocal remainder|x,y right_shift|i,j rint sign signbit sin sinh
spacing sqrt|p square subtract|x,y tan tanh true_divide|i,j trunc
"""

MATH = """
acos acosh|s+1 asin asinh atan atan2|s,2.0 atanh ceil copysign|s,-2.0 cos cosh degrees erf erfc exp exp2 expm1
fabs floor frexp gamma gcd|k,12 hypot|s,2.0 isfinite isinf isnan ldexp|s,k lgamma log log10 log1p log2
nextafter|s,2.0 pow|s,2.5 radians sin sinh sqrt tan tanh trunc
"""

CMATH = """
acos acosh asin asinh atan atanh cos cosh exp isfinite isinf isnan log log10 phase polar rect|s,0.5 sin sinh
sqrt tan tanh
"""

OPERATOR = """
add and_ eq floordiv ge gt iadd iand ifloordiv ilshift imatmul|m,m imod imul invert|k ior ipow irshift isub
itruediv ixor le lshift lt matmul|m,m mod mul ne neg|k not_|k or_ pos|k pow rshift sub truediv xor
"""

PYTHON = """
builtins.abs: abs(-k)
builtins.bool: bool(k)
builtins.chr: chr(64 + k)
builtins.complex: complex(s, 2.0)
builtins.divmod: divmod(17, k)
builtins.enumerate: [q * v for q, v in enumerate(x)]
builtins.filter: [v for v in filter(lambda v: v > 0, x)]
builtins.float: float(k)
builtins.getattr: getattr(x, "size")
builtins.hasattr: hasattr(x, "size")
builtins.int: int(s * 10)
builtins.isinstance: (isinstance(k, int), isinstance(s, int))
builtins.iter: g = iter(x); (next(g), next(g))
builtins.len: len(x)
builtins.map: [v for v in map(lambda v: v + 1, x)]
builtins.max: max(s, 2.5)
builtins.min: min(s, 2.5)
builtins.next: g = iter((1, 2, 3)); (next(g), next(g), next(g), next(g, -1))
builtins.hash: (hash(k), hash(s), hash(z), hash(-k), hash(x[1]))
builtins.ord: ord("a")
builtins.print: print(k, s, end="")
builtins.range: [q for q in range(k, 20, 3)]
builtins.repr: repr(k)
builtins.round: (round(s), round(s, 1))
builtins.sorted: sorted([3, 1, k])
builtins.str: str(k)
builtins.sum: sum([1.5, s])
builtins.type: (type(k)(s), type(k) == int, type(s) is float, type(x[0]) == np.float64, type(k) == type(s))
builtins.zip: [u * v for u, v in zip(x, y)]
heapq.heapify: h = [3.0, 1.0, 2.0, s]; heapq.heapify(h); h
heapq.heappop: h = [1.0, 3.0, 2.0]; (heapq.heappop(h), h)
heapq.heappush: h = [1.0, 3.0, 2.0]; heapq.heappush(h, s); h
heapq.heappushpop: h = [1.0, 3.0, 2.0]; (heapq.heappushpop(h, 1.5), h)
heapq.heapreplace: h = [1.0, 3.0, 2.0]; (heapq.heapreplace(h, 1.5), h)
heapq.nlargest: heapq.nlargest(2, [1.0, 3.0, 2.0])
heapq.nsmallest: heapq.nsmallest(2, [1.0, 3.0, 2.0])
random.betavariate: random.seed(5); random.betavariate(2.0, 3.0)
random.expovariate: random.seed(5); random.expovariate(2.0)
random.gammavariate: random.seed(5); random.gammavariate(2.0, 3.0)
random.gauss: random.seed(5); random.gauss(0.5, 2.0)
random.getrandbits: random.seed(5); random.getrandbits(20)
random.lognormvariate: random.seed(5); random.lognormvariate(0.5, 0.25)
random.normalvariate: random.seed(5); random.normalvariate(0.5, 2.0)
random.paretovariate: random.seed(5); random.paretovariate(3.0)
random.randint: random.seed(5); random.randint(3, 20)
random.random: random.seed(5); random.random()
random.randrange: random.seed(5); random.randrange(20)
random.seed: random.seed(k); random.random()
random.shuffle: a = [1, 2, 3, 4]; random.seed(5); random.shuffle(a); a
random.triangular: random.seed(5); random.triangular(0.0, 1.0, 0.5)
random.uniform: random.seed(5); random.uniform(1.0, 2.0)
random.vonmisesvariate: random.seed(5); random.vonmisesvariate(0.5, 2.0)
random.weibullvariate: random.seed(5); random.weibullvariate(1.0, 2.0)
"""

# What is refused, or not there: `list: names: reason`.
REFUSED = """
numpy: MachAr asfarray in1d ndarray.itemset ndarray.ptp: NumPy 2 has no such name
numpy: polynomial.polyutils.as_series: not yet
numpy: ndarray.tobytes: there are no objects of bytes
numpy: polynomial.polynomial.Polynomial: not yet: objects of NumPy's classes
ufuncs: isnat: there are no dates
cpu: gdb gdb_breakpoint gdb_init: no debugger is attached
cpu: typed.Set: Numba has no such name either
cpu: experimental.structref extending.intrinsic extending.overload_classmethod extending.box extending.unbox extending.typeof_impl extending.as_numba_type: Numba's own types and LLVM builders
cpu: pycc.CC: no compilation ahead of time
cpu: jit.forceobj jit.looplift: there is no object mode
cpu: jit.locals: not yet: types of variables
cpu: jit.forceinline jit.writable_args: no such option
cpu: Dispatcher.get_call_template Dispatcher.parallel_diagnostics: of Numba's own passes
cuda: BaseCUDAMemoryManager GetIpcHandleMixin HostOnlyCUDAMemoryManager MappedMemory MemoryPointer PinnedMemory set_memory_manager: no memory managers of users
cuda: IpcHandle open_ipc_array DeviceNDArray.get_ipc_handle: not yet: memory of other processes
cuda: LTOIR kernel.inspect_lto_ptx: not yet: linking of LTO-IR
cuda: HAS_NUMBA nvvm literal compile_all DeviceNDArray.as_cuda_arg DeviceNDArray.device_ctypes_pointer: names of Numba's own modules
cuda: kernel.inspect_sass: needs NVIDIA's disassembler
cuda: jit.extensions: not yet: conversions of arguments
cuda: DeviceNDArray.__cuda_array_interface__: there on a GPU only
"""
