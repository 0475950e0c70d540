"""Adam and its kin: steps by running means of the gradient and of its square."""

from ..functions import names as np
from ..tensors._tensor import wrap
from .formula import Formula, maximum_into, square_root
from .optimizer import (
    Optimizer,
    check,
    check_betas,
    check_ways,
    not_differentiable,
    number,
    prepared,
)


def zeros_like(p):
    return wrap(np.zeros_like(p))


def decayed(group, p):
    """The weight decay that is none of the gradient (Loshchilov and Hutter, 2019)."""
    if group["weight_decay"] and group.get("decoupled_weight_decay"):
        p *= 1 - number(group["lr"]) * group["weight_decay"]


def move(m, v, g, rest1, beta2, rest2):
    """Moves the running means of the gradient and of its square: arrays, or values of a formula."""
    m += (g - m) * rest1
    v *= beta2
    v += g * g * rest2


def means(group, g, state, second="exp_avg_sq"):
    """Moves the running means; returns their arrays."""
    first, beta2 = group["betas"]
    m, v = state["exp_avg"]._array, state[second]._array
    move(m, v, g, 1 - number(first), number(beta2), 1 - number(beta2))
    return m, v


@Formula.cached
def adam(maximize, decays, decoupled, amsgrad):
    """A step of Adam as a formula of p, g, m, v, with amsgrad the largest v, and numbers."""

    def step(p, g, m, v, *rest):
        most, rest = (rest[0], rest[1:]) if amsgrad else (None, rest)
        decay, rest1, beta2, rest2, root, eps, size = rest
        if maximize:
            g = -g
        if decays and decoupled:
            p *= decay
        elif decays:
            g = g + p * decay
        move(m, v, g, rest1, beta2, rest2)
        if amsgrad:
            maximum_into(most, v)
            v = most
        p -= m / (square_root(v) / root + eps) * size

    return Formula(step, 5 if amsgrad else 4, 7)


class Adam(Optimizer):
    """p -= lr m / (sqrt(v) + eps) of the running means m of g and v of g², both corrected for their
    beginning at 0 (Kingma and Ba, 2015).

    Parameters
    ----------
    params : iterable
        As for `Optimizer`.
    lr : float, default 1e-3
    betas : (float, float), default (0.9, 0.999)
        What the running means keep of themselves at a step.
    eps : float, default 1e-8
    weight_decay : float, default 0
        Adds weight_decay * p to the gradient.
    amsgrad : bool, default False
        The largest v so far takes the place of v (Reddi et al., 2018).
    maximize : bool, default False
        The gradient's sign is changed.
    decoupled_weight_decay : bool, default False
        The weight decay is that of AdamW.
    foreach, capturable, fused : bool, optional
        Kept with the groups; a step is fused either way.
    """

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        amsgrad=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
        fused=None,
        decoupled_weight_decay=False,
    ):
        op = type(self).__name__
        check(op, learning_rate=lr, epsilon_value=eps, weight_decay_value=weight_decay)
        check_betas(op, betas)
        not_differentiable(op, differentiable)
        check_ways(op, lr, foreach, fused, capturable)
        super().__init__(
            params,
            {
                "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
                "amsgrad": amsgrad, "maximize": maximize, "foreach": foreach,
                "capturable": capturable, "differentiable": differentiable, "fused": fused,
                "decoupled_weight_decay": decoupled_weight_decay,
            },
        )  # fmt: skip

    _renewed = frozenset({"lr", "betas", "eps"})

    def _update_all(self, group, given):
        amsgrad = bool(group["amsgrad"])
        formula = adam(
            bool(group["maximize"]), bool(group["weight_decay"]),
            bool(group.get("decoupled_weight_decay")), amsgrad,
        )  # fmt: skip
        arrays = []
        for p, g, state in given:
            if not state:
                state.update(step=0.0, exp_avg=zeros_like(p), exp_avg_sq=zeros_like(p))
                if amsgrad:
                    state["max_exp_avg_sq"] = zeros_like(p)
            line = p, g, state["exp_avg"]._array, state["exp_avg_sq"]._array
            arrays.append((*line, state["max_exp_avg_sq"]._array) if amsgrad else line)
        formula(arrays, self._numbers, group, [state for _, _, state in given])

    def _numbers(self, group, states):
        """Counts a step; the formula's numbers for each parameter."""
        decay, lr, (beta1, beta2) = group["weight_decay"], number(group["lr"]), group["betas"]
        beta1, beta2 = number(beta1), number(beta2)
        factor = number(1 - lr * decay if group.get("decoupled_weight_decay") else decay)
        numbers, known = [], {}
        for state in states:
            state["step"] += 1
            step = state["step"]
            if step not in known:
                root, size = (1 - beta2**step) ** 0.5, lr / (1 - beta1**step)
                known[step] = factor, 1 - beta1, beta2, 1 - beta2, root, group["eps"], size
            numbers.append(known[step])
        return numbers


