"""Which functions the core answers plain calls of by itself."""


def quick(name):
    """Marks a function whose plain calls bindings/quick.cpp answers under `name`, without Python.

    Its body defines what it does, and takes every other call: operands that are pending or on a
    GPU, other arguments, errors.
    """

    def mark(function):
        function.quick = name
        return function

    return mark
