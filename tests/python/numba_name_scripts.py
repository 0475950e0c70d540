"""Scripts in which Numba's own names are used, for numba_names.py: each checks what it gives.

A key names one or several names that its script uses.
"""

# ruff: noqa: E501 (tables of code)

HEAD = """
import numpy as np
import numbus.compat.numba as numba
from numbus import cuda
x = np.arange(6.0)
def same(a, b):
    np.testing.assert_allclose(np.asarray(a), b, rtol=1e-12)
"""

CPU = {
    "jit njit jit.nopython jit.nogil jit.cache jit.parallel jit.fastmath jit.error_model "
    "jit.boundscheck jit.debug jit.inline jit.no_cpython_wrapper jit.no_cfunc_wrapper "
    "jit.no_rewrites": """
        for o in ({}, {"nopython": True}, {"nogil": True}, {"cache": True}, {"parallel": True},
                  {"fastmath": True}, {"error_model": "numpy"}, {"boundscheck": False},
                  {"debug": True}, {"inline": "always"}, {"no_cpython_wrapper": True},
                  {"no_cfunc_wrapper": True}, {"no_rewrites": True}):
            assert numba.jit(**o)(lambda a: a + 1)(2) == 3
        assert numba.njit(lambda a: a + 1)(2) == 3
        """,
    "jit.signature optional types typeof": """
        @numba.njit("float64(float64)")
        def f(a):
            return a * 2
        assert f(2) == 4.0 and numba.typeof(2.0) == numba.types.float64
        @numba.njit
        def g(a):
            return None if a < 0 else a
        assert g(-1.0) is None and g(1.0) == 1.0 and numba.optional(numba.float64) is not None
        """,
    "cfunc carray farray": """
        import ctypes
        t = numba.types
        @numba.cfunc(t.void(t.CPointer(t.float64), t.CPointer(t.float64), t.intp))
        def fill(p, q, n):
            numba.carray(p, (n, 3))[1, 0] = 4.0
            numba.farray(q, (n, 3))[1, 0] = 5.0
        a, b = np.zeros((2, 3)), np.zeros((2, 3), order="F")
        of = ctypes.POINTER(ctypes.c_double)
        fill.ctypes(a.ctypes.data_as(of), b.ctypes.data_as(of), 2)
        assert a[1, 0] == 4 and b[1, 0] == 5 and a.sum() + b.sum() == 9 and fill.address
        """,
    "objmode": """
        @numba.njit
        def f(a):
            with numba.objmode(y="float64[:]", t="unicode_type"):
                y = np.sort(a)[::-1]
                t = repr(type(a))
            return y + 1, t
        y, t = f(x)
        same(y, x[::-1] + 1)
        assert t == repr(np.ndarray)
        """,
    "vectorize vectorize.target=cpu": """
        f = numba.vectorize(["float64(float64, float64)"])(lambda a, b: a * b + 1)
        same(f(x, 2.0), x * 2 + 1)
        """,
    "vectorize.target=parallel": """
        f = numba.vectorize(["float64(float64)"], target="parallel")(lambda a: a + 1)
        same(f(x), x + 1)
        """,
    "vectorize.target=cuda": """
        f = numba.vectorize(["float64(float64)"], target="cuda")(lambda a: a + 1)
        same(np.asarray(f(x)), x + 1)
        """,
    "guvectorize guvectorize.target=cpu": """
        @numba.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
        def f(a, r):
            for i in range(a.size):
                r[i] = a[i] + 1
        same(f(x), x + 1)
        """,
    "guvectorize.target=parallel": """
        @numba.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)", target="parallel")
        def f(a, r):
            for i in range(a.size):
                r[i] = a[i] + 1
        same(f(x), x + 1)
        """,
    "guvectorize.target=cuda": """
        @numba.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)", target="cuda")
        def f(a, r):
            for i in range(a.size):
                r[i] = a[i] + 1
        same(np.asarray(f(x)), x + 1)
        """,
    "guvectorize.writable_args": """
        @numba.guvectorize(["void(float64[:], float64[:])"], "(n)->(n)", writable_args=(0,))
        def f(a, r):
            for i in range(a.size):
                a[i] = a[i] + 1
                r[i] = a[i]
        a = x.copy()
        same(f(a), x + 1)
        same(a, x + 1)
        """,
    "stencil stencil.func_or_mode": """
        f = numba.stencil(lambda a: a[-1] + a[1])
        same(f(x), np.r_[0, x[:-2] + x[2:], 0])
        same(numba.stencil("constant")(lambda a: a[-1] + a[1])(x), f(x))
        """,
    "stencil.cval": """
        f = numba.stencil(lambda a: a[-1] + a[1], cval=7.0)
        same(f(x), np.r_[7, x[:-2] + x[2:], 7])
        """,
    "stencil.neighborhood": """
        f = numba.stencil(lambda a: a[-1] + a[1], neighborhood=((-2, 1),))
        same(f(x)[2:-1], (x[:-2] + x[2:])[1:])
        """,
    "stencil.standard_indexing": """
        f = numba.stencil(lambda a, w: a[0] * w[1], standard_indexing=("w",))
        same(f(x, np.array([1.0, 3.0])), x * 3)
        """,
    "prange parallel.prange parallel.reduction": """
        @numba.njit(parallel=True)
        def f(n):
            s = 0
            for i in numba.prange(n):
                s += i
            return s
        assert f(1000) == 499500
        """,
    "parallel.comprehension parallel.numpy parallel.inplace_binop parallel.setitem parallel.fusion": """
        @numba.njit(parallel=True)
        def f(a):
            b = np.array([v * 2 for v in a])
            c = np.sqrt(b) + a
            c += a
            c[1:3] = 7.0
            return c
        want = np.sqrt(x * 2) + x + x
        want[1:3] = 7.0
        same(f(x), want)
        """,
    "parallel.stencil": """
        k = numba.stencil(lambda a: a[-1] + a[1])
        f = numba.njit(parallel=True)(lambda a: k(a) + 1)
        same(f(x), np.r_[0, x[:-2] + x[2:], 0] + 1)
        """,
    "Dispatcher.stats Dispatcher.get_metadata": """
        f = numba.njit(lambda a: a * 3 + 1)
        assert not f.stats.cache_hits and not f.stats.cache_misses and f.get_metadata() == {}
        f(1), f(2), f(1.5)
        s = f.stats
        assert sum(s.cache_hits.values()) + sum(s.cache_misses.values()) == 2
        assert set(s.cache_hits) | set(s.cache_misses) == set(f.signatures)
        assert isinstance(s.cache_path, str)
        one = f.get_metadata("(float64,)")
        assert f.get_metadata()[(numba.float64,)] == one and len(f.get_metadata()) == 2
        assert one["from_disk"] == bool(s.cache_hits[(numba.float64,)]) and one["functions"] == 1
        assert one["milliseconds"] >= 0
        """,
    "Dispatcher.inspect_cfg Dispatcher.inspect_disasm_cfg": """
        @numba.njit
        def f(n):
            s = 0
            while n > 1:
                n = 3 * n + 1 if n % 2 else n // 2
                s += 1
            return s
        assert f(27) == 111
        for made in (f.inspect_cfg(), f.inspect_disasm_cfg()):
            (g,) = made.values()
            assert list(made) == f.signatures and g.dot.startswith("digraph {")
            blocks = max(g.blocks.values(), key=len)
            assert len(blocks) > 3 and any(len(t) == 2 for t in blocks.values())
            assert all(t in blocks for targets in blocks.values() for t in targets)
            reached, todo = set(), ["entry"]
            while todo:
                b = todo.pop()
                if b not in reached:
                    reached.add(b)
                    todo += blocks[b]
            assert reached == set(blocks)
        assert f.inspect_cfg("(int64,)") == f.inspect_cfg()[(numba.int64,)]
        """,
    "Dispatcher.recompile": """
        f = numba.njit(lambda a: a + ADDED)
        globals()["ADDED"] = 1
        assert f(1) == 2
        globals()["ADDED"] = 5
        assert f(1) == 2
        f.recompile()
        assert f(1) == 6 and len(f.signatures) == 1
        """,
    "literal_unroll": """
        from numbus.compat.numba import literal_unroll
        @numba.njit
        def f():
            s = 0.0
            for v in literal_unroll((1, 2.5, True)):
                s += v
            return s
        assert f() == 4.5
        """,
    "from_dtype": """
        assert numba.from_dtype(np.dtype(np.float32)) == numba.types.float32
        """,
    "jit_module": """
        def f(a):
            return a + 1
        numba.jit_module(nopython=True)
        assert f(1) == 2 and f.signatures
        """,
    "get_num_threads set_num_threads get_thread_id threading_layer set_parallel_chunksize "
    "get_parallel_chunksize parallel_chunksize": """
        n = numba.get_num_threads()
        numba.set_num_threads(1)
        assert numba.get_num_threads() == 1
        numba.set_num_threads(n)
        assert numba.get_thread_id() == 0
        old = numba.set_parallel_chunksize(4)
        assert numba.get_parallel_chunksize() == 4
        numba.set_parallel_chunksize(old)
        with numba.parallel_chunksize(2):
            assert numba.get_parallel_chunksize() == 2
        @numba.njit(parallel=True)
        def f(n):
            s = 0
            for i in numba.prange(n):
                s += i
            return s
        assert f(100) == 4950 and isinstance(numba.threading_layer(), str)
        """,
    "typed.List": """
        l = numba.typed.List([1.5, 2.5])
        @numba.njit
        def f(l):
            l.append(3.5)
            return len(l)
        assert f(l) == 3 and l[2] == 3.5
        """,
    "typed.Dict": """
        d = numba.typed.Dict.empty(numba.types.int64, numba.types.float64)
        @numba.njit
        def f(d):
            d[3] = 1.5
        f(d)
        assert d[3] == 1.5
        """,
    "experimental.jitclass deferred_type": """
        @numba.experimental.jitclass([("a", numba.float64)])
        class C:
            def __init__(self, a):
                self.a = a
            def twice(self):
                return self.a * 2
        assert C(1.5).twice() == 3.0 and numba.deferred_type() is not None
        """,
    "extending.overload extending.overload_method extending.overload_attribute "
    "extending.register_jitable": """
        from numbus.compat.numba.extending import (overload, overload_attribute, overload_method,
                                                   register_jitable)
        def mine(a):
            pass
        @overload(mine)
        def _mine(a):
            return lambda a: helper(a) + 1
        @register_jitable
        def helper(a):
            return a * 2
        @overload_method(numba.types.Array, "doubled")
        def _doubled(a):
            return lambda a: a * 2
        @overload_attribute(numba.types.Array, "half")
        def _half(a):
            return lambda a: a.size // 2
        f = numba.njit(lambda a: (mine(3), a.doubled(), a.half))
        r = f(x)
        assert r[0] == 7 and r[2] == 3
        same(r[1], x * 2)
        """,
    "Dispatcher.py_func Dispatcher.signatures Dispatcher.nopython_signatures Dispatcher.overloads "
    "Dispatcher.inspect_llvm Dispatcher.inspect_asm Dispatcher.inspect_types "
    "Dispatcher.disable_compile": """
        import io
        f = numba.njit(lambda a: a + 1)
        f(1)
        assert f.py_func(1) == 2 and f.signatures == [(numba.types.int64,)]
        assert len(f.nopython_signatures) == 1 and list(f.overloads) == f.signatures
        assert "define" in next(iter(f.inspect_llvm().values())) and f.inspect_asm()
        f.inspect_types(file=io.StringIO())
        f.disable_compile()
        try:
            f(1.5)
        except TypeError:
            pass
        else:
            raise AssertionError("compiled")
        """,
}

