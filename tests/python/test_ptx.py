"""Every kind of GPU kernel as PTX: generated without a GPU, assembled where ptxas is installed."""

import re
import shutil
import subprocess

import numbus as nb
import numpy as np
import pytest
from jit_check import function_of
from numbus import _core
from numbus.kernels._resolve import program
from numbus.primitives import _device, _radix, fold, sort

PTXAS = shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")


def heat(a):
    q = a.copy()
    q[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    return q, nb.linalg.norm(q - a)


def masked(a):
    z = nb.array(np.asarray(a) + 1j)
    it = nb.zeros(a.shape, "int64")
    m = abs(z) < 1.5
    z[m] = z[m] ** 2 + z[m]
    it[m] += 1
    return z, it


def scatter(a):
    """Every kind of scatter, pending indices and values."""
    i = (a[0] * 40).astype("int64")
    results = []
    for dtype in ("float32", "float64", "int32", "uint64"):
        x = nb.zeros((48, 40), dtype)
        nb.add.at(x, i, 1)
        for op in (nb.minimum, nb.maximum):
            y = nb.zeros(48, dtype)
            op.at(y, i, a[0].astype(dtype))
            results.append(y)
        results.append(x)
    z = nb.zeros(48)
    z[i] = a[1]
    return *results, z


PROGRAMS = {
    "map": lambda a: a * 2 + 1,
    "float32": lambda a: nb.tanh(a.astype("float32")) / nb.sqrt(a.astype("float32") + 1),
    "float16": lambda a: a.astype("float16") * 2,
    "bfloat16": lambda a: (
        a.astype("bfloat16") * 2,
        nb.exp(a.astype("bfloat16")).sum(0),
        a.astype("bfloat16").max(1),
        a.astype("bfloat16").std(),
        a.astype("bfloat16").ravel().cumsum(),
        a.astype("float32").astype("bfloat16").astype("int32"),
        nb.where(a > 0.5, a.astype("bfloat16"), 2),
        a.astype("bfloat16")[(a * 10).astype("int64") % 7],
        nb.nextafter(a.astype("bfloat16"), 1) % 0.5,
    ),
    "maths": lambda a: nb.sin(a) ** 2 + nb.cos(a) ** 2 + nb.exp(a) + nb.log(a + 1),
    "quotients": lambda a: nb.exp(a) / nb.sqrt(a.astype("float32") / 3 + 1) + nb.log(a) / a,
    "powers": lambda a: (a**1.7, a.astype("float32") ** a.astype("float32"), a % 0.3, a // 0.7),
    "smooth": lambda a: (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]) / 4.0,
    "integers": lambda a: (a * 100).astype("int64") // 7 % 3 << 1,
    "strided": lambda a: a[::2, ::-1].T + 1,
    "heat": heat,
    "masked": masked,
    "sum": lambda a: a.sum(),
    "std": lambda a: a.std(),
    "rows": lambda a: (a.max(axis=1), a.argmin(axis=1)),
    "columns": lambda a: (a.sum(axis=0), a.var(axis=0)),
    "complex sum": lambda a: (a + 1j * a).sum(),
    "any": lambda a: (a > 0.5).any(),
    "scan": lambda a: a.cumsum(),
    "scan lines": lambda a: (a.cumsum(1), a[::2, ::2].cumsum(1), a.cumsum(0), a[:, :20].cumsum(1)),
    "scan of long lines": lambda a: (
        nb.broadcast_to(a.ravel(), (6, a.size)).reshape(-1).cumsum(),
        nb.broadcast_to(a.ravel(), (6, a.size)).reshape(-1)[1:].cumsum(),
        nb.broadcast_to(a.ravel(), (6, a.size)).reshape(2, -1).astype("int32").cumsum(1),
        nb.broadcast_to(a.ravel(), (4, a.size)).reshape(-1, 3).cumsum(0),
    ),
    "scan of types": lambda a: (
        (a > 0.5).cumsum(),
        nb.logical_xor.accumulate(a.ravel() > 0.5),
        (a + 1j).ravel().cumprod(),
        a.astype("float16").ravel().cumsum(),
        nb.maximum.accumulate((a * 100).astype("int8").ravel()),
        nb.fmin.accumulate(a.ravel()),
        nb.subtract.accumulate(a, 1),
        nb.bitwise_or.accumulate((a * 99).astype("uint16"), 0),
    ),
    "remainders": lambda a: (nb.fmod(a, 0.3), a.astype("float32") % a[0].astype("float32"), a // 7),
    "gather": lambda a: a[(a * 10).astype("int64") % 7],
    "scatter": scatter,
    "where": lambda a: nb.where(a > 0.5, a, -a),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_ptx_assembles(name, tmp_path):
    a = nb.array(np.random.default_rng(1).random((48, 40)))
    nb.synchronize()
    kept = PROGRAMS[name](a)
    texts = _core.ptx()
    assert texts
    del kept
    for i, text in enumerate(texts):
        assert ".entry k(" in text
        # Silent contraction would give a*b + c one rounding.
        assert "fma.rn" not in text or name not in (
            "map", "heat", "sum", "where", "strided", "scan", "scan lines", "scan of long lines"
        )  # fmt: skip
        if PTXAS is None:
            continue
        path = tmp_path / f"{i}.ptx"
        path.write_text(text)
        done = subprocess.run(
            [PTXAS, "-arch=sm_90", "-o", str(tmp_path / "k.cubin"), str(path)],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_vectors_are_read_where_they_are_aligned():
    # Elements of a vector that is loaded one by one were said to be as aligned as the first.
    rng = np.random.default_rng(1)
    a = nb.array(rng.random((5, 64)) + 1j * rng.random((5, 64)))
    nb.synchronize()
    b = a * 2
    c = b.copy()
    c[1:-1, 1:-1] = 0.25 * (b[2:, 1:-1] + b[:-2, :-2] + b[1:-1, :-2]) - 0.1 * a[1:-1, 1:-1]
    kept = nb.sum(abs(c - b))
    texts = _core.ptx()
    del kept
    offsets = re.findall(r"ld\.global\.v2\.f64\s+\{[^}]*\}, \[%rd\d+\+(\d+)\]", "".join(texts))
    assert offsets
    assert all(int(o) % 16 == 0 for o in offsets)


@pytest.mark.skipif(PTXAS is None, reason="ptxas is not installed")
@pytest.mark.parametrize("dtype", ["uint8", "bfloat16", "float32", "int64"])
@pytest.mark.parametrize("routine", ["sort", "argsort"])
def test_sorts_with_the_tiles_of_a_gpu(monkeypatch, tmp_path, routine, dtype):
    """They hold a tile in registers, of which two blocks have to fit; elsewhere tests use less."""
    for module in (_radix, sort):
        monkeypatch.setattr(module, "SMALL", False)
        monkeypatch.setattr(module, "AHEAD", 8)
    monkeypatch.setattr(_radix, "BACK", 4)
    made = {}

    def add(name, dtype, function, arguments, tile=0, threads=0, shared=0, **options):
        # Two blocks share the 228 KiB of a multiprocessor, of which each loses one.
        assert shared <= 113 << 10
        options = {**_device._OPTIONS, **options}
        kernel = _core.Kernel(lambda: program.anew(function), options, name)
        made[name] = kernel.ptx(list(arguments), 90, 80)

    monkeypatch.setattr(sort, "add", add)
    getattr(sort, f"load_{routine}")(dtype)
    assert len(made) >= 5
    for name, text in made.items():
        path = tmp_path / f"{name}.ptx"
        path.write_text(text)
        done = subprocess.run(
            [PTXAS, "-arch=sm_90", "-o", str(tmp_path / "k.cubin"), str(path)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{name}: {done.stderr}"


@pytest.mark.parametrize("op,dtype", [
    ("add", "int8"), ("maximum", "float16"), ("hypot", "float32"), ("power", "float64"),
    ("gcd", "int64"), ("multiply", "complex64"), ("logical_xor", "bool"), ("divide", "float16"),
    ("maximum", "bfloat16"), ("add", "bfloat16"),
])  # fmt: skip
def test_folds(monkeypatch, tmp_path, op, dtype):
    """Kernels of reduceat and at become PTX, and are assembled where that is installed."""
    made = {}

    def add(name, dtype, function, arguments):
        kernel = _core.Kernel(lambda: program.anew(function), _device._OPTIONS, name)
        made[name] = kernel.ptx(list(arguments), 90, 80)

    monkeypatch.setattr(fold, "add", add)
    fold.load_reduceat(dtype, op)
    fold.load_fold_runs(dtype, op)
    assert len(made) == 5
    for name, text in made.items():
        path = tmp_path / f"{name}.ptx"
        path.write_text(text)
        if PTXAS:
            out = tmp_path / "k.cubin"
            done = subprocess.run([PTXAS, "-arch=sm_90", "-o", out, path], capture_output=True)
            assert done.returncode == 0, done.stderr.decode()


COMPLEX_NAMES = """sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh
cosh tanh arcsinh arccosh arctanh square reciprocal sign absolute conjugate""".split()


@pytest.mark.parametrize("name", COMPLEX_NAMES)
@pytest.mark.parametrize("text", ["np.complex128(0)", "np.complex64(z.real)", "1j * z.imag"])
def test_complex_functions_of_what_is_partly_known(name, text):
    """Steps that fold, or are one step for both parts, leave a kernel that LLVM verifies."""
    f = nb.cuda.jit(device=True)(function_of(f"np.{name}({text})", "z"))

    def kernel(out, z):
        out[nb.cuda.grid(1)] = f(z[nb.cuda.grid(1)])

    code, _ = nb.cuda.compile_ptx(kernel, "void(complex128[:], complex128[:])")
    assert "st.global" in code
