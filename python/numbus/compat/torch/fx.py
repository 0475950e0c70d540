"""torch.fx, of which the marks are served: nothing traces programs here."""

from .._missing import missing as _missing

__all__ = ["wrap"]


def wrap(fn_or_name):
    """The function as it is, which a tracer would not look into."""
    return fn_or_name


def __getattr__(name):
    return _missing("torch.fx", name)
