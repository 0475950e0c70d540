"""keras.optimizers: Keras's formulas, whose epsilon stands elsewhere than PyTorch's."""

import numbus as nb

from ....core.errors import message
from ..._missing import missing as _missing
from .._tensor import Tensor, Variable, as_array

__name__ = "keras.optimizers"


class Optimizer:
    """Changes variables by gradients: `apply_gradients(zip(gradients, variables))`."""

    def __init__(self, learning_rate=0.001, name=None, weight_decay=None, clipvalue=None,
                 **options):  # fmt: skip
        if options:
            raise NotImplementedError(
                message(type(self).__name__, "options that are not yet available",
                        sorted(options), "learning_rate, weight_decay, clipvalue")
            )  # fmt: skip
        self.name = type(self).__name__.lower() if name is None else name
        self._schedule = learning_rate if callable(learning_rate) else None
        rate = 0.0 if self._schedule else float(learning_rate)
        self._rate = Variable(rate, False, "learning_rate")
        self._known = rate
        self.weight_decay, self.clipvalue = weight_decay, clipvalue
        self._steps = 0
        self._state = {}

    iterations = property(lambda self: Variable(self._steps, False, "iteration", "int64"))

    @property
    def learning_rate(self):
        """The variable with the rate, or the schedule's present rate."""
        if self._schedule:
            return Tensor(nb.array(self._now(), dtype="f4").reshape(()))
        return self._rate

    @learning_rate.setter
    def learning_rate(self, value):
        if self._schedule:
            raise TypeError(message("learning_rate", "a schedule decides", value, "a float"))
        self._rate.assign(value)

    lr = learning_rate

    def _now(self):
        if self._schedule:
            return float(self._schedule(self._steps))
        return float(self._rate.numpy())

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
        rate = self._now()
        self._steps += 1
        for g, v in pairs:
            a, w = g._value(), v._a
            if self.clipvalue is not None:
                a = nb.clip(a, -self.clipvalue, self.clipvalue)
            if self.weight_decay:
                w = w - w * (self.weight_decay * rate)
            state = self._state.setdefault(id(v), {"variable": v})
            v._assigned(Tensor(as_array(self._updated(w, a, rate, state))))

    def _size(self):
        arrays = [a for s in self._state.values() for k, a in s.items() if k != "variable"]
        return sum(a.size for a in arrays) + 2

    def _updated(self, w, g, rate, state):
        raise NotImplementedError(message(self.name, "no update", type(self), "a method"))


def _kept(state, name, like, value=0.0):
    if name not in state:
        state[name] = nb.full(like.shape, value, dtype=like.dtype)
    return state[name]


class SGD(Optimizer):
    """w -= rate * g, with momentum w += m of m = momentum * m - rate * g."""

    def __init__(self, learning_rate=0.01, momentum=0.0, nesterov=False, **options):
        super().__init__(learning_rate, **options)
        if not 0 <= momentum <= 1:
            raise ValueError("`momentum` must be a float between [0, 1].")
        self.momentum, self.nesterov = momentum, nesterov

    def _updated(self, w, g, rate, state):
        if not self.momentum:
            return w - g * rate
        m = _kept(state, "m", w) * self.momentum - g * rate
        state["m"] = m
        return w + m * self.momentum - g * rate if self.nesterov else w + m


class RMSprop(Optimizer):
    """w -= rate * g / sqrt(v + epsilon) of the running mean v of g²."""

    def __init__(self, learning_rate=0.001, rho=0.9, momentum=0.0, epsilon=1e-7, centered=False,
                 **options):  # fmt: skip
        super().__init__(learning_rate, **options)
        self.rho, self.momentum, self.epsilon, self.centered = rho, momentum, epsilon, centered

    def _updated(self, w, g, rate, state):
        v = _kept(state, "v", w) * self.rho + g * g * (1 - self.rho)
        state["v"] = v
        if self.centered:
            mean = _kept(state, "mean", w) * self.rho + g * (1 - self.rho)
            state["mean"] = mean
            v = v - mean * mean
        change = g * rate / nb.sqrt(v + self.epsilon)
        if self.momentum:
            change = _kept(state, "m", w) * self.momentum + change
            state["m"] = change
        return w - change


class Adam(Optimizer):
    """w -= a * m / (sqrt(v) + epsilon) of the running means of g and g², with
    a = rate * sqrt(1 - beta_2^t) / (1 - beta_1^t) (Kingma and Ba, 2015, section 2).
    """

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, amsgrad=False,
                 **options):  # fmt: skip
        super().__init__(learning_rate, **options)
        self.beta_1, self.beta_2 = beta_1, beta_2
        self.epsilon, self.amsgrad = epsilon, amsgrad

    def _updated(self, w, g, rate, state):
        t = self._steps
        step = rate * (1 - self.beta_2**t) ** 0.5 / (1 - self.beta_1**t)
        m, v = _kept(state, "m", w), _kept(state, "v", w)
        state["m"] = m = m + (g - m) * (1 - self.beta_1)
        state["v"] = v = v + (g * g - v) * (1 - self.beta_2)
        if self.amsgrad:
            state["most"] = v = nb.maximum(_kept(state, "most", w), v)
        return w - m * step / (nb.sqrt(v) + self.epsilon)


class AdamW(Adam):
    """Adam with weight decay apart from the gradient (Loshchilov and Hutter, 2019)."""

    def __init__(self, learning_rate=0.001, weight_decay=0.004, **options):
        super().__init__(learning_rate, weight_decay=weight_decay, **options)


class Adagrad(Optimizer):
    """w -= rate * g / sqrt(a + epsilon) of the sum a of g² (Duchi et al., 2011)."""

    def __init__(self, learning_rate=0.001, initial_accumulator_value=0.1, epsilon=1e-7,
                 **options):  # fmt: skip
        super().__init__(learning_rate, **options)
        self.initial_accumulator_value, self.epsilon = initial_accumulator_value, epsilon

    def _updated(self, w, g, rate, state):
        a = _kept(state, "a", w, self.initial_accumulator_value) + g * g
        state["a"] = a
        return w - g * rate / nb.sqrt(a + self.epsilon)


class schedules:
    """`keras.optimizers.schedules`."""

    class ExponentialDecay:
        """initial_learning_rate * decay_rate ** (step / decay_steps)."""

        def __init__(self, initial_learning_rate, decay_steps, decay_rate, staircase=False):
            self.first, self.steps = initial_learning_rate, decay_steps
            self.rate, self.staircase = decay_rate, staircase

        def __call__(self, step):
            turns = step // self.steps if self.staircase else step / self.steps
            return self.first * self.rate**turns


_NAMES = {"sgd": SGD, "rmsprop": RMSprop, "adam": Adam, "adamw": AdamW, "adagrad": Adagrad}


def get(identifier):
    """An optimizer from its name; optimizers stay as they are."""
    if isinstance(identifier, Optimizer):
        return identifier
    if str(identifier).lower() in _NAMES:
        return _NAMES[identifier.lower()]()
    raise ValueError(message("optimizer", "unknown", identifier, ", ".join(_NAMES)))


def __getattr__(name):
    return _missing("keras.optimizers", name)
