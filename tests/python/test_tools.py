"""The checks in tools/ find what they are there to refuse."""

import importlib.util
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools"
pytestmark = pytest.mark.skipif(not TOOLS.is_dir(), reason="not in a checkout")


def load(name):
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def problems(tmp_path, **files):
    """What check_includes says of files named folder__name, all headers."""
    for name, text in files.items():
        path = tmp_path / (name.replace("__", "/") + ".h")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return load("check_includes").check(tmp_path)


def test_downward_include_is_fine(tmp_path):
    assert problems(tmp_path, base__a="", ops__b='#include "base/a.h"\n#include <vector>\n') == []


@pytest.mark.parametrize(
    "folder, line, says",
    [
        ("base", '#include "ops/b.h"', "base/ may not include ops/"),
        ("vendor", '#include "ops/b.h"', "vendor/ may not include ops/"),
        ("base", '#include "base/gone.h"', "no such file"),
        ("base", "#include <Python.h>", "knows no Python"),
        ("base", "#include <llvm/IR/Module.h>", "belongs to compile/"),
        ("lazy", "  if (device.is_cuda()) {", "device test"),
        ("lazy", "#ifdef NUMBUS_CUDA", "device test"),
        ("lazy", "  if (d.kind() == DeviceKind::Cpu) {", "device test"),
        ("array", "  auto k = DeviceKind::Cuda;", "device test"),
        ("launch", "  if (a.device->kind() != other) {", "device test"),
        ("misc", "", "not in the table"),
    ],
)
def test_refuses(tmp_path, folder, line, says):
    found = problems(tmp_path, ops__b="", **{f"{folder}__x": f"// x\n{line}\n"})
    assert len(found) == 1 and says in found[0]


def test_errors_and_types_have_kinds_too(tmp_path):
    text = "if (e.kind() != ErrorKind::Memory || f.kind() == Kind::Int) {}\n"
    assert problems(tmp_path, lazy__x=text) == []


def test_devices_may_know_their_kind(tmp_path):
    assert problems(tmp_path, device__x="return d.kind() == DeviceKind::Cpu;\n") == []


def test_refuses_a_pass_called_from_elsewhere(tmp_path):
    found = problems(
        tmp_path, passes__bounds="", passes__pipeline="", compile__x='#include "passes/bounds.h"\n'
    )
    assert len(found) == 1 and "passes/pipeline.h" in found[0]
    assert problems(tmp_path, compile__x='#include "passes/pipeline.h"\n') == []


def test_refuses_a_device_test_in_the_bindings(tmp_path):
    (tmp_path / "x.cpp").write_text("if (d.kind() == DeviceKind::Cuda) {}\n")
    assert len(load("check_includes").check_bindings(tmp_path)) == 1


def test_refuses_cycle(tmp_path):
    found = problems(
        tmp_path,
        base__a='#include "base/b.h"\n',
        base__b='#include "base/c.h"\n',
        base__c='#include "base/a.h"\n',
    )
    assert len(found) == 1 and found[0].startswith("include cycle: ")


def test_repository_is_fine():
    tool = load("check_includes")
    assert tool.check(TOOLS.parent / "src") == []
    assert tool.check_bindings(TOOLS.parent / "bindings") == []


def package(tmp_path, files):
    for name, text in files.items():
        path = tmp_path / "numbus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return load("check_imports").check(tmp_path)


IMPORTS = {
    "at the top": "from . import errors\n",
    "of a name": "from .errors import message\n",
    "absolute": "import numbus.core.errors\n",
    "absolute of a name": "from numbus.core.errors import message\n",
    "deferred": "def f():\n    from .errors import message\n",
    "deferred in a method": "class A:\n    def f(self):\n        import numbus.core.errors\n",
}


@pytest.mark.parametrize("how", IMPORTS)
def test_import_cycles_are_refused(tmp_path, how):
    files = {
        "__init__.py": "",
        "core/errors.py": "from . import host\n",
        "core/host.py": IMPORTS[how],
    }
    found = package(tmp_path, files)
    assert found == ["import cycle among numbus.core.errors, numbus.core.host"]


@pytest.mark.parametrize("how", IMPORTS)
def test_upward_imports_are_refused(tmp_path, how):
    text = IMPORTS[how].replace("core.errors", "linalg").replace("errors", "linalg")
    text = text.replace("from .", "from ..")
    found = package(tmp_path, {"__init__.py": "", "core/host.py": text, "linalg.py": ""})
    assert len(found) == 1
    assert (
        found[0].startswith("numbus.core.host, line ")
        and "may not import numbus.linalg" in found[0]
    )


def test_downward_imports_are_fine(tmp_path):
    files = {
        "__init__.py": "from . import linalg\nfrom ._core import ndarray\n",
        "linalg.py": "import numpy.linalg\nfrom .core import host\nfrom .core.host import x\n",
        "core/errors.py": "from .._core import generic\n",
        "core/host.py": "",
        "cuda/__init__.py": "from ..kernels import types\nfrom . import random\n",
        "cuda/random.py": "from .. import linalg\n",
        "kernels/__init__.py": "",
        "kernels/types.py": "from ..cuda import random\n",
    }
    assert package(tmp_path, files) == []


def test_modules_without_a_layer_are_refused(tmp_path):
    found = package(tmp_path, {"__init__.py": "", "cuda/new.py": "", "_new.py": ""})
    assert len(found) == 1 and found[0].startswith("numbus._new: in no layer")


def test_the_package_imports_downwards():
    assert load("check_imports").check(TOOLS.parent / "python") == []


def unread(tmp_path, text):
    path = tmp_path / "module.py"
    path.write_text(text)
    return [name for _, name, _ in load("check_arguments").findings(path)]


def test_arguments_that_are_not_read(tmp_path):
    assert unread(tmp_path, "def f(a, b=1, *c, d, **e):\n    return a\n") == ["b", "d", "c", "e"]
    assert unread(tmp_path, "class C:\n    def f(self, x):\n        x = 1\n") == ["x"]
    assert unread(tmp_path, "def f(a):\n    def g(b):\n        return a\n    return g\n") == ["b"]


def test_arguments_that_need_no_reading(tmp_path):
    assert unread(tmp_path, "def f(_a, b):\n    b += 1\n") == []
    assert unread(tmp_path, "def f(a):\n    raise NotImplementedError\n") == []
    assert unread(tmp_path, "class C:\n    def __exit__(self, *e):\n        return None\n") == []
    assert unread(tmp_path, "def f(a, b):\n    return locals()\n") == []


def test_reasons_belong_to_arguments(tmp_path):
    assert all(load("check_arguments").reasons().values())
