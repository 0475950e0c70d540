"""Random programs of tensors (views, in-place writes, leaves, detached tensors, derivatives), run
by PyTorch and by Numbus.

    python tests/fuzz/tensors.py grow --first 0 --count 1000 --file programs.jsonl   # with PyTorch
    python tests/fuzz/tensors.py check --file programs.jsonl                         # with Numbus

`grow` writes programs down as PyTorch carries them out, with what each statement did. `check`
carries them out and prints where that differs: other numbers, another `requires_grad`, `is_leaf` or
`grad`, an error that PyTorch has not ("refused"), none where PyTorch has one ("lenient"). Programs
end at their first difference. Numbers are multiples of a power of two as far as possible.
"""

import random

from beside_torch import close, main

TOLERANCE = 1e-9


class Grower:
    """Statements that fit the tensors there are."""

    def __init__(self, seed, torch):
        self.rng, self.torch = random.Random(seed), torch
        self.names, self.scope, self.count = [], {"torch": torch, "own": own}, 0
        self.statements = []

    def new(self):
        self.count += 1
        return f"v{self.count}"

    def pick(self, *choices):
        return self.rng.choice(choices)

    def some(self, fits=lambda t: True):
        """The name of a tensor that fits; None: there is none."""
        found = [n for n in self.names if fits(self.scope[n])]
        if not found:
            return None
        return self.rng.choice(found[-4:] if self.rng.random() < 0.6 else found)

    def alike(self, name, apart=False):
        """A tensor, or text of a number, that broadcasts to the named one. apart: of other memory,
        as PyTorch does not say what it writes otherwise.
        """
        shape, memory = self.scope[name].shape, self.scope[name].untyped_storage().data_ptr()

        def fits(t):
            if apart and t.untyped_storage().data_ptr() == memory:
                return False
            pairs = zip(reversed(t.shape), reversed(shape))
            return t.ndim <= len(shape) and all(n in (1, m) for n, m in pairs)

        other = self.some(fits)
        return other if other and self.rng.random() < 0.8 else self.pick("0.5", "2", "-1.5")

    def literal(self, shape):
        def numbers(dims):
            if not dims:
                return self.rng.randint(-12, 12) / 8
            return [numbers(dims[1:]) for _ in range(dims[0])]

        return numbers(list(shape))

    # ---- statements: text; None: nothing fits ----
    def leaf(self):
        shape = self.pick((3,), (2, 3), (3, 2), (2, 2), (), (4,), (2, 1, 3))
        requires = self.pick(", requires_grad=True", ", requires_grad=True", "")
        return f"{self.new()} = torch.tensor({self.literal(shape)}, dtype=torch.float64{requires})"

    def view(self):
        n = self.some(lambda t: t.ndim > 0)
        if n is None:
            return None
        t, r = self.scope[n], self.rng
        d = r.randrange(t.ndim)
        size = t.shape[d]
        if size == 0:
            return None
        low = r.randrange(size)
        high = r.randint(low + 1, size)
        before = ":, " * d
        flat = t.numel()
        texts = [
            f"{n}[{before}{low}]", f"{n}[{before}{low}:{high}]", f"{n}[{before}{low}:{high}]",
            f"{n}[{before}::{r.randint(1, 2)}]", f"{n}.unsqueeze({r.randint(0, t.ndim)})",
            f"{n}.transpose({d}, {r.randrange(t.ndim)})", f"{n}.narrow({d}, {low}, {high - low})",
            f"{n}.reshape(-1)", f"{n}.flatten()", f"{n}.view({flat})", f"{n}.squeeze()",
            f"{n}.view_as({n})", f"{n}.select({d}, {low})", f"{n}[..., None]", f"{n}[None]",
            f"{n}.chunk(2, {d})[{r.randrange(2) if size > 1 else 0}]", f"{n}.unbind({d})[{low}]",
            f"{n}.split({r.randint(1, size)}, {d})[0]", f"{n}.expand(2, *{n}.shape)",
            f"{n}.movedim({d}, 0)", f"{n}.detach()", f"{n}.data", f"{n}.reshape({flat}, 1)",
        ]  # fmt: skip
        if t.ndim == 2:
            texts += [f"{n}.t()", f"{n}.T", f"{n}.diagonal()"]
        return f"{self.new()} = {r.choice(texts)}"

    def operation(self):
        n = self.some()
        if n is None:
            return None
        t, r = self.scope[n], self.rng
        other = self.alike(n)
        texts = [
            f"{n} + {other}", f"{n} * {other}", f"{n} - {other}", f"{other} * {n}", f"-{n}",
            f"{n}.clone()", f"{n}.tanh()", f"torch.sin({n})", f"{n} ** 2", f"torch.relu({n})",
            f"{n}.sum()", f"{n}.mean()", f"torch.where({n} > 0.1, {n}, {other})", f"{n}.abs()",
            f"{n}.contiguous()", f"{n}.to(torch.float64)", f"{n}.double()",
            f"torch.exp({n} * 0.25)",
        ]  # fmt: skip
        if t.ndim:
            d = r.randrange(t.ndim)
            texts += [
                f"{n}.sum({d})", f"{n}.mean({d}, keepdim=True)", f"{n}.cumsum({d})",
                f"torch.cat([{n}, {n}], {d})", f"torch.stack([{n}, {n} * 2], {d})",
                f"{n}.flip({d})",
                f"{n}[torch.tensor([0, {t.shape[0] - 1}])]", f"{n}[{n} > 0]", f"{n}.softmax({d})",
                f"{n}.index_select({d}, torch.tensor([{t.shape[d] - 1}, 0]))", f"{n}.repeat(2)",
            ]  # fmt: skip
            if t.numel() == 0:
                return None
        if t.ndim == 2:
            texts += [f"{n} @ {n}.t()", f"torch.linalg.norm({n} + 3)"]
        return f"{self.new()} = {r.choice(texts)}"

    def write(self):
        n = self.some(lambda t: t.numel() > 0)
        if n is None:
            return None
        t, r = self.scope[n], self.rng
        other = self.alike(n, apart=True)
        tensor = other if other in self.scope else None
        texts = [
            f"{n}.add_({other})", f"{n}.mul_({other})", f"{n} += {other}", f"{n} *= {other}",
            f"{n}.sub_({other})", f"{n}.zero_()", f"{n}.fill_(0.5)", f"{n}.tanh_()", f"{n}.neg_()",
            f"{n}.clamp_(-1.03, 1.03)", f"{n}.masked_fill_({n} > 0.3, 0.25)", f"{n}.relu_()",
            f"{n}[...] = {other}", f"{n}[{n} < 0] = 0.5", f"{n}.data.mul_(0.5)",
            f"{n}.data = {n} * 2",
            f"{n}.detach().mul_(2)", f"torch.sin_({n})",
        ]  # fmt: skip
        if tensor:
            texts += [f"{n}.copy_({tensor})", f"{n}.addcmul_({tensor}, {tensor}, value=0.5)"] * 2
        if t.ndim:
            k = r.randrange(t.shape[0])
            texts += [
                f"{n}[{k}] = 1.5", f"{n}[{k}] *= 2", f"{n}[{k}:] = 0.25", f"{n}[{k}] = {n}.sum()",
                f"{n}.index_fill_(0, torch.tensor([{k}]), 0.5)", f"{n}[{k}:].add_(1)",
                f"{n}[{k}] += {n}[0]", f"{n}.t_()", f"{n}.unsqueeze_(0)", f"{n}.squeeze_()",
            ]  # fmt: skip
        text = r.choice(texts)
        if r.random() < 0.25:
            return f"with torch.no_grad(): {text}"
        return text

    def state(self):
        n = self.some()
        if n is None:
            return None
        return self.pick(
            f"{n}.requires_grad_()", f"{n}.requires_grad_()", f"{n}.requires_grad_(False)",
            f"{n}.requires_grad = True", f"{n}.detach_()", f"{n}.retain_grad()", f"{n}.grad = None",
            f"{n}.register_hook(lambda g: g * 2) and None", f"{n}.grad.zero_()",
            f"{n}.grad.mul_(0.5)",
            f"{self.new()} = {n}.grad", f"{self.new()} = {n}",
            f"{self.new()} = {n}.detach().clone()",
            f"del {n}",
        )  # fmt: skip

    def derivative(self):
        n = self.some(lambda t: t.requires_grad)
        if n is None:
            return None
        keep = self.pick("", "", "retain_graph=True", "create_graph=True")
        leaf = self.some(lambda t: t.requires_grad)
        seed = f"torch.full({tuple(self.scope[n].shape)}, 0.5, dtype=torch.float64)"
        return self.pick(
            f"{n}.sum().backward({keep})", f"({n} * {n}).sum().backward({keep})",
            f"{n}.backward({seed}{', ' + keep if keep else ''})", f"{n}.mean().backward()",
            # Clones, as PyTorch's may show one element repeatedly.
            f"{self.new()} = own(torch.autograd.grad({n}.sum(), [{leaf}], allow_unused=True))",
            f"{self.new()} = own(torch.autograd.grad(({n} * 2).sum(), {leaf}, retain_graph=True))",
        )  # fmt: skip

    def grow(self):
        kinds = [self.leaf, self.view, self.view, self.operation, self.operation, self.write]
        kinds += [self.write, self.state, self.derivative]
        steps = [self.leaf] * 2 + [self.rng.choice(kinds) for _ in range(self.rng.randint(6, 16))]
        for kind in [*steps, self.derivative]:
            text = kind()
            if text is None:
                continue
            error = run(text, self.scope)
            self.names = [
                k for k, v in self.scope.items() if k[0] == "v" and isinstance(v, self.torch.Tensor)
            ]
            self.statements.append([text, error and type(error).__name__])
            if any(self.scope[k].numel() > 64 for k in self.names):
                break
            if self.rng.random() < 0.15:
                self.statements.append([None, describe(self.scope, self.torch)])
        self.statements.append([None, describe(self.scope, self.torch)])
        return self.statements


