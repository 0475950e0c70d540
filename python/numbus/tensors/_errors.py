"""Errors of functions of tensors, which programs written for PyTorch catch as RuntimeError."""

import builtins

from .. import _core


class _Both:
    """Shown and pickled under the name that PyTorch's programs expect."""

    def __init_subclass__(cls, /, **named):
        super().__init_subclass__(**named)
        cls.__module__ = "builtins"

    def __reduce__(self):
        return _made, (type(self).__bases__[1], self.args)


class _Value(_Both, ValueError, RuntimeError):
    pass


class _Index(_Both, IndexError, RuntimeError):
    pass


_Value.__name__ = _Value.__qualname__ = "RuntimeError"
_Index.__name__ = _Index.__qualname__ = "IndexError"
_KINDS = {builtins.ValueError: _Value, builtins.IndexError: _Index}


def _made(kind, args):
    return _KINDS[kind](*args)


def retyped(error):
    """A mistake of values, shapes or indices as an error that is a RuntimeError, too, with its
    text, traceback and notes; None for errors that stay as they are.
    """
    kind = _KINDS.get(type(error))
    if kind is None:
        return None
    made = kind(*error.args).with_traceback(error.__traceback__)
    made.__dict__.update(error.__dict__)
    made.__cause__, made.__context__ = error.__cause__, error.__context__
    made.__suppress_context__ = error.__suppress_context__
    return made


_core.set_retyping(retyped)
