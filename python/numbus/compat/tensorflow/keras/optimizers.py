"""keras.optimizers: Keras's formulas, whose epsilon stands elsewhere than PyTorch's."""

import re

import numpy

import numbus as nb

from ....core.compiling import ITEM, ITEMS, Parts, flat, observe, refuse
from ....core.errors import message
from ....core.operands import to_ndarray
from ....optim.formula import Formula, maximum_into, square_root
from ..._missing import missing as _missing
from .._tensor import Tensor, Variable, _still, as_array, convert
from . import schedules

__name__ = "keras.optimizers"


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
                "`ema_momentum` must be in the range [0, 1]. Received: "
                f"ema_momentum={ema_momentum}"
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


@Formula.cached
def _sgd(decays, momentum, nesterov):
    def step(p, g, *rest):
        decay, rate, kept = rest[-3:]
        if decays:
            p -= p * decay
        if not momentum:
            p -= g * rate
            return
        m, change = rest[0], g * rate
        m *= kept
        m -= change
        if nesterov:
            p += m * kept
            p -= change
        else:
            p += m

    return Formula(step, 3 if momentum else 2, 3)


class SGD(Optimizer):
    """w -= rate * g, with momentum w += m of m = momentum * m - rate * g."""

    def __init__(self, learning_rate=0.01, momentum=0.0, nesterov=False, **options):
        super().__init__(learning_rate, **options)
        if not 0 <= momentum <= 1:
            raise ValueError("`momentum` must be a float between [0, 1].")
        self.momentum, self.nesterov = momentum, nesterov

    def _beginning(self):
        return (0.0,) if self.momentum else ()

    def _formula(self):
        return _sgd(bool(self.weight_decay), bool(self.momentum), bool(self.nesterov))

    def _given(self, rate):
        return rate, self.momentum


@Formula.cached
def _rmsprop(decays, centered, momentum):
    def step(p, g, v, *rest):
        decay, rate, rho, taken, epsilon, kept = rest[-6:]
        if decays:
            p -= p * decay
        v *= rho
        v += g * g * taken
        under = v
        if centered:
            mean = rest[0]
            mean *= rho
            mean += g * taken
            under = v - mean * mean
        change = g * rate / square_root(under + epsilon)
        if momentum:
            m = rest[1 if centered else 0]
            m *= kept
            m += change
            change = m
        p -= change

    return Formula(step, 3 + centered + momentum, 6)


class RMSprop(Optimizer):
    """w -= rate * g / sqrt(v + epsilon) of the running mean v of g²."""

    def __init__(self, learning_rate=0.001, rho=0.9, momentum=0.0, epsilon=1e-7, centered=False,
                 **options):  # fmt: skip
        super().__init__(learning_rate, **options)
        self.rho, self.momentum, self.epsilon, self.centered = rho, momentum, epsilon, centered

    def _beginning(self):
        return (0.0,) * (1 + bool(self.centered) + bool(self.momentum))

    def _formula(self):
        return _rmsprop(bool(self.weight_decay), bool(self.centered), bool(self.momentum))

    def _given(self, rate):
        return rate, self.rho, 1 - self.rho, self.epsilon, self.momentum


@Formula.cached
def _adam(decays, amsgrad):
    def step(p, g, m, v, *rest):
        decay, size, rest1, rest2, epsilon = rest[-5:]
        if decays:
            p -= p * decay
        m += (g - m) * rest1
        v += (g * g - v) * rest2
        if amsgrad:
            maximum_into(rest[0], v)
            v = rest[0]
        p -= m * size / (square_root(v) + epsilon)

    return Formula(step, 4 + amsgrad, 5)


class Adam(Optimizer):
    """w -= a * m / (sqrt(v) + epsilon) of the running means of g and g², with
    a = rate * sqrt(1 - beta_2^t) / (1 - beta_1^t) (Kingma and Ba, 2015, section 2).
    """

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, amsgrad=False,
                 **options):  # fmt: skip
        super().__init__(learning_rate, **options)
        self.beta_1, self.beta_2 = beta_1, beta_2
        self.epsilon, self.amsgrad = epsilon, amsgrad

    def _beginning(self):
        return (0.0,) * (3 if self.amsgrad else 2)

    def _formula(self):
        return _adam(bool(self.weight_decay), bool(self.amsgrad))

    def _given(self, rate):
        t = self._count()
        size = rate * (1 - self.beta_2**t) ** 0.5 / (1 - self.beta_1**t)
        return size, 1 - self.beta_1, 1 - self.beta_2, self.epsilon


class AdamW(Adam):
    """Adam with weight decay apart from the gradient (Loshchilov and Hutter, 2019)."""

    def __init__(self, learning_rate=0.001, weight_decay=0.004, **options):
        super().__init__(learning_rate, weight_decay=weight_decay, **options)


@Formula.cached
def _adagrad(decays):
    def step(p, g, a, decay, rate, epsilon):
        if decays:
            p -= p * decay
        a += g * g
        p -= g * rate / square_root(a + epsilon)

    return Formula(step, 3, 3)


