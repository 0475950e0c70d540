"""cupyx.scipy.fft: the transforms that NumPy has."""

from numbus import fft as _fft

from ..._missing import getter

__name__ = "cupyx.scipy.fft"
__path__ = []  # so that Python asks us what `from … import` does not find


def next_fast_len(target, real=False):
    """The smallest number from `target` on whose only prime factors are 2, 3, 5 and 7."""
    if target < 1:
        raise ValueError(f"[next_fast_len] not a length; got {target}; expected 1 or more")
    n = int(target)
    while True:
        rest = n
        for prime in (2, 3, 5, 7):
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            return n
        n += 1


__getattr__ = getter(__name__, _fft)
