"""fuse, memoize and the like."""

import functools

import numbus
from numbus import _core

from ._convert import array


def fuse(*args, kernel_name=None, multi_kernel=False):
    """The function as it is: chains of operations are fused anyway. As @fuse or @fuse(…).

    Raises TypeError for anything but a function.
    """

    def same(function):
        if not callable(function):
            raise TypeError(f"[fuse] not a function; got {function!r}; expected a function")
        return function

    if len(args) > 1:
        raise TypeError(f"[fuse] too many arguments; got {len(args)}; expected a function")
    return same(args[0]) if args else same


class vectorize:
    """A Python function of numbers as one of arrays, compiled: vectorize(f)(x, y).

    otypes: the result's type, where it is not what the function gives. Raises NotImplementedError
    for excluded= and signature=, CompileError where the function does not compile.
    """

    def __init__(self, pyfunc, otypes=None, doc=None, excluded=None, cache=False, signature=None):
        if excluded is not None or signature is not None:
            raise NotImplementedError(
                "[vectorize] not supported; got excluded or signature; expected a function of "
                "numbers"
            )
        self.pyfunc, self.otypes = pyfunc, otypes
        self.__doc__ = doc or pyfunc.__doc__
        self._made = numbus.vectorize(pyfunc)

    def __call__(self, *args):
        made = self._made(*[a if isinstance(a, (int, float, complex)) else array(a, copy=False)
                            for a in args])  # fmt: skip
        kinds = self.otypes if isinstance(self.otypes, (list, tuple, str)) else [self.otypes]
        return made if self.otypes is None else made.astype(kinds[0])


_memos = []


def memoize(for_each_device=False):
    """Makes a function keep its results: @memoize(). for_each_device: one for each device."""

    def decorate(function):
        known = {}
        _memos.append(known)

        @functools.wraps(function)
        def remembered(*args, **kwargs):
            key = (
                _core.get_device() if for_each_device else "",
                args,
                tuple(sorted(kwargs.items())),
            )
            if key not in known:
                known[key] = function(*args, **kwargs)
            return known[key]

        return remembered

    return decorate


def clear_memo():
    """Forgets the results of all functions made by memoize."""
    for known in _memos:
        known.clear()


def is_available():
    """Whether there is a device for kernels: always, as the CPU stands in for a missing GPU."""
    return True


def show_config(*, _full=False):
    """Prints devices, versions and libraries."""
    from ..info import text

    print(text())
