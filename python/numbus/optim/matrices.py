"""Rules that know rows and columns: Adafactor and Muon."""

import math

from ..core.dtypes import bfloat16
from ..core.errors import message
from ..functions import names as np
from ..tensors._tensor import wrap
from .adam import zeros_like
from .optimizer import Optimizer, check, number


class Adafactor(Optimizer):
    """Adam without the mean of g, with a mean of g² of each row and column in place of each element
    and steps in proportion to the size of p (Shazeer and Stern, 2018).

    Parameters
    ----------
    params : iterable
        As for `Optimizer`.
    lr : float, default 1e-2
        The rate is at most this, and at most 1 / sqrt(n) at step n.
    beta2_decay : float, default -0.8
        The means take n^beta2_decay of the new squares at step n. ValueError where it is positive.
    eps : (float or None, float), default (None, 1e-3)
        The least root of a mean (None: the dtype's eps), and the least size of p.
    d : float, default 1.0
        Steps whose root mean square is larger are scaled down to it. ValueError below 1.
    weight_decay : float, default 0
        p *= 1 - lr * weight_decay at each step.
    maximize : bool, default False
        The gradient's sign is changed.
    foreach : bool, optional
        Kept with the groups; a step is fused either way.
    """

    def __init__(
        self,
        params,
        lr=1e-2,
        beta2_decay=-0.8,
        eps=(None, 1e-3),
        d=1.0,
        weight_decay=0.0,
        *,
        foreach=None,
        maximize=False,
    ):
        check("Adafactor", learning_rate=lr, weight_decay=weight_decay,
              epsilon1=eps[0] or 0.0, epsilon2=eps[1])  # fmt: skip
        if beta2_decay > 0:
            raise ValueError(message("Adafactor", "beta2_decay", beta2_decay, "beta2_decay <= 0"))
        if d < 1:
            raise ValueError(message("Adafactor", "clipping threshold d", d, "d >= 1"))
        super().__init__(
            params,
            {
                "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d,
                "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize,
            },
        )  # fmt: skip

    def _update(self, group, p, g, state):
        if not state:
            state["step"] = 0.0
            if g.ndim > 1:
                state["row_var"] = wrap(np.zeros_like(g[..., :1]))
                state["col_var"] = wrap(np.zeros_like(g[..., :1, :]))
            else:
                state["variance"] = zeros_like(g)
        state["step"] += 1
        g = -g if group["maximize"] else g
        step, lr, (root, least) = state["step"], number(group["lr"]), group["eps"]
        root = float(np.finfo(p.dtype).eps) if root is None else root
        taken = step ** group["beta2_decay"]
        rate = min(lr, 1 / step**0.5)
        size = np.maximum(np.sqrt(np.sum(p * p)) / p.size**0.5, least)
        if group["weight_decay"]:
            p *= 1 - lr * group["weight_decay"]
        squares = g * g
        if g.ndim > 1:
            rows, columns = state["row_var"]._array, state["col_var"]._array
            rows += (np.mean(squares, axis=-1, keepdims=True) - rows) * taken
            columns += (np.mean(squares, axis=-2, keepdims=True) - columns) * taken
            whole = np.maximum(np.mean(rows, axis=-2, keepdims=True), root)
            estimate = rows * columns / whole
        else:
            estimate = state["variance"]._array
            estimate += (squares - estimate) * taken
        move = g / np.sqrt(np.maximum(estimate, root * root))
        excess = np.sqrt(np.sum(move * move)) / (move.size**0.5 * group["d"])
        p -= move * (size * rate / np.maximum(excess, 1.0))


class Muon(Optimizer):
    """Momentum whose matrices are made orthogonal by iterations of Newton and Schulz in bfloat16
    (Jordan, 2024).

    Parameters
    ----------
    params : iterable
        Of matrices; ValueError for others.
    lr : float, default 1e-3
    weight_decay : float, default 0.1
        p *= 1 - lr * weight_decay at each step.
    momentum : float, default 0.95
        What the running mean of g keeps of itself.
    nesterov : bool, default True
    ns_coefficients : (float, float, float)
        Those of an iteration's polynomial.
    eps : float, default 1e-7
        The least norm that a matrix is divided by.
    ns_steps : int, default 5
        Iterations.
    adjust_lr_fn : {None, "original", "match_rms_adamw"}
        Steps are lr sqrt(max(1, rows / columns)), or lr 0.2 sqrt(max(rows, columns)).
    """

    def __init__(
        self,
        params,
        lr=1e-3,
        weight_decay=0.1,
        momentum=0.95,
        nesterov=True,
        ns_coefficients=(3.4445, -4.775, 2.0315),
        eps=1e-7,
        ns_steps=5,
        adjust_lr_fn=None,
    ):
        check("Muon", learning_rate=lr, momentum_value=momentum, weight_decay_value=weight_decay)
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(
                message("Muon", "adjust_lr_fn", adjust_lr_fn, "'original' or 'match_rms_adamw'")
            )
        super().__init__(
            params,
            {
                "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
                "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps,
                "adjust_lr_fn": adjust_lr_fn,
            },
        )  # fmt: skip

    def add_param_group(self, param_group):
        super().add_param_group(param_group)
        for p in self.param_groups[-1]["params"]:
            if p.ndim != 2:
                raise ValueError(
                    message("Muon", "a parameter is no matrix", tuple(p.shape), "two axes")
                )

    def _update(self, group, p, g, state):
        if not state:
            state["momentum_buffer"] = zeros_like(p)
        kept, lr = group["momentum"], number(group["lr"])
        mean = state["momentum_buffer"]._array
        mean += (g - mean) * (1 - kept)
        move = _orthogonal(g + (mean - g) * kept if group["nesterov"] else mean, group)
        rows, columns = p.shape
        if group["adjust_lr_fn"] == "match_rms_adamw":
            scale = 0.2 * math.sqrt(max(rows, columns))
        else:
            scale = math.sqrt(max(1, rows / columns))
        p *= 1 - lr * group["weight_decay"]
        p -= move.astype(p.dtype) * (lr * scale)


def _orthogonal(g, group):
    """About the matrix with the singular vectors of g and singular values of 1."""
    first, second, third = group["ns_coefficients"]
    x = _rounded(g)
    wide = g.shape[0] <= g.shape[1]
    x = x if wide else x.T
    x = _rounded(x / np.maximum(_rounded(np.sqrt(np.sum(x * x))), _rounded(group["eps"])))
    for _ in range(group["ns_steps"]):
        gram = _rounded(x @ x.T)
        update = _rounded(gram * second + gram @ gram * third)
        x = _rounded(x * first + update @ x)
    return x if wide else x.T


def _rounded(x):
    """Elements of float32 that are numbers of bfloat16: each step is rounded once."""
    return np.asarray(x).astype(bfloat16).astype(np.float32)


class SparseAdam(Optimizer):
    """Adam of sparse gradients, which are not served: NotImplementedError."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        raise NotImplementedError(
            message("SparseAdam", "sparse gradients are not served",
                    f"lr={lr}, betas={betas}, eps={eps}, maximize={maximize} for {params!r}",
                    "Adam, with embeddings without sparse=True")
        )  # fmt: skip
