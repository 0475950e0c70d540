"""Random programs of training run by PyTorch and by Numbus: optimizers with all their keywords,
schedulers that follow one another, states that are kept and given back in the middle, frozen
parameters, averages, scalers, autocast, loaders and samplers, states of modules, wrong arguments.

    python tests/fuzz/training.py grow --first 0 --count 1000 --file training.jsonl # with PyTorch
    python tests/fuzz/training.py check --file training.jsonl                       # with Numbus

`--optimizers`, `--schedules`, `--loaders`, `--casts`, `--modules`, `--distributions` and
`--specials` choose among the kinds of programs. A program is a list of statements; what
they see and the kinds of their errors are compared.
"""

import copy
import io
import json
import random
import sys

import numpy
import training_draws
import training_grammar
import training_parts
from beside_torch import close, main

MADE = {**training_grammar.KINDS, **training_parts.KINDS, **training_draws.KINDS}
KINDS = list(MADE)


class Seen:
    """What the statements of a program have seen."""

    def __init__(self, torch, seed, dtype):
        self.torch, self.rng, self.entries = torch, numpy.random.default_rng(seed), []
        self.dtype = getattr(torch, dtype)

    def drawn(self, *shape, dtype=None):
        return self.torch.tensor(self.rng.normal(size=shape) * 0.5, dtype=dtype or self.dtype)

    def __call__(self, *values):
        self.entries.append([self.plain(v) for v in values])

    def plain(self, value):
        """A value as JSON has it."""
        if isinstance(value, self.torch.Tensor):
            held = value.detach()
            if held.is_sparse:
                return ["sparse", self.plain(held.to_dense())]
            kind = str(held.dtype)
            if held.is_floating_point():
                held = held.double()
            return ["tensor", kind, list(held.shape), held.reshape(-1).tolist()]
        if isinstance(value, dict):
            return ["dict"] + sorted(
                ([str(k), self.plain(v)] for k, v in value.items()), key=lambda item: item[0]
            )
        if isinstance(value, numpy.ndarray):
            return ["array", str(value.dtype), value.tolist()]
        if isinstance(value, (list, tuple)):
            return [type(value).__name__.strip("_"), *(self.plain(v) for v in value)]
        if isinstance(value, (bool, int, float, str, type(None))):
            return value
        if isinstance(value, numpy.generic):
            return value.item()
        if isinstance(value, (self.torch.dtype, self.torch.Size)):
            return str(value)
        return f"<{type(value).__name__}>"


def error_kind(error):
    """The first public kind of an error, as programs catch it."""
    builtin = [k.__name__ for k in type(error).__mro__ if k.__module__ == "builtins"]
    return builtin[0]


def ran(torch, plan, seed):
    """What each statement of a program saw, and the kind of its error."""
    see = Seen(torch, seed, plan["dtype"])
    scope = {
        "torch": torch, "nn": torch.nn, "lr": torch.optim.lr_scheduler, "see": see, "io": io,
        "numpy": numpy, "drawn": see.drawn, "copy": copy, "data": torch.utils.data,
        "F": torch.nn.functional, "D": torch.distributions, "utils": torch.nn.utils,
        "init": torch.nn.init,
    }  # fmt: skip
    seen = []
    for k, text in enumerate(plan["text"]):
        see.entries = []
        try:
            exec(text, scope)
        except Exception as error:
            see.entries.append(["raises", error_kind(error), str(error)[:90]])
        if see.entries:
            seen.append([k, see.entries])
    return seen


def plain_json(value):
    return json.loads(json.dumps(value))


# What only one of the two keeps: how it counts, and keywords that change nothing or came later.
NOT_THERE = {"_step_count", "_is_initial", "scale_mode", "differentiable", "maximize", "al"}


def settled(value):
    """What has to be alike: a number may be a tensor without axes, errors have any words."""
    if not isinstance(value, list):
        return value
    if value[:1] == ["raises"]:
        return value[:2]
    if value[:1] == ["tensor"] and value[2] == [] and "float" in value[1]:
        return value[3][0]
    made = [settled(v) for v in value]
    if made[:1] == ["dict"]:
        kept = [v for v in made[1:] if v[1] != ["dict"] and v[0] not in NOT_THERE]
        made = ["dict", *kept]
    return made


def check(torch, seed, plan, wanted):
    """Whether Numbus saw what PyTorch saw."""
    found = plain_json(ran(torch, plan, seed))
    tolerance = 1e-6 if plan["dtype"] == "float64" else 1e-3
    for (k, a), (m, b) in zip([*wanted, [-1, []]], [*found, [-1, []]]):
        if k == m and close(settled(a), settled(b), tolerance):
            continue
        at = min(x for x in (k, m) if x >= 0) if max(k, m) >= 0 else 0
        if k != m:
            a, b = (a if k == at else []), (b if m == at else [])
        which = ["", ""]
        for n, e in enumerate((a, b)):
            if e and e[-1][:1] == ["raises"]:
                which[n] = e[-1][1]
        word = "differs"
        if which[1] and not which[0]:
            word = "refused"
        elif which[0] and not which[1]:
            word = "lenient"
        elif which[0] != which[1]:
            word = "other error"
        how = difference(settled(b), settled(a), tolerance)
        return f"{word}: {plan['text'][at]!r}\n      {how}"
    return "alike"


def difference(found, wanted, tolerance):
    """The first place where two lists differ, in words."""
    if isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        for a, b in zip(found, wanted):
            if not close(a, b, tolerance):
                head = f"[{found[0]}] " if isinstance(found[0], str) else "."
                return head + difference(a, b, tolerance)
    return f"{str(found)[:230]} for {str(wanted)[:230]}"


def grow(seed):
    rng = random.Random(seed)
    kind = rng.choice(KINDS)
    text = MADE[kind](rng)
    dtype = rng.choice(["float64", "float64", "float32"])
    if any("LBFGS" in part for part in text):
        dtype = "float64"  # its ways part where a rounding differs
    return {"kind": kind, "dtype": dtype, "text": text}


def line(torch, seed, _):
    import torch.nn.utils.prune  # which PyTorch does not import by itself

    plan = grow(seed)
    return plan, plain_json(ran(torch, plan, seed))


if __name__ == "__main__":
    flags = [k.removeprefix("--") for k in sys.argv if k.removeprefix("--") in KINDS]
    sys.argv = [a for a in sys.argv if a.removeprefix("--") not in KINDS]
    KINDS = flags or KINDS
    raise SystemExit(main(__doc__, line, check, ("alike",)))
