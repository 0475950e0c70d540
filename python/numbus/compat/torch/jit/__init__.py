"""torch.jit, as far as programs run the same without it: what is to be compiled runs as Python."""

from typing import Final

from ....nn import Module
from ..._missing import missing as _missing

__all__ = [
    "Final", "ScriptFunction", "ScriptModule", "annotate", "export", "ignore", "interface",
    "is_scripting", "is_tracing", "script", "script_method", "unused",
]  # fmt: skip


class ScriptModule(Module):
    """A module that is compiled: there is none here."""


class ScriptFunction:
    """A function that is compiled: there is none here."""


def annotate(the_type, the_value):
    """The value itself, whatever type a compiler is told."""
    del the_type
    return the_value


def script(obj):
    """The function, class or module itself."""
    return obj


def script_method(fn):
    """The method itself."""
    return fn


def export(fn):
    """The method itself."""
    return fn


def unused(fn):
    """The method itself."""
    return fn


def interface(obj):
    """The class itself."""
    return obj


def ignore(drop=False, **_keywords):
    """The method itself, as a decorator with or without arguments."""
    return drop if callable(drop) else (lambda fn: fn)


def is_scripting():
    """Whether a compiler of scripts is at work: never."""
    return False


def is_tracing():
    """Whether calls are traced: never."""
    return False


def __getattr__(name):
    return _missing("torch.jit", name)
