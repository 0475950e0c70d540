"""Steps of optimizers as formulas: written once in Python, recorded for all parameters at once."""

import functools

from .. import _core
from ..core.compiling import renew
from ..core.errors import message
from ..functions import names as np

__all__ = ["Formula", "maximum_into", "square_root"]

_ARRAY, _NUMBER, _RESULT = range(3)


class _Value:
    """An array, a number or a result of a formula that is being written down."""

    def __init__(self, steps, kind, at):
        self.steps, self.kind, self.at = steps, kind, at

    def _step(self, op, *operands, into=-1):
        self.steps.append((op, into, [(x.kind, x.at) for x in operands]))
        return _Value(self.steps, _RESULT, len(self.steps) - 1)

    def _in_place(self, op, other):
        if self.kind != _ARRAY:
            raise TypeError(
                message("formula", "a step in place of what is no array", op, "an array's name")
            )
        self._step(op, self, other, into=self.at)
        return self

    def __add__(self, other):
        return self._step("add", self, other)

    def __sub__(self, other):
        return self._step("subtract", self, other)

    def __mul__(self, other):
        return self._step("multiply", self, other)

    def __truediv__(self, other):
        return self._step("divide", self, other)

    def __neg__(self):
        return self._step("negative", self)

    def __iadd__(self, other):
        return self._in_place("add", other)

    def __isub__(self, other):
        return self._in_place("subtract", other)

    def __imul__(self, other):
        return self._in_place("multiply", other)


def square_root(x):
    """The square root of an array, or of a value of a formula."""
    return x._step("sqrt", x) if isinstance(x, _Value) else np.sqrt(x)


def maximum_into(most, x):
    """Stores the larger of the elements in `most`, an array or a value of a formula."""
    if isinstance(most, _Value):
        most._in_place("maximum", x)
    else:
        np.maximum(most, x, out=most)


class Formula:
    """What a function of arrays and numbers does, which it changes in place by elementwise steps.

    function : callable
        Takes `arrays` arrays, then `numbers` numbers. It is called once; it may use +, -, *, /,
        their in-place forms on arrays, `square_root` and `maximum_into`.
    """

    def __init__(self, function, arrays, numbers):
        steps = []
        function(
            *(_Value(steps, _ARRAY, k) for k in range(arrays)),
            *(_Value(steps, _NUMBER, k) for k in range(numbers)),
        )
        self._formula = _core.Formula(steps, arrays, numbers)

    def __call__(self, arrays, numbers, *args):
        """Records the steps for each tuple of arrays with a tuple of numbers.

        `numbers(*args)` gives these, once for each step of an optimizer.
        """
        self._formula.record(arrays, numbers(*args))
        if _core.capturing_step():
            renew(functools.partial(numbers, *args))

    @staticmethod
    def cached(make):
        """A function of settings that makes a formula, once for equal settings."""
        return functools.lru_cache(64)(make)
