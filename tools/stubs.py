#!/usr/bin/env python3
"""Writes the type stubs of the package (python/numbus/*.pyi) from what it is made of.

That is: the registry's annotations, the table of operations, the signatures of everything else.

    tools/stubs.py            writes them
    tools/stubs.py --check    exit code 1 where a file differs
"""

import inspect
import re
import sys
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

import numbus  # noqa: E402
import numpy  # noqa: E402
from numbus import _core  # noqa: E402
from numbus.functions import registry  # noqa: E402

HEADER = '''"""Types for editors and checkers, made by tools/stubs.py: do not edit."""

'''
IMPORTS = """from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any, Literal, SupportsIndex, overload

from numpy.typing import ArrayLike, DTypeLike
"""
UFUNC = '''
class ufunc:
    """A function of elements: one, two or more operands, which broadcast."""

    nin: int
    nout: int
    nargs: int
    ntypes: int
    types: list[str]
    identity: Any
    signature: str | None
    __name__: str
    def __call__(
        self,
        *operands: Any,
        out: Any = ...,
        where: Any = ...,
        casting: str = ...,
        order: str = ...,
        dtype: DTypeLike | None = ...,
        subok: bool = ...,
        signature: Any = ...,
    ) -> Any: ...
    def reduce(
        self,
        array: ArrayLike,
        axis: SupportsIndex | Sequence[SupportsIndex] | None = 0,
        dtype: DTypeLike | None = ...,
        out: Any = ...,
        keepdims: bool = ...,
        initial: Any = ...,
        where: Any = ...,
    ) -> Any: ...
    def accumulate(
        self, array: ArrayLike, axis: SupportsIndex = 0, dtype: Any = ..., out: Any = ...
    ) -> ndarray: ...
    def reduceat(
        self,
        array: ArrayLike,
        indices: ArrayLike,
        axis: SupportsIndex = 0,
        dtype: DTypeLike | None = ...,
        out: Any = ...,
    ) -> ndarray: ...
    def outer(self, A: ArrayLike, B: ArrayLike, /, **kwargs: Any) -> ndarray: ...
    def at(self, a: ndarray, indices: Any, b: ArrayLike = ..., /) -> None: ...
    def resolve_dtypes(self, dtypes: Any, **kwargs: Any) -> Any: ...

'''
# What a function of one operand, or of two, is called with: by their number.
CALLABLES = {
    1: ("_Unary", "x: ArrayLike, /, "),
    2: ("_Binary", "x1: ArrayLike, x2: ArrayLike, /, "),
    3: ("_Ternary", "x1: ArrayLike, x2: ArrayLike, x3: ArrayLike, /, "),
}
KEYWORDS = (
    "out: Any = ..., *, where: Any = ..., casting: str = ..., order: str = ..., "
    "dtype: DTypeLike | None = ..., subok: bool = ..., signature: Any = ..."
)
# The types of parameters and results that nothing else tells, by name.
PARAMETERS = {
    "a": "ArrayLike", "x": "ArrayLike", "y": "ArrayLike", "b": "ArrayLike", "m": "ArrayLike",
    "axis": "SupportsIndex | Sequence[SupportsIndex] | None", "axes": "Any",
    "dtype": "DTypeLike | None", "keepdims": "bool", "device": "Any", "out": "Any",
    "shape": "SupportsIndex | Sequence[SupportsIndex]",
}  # fmt: skip
RETURNS = {
    **dict.fromkeys(
        """zeros ones empty full zeros_like ones_like empty_like full_like array asarray asanyarray
        ascontiguousarray asfortranarray arange linspace logspace geomspace eye identity tri copy
        fromfunction frombuffer fromiter from_dlpack fromfile loadtxt concatenate concat stack
        hstack vstack dstack column_stack reshape transpose ravel expand_dims squeeze broadcast_to
        moveaxis rollaxis swapaxes flip fliplr flipud rot90 roll repeat tile sort argsort diff
        cumsum cumprod outer kron tril triu pad fftfreq rfftfreq fft
        ifft rfft irfft fft2 ifft2 fftn ifftn rfftn irfftn rfft2 irfft2 hfft ihfft fftshift
        ifftshift inv pinv cholesky matrix_transpose astype flatten view byteswap permute_dims diag
        """.split(),
        "ndarray",
    ),
    **dict.fromkeys("nonzero broadcast_arrays unstack".split(), "tuple[ndarray, ...]"),
    **dict.fromkeys("split array_split hsplit vsplit dsplit".split(), "list[ndarray]"),
    **dict.fromkeys("array_equal array_equiv allclose isscalar".split(), "bool"),
    **dict.fromkeys("save savez savetxt synchronize fill setflags".split(), "None"),
    "ndim": "int", "size": "int", "tolist": "Any", "tobytes": "bytes", "stats": "dict[str, Any]",
    "device_info": "dict[str, Any]", "to_numpy": "numpy.ndarray[Any, Any]",
    "to_device": "ndarray",
}  # fmt: skip
ATTRIBUTES = {
    "T": "ndarray", "mT": "ndarray", "base": "Any", "data": "memoryview", "device": "str",
    "dtype": "numpy.dtype[Any]",
    "flat": "Any", "flags": "Any", "imag": "ndarray", "real": "ndarray",
    "itemsize": "int", "nbytes": "int", "ndim": "int", "shape": "tuple[int, ...]", "size": "int",
    "strides": "tuple[int, ...]", "ctypes": "Any",
}  # fmt: skip
ASSIGNABLE = {"shape", "flat", "real", "imag"}
CONVERSIONS = {
    "__bool__": "bool", "__int__": "int", "__float__": "float", "__complex__": "complex",
    "__index__": "int", "__len__": "int", "__contains__": "bool", "__format__": "str",
    "__iter__": "Iterator[Any]", "__getitem__": "Any", "__dlpack_device__": "tuple[int, int]",
}  # fmt: skip


