"""The checks in tools/ find what they are there to refuse."""

import functools
import importlib.util
from pathlib import Path

import numpy
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


@functools.cache
def counted():
    """The tables of tools/functions.py: (the registry's, the namespaces', those of njit)."""
    tool = load("functions")
    columns = tool.namespaces()
    return tool, tool.registered(), columns, tool.compiled(columns)


def test_functions_are_counted_as_the_registry_has_them():
    from numbus.functions.registry import BODIES, ROWS

    _, registered, columns, _ = counted()
    kinds = [registered[f"  {kind}"] for kind in ("primitive", "element", "line", "composed")]
    functions = registered["registered functions, a body each"]
    assert len(functions) == len(BODIES) == sum(map(len, kinds))
    assert len(registered["names of registered functions"]) == len(ROWS)
    of_numpy = {name[3:] for name in ROWS if name.startswith("np.")}
    assert set(columns["numpy"]["registered"]) == of_numpy & set(dir(numpy))
    loops = registered["    with loops over elements"]
    assert "erf" in loops and "cov" not in loops


def test_each_name_is_counted_once():
    tool, _, columns, njit_has = counted()
    for title, found in columns.items():
        names = [name for w in tool.WHOLE for name in found[w]]
        assert len(names) == len(set(names)) > 10, title
        assert {*found["by"], *found["partly"]} <= {n for w in tool.OURS for n in found[w]}
        assert set(njit_has.get(title, ())) <= set(names)
    assert set(columns["numpy"]["none"]) == set()


def test_who_works_for_a_name():
    tool, _, columns, njit_has = counted()
    found = columns["numpy"]
    assert "add" in found["core"] and "percentile" in found["registered"]
    assert "apply_along_axis" in found["other"] and "busday_count" in found["other"]
    assert not any([columns[c][w] for c in columns for w in ("fallback", "partly")])
    assert "array2string" in found["NumPy"] and "nonzero" in found["by"]
    assert {"sum", "sin", "cov"} <= set(njit_has["numpy"])
    assert not {"savez", "busday_count"} & set(njit_has["numpy"])
    assert {"sum", "astype"} <= set(njit_has["methods"]) and "tofile" not in njit_has["methods"]
    second = tool.second_bodies(njit_has["numpy"])
    assert not second["kernels/library"] and "zeros" in second["the compiler (C++)"]
    assert not {"cov", "sin", "gcd"} & {name for names in second.values() for name in names}


@pytest.mark.parametrize("options", [[], ["--list"]])
def test_functions_are_printed(capsys, options):
    tool = load("functions")
    assert tool.main(options) == 0
    text = capsys.readouterr().out
    first = next(line for line in text.splitlines() if line.startswith("registered functions"))
    assert int(first.split()[-1]) == len(tool.registry.BODIES)
    assert ("percentile" in text) == bool(options)
