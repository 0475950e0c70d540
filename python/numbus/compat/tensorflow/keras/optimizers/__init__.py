"""keras.optimizers: Keras's formulas, whose epsilon stands elsewhere than PyTorch's."""

from .....core.errors import message
from .....optim.formula import Formula, maximum_into, square_root
from ...._missing import missing as _missing
from . import schedules  # noqa: F401
from ._base import Optimizer
from ._plain import Adafactor, Ftrl, Lamb, Lion

__name__ = "keras.optimizers"


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
