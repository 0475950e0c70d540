"""Stochastic gradient descent, with momentum."""

from .. import _core
from ..core.errors import message
from ..core.operands import to_ndarray
from ..tensors._tensor import wrap
from .optimizer import Optimizer, check, not_differentiable, number


class SGD(Optimizer):
    """p -= lr * g, or lr times the momentum of g.

    Parameters
    ----------
    params : iterable
        As for `Optimizer`.
    lr : float, default 1e-3
    momentum : float, default 0
        The momentum v = momentum * v + (1 - dampening) * g takes the place of g; at the first step
        it is g.
    dampening : float, default 0
    weight_decay : float, default 0
        Adds weight_decay * p to the gradient.
    nesterov : bool, default False
        g + momentum * v takes the place of v (Sutskever et al., 2013). ValueError without momentum,
        or with dampening.
    maximize : bool, default False
        The gradient's sign is changed.
    foreach, fused : bool, optional
        Kept with the groups; a step is fused either way.
    """

    def __init__(
        self,
        params,
        lr=1e-3,
        momentum=0,
        dampening=0,
        weight_decay=0,
        nesterov=False,
        *,
        maximize=False,
        foreach=None,
        differentiable=False,
        fused=None,
    ):
        check("SGD", learning_rate=lr, momentum=momentum, weight_decay=weight_decay)
        not_differentiable("SGD", differentiable)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError(
                message("SGD", "Nesterov momentum requires a momentum and zero dampening",
                        f"momentum={momentum}, dampening={dampening}", "momentum > 0, dampening 0")
            )  # fmt: skip
        super().__init__(
            params,
            {
                "lr": lr, "momentum": momentum, "dampening": dampening,
                "weight_decay": weight_decay, "nesterov": nesterov, "maximize": maximize,
                "foreach": foreach, "differentiable": differentiable, "fused": fused,
            },
        )  # fmt: skip

    def _update(self, group, p, g, state):
        if group["maximize"]:
            g = -g
        if group["weight_decay"]:
            g = g + p * group["weight_decay"]
        momentum = group["momentum"]
        if momentum:
            kept = state.get("momentum_buffer")
            if kept is None:
                v = _core.copy_of(to_ndarray(g))
                state["momentum_buffer"] = wrap(v)
            else:
                v = kept._array
                v *= momentum
                v += g * (1 - group["dampening"])
            g = g + v * momentum if group["nesterov"] else v
        p -= g * number(group["lr"])
