"""Which functions the core answers plain calls of, by itself or by NumPy's own."""


def quick(name):
    """Marks a function whose plain calls bindings/quick.cpp answers under `name`, without Python.

    Its body defines what it does, and takes every other call: operands that are pending or on a
    GPU, other arguments, errors.
    """

    def mark(function):
        function.quick = name
        return function

    return mark


_FEW = 4096  # elements with which a call costs more than what NumPy does in it
FUSING = 512  # the same of what fuses with its surroundings where it is recorded


def few(original, most=_FEW, writes=False):
    """Marks a function whose calls of few elements, at rest on the host, NumPy's `original` answers
    on their memory (bindings/quick_library.cpp): what that refuses is left to the function.

    most: elements of an operand; writes: to the first operand, so that calls whose operands share
    memory are the function's. Only for results that have the same bits either way: no sums of
    floats, no approximations.
    """

    return _answered(original, few_most=most, **({"few_writes": True} if writes else {}))


def draws(original, method, most):
    """The same for functions that draw random numbers, or methods of a generator that do; calls
    that may ask for more than `most` numbers are the function's.
    """
    return _answered(original, draws=method, few_most=most)


def makes(original, most=FUSING):
    """The same for functions that make arrays of numbers, the same bits as `original`; calls whose
    integers may ask for more than `most` elements are the function's.
    """
    return _answered(original, few_makes=True, few_most=most)


def _answered(original, **more):
    def mark(function):
        vars(function).update(more)
        # Without the question of whether an operand has a function of its own.
        function.few = getattr(original, "_implementation", original)
        return function

    return mark