PYTHON = {
    "ctypes.c_double ctypes.c_float ctypes.c_int8 ctypes.c_int16 ctypes.c_int32 ctypes.c_int64 "
    "ctypes.c_uint8 ctypes.c_uint16 ctypes.c_uint32 ctypes.c_uint64": """
        import ctypes
        c = ctypes.CDLL(None)
        c.cosf.argtypes, c.cosf.restype = [ctypes.c_float], ctypes.c_float
        c.cos.argtypes, c.cos.restype = [ctypes.c_double], ctypes.c_double
        cos, cosf = c.cos, c.cosf
        def f(a):
            return cos(a), cosf(a), cos(1)
        assert numba.njit(f)(0.25) == f(0.25)
        for bits in (8, 16, 32, 64):
            for kind in ("int", "uint"):
                t = getattr(ctypes, f"c_{kind}{bits}")
                labs = ctypes.CDLL(None).labs
                labs.argtypes, labs.restype = [t], ctypes.c_int64
                for n in (3, -3, 200, 70000, -70000, 2**33 - 1):
                    assert numba.njit(lambda n: labs(n))(n) == labs(n), (t, n)
                small = ctypes.CDLL(None)["labs"]
                small.argtypes, small.restype = [ctypes.c_int64], t
                for n in (3, 130, 70000, 2**33 - 1):
                    assert numba.njit(lambda n: small(n))(n) == small(n), (t, n)
        """,
    "ctypes.c_void_p": """
        import ctypes
        memcmp = ctypes.CDLL(None).memcmp
        memcmp.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
        memcmp.restype = ctypes.c_int
        def f(a, b):
            return memcmp(a.ctypes, b.ctypes.data, a.size * 8) == 0
        for b in (x, x + 1):
            assert numba.njit(f)(x, b) == f(x, b) == (b is x)
        """,
}

