"""Derivatives by the tape: backward, grad, functions with derivatives of their own, checks."""

import functools
import importlib
import sys

import numpy

import numbus as nb

from .. import _core, gradients
from ..core.dtypes import kind_of
from ..core.errors import message
from . import _tensor
from ._mode import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled
from ._tensor import Tensor, constant_copy, wrap

__all__ = [
    "Function", "Variable", "backward", "detect_anomaly", "enable_grad", "grad", "gradcheck",
    "inference_mode", "no_grad", "once_differentiable", "set_detect_anomaly", "set_grad_enabled",
]  # fmt: skip


passes = [0]  # how many backward passes there were: who is told after one knows it again
# Weak references to those who want gradients as soon as they are there: what early() of each gives
# is (tensors, function) for each of its groups; the function is called where all have one.
early = []


def _listed(x):
    return [x] if isinstance(x, Tensor) else list(x)


def _seeds(op, outputs, given):
    """An array of each output's shape and dtype."""
    given = [None] * len(outputs) if given is None else _listed(given)
    if len(given) != len(outputs):
        raise RuntimeError(message(op, "not a gradient for each output", len(given), len(outputs)))
    made = []
    for y, g in zip(outputs, given, strict=True):
        if not y.requires_grad:
            raise RuntimeError(
                message(op, "the tensor does not depend on one that requires a gradient",
                        f"shape {tuple(y.shape)}, dtype {y.dtype}", "requires_grad=True of an"
                        " operand, and no `no_grad`")
            )  # fmt: skip
        if g is None:
            if y._array.size != 1:
                raise RuntimeError(
                    message(op, "a gradient can be left out for a single number only",
                            f"shape {tuple(y.shape)}", "a scalar, or gradient=")
                )  # fmt: skip
            made.append(_core.filled_like(y._array, 1))
            continue
        if tuple(g.shape) != tuple(y.shape):
            raise RuntimeError(
                message(op, "a gradient of another shape than its output", tuple(g.shape),
                        tuple(y.shape))
            )  # fmt: skip
        a = g._array
        made.append(a if a.dtype == y._array.dtype else a.astype(y._array.dtype))
    return made


def _early_groups(create_graph, inputs):
    """The groups of all who want gradients of a pass early, of tensors that are alone in their
    memory.
    """
    groups = []
    if create_graph or inputs is not None:
        return groups
    for known in list(early):
        owner = known()
        if owner is None:
            early.remove(known)
            continue
        for some, function in owner.early():
            if all(
                [len(_tensor.leaves_of(t._base)) == 1 and not _tensor.former_of(t) for t in some]
            ):
                groups.append((some, function))
    return groups


class _Wanted:
    """The tensors by which a pass is to find derivatives, and those that it has found.

    The derivative by a result is taken when what made it is about to be passed, that by a view when
    all that was recorded since it was made has been, that by a leaf at the end.
    """

    def __init__(self, op, tensors):
        self.arrays = [t._array for t in tensors]
        self.apart, self._kept, self._handles = [], {}, {}
        for t in tensors:
            if t._leaf or id(t) in self._handles:
                continue
            handle = _tensor.RemovableHandle(functools.partial(self._kept.__setitem__, id(t)))
            if _tensor.view_number(op, t) and not _tensor.is_told(t):
                self.apart.append((t._array, _tensor.told_by([(True, handle)])))
                self._handles[id(t)] = handle
            elif _tensor.tell(op, t, handle, last=True):
                self._handles[id(t)] = handle

    def end(self):
        for handle in self._handles.values():
            handle.remove()

    def of(self, found, t, create_graph):
        """The derivative by one of them; None: there is none."""
        if id(t) in self._handles:
            g = self._kept.get(id(t))
            # Others' derivatives may lie in its memory.
            return g if g is None or create_graph else g.detach().clone()
        return _found(found, t, create_graph)


def _run(op, outputs, given, retain_graph, create_graph, milestones=(), wanted=None):
    seeds = _seeds(op, outputs, given)
    keep = create_graph if retain_graph is None else retain_graph
    before = _core.set_grad_enabled(bool(create_graph))  # for hooks and functions of users
    try:
        arrays = [y._array for y in outputs]
        return _core.tape_backward(
            arrays, seeds, bool(keep), bool(create_graph), list(milestones),
            wanted.apart if wanted else [], wanted.arrays if wanted else [],
        )  # fmt: skip
    finally:
        _core.set_grad_enabled(before)
        if wanted:
            wanted.end()


