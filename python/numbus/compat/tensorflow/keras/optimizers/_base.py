"""The optimizer of Keras that others are kinds of."""

import re

import numpy

import numbus as nb

from .....core.compiling import ITEM, ITEMS, Parts, flat, observe, refuse
from .....core.errors import message
from .....core.operands import to_ndarray
from ..._tensor import Tensor, Variable, _still, as_array, convert
from . import schedules


class _Known(Variable):
    """A variable without axes whose number the host knows, which is what formulas are given."""

    __slots__ = ("_known", "_type")

    def __init__(self, number, name, dtype):
        self._type = numpy.dtype(dtype)
        super().__init__(number, False, name, dtype)
        self.set(number)

    def __deepcopy__(self, memo):
        memo[id(self)] = made = _Known(self.number(), self._name, self._type)
        return made

    def _array(self):
        if _slot.__get__(self) is None:
            _slot.__set__(self, to_ndarray(numpy.asarray(self._known, self._type)))
        return _slot.__get__(self)

    def _store(self, a):
        self._known = None
        _slot.__set__(self, a)

    _a = property(_array, _store)

    def set(self, number):
        """Sets the number; an array is made of it when one is asked for."""
        self._known = self._type.type(number).item()
        _slot.__set__(self, None)

    def number(self):
        """The number, which is read where an array was assigned."""
        if self._known is None:
            self._known = self.numpy().item()
        return self._known

    def _assigned(self, a):
        super()._assigned(a)
        self._known = None
        return self


_slot = Tensor._a


