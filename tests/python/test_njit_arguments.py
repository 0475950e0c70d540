"""Too few and too many arguments of NumPy's functions and methods in compiled functions: each is
refused, as NumPy refuses it, while compiling or as it runs; nothing is dropped without a word.
"""

import importlib.util

import numpy as np
import pytest
from numbus import njit
from numbus.kernels import CompileError, UnsupportedError

# Computing elsewhere than on arrays, or starting other programs.
SKIPPED = {"test", "info", "show_config", "show_runtime", "savetxt", "save", "savez",
           "savez_compressed", "fromregex"}  # fmt: skip
NAMES = [
    n for n in dir(np)
    if n[0] != "_" and n not in SKIPPED and callable(getattr(np, n))
    and not isinstance(getattr(np, n), type)
]  # fmt: skip
METHODS = [n for n in dir(np.ndarray) if n[0] != "_" and callable(getattr(np.ndarray, n))]
ARGUMENTS = ["", "a", "a, a", "a, a, a, a, a, a, a, a, a"]

# Of arguments in their right number: an array where NumPy wants a text, a condition or an axis.
OTHERS = {("copy", 2), ("ravel", 2), ("select", 2), ("clip", 2)}
# Complex zeros of a real polynomial are told, and shifts that are no integers.
OTHERS |= {("roots", 1), ("roll", 2)}


@pytest.fixture(scope="module")
def functions(tmp_path_factory):
    """A function for each call, in a file that the compiler can read."""
    lines = ["import numpy as np"]
    for k, arguments in enumerate(ARGUMENTS):
        for name in NAMES:
            lines += [f"def f_{name}_{k}(a):", f"    return np.{name}({arguments})"]
        for name in [*METHODS, "add", "linspace", "cov", "foo"]:
            lines += [f"def m_{name}_{k}(a):", f"    return a.{name}({arguments})"]
    path = tmp_path_factory.mktemp("calls") / "calls.py"
    path.write_text("\n".join(lines))
    spec = importlib.util.spec_from_file_location("calls", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def raised(function, a):
    try:
        function(a)
    except Exception as error:
        return error
    return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("k", range(len(ARGUMENTS)), ids=["none", "one", "two", "nine"])
@pytest.mark.parametrize("kind", "fm")
def test_numbers_of_arguments(functions, kind, k):
    wrong = []
    for name in NAMES if kind == "f" else [*METHODS, "add", "linspace", "cov", "foo"]:
        if kind == "f" and (name, k) in OTHERS:
            continue
        function = getattr(functions, f"{kind}_{name}_{k}")
        got = raised(njit(function), np.arange(4.0))
        if isinstance(got, (CompileError, UnsupportedError, NotImplementedError)):
            continue
        want = raised(function, np.arange(4.0))
        refused = isinstance(got, (TypeError, ValueError))
        if refused != (want is not None) or (got and not refused):
            wrong.append((name, got, want))
    assert not wrong