def _found(found, t, create_graph, alone=False):
    """The derivative by a tensor, after its hooks; None: it does not depend on it. alone: nobody
    else asks for that of its memory.
    """

    former = _tensor.former_of(t)

    def take():
        g = found.of(t._array, alone and not create_graph and not former)
        for x in former:
            other = found.of(x._array)
            if other is None:
                continue
            if x.shape != t.shape:
                raise RuntimeError(
                    message("backward", "a derivative by what a tensor held before its `.data` was"
                            " given another shape", tuple(x.shape), tuple(t.shape))
                )  # fmt: skip
            other = other.astype(t._array.dtype)
            g = other if g is None else g + other
        return g

    if create_graph:
        g = _core.record_on_tape(take, (), None, lambda a: None if a is None else wrap(a))
    else:
        a = take()
        g = None if a is None else wrap(a)
    return g if g is None else _hooked(t, g, create_graph)


def _hooked(t, g, create_graph):
    """What the hooks of a tensor make of its derivative; recorded only with `create_graph`.

    A copy of what they keep, as derivatives are added to it in place.
    """
    if not t._hooks:
        return g
    held = sys.getrefcount(g)
    before = _core.set_grad_enabled(bool(create_graph))
    try:
        for handle in list(t._hooks):
            if handle.hook is not None:
                other = handle.hook(g)
                if other is not None and other is not g:
                    g, held = _tensor.fitting("register_hook", other, g), _ALONE
                other = None
        if sys.getrefcount(g) > held and not create_graph:
            g = g.detach().clone()
    finally:
        _core.set_grad_enabled(before)
    return g


def _count_of_one_name():
    alone = object()
    return sys.getrefcount(alone)


_ALONE = _count_of_one_name()


def _accumulate(t, g, create_graph):
    if t._grad is None:
        t._grad = g if create_graph or not g.requires_grad else g.detach()
    elif create_graph:
        t._grad = t._grad + g
    else:
        with no_grad():
            old = t._grad._array
            if t._grad.requires_grad:  # and goes on depending on what it was made of
                with enable_grad():
                    t._grad = t._grad + g.detach()
            elif old.flags.writeable:
                warned = _core.check_float_errors(False, 0)  # PyTorch has no such warnings
                try:
                    old += g._array
                finally:
                    _core.restore_float_errors(warned)
            else:
                t._grad = t._grad + g


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, *, inputs=None):
    """Adds derivatives to the `grad` of tensors: `Tensor.backward` of several tensors at once."""
    groups = _early_groups(create_graph, inputs)
    _pass_by_rules(tensors, grad_tensors, retain_graph, create_graph, inputs, groups)


def _pass_by_rules(tensors, grad_tensors, retain_graph, create_graph, inputs, groups):
    _core.tape_begin_pulling()
    try:
        done = _add_derivatives(tensors, grad_tensors, retain_graph, create_graph, inputs, groups)
    finally:
        _core.tape_end_pulling()
    _core.tape_drop_circles(False)
    _tell_after(done, create_graph)


def _tell_after(done, create_graph):
    before = _core.set_grad_enabled(bool(create_graph))
    try:
        for t, _ in done:
            for handle in t.__dict__.get("_after", ()):
                if handle.hook is not None:
                    handle.hook(t)
    finally:
        _core.set_grad_enabled(before)


def _add_derivatives(tensors, grad_tensors, retain_graph, create_graph, inputs, groups):
    passes[0] += 1
    outputs = _listed(tensors)
    since = _core.tape_now()
    done, passed = [], set()

    def milestone(some, function):
        def reached(found):
            given = [(t, _found(found, t, False, True)) for t in some]
            passed.update([t._base for t in some])
            for t, g in given:
                if g is not None:
                    _accumulate(t, g, False)
                    done.append((t, g))
            if all([g is not None for _, g in given]):  # those of another net have none
                function()

        return [t._base for t in some], reached

    milestones = [milestone(*group) for group in groups]
    wanted = None if inputs is None else _Wanted("backward", _listed(inputs))
    found = _run("backward", outputs, grad_tensors, retain_graph, create_graph, milestones, wanted)
    later, targets = [], []
    if inputs is not None:
        later = [(t, wanted.of(found, t, create_graph)) for t in _listed(inputs)]
        later = [(t, g) for t, g in later if g is not None]
    else:
        for base in found.bases():
            if base in passed:
                continue
            leaves = _tensor.leaves_of(base)
            targets += [(t, len(leaves) == 1) for t in leaves]
    seen = set()
    for t, alone in targets:
        if id(t) in seen:  # in its memory, and formerly in another
            continue
        seen.add(id(t))
        g = _found(found, t, create_graph, alone)
        if g is not None:
            later.append((t, g))
    for t, g in later:
        _accumulate(t, g, create_graph)
    done += later
    del found
    _core.tape_settle(since)
    if _tensor._former:
        _tensor.forget_former()
    return done


