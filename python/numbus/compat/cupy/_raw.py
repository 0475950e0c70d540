"""RawKernel and RawModule: CUDA C++, compiled by NVIDIA's NVRTC for the GPU in use."""

import ctypes
import re

import numpy

from numbus import _core
from numbus.cuda._kernels import dimensions
from numbus.cuda._streams import core_stream

from ._parameters import argument
from .cuda.compiler import CompileException
from .cuda.stream import get_current_stream

_INSTEAD = "ElementwiseKernel, ReductionKernel or numba.cuda.jit, which also run on a CPU"


def own_stream(stream):
    """The core's stream of a Stream, of the current one for None; None is the device's own."""
    return core_stream(getattr(get_current_stream() if stream is None else stream, "_stream", 0))


def require(what):
    """Raises RuntimeError where CUDA C++ cannot run, with what is missing."""
    if not _core.cuda_available():
        raise RuntimeError(
            f"[{what}] CUDA C++ runs on NVIDIA GPUs only; got none that can be used: "
            f"{_core.cuda_reason()}; expected a GPU with its driver, or {_INSTEAD}"
        )
    if not _core.is_default_gpu():
        raise RuntimeError(
            f"[{what}] CUDA C++ runs on NVIDIA GPUs only; got {_core.get_device()} as the device "
            f"in use; expected NUMBUS_DEVICE=cuda, or {_INSTEAD}"
        )
    for name in ("nvrtc_compile", "nvrtc_compile_named", "CudaModule"):
        if not hasattr(_core, name):
            raise RuntimeError(
                f"[{what}] this build of Numbus cannot compile CUDA C++; got no {name}; expected "
                f"a build with NVRTC, or {_INSTEAD}"
            )


def packed(a, what, size=None):
    """An argument as the core takes it: an array, a NumPy scalar or bytes.

    Python's int, float and complex are C's long long, double and complex<double>; an int is C's
    int where the kernel takes one. size: the bytes that the kernel takes, where that is known.
    """
    if isinstance(a, (_core.ndarray, _core.generic)):
        return argument(a, what)
    if isinstance(a, bool):
        return numpy.bool_(a)
    if isinstance(a, int):
        if size == 4 and -(2**31) <= a < 2**32:
            return numpy.int32(a) if a < 2**31 else numpy.uint32(a)
        return numpy.int64(a) if a < 2**63 else numpy.uint64(a)
    if isinstance(a, float):
        return numpy.float64(a)
    if isinstance(a, complex):
        return numpy.complex128(a)
    if isinstance(a, numpy.void):
        return a.tobytes()
    if isinstance(a, numpy.generic):
        return a
    if isinstance(a, numpy.ndarray) and a.dtype.fields is not None and a.size == 1:
        return a.tobytes()
    if isinstance(a, numpy.ndarray):
        raise TypeError(
            f"[{what}] an argument that lies on the host; got a NumPy array; expected "
            "cupy.asarray(array)"
        )
    if isinstance(a, (ctypes.Structure, ctypes._SimpleCData)):
        return bytes(a)
    if hasattr(a, "ptr"):
        return numpy.uint64(int(a.ptr))
    if a is None:
        return numpy.uint64(0)
    return argument(a, what)


_SIZE = re.compile(r"argument (\d+) has another size; got 8 bytes; expected 4 bytes")


class Function:
    """A kernel of a module: function(grid, block, arguments, shared_mem=0, stream=None)."""

    def __init__(self, module, name, cooperative=False):
        self.name, self._module, self._cooperative = name, module, cooperative
        self._function = module.function(name)
        self._short = set()  # the arguments of which the kernel reads 4 bytes

    def __call__(self, grid, block, args, *, shared_mem=0, stream=None):
        grid, block = dimensions(grid, "the grid"), dimensions(block, "the block")
        while True:
            given = [
                packed(a, self.name, 4 if k in self._short else None) for k, a in enumerate(args)
            ]
            try:
                self._function.launch(
                    grid, block, int(shared_mem), given, self._cooperative, own_stream(stream)
                )
                return
            except TypeError as error:
                # Python's ints become C's int where the kernel takes one, which the launch tells.
                found = _SIZE.search(str(error))
                k = int(found[1]) if found else len(args)
                if k >= len(args) or type(args[k]) is not int or k in self._short:
                    raise
                self._short.add(k)

    @property
    def attributes(self):
        """Registers, bytes of memory and threads of the kernel, by name."""
        return dict(self._function.attributes)


class Module:
    """Machine code or PTX that is loaded: get_function, get_global."""

    def __init__(self):
        self._module = None

    def load(self, image):
        """Loads bytes."""
        require("Module")
        self._module = _core.CudaModule(bytes(image))

    def load_file(self, filename):
        """Loads a file of machine code or PTX."""
        with open(filename, "rb") as stream:
            self.load(stream.read())

    def get_function(self, name, cooperative=False):
        """A kernel by its name; cooperative: its blocks wait for each other."""
        return Function(self._module, name, cooperative)

    def get_global_var(self, name):
        """A MemoryPointer to a global variable."""
        from .cuda.memory import MemoryPointer, UnownedMemory

        address, size = self._module.global_pointer(name)
        return MemoryPointer(UnownedMemory(address, size, self._module), 0)