CUDA = {}


def libdevice():
    """{name: an action that calls it with numbers that fit its parameters}; their values are tested
    in test_cuda_libdevice.py.
    """
    from numbus.cuda import libdevice as library

    def call(name):
        kinds = library._TABLE[name][0]
        getattr(library, name)(*[1.5 if k in "df" else 3 for k in kinds])

    return {name: lambda name=name: call(name) for name in library.__all__}


# Kernels: what a thread stores for itself, and what an array of eight holds then.
_KERNELS = {
    "jit grid threadIdx threadIdx.x blockIdx blockIdx.x blockDim blockDim.x gridDim gridDim.x "
    "kernel.__getitem__[grid,block,stream,sharedmem]":
        ("cuda.grid(1) + cuda.gridDim.x * 100", "np.arange(8) + 200"),
    "gridsize": ("cuda.gridsize(1)", "np.full(8, 8)"),
    "threadIdx.y blockIdx.y blockDim.y gridDim.y": (
        "cuda.threadIdx.y + cuda.blockIdx.y + cuda.blockDim.y + cuda.gridDim.y", "np.full(8, 2)"),
    "threadIdx.z blockIdx.z blockDim.z gridDim.z": (
        "cuda.threadIdx.z + cuda.blockIdx.z + cuda.blockDim.z + cuda.gridDim.z", "np.full(8, 2)"),
    "laneid": ("cuda.laneid", "np.arange(8) % 4"),
    "warpsize": ("cuda.warpsize", "np.full(8, 32)"),
    "popc": ("cuda.popc(i)", "[bin(k).count('1') for k in range(8)]"),
    "brev": ("cuda.brev(np.uint32(1)) >> 31", "np.ones(8)"),
    "clz": ("cuda.clz(np.int32(i + 1))", "[32 - (k + 1).bit_length() for k in range(8)]"),
    "ffs": ("cuda.ffs(np.int32(i))", "[0, 1, 2, 1, 3, 1, 2, 1]"),
    "fma": ("cuda.fma(2.0, i, 1.0)", "2.0 * np.arange(8) + 1"),
    "cbrt": ("cuda.cbrt(8.0)", "np.full(8, 2)"),
    "selp": ("cuda.selp(i > 3, 1.0, 2.0)", "[2, 2, 2, 2, 1, 1, 1, 1]"),
    "lanemask_lt": ("cuda.lanemask_lt()", "[0, 1, 3, 7, 0, 1, 3, 7]"),
    "activemask": ("cuda.activemask()", "np.full(8, 15)"),
    "all_sync": ("cuda.all_sync(15, i < 4)", "[1, 1, 1, 1, 0, 0, 0, 0]"),
    "any_sync": ("cuda.any_sync(15, i == 2)", "[1, 1, 1, 1, 0, 0, 0, 0]"),
    "eq_sync": ("cuda.eq_sync(15, i < 4)", "np.ones(8)"),
    "ballot_sync": ("cuda.ballot_sync(15, i % 2 == 0)", "np.full(8, 5)"),
    "shfl_sync": ("cuda.shfl_sync(15, i, 1)", "[1, 1, 1, 1, 5, 5, 5, 5]"),
    "shfl_down_sync": ("cuda.shfl_down_sync(15, i, 1)", "[1, 2, 3, 3, 5, 6, 7, 7]"),
    "shfl_up_sync": ("cuda.shfl_up_sync(15, i, 1)", "[0, 0, 1, 2, 4, 4, 5, 6]"),
    "shfl_xor_sync": ("cuda.shfl_xor_sync(15, i, 1)", "[1, 0, 3, 2, 5, 4, 7, 6]"),
    "match_any_sync": ("cuda.match_any_sync(15, i % 2)", "[5, 10] * 4"),
    "match_all_sync": ("cuda.match_all_sync(15, 3)[0]", "np.full(8, 15)"),
    "syncthreads_and": ("cuda.syncthreads_and(i < 4) != 0", "[1, 1, 1, 1, 0, 0, 0, 0]"),
    "syncthreads_or": ("cuda.syncthreads_or(i == 2) != 0", "[1, 1, 1, 1, 0, 0, 0, 0]"),
    "syncthreads_count": ("cuda.syncthreads_count(i % 2)", "np.full(8, 2)"),
    "syncthreads syncwarp threadfence threadfence_block threadfence_system nanosleep": (
        "cuda.syncthreads(); cuda.syncwarp(); cuda.threadfence(); cuda.threadfence_block(); "
        "cuda.threadfence_system(); cuda.nanosleep(1); i", "np.arange(8)"),
    "shared shared.array": (
        "s = cuda.shared.array(4, np.float64); s[cuda.threadIdx.x] = i; cuda.syncthreads(); "
        "s[3 - cuda.threadIdx.x]", "[3, 2, 1, 0, 7, 6, 5, 4]"),
    "local local.array": (
        "s = cuda.local.array(4, np.float64); s[1] = i; s[1]", "np.arange(8)"),
    "const const.array_like": ("cuda.const.array_like(DATA)[i]", "np.arange(8) * 2.0"),
    "literal_unroll": (
        "s = 0.0\n    for v in cuda.literal_unroll((1, 2.5)):\n        s += v\n    pass; s",
        "np.full(8, 3.5)"),
    "cg cg.this_grid cg.GridGroup.sync": ("cuda.cg.this_grid().sync(); i", "np.arange(8)"),
    "atomic atomic.add": ("cuda.atomic.add(acc, 0, 1.0); 0", "np.zeros(8)"),
    "ldca ldcg ldcs ldcv ldlu": (
        "cuda.ldca(DATA_IN, i) + cuda.ldcg(DATA_IN, i) + cuda.ldcs(DATA_IN, i) "
        "+ cuda.ldcv(DATA_IN, i) + cuda.ldlu(DATA_IN, i)", "np.arange(8) * 10.0"),
    "stcg stcs stwb stwt": (
        "cuda.stcg(acc, i, 1.0); cuda.stcs(acc, i, 2.0); cuda.stwb(acc, i, 3.0); "
        "cuda.stwt(acc, i, 4.0); acc[i]", "np.full(8, 4)"),
    "random.xoroshiro128p_uniform_float64 random.create_xoroshiro128p_states":
        ("random.xoroshiro128p_uniform_float64(STATES, i) < 1.0", "np.ones(8)"),
    "random.xoroshiro128p_uniform_float32":
        ("random.xoroshiro128p_uniform_float32(STATES, i) < 1.0", "np.ones(8)"),
    "random.xoroshiro128p_normal_float64":
        ("abs(random.xoroshiro128p_normal_float64(STATES, i)) < 9.0", "np.ones(8)"),
    "random.xoroshiro128p_normal_float32":
        ("abs(random.xoroshiro128p_normal_float32(STATES, i)) < 9.0", "np.ones(8)"),
    "random.xoroshiro128p_next random.uint64_to_unit_float64":
        ("random.uint64_to_unit_float64(random.xoroshiro128p_next(STATES, i)) < 1", "np.ones(8)"),
    "random.uint64_to_unit_float32":
        ("random.uint64_to_unit_float32(random.xoroshiro128p_next(STATES, i)) <= 1", "np.ones(8)"),
    "random.xoroshiro128p_jump": ("random.xoroshiro128p_jump(STATES, i); 0", "np.zeros(8)"),
    "random.rotl": ("random.rotl(np.uint64(1), np.uint32(3))", "np.full(8, 8)"),
    "random.init_xoroshiro128p_state":
        ("random.init_xoroshiro128p_state(STATES, i, 5); 0", "np.zeros(8)"),
}  # fmt: skip


