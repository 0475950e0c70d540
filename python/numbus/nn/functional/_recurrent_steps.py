"""The steps of a recurrent layer with their derivative: of each step little has to be recorded, and
the derivative by the weights is one product for all steps.
"""

import numbus as nb

from ... import _core
from ...core.routines import product as matrices
from ...functions import names as np
from ...gradients import custom_gradient


def _logistic(x):
    """1 / (1 + exp(-x)), whose overflow gives the right 0; derivatives are found without it."""
    return 1 / (1 + np.exp(-x))


class Lstm:
    """Long short-term memory: the state is (h, c); the gates i, f, g, o."""

    inside = False  # whether the product's bias stands within a gate

    def __init__(self, n):
        self.n = n

    def step(self, given, product, state):
        """(the state after, what the derivative needs of this step)."""
        n = self.n
        z = given + product
        s, g = _logistic(z), np.tanh(z[..., 2 * n : 3 * n])
        c = s[..., n : 2 * n] * state[1] + s[..., :n] * g
        wide = np.tanh(c)
        return (s[..., 3 * n :] * wide, c), (s, g, wide)

    def slopes(self, saved, before):
        """Factors of a step's derivatives, for all steps at once; before: the states before."""
        n, (s, g, wide) = self.n, saved
        i, f, o = s[..., :n], s[..., n : 2 * n], s[..., 3 * n :]
        inner = np.stack([g * i * (1 - i), before[1] * f * (1 - f), i * (1 - g * g)], axis=-2)
        return inner, wide * o * (1 - o), o * (1 - wide * wide), f

    def back(self, slopes, d):
        """The derivatives by what is given and by the product, and those by the state before but
        for what goes through the product.
        """
        inner, outer, through, f = slopes
        dh, dc = d
        dc = dc + dh * through
        parts = inner * dc[..., None, :]
        z = np.concatenate([parts.reshape((*parts.shape[:-2], 3 * self.n)), dh * outer], axis=-1)
        return z, z, (None, dc * f)


class Gru:
    """Gated recurrent units: the gates r, u and the new value, with the reset after the product."""

    inside = True

    def __init__(self, n):
        self.n = n

    def step(self, given, product, state):
        n, h = self.n, state[0]
        s = _logistic(given[..., : 2 * n] + product[..., : 2 * n])
        u, last = s[..., n:], product[..., 2 * n :]
        new = np.tanh(given[..., 2 * n :] + s[..., :n] * last)
        return ((1 - u) * new + u * h,), (s, new, last)

    def slopes(self, saved, before):
        n, (s, new, last) = self.n, saved
        r, u = s[..., :n], s[..., n:]
        return (
            (1 - u) * (1 - new * new), (before[0] - new) * u * (1 - u), last * r * (1 - r), r, u,
        )  # fmt: skip

    def back(self, slopes, d):
        by_new, by_u, by_r, r, u = slopes
        (dh,) = d
        new = dh * by_new
        gates = [new * by_r, dh * by_u]
        given = np.concatenate([*gates, new], axis=-1)
        return given, np.concatenate([*gates, new * r], axis=-1), (dh * u,)


class Tanh:
    """tanh of what the input gives and the last state does."""

    inside = False

    def __init__(self, n):
        self.n = n

    def step(self, given, product, _state):
        h = np.tanh(given + product)
        return (h,), (h,)

    def slopes(self, saved, _before):
        return (1 - saved[0] * saved[0],)

    def back(self, slopes, d):
        z = d[0] * slopes[0]
        return z, z, (None,)


class Relu(Tanh):
    """The same with the larger one of it and 0."""

    def step(self, given, product, _state):
        z = given + product
        h = np.where(z <= 0, z.dtype.type(0), z)
        return (h,), (h,)

    def slopes(self, saved, _before):
        return ((saved[0] > 0).astype(saved[0].dtype),)


def steps_of(kind, every, state, w, b, order, here):
    """(states of all steps, last state) of a net whose input gives `every`, (steps, batch, gates).

    w, b: of the product with the state; order: of the steps; here: see `recurrent`.
    """
    net = kind(state[0].shape[-1])
    if b is not None and not net.inside:
        every, b = every + b, None
    kinds = len(state)
    args = [every, w, *state] if b is None else [every, w, *state, b]
    follows = any([_core.depends(a) for a in args])

    def run(every, w, *rest):
        state, b = rest[:kinds], rest[kinds] if len(rest) > kinds else None
        shape = state[0].shape
        factor = np.ascontiguousarray(w.T)  # so that no step has to transpose it
        found, saved, before = [None] * len(order), [None] * len(order), [None] * len(order)
        with nb.errstate(over="ignore"):
            for t in order:
                given = matrices(state[0], factor)
                if b is not None:
                    given = given + b
                after, own = net.step(every[t], given, state)
                if here is not None:
                    has = here[t][:, None]
                    after = tuple(
                        [np.where(has, new, old) for new, old in zip(after, state, strict=True)]
                    )
                if follows:
                    saved[t], before[t] = own, state
                state = after
                found[t] = state[0]

        def pull(adjoints):
            outputs, d = adjoints[0], list(adjoints[1:])
            befores = [np.stack(list(column)) for column in zip(*before, strict=True)]
            of_all = net.slopes([np.stack(list(c)) for c in zip(*saved, strict=True)], befores)
            givens, products = [None] * len(order), [None] * len(order)
            for t in reversed(order):
                d[0] = d[0] + outputs[t]
                now = d
                if here is not None:
                    has = here[t][:, None]
                    now = [np.where(has, x, x.dtype.type(0)) for x in d]
                givens[t], products[t], past = net.back([x[t] for x in of_all], now)
                through = matrices(products[t], w)
                past = [through if past[0] is None else past[0] + through, *past[1:]]
                if here is not None:
                    past = [np.where(has, x, old) for x, old in zip(past, d, strict=True)]
                d = past
            given = np.stack(givens)
            product = given if all(
                [x is y for x, y in zip(givens, products, strict=True)]
            ) else np.stack(products)  # fmt: skip
            flat = product.reshape((-1, product.shape[-1]))
            of_w = np.matmul(flat.T, befores[0].reshape((-1, shape[-1])))
            of_b = () if b is None else (np.sum(flat, axis=0),)
            return (given, of_w, *d, *of_b)

        return (np.stack(found), *state), pull

    made = custom_gradient(run, repeats=True)(*args)
    return made[0], tuple(made[1:])