def simple(value):
    """The default as it can stand in a stub, else dots."""
    if value is None or type(value) in (bool, int, str):
        return repr(value)
    return repr(value) if type(value) is float and value == value and abs(value) < 1e9 else "..."


def kind_of(argument, parameter):
    """The type of a parameter of the registry's."""
    none = " | None" if parameter.default is None else ""
    kind = argument.kind
    if kind == "Choice":
        words = ", ".join(repr(word) for word in argument.words)
        return f"Literal[{words}]{none}"
    if kind == "Axis":
        return "SupportsIndex" + (" | None" if argument.none != registry._REFUSED else "")
    found = {
        "Array": "ArrayLike",
        "Operand": "ArrayLike",
        "Axes": "SupportsIndex | Sequence[SupportsIndex] | None",
        "DTypeArg": "DTypeLike | None",
        "Flag": "bool" + none,
        "Int": "SupportsIndex" + none,
    }.get(kind, "Any")
    return found + none if found == "ArrayLike" else found


def annotation(parameter):
    what = parameter.annotation
    if isinstance(what, registry.Argument):
        return kind_of(what, parameter)
    found = PARAMETERS.get(parameter.name, "Any")
    missing = parameter.default is None and found != "Any"
    return found + " | None" if missing and "None" not in found else found


def parameters(signature, method=False):
    """The text of the parameters."""
    made, star = [], False
    items = list(signature.parameters.values())
    for n, p in enumerate(items):
        if method and n == 0:
            made.append("self")
            continue
        if p.kind == p.VAR_POSITIONAL:
            made.append(f"*{p.name}: {annotation(p)}")
            star = True
        elif p.kind == p.VAR_KEYWORD:
            made.append(f"**{p.name}: Any")
        else:
            if p.kind == p.KEYWORD_ONLY and not star:
                made.append("*")
                star = True
            default = "" if p.default is p.empty else f" = {simple(p.default)}"
            made.append(f"{p.name}: {annotation(p)}{default}")
        last = n + 1 == len(items) or items[n + 1].kind != p.POSITIONAL_ONLY
        if p.kind == p.POSITIONAL_ONLY and last and not (method and n == 0):
            made.append("/")
    return ", ".join(made)


def documentation(value, indent):
    text = inspect.cleandoc(value.__doc__ or "").split("\n\n")[0].replace("\\", "\\\\")
    text = text.replace('"""', "'''").replace("\n", "\n" + indent)
    if not text or len(text) > 600:
        return f"{indent}...\n"
    return f'{indent}"""{text}{" " if text.endswith(chr(34)) else ""}"""\n'


