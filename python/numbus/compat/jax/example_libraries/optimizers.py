"""jax.example_libraries.optimizers: optimizers as triples of functions (init, update, get_params).

`init` makes the state of a tree of parameters, `update(i, gradient, state)` the next one,
`get_params` the parameters of a state.
"""

import collections
import functools

from ....core.errors import message
from ..._missing import missing as _missing
from .. import numpy as jnp
from .. import tree_util

__name__ = "jax.example_libraries.optimizers"
Optimizer = collections.namedtuple("Optimizer", "init_fn update_fn params_fn")


class OptimizerState:
    """The states of the leaves, as trees, and the form of the tree of parameters."""

    def __init__(self, states, form):
        self.states, self.form = states, form


tree_util.register_pytree_node(
    OptimizerState,
    lambda state: (state.states, state.form),
    lambda form, states: OptimizerState(list(states), form),
)


def optimizer(opt_maker):
    """A maker of such functions for one array as a maker of those for trees."""

    @functools.wraps(opt_maker)
    def maker(*args, **keywords):
        init, update, get_params = opt_maker(*args, **keywords)

        def init_all(params):
            leaves, form = tree_util.tree_flatten(params)
            return OptimizerState([init(jnp.asarray(x)) for x in leaves], form)

        def update_all(i, gradient, state):
            leaves, form = tree_util.tree_flatten(gradient)
            if form != state.form:
                raise TypeError(
                    message("update", "the gradients are another tree than the parameters", form,
                            state.form)
                )  # fmt: skip
            states = [update(i, g, s) for g, s in zip(leaves, state.states, strict=True)]
            return OptimizerState(states, form)

        def params_of(state):
            return state.form.unflatten([get_params(s) for s in state.states])

        return Optimizer(init_all, update_all, params_of)

    return maker


def _with_zeros(count, step):
    """Functions of a state of the array and `count` arrays of zeros at first."""

    def init(x):
        return (x, *[jnp.zeros_like(x) for _ in range(count)])

    return init, lambda i, g, state: step(i, g, *state), lambda state: state[0]


@optimizer
def sgd(step_size):
    """Steps against the gradient."""
    rate = make_schedule(step_size)
    return _with_zeros(0, lambda i, g, x: (x - rate(i) * g,))


@optimizer
def momentum(step_size, mass):
    """Steps along gradients that add up and fade by `mass`."""
    rate = make_schedule(step_size)

    def step(i, g, x, v):
        v = mass * v + g
        return x - rate(i) * v, v

    return _with_zeros(1, step)


@optimizer
def nesterov(step_size, mass):
    """As `momentum`, by the gradient at the place where it would lead."""
    rate = make_schedule(step_size)

    def step(i, g, x, v):
        v = mass * v + g
        return x - rate(i) * (mass * v + g), v

    return _with_zeros(1, step)


@optimizer
def adagrad(step_size, momentum=0.9):
    """Steps by gradients over the root of the sum of their squares (Duchi, 2011)."""
    rate = make_schedule(step_size)

    def step(i, g, x, squares, m):
        squares = squares + jnp.square(g)
        over = jnp.where(squares > 0, 1.0 / jnp.sqrt(squares), 0.0)
        m = (1.0 - momentum) * (g * over) + momentum * m
        return x - rate(i) * m, squares, m

    return _with_zeros(2, step)


@optimizer
def rmsprop(step_size, gamma=0.9, eps=1e-8):
    """Steps by gradients over the root of the mean of their squares."""
    rate = make_schedule(step_size)

    def step(i, g, x, squares):
        squares = squares * gamma + jnp.square(g) * (1.0 - gamma)
        return x - rate(i) * g / jnp.sqrt(squares + eps), squares

    return _with_zeros(1, step)


@optimizer
def rmsprop_momentum(step_size, gamma=0.9, eps=1e-8, momentum=0.9):
    """As `rmsprop`, by steps that add up and fade."""
    rate = make_schedule(step_size)

    def step(i, g, x, squares, m):
        squares = squares * gamma + jnp.square(g) * (1.0 - gamma)
        m = momentum * m + rate(i) * g / jnp.sqrt(squares + eps)
        return x - m, squares, m

    return _with_zeros(2, step)


@optimizer
def adam(step_size, b1=0.9, b2=0.999, eps=1e-8):
    """Steps by means of gradients over the root of the mean of their squares (Kingma, 2014)."""
    rate = make_schedule(step_size)

    def step(i, g, x, m, v):
        m = (1 - b1) * g + b1 * m
        v = (1 - b2) * jnp.square(g) + b2 * v
        m_all = m / (1 - jnp.asarray(b1, m.dtype) ** (i + 1))
        v_all = v / (1 - jnp.asarray(b2, m.dtype) ** (i + 1))
        return x - rate(i) * m_all / (jnp.sqrt(v_all) + eps), m, v

    return _with_zeros(2, step)


@optimizer
def adamax(step_size, b1=0.9, b2=0.999, eps=1e-8):
    """As `adam`, over the greatest gradient, which fades."""
    rate = make_schedule(step_size)

    def step(i, g, x, m, u):
        m = (1 - b1) * g + b1 * m
        u = jnp.maximum(b2 * u, jnp.abs(g))
        scale = rate(i) / (1 - jnp.asarray(b1, m.dtype) ** (i + 1))
        return x - scale * m / (u + eps), m, u

    return _with_zeros(2, step)


# -- step sizes ------------------------------------------------------------------------------------


def constant(step_size):
    """One step size."""
    return lambda i: step_size


def exponential_decay(step_size, decay_steps, decay_rate):
    """A step size that falls by a factor in a number of steps."""
    return lambda i: step_size * decay_rate ** (i / decay_steps)


def inverse_time_decay(step_size, decay_steps, decay_rate, staircase=False):
    """A step size that falls as 1 / (1 + rate * steps)."""
    if staircase:
        return lambda i: step_size / (1 + decay_rate * jnp.floor(i / decay_steps))
    return lambda i: step_size / (1 + decay_rate * i / decay_steps)


def polynomial_decay(step_size, decay_steps, final_step_size, power=1.0):
    """A step size that falls to a last one along a power."""

    def schedule(i):
        rest = (1 - jnp.minimum(i, decay_steps) / decay_steps) ** power
        return rest * (step_size - final_step_size) + final_step_size

    return schedule


def piecewise_constant(boundaries, values):
    """Step sizes that change at given steps."""
    boundaries, values = jnp.array(boundaries), jnp.array(values)
    if boundaries.ndim != 1 or values.shape != (boundaries.size + 1,):
        raise ValueError("boundaries length must be one shorter than values length")
    return lambda i: values[jnp.sum(i > boundaries)]


def make_schedule(scalar_or_schedule):
    """A function of the step, of a number, too."""
    if callable(scalar_or_schedule):
        return scalar_or_schedule
    if jnp.ndim(scalar_or_schedule) == 0:
        return constant(scalar_or_schedule)
    raise TypeError(type(scalar_or_schedule))


# -- gradients -------------------------------------------------------------------------------------


def l2_norm(tree):
    """The length of all leaves as one vector."""
    return jnp.sqrt(sum([jnp.vdot(x, x) for x in tree_util.tree_leaves(tree)]))


def clip_grads(grad_tree, max_norm):
    """Gradients whose length is at most `max_norm`."""
    norm = l2_norm(grad_tree)
    return tree_util.tree_map(lambda g: jnp.where(norm < max_norm, g, g * (max_norm / norm)),
                              grad_tree)  # fmt: skip


def __getattr__(name):
    return _missing("jax.example_libraries.optimizers", name)
