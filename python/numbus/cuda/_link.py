"""Code of other languages that kernels call: what is linked, and the functions in it."""

import os
import re

from .. import _core
from ..kernels import _foreign, types

__all__ = [
    "LTOIR",
    "Archive",
    "CUSource",
    "Cubin",
    "Fatbin",
    "LinkableCode",
    "Object",
    "PTXSource",
    "declare_device",
]

# The driver's numbers of what its linker takes; CUDA C++ goes through NVRTC first.
_CUBIN, _PTX, _FATBIN, _OBJECT, _ARCHIVE, _SOURCE = range(6)
_ENDINGS = {
    ".ptx": _PTX,
    ".cubin": _CUBIN,
    ".fatbin": _FATBIN,
    ".o": _OBJECT,
    ".a": _ARCHIVE,
    ".cu": _SOURCE,
}


class LinkableCode:
    """Code in memory that cuda.jit(link=[…]) takes; data: bytes, or a str of PTX or CUDA C++."""

    kind, default_name = None, "<code>"

    def __init__(self, data, name=None, setup_callback=None, teardown_callback=None):
        if setup_callback is not None or teardown_callback is not None:
            raise NotImplementedError(
                f"[{type(self).__name__}] not yet: callbacks around the loading of code; got "
                "setup_callback or teardown_callback; expected none"
            )
        if self.kind is None:
            raise NotImplementedError(
                f"[{type(self).__name__}] not yet: linking this kind of code; got data; expected "
                "PTXSource, CUSource, Cubin, Fatbin, Object or Archive"
            )
        if not isinstance(data, (str, bytes, bytearray, memoryview)):
            raise TypeError(
                f"[{type(self).__name__}] not code; got {type(data).__name__}; expected bytes or "
                "str"
            )
        self.data = data.encode() if isinstance(data, str) else bytes(data)
        self.name = name or self.default_name


def _kind(name, number, what):
    doc = f"{what} in memory, to link."
    members = {"kind": number, "default_name": f"<{what}>", "__doc__": doc, "__module__": __name__}
    return type(name, (LinkableCode,), members)


PTXSource = _kind("PTXSource", _PTX, "PTX")
CUSource = _kind("CUSource", _SOURCE, "CUDA C++")
Cubin = _kind("Cubin", _CUBIN, "cubin")
Fatbin = _kind("Fatbin", _FATBIN, "fatbin")
Object = _kind("Object", _OBJECT, "object")
Archive = _kind("Archive", _ARCHIVE, "archive")
LTOIR = _kind("LTOIR", None, "LTO-IR")


def checked(given, op):
    """What is to be linked, as a list; a mistake in it is told where it is named."""
    items = [given] if isinstance(given, (str, os.PathLike, LinkableCode)) else list(given)
    for item in items:
        if isinstance(item, LinkableCode):
            continue
        if not isinstance(item, (str, os.PathLike)):
            raise TypeError(
                f"[{op}] not code to link; got {type(item).__name__}; expected the path of a file, "
                "or PTXSource, CUSource, Cubin, Fatbin, Object or Archive"
            )
        ending = os.path.splitext(os.fspath(item))[1]
        if ending not in _ENDINGS:
            raise ValueError(
                f"[{op}] no such kind of file to link; got {os.fspath(item)!r}; expected a name "
                f"that ends in {', '.join(_ENDINGS)}"
            )
    return items


def _code(item):
    """(kind, name, bytes) of one item, as the driver's linker takes it."""
    if isinstance(item, LinkableCode):
        kind, name, data = item.kind, item.name, item.data
    else:
        name = os.fspath(item)
        kind = _ENDINGS[os.path.splitext(name)[1]]
        with open(name, "rb") as file:
            data = file.read()
    if kind != _SOURCE:
        return kind, name, data.rstrip(b"\0") if kind == _PTX else data
    folder = os.path.dirname(os.path.abspath(name))
    major, minor = _core.cuda_properties()["compute_capability"]
    options = [
        f"--gpu-architecture=compute_{10 * major + minor}",
        "--relocatable-device-code=true",
        f"-I{folder}",
    ]
    return _PTX, name, _core.nvrtc_compile(data.decode(), os.path.basename(name), options)


