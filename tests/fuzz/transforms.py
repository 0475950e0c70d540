"""Transforms of random functions (vmap, grad, jvp, Jacobians, Hessians), by PyTorch and by Numbus.

    python tests/fuzz/transforms.py grow --first 0 --count 1000 --file transforms.jsonl
    python tests/fuzz/transforms.py check --file transforms.jsonl

The functions are the calls of calls.py. `grow` needs PyTorch and writes down what it gives; `check`
prints what Numbus gives otherwise. All is in float64. Printed with `--all` only: transforms that
one of the two refuses ("refused", "lenient").
"""

import random

import calls
import numpy
from beside_torch import close, main, refusals, tried

TOLERANCE = 1e-7
KINDS = (
    "vmap", "vmap", "vmap of grad", "jacrev", "jacfwd", "hessian", "jvp", "vjp", "grad of grad",
)  # fmt: skip


def grow(seed):
    """A call, how it is transformed, and the axes along which vmap maps operands and results."""
    plan = calls.grow(seed)
    while "module(" in plan["call"] or not plan["operands"]:
        seed += 1_000_003
        plan = calls.grow(seed)
    rng = random.Random(seed + 1)
    axes = []
    for shape, _ in plan["operands"]:
        axes.append(rng.choice([None, 0, 0, rng.randrange(-len(shape) - 1, len(shape) + 1)]))
    if all(axis is None for axis in axes):
        axes[0] = 0
    how, out, size = rng.choice(KINDS), rng.choice([0, 0, -1]), rng.randint(1, 3)
    return {**plan, "how": how, "axes": axes, "out": out, "size": size}


def drawn(torch, rng, plan):
    """The operands, with the mapped axis where there is one, and none turned around."""
    operands = []
    for (shape, kind), axis in zip(plan["operands"], plan["axes"]):
        extents = list(shape)
        if plan["how"].startswith("vmap") and axis is not None:
            extents.insert(axis if axis >= 0 else axis + len(shape) + 1, plan["size"])
        operands.append(calls.operand(torch, rng, tuple(extents), kind))
    return operands


def transformed(torch, plan, seed):
    """[shape, dtype, numbers] of each result."""
    rng = numpy.random.default_rng(seed)
    operands = drawn(torch, rng, plan)
    scope = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional}

    def function(*a):
        made = calls.results(eval(plan["call"], {**scope, "a": a}), torch)
        return made[0] if len(made) == 1 else tuple(made)

    def floats(made):
        made = made if isinstance(made, tuple) else (made,)
        return [t for t in made if t.is_floating_point()]

    def total(*a):
        """One number, which depends on every element of the results in its own way."""
        found = 0.0
        for t in floats(function(*a)):
            weights = numpy.random.default_rng(7).normal(size=tuple(t.shape))
            found = found + (t * torch.tensor(weights)).sum()
        return found

    func = torch.func
    first = next(k for k, t in enumerate(operands) if t.is_floating_point())

    def of_first(f):
        return lambda x: f(*operands[:first], x, *operands[first + 1 :])

    x = operands[first]
    tangent = torch.tensor(numpy.random.default_rng(8).normal(size=tuple(x.shape)))
    how = plan["how"]
    if how == "vmap":
        made = torch.vmap(function, tuple(plan["axes"]), plan["out"])(*operands)
    elif how == "vmap of grad":
        made = torch.vmap(func.grad(total, first), tuple(plan["axes"]))(*operands)
    elif how in ("jacrev", "jacfwd"):
        made = getattr(func, how)(of_first(lambda *a: floats(function(*a))[0]))(x)
    elif how == "hessian":
        made = func.hessian(of_first(total))(x)
    elif how == "jvp":
        made = func.jvp(of_first(lambda *a: tuple(floats(function(*a)))), (x,), (tangent,))
    elif how == "vjp":
        given, back = func.vjp(of_first(lambda *a: floats(function(*a))[0]), x)
        seed_of = torch.tensor(numpy.random.default_rng(9).normal(size=tuple(given.shape)))
        made = (given, back(seed_of)[0])
    else:
        slope = func.grad(of_first(total))
        made = func.grad(lambda y: (slope(y) * tangent).sum())(x)
    flat = calls.results(made, torch)
    return [[list(t.shape), str(t.dtype), t.detach().reshape(-1).tolist()] for t in flat]


def check(torch, seed, plan, wanted):
    """What the two have in common, or in what they differ."""
    found = tried(transformed, torch, plan, seed)
    if refused := refusals(wanted, found):
        return f"{refused}: {found}" if refused == "refused" else refused
    if close(wanted, found, TOLERANCE):
        return "alike"
    pairs = enumerate(zip(wanted, found))
    at = next((k for k, (a, b) in pairs if not close(a, b, TOLERANCE)), -1)
    return f"differs: {str(found[at])[:150]} for {str(wanted[at])[:150]}"


def line(torch, seed, args):
    plan = grow(seed)
    return plan, tried(transformed, torch, plan, seed)


if __name__ == "__main__":
    raise SystemExit(main(__doc__, line, check, ("alike", "both refuse", "refused", "lenient")))
