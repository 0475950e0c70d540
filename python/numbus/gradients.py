"""Derivatives of Python functions of arrays: what a function does is recorded while it runs,
whatever its control flow, and differentiated from its last operation to its first.
"""

import functools

import numpy

from . import _core
from ._core import generic, ndarray
from .core import derivatives, trees
from .core.dtypes import kind_of
from .core.errors import message
from .core.operands import to_ndarray
from .functions.joining import stack

__all__ = [
    "checkpoint", "custom_gradient", "detect_anomaly", "grad", "jacobian", "jvp", "stop_gradient",
    "value_and_grad", "vjp",
]  # fmt: skip


def _is_array(leaf):
    return isinstance(leaf, (ndarray, generic, numpy.ndarray, numpy.generic, float, complex))


def _own(name, leaf):
    """A floating-point argument as an array of its own, which the function may write to."""
    if not _is_array(leaf):
        raise TypeError(
            message(name, "an argument without a gradient", type(leaf).__name__,
                    "arrays of a float or complex dtype, or floats")
        )  # fmt: skip
    a = to_ndarray(leaf)
    if kind_of(a.dtype) not in "fc":
        raise TypeError(
            message(name, "an argument without a gradient", f"dtype {a.dtype}",
                    "a float or complex dtype (x.astype(float))")
        )  # fmt: skip
    return _core.copy_of(a)


class _Call:
    """One run of a function whose arguments `argnums` are watched.

    arrays: its value is a tree of arrays, which `arrays` and `shape` are then; of a pair with
    `has_aux` the first.
    """

    def __init__(self, name, function, argnums, args, keywords, arrays=False, has_aux=False):
        self.name = name
        self.one = isinstance(argnums, int)
        self.numbers = self._numbers(argnums, len(args))
        self.program = _core.Program()
        self.shapes, self.watched = [], []
        given = list(args)
        for k in self.numbers:
            leaves, shape = trees.flatten(args[k])
            own = [_own(name, leaf) for leaf in leaves]
            self.shapes.append((shape, len(own)))
            self.watched += own
            given[k] = trees.unflatten(shape, own)
        for a in self.watched:
            self.program.watch(a)
        with self.program:
            self.result = function(*given, **keywords)
            if arrays:  # numbers are copied into arrays, which has to be recorded
                value = self.result[0] if has_aux else self.result
                self.arrays, self.shape = _outputs(name, value)

    def _numbers(self, argnums, count):
        numbers = (argnums,) if self.one else tuple(argnums)
        for k in numbers:
            if not isinstance(k, int) or not -count <= k < count:
                raise ValueError(
                    message(self.name, "no argument of that number", f"argnums {k}",
                            f"positional arguments, of which there are {count}")
                )  # fmt: skip
        numbers = tuple(k % count for k in numbers)
        if len(set(numbers)) < len(numbers):
            raise ValueError(
                message(self.name, "an argument twice", f"argnums {argnums}", "each number once")
            )
        return numbers

    def pull(self, outputs, seeds):
        """The derivatives, as trees like the arguments."""
        flat = iter(self.program.gradient(outputs, seeds, self.watched))
        made = [
            trees.unflatten(shape, [next(flat) for _ in range(count)])
            for shape, count in self.shapes
        ]
        return made[0] if self.one else tuple(made)


def _scalar(name, value):
    """The value of a function whose gradient is asked for, as an array."""
    a = value if isinstance(value, (ndarray, generic)) else None
    if a is None and isinstance(value, (float, complex, numpy.generic, numpy.ndarray)):
        a = to_ndarray(value)  # it depends on nothing that is watched
    if a is None or a.ndim != 0 or kind_of(a.dtype) != "f":
        got = type(value).__name__
        if a is not None:
            got = f"shape {a.shape} and dtype {a.dtype}"
        raise TypeError(
            message(name, "the function's value is not a real floating-point number", got,
                    "a 0-d float (x.sum(), x.mean(); nb.jacobian or nb.vjp for arrays)")
        )  # fmt: skip
    return a