def _compiled(what, code, name, options, expressions=()):
    """(a loaded Module of CUDA C++, {C++ name: symbol})."""
    require(what)
    symbols = {}
    try:
        if expressions:
            image, symbols = _core.nvrtc_compile_named(code, name, list(options), list(expressions))
        else:
            image = _core.nvrtc_compile(code, name, list(options))
    except RuntimeError as error:
        raise CompileException(str(error)) from None
    made = Module()
    made.load(image)
    return made, symbols


def _attribute(name, doc):
    def read(self):
        return self.attributes[name]

    return property(read, doc=doc)


def _check_options(what, options):
    if not isinstance(options, tuple) or not all(isinstance(o, str) for o in options):
        raise TypeError(
            f"[{what}] options are no tuple of texts; got {options!r}; expected such as "
            "('-std=c++17',)"
        )


def _refuse(what, **given):
    """Raises for options that ask for a translation of the text, which there is none of."""
    for name, value in given.items():
        if value:
            raise NotImplementedError(
                f"[{what}] the text goes to the compiler as it is; got {name}={value!r}; expected "
                "CUDA C++ for NVRTC"
            )


class RawKernel:
    """A kernel written in CUDA C++: RawKernel(code, name)(grid, block, arguments).

    code: holds `extern "C" __global__ void name(…)`. options: a tuple for NVRTC. Compiled at the
    first call, for the GPU in use. Arrays are passed as pointers to their first elements; Python's
    int is long long, float is double. Raises RuntimeError where there is no GPU or no NVRTC, with
    what is missing; CompileException with the compiler's log.
    """

    def __init__(
        self, code, name, options=(), backend="nvrtc", translate_cucomplex=False, *,
        enable_cooperative_groups=False, jitify=False,
    ):  # fmt: skip
        _refuse("RawKernel", translate_cucomplex=translate_cucomplex, jitify=jitify)
        _check_options("RawKernel", options)
        if backend != "nvrtc":
            raise NotImplementedError(
                f"[RawKernel] no such compiler; got backend={backend!r}; expected 'nvrtc'"
            )
        self.code, self.name, self.options, self.backend = code, name, options, backend
        self.enable_cooperative_groups = enable_cooperative_groups
        self._function = None

    @property
    def kernel(self):
        """The compiled Function."""
        if self._function is None:
            module, _ = _compiled("RawKernel", self.code, self.name, self.options)
            self._function = module.get_function(self.name, self.enable_cooperative_groups)
        return self._function

    def compile(self, log_stream=None):
        """Compiles now rather than at the first call."""
        self.kernel  # noqa: B018

    def __call__(self, grid, block, args, *, shared_mem=0, stream=None):
        self.kernel(grid, block, args, shared_mem=shared_mem, stream=stream)

    @property
    def attributes(self):
        """Registers, bytes of memory and threads of the kernel, by name."""
        return self.kernel.attributes

    num_regs = _attribute("num_regs", "Registers of a thread.")
    shared_size_bytes = _attribute("shared_size_bytes", "Bytes of static shared memory.")
    local_size_bytes = _attribute("local_size_bytes", "Bytes of local memory of a thread.")
    const_size_bytes = _attribute("const_size_bytes", "Bytes of constant memory.")
    max_threads_per_block = _attribute("max_threads_per_block", "Threads of a block, at most.")

    def __repr__(self):
        return f"<cupy.RawKernel {self.name}>"


class RawModule:
    """CUDA C++ with several kernels, or a file of machine code: RawModule(code=…) or (path=…).

    get_function(name) gives a kernel, get_global(name) a MemoryPointer to a variable. Compiled at
    the first of these. name_expressions: C++ names such as 'f<float>', to ask get_function for.
    """

    def __init__(
        self, *, code=None, path=None, options=(), backend="nvrtc", translate_cucomplex=False,
        enable_cooperative_groups=False, name_expressions=None, jitify=False,
    ):  # fmt: skip
        if (code is None) == (path is None):
            raise TypeError(
                "[RawModule] one of code and path is needed; got both or none; expected one"
            )
        _refuse("RawModule", translate_cucomplex=translate_cucomplex, jitify=jitify)
        _check_options("RawModule", options)
        if name_expressions and code is None:
            raise ValueError(
                "[RawModule] name_expressions are for C++ text; got a path; expected code=…"
            )
        if backend != "nvrtc":
            raise NotImplementedError(
                f"[RawModule] no such compiler; got backend={backend!r}; expected 'nvrtc'"
            )
        self.code, self.file_path, self.options, self.backend = code, path, options, backend
        self.enable_cooperative_groups = enable_cooperative_groups
        self.name_expressions = tuple(name_expressions or ())
        self._module, self._symbols = None, {}

    @property
    def module(self):
        """The loaded Module."""
        if self._module is None:
            require("RawModule")
            if self.code is not None:
                self._module, self._symbols = _compiled(
                    "RawModule", self.code, "module", self.options, self.name_expressions
                )
            else:
                made = Module()
                made.load_file(self.file_path)
                self._module = made
        return self._module

    def compile(self, log_stream=None):
        """Compiles now rather than at the first use."""
        self.module  # noqa: B018

    def get_function(self, name):
        """A kernel by its name, or by one of the name_expressions."""
        module = self.module
        found = self._symbols.get(name, name)
        return module.get_function(found, self.enable_cooperative_groups)

    def get_global(self, name):
        """A MemoryPointer to a global variable."""
        return self.module.get_global_var(name)
