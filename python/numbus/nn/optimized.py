"""`torch.compile`: functions and modules whose calls are recorded again without their code."""

import copy
import functools

from .. import _core
from ..core.compiling import Compiled
from ..core.errors import message
from .modules.module import Module

__all__ = ["compile", "compiler"]

_OP = "torch.compile"
_MODES = (None, "default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")
_BACKENDS = ("inductor", "cudagraphs", "aot_eager", "eager")
# How PyTorch's compiler builds kernels: results are the same, and kernels here are built one way.
_OPTIONS = ("epilogue_fusion", "max_autotune", "shape_padding", "triton.cudagraphs")


def compile(
    model=None, *, fullgraph=False, dynamic=None, backend="inductor", mode=None, options=None,
    disable=False,
):  # fmt: skip
    """A function or module whose calls are recorded again without their Python code.

    What it gives can be differentiated as what the function gives. The rules are those of
    `numbus.compile`; what cannot be captured is run by Python, without a warning. Of a module it is
    another module, which holds the given one as `_orig_mod`, as PyTorch's does.

    Parameters
    ----------
    model : callable, optional
        None gives a decorator.
    fullgraph : bool
        Whether calls that Python has to run raise a RuntimeError, which says why, from the call on
        at which they have been found to be such. Calls on a device whose memory the host reads (a
        CPU) are run by Python and raise nothing.
    dynamic : bool, optional
        Other sizes are captured by themselves, and compile nothing, whatever it says.
    backend : str
        "inductor", or "cudagraphs" and "aot_eager", which are the same; "eager" gives the function.
        NotImplementedError for a callable, RuntimeError for another name.
    mode : str, optional
        One of PyTorch's, else RuntimeError; all are the same.
    options : dict, optional
        NotImplementedError for any but four of PyTorch's, which decide how it builds kernels.
        RuntimeError beside a `mode`.
    disable : bool
        Whether the function is given as it is.
    """
    if dynamic not in (None, True, False):
        raise TypeError(message(_OP, "dynamic= is no bool", dynamic, "True, False or None"))
    if mode is not None and options is not None:
        raise RuntimeError(
            message(_OP, "a mode and options", f"mode={mode!r}, options={options!r}", "one of them")
        )
    if mode not in _MODES:
        raise RuntimeError(message(_OP, "an unknown mode", mode, ", ".join(map(str, _MODES))))
    for name in options or ():
        if name not in _OPTIONS:
            raise NotImplementedError(
                message(_OP, "the option is not yet available", name, ", ".join(_OPTIONS))
            )
    if not isinstance(backend, str):
        raise NotImplementedError(
            message(_OP, "graphs for a backend of one's own are not yet available", backend,
                    ", ".join(_BACKENDS))
        )  # fmt: skip
    if backend not in _BACKENDS:
        raise RuntimeError(message(_OP, "an unknown backend", backend, ", ".join(_BACKENDS)))
    if model is None:
        return lambda function: compile(
            function, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode,
            options=options, disable=disable,
        )  # fmt: skip
    if not callable(model):
        raise TypeError(message(_OP, "nothing to call", type(model).__name__, "a function"))
    if disable or backend == "eager":
        return model
    return _compiled(model, bool(fullgraph))


def _compiled(model, fullgraph):
    if isinstance(model, Module):
        return OptimizedModule(model, fullgraph)
    if isinstance(model, Compiled):
        return model
    return Compiled(model, warns=False, refuses=_broken if fullgraph else None)


def _broken(reason):
    return RuntimeError(
        message(_OP, "the function cannot be captured as a whole", reason, "fullgraph=False")
    )


class OptimizedModule(Module):
    """A module that calls another one, whose calls are compiled and whose attributes it has."""

    def __init__(self, module, fullgraph=False):
        super().__init__()
        refuses = _broken if fullgraph else None
        self.__dict__["_fullgraph"] = fullgraph
        self.__dict__["_compiled"] = Compiled(module.__call__, warns=False, refuses=refuses)
        super().__setattr__("_orig_mod", module)

    @property
    def training(self):
        """That of the module."""
        return self._orig_mod.training

    @training.setter
    def training(self, mode):
        if "_orig_mod" in self.__dict__.get("_modules", ()):
            self._orig_mod.training = mode

    def forward(self, *args, **keywords):
        """What the module gives."""
        return self._compiled(*args, **keywords)

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name == "_orig_mod":
                raise
            return getattr(self._orig_mod, name)

    def __setattr__(self, name, value):
        if name in self.__dict__ or name == "_orig_mod":
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name):
        delattr(self._orig_mod, name)

    def __deepcopy__(self, memo):
        made = memo[id(self)] = type(self)(copy.deepcopy(self._orig_mod, memo), self._fullgraph)
        return made

    def __reduce__(self):
        return _compiled, (self._orig_mod, self._fullgraph)


class compiler:
    """`torch.compiler`: what is compiled is known by itself."""

    @staticmethod
    def disable(fn=None, recursive=True):
        """The function, whose calls are run by Python, and with them what calls it."""
        if fn is None:
            return compiler.disable

        @functools.wraps(fn)
        def wrapper(*args, **keywords):
            _core.spoil_capture()
            return fn(*args, **keywords)

        return wrapper

    @staticmethod
    def is_compiling():
        """False: programs run as they are."""
        return False

    @staticmethod
    def reset():
        """Functions keep what is captured: it is compared with the program at each call."""