def _backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """Adds the derivative of this number by each tensor that requires one to its `grad`.

    Parameters
    ----------
    gradient : Tensor, optional
        Of the tensor's shape, for one that is no single number: the derivative of the sum of
        their products is found.
    retain_graph : bool, optional
        Keeps what was recorded for another call; `create_graph` by default.
    create_graph : bool, default False
        Records the derivative, so that it can be differentiated.
    inputs : sequence of Tensor, optional
        Only their `grad` is changed.

    Raises
    ------
    RuntimeError
        If it does not require a gradient, if there is no `gradient` for more than one element,
        or if what was recorded has been let go.
    """
    groups = _early_groups(create_graph, inputs) if early else []
    if (
        gradient is None
        and inputs is None
        and not (retain_graph or create_graph or _tensor._former or groups)
    ):
        left = _core.plain_backward(self)
        if left is not None:
            passes[0] += 1
            if left:
                left = [(t, _hooked(t, g, False)) for t, g in left]
                for t, g in left:
                    _accumulate(t, g, False)
                _tell_after(left, False)
            return
    _pass_by_rules(self, gradient, retain_graph, create_graph, inputs, groups)


Tensor.backward = _backward


def grad(
    outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True,
    allow_unused=None, is_grads_batched=False, materialize_grads=False,
):  # fmt: skip
    """The derivatives of `outputs` by `inputs`, a tuple; no `grad` is changed.

    Parameters
    ----------
    outputs, inputs : Tensor or sequence of Tensor
    grad_outputs : Tensor or sequence of Tensor, optional
        Of the outputs' shapes; may be left out for single numbers.
    retain_graph, create_graph : bool
        As of `backward`.
    allow_unused : bool, default `materialize_grads`
        Gives None for inputs that the outputs do not depend on, which raise otherwise.
    is_grads_batched : bool, default False
        `grad_outputs` have an axis more at the front; each index is a call of its own.
    materialize_grads : bool, default False
        Gives zeros for these.
    """
    if not only_inputs:
        raise ValueError(message("grad", "only_inputs=False", only_inputs, "True: backward() adds"
                                 " to the gradients of leaves"))  # fmt: skip
    if is_grads_batched:
        return _batched(outputs, inputs, grad_outputs, create_graph, allow_unused,
                        materialize_grads)  # fmt: skip
    _core.tape_begin_pulling()
    try:
        return _derivatives(
            _listed(outputs), _listed(inputs), grad_outputs, retain_graph, create_graph,
            materialize_grads if allow_unused is None else allow_unused, materialize_grads,
        )  # fmt: skip
    finally:
        _core.tape_end_pulling()


def _batched(outputs, inputs, grad_outputs, create_graph, allow_unused, materialize_grads):
    from .shapes import stack

    rows = [
        grad(outputs, inputs, list(seeds), True, create_graph, True, allow_unused, False,
             materialize_grads)
        for seeds in zip(*_listed(grad_outputs), strict=True)
    ]  # fmt: skip
    return tuple([None if one[0] is None else stack(list(one)) for one in zip(*rows, strict=True)])


def _derivatives(
    outs, ins, grad_outputs, retain_graph, create_graph, unused, materialize_grads
):  # fmt: skip
    for x in ins:
        if not x.requires_grad:
            raise RuntimeError(
                message("grad", "an input that does not require a gradient",
                        f"shape {tuple(x.shape)}", "requires_grad=True")
            )  # fmt: skip
    since = _core.tape_now()
    wanted = _Wanted("grad", ins)
    found = _run("grad", outs, grad_outputs, retain_graph, create_graph, (), wanted)
    results = []
    for x in ins:
        g = wanted.of(found, x, create_graph)
        if g is None:
            if not unused:
                raise RuntimeError(
                    message("grad", "an input that the outputs do not depend on",
                            f"shape {tuple(x.shape)}", "allow_unused=True for None")
                )  # fmt: skip
            if materialize_grads:
                g = wrap(_core.filled_like(x._array, 0))
        results.append(g)
    del found, wanted
    _core.tape_settle(since)
    return tuple(results)


class _Context:
    """What `forward` leaves for `backward`: `saved_tensors`, `needs_input_grad`, attributes."""

    def __init__(self, needs):
        self.needs_input_grad = needs
        self.saved_tensors = ()
        self.dirty = self.no_gradient = ()
        self.materialize = True

    @property
    def saved_variables(self):
        return self.saved_tensors

    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors

    def mark_dirty(self, *tensors):
        raise NotImplementedError(
            message("Function", "mark_dirty is not yet available", "tensors that forward changes",
                    "new tensors")
        )  # fmt: skip

    def mark_non_differentiable(self, *tensors):
        self.no_gradient = tuple(id(t) for t in tensors)

    def set_materialize_grads(self, value):
        self.materialize = value


