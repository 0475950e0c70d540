"""Libraries loaded at first use: where they are looked for, the report, the error."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.numbus
ROOT = Path(__file__).resolve().parents[2]

HAS_OWN_BLAS = any((Path(np.__file__).parents[1] / "numpy.libs").glob("*openblas*.so*"))


@pytest.fixture
def libraries():
    from numbus.core import libraries as _libraries

    return _libraries


def run(text, **environment):
    """Runs a program in a process of its own, where nothing is loaded yet."""
    import numbus

    env = {**os.environ, "PYTHONPATH": str(Path(numbus.__file__).parents[1]), **environment}
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


def touch(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return str(path)


def test_blas_order(libraries, monkeypatch, tmp_path):
    package = tmp_path / "scipy_openblas32"
    touch(package / "__init__.py")
    wheel = touch(package / "lib" / "libscipy_openblas.so")
    monkeypatch.setenv("NUMBUS_BLAS", "/mine/libblas.so")
    monkeypatch.syspath_prepend(tmp_path)
    found = libraries.candidates("blas")
    assert found[:2] == ["/mine/libblas.so", wheel]
    assert found[-4:] == ["libopenblas.so.0", "libopenblas.so", "libcblas.so.3", "libblas.so.3"]
    assert "scipy_openblas32" not in sys.modules
    if HAS_OWN_BLAS:
        assert Path(found[2]).parent.name == "numpy.libs"


def test_cublas_order(libraries, monkeypatch, tmp_path):
    new = touch(tmp_path / "a" / "nvidia/cu13/lib" / "libcublas.so.13")
    old = touch(tmp_path / "a" / "nvidia/cublas/lib" / "libcublas.so.12")
    later = touch(tmp_path / "b" / "nvidia/cublas/lib" / "libcublas.so.12")
    touch(tmp_path / "b" / "nvidia/cublas/lib" / "libcublasLt.so.12")
    conda = touch(tmp_path / "c" / "lib" / "libcublas.so.12")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "a"), "/gone", str(tmp_path / "b")])
    for name in ("CUDA_PATH", "CUDA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CONDA_PREFIX", str(tmp_path / "c"))
    monkeypatch.setenv("CUDA_HOME", "/opt/cuda")
    found = libraries.candidates("cublas")
    assert found[:4] == [new, old, later, conda]
    assert found[4:7] == ["libcublas.so.13", "libcublas.so.12", "libcublas.so.11"]
    assert found[7] == "/opt/cuda/lib64/libcublas.so.13"
    assert found[-3] == "/usr/local/cuda/lib64/libcublas.so.13"


@pytest.mark.parametrize(
    "name, folder, file",
    [
        ("cufft", "cufft", "libcufft.so.11"),
        ("cusolver", "cusolver", "libcusolver.so.11"),
        ("cusparse", "cusparse", "libcusparse.so.12"),
        ("nvjitlink", "nvjitlink", "libnvJitLink.so.12"),
        ("nvrtc", "cuda_nvrtc", "libnvrtc.so.12"),
        ("nccl", "nccl", "libnccl.so.2"),
    ],
)
def test_order_of_the_others(libraries, monkeypatch, tmp_path, name, folder, file):
    wheel = touch(tmp_path / "nvidia" / folder / "lib" / file)
    touch(tmp_path / "nvidia" / folder / "lib" / f"{file}.1")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    found = libraries.candidates(name)
    assert found[0] == wheel and file in found[1:] and f"/usr/local/cuda/lib64/{file}" in found
    assert name in libraries.NAMES


def test_needed_libraries_are_offered_too():
    """cuSOLVER's own needs lie in other folders, where the loader does not look."""
    text = run(
        "from numbus import _core\nfrom numbus.core import libraries as _libraries\n"
        "_libraries._nvidia = lambda package, files: iter(['/nowhere/' + package])\n"
        "_libraries.offer('cusolver')\n"
        "for name in ('cusolver', 'cusparse', 'cublas', 'nvjitlink'):\n"
        "    print(_core.library_report(name)[1][0][0])"
    )
    assert text.split() == [
        "/nowhere/" + n for n in ("cusolver", "cusparse", "cublas", "nvjitlink")
    ]


def test_headers(libraries, monkeypatch, tmp_path):
    touch(tmp_path / "nvidia/cuda_runtime/include/cuda_runtime_api.h")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert libraries.headers()[0] == str(tmp_path / "nvidia/cuda_runtime/include")


def test_unknown_name(core):
    for call in (core.library_report, core.require_library):
        with pytest.raises(ValueError, match=r"\[library\] unknown library; got blast; expected "):
            call("blast")
    with pytest.raises(ValueError, match="got blast"):
        core.set_library_candidates("blast", [])


@pytest.mark.skipif(not HAS_OWN_BLAS, reason="this NumPy brings no BLAS of its own")
def test_numpys_own_blas_is_found():
    """After a path that does not work, which is reported."""
    text = run(
        "from numbus import _core\nfrom numbus.core import libraries as _libraries\n"
        "found, tried = _libraries.report('blas')\n"
        "assert found == _core.require_library('blas')\n"
        "assert tried[0][0] == '/nowhere/libblas.so' and 'No such file' in tried[0][1], tried\n"
        "assert tried[-1][1] == 'loaded' and 'openblas' in found, tried\n"
        "_core.set_library_candidates('blas', [])\n"  # changes nothing any more
        "assert _libraries.report('blas') == (found, tried)\n"
        "maps = {line.split()[-1] for line in open('/proc/self/maps') if 'openblas' in line}\n"
        "print(len(maps))",
        NUMBUS_BLAS="/nowhere/libblas.so",
        PYTHONSAFEPATH="1",
    )
    import importlib.util

    if importlib.util.find_spec("scipy_openblas32") is None:
        assert text == "1\n"  # the copy that NumPy has loaded


def test_nothing_loads():
    text = run(
        "from numbus import _core\nfrom numbus.core import libraries as _libraries\n"
        "_libraries._package_folders = lambda name: []\n"
        "real = _libraries._blas\n"
        "_libraries._blas = lambda: [p for p in real() if '/' in p and 'nowhere' in p]\n"
        "found, tried = _libraries.report('blas')\n"
        "assert found is None and len(tried) == 1, tried\n"
        "try:\n"
        "    _core.require_library('blas')\n"
        "except RuntimeError as error:\n"
        "    print(error)\n"
        "_core.set_library_candidates('blas', ['libm.so.6'])\n"
        "print(_core.library_report('blas')[1])",
        NUMBUS_BLAS="/nowhere/libblas.so",
    )
    message, again = text.splitlines()
    assert re.match(
        r"\[matmul\] no BLAS library found; got /nowhere/libblas\.so \(cannot open.*\); "
        r"expected OpenBLAS \(pip install scipy-openblas32, or NUMBUS_BLAS=",
        message,
    )
    assert again == "[('libm.so.6', 'loaded, but has no cblas_dgemm')]"


def test_info_lists_libraries():
    text = run(
        "from numbus.compat import info; print(info.text())", NUMBUS_BLAS="/nowhere/libblas.so"
    )
    lines = text.splitlines()
    assert any(line.startswith("blas: tried /nowhere/libblas.so: ") for line in lines)
    for name in ("blas", "cublas", "cufft", "cusolver", "nvrtc", "nccl"):
        assert len([line for line in lines if re.match(rf"{name}: (?!tried )", line)]) == 1
        assert any(line.startswith(f"{name}: tried ") for line in lines)


def test_nothing_is_looked_for_at_import():
    assert run("import sys, numbus; print('numbus.core.libraries' in sys.modules)") == "False\n"
