"""Code for other languages (cuda.compile), and code of theirs (link=, declare_device)."""

import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numbus import _core, cuda, njit
from numbus.kernels import types

ON_GPU = os.environ.get("NUMBUS_DEVICE", "cpu").startswith("cuda")
on_gpu = pytest.mark.skipif(not ON_GPU, reason="needs a GPU (NUMBUS_DEVICE=cuda)")
on_cpu = pytest.mark.skipif(ON_GPU, reason="there is a GPU")
TOOLS = "/usr/local/cuda/bin"
PTXAS = shutil.which("ptxas", path=f"{os.environ['PATH']}:{TOOLS}")
NVLINK = shutil.which("nvlink", path=f"{os.environ['PATH']}:{TOOLS}")
NUMBERS = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()


# --- functions for others' code ---


def clipped(x, low, high):
    return low if x < low else (high if x > high else x)


def total(p, n):
    s = p[0] * 0
    for i in range(n):
        s += p[i]
    return s


def stored(p, i, x):
    p[i] = x


def quotient(a, b):
    if b == 0:
        raise ValueError("zero")
    return a // b


def test_c_abi():
    ptx, result = cuda.compile(clipped, "float32(float32, float32, float32)")
    assert result == types.float32
    head = re.search(r"\.visible \.func\s+\((.*?)\)\s*clipped\((.*?)\)", ptx, re.DOTALL)
    assert head and head[1].startswith(".param .b32")
    assert re.findall(r"\.param \.b(\d+)", head[2]) == ["32"] * 3 and ".entry" not in ptx
    ptx, result = cuda.compile(total, "float64(CPointer(float64), int32)")
    head = re.search(r"\.visible \.func\s+\((.*?)\)\s*total\((.*?)\)", ptx, re.DOTALL)
    assert re.findall(r"\.param \.b(\d+)", head[2]) == ["64", "32"]
    ptx, result = cuda.compile(stored, "void(CPointer(int16), int64, int16)")
    assert result == types.none
    head = re.search(r"\.visible \.func\s+stored\((.*?)\)", ptx, re.DOTALL)
    assert re.findall(r"\.param \.b(\d+)", head[1]) == ["64", "64", "32"]


def test_numba_abi():
    ptx, result = cuda.compile_ptx(quotient, (types.int64, types.int64), device=True)
    assert result == types.int64
    head = re.search(r"\.visible \.func\s+\((.*?)\)\s*quotient\((.*?)\)", ptx, re.DOTALL)
    assert head[1].startswith(".param .b32")
    assert re.findall(r"\.param \.b(\d+)", head[2]) == ["64"] * 3 and "trap" not in ptx
    assert "trap" in cuda.compile(quotient, "int64(int64, int64)")[0]
    assert "trap" not in cuda.compile(clipped, "int64(int64, int64, int64)")[0]


def test_names_and_results():
    info = {"abi_name": "mine"}
    ptx, result = cuda.compile(clipped, "int8(int64, int64, int64)", abi_info=info)
    assert " mine(" in ptx and result == types.int8
    assert cuda.compile(lambda x: x / 2, (types.int32,), abi_info=info)[1] == types.float64
    # A kernel, and what compile_ptx() makes unless it is asked for a device function.
    for f, how in ((cuda.compile, {"device": False}), (cuda.compile_ptx, {})):
        assert ".visible .entry stored" in f(stored, "void(int16[:], int64, int16)", **how)[0]