def _is_float(y):
    return isinstance(y, Tensor) and kind_of(y._array.dtype) in "fc"


class Function:
    """An operation with a derivative of its own.

    Subclasses define the static methods ``forward(ctx, *args)``, which returns a tensor or a tuple
    of tensors, and ``backward(ctx, *grads)``, which returns the derivative by each argument (None
    for those without). ``apply`` calls them. ``setup_context(ctx, inputs, output)`` may be defined
    beside a forward without `ctx`.
    """

    @staticmethod
    def forward(*args, **keywords):
        raise NotImplementedError(
            message("Function", "no forward", "a class without it", "a static method forward")
        )

    @staticmethod
    def backward(ctx, *grads):
        raise NotImplementedError(
            message("Function", "no backward", "a class without it", "a static method backward")
        )

    @classmethod
    def apply(cls, *args):
        tensors = [x for x in args if isinstance(x, Tensor)]
        needs = tuple(isinstance(x, Tensor) and x.requires_grad for x in args)
        ctx = _Context(needs)
        with no_grad():
            if "setup_context" in {name for c in cls.__mro__ for name in vars(c)}:
                made = cls.forward(*args)
                cls.setup_context(ctx, args, made)
            else:
                made = cls.forward(ctx, *args)
        if not _core.is_grad_enabled() or not any(needs):
            return made
        several = isinstance(made, tuple)
        outputs = list(made) if several else [made]
        floats = [y for y in outputs if _is_float(y) and id(y) not in ctx.no_gradient]
        # Memory of their own, so that they are known by it, and that no program writes to.
        arrays = [constant_copy(y._array) for y in floats]

        # A tensor from elsewhere stays what it is.
        own = [
            (y, a)
            for y, a in zip(floats, arrays, strict=True)
            if not y.requires_grad and not any(y is x for x in args)
        ]

        def pull(*adjoints):
            # What `forward` has kept of its results depends on its arguments, as they do. It holds
            # these arrays for this long only: else the tape would keep the call because of itself.
            constants = [y._array for y, _ in own]
            for y, a in own:
                y._array, y._constant = a, False
            try:
                return of_arguments(adjoints)
            finally:
                for (y, _), a in zip(own, constants, strict=True):
                    y._array, y._constant = a, True

        def of_arguments(adjoints):
            filled = []
            rest = iter(adjoints)
            for y in outputs:
                if not any(y is f for f in floats):
                    filled.append(None)
                    continue
                g = next(rest)
                if g is None and ctx.materialize:
                    g = _core.filled_like(y._array, 0)
                filled.append(None if g is None else wrap(g))
            found = cls.backward(ctx, *filled)
            found = list(found) if isinstance(found, (tuple, list)) else [found]
            if len(found) < len(args) or any(g is not None for g in found[len(args) :]):
                raise RuntimeError(
                    message(cls.__name__, "another number of gradients than of arguments",
                            len(found), len(args))
                )  # fmt: skip
            return [
                None if g is None else g._array
                for x, g in zip(args, found, strict=False)
                if isinstance(x, Tensor)
            ]

        def enter():
            _core.add_work(cls.__name__, [x._array for x in tensors], arrays, pull)
            return tuple([_core.copy_of(a) for a in arrays])

        recorded = _core.record_on_tape(
            enter, (), None, lambda made: tuple([wrap(a) for a in made])
        )
        if not cls.__module__.startswith("numbus."):
            for y in recorded:  # for the name of its `grad_fn`
                y.__dict__["_function"] = cls, _core.tape_writer(y._array)
        wrapped = iter(recorded)
        chosen = [next(wrapped) if any(y is f for f in floats) else y for y in outputs]
        return tuple(chosen) if several else chosen[0]


def once_differentiable(fn):
    """Has a `backward` that cannot be differentiated itself raise where that is asked for."""

    @functools.wraps(fn)
    def wrapper(ctx, *grads):
        if is_grad_enabled() and any([isinstance(g, Tensor) and g.requires_grad for g in grads]):
            raise RuntimeError(
                message("once_differentiable", "the derivative of a derivative",
                        "a function whose backward is marked with @once_differentiable",
                        "first derivatives")
            )  # fmt: skip
        with no_grad():
            return fn(ctx, *grads)

    return wrapper


