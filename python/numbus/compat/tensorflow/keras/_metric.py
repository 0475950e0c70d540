"""The metric of Keras that others are kinds of."""

from ....core.errors import message
from .. import _ops
from .._tensor import Variable
from . import initializers
from ._layers import new_name


class Metric:
    """What batches add to: `update_state`, `result`, `reset_state`.

    Subclasses make variables by `add_variable`, or keep arrays that they change in place and that
    are read when they are asked for.
    """

    _direction = None  # "up" or "down": what is better

    def __init__(self, name=None, dtype=None):
        if str(dtype) not in ("None", "float32"):
            raise NotImplementedError(
                message(type(self).__name__, "a dtype that is not yet available", dtype,
                        "'float32'")
            )  # fmt: skip
        self.name = name or new_name(type(self).__name__)
        self.dtype = "float32"
        self._made = []

    def add_variable(self, shape=(), initializer="zeros", dtype=None, name=None, **options):
        """A variable that `reset_state` sets to 0."""
        if options.pop("aggregation", None) not in (None, "sum", "mean") or options:
            raise TypeError(message("add_variable", "unknown options", sorted(options), "none"))
        given = initializers.get(initializer)(tuple(shape), dtype or self.dtype)
        made = Variable(given, False, name or "variable")
        self._made.append(made)
        return made

    def add_weight(self, shape=(), initializer="zeros", dtype=None, name=None, **options):
        """`add_variable`; also by `add_weight(name)`, as older programs have it."""
        if isinstance(shape, str):
            shape, name = (), shape
        return self.add_variable(shape, initializer, dtype, name, **options)

    @property
    def variables(self):
        """The variables of `add_variable`."""
        return list(self._made)

    def update_state(self, *args, **keywords):
        """Adds a batch."""
        raise NotImplementedError(message(self.name, "no update_state()", type(self), "a method"))

    def result(self):
        """The value so far."""
        raise NotImplementedError(message(self.name, "no result()", type(self), "a method"))

    def reset_state(self):
        """Begins anew."""
        for v in self._made:
            v.assign(_ops.zeros(tuple(v.shape), v.dtype))

    def reset_states(self):
        """`reset_state`."""
        self.reset_state()

    def __call__(self, *args, **keywords):
        self.update_state(*args, **keywords)
        return self.result()
