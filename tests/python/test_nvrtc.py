"""CUDA C++ compiled by NVRTC, and launches of it with the program's own arrays."""

import ctypes

import numpy as np
import pytest
from test_libraries import run

pytestmark = pytest.mark.numbus

SCALE = """
extern "C" __global__ void scale(float* x, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}
"""


@pytest.fixture
def compiler(core):
    """The core, where there is an NVRTC."""
    from numbus.core import libraries as _libraries

    if _libraries.report("nvrtc")[0] is None:
        pytest.skip("no NVRTC here (pip install nvidia-cuda-nvrtc)")
    return core


def test_missing_library():
    text = run(
        "from numbus import _core\nfrom numbus.core import libraries as _libraries\n"
        "_libraries._nvidia = lambda package, files: iter(['/nowhere/libnvrtc.so'])\n"
        "try:\n"
        "    _core.nvrtc_compile('', 'a.cu', ['-arch=sm_90'])\n"
        "except RuntimeError as error:\n"
        "    print(error)"
    )
    assert text.startswith("[nvrtc] no NVRTC library found; got /nowhere/libnvrtc.so (cannot open")
    assert "pip install nvidia-cuda-nvrtc for" in text


@pytest.mark.cpu
@pytest.mark.parametrize("call", ["nvrtc_compile('', 'a.cu')", "CudaModule(b'')"])
def test_without_a_gpu(core, call):
    name = "CudaModule" if "Module" in call else "nvrtc"
    with pytest.raises(
        RuntimeError, match=rf"\[{name}\] CUDA C\+\+ needs a GPU as the device; got cpu; expected "
    ):
        eval("core." + call, {"core": core})


def test_cubin_and_ptx(compiler):
    cubin = compiler.nvrtc_compile(SCALE, "scale.cu", ["--gpu-architecture=sm_90"])
    assert cubin[:4] == b"\x7fELF"
    ptx = compiler.nvrtc_compile(SCALE, "scale.cu", ["-arch=compute_90", "-DX=1"])
    assert b".target sm_90" in ptx and b".entry scale(" in ptx and ptx[-1] != 0


def test_expressions(compiler):
    source = "template <class T> __global__ void twice(T* x) { *x += *x; }"
    expressions = ["twice<float>", "twice<int>"]
    ptx, symbols = compiler.nvrtc_compile_named(source, "t.cu", ["-arch=compute_90"], expressions)
    assert list(symbols) == expressions
    for symbol in symbols.values():
        assert f".entry {symbol}(".encode() in ptx


def test_mistakes_carry_the_log(compiler):
    with pytest.raises(
        RuntimeError, match=r"\[nvrtc\] nvrtcCompileProgram failed for 'bad.cu'; "
    ) as e:
        compiler.nvrtc_compile("__global__ void f() { x = 3; }", "bad.cu", ["-arch=sm_90"])
    assert "the compiler says:\nbad.cu(1): error: identifier" in str(e.value)
    with pytest.raises(RuntimeError, match=r"(?s)NVRTC_ERROR_INVALID_OPTION.*-frobnicate"):
        compiler.nvrtc_compile("", "a.cu", ["-arch=sm_90", "-frobnicate"])


# --- on a GPU -----------------------------------------------------------------------------------


@pytest.fixture
def load(compiler):
    def load(source, options=()):
        image = compiler.nvrtc_compile(source, "test.cu", list(options))
        try:
            return compiler.CudaModule(image)
        except RuntimeError as error:
            if "UNSUPPORTED_PTX_VERSION" in str(error):
                pytest.skip("this NVRTC is newer than the driver")
            raise

    return load


@pytest.mark.gpu
@pytest.mark.parametrize("options", [(), ("-arch=compute_80",)])
def test_launch(xp, load, options):
    """What is pending on the argument runs before, what is recorded later after it."""
    scale = load(SCALE, options).function("scale")
    x = xp.arange(1000, dtype="f4") + 1
    y = x[1::2]
    scale.launch((4,), (256,), 0, [x, np.float32(3), np.int32(1000)])
    y += 1
    want = (np.arange(1000, dtype="f4") + 1) * 3
    want[1::2] += 1
    np.testing.assert_array_equal(np.asarray(x), want)


@pytest.mark.gpu
def test_attributes(load):
    f = load(SCALE).function("scale")
    assert f.name == "scale"
    a = f.attributes
    assert a["num_regs"] > 0 and a["max_threads_per_block"] == 1024
    assert a["shared_size_bytes"] == 0 and a["binary_version"] >= 50
    assert set(a) >= {
        "const_size_bytes",
        "local_size_bytes",
        "ptx_version",
        "cache_mode_ca",
        "max_dynamic_shared_size_bytes",
        "preferred_shared_memory_carveout",
    }
    assert f.blocks_per_multiprocessor(256, 0) >= 1