def function(name, value, indent="", method=False, result=None):
    try:
        text = parameters(inspect.signature(value), method)
    except (TypeError, ValueError):
        text = ("self, " if method else "") + "*args: Any, **kwargs: Any"
    result = result or RETURNS.get(name, "Any")
    return f"{indent}def {name}({text}) -> {result}:\n{documentation(value, indent + '    ')}"


def array_class():
    """The class of arrays."""
    kind = _core.ndarray
    text = "class ndarray:\n"
    text += documentation(numbus.ndarray, "    ")
    text += "    def __new__(cls, shape: Any, dtype: DTypeLike | None = ..., buffer: Any = ..., "
    text += "offset: int = ..., strides: Any = ..., order: str | None = ...) -> ndarray: ...\n"
    for name, type_ in sorted(ATTRIBUTES.items()):
        text += f"    @property\n    def {name}(self) -> {type_}: ...\n"
        if name in ASSIGNABLE:
            text += f"    @{name}.setter\n    def {name}(self, value: Any) -> None: ...\n"
    for name in sorted(dir(kind)):
        value = getattr(kind, name)
        if name in ATTRIBUTES or not callable(value) or name in dir(object):
            continue
        if name.startswith("_") and not name.startswith("__"):
            continue
        if name in CONVERSIONS:
            more = ", key: Any, /" if name in ("__getitem__", "__contains__", "__format__") else ""
            text += f"    def {name}(self{more}) -> {CONVERSIONS[name]}: ...\n"
        elif name in ("__setitem__", "__array_namespace__", "__array__", "__dlpack__"):
            more = (
                "key: Any, value: Any, /" if name == "__setitem__" else "*args: Any, **kwargs: Any"
            )
            text += f"    def {name}(self, {more}) -> {'None' if 'set' in name else 'Any'}: ...\n"
        elif name.startswith("__"):
            unary = name in ("__neg__", "__pos__", "__abs__", "__invert__", "__copy__")
            if inspect.isroutine(value) and (unary or name[2:-2] in BINARY):
                other = "" if unary else ", other: Any, /"
                made = "Any" if "divmod" in name else "ndarray"
                text += f"    def {name}(self{other}) -> {made}: ...\n"
        else:
            text += function(name, value, "    ", True)
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        ignore = "  # type: ignore[override]" if name in ("eq", "ne") else ""
        text += f"    def __{name}__(self, other: Any, /) -> ndarray: ...{ignore}\n"
    return text + "    __hash__ = None  # type: ignore[assignment]\n"


_NAMES = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift divmod".split()
BINARY = {p + name for name in _NAMES for p in ("", "r", "i")}


def entry(name, value, module):
    """The declaration of one public name."""
    if isinstance(value, types.ModuleType):
        if (ROOT / "python/numbus" / name).is_dir() or (ROOT / f"python/numbus/{name}.py").exists():
            return f"from . import {name} as {name}\n" if module is numbus else None
        return f"{name}: Any\n"
    if isinstance(value, type):
        if value is numbus.ndarray:
            return None
        if getattr(numpy, name, None) is value:
            return f"from numpy import {name} as {name}\n"
        if value is _core.ufunc:
            return None
        return f"{name}: Any\n"
    if isinstance(value, _core.ufunc):
        return f"{name}: {CALLABLES[value.nin][0]}\n{documentation(value, '')}"
    if type(value) in (bool, int, float, str):
        return f"{name}: {type(value).__name__}\n"
    if value is None:
        return f"{name}: None\n"
    if callable(value) and type(value).__name__ in (
        "composed",
        "function",
        "builtin_function_or_method",
    ):
        return function(name, value)
    return f"{name}: Any\n"


