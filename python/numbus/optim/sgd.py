"""Stochastic gradient descent, with momentum."""

from .. import _core
from ..core.errors import message
from ..core.operands import to_ndarray
from ..tensors._tensor import wrap
from .formula import Formula
from .optimizer import Optimizer, check, check_ways, not_differentiable, number, prepared


@Formula.cached
def sgd(maximize, decays, momentum, nesterov):
    """A step as a formula of p, g, with momentum its array v, and numbers."""

    def step(p, g, *rest):
        decay, kept, taken, lr = rest[-4:]
        if maximize:
            g = -g
        if decays:
            g = g + p * decay
        if momentum:
            v = rest[0]
            v *= kept
            v += g * taken
            g = g + v * kept if nesterov else v
        p -= g * lr

    return Formula(step, 3 if momentum else 2, 4)


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
        check_ways("SGD", None, foreach, fused)
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

    _renewed = frozenset({"lr", "momentum", "dampening", "weight_decay"})

    def _update_all(self, group, given):
        momentum, nesterov = bool(group["momentum"]), bool(group["nesterov"])
        lines = []
        for p, g, state in given:
            if not momentum:
                lines.append((p, g))
            elif state.get("momentum_buffer") is not None:
                lines.append((p, g, state["momentum_buffer"]._array))
            else:
                self._begin(group, p, g, state)
        formula = sgd(bool(group["maximize"]), bool(group["weight_decay"]), momentum, nesterov)
        if lines:
            formula(lines, self._numbers, group, len(lines))

    def _begin(self, group, p, g, state):
        """The first step with momentum, which is the gradient."""
        g = prepared(group, p, g)
        v = _core.copy_of(to_ndarray(g))
        state["momentum_buffer"] = wrap(v)
        p -= (g + v * group["momentum"] if group["nesterov"] else v) * number(group["lr"])

    def _numbers(self, group, count):
        numbers = (
            number(group["weight_decay"]), number(group["momentum"]),
            number(1 - group["dampening"]), number(group["lr"]),
        )  # fmt: skip
        return [numbers] * count
