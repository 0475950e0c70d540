"""Steps by the size of the gradients so far: RMSprop, Adagrad, Adadelta."""

from ..core.errors import message
from ..functions import names as np
from .adam import prepared, zeros_like
from .optimizer import Optimizer, check, check_ways, not_differentiable, number


class RMSprop(Optimizer):
    """p -= lr g / (sqrt(v) + eps) of the running mean v of g² (Hinton, lecture 6e, 2012).

    Parameters
    ----------
    params : iterable
        As for `Optimizer`.
    lr : float, default 1e-2
    alpha : float, default 0.99
        What the running mean keeps of itself at a step.
    eps : float, default 1e-8
    weight_decay : float, default 0
        Adds weight_decay * p to the gradient.
    momentum : float, default 0
        The momentum of g / (sqrt(v) + eps) takes its place.
    centered : bool, default False
        v is less the square of the running mean of g: the variance (Graves, 2013).
    maximize : bool, default False
        The gradient's sign is changed.
    foreach, capturable : bool, optional
        Kept with the groups; a step is fused either way.
    """

    def __init__(
        self,
        params,
        lr=1e-2,
        alpha=0.99,
        eps=1e-8,
        weight_decay=0,
        momentum=0,
        centered=False,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        check("RMSprop", learning_rate=lr, epsilon_value=eps, momentum_value=momentum,
              weight_decay_value=weight_decay, alpha_value=alpha)  # fmt: skip
        not_differentiable("RMSprop", differentiable)
        super().__init__(
            params,
            {
                "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
                "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach,
                "maximize": maximize, "differentiable": differentiable,
            },
        )  # fmt: skip

    def _update(self, group, p, g, state):
        if not state:
            state.update(step=0.0, square_avg=zeros_like(p))
            if group["momentum"] > 0:
                state["momentum_buffer"] = zeros_like(p)
            if group["centered"]:
                state["grad_avg"] = zeros_like(p)
        state["step"] += 1
        g = prepared(group, p, g)
        alpha, v = group["alpha"], state["square_avg"]._array
        v *= alpha
        v += g * g * (1 - alpha)
        if group["centered"]:
            m = state["grad_avg"]._array
            m += (g - m) * (1 - alpha)
            root = np.sqrt(v - m * m)
        else:
            root = np.sqrt(v)
        move = g / (root + group["eps"])
        if group["momentum"] > 0:
            kept = state["momentum_buffer"]._array
            kept *= group["momentum"]
            kept += move
            move = kept
        p -= move * number(group["lr"])


class Adagrad(Optimizer):
    """p -= lr g / (sqrt(s) + eps) of the sum s of all g² so far (Duchi, Hazan and Singer, 2011).

    Parameters
    ----------
    params : iterable
        As for `Optimizer`.
    lr : float, default 1e-2
    lr_decay : float, default 0
        At step n the rate is lr / (1 + (n - 1) lr_decay).
    weight_decay : float, default 0
        Adds weight_decay * p to the gradient.
    initial_accumulator_value : float, default 0
        What the sums begin with.
    eps : float, default 1e-10
    maximize : bool, default False
        The gradient's sign is changed.
    foreach, fused : bool, optional
        Kept with the groups; a step is fused either way.
    """

    def __init__(
        self,
        params,
        lr=1e-2,
        lr_decay=0,
        weight_decay=0,
        initial_accumulator_value=0,
        eps=1e-10,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        fused=None,
    ):
        check("Adagrad", learning_rate=lr, lr_decay_value=lr_decay, epsilon_value=eps,
              weight_decay_value=weight_decay,
              initial_accumulator_value=initial_accumulator_value)  # fmt: skip
        not_differentiable("Adagrad", differentiable)
        check_ways("Adagrad", None, foreach, fused)
        super().__init__(
            params,
            {
                "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
                "initial_accumulator_value": initial_accumulator_value, "foreach": foreach,
                "maximize": maximize, "differentiable": differentiable, "fused": fused,
            },
        )  # fmt: skip
        for group in self.param_groups:
            for p in group["params"]:
                self._begin(group, p._array, self.state[p])

    @staticmethod
    def _begin(group, p, state):
        state.update(step=0.0, sum=zeros_like(p))
        state["sum"]._array[...] = group["initial_accumulator_value"]

    def _update(self, group, p, g, state):
        if not state:  # a group that was added later
            self._begin(group, p, state)
        state["step"] += 1
        g = prepared(group, p, g)
        rate = number(group["lr"]) / (1 + (state["step"] - 1) * group["lr_decay"])
        s = state["sum"]._array
        s += g * g
        p -= g / (np.sqrt(s) + group["eps"]) * rate


class Adadelta(Optimizer):
    """p -= lr d of d = g sqrt(u + eps) / sqrt(v + eps), with running means u of d² and v of g²
    (Zeiler, 2012).

    Parameters
    ----------
    params : iterable
        As for `Optimizer`.
    lr : float, default 1.0
    rho : float, default 0.9
        What the running means keep of themselves at a step. ValueError outside of [0, 1].
    eps : float, default 1e-6
    weight_decay : float, default 0
        Adds weight_decay * p to the gradient.
    maximize : bool, default False
        The gradient's sign is changed.
    foreach, capturable : bool, optional
        Kept with the groups; a step is fused either way.
    """

    def __init__(
        self,
        params,
        lr=1.0,
        rho=0.9,
        eps=1e-6,
        weight_decay=0,
        foreach=None,
        *,
        capturable=False,
        maximize=False,
        differentiable=False,
    ):
        check("Adadelta", learning_rate=lr, epsilon_value=eps, weight_decay_value=weight_decay)
        if not 0 <= rho <= 1:
            raise ValueError(message("Adadelta", "invalid rho value", rho, "0 to 1"))
        not_differentiable("Adadelta", differentiable)
        super().__init__(
            params,
            {
                "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay,
                "maximize": maximize, "capturable": capturable, "foreach": foreach,
                "differentiable": differentiable,
            },
        )  # fmt: skip

    def _update(self, group, p, g, state):
        if not state:
            state.update(step=0.0, square_avg=zeros_like(p), acc_delta=zeros_like(p))
        state["step"] += 1
        g = prepared(group, p, g)
        rho, eps = group["rho"], group["eps"]
        v, u = state["square_avg"]._array, state["acc_delta"]._array
        v *= rho
        v += g * g * (1 - rho)
        d = np.sqrt(u + eps) / np.sqrt(v + eps) * g
        u *= rho
        u += d * d * (1 - rho)
        p -= d * number(group["lr"])