@pytest.mark.parametrize(
    ("function", "signature", "options", "error", "message"),
    [
        (clipped, "float16(float16, float16, float16)", {}, NotImplementedError, "this type"),
        (clipped, "complex64(complex64, int8, int8)", {}, NotImplementedError, "this type"),
        (total, "float64(float64[:], int32)", {}, NotImplementedError, "CPointer"),
        (stored, "void(CPointer(complex64), int32, int8)", {}, NotImplementedError, "this type"),
        (clipped, "int32(int32, int32)", {}, TypeError, "wrong number of arguments"),
        (stored, "int32(CPointer(int32), int32, int32)", {}, Exception, "returns"),
        (clipped, "void(int32, int32, int32)", {}, Exception, "returns"),
        (lambda x: x, "int32(int32)", {}, ValueError, "not a name"),
        (lambda x: (x, x), (types.int32,), {"abi_info": {"abi_name": "f"}}, Exception, "returning"),
        (clipped, "int8(int8, int8, int8)", {"abi": "rust"}, NotImplementedError, "no such ABI"),
        (stored, "void(int8[:], int8, int8)", {"device": False, "abi": "c"}, NotImplementedError,
         "no C ABI"),
        (clipped, "int8(int8, int8, int8)", {"abi_info": {"x": 1}}, TypeError, "no such part"),
        (clipped, "int8(int8, int8, int8)", {"output": "ltoir"}, NotImplementedError, "'ptx'"),
    ],
)  # fmt: skip
def test_what_compile_refuses(function, signature, options, error, message):
    with pytest.raises(error, match=message):
        cuda.compile(function, signature, **options)


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def test_recursion_is_refused():
    with pytest.raises(NotImplementedError, match="recursion"):
        cuda.compile(fib, "int64(int64)")


# --- a generator of functions: what it makes, as text of Python ---


def expression(rng, names, depth):
    if depth == 0:
        return str(rng.choice(names)) if rng.random() < 0.8 else str(rng.integers(1, 6))
    a, b = (expression(rng, names, depth - 1) for _ in range(2))
    kind = rng.integers(6)
    if kind == 0:
        return f"({a} if {b} > 2 else {b})"
    if kind == 1:
        return f"max({a}, {b})"
    return f"({a} {'+-*'[int(rng.integers(3))]} {b})"


class Generated:
    """A function of two to four numbers with types, and what calls it by its name."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.names = [f"x{k}" for k in range(rng.integers(2, 5))]
        self.types = [str(t) for t in rng.choice(NUMBERS, len(self.names))]
        self.result = str(rng.choice(NUMBERS[1:]))
        self.text = expression(rng, self.names, int(rng.integers(1, 4)))
        self.abi = str(rng.choice(["c", "numba"]))
        scope = {}
        source = f"def generated({', '.join(self.names)}):\n    return {self.text}\n"
        import linecache

        file = f"<generated {seed}>"
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        exec(compile(source, file, "exec"), scope)
        self.function = scope["generated"]
        self.values = [
            rng.integers(0, 2 if t == "bool" else 9, 64).astype(t)
            + (rng.integers(0, 4, 64) / 4).astype(t if t.startswith("float") else "bool")
            * t.startswith("float")
            for t in self.types
        ]
        self.values = [v.astype(t) for v, t in zip(self.values, self.types, strict=True)]
        named = [t.replace("bool", "boolean") for t in self.types]
        self.signature = f"{self.result}({', '.join(named)})"

    def ptx(self, **options):
        how = {"device": True, "abi": self.abi, **options}
        return cuda.compile_ptx(self.function, self.signature, **how)[0]

    def expected(self):
        """The same by the CPU's compiled functions, whose oracle is CPython elsewhere."""
        compiled = njit(self.function)
        found = [compiled(*v) for v in zip(*self.values, strict=True)]
        if any(isinstance(v, float) and not math.isfinite(v) for v in found):
            return None
        return np.array(found, np.float64 if isinstance(found[0], float) else object)

    def kernel(self, **link):
        f = cuda.declare_device("generated", self.signature, abi=self.abi, **link)
        names = [f"a{k}" for k in range(len(self.names))]
        items = ", ".join(f"{n}[i]" for n in names)
        source = (
            f"def kernel(out, {', '.join(names)}):\n    i = cuda.grid(1)\n"
            f"    if i < out.size:\n        out[i] = f({items})\n"
        )
        import linecache

        file = f"<kernel {self.text} {self.signature} {self.abi} {id(f)}>"
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        scope = {"cuda": cuda, "f": f}
        exec(compile(source, file, "exec"), scope)
        return scope["kernel"]