def gradgradcheck(func, inputs, grad_outputs=None, **options):
    """`gradcheck` of the derivatives of a function, by its arguments and by those of its results
    (`grad_outputs`: normal numbers where they are not given).
    """
    given = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    made = func(*given)
    made = [y for y in (made if isinstance(made, tuple) else (made,)) if y.requires_grad]
    if grad_outputs is None:
        weights = [wrap(_core.copy_of(nb.random.normal(size=y.shape).astype(y._array.dtype)))
                   for y in made]  # fmt: skip
        weights = [w.requires_grad_() for w in weights]
    else:
        several = isinstance(grad_outputs, (tuple, list))
        weights = list(grad_outputs) if several else [grad_outputs]
    count = len(given)

    @enable_grad()
    def derivatives(*operands):
        results = func(*operands[:count])
        results = results if isinstance(results, tuple) else (results,)
        watched = [x for x in operands[:count] if isinstance(x, Tensor) and x.requires_grad]
        chosen = [y for y in results if y.requires_grad]
        found = grad(chosen, watched, operands[count:], create_graph=True, allow_unused=True)
        return tuple([g for g in found if g is not None and g.requires_grad])

    return gradcheck(derivatives, (*given, *weights), **options)


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, **unused):
    """Whether the derivatives of a function agree with differences of its values.

    `inputs` are tensors; those that require a gradient should be float64. Central differences of
    step `eps`. Raises RuntimeError where they differ, or returns False with
    ``raise_exception=False``.
    """
    if unused:
        raise NotImplementedError(
            message("gradcheck", "an option that is not yet available", sorted(unused),
                    "eps, atol, rtol, raise_exception")
        )  # fmt: skip
    given = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    watched = [x for x in given if isinstance(x, Tensor) and x.requires_grad]

    def values():
        with no_grad():
            made = func(*given)
        made = made if isinstance(made, tuple) else (made,)
        return numpy.concatenate([numpy.ravel(y._array.to_numpy()) for y in made])

    made = func(*given)
    made = made if isinstance(made, tuple) else (made,)
    for x in watched:
        exact = []
        for y in made:
            for k in range(y._array.size):
                seed = _core.filled_like(y._array, 0)
                seed.flat[k] = 1
                (g,) = grad([y], [x], [wrap(seed)], retain_graph=True, allow_unused=True)
                exact.append(
                    numpy.zeros(x._array.size) if g is None else numpy.ravel(g._array.to_numpy())
                )
        exact = numpy.array(exact)
        near = numpy.zeros_like(exact)
        line = x._array.reshape(-1)
        for k in range(line.size):
            before = line[k].item()
            with no_grad():
                _place(x, k, before + eps)
                above = values()
                _place(x, k, before - eps)
                below = values()
                _place(x, k, before)
            near[:, k] = (above - below) / (2 * eps)
        if not numpy.allclose(exact, near, rtol=rtol, atol=atol):
            if not raise_exception:
                return False
            raise RuntimeError(
                message("gradcheck", "the derivative differs from differences of values",
                        exact.tolist(), near.tolist())
            )  # fmt: skip
    return True


def _place(x, k, value):
    x._array[numpy.unravel_index(k, x._array.shape)] = value


class _OfTensors(type):
    def __instancecheck__(cls, x):
        return isinstance(x, Tensor)


class Variable(metaclass=_OfTensors):
    """A tensor: what PyTorch of long ago put tensors into; `volatile` is of that time."""

    def __new__(cls, data=None, requires_grad=False, volatile=None):
        if volatile is not None:
            raise RuntimeError(
                message("Variable", "volatile is of another time", volatile, "torch.no_grad()")
            )
        made = Tensor() if data is None else data.detach()
        return made.requires_grad_() if requires_grad else made


def __getattr__(name):
    if name == "functional":
        return importlib.import_module("numbus.tensors.autograd_functional")
    if name == "profiler":
        return importlib.import_module("numbus.compat.torch.profiler")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class set_detect_anomaly(gradients.detect_anomaly):
    """From here on, or in a block, derivatives that are NaN are errors that name the operation.

    Unlike `numbus.detect_anomaly` it looks at derivatives only; with check_nan=False at nothing,
    as lines of operations are always known.
    """

    def __init__(self, mode, check_nan=True):
        super().__init__()
        self._which = 1 if mode and check_nan else 0
        self._before.append(_core.detect_anomalies(self._which))

    def __enter__(self):
        return None


class detect_anomaly(gradients.detect_anomaly):
    """A block in which derivatives that are NaN are errors that name the operation."""

    def __init__(self, check_nan=True):
        super().__init__()
        self._which = 1 if check_nan else 0