class Adagrad(Optimizer):
    """w -= rate * g / sqrt(a + epsilon) of the sum a of g² (Duchi et al., 2011)."""

    def __init__(self, learning_rate=0.001, initial_accumulator_value=0.1, epsilon=1e-7,
                 **options):  # fmt: skip
        super().__init__(learning_rate, **options)
        self.initial_accumulator_value, self.epsilon = initial_accumulator_value, epsilon

    def _beginning(self):
        return (self.initial_accumulator_value,)

    def _formula(self):
        return _adagrad(bool(self.weight_decay))

    def _given(self, rate):
        return rate, self.epsilon


@Formula.cached
def _adamax(decays):
    def step(p, g, m, u, decay, size, rest, kept, epsilon):
        if decays:
            p -= p * decay
        m += (g - m) * rest
        u *= kept
        maximum_into(u, g)
        maximum_into(u, -g)
        p -= m * size / (u + epsilon)

    return Formula(step, 4, 5)


class _OfTwoMeans(Optimizer):
    """Of running means of gradients and of their sizes, which begin at zero."""

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7,
                 **options):  # fmt: skip
        super().__init__(learning_rate, **options)
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon

    def _beginning(self):
        return 0.0, 0.0


class Adamax(_OfTwoMeans):
    """w -= rate / (1 - beta_1^t) * m / (u + epsilon) of the running mean m of g and the largest
    |g| so far, which fades by beta_2 (Kingma and Ba, 2015, section 7).
    """

    def _formula(self):
        return _adamax(bool(self.weight_decay))

    def _given(self, rate):
        size = rate / (1 - self.beta_1 ** self._count())
        return size, 1 - self.beta_1, self.beta_2, self.epsilon


@Formula.cached
def _nadam(decays):
    def step(p, g, m, v, decay, ahead, now, grown, rest1, rest2, epsilon):
        if decays:
            p -= p * decay
        m += (g - m) * rest1
        v += (g * g - v) * rest2
        p -= (m * ahead + g * now) / (square_root(v * grown) + epsilon)

    return Formula(step, 4, 7)


def _momentum_at(beta, t):
    return beta * (1 - 0.5 * 0.96**t)


_momenta = {}  # by beta_1: the number of a step and the product of momenta up to it


def _momenta_to(beta, t):
    at, product = _momenta.get(beta, (0, 1.0))
    if at > t:
        at, product = 0, 1.0
    for k in range(at + 1, t + 1):
        product *= _momentum_at(beta, k)
    _momenta[beta] = t, product
    return product


class Nadam(_OfTwoMeans):
    """Adam with Nesterov's momentum, which grows from step to step (Dozat, 2016)."""

    def _formula(self):
        return _nadam(bool(self.weight_decay))

    def _given(self, rate):
        t = self._count()
        now, following = _momentum_at(self.beta_1, t), _momentum_at(self.beta_1, t + 1)
        product = _momenta_to(self.beta_1, t)
        return (
            rate * following / (1 - product * following), rate * (1 - now) / (1 - product),
            1 / (1 - self.beta_2**t), 1 - self.beta_1, 1 - self.beta_2, self.epsilon,
        )  # fmt: skip


@Formula.cached
def _adadelta(decays):
    def step(p, g, a, d, decay, rate, rho, taken, epsilon):
        if decays:
            p -= p * decay
        a *= rho
        a += g * g * taken
        change = g * square_root(d + epsilon) / square_root(a + epsilon)
        d *= rho
        d += change * change * taken
        p -= change * rate

    return Formula(step, 4, 5)


class Adadelta(Optimizer):
    """w -= rate * g * sqrt(d + epsilon) / sqrt(a + epsilon) of the running means a of g² and d of
    squared changes (Zeiler, 2012).
    """

    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-7, **options):
        super().__init__(learning_rate, **options)
        self.rho, self.epsilon = rho, epsilon

    def _beginning(self):
        return 0.0, 0.0

    def _formula(self):
        return _adadelta(bool(self.weight_decay))

    def _given(self, rate):
        return rate, self.rho, 1 - self.rho, self.epsilon


from ._plain_optimizers import Adafactor, Ftrl, Lamb, Lion  # noqa: E402 - of the class above

_NAMES = {
    kind.__name__.lower(): kind
    for kind in (SGD, RMSprop, Adam, AdamW, Adagrad, Adamax, Nadam, Adadelta, Ftrl, Lion, Lamb,
                 Adafactor)
}  # fmt: skip


def get(identifier):
    """An optimizer from its name or its configuration; optimizers stay as they are."""
    if isinstance(identifier, Optimizer):
        return identifier
    if isinstance(identifier, dict) and str(identifier.get("class_name")).lower() in _NAMES:
        return _NAMES[identifier["class_name"].lower()](**identifier.get("config", {}))
    if isinstance(identifier, str) and identifier.lower() in _NAMES:
        return _NAMES[identifier.lower()]()
    raise ValueError(message("optimizer", "unknown", identifier, ", ".join(_NAMES)))


def __getattr__(name):
    return _missing("keras.optimizers", name)