class Optimizer:
    """Changes variables by gradients: `apply_gradients(zip(gradients, variables))`.

    Subclasses say which arrays they keep for each variable (`_beginning`: their first elements),
    what a step is (`_formula`), and its numbers (`_given`).
    """

    def __init__(self, learning_rate=0.001, name=None, weight_decay=None, clipnorm=None,
                 clipvalue=None, global_clipnorm=None, use_ema=False, ema_momentum=0.99,
                 ema_overwrite_frequency=None, loss_scale_factor=None,
                 gradient_accumulation_steps=None, **options):  # fmt: skip
        options.pop("decay", None)  # which Keras ignores, too
        if options:
            raise ValueError(f"Argument(s) not recognized: {options}")
        if sum(x is not None for x in (clipnorm, clipvalue, global_clipnorm)) > 1:
            raise ValueError(
                "Only one of `clipnorm`, `clipvalue` and `global_clipnorm` can be set. Received: "
                f"clipnorm={clipnorm}, clipvalue={clipvalue}, global_clipnorm={global_clipnorm}"
            )
        if gradient_accumulation_steps and not gradient_accumulation_steps >= 2:
            raise ValueError(
                "`gradient_accumulation_steps` must be an integer >= 2. Received: "
                f"gradient_accumulation_steps={gradient_accumulation_steps}"
            )
        if use_ema and not 0 <= ema_momentum <= 1:
            raise ValueError(
                f"`ema_momentum` must be in the range [0, 1]. Received: ema_momentum={ema_momentum}"
            )
        self.name = type(self).__name__.lower() if name is None else name
        self._schedule = learning_rate if callable(learning_rate) else None
        rate = 0.0 if self._schedule else float(learning_rate)
        self._rate = _Known(rate, "learning_rate", "float32")
        self._iterations = _Known(0, "iteration", "int64")
        self.weight_decay, self.loss_scale_factor = weight_decay, loss_scale_factor
        self.clipnorm, self.clipvalue = clipnorm, clipvalue
        self.global_clipnorm = global_clipnorm
        self.use_ema, self.ema_momentum = use_ema, ema_momentum
        self.ema_overwrite_frequency = ema_overwrite_frequency
        self.gradient_accumulation_steps = gradient_accumulation_steps
        self._undecayed = []  # variables without weight decay, and parts of names of such
        self._state = {}  # by ids of variables: these, and what is kept for them
        self._means, self._sums = {}, {}  # moving averages of variables, sums of gradients

    @property
    def iterations(self):
        """The number of steps; of those that changed variables where gradients are summed up."""
        if self.gradient_accumulation_steps:
            return Tensor(nb.array(self._count(), dtype="i8"))
        return self._iterations

    def _count(self):
        return self._iterations.number() // (self.gradient_accumulation_steps or 1)

    @property
    def learning_rate(self):
        """The variable with the rate, or the schedule's present rate."""
        if self._schedule:
            return Tensor(nb.array(self._now(), dtype="f4").reshape(()))
        return self._rate

    @learning_rate.setter
    def learning_rate(self, value):
        if callable(value) and not isinstance(value, Tensor):
            self._schedule = value
            return
        if isinstance(self._schedule, schedules.LearningRateSchedule):
            raise TypeError(message("learning_rate", "a schedule decides", value, "a float"))
        self._schedule = None
        if isinstance(value, Tensor):
            self._rate.assign(value)
        else:
            self._rate.set(value)

    lr = learning_rate

    def _now(self):
        if isinstance(self._schedule, schedules.LearningRateSchedule):
            return self._schedule.at(self._iterations.number())
        if self._schedule:
            return float(self._schedule())
        return self._rate.number()

    def build(self, variables):
        """State is made when it is needed."""
        for v in variables:
            if not isinstance(v, Variable):
                raise TypeError(message("build", "not a variable", type(v).__name__, "tf.Variable"))

    def apply(self, grads, trainable_variables):
        """`apply_gradients` of two lists."""
        self.apply_gradients(zip(grads, trainable_variables, strict=True))

    def apply_gradients(self, grads_and_vars):
        """Changes each variable by its gradient; those whose gradient is None stay.

        Raises ValueError where no variable has a gradient.
        """
        pairs = [(g, v) for g, v in grads_and_vars if g is not None]
        if not pairs:
            raise ValueError("No gradients provided for any variable.")
        given, found = [], []
        for g, v in pairs:
            a = as_array(_still(convert(g, v._a.dtype)._value()))
            if tuple(a.shape) != tuple(v._a.shape):
                raise ValueError(
                    message("apply_gradients", "a gradient of another shape", tuple(a.shape),
                            tuple(v._a.shape))
                )  # fmt: skip
            if self.loss_scale_factor is not None:
                a = a / self.loss_scale_factor
            given.append(v)
            found.append(a)
        if self.gradient_accumulation_steps:
            found = self._summed(found, given)
        if found is None:
            self._iterations.set(self._iterations.number() + 1)
        else:
            self._change(self._clipped(found), given)
        if self.use_ema:
            self._average(given)
        for v in given:
            if v.constraint is not None:
                v.assign(v.constraint(v))

    def _summed(self, grads, variables):
        """The means of gradients since the last change, or None where it is not yet time."""
        refuse("gradients are summed over steps")
        n = self.gradient_accumulation_steps
        for a, v in zip(grads, variables, strict=True):
            if id(v) not in self._sums:
                self._sums[id(v)] = v, nb.zeros(v._a.shape, dtype=v._a.dtype)
            kept = self._sums[id(v)][1]
            kept += a
        if (self._iterations.number() + 1) % n:
            return None
        found = [self._sums[id(v)][1] / n for v in variables]
        self._sums.clear()
        return found

    def _clipped(self, grads):
        if self.clipnorm:
            c = self.clipnorm
            return [a * c / nb.maximum(nb.sqrt(nb.sum(nb.square(a))), c) for a in grads]
        if self.global_clipnorm:
            c = self.global_clipnorm
            norm = nb.sqrt(sum([nb.sum(nb.square(a)) for a in grads]))
            return [a * (c / nb.maximum(norm, c)) for a in grads]
        if self.clipvalue:
            return [nb.clip(a, -self.clipvalue, self.clipvalue) for a in grads]
        return grads

    def _change(self, grads, variables):
        """A step of the formula."""
        pairs = zip(grads, variables, strict=True)
        lines = [(v._for_change(), as_array(a), *self._arrays(v)) for a, v in pairs]
        self._formula()(lines, self._numbers, tuple([self._decays(v) for v in variables]))

    def _average(self, variables):
        """Moving averages of the variables, which take their place now and then."""
        refuse("an optimizer keeps moving averages of variables")
        n = self.gradient_accumulation_steps or 1
        before = (self._iterations.number() - 1) // n
        for v in variables:
            if id(v) not in self._means:
                self._means[id(v)] = v, nb.zeros(v._a.shape, dtype=v._a.dtype)
            kept = self._means[id(v)][1]
            momentum = self.ema_momentum if before else 0.0
            kept *= momentum
            kept += v._a * (1 - momentum)
        every = self.ema_overwrite_frequency
        if every and (before + 1) % every == 0:
            self.finalize_variable_values(variables)

    def finalize_variable_values(self, var_list):
        """With `use_ema`, gives variables their moving averages."""
        if self.use_ema:
            for v in var_list:
                if id(v) in self._means:
                    v.assign(Tensor(self._means[id(v)][1].copy()))

    def exclude_from_weight_decay(self, var_list=None, var_names=None):
        """Names variables without weight decay, or expressions that their names contain."""
        self._undecayed = [*(var_list or []), *(var_names or [])]

    def _decays(self, v):
        return not any([
            re.search(x, v._name) is not None if isinstance(x, str) else x is v
            for x in self._undecayed
        ])  # fmt: skip

    def scale_loss(self, loss):
        """The loss times `loss_scale_factor`, by which gradients are divided later."""
        return loss if self.loss_scale_factor is None else loss * self.loss_scale_factor

    def _arrays(self, v):
        """What is kept for a variable."""
        state, begin = self._state.get(id(v)), self._beginning()
        if state is None or state[0] is not v:  # of a copy of an optimizer with its variables
            state = next((s for s in self._state.values() if s[0] is v), None)
        if state is None or len(state[1]) != len(begin):
            refuse("an optimizer sees a variable for the first time")
            kept = self._begun(v)
            state = self._state[id(v)] = v, kept
        return state[1]

    def _begun(self, v):
        return [nb.full(v._a.shape, x, dtype=v._a.dtype) for x in self._beginning()]

    def _size(self):
        return sum(a.size for _, kept in self._state.values() for a in kept) + 2

    def _numbers(self, decays):
        """Counts a step; its numbers, for each variable, some of which have no weight decay."""
        rate = self._now()
        self._iterations.set(self._iterations.number() + 1)
        decay, given = (self.weight_decay or 0.0) * rate, self._given(rate)
        return [(decay if each else 0.0, *given) for each in decays]

    def _beginning(self):
        """The first elements of the arrays that are kept for each variable."""
        raise NotImplementedError(message(self.name, "no update", type(self), "a method"))


_UNREAD = ("_rate", "_iterations")  # by formulas: their numbers are asked for each time


def _parts(optimizer):
    fields = optimizer.__dict__
    found = [(ITEM, fields, k, v) for k, v in fields.items() if k not in _UNREAD]
    found.append((ITEMS, optimizer._state, None, flat(optimizer._state)))
    for _, kept in optimizer._state.values():
        found.append((ITEMS, kept, None, flat(kept)))
    return Parts(found)


observe(Optimizer, Optimizer.apply_gradients, _parts)