@pytest.mark.gpu
def test_arguments_by_value(xp, load):
    """Every kind of value arrives as it is."""
    source = """
    struct Pair { int a; double b; };
    extern "C" __global__ void take(double* out, signed char c, unsigned short h, long long n,
                                    double d, bool t, double2 z, Pair p, Pair q, float* other) {
      double all[] = {(double)c, (double)h, (double)n, d, (double)t, z.x, z.y, (double)p.a, p.b,
                      (double)q.a, q.b, other[1]};
      for (int i = 0; i < 12; ++i) out[i] = all[i];
    }"""

    class Pair(ctypes.Structure):
        _fields_ = (("a", ctypes.c_int), ("b", ctypes.c_double))

    record = np.dtype([("a", "i4"), ("b", "f8")], align=True)
    out, other = xp.zeros(12), xp.array([1.5, 2.5], "f4")
    value = xp.array([0.25, 7.0]).sum()  # not known yet
    args = [out, np.int8(-3), np.uint16(65535), -(2**40), value, True, 1.5 - 2.5j]
    args += [bytes(Pair(7, 0.5)), np.array((8, 0.125), record)[()], other]
    load(source).function("take").launch((1,), (1,), 0, args)
    want = [-3, 65535, -(2**40), 7.25, 1, 1.5, -2.5, 7, 0.5, 8, 0.125, 2.5]
    np.testing.assert_array_equal(np.asarray(out), want)


@pytest.mark.gpu
def test_writes_are_seen(xp, load):
    """A mask taken before the launch keeps its values, and views of the array have the new ones."""
    flip = load(
        'extern "C" __global__ void flip(bool* m) { m[threadIdx.x] = !m[threadIdx.x]; }'
    ).function("flip")
    x = xp.arange(8.0)
    mask = x > 3
    picked = x[mask]
    view = mask[::2]
    flip.launch((1, 1, 1), (8, 1, 1), 0, [mask])
    np.testing.assert_array_equal(np.asarray(picked), [4, 5, 6, 7])
    np.testing.assert_array_equal(np.asarray(view), [True, True, False, False])
    np.testing.assert_array_equal(np.asarray(x[mask]), [0, 1, 2, 3])


@pytest.mark.gpu
def test_dynamic_shared_memory(xp, load):
    """Also above 48 KiB."""
    source = """
    extern "C" __global__ void turn(int* x, int n) {
      extern __shared__ int s[];
      for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = x[i];
      __syncthreads();
      for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = s[n - 1 - i];
    }"""
    n = 20_000
    x = xp.arange(n, dtype="i4")
    load(source).function("turn").launch((1,), (256,), 4 * n, [x, np.int32(n)])
    np.testing.assert_array_equal(np.asarray(x), np.arange(n)[::-1])


@pytest.mark.gpu
def test_global_pointer(xp, load):
    source = """
    __device__ float table[4];
    extern "C" __global__ void set(float x) { table[threadIdx.x] = x + threadIdx.x; }
    extern "C" __global__ void get(const float* a, float* to) { to[threadIdx.x] = a[threadIdx.x]; }
    """
    module = load(source)
    address, size = module.global_pointer("table")
    assert size == 16
    out = xp.zeros(4, "f4")
    module.function("set").launch((1,), (4,), 0, [np.float32(2)])
    module.function("get").launch((1,), (4,), 0, [address, out])
    np.testing.assert_array_equal(np.asarray(out), [2, 3, 4, 5])


@pytest.mark.gpu
def test_mistakes_in_launches(xp, core, load):
    module = load(SCALE)
    scale = module.function("scale")
    x = xp.zeros(4, "f4")
    good = [x, np.float32(1), np.int32(4)]
    with pytest.raises(TypeError, match=r"\[scale\] a kernel cannot take this arg.*; got .*list"):
        scale.launch((1,), (4,), 0, [[1, 2], *good[1:]])
    with pytest.raises(ValueError, match=r"\[scale\] not the extents of a grid; got \(0,\); "):
        scale.launch((0,), (4,), 0, good)
    with pytest.raises(ValueError, match="not the extents of a block"):
        scale.launch((1,), (4, 1, 1, 1), 0, good)
    with pytest.raises(ValueError, match="a negative size of shared memory; got -1"):
        scale.launch((1,), (4,), -1, good)
    with pytest.raises(RuntimeError, match=r"cuLaunchKernel failed while launching 'scale'"):
        scale.launch((1,), (2048,), 0, good)
    with pytest.raises(RuntimeError, match="TOO_LARGE"):
        scale.launch((100_000,), (1024,), 0, good, cooperative=True)
    scale.launch((1,), (4,), 0, good, cooperative=True)
    with pytest.raises(RuntimeError, match="looking for the kernel 'scala'"):
        module.function("scala")
    with pytest.raises(RuntimeError, match="looking for the variable 'x'"):
        module.global_pointer("x")
    with pytest.raises(RuntimeError, match="cuModuleLoadDataEx failed while loading GPU code"):
        core.CudaModule(b"no code")


@pytest.mark.gpu
def test_number_and_size_of_arguments(xp, load):
    """Told by drivers of CUDA 12.4 and newer."""
    from numbus import _core

    version = int(_core.cuda_info().partition("driver for CUDA ")[2].split(".")[0])
    if version < 13:
        pytest.skip("drivers before CUDA 12.4 do not tell")
    scale = load(SCALE).function("scale")
    x = xp.zeros(4, "f4")
    with pytest.raises(TypeError, match=r"\[scale\] wrong number of arguments; got 2; expected 3"):
        scale.launch((1,), (4,), 0, [x, np.float32(1)])
    with pytest.raises(TypeError, match=r"argument 2 has another size; got 8 bytes; expected 4"):
        scale.launch((1,), (4,), 0, [x, np.float32(1), 4])