@pytest.mark.skipif(not PTXAS, reason="needs ptxas")
@pytest.mark.parametrize("seed", range(12))
def test_generated_functions_assemble_and_link(seed, tmp_path):
    made = Generated(seed)
    files = []
    kernel = cuda.jit(link=[cuda.PTXSource("")])(made.kernel())
    arrays = ", ".join(f"{t.replace('bool', 'boolean')}[::1]" for t in made.types)
    entry = cuda.compile_ptx(kernel, f"void({made.result}[::1], {arrays})")[0]
    assert ".extern .func" in entry
    for name, text in (("function", made.ptx()), ("kernel", entry)):
        path = tmp_path / f"{name}.ptx"
        path.write_text(text)
        files.append(str(tmp_path / f"{name}.cubin"))
        subprocess.run([PTXAS, "-c", "-arch=sm_90", str(path), "-o", files[-1]], check=True)
    if NVLINK:
        # Both sides have to agree on the sizes of what is passed, which the linker compares.
        out = str(tmp_path / "both.cubin")
        done = subprocess.run([NVLINK, "-arch=sm_90", *files, "-o", out], capture_output=True,
                              text=True)  # fmt: skip
        assert done.returncode == 0 and "warning" not in done.stdout + done.stderr, done


@on_gpu
@pytest.mark.parametrize("seed", range(40))
def test_generated_functions_run(seed):
    made = Generated(seed)
    expected = made.expected()
    if expected is None:
        pytest.skip("not finite")
    source = cuda.PTXSource(made.ptx(cc=tuple(_core.cuda_properties()["compute_capability"])))
    where = seed % 2
    kernel = cuda.jit(**({"link": [source]} if where else {}))(
        made.kernel(**({} if where else {"link": source}))
    )
    out = np.zeros(64, made.result)
    kernel[2, 32](out, *made.values)
    cuda.synchronize()
    if made.result.startswith("float"):
        np.testing.assert_allclose(out, expected.astype(made.result), rtol=1e-6)
    else:
        whole = [int(v) for v in expected]
        kept = np.array([v % 2**64 for v in whole], np.uint64).astype(made.result)
        inside = [k for k, v in enumerate(expected) if v == int(v) and abs(v) < 2**31]
        fits = [
            k
            for k in inside
            if not isinstance(expected[k], float)
            or np.iinfo(made.result).min <= expected[k] <= np.iinfo(made.result).max
        ]
        np.testing.assert_array_equal(out[fits], kept[fits])


# --- code of other languages ---


SOURCE = """
extern "C" __device__ int sum_reduce(float* result, float* array, int n) {
    float s = 0;
    for (int i = 0; i < n; ++i) s += array[i];
    *result = s;
    return 0;
}
extern "C" __device__ short narrow(signed char a, unsigned short b, bool c) {
    return c ? a - (short)b : a;
}
extern "C" __device__ int failing(int* result, int x) {
    *result = x;
    return x > 2 ? x : 0;
}
extern "C" __device__ void nothing(double* where, double x) { *where += x; }
"""


class FFI:
    """As cffi's, whose from_buffer means an array's address in kernels."""

    def from_buffer(self, array):
        raise RuntimeError("outside of a kernel")


FFI.__module__ = "cffi.api"
ffi = FFI()
sum_reduce = cuda.declare_device("sum_reduce", "float32(CPointer(float32), int32)")
narrow = cuda.declare_device("narrow", "int16(int8, uint16, boolean)", abi="c")
failing = cuda.declare_device("failing", "int32(int32)")
nothing = cuda.declare_device("nothing", types.void(types.CPointer(types.float64), types.float64),
                              abi="c")  # fmt: skip


def sums(out, x):
    p = ffi.from_buffer(x)
    out[0] = sum_reduce(p, len(x))


def narrows(out, a, b, c):
    i = cuda.grid(1)
    out[i] = narrow(a[i], b[i], c[i])


def fails(out, x):
    i = cuda.grid(1)
    out[i] = failing(x[i])


def nothings(x):
    nothing(ffi.from_buffer(x), 2.5)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """The path of CUDA C++, where NVRTC is there to compile it."""
    path = tmp_path_factory.mktemp("link") / "functions.cu"
    path.write_text(SOURCE)
    try:
        _core.nvrtc_compile('extern "C" __device__ int f() { return 0; }', "f.cu", [])
    except (RuntimeError, ImportError, OSError) as error:
        pytest.skip(f"needs NVRTC: {error}")
    return str(path)