def value_and_grad(function, argnums=0, has_aux=False):
    """A function that gives the value of `function` and its gradient.

    Parameters
    ----------
    function : callable
        Takes arrays, or dicts, lists and tuples of them, in the arguments that `argnums` names, and
        returns a real floating-point number (0-d). Everything else about it is plain Python: loops,
        branches on values, in-place writes, views. It works on copies of these arguments.
    argnums : int or sequence of int, default 0
        The positional arguments to differentiate by. Their leaves are arrays of a float or complex
        dtype, or Python floats.
    has_aux : bool, default False
        Whether `function` returns a pair of the number and anything else, which is passed on.

    Returns
    -------
    callable
        Of the same arguments; it returns ``(value, gradient)``, or ``((value, aux), gradient)``.
        The gradient has the tree, shapes and dtypes of the argument, a tuple of those if `argnums`
        is a sequence. Of complex numbers x + iy it is d/dx + i d/dy.

    Raises
    ------
    TypeError
        For arguments or a value that are not floating point, and where elements that depend on the
        arguments are read by code without a derivative (`float(x)`, `numpy.asarray(x)`).
    ValueError
        For operations without a derivative (such as `floor`), with the line.
    NotImplementedError
        For operations whose derivative is not yet available, with the line.

    Notes
    -----
    Reverse-mode automatic differentiation (Griewank and Walther, Evaluating Derivatives, 2008).
    Where elements tie for a maximum or minimum they share its derivative.
    """

    @functools.wraps(function)
    def wrapper(*args, **keywords):
        call = _Call("value_and_grad", function, argnums, args, keywords)
        value, aux = call.result if has_aux else (call.result, None)
        a = _scalar("value_and_grad", value)
        found = call.pull([a], [_core.filled_like(a, 1)])
        return ((value, aux) if has_aux else value), found

    return wrapper


def grad(function, argnums=0, has_aux=False):
    """A function that gives the gradient of `function`: `value_and_grad` without the value.

    With `has_aux` it returns ``(gradient, aux)``. The gradient of a gradient works.
    """
    both = value_and_grad(function, argnums, has_aux)

    @functools.wraps(function)
    def wrapper(*args, **keywords):
        value, found = both(*args, **keywords)
        return (found, value[1]) if has_aux else found

    return wrapper


def _outputs(name, tree):
    """The floating-point arrays among the leaves of a result, and their numbers."""
    leaves, shape = trees.flatten(tree)
    arrays = [to_ndarray(leaf) if _is_array(leaf) else leaf for leaf in leaves]
    for a in arrays:
        if not isinstance(a, ndarray) or kind_of(a.dtype) not in "fc":
            raise TypeError(
                message(name, "a result without a derivative", getattr(a, "dtype", type(a)),
                        "arrays of a float or complex dtype")
            )  # fmt: skip
    return arrays, shape


def _seeds(name, tree, arrays):
    """Arrays like `arrays` from a tree like the result."""
    leaves, _ = trees.flatten(tree)
    if len(leaves) != len(arrays):
        raise ValueError(
            message(name, "another tree than the result", f"{len(leaves)} leaves",
                    f"{len(arrays)}")
        )  # fmt: skip
    made = []
    for leaf, a in zip(leaves, arrays, strict=True):
        s = to_ndarray(leaf)
        if s.shape != a.shape:
            raise ValueError(message(name, "another shape than the result", s.shape, a.shape))
        made.append(s if s.dtype == a.dtype else s.astype(a.dtype))
    return made


def vjp(function, *args, has_aux=False):
    """The value of `function` and the products of vectors with its Jacobian.

    Returns ``(value, pull)``, with `has_aux` ``(value, pull, aux)``. ``pull(v)`` takes a tree of
    the value's shapes and returns a tuple with the derivative of the sum of the products of `v` and
    the value by each argument; it may be called repeatedly. All arguments and results are trees of
    floating-point arrays.
    """
    call = _Call("vjp", function, tuple(range(len(args))), args, {}, True, has_aux)
    value, aux = call.result if has_aux else (call.result, None)

    def pull(v):
        return call.pull(call.arrays, _seeds("vjp", v, call.arrays))

    return (value, pull, aux) if has_aux else (value, pull)


