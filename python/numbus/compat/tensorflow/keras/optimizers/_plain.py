"""Optimizers whose steps are written with functions of arrays: Ftrl, Lion, Lamb, Adafactor."""

import numpy

import numbus as nb

from .....core.compiling import refuse
from .....core.errors import message
from ._base import Optimizer


class _Plain(Optimizer):
    """Subclasses define `_step(w, g, kept, rate)`: what a variable becomes."""

    def _change(self, grads, variables):
        refuse(f"{type(self).__name__} has no recorded step")
        rate = self._now()
        self._iterations.set(self._iterations.number() + 1)
        for g, v in zip(grads, variables, strict=True):
            w = v._for_change()
            if self.weight_decay is not None and self._decays(v):
                w -= w * (self.weight_decay * rate)
            w[...] = self._step(w, g, self._arrays(v), rate)


class Lion(_Plain):
    """w -= rate * sign(beta_1 m + (1 - beta_1) g), m the running mean of g (Chen et al., 2023)."""

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.99, **options):
        super().__init__(learning_rate, **options)
        if not 0 < beta_1 <= 1:
            raise ValueError(message("Lion", "beta_1 is not in (0, 1]", beta_1, "0.9"))
        self.beta_1, self.beta_2 = beta_1, beta_2

    def _beginning(self):
        return (0.0,)

    def _step(self, w, g, kept, rate):
        m = kept[0]
        found = w - rate * nb.sign(m * self.beta_1 + g * (1 - self.beta_1))
        m[...] = m * self.beta_2 + g * (1 - self.beta_2)
        return found


class Lamb(_Plain):
    """Adam's step brought to the length of the variable (You et al., 2019)."""

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7,
                 **options):  # fmt: skip
        super().__init__(learning_rate, **options)
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon

    def _beginning(self):
        return 0.0, 0.0

    def _step(self, w, g, kept, rate):
        (m, v), t = kept, self._count()
        m += (g - m) * (1 - self.beta_1)
        v += (g * g - v) * (1 - self.beta_2)
        change = m / (1 - self.beta_1**t)
        change = change / (nb.sqrt(v / (1 - self.beta_2**t)) + self.epsilon)
        length, size = nb.sqrt(nb.sum(w * w)), nb.sqrt(nb.sum(change * change))
        both = nb.logical_and(length > 0, size > 0)
        one = w.dtype.type(1)
        ratio = nb.where(both, length / nb.where(size > 0, size, one), one)
        return w - ratio * rate * change


class Ftrl(_Plain):
    """Follow the regularized leader (McMahan et al., 2013), with shrinkage."""

    def __init__(self, learning_rate=0.001, learning_rate_power=-0.5,
                 initial_accumulator_value=0.1, l1_regularization_strength=0.0,
                 l2_regularization_strength=0.0, l2_shrinkage_regularization_strength=0.0,
                 beta=0.0, **options):  # fmt: skip
        super().__init__(learning_rate, **options)
        for name, value in (
            ("initial_accumulator_value", initial_accumulator_value),
            ("l1_regularization_strength", l1_regularization_strength),
            ("l2_regularization_strength", l2_regularization_strength),
            ("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength),
            ("learning_rate_power", -learning_rate_power),
        ):
            if value < 0:
                sign = "negative" if name == "learning_rate_power" else "positive"
                raise ValueError(f"`{name}` needs to be {sign} or zero. Received: {name}={value}.")
        self.learning_rate_power, self.beta = learning_rate_power, beta
        self.initial_accumulator_value = initial_accumulator_value
        self.l1_regularization_strength = l1_regularization_strength
        self.l2_regularization_strength = l2_regularization_strength
        self.l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength

    def _beginning(self):
        return self.initial_accumulator_value, 0.0

    def _step(self, w, g, kept, rate):
        (total, linear), power = kept, -self.learning_rate_power
        l1 = self.l1_regularization_strength
        with numpy.errstate(divide="ignore", invalid="ignore"):
            rate = numpy.float64(rate)  # which divides by 0, as a schedule may begin
            l2 = self.l2_regularization_strength + self.beta / (2 * rate)
            l2, rate = float(l2), nb.array(rate, dtype=w.dtype)
        now = total + g * g
        shrunk = g + 2 * self.l2_shrinkage_regularization_strength * w
        linear += shrunk - (now**power - total**power) / rate * w
        found = (nb.clip(linear, -l1, l1) - linear) / (now**power / rate + 2 * l2)
        total[...] = now
        return found


def _size(a):
    return nb.sqrt(nb.mean(a * a))


class Adafactor(_Plain):
    """Steps by running means of squared gradients' rows and columns (Shazeer and Stern, 2018)."""

    def __init__(self, learning_rate=0.001, beta_2_decay=-0.8, epsilon_1=1e-30, epsilon_2=1e-3,
                 clip_threshold=1.0, relative_step=True, **options):  # fmt: skip
        super().__init__(learning_rate, **options)
        self.beta_2_decay, self.epsilon_1, self.epsilon_2 = beta_2_decay, epsilon_1, epsilon_2
        self.clip_threshold, self.relative_step = clip_threshold, relative_step

    def _beginning(self):
        return 0.0, 0.0

    def _begun(self, v):
        shape = tuple(v._a.shape)
        if len(shape) < 2:
            return [nb.zeros(shape, v._a.dtype), nb.zeros((), v._a.dtype)]
        return [nb.zeros(shape[:-1], v._a.dtype), nb.zeros((*shape[:-2], shape[-1]), v._a.dtype)]

    def _step(self, w, g, kept, rate):
        t = self._count()
        pace = min(rate, t**-0.5)
        size = nb.maximum(_size(w), self.epsilon_2) * pace
        squares, beta = g * g + self.epsilon_1, 1 - t**self.beta_2_decay
        rows, columns = kept
        if g.ndim >= 2:
            rows[...] = rows * beta + nb.mean(squares, axis=-1) * (1 - beta)
            columns[...] = columns * beta + nb.mean(squares, axis=-2) * (1 - beta)
            parts = rows / nb.mean(rows, axis=-1, keepdims=True)
            mean = parts[..., None] * columns[..., None, :]
        else:
            rows[...] = mean = rows * beta + squares * (1 - beta)
        change = g / nb.sqrt(mean)
        return w - size * change / nb.maximum(_size(change) / self.clip_threshold, 1.0)