@on_gpu
def test_cuda_source(source):
    x = np.arange(10, dtype=np.float32)
    out = np.zeros(1, np.float32)
    cuda.jit(link=[source])(sums)[1, 1](out, x)
    assert out[0] == 45
    a = np.arange(-16, 16, dtype=np.int8)
    b = np.arange(32, dtype=np.uint16) * 2000
    c = np.arange(32) % 3 > 0
    got = np.zeros(32, np.int64)
    cuda.jit(link=[cuda.CUSource(SOURCE)])(narrows)[1, 32](got, a, b, c)
    expected = np.where(c, (a.astype(np.int64) - b).astype(np.int16), a)
    np.testing.assert_array_equal(got, expected)
    y = np.ones(3)
    cuda.jit(link=source)(nothings)[1, 1](y)
    assert y.tolist() == [3.5, 1.0, 1.0]


@on_gpu
def test_status(source):
    kernel = cuda.jit(link=[source])(fails)
    out = np.zeros(3, np.int32)
    kernel[1, 3](out, np.arange(3, dtype=np.int32))
    assert out.tolist() == [0, 1, 2]
    with pytest.raises(RuntimeError, match=r"\[failing\] the linked function failed; got status"):
        kernel[1, 6](np.zeros(6, np.int32), np.arange(6, dtype=np.int32))
        cuda.synchronize()


@on_gpu
def test_cubins(source):
    major, minor = _core.cuda_properties()["compute_capability"]
    how = [f"--gpu-architecture=sm_{10 * major + minor}", "--relocatable-device-code=true"]
    try:
        cubin = _core.nvrtc_compile(SOURCE, "functions.cu", how)
    except RuntimeError as error:
        pytest.skip(f"an old NVRTC: {error}")
    out = np.zeros(1, np.float32)
    cuda.jit(link=[cuda.Cubin(cubin)])(sums)[1, 1](out, np.ones(7, np.float32))
    assert out[0] == 7


@on_gpu
def test_the_linkers_log():
    other = cuda.PTXSource(cuda.compile(clipped, "int32(int32, int32, int32)")[0])
    with pytest.raises(RuntimeError, match=r"(?s)linker says.*sum_reduce"):
        cuda.jit(link=[other])(sums)[1, 1](np.zeros(1, np.float32), np.zeros(1, np.float32))
    with pytest.raises(RuntimeError, match="says"):
        cuda.jit(link=[cuda.PTXSource("no PTX")])(sums)[1, 1](
            np.zeros(1, np.float32), np.zeros(1, np.float32)
        )
    x = np.zeros(4)
    x2 = cuda.to_device(x)  # the context lives on
    assert x2.copy_to_host().tolist() == [0, 0, 0, 0]


@on_gpu
def test_pythons_function_by_the_c_abi_in_cuda_source(source):
    """A Python function is called by CUDA C++, which a kernel calls."""
    ptx = cuda.compile(clipped, "float32(float32, float32, float32)",
                       cc=tuple(_core.cuda_properties()["compute_capability"]))[0]  # fmt: skip
    text = (
        'extern "C" __device__ float clipped(float, float, float);\n'
        'extern "C" __device__ float twice(float x) { return 2 * clipped(x, 0, 1); }\n'
    )
    twice = cuda.declare_device("twice", "float32(float32)", abi="c",
                                link=[cuda.CUSource(text), cuda.PTXSource(ptx)])  # fmt: skip

    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        x[i] = twice(x[i])

    x = np.array([-1, 0.25, 3], np.float32)
    kernel[1, 3](x)
    assert x.tolist() == [0, 0.5, 2]


@on_gpu
def test_no_code():
    with pytest.raises(RuntimeError, match="nothing is linked that has the function sum_reduce"):
        cuda.jit(sums)[1, 1](np.zeros(1, np.float32), np.zeros(1, np.float32))


# --- without a GPU ---


