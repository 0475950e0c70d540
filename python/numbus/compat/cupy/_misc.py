"""fuse, memoize and the like."""

import functools

from numbus import _core


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
