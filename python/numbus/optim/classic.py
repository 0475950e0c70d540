"""Older rules: averaged gradient descent (ASGD) and resilient propagation (Rprop)."""

from ..core.errors import message
from ..functions import names as np
from ..tensors import get_default_dtype
from ..tensors._dtypes import to_numpy
from .adam import zeros_like
from .optimizer import Optimizer, check, not_differentiable, number, prepared


class ASGD(Optimizer):
    """p -= eta g with a rate that falls, and the mean of p since step `t0` as the state `ax`
    (Polyak and Juditsky, 1992).

    Parameters
    ----------
    params : iterable
        As for `Optimizer`.
    lr : float, default 1e-2
    lambd, alpha : float, default 1e-4, 0.75
        After step n the rate eta is lr / (1 + lambd lr n)^alpha; each step takes lambd eta p off p.
    t0 : float, default 1e6
        The step at which the mean begins.
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
        lr=1e-2,
        lambd=1e-4,
        alpha=0.75,
        t0=1e6,
        weight_decay=0,
        foreach=None,
        maximize=False,
        differentiable=False,
        capturable=False,
    ):
        check("ASGD", learning_rate=lr, weight_decay_value=weight_decay)
        not_differentiable("ASGD", differentiable)
        super().__init__(
            params,
            {
                "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay,
                "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
                "capturable": capturable,
            },
        )  # fmt: skip

    def _update(self, group, p, g, state):
        lr, lambd = number(group["lr"]), group["lambd"]
        if not state:
            state.update(step=0.0, eta=_single(lr), mu=1.0, ax=zeros_like(p))
        state["step"] += 1
        g = prepared(group, p, g)
        eta, mean = number(state["eta"]), state["ax"]._array
        p *= 1 - lambd * eta
        p -= g * eta
        mu = number(state["mu"])
        if mu == 1:
            mean[...] = p
        else:
            mean += (p - mean) * mu
        state["eta"] = _single(lr / (1 + lambd * lr * state["step"]) ** group["alpha"])
        state["mu"] = _single(1 / max(1, state["step"] - group["t0"]))


def _single(x):
    """A number as PyTorch keeps it: in the default dtype."""
    return float(to_numpy(get_default_dtype()).type(x))


class Rprop(Optimizer):
    """p -= s sign(g) of a size s of each element's own, which grows while the sign of g stays and
    shrinks where it changes (Riedmiller and Braun, 1993).

    Parameters
    ----------
    params : iterable
        As for `Optimizer`.
    lr : float, default 1e-2
        The sizes at the first step.
    etas : (float, float), default (0.5, 1.2)
        What sizes are multiplied by, where the sign changes and where it stays. ValueError unless
        0 < the first < 1 < the second.
    step_sizes : (float, float), default (1e-6, 50)
        The least and the largest size.
    maximize : bool, default False
        The gradient's sign is changed.
    foreach, capturable : bool, optional
        Kept with the groups; a step is fused either way.
    """

    def __init__(
        self,
        params,
        lr=1e-2,
        etas=(0.5, 1.2),
        step_sizes=(1e-6, 50),
        *,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        check("Rprop", learning_rate=lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(message("Rprop", "invalid eta values", etas, "0 < first < 1 < second"))
        not_differentiable("Rprop", differentiable)
        super().__init__(
            params,
            {
                "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach,
                "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
            },
        )  # fmt: skip

    def _update(self, group, p, g, state):
        if not state:
            state.update(step=0.0, prev=zeros_like(p), step_size=zeros_like(p))
            state["step_size"]._array[...] = number(group["lr"])
        state["step"] += 1
        g = -g if group["maximize"] else g
        (shrink, grow), (least, most) = group["etas"], group["step_sizes"]
        before, size = state["prev"]._array, state["step_size"]._array
        product = g * before
        kind = p.dtype.type
        size *= np.where(product > 0, kind(grow), np.where(product < 0, kind(shrink), kind(1)))
        np.clip(size, least, most, out=size)
        g = np.where(product < 0, kind(0), g)
        p -= np.sign(g) * size
        before[...] = g
