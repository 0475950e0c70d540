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
        Of calls of the closure a step; a line search that begins before may make one more.
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

    def _direction(self, gradient, history, scale):
        """Minus the gradient times the inverse curvature that steps, changes, 1 / products tell."""
        pairs = list(zip(*history, strict=True))
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
        if len(self.param_groups) != 1:
            raise AssertionError(
                message("LBFGS", "groups of parameters", len(self.param_groups), "one group")
            )
        closure = self._call_before(closure)
        first = self._steps(closure)
        self._call_after(closure)
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
        changes, steps, products = (
            state.setdefault(name, []) for name in ("old_dirs", "old_stps", "ro")
        )
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
                y = gradient - state["prev_flat_grad"]
                s = state["d"] * state["t"]
                product = float(y.dot(s))
                scale = state["H_diag"]
                if product > 1e-10:
                    if len(changes) == group["history_size"]:
                        for kept in (changes, steps, products):
                            kept.pop(0)
                    changes.append(y)
                    steps.append(s)
                    products.append(1.0 / product)
                    scale = product / float(y.dot(y))
                direction = self._direction(gradient, (steps, changes, products), scale)
            state["prev_flat_grad"], state["d"], state["H_diag"] = gradient, direction, scale
            state["prev_loss"] = loss
            before = loss
            t = float(group["lr"])  # which may be a tensor, and stays as it is
            if state["n_iter"] == 1:
                t *= min(1.0, 1.0 / float(gradient.abs().sum()))
            state["t"] = t
            slope = float(gradient.dot(direction))
            if slope > -group["tolerance_change"]:
                break
            if group["line_search_fn"] == "strong_wolfe":
                start = 0.0, loss, gradient, slope
                left = group["max_eval"] - evaluations
                t, loss, gradient = self._search(evaluate, t, direction, start, left)
                state["t"] = t
            else:
                self._move(t, direction)
                if done + 1 < group["max_iter"]:
                    _, loss, gradient = evaluate()
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

    def _search(self, evaluate, t, direction, start, calls):
        """(step, loss, gradient) under the strong Wolfe conditions, c1 = 1e-4 and c2 = 0.9, or the
        lowest that was found by one call and `calls` more; the parameters are moved there.
        """
        begin = [p.detach().clone() for p in self._params()]
        _, loss, _, slope = start
        width, least = float(direction.abs().max()), self.param_groups[0]["tolerance_change"]

        def move(t):
            with no_grad():
                for p, x in zip(self._params(), begin, strict=True):
                    p.copy_(x)
            self._move(t, direction)

        def at(t):
            move(t)
            _, value, g = evaluate()
            return t, value, g, float(g.dot(direction))

        def too_high(point):
            return point[1] > loss + 1e-4 * point[0] * slope

        def flat(point):
            return abs(point[3]) <= -0.9 * slope

        before, here, done = start, at(t), 0
        ends = None  # of the part in which the search goes on: the lower one of the two first
        while done < calls:
            if too_high(here) or (done > 1 and here[1] >= before[1]):
                ends = before, here
            elif flat(here):
                return here[:3]
            elif here[3] >= 0:
                ends = before, here
            if ends:
                break
            t = here[0]
            t = _lowest(before, here, t + 0.01 * (t - before[0]), 10 * t)
            before, here, done = here, at(t), done + 1
        low, high = _ordered(*(ends or (start, here)))
        short = False  # whether the last step was near an end
        while done < calls:
            left, right = min(low[0], high[0]), max(low[0], high[0])
            if (right - left) * width < least:
                break
            t, margin = _lowest(low, high, left, right), 0.1 * (right - left)
            if min(right - t, t - left) >= margin:
                short = False
            elif not short and left < t < right:
                short = True
            else:
                t = right - margin if right - t < t - left else left + margin
                short = False
            here, done = at(t), done + 1
            if too_high(here) or here[1] >= low[1]:
                low, high = _ordered(low, here)
                continue
            if flat(here):
                low = here
                break
            if here[3] * (high[0] - low[0]) >= 0:
                high = low
            low = here
        if here is not low:
            move(low[0])
        return low[:3]


def _ordered(a, b):
    """Two points, the lower one first."""
    return (a, b) if a[1] <= b[1] else (b, a)


def _lowest(a, b, left, right):
    """Where the cubic polynomial through two points with slopes is lowest from left to right; the
    middle where it has no lowest point.
    """
    (ta, fa, _, sa), (tb, fb, _, sb) = sorted((a, b), key=lambda point: point[0])
    if ta == tb:
        return (left + right) / 2
    d = sa + sb - 3 * (fa - fb) / (ta - tb)
    square = d * d - sa * sb
    below = sb - sa + 2 * math.sqrt(square) if square >= 0 else 0.0
    if not below or not math.isfinite(below):
        return (left + right) / 2
    return min(max(tb - (tb - ta) * ((sb + math.sqrt(square) - d) / below), left), right)
