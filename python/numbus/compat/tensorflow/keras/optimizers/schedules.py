"""keras.optimizers.schedules: learning rates by the numbers of steps, in float32 as in Keras."""

import numpy

import numbus as nb

from ...._missing import missing as _missing
from ..._tensor import Tensor, convert

__name__ = "keras.optimizers.schedules"
_f4 = numpy.float32


class LearningRateSchedule:
    """A function of the number of steps. Subclasses define `__call__(step)`."""

    def __call__(self, step):
        step = float(convert(step).numpy())
        return Tensor(nb.array(self._rate(_f4(step)), dtype="f4").reshape(()))

    def at(self, step):
        """The rate at a step as a float."""
        if type(self).__call__ is LearningRateSchedule.__call__:
            return float(self._rate(_f4(step)))
        return float(self(Tensor(nb.array(step, dtype="i8").reshape(()))))

    def _rate(self, step):
        raise NotImplementedError(
            f"Learning rate schedule '{type(self).__name__}' must override `__call__(self, step)`."
        )


def _positive(name, value):
    if value <= 0:
        raise ValueError(f"Argument `{name}` must be > 0. Received: {name}={value}")
    return value


class _Decay(LearningRateSchedule):
    def __init__(self, initial_learning_rate, decay_steps, decay_rate, staircase=False, name=None):
        self.initial_learning_rate, self.decay_rate = initial_learning_rate, decay_rate
        self.decay_steps = _positive("decay_steps", decay_steps)
        self.staircase, self.name = staircase, name

    def _turns(self, step):
        turns = step / _f4(self.decay_steps)
        return numpy.floor(turns) if self.staircase else turns


class ExponentialDecay(_Decay):
    """initial_learning_rate * decay_rate ** (step / decay_steps)."""

    def _rate(self, step):
        return _f4(self.initial_learning_rate) * _f4(self.decay_rate) ** self._turns(step)


class InverseTimeDecay(_Decay):
    """initial_learning_rate / (1 + decay_rate * step / decay_steps)."""

    def _rate(self, step):
        return _f4(self.initial_learning_rate) / (1 + _f4(self.decay_rate) * self._turns(step))


class PiecewiseConstantDecay(LearningRateSchedule):
    """The value of the first boundary that is not below the step, the last one beyond."""

    def __init__(self, boundaries, values, name="PiecewiseConstant"):
        if len(boundaries) != len(values) - 1:
            raise ValueError(
                "The length of boundaries should be 1 less than the length of values. Received: "
                f"boundaries={boundaries} of length {len(boundaries)}, and values={values} of "
                f"length {len(values)}."
            )
        self.boundaries, self.values, self.name = boundaries, values, name

    def _rate(self, step):
        at = sum([step > int(b) for b in self.boundaries])
        return self.values[at]


class PolynomialDecay(LearningRateSchedule):
    """From one rate to another in `decay_steps`, by (1 - part)^power; cycle: again, ever longer."""

    def __init__(self, initial_learning_rate, decay_steps, end_learning_rate=0.0001, power=1.0,
                 cycle=False, name="PolynomialDecay"):  # fmt: skip
        self.initial_learning_rate, self.end_learning_rate = (
            initial_learning_rate, end_learning_rate,
        )  # fmt: skip
        self.decay_steps = _positive("decay_steps", decay_steps)
        self.power, self.cycle, self.name = power, cycle, name

    def _rate(self, step):
        steps, first = _f4(self.decay_steps), _f4(self.initial_learning_rate)
        last = _f4(self.end_learning_rate)
        if self.cycle:
            steps = steps * (1 if step == 0 else numpy.ceil(step / steps))
        else:
            step = min(step, steps)
        return (first - last) * (1 - step / steps) ** _f4(self.power) + last


def _wave(part):
    return _f4(0.5) * (1 + numpy.cos(_f4(numpy.pi) * part))


class CosineDecay(LearningRateSchedule):
    """Half a cosine from a rate to `alpha` times it, after a line up to `warmup_target`."""

    def __init__(self, initial_learning_rate, decay_steps, alpha=0.0, name="CosineDecay",
                 warmup_target=None, warmup_steps=0):  # fmt: skip
        self.initial_learning_rate, self.alpha, self.name = initial_learning_rate, alpha, name
        self.decay_steps = _positive("decay_steps", decay_steps)
        self.warmup_target, self.warmup_steps = warmup_target, warmup_steps

    def _rate(self, step):
        first, steps, alpha = _f4(self.initial_learning_rate), _f4(self.decay_steps), self.alpha
        if self.warmup_target is not None:
            up, warm = _f4(self.warmup_target), _f4(self.warmup_steps)
            step = min(step, steps + warm)
            if step < warm:
                return (up - first) * (step / warm) + first
            first, step = up, step - warm
        return first * (_f4(1 - alpha) * _wave(min(step, steps) / steps) + _f4(alpha))


class CosineDecayRestarts(LearningRateSchedule):
    """Half cosines one after another, each `t_mul` times as long and `m_mul` times as high."""

    def __init__(self, initial_learning_rate, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0,
                 name="SGDRDecay"):  # fmt: skip
        self.initial_learning_rate, self.alpha, self.name = initial_learning_rate, alpha, name
        self.first_decay_steps = _positive("first_decay_steps", first_decay_steps)
        self._longer, self._higher = t_mul, m_mul

    def _rate(self, step):
        part, longer = step / _f4(self.first_decay_steps), _f4(self._longer)
        if longer == 1:
            turn = numpy.floor(part)
            part = part - turn
        else:
            turn = numpy.floor(numpy.log(1 - part * (1 - longer)) / numpy.log(longer))
            part = (part - (1 - longer**turn) / (1 - longer)) / longer**turn
        wave = _f4(self._higher) ** turn * _wave(part)
        return _f4(self.initial_learning_rate) * (_f4(1 - self.alpha) * wave + _f4(self.alpha))


def __getattr__(name):
    return _missing("keras.optimizers.schedules", name)