def own(gradients):
    """The only one in memory of its own, or None."""
    (g,) = gradients
    return g if g is None else g.clone()


def run(text, scope):
    try:
        exec(text, scope)
    except Exception as error:
        return error
    return None


def describe(scope, torch):
    """What can be seen of each tensor: [shape, numbers, requires_grad, is_leaf, gradient]."""
    found = {}
    for name, t in sorted(scope.items()):
        if name[0] != "v" or not isinstance(t, torch.Tensor):
            continue
        try:
            g = t.grad if t.is_leaf or t.retains_grad else None
        except RuntimeError:  # one of several views of what was changed since
            continue
        g = None if g is None else [list(g.shape), g.detach().reshape(-1).tolist(), g.requires_grad]
        numbers = t.detach().reshape(-1).tolist()
        found[name] = [list(t.shape), numbers, t.requires_grad, t.is_leaf, g]
    return found


def check(statements, torch):
    """(kind of difference, number of the statement, words); None: there is none."""
    scope = {"torch": torch, "own": own}
    for k, (text, expected) in enumerate(statements):
        if text is None:
            try:
                found = describe(scope, torch)
            except Exception as error:
                return "unreadable", k, repr(error)[:160]
            for name in expected:
                if name not in found:
                    return "numbers", k, f"no {name}"
                if not close(found[name], expected[name], TOLERANCE):
                    parts = ("shape", "numbers", "requires_grad", "is_leaf", "grad")
                    which = [p for p, x, y in zip(parts, found[name], expected[name])
                             if not close(x, y, TOLERANCE)]  # fmt: skip
                    return which[0], k, f"{name}: {found[name]} for {expected[name]}"
            continue
        error = run(text, scope)
        if error is not None and expected is None:
            kind = "not yet" if isinstance(error, NotImplementedError) else "refused"
            return kind, k, f"{type(error).__name__}: {error}"[:200]
        if error is None and expected is not None:
            return "lenient", k, f"no {expected}"
        if error is not None and type(error).__name__ != expected:
            return "another error", k, f"{type(error).__name__} for {expected}: {error}"[:200]
    return None


def said(torch, _, statements):
    found = check(statements, torch)
    if found is None:
        return "alike"
    kind, k, words = found
    before = "".join([f"\n        {text}" for text, _ in statements[: k + 1] if text])
    return f"{kind}: statement {k}: {words}{before}"


def line(torch, seed, _):
    return [Grower(seed, torch).grow()]


if __name__ == "__main__":
    raise SystemExit(main(__doc__, line, said, ("alike", "not yet")))
