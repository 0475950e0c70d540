"""What the bindings call of Python's C interface is in the stable ABI, as the wheel needs."""

import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

pytestmark = pytest.mark.numbus
BINDINGS = Path(__file__).resolve().parents[2] / "bindings"
# In the stable ABI since Python 3.12, which headers of 3.11 do not say.
SINCE_3_12 = {"PyObject_Vectorcall", "PyVectorcall_NARGS"}


def test_calls_are_in_the_stable_abi():
    include = Path(sysconfig.get_path("include"))
    if not BINDINGS.is_dir() or shutil.which("g++") is None or not (include / "Python.h").exists():
        pytest.skip("needs the sources, g++ and Python's headers")
    called = set()
    for source in [*BINDINGS.rglob("*.cpp"), *BINDINGS.rglob("*.h")]:
        text = re.sub(r"//.*", "", source.read_text())
        called.update(re.findall(r"\b_?Py[A-Za-z]*_[A-Za-z]+\b(?=\()", text))
    assert len(called) > 100
    lines = ["#define Py_LIMITED_API 0x030C0000", "#include <Python.h>"]
    for name in sorted(called - SINCE_3_12):
        lines.append(f"#ifndef {name}\nusing of_{name} = decltype(&{name});\n#endif")
    command = ["g++", "-std=c++20", "-fsyntax-only", "-I", str(include), "-x", "c++", "-"]
    done = subprocess.run(command, input="\n".join(lines), text=True, capture_output=True)
    assert done.returncode == 0, done.stderr[:2000]