def _kernel(code, want):
    *before, last = [part.strip(" ") for part in code.split("; ")]
    body = "".join(f"    {part}\n" for part in before)
    return (
        f"from numbus.cuda import random\nDATA = np.arange(8) * 2.0\n@cuda.jit\n"
        "def kernel(out, acc, DATA_IN, STATES):\n    i = cuda.grid(1)\n"
        f"{body}    out[i] = {last}\n"
        "out, acc, given = np.zeros(8), np.zeros(8), np.arange(8) * 2.0\n"
        "states = random.create_xoroshiro128p_states(8, seed=3)\n"
        "kernel[2, 4, 0, 0](out, acc, given, states)\n"
        f"cuda.synchronize()\nsame(out, {want})\n"
    )


for _names, (_code, _want) in _KERNELS.items():
    CUDA[_names] = _kernel(_code, _want)
_ATOMIC = {
    "sub": ("3.0", "-24"), "and_": ("6", "6"), "or_": ("8", "15"), "xor": ("1", "7"),
    "inc": ("100", "15"), "dec": ("100", "100"), "exch": ("5.0", "5"), "max": ("9", "9"),
    "min": ("2", "2"), "nanmax": ("9.0", "9"), "nanmin": ("2.0", "0"),
    "compare_and_swap cas": ("0, 5", "5"),
}  # fmt: skip
for _name, (_arguments, _end) in _ATOMIC.items():
    _whole = _name in ("and_", "or_", "xor", "inc", "dec", "max", "min", "compare_and_swap cas")
    _type = "np.uint64" if _whole and _name in ("inc", "dec") else "np.int64" if _whole else float
    _type = "np.float64" if _type is float else _type
    _start = {"compare_and_swap cas": "0", "sub": "0", "dec": "7", "min": "7"}.get(_name)
    _start = _start or ("7" if _whole else "0")
    _end = {"dec": "100", "inc": "15"}.get(_name, _end)
    _call = (
        f"cuda.atomic.cas(acc, 0, {_arguments})\n    cuda.atomic.compare_and_swap(acc, {_arguments})"
        if " " in _name
        else f"cuda.atomic.{_name}(acc, 0, {_arguments})"
    )
    CUDA[" ".join(f"atomic.{n}" for n in _name.split())] = (
        f"@cuda.jit\ndef kernel(acc):\n    {_call}\nacc = np.full(1, {_start}, {_type})\n"
        f"kernel[2, 4](acc)\ncuda.synchronize()\nsame(acc, [{_end}])\n"
    )
