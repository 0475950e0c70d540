"""jax.debug: printing and calls, at once: what calls them runs as Python."""

from ... import _core
from .._missing import missing as _missing

__name__ = "jax.debug"


def print(fmt, *args, ordered=False, **keywords):
    """Prints a text with `{}` for arguments; in order anyway."""
    if not isinstance(ordered, bool):
        raise TypeError(f"[debug.print] ordered is no bool; got {ordered!r}; expected True, False")
    import builtins

    _core.spoil_capture()
    builtins.print(fmt.format(*args, **keywords))


def callback(callback, *args, ordered=False, **keywords):
    """Calls a function of arrays."""
    if not isinstance(ordered, bool):
        raise TypeError(f"[callback] ordered is no bool; got {ordered!r}; expected True, False")
    _core.spoil_capture()
    callback(*args, **keywords)


def __getattr__(name):
    return _missing("jax.debug", name)