@on_cpu
def test_a_cpu_links_nothing():
    x = np.zeros(4, np.float32)
    for kernel in (cuda.jit(sums), cuda.jit(link=["functions.ptx"])(sums)):
        with pytest.raises(RuntimeError, match="linked code runs on a GPU only"):
            kernel[1, 1](x, x)
    # It is the kernel's, whether it calls the code or not.
    with pytest.raises(RuntimeError, match="linked code runs on a GPU only"):
        cuda.jit(link=["functions.ptx"])(lambda x: None)[1, 1](x)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: cuda.jit(link=["a.txt"]), ValueError, "no such kind of file"),
        (lambda: cuda.jit(link=[3]), TypeError, "not code to link"),
        (lambda: cuda.jit(link=["a.ptx"], device=True), NotImplementedError, "device function"),
        (lambda: cuda.PTXSource(3), TypeError, "not code"),
        (lambda: cuda.LTOIR(b""), NotImplementedError, "this kind of code"),
        (lambda: cuda.PTXSource("", setup_callback=print), NotImplementedError, "callbacks"),
        (lambda: cuda.declare_device("f", "(int32,)"), TypeError, "names no result"),
        (lambda: cuda.declare_device("f g", "int32(int32)"), ValueError, "not a name"),
        (lambda: cuda.declare_device("f", "int32(complex64)"), NotImplementedError, "this type"),
        (lambda: cuda.declare_device("f", "int32(int32[:])"), NotImplementedError, "this type"),
        (lambda: cuda.declare_device("f", "int32(int32)", abi="d"), ValueError, "no such ABI"),
        (lambda: cuda.declare_device("f", "int32()", use_cooperative=True), NotImplementedError,
         "whole grid"),
        (lambda: sum_reduce(1, 2), RuntimeError, "outside of a kernel"),
    ],
)  # fmt: skip
def test_mistakes(call, error, message):
    with pytest.raises(error, match=message):
        call()


def refused(function, signature, message):
    with pytest.raises(Exception, match=message):
        cuda.compile_ptx(function, signature)


def test_mistakes_in_kernels():
    def counts(x):
        x[0] = sum_reduce(x)

    refused(counts, "void(float32[::1])", "sum_reduce")

    def other_type(x):
        x[0] = sum_reduce(ffi.from_buffer(x), 1)

    refused(other_type, "void(float64[::1])", "array of float32")
    refused(other_type, "void(float32[:])", "contiguous")

    def shared(x):
        s = cuda.shared.array(4, "float32")
        x[0] = sum_reduce(s, 4)

    refused(shared, "void(float32[::1])", "shared memory")

    def fraction(x):
        x[0] = failing(2.5)

    refused(fraction, "void(int32[::1])", "an integer")
    with pytest.raises(Exception, match="only kernels call"):
        njit(lambda x: failing(x))(3)
    with pytest.raises(Exception, match="from_buffer"):
        njit(lambda x: ffi.from_buffer(x))(np.zeros(3))


LATE = """
import numpy as np
from numbus import cuda
f = cuda.declare_device("f", "float64(float64)", abi="c")
@cuda.jit(link=[cuda.PTXSource("good"), cuda.Cubin(b"code")])
def kernel(x):
    x[0] = f(x[0])
kernel[1, 1](np.zeros(4))
cuda.synchronize()
try:
    cuda.jit(link=[cuda.Object(b"BAD", "mine.o")])(kernel.py_func)[1, 1](np.zeros(4))
except RuntimeError as error:
    print(error)
"""


def test_the_drivers_linker_is_called(tmp_path):
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    source = Path(__file__).resolve().parents[1] / "cpp" / "fake_cuda_driver.inc"
    if not compiler or not source.exists():
        pytest.skip("needs a C++ compiler and tests/cpp")
    driver = tmp_path / "driver.so"
    command = [compiler, "-std=c++20", "-O1", "-shared", "-fPIC", "-x", "c++", source, "-o", driver]
    subprocess.run(command, check=True)
    program = tmp_path / "program.py"
    program.write_text(LATE)
    environment = {
        **os.environ,
        "NUMBUS_CUDA_DRIVER": str(driver),
        "NUMBUS_DEVICE": "cuda",
        "NUMBUS_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    command = [sys.executable, program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "linking 'mine.o'" in done.stdout
    assert "the linker says:\nerror   : Undefined reference to 'f' in 'mine.o'" in done.stdout