def jvp(function, args, tangents):
    """The value of `function` and its derivative along `tangents`: ``(value, tangent)``.

    `args` and `tangents` are tuples of the same trees of floating-point arrays. The derivative is
    found as that of a product of a vector and the Jacobian by the vector.
    """
    if not isinstance(args, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise TypeError(
            message("jvp", "arguments are not a tuple", type(args).__name__,
                    "a tuple of arguments and one of tangents")
        )  # fmt: skip
    outer = _core.Program()
    with outer:
        call = _Call("jvp", function, tuple(range(len(args))), tuple(args), {}, True)
        vectors = [_core.filled_like(a, 0) for a in call.arrays]
        for v in vectors:
            outer.watch(v)
        pulled, _ = trees.flatten(call.pull(call.arrays, vectors))
        pulled = [to_ndarray(p) for p in pulled]
    seeds = _seeds("jvp", tuple(tangents), pulled)
    return call.result, trees.unflatten(call.shape, outer.gradient(pulled, seeds, vectors))


def jacobian(function, argnums=0):
    """A function that gives the Jacobian of `function`.

    The value and the arguments that `argnums` names are trees of floating-point arrays. The result
    has the value's tree with the argument's tree in place of each leaf (a tuple of those where
    `argnums` is a sequence), of shape ``value.shape + argument.shape``. It is found row by row, by
    one product with a vector for each element of the value.
    """

    @functools.wraps(function)
    def wrapper(*args, **keywords):
        call = _Call("jacobian", function, argnums, args, keywords, True)
        rows = []
        for a in call.arrays:
            found = []
            for at in numpy.ndindex(*a.shape):
                seed = _core.filled_like(a, 0)
                seed[at] = 1
                found.append(call.pull([a], [seed]))
            rows.append(_stacked(found, a, args, call))
        return trees.unflatten(call.shape, rows)

    return wrapper


def _stacked(found, a, args, call):
    """Trees of equal shapes as one tree of arrays that have the axes of `a` first."""
    if not found:  # the value has no elements
        chosen = [args[k] for k in call.numbers]
        like = chosen[0] if call.one else tuple(chosen)
        return trees.transform(
            lambda x: _core.full(a.shape + numpy.shape(x), 0, to_ndarray(x).dtype), like
        )
    columns = [trees.flatten(tree)[0] for tree in found]
    shape = trees.flatten(found[0])[1]
    joined = [stack(same).reshape(a.shape + same[0].shape) for same in zip(*columns, strict=True)]
    return trees.unflatten(shape, joined)


def stop_gradient(x):
    """The arrays of a tree as constants: copies that have no derivative."""
    return trees.transform(
        lambda leaf: _core.stop_gradient(leaf) if isinstance(leaf, (ndarray, generic)) else leaf, x
    )


def _work(name, function, args, keywords, pulled_by, repeats=False):
    """The result of `function` of constants, entered as one piece of work.

    `pulled_by` gives, for the result, the arrays that are its value and what takes their adjoints
    to those of the arguments' leaves. repeats: a derivative of the derivative calls it again.
    """
    leaves, shape = trees.flatten(args)
    numbers = [k for k, x in enumerate(leaves) if isinstance(x, (ndarray, generic))]
    if not any([_core.depends(leaves[k]) for k in numbers]):
        return None
    plain = list(leaves)
    given = [leaves[k] for k in numbers]
    if repeats:  # the program may write to its own arrays before they are needed again
        given = [_core.copy_of(to_ndarray(x)) for x in given]
    for k, x in zip(numbers, given, strict=True):
        # Of a number at rest that is one of NumPy's.
        plain[k] = _core.copy_of(to_ndarray(_core.stop_gradient(x)))
    with _core.closed(name):
        result = function(*trees.unflatten(shape, plain), **keywords)
        value, pull = pulled_by(result, plain, numbers)
        arrays, of_value = _outputs(name, value)
        arrays = [_core.copy_of(a) for a in arrays]

    def once(*adjoints):
        # The pull works on constants, so that nothing tells how it depends on the arguments.
        known = [g for g in adjoints if g is not None]
        if any([_core.depends(x) for x in (*known, *given)]):
            if repeats:
                watched = list(leaves)
                for k, x in zip(numbers, given, strict=True):
                    watched[k] = x
                again = function(*trees.unflatten(shape, watched), **keywords)
                return pulled_by(again, plain, numbers)[1](*adjoints)
            raise NotImplementedError(
                message(name, "the derivative of its derivative is not there yet",
                        "a derivative that is differentiated", "one that is not")
            )  # fmt: skip
        return pull(*adjoints)

    _core.add_work(name, given, arrays, once)
    return trees.unflatten(of_value, arrays)


def custom_gradient(function, repeats=False):
    """A function with a derivative of its own.

    `function` returns ``(value, pull)``: `value` is a tree of arrays; ``pull(v)`` takes a tree like
    it and returns the derivative of the sum of the products of `v` and `value` by the argument, a
    tuple of those of several arguments. What it does need not be differentiable: kernels, NumPy,
    libraries. It may not use arrays that depend on what is differentiated but for its arguments.
    Without a gradient being asked for, it is just called.

    repeats: a derivative of the derivative calls the function again and differentiates what it and
    `pull` do: array operations of the arguments alone, without random numbers. Else it is refused.
    """
    name = getattr(function, "__name__", "custom_gradient")

    @functools.wraps(function)
    def wrapper(*args, **keywords):
        def pulled_by(result, plain, numbers):
            value, pull = _pair(name, result)
            shape = trees.flatten(value)[1]

            def back(*adjoints):
                leaves = trees.flatten(value)[0]
                filled = [
                    _zeros_like(leaf) if g is None else g
                    for g, leaf in zip(adjoints, leaves, strict=True)
                ]
                found = pull(trees.unflatten(shape, filled))
                found = found if isinstance(found, tuple) else (found,)
                flat, _ = trees.flatten(found)
                if len(flat) != len(numbers):
                    raise ValueError(
                        message(name, "another number of derivatives than of arrays",
                                len(flat), len(numbers))
                    )  # fmt: skip
                return [_fitting(name, g, plain[k]) for g, k in zip(flat, numbers, strict=True)]

            return value, back

        made = _work(name, function, args, keywords, pulled_by, repeats)
        return _pair(name, function(*args, **keywords))[0] if made is None else made

    return wrapper


def _zeros_like(leaf):
    a = to_ndarray(leaf)
    return _core.filled_like(a, 0)


def _pair(name, result):
    if not isinstance(result, tuple) or len(result) != 2 or not callable(result[1]):
        raise TypeError(
            message(name, "not a value and a function", type(result).__name__, "(value, pull)")
        )
    return result


def _fitting(name, g, argument):
    """A derivative as an array of its argument's shape."""
    a = to_ndarray(g)
    shape = to_ndarray(argument).shape
    if a.shape != shape:
        raise ValueError(
            message(name, "a derivative of another shape than its argument", a.shape, shape)
        )
    return a


def checkpoint(function):
    """A function that keeps only its arguments for its derivative, and runs again to find it.

    Takes and returns trees of arrays. What it uses that depends on what is differentiated must be
    among its arguments. Memory for intermediate values is needed only while its own derivative is
    found (Griewank and Walther, Algorithm 799, ACM TOMS 26, 2000).
    """
    name = getattr(function, "__name__", "checkpoint")

    @functools.wraps(function)
    def wrapper(*args, **keywords):
        def pulled_by(result, plain, numbers):
            shape = trees.flatten(args)[1]

            def back(*adjoints):
                def again(*chosen):
                    leaves = list(plain)
                    for k, x in zip(numbers, chosen, strict=True):
                        leaves[k] = x
                    return function(*trees.unflatten(shape, leaves), **keywords)

                floats = [plain[k] for k in numbers if kind_of(plain[k].dtype) in "fc"]
                if len(floats) < len(numbers):
                    raise TypeError(
                        message(name, "an argument without a gradient", "integers",
                                "arrays of a float or complex dtype")
                    )  # fmt: skip
                call = _Call(name, again, tuple(range(len(floats))), floats, {}, True)
                pairs = [
                    (a, to_ndarray(g))
                    for a, g in zip(call.arrays, adjoints, strict=True)
                    if g is not None
                ]
                return call.pull([a for a, _ in pairs], [g for _, g in pairs])

            return result, back

        made = _work(name, function, args, keywords, pulled_by)
        return function(*args, **keywords) if made is None else made

    return wrapper


class detect_anomaly:
    """A block in which the first operation that makes NaN of numbers is an error.

    The message names the operation and its line; of a derivative, the operation that it is of.
    Each operation is looked at when it is recorded, which takes much longer: for finding mistakes.

    Raises
    ------
    RuntimeError
        For the first operation, or derivative of one, that gives NaN.

    Examples
    --------
    >>> import numbus as nb
    >>> with nb.detect_anomaly():
    ...     nb.grad(lambda x: nb.sqrt(x * 0.0).sum())(nb.ones(2))
    Traceback (most recent call last):
    RuntimeError: [detect_anomaly] a derivative is NaN; ...
    """

    _which = 2

    def __init__(self):
        self._before = []

    def __enter__(self):
        derivatives.looked_at[0] += self._which == 2
        self._before.append(_core.detect_anomalies(self._which))
        return self

    def __exit__(self, *error):
        derivatives.looked_at[0] -= self._which == 2
        _core.detect_anomalies(self._before.pop())