KERNELS = '''def jit(function: Any = ..., /, *args: Any, **kwargs: Any) -> Any: ...
def njit(function: Any = ..., /, *args: Any, **kwargs: Any) -> Any: ...
def vectorize(*args: Any, **kwargs: Any) -> Any: ...
def guvectorize(*args: Any, **kwargs: Any) -> Any: ...
def stencil(*args: Any, **kwargs: Any) -> Any: ...
def benchmark(*args: Any, **kwargs: Any) -> Any: ...
def prange(*bounds: SupportsIndex) -> range: ...
def __array_namespace_info__() -> Any: ...
class device:
    """The device of new arrays, as a statement or in `with`."""

    name: str
    def __init__(self, name: Any = None) -> None: ...
    def __enter__(self) -> device: ...
    def __exit__(self, *error: object) -> None: ...

__version__: str
__array_api_version__: str
'''
_OWN = "jit njit vectorize guvectorize stencil benchmark prange device".split()
# Modules of NumPy's in which nothing is an array.
_OF_NUMPY = {"typing", "exceptions", "dtypes"}
_HIDDEN = {"ufunc", "ndarray", "core", "compat", "functions", "primitives", "measure", "test",
           "f2py", "load_ipython_extension", "distutils", *_OWN}  # fmt: skip


def main_stub():
    text = HEADER + IMPORTS + "import numpy\n"
    imports, body = "", ""
    for name in sorted(set(dir(numbus))):
        if name.startswith("_") or name in _HIDDEN:
            continue
        try:
            value = getattr(numbus, name)
        except (AttributeError, ImportError):
            continue
        if name in _OF_NUMPY:
            imports += f"from numpy import {name} as {name}\n"
            continue
        made = entry(name, value, numbus)
        if made and made.startswith("from "):
            imports += made
        elif made:
            body += made
    calls = ""
    for name, operands in CALLABLES.values():
        calls += f"class {name}(ufunc):\n    def __call__(  # type: ignore[override]\n"
        calls += f"        self, {operands}{KEYWORDS}\n    ) -> Any: ...\n"
    body = UFUNC + calls + array_class() + KERNELS + body
    # In this module `bool` is NumPy's.
    body = re.sub(r"(?<=: |> )bool\b", "_bool", body)
    return text + "from builtins import bool as _bool\n" + imports + body


def module_stub(name, names):
    module = getattr(numbus, name)
    text = HEADER + IMPORTS + "import numpy\nfrom . import ndarray\n"
    imports, body = "", ""
    for known in sorted(names):
        value = getattr(module, known)
        real = getattr(getattr(numpy, name, None), known, None)
        if isinstance(value, type) and value is real:
            imports += f"from numpy.{name} import {known} as {known}\n"
        elif not isinstance(value, types.ModuleType):
            body += entry(known, value, module) or ""
    return text + imports + body


def stubs():
    """{path: text} of all files."""
    package = ROOT / "python/numbus"
    cuda = [n for n in dir(numbus.cuda) if not n.startswith("_") and n not in ("types", "reason")]
    names = {
        "linalg": numpy.linalg.__all__,
        "fft": numpy.fft.__all__,
        "random": [n for n in numpy.random.__all__ if not n.startswith("_")],
    }
    found = {package / "__init__.pyi": main_stub(), package / "py.typed": ""}
    for name, known in names.items():
        found[package / f"{name}.pyi"] = module_stub(name, known)
    text = "".join(f"{n}: Any\n" if not inspect.isfunction(getattr(numbus.cuda, n))
                   else function(n, getattr(numbus.cuda, n)) for n in sorted(cuda))  # fmt: skip
    found[package / "cuda/__init__.pyi"] = HEADER + IMPORTS + "from .. import ndarray\n" + text
    return {path: tidy(text) for path, text in found.items()}


def tidy(text):
    """Addresses and what is not used, which would differ from run to run."""
    text = re.sub(r" at 0x[0-9a-f]+", "", text)
    for (
        name
    ) in "Callable Iterator Sequence ModuleType Literal SupportsIndex overload ArrayLike".split():
        if len(re.findall(rf"\b{name}\b", text)) == 1:
            text = re.sub(rf"(, )?\b{name}\b(, )?", lambda m: ", " if m[1] and m[2] else "", text)
    text = re.sub(r"from [\w.]+ import *\n", "", text)
    if "numpy." not in text.replace("from numpy.", ""):
        text = text.replace("import numpy\n", "")
    return text


def main():
    differs = False
    for path, text in stubs().items():
        if "--check" in sys.argv:
            differs |= not path.exists() or path.read_text() != text
        else:
            path.write_text(text)
    if differs:
        sys.exit("stubs: some differ from what the package has; run tools/stubs.py")


if __name__ == "__main__":
    main()