class AdamW(Adam):
    """Adam whose weight decay is not part of the gradient: p *= 1 - lr * weight_decay at each step
    (Loshchilov and Hutter, 2019). Parameters as for `Adam`.
    """

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=1e-2,
        amsgrad=False,
        *,
        maximize=False,
        foreach=None,
        capturable=False,
        differentiable=False,
        fused=None,
    ):
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize,
            capturable=capturable, differentiable=differentiable, fused=fused,
            decoupled_weight_decay=True,
        )  # fmt: skip


class Adamax(Optimizer):
    """Adam by the largest absolute gradient, which decays by beta2, in place of the root of v
    (Kingma and Ba, 2015).
    """

    def __init__(
        self,
        params,
        lr=2e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        capturable=False,
    ):
        check("Adamax", learning_rate=lr, epsilon_value=eps, weight_decay_value=weight_decay)
        check_betas("Adamax", betas)
        not_differentiable("Adamax", differentiable)
        super().__init__(
            params,
            {
                "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
                "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
                "capturable": capturable,
            },
        )  # fmt: skip

    def _update(self, group, p, g, state):
        if not state:
            state.update(step=0.0, exp_avg=zeros_like(p), exp_inf=zeros_like(p))
        state["step"] += 1
        g = prepared(group, p, g)
        beta1, beta2 = group["betas"]
        m, most = state["exp_avg"]._array, state["exp_inf"]._array
        m += (g - m) * (1 - beta1)
        np.maximum(most * beta2, np.abs(g) + group["eps"], out=most)
        p -= m / most * (number(group["lr"]) / (1 - beta1 ** state["step"]))


class NAdam(Optimizer):
    """Adam with Nesterov's momentum (Dozat, 2016)."""

    def __init__(
        self,
        params,
        lr=2e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        momentum_decay=4e-3,
        decoupled_weight_decay=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
    ):
        check("NAdam", learning_rate=lr, epsilon_value=eps, weight_decay_value=weight_decay,
              momentum_decay_value=momentum_decay)  # fmt: skip
        check_betas("NAdam", betas)
        not_differentiable("NAdam", differentiable)
        super().__init__(
            params,
            {
                "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
                "momentum_decay": momentum_decay,
                "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize,
                "foreach": foreach, "capturable": capturable, "differentiable": differentiable,
            },
        )  # fmt: skip

    def _update(self, group, p, g, state):
        if not state:
            state.update(step=0.0, mu_product=1.0, exp_avg=zeros_like(p), exp_avg_sq=zeros_like(p))
        state["step"] += 1
        decayed(group, p)
        g = prepared(group, p, g)
        m, v = means(group, g, state)
        step, (beta1, beta2), lr = state["step"], group["betas"], number(group["lr"])
        decay = group["momentum_decay"]
        mu = beta1 * (1 - 0.5 * 0.96 ** (step * decay))
        following = beta1 * (1 - 0.5 * 0.96 ** ((step + 1) * decay))
        state["mu_product"] *= mu
        root = np.sqrt(v / (1 - beta2**step)) + group["eps"]
        p -= g / root * (lr * (1 - mu) / (1 - state["mu_product"]))
        p -= m / root * (lr * following / (1 - state["mu_product"] * following))


class RAdam(Optimizer):
    """Adam that leaves v out until its variance is known well enough (Liu et al., 2020)."""

    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0,
        decoupled_weight_decay=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
    ):
        check("RAdam", learning_rate=lr, epsilon_value=eps, weight_decay_value=weight_decay)
        check_betas("RAdam", betas)
        not_differentiable("RAdam", differentiable)
        super().__init__(
            params,
            {
                "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
                "maximize": maximize, "foreach": foreach, "capturable": capturable,
                "decoupled_weight_decay": decoupled_weight_decay,
                "differentiable": differentiable,
            },
        )  # fmt: skip

    def _update(self, group, p, g, state):
        if not state:
            state.update(step=0.0, exp_avg=zeros_like(p), exp_avg_sq=zeros_like(p))
        state["step"] += 1
        decayed(group, p)
        m, v = means(group, prepared(group, p, g), state)
        step, (beta1, beta2), lr = state["step"], group["betas"], number(group["lr"])
        correction = 1 - beta2**step
        most = 2 / (1 - beta2) - 1
        length = most - 2 * step * beta2**step / correction
        size = lr / (1 - beta1**step)
        if length > 5:
            size *= (
                (length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length)
            ) ** 0.5 * correction**0.5
            p -= m / (np.sqrt(v) + group["eps"]) * size
        else:
            p -= m * size