# What declared functions ask to be linked, by number; 0 is nothing.
_of_declared = [()]


def linker(items, op):
    """What gives the core the code of a kernel, once for each combination of argument types."""

    def given(numbers, called):
        every = [*items]
        for number in numbers:
            every += [i for i in _of_declared[number] if not any(i is e for e in every)]
        if called and not every:
            raise RuntimeError(
                f"[{op}] nothing is linked that has the function {called[0]}(); got no link=…; "
                "expected cuda.jit(link=[…]) with the files that it is in"
            )
        unique = {}
        for item in every:
            key = item if isinstance(item, LinkableCode) else os.path.abspath(os.fspath(item))
            unique.setdefault(key, item)
        return [_code(item) for item in unique.values()]

    return given


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*\Z")


def function_name(name, op):
    """The name, where PTX can have it."""
    if not isinstance(name, str) or not _NAME.match(name):
        raise ValueError(
            f"[{op}] not a name of a function in PTX; got {name!r}; expected letters of ASCII, "
            "digits and _"
        )
    return name


def pointed(t, op):
    """A parameter's type as kernels have it: an array without an end for a pointer."""
    if t.tag == "pointer":
        return types.Array(number_of(t.items[0], op), 1, "C")
    return number_of(t, op)


def number_of(t, op):
    """The type, where C passes it as kernels have it."""
    if t.tag != "number" or str(t.dtype) in ("float16", "bfloat16", "complex64", "complex128"):
        raise NotImplementedError(
            f"[{op}] not yet: this type in a function of other code; got {t!r}; expected bool, "
            "integers, float32, float64, CPointer of these"
        )
    return t


class DeclaredFunction(_foreign.Linked):
    """A function of other code, which kernels call: what declare_device() gives."""

    def __init__(self, name, signature, link, abi):
        arguments, result = types.signature(signature)
        if result is None:
            raise TypeError(
                f"[declare_device] the signature names no result; got {signature!r}; expected such "
                "as 'float32(float32, int32)'"
            )
        for t in arguments:
            number_of(t.items[0] if t.tag == "pointer" else t, "declare_device")
        if result.tag != "none":
            number_of(result, "declare_device")
        self.name = self.__name__ = function_name(name, "declare_device")
        self.sig = types.Signature(result, arguments)
        self.abi = abi
        self.number = 0
        if link is not None:
            self.number = len(_of_declared)
            _of_declared.append(checked(link, "declare_device"))

    def codes(self, dtype_number):
        """The types of the result and of the parameters, as frontend/foreign.cpp reads them."""

        def code(t):
            if t.tag == "pointer":
                return f"p{dtype_number(t.items[0].dtype)}"
            return "v" if t.tag == "none" else f"n{dtype_number(t.dtype)}"

        return [code(self.sig.return_type), *map(code, self.sig.args)]

    def __call__(self, *args):
        raise RuntimeError(
            f"[{self.name}] called outside of a kernel; expected to stand inside a function "
            "decorated with @cuda.jit"
        )

    def __repr__(self):
        return f"<declared {self.name}: {self.sig!r}>"


def declare_device(name, sig, link=None, use_cooperative=False, abi="numba"):
    """A function of other code that kernels call: declare_device('f', 'float32(float32)').

    By Numba's ABI its first parameter is where the result goes, and it returns 0 (in CUDA C++
    `extern "C" __device__ int f(float* result, float x)`); abi="c": it returns its result. The code
    is what `link` here or of cuda.jit names.
    """
    if abi not in ("numba", "c"):
        raise ValueError(f"[declare_device] no such ABI; got {abi!r}; expected 'numba' or 'c'")
    if use_cooperative:
        raise NotImplementedError(
            f"[declare_device] not yet: functions that wait for the whole grid; got {name} with "
            "use_cooperative=True; expected False"
        )
    return DeclaredFunction(name, sig, link, abi)
