"""tf.distribute: the strategy of one device."""

import contextlib as _contextlib

from .._missing import missing as _missing

__name__ = "tensorflow.distribute"


class MirroredStrategy:
    """One replica, on the device of new arrays."""

    num_replicas_in_sync = 1

    def __init__(self, devices=None):
        given = [devices] if isinstance(devices, str) else list(devices or [])
        if len(given) > 1:
            _missing("tf.distribute", f"MirroredStrategy({given})", "one device")

    @_contextlib.contextmanager
    def scope(self):
        """A block in which a model is made."""
        yield self

    def run(self, fn, args=(), kwargs=None):
        """`fn(*args, **kwargs)`."""
        return fn(*args, **(kwargs or {}))

    def reduce(self, reduce_op, value, axis=None):
        """The value, of one replica; over an axis its sum or mean."""
        if axis is None:
            return value
        from ._ops import REDUCTIONS

        name = str(getattr(reduce_op, "name", reduce_op)).lower()
        return REDUCTIONS[f"reduce_{name}"](value, axis)

    def experimental_distribute_dataset(self, dataset):
        """The data set itself."""
        return dataset


OneDeviceStrategy = MirroredStrategy


class ReduceOp:
    """How values of replicas are combined."""

    SUM, MEAN = "SUM", "MEAN"


def get_strategy():
    """The strategy of one device."""
    return MirroredStrategy()


def __getattr__(name):
    return _missing("tf.distribute", name)