for _type in ("int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64").split():
    for _n in range(1, 5):
        _parts = ", ".join(str(k + 1) for k in range(_n))
        CUDA[f"{_type}x{_n}"] = (
            f"@cuda.jit\ndef kernel(out):\n    v = cuda.{_type}x{_n}({_parts})\n"
            + "".join(f"    out[{k}] = v.{'xyzw'[k]}\n" for k in range(_n))
            + f"out = np.zeros({_n}, np.{_type})\nkernel[1, 1](out)\ncuda.synchronize()\n"
            f"same(out, [{_parts}])\n"
        )

_KERNEL = """
@cuda.jit
def kernel(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += 1
a = np.zeros(8)
"""
_GIVEN = "d = cuda.to_device(np.arange(6.0).reshape(2, 3))\nh = np.arange(6.0).reshape(2, 3)\n"
CUDA |= {
    "kernel.forall": _KERNEL + "kernel.forall(8)(a)\nsame(a, np.ones(8))",
    "kernel.configure": _KERNEL + "kernel.configure(1, 8)(a)\nsame(a, np.ones(8))",
    "kernel.specialize": _KERNEL
    + "kernel[1, 8](a)\nk = kernel.specialize(a)\nk[1, 8](a)\nsame(a, np.full(8, 2))",
    "kernel.inspect_llvm kernel.inspect_asm kernel.inspect_types": _KERNEL
    + "kernel[1, 8](a)\nassert kernel.inspect_llvm() and kernel.inspect_asm()\n"
    "import io\nkernel.inspect_types(file=io.StringIO())",
    "kernel.overloads": _KERNEL + "kernel[1, 8](a)\nassert len(kernel.overloads) == 1",
    "kernel.extensions": _KERNEL + "assert len(kernel.extensions) == 0",
    "kernel.get_regs_per_thread kernel.get_const_mem_size kernel.get_shared_mem_per_block "
    "kernel.get_max_threads_per_block kernel.get_local_mem_per_thread": _KERNEL
    + "kernel[1, 8](a)\nfor n in ('get_regs_per_thread', 'get_const_mem_size', "
    "'get_shared_mem_per_block', 'get_max_threads_per_block', 'get_local_mem_per_thread'):\n"
    "    assert getattr(kernel, n)() is not None",
    "kernel.max_cooperative_grid_blocks": _KERNEL
    + "kernel[1, 8](a)\nassert kernel.max_cooperative_grid_blocks(8) >= 1",
    "jit.signature jit.inline jit.debug jit.opt jit.lineinfo jit.cache jit.fastmath "
    "jit.max_registers jit.forceinline jit.launch_bounds jit.lto jit.shared_memory_carveout": "for o in ({'inline': 'never'}, {'debug': True, 'opt': False}, "
    "{'opt': True}, {'lineinfo': True}, {'cache': True}, {'fastmath': True}, "
    "{'max_registers': 32}, {'forceinline': True}, {'launch_bounds': (64, 2)}, {'lto': False}, "
    "{'shared_memory_carveout': 50}):\n"
    "    @cuda.jit('void(float64[:])', **o)\n    def k(a):\n        a[0] = 2.5\n"
    "    a = np.zeros(1)\n    k[1, 1](a)\n    same(a, [2.5])",
    "jit.device": "@cuda.jit(device=True)\ndef g(v):\n    return v + 1\n"
    "@cuda.jit\ndef k(a):\n    a[0] = g(1.5)\na = np.zeros(1)\nk[1, 1](a)\nsame(a, [2.5])",
    "to_device DeviceNDArray.copy_to_host": _GIVEN + "same(d.copy_to_host(), h)",
    "DeviceNDArray.copy_to_device": _GIVEN + "d.copy_to_device(h + 1)\nsame(d.copy_to_host(), h + 1)",
    "DeviceNDArray.bind": _GIVEN + "same(d.bind(cuda.stream()).copy_to_host(), h)",
    "DeviceNDArray.transpose DeviceNDArray.T":
        _GIVEN + "same(d.transpose().copy_to_host(), h.T)\nsame(d.T.copy_to_host(), h.T)",
    "DeviceNDArray.split": _GIVEN
    + "p = list(cuda.to_device(h.ravel()).split(3))\nsame(p[1].copy_to_host(), [3, 4, 5])",
    "DeviceNDArray.squeeze": _GIVEN + "assert cuda.to_device(h[None]).squeeze().shape == (2, 3)",
    "DeviceNDArray.view":
        _GIVEN + "same(d.view(np.int64).copy_to_host(), h.view(np.int64))",
    "DeviceNDArray.reshape DeviceNDArray.ravel":
        _GIVEN + "same(d.reshape(3, 2).copy_to_host(), h.reshape(3, 2))\n"
        "same(d.ravel().copy_to_host(), h.ravel())",
    "DeviceNDArray.nbytes": _GIVEN + "assert d.nbytes == 48",
    "DeviceNDArray.is_c_contiguous DeviceNDArray.is_f_contiguous":
        _GIVEN + "assert d.is_c_contiguous() and not d.is_f_contiguous()",
    "DeviceNDArray.getitem DeviceNDArray.setitem":
        _GIVEN + "assert d.getitem((1, 2)) == 5.0\nd.setitem((1, 2), 9.0)\nassert d[1, 2] == 9.0",
    "stream Stream.synchronize Stream.auto_synchronize default_stream legacy_default_stream "
    "per_thread_default_stream": _KERNEL
    + "for s in (cuda.stream(), cuda.default_stream(), cuda.legacy_default_stream(), "
    "cuda.per_thread_default_stream()):\n    with s.auto_synchronize():\n"
    "        kernel[1, 8, s](a)\n    s.synchronize()\nsame(a, np.full(8, 4))",
    "Stream.add_callback": "import threading\ne = threading.Event()\ns = cuda.stream()\n"
    "s.add_callback(lambda *a: e.set(), None)\ns.synchronize()\nassert e.wait(5)",
    "Stream.async_done": "import asyncio\nasync def f():\n    await cuda.stream().async_done()\n"
    "asyncio.run(f())",
    "external_stream": "assert cuda.external_stream(0) is not None",
    "event event_elapsed_time Event.record Event.query Event.wait Event.synchronize "
    "Event.elapsed_time": "a, b = cuda.event(), cuda.event()\na.record()\nb.record()\n"
    "b.synchronize()\nb.wait()\nassert b.query() and a.elapsed_time(b) >= 0\n"
    "assert cuda.event_elapsed_time(a, b) >= 0",
    "compile compile_ptx": "def k(a):\n    a[0] = 1.0\n"
    "for f in (cuda.compile, cuda.compile_ptx):\n"
    "    assert 'entry' in f(k, 'void(float64[:])', device=False, cc=(9, 0))[0]\n"
    "ptx, t = cuda.compile(lambda a, b: a + b, 'int32(int32, int32)', "
    "abi_info={'abi_name': 'added'})\n"
    "assert '.visible .func' in ptx and ' added(' in ptx and str(t) == 'int32'",
    "compile_for_current_device compile_ptx_for_current_device": "def k(a):\n    a[0] = 1.0\n"
    "for f in (cuda.compile_for_current_device, cuda.compile_ptx_for_current_device):\n"
    "    try:\n        assert 'entry' in f(k, 'void(float64[:])', device=False)[0]\n"
    "    except RuntimeError as e:\n        assert 'no GPU is the device' in str(e)",
    "device_array device_array_like managed_array mapped_array mapped_array_like pinned_array "
    "pinned_array_like": "for f in (cuda.device_array, cuda.managed_array, cuda.mapped_array, "
    "cuda.pinned_array):\n    assert f((2, 3), np.float32).shape == (2, 3)\n"
    "for f in (cuda.device_array_like, cuda.mapped_array_like, cuda.pinned_array_like):\n"
    "    assert f(x).shape == x.shape",
    "pinned mapped": "with cuda.pinned(x), cuda.mapped(x) as d:\n    assert d.shape == x.shape",
    "is_cuda_array as_cuda_array from_cuda_array_interface": "d = cuda.to_device(x)\n"
    "assert cuda.is_cuda_array(d) or not cuda.gpus\nassert callable(cuda.as_cuda_array)\n"
    "assert callable(cuda.from_cuda_array_interface)",
    "In Out InOut": _KERNEL + "kernel[1, 8](cuda.InOut(a))\nsame(a, np.ones(8))\n"
    "@cuda.jit\ndef c(a, b):\n    b[cuda.grid(1)] = a[cuda.grid(1)]\nb = np.zeros(8)\n"
    "c[1, 8](cuda.In(a), cuda.Out(b))\nsame(b, a)",
    "reduce Reduce reduction": "same(cuda.reduce(lambda a, b: a + b)(x), 15)\n"
    "same(cuda.Reduce(lambda a, b: a + b)(x), 15)\nassert cuda.reduction is not None",
    "vectorize": "f = cuda.vectorize(['float64(float64)'])(lambda a: a + 1) "
    "if hasattr(cuda, 'vectorize') else None\nsame(np.asarray(f(x)), x + 1)",
    "guvectorize": "@cuda.guvectorize(['void(float64[:], float64[:])'], '(n)->(n)')\n"
    "def f(a, r):\n    for i in range(a.size):\n        r[i] = a[i] + 1\nsame(np.asarray(f(x)), x + 1)",
    "synchronize is_available detect gpus list_devices select_device get_current_device close "
    "current_context require_context defer_cleanup cuda_error is_supported_version "
    "is_float16_supported is_bfloat16_supported is_fp8_supported initialize implementation "
    "profile_start profile_stop profiling runtime types atomic.add.names":
        "for n in ('synchronize is_available detect gpus list_devices select_device "
        "get_current_device close current_context require_context defer_cleanup cuda_error "
        "is_supported_version is_float16_supported is_bfloat16_supported is_fp8_supported "
        "initialize implementation profile_start profile_stop profiling runtime types').split():\n"
        "    assert hasattr(cuda, n), n\n"
        "cuda.synchronize()\ncuda.select_device(0)\nwith cuda.defer_cleanup(), cuda.profiling():\n"
        "    assert isinstance(cuda.is_available(), bool)",
    "CudaSupportError KernelRuntimeError": "assert issubclass(cuda.CudaSupportError, Exception)\n"
    "assert issubclass(cuda.KernelRuntimeError, Exception)",
    "MemoryInfo": "m = cuda.MemoryInfo(1, 2)\nassert m.free == 1 and m.total == 2",
    "random.init_xoroshiro128p_states_cpu random.init_xoroshiro128p_states":
        "from numbus.cuda import random\n"
        "assert random.init_xoroshiro128p_states_cpu and random.init_xoroshiro128p_states",
    "declare_device": "f = cuda.declare_device('f', 'float32(float32, int32)')\n"
    "def k(a):\n    a[0] = f(a[0], 2)\n"
    "assert '.extern .func' in cuda.compile_ptx(k, 'void(float32[:])')[0]",
    "Archive CUSource Cubin Fatbin LinkableCode Object PTXSource jit.link":
        "f = cuda.declare_device('f', 'float32(float32)')\n"
        "for kind in (cuda.Archive, cuda.CUSource, cuda.Cubin, cuda.Fatbin, cuda.Object, "
        "cuda.PTXSource):\n"
        "    assert issubclass(kind, cuda.LinkableCode)\n"
        "    @cuda.jit(link=[kind(b'code')])\n    def k(a):\n        a[0] = f(a[0])\n"
        "    assert '.extern .func' in cuda.compile_ptx(k, 'void(float32[:])')[0]",
}  # fmt: skip

CUDA = {names.replace(" atomic.add.names", ""): text for names, text in CUDA.items()}
