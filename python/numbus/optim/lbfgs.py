"""L-BFGS: steps along directions that curvature of the last steps shapes (Nocedal, 1980)."""

import math

from ..core.errors import message
from ..tensors import cat, enable_grad, no_grad
from .optimizer import Optimizer, check


class LBFGS(Optimizer):
    """Limited-memory BFGS; `step(closure)` calls the closure several times.

    Parameters
    ----------
    params : iterable of Tensor
        One group only.
    lr : float, default 1
    max_iter : int, default 20
        Of directions a step.
    max_eval : int, default 1.25 max_iter
        Of calls of the closure a step.
    tolerance_grad, tolerance_change : float
        The step ends where no gradient is larger, or where parameters or the loss change by less.
    history_size : int, default 100
    line_search_fn : {None, "strong_wolfe"}
        None takes steps of `lr` along each direction; "strong_wolfe" looks for one that lowers the
        loss and its slope enough (Nocedal and Wright, Numerical Optimization, algorithms 3.5, 3.6).

    Raises
    ------
    ValueError
        For several groups, and for another line search.
    """

    def __init__(
        self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9,
        history_size=100, line_search_fn=None,
    ):  # fmt: skip
        check("LBFGS", lr=lr)
        if line_search_fn not in (None, "strong_wolfe"):
            raise ValueError(message("LBFGS", "line_search_fn", line_search_fn, "'strong_wolfe'"))
        defaults = {
            "lr": lr, "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change,
            "history_size": history_size, "line_search_fn": line_search_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError(
                message("LBFGS", "parameter groups", len(self.param_groups), "one group")
            )

    def _params(self):
        return self.param_groups[0]["params"]

    @no_grad()
    def _gradient(self):
        lines = [
            (p.detach() * 0 if p.grad is None else p.grad.detach()).reshape(-1)
            for p in self._params()
        ]
        return cat(lines)

    @no_grad()
    def _move(self, t, direction):
        at = 0
        for p in self._params():
            n = p.numel()
            p.add_(direction[at : at + n].reshape(p.shape), alpha=t)
            at += n

    def _direction(self, gradient, pairs, scale):
        """Minus the gradient times the inverse curvature that (step, change, 1 / product) tell."""
        q, kept = -gradient, []
        for s, y, rho in reversed(pairs):
            a = s.dot(q) * rho
            q = q - y * a
            kept.append(a)
        q = q * scale
        for (s, y, rho), a in zip(pairs, reversed(kept), strict=True):
            q = q + s * (a - y.dot(q) * rho)
        return q

    def step(self, closure):
        """Makes up to max_iter steps; closure finds gradients and returns the loss, whose value
        before the first of them is returned.
        """
        for hook in list(self._before.values()):
            hook(self, (closure,), {})
        first = self._steps(closure)
        for hook in list(self._after.values()):
            hook(self, (closure,), {})
        return first

    def _steps(self, closure):
        group, state = self.param_groups[0], self.state[self._params()[0]]
        evaluations = 0

        def evaluate():
            nonlocal evaluations
            evaluations += 1
            with enable_grad():
                loss = closure()
                value = float(loss)
            return loss, value, self._gradient()

        first, loss, gradient = evaluate()
        pairs = state.setdefault("pairs", [])
        state["func_evals"] = state.get("func_evals", 0)
        state["n_iter"] = state.get("n_iter", 0)
        if float(gradient.abs().max()) <= group["tolerance_grad"]:
            state["func_evals"] += evaluations
            return first
        for done in range(group["max_iter"]):
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                direction, scale = -gradient, 1.0
            else:
                y = gradient - state["gradient"]
                s = state["direction"] * state["t"]
                product = float(y.dot(s))
                scale = state["scale"]
                if product > 1e-10:
                    if len(pairs) == group["history_size"]:
                        pairs.pop(0)
                    pairs.append((s, y, 1.0 / product))
                    scale = product / float(y.dot(y))
                direction = self._direction(gradient, pairs, scale)
            state["gradient"], state["direction"], state["scale"] = gradient, direction, scale
            before = loss
            t = float(group["lr"])  # which may be a tensor, and stays as it is
            if state["n_iter"] == 1:
                t *= min(1.0, 1.0 / float(gradient.abs().sum()))
            slope = float(gradient.dot(direction))
            if slope > -group["tolerance_change"]:
                break
            if group["line_search_fn"] == "strong_wolfe":
                t, loss, gradient = self._search(evaluate, t, direction, loss, gradient, slope)
            else:
                self._move(t, direction)
                if done + 1 < group["max_iter"]:
                    _, loss, gradient = evaluate()
            state["t"] = t
            if evaluations >= group["max_eval"]:
                break
            if float(gradient.abs().max()) <= group["tolerance_grad"]:
                break
            if float((direction * t).abs().max()) <= group["tolerance_change"]:
                break
            if abs(loss - before) < group["tolerance_change"]:
                break
        state["func_evals"] += evaluations
        return first

    def _search(self, evaluate, t, direction, loss, gradient, slope, calls=25):
        """(step, loss, gradient) under the strong Wolfe conditions, c1 = 1e-4 and c2 = 0.9, or the
        lowest that was found; the parameters are moved there.
        """
        start = [p.detach().clone() for p in self._params()]

        def at(t):
            with no_grad():
                for p, x in zip(self._params(), start, strict=True):
                    p.copy_(x)
            self._move(t, direction)
            _, value, g = evaluate()
            return t, value, g, float(g.dot(direction))

        low = (0.0, loss, gradient, slope)  # the best that lowers the loss enough
        high = None
        while calls > 0:
            calls -= 1
            here = at(t)
            lowered = here[1] <= loss + 1e-4 * t * slope and math.isfinite(here[1])
            if lowered and abs(here[3]) <= -0.9 * slope:
                return here[0], here[1], here[2]
            if not lowered or here[1] >= low[1]:
                high = here
            elif here[3] >= 0:
                high, low = low, here
            else:
                low = here
            if high is None:
                t = min(10 * t, max(1.01 * t, _lowest(here, (0.0, loss, gradient, slope))))
                continue
            width = abs(high[0] - low[0])
            if width * float(direction.abs().max()) < 1e-9:
                break
            t = _lowest(low, high)
            left, right = min(low[0], high[0]), max(low[0], high[0])
            if not left + 0.1 * width <= t <= right - 0.1 * width:
                t = left + width / 2
        _, value, g, _ = at(low[0])
        return low[0], value, g


def _lowest(a, b):
    """Where the cubic polynomial through two points with slopes is lowest; the middle else."""
    (ta, fa, _, sa), (tb, fb, _, sb) = a, b
    if ta == tb or not math.isfinite(fb) or not math.isfinite(sb):
        return (ta + tb) / 2
    d = sa + sb - 3 * (fa - fb) / (ta - tb)
    root = d * d - sa * sb
    if root < 0:
        return (ta + tb) / 2
    root = math.copysign(math.sqrt(root), tb - ta)
    below = sb - sa + 2 * root
    return tb - (tb - ta) * (sb + root - d) / below if below else (ta + tb) / 2
