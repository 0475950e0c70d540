"""Single calls of functions with random arguments, by PyTorch and by Numbus: values and gradients.

    python tests/fuzz/calls.py grow --first 0 --count 1000 --file calls.jsonl [--parts | --views]
    python tests/fuzz/calls.py check --file calls.jsonl

`grow` needs PyTorch and writes down what it gives; `check` prints what Numbus gives otherwise. All
is in float64. With `--parts` operands are slices of larger leaves, and gradients slices of larger
tensors, so that what takes memory from its start is found; with `--views` the derivatives are those
by the slices, whose leaves are used otherwise, too. Printed with `--all` only: calls that
one of the two refuses ("refused", "lenient"), and results whose numbers are equal but not whether
they require a gradient ("flags").
"""

import random

import numpy
from beside_torch import close, main, refusals, tried

TOLERANCE = 1e-7
# Whose gradients are zeros in PyTorch where no number depends on an operand.
NONE_FOR_ZEROS = ("grid_sample", "masked_scatter", "F.pad")


class Draw:
    """Random arguments; operands are made when their text is asked for."""

    def __init__(self, rng):
        self.rng, self.operands = rng, []
        self.pick, self.int = lambda *x: rng.choice(x), rng.randint

    def flag(self):
        return self.rng.choice([True, False])

    def axis(self, n):
        return self.rng.randrange(-n, n)

    def sizes(self, *limits):
        """Extents within pairs of limits."""
        return [self.rng.randint(low, high) for low, high in limits]

    def shape(self):
        none = self.rng.random() < 0.05
        return [0 if none and k == 0 else self.rng.randint(1, 5) for k in range(self.int(1, 4))]

    def x(self, *shape, kind="any"):
        """An operand: "any" numbers, "positive" ones, "part"s of one, or indices below a number."""
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], list) else list(shape)
        self.operands.append([shape, kind])
        return f"a[{len(self.operands) - 1}]"

    def line(self):
        """An operand of random shape and one of its axes."""
        shape = self.shape()
        return self.x(shape), self.axis(len(shape))

    def matrix(self):
        n = self.int(1, 4)
        a = self.x(self.pick([n, n], [2, n, n]))
        return n, a, f"({a} @ {a}.mT + 3 * torch.eye({n}, dtype=torch.float64))"


def convolution(d, count, transposed):
    groups, step = d.int(1, 2), d.sizes(*[(1, 3)] * count)
    ins, outs = groups * d.int(1, 3), groups * d.pick(1, 2, 5)
    kernel = d.sizes(*[(1, 3)] * count)
    x = d.x([d.int(1, 3), ins, *d.sizes(*[(1, 6)] * count)])
    pad, apart = d.sizes(*[(0, 2)] * count), d.sizes(*[(1, 2)] * count)
    if not transposed:
        w, bias = d.x([outs, ins // groups, *kernel]), d.pick("None", d.x(outs))
        rest = f"stride={step}, padding={pad}, dilation={apart}, groups={groups}"
        return f"F.conv{count}d({x}, {w}, {bias}, {rest})"
    w, bias = d.x([ins, outs // groups, *kernel]), d.pick("None", d.x(outs))
    more = [d.int(0, s - 1) for s in step]
    rest = f"stride={step}, padding={pad}, output_padding={more}, groups={groups}"
    return f"F.conv_transpose{count}d({x}, {w}, {bias}, {rest})"


def pooling(d):
    x = d.x(d.sizes((1, 3), (1, 3), (2, 9), (2, 9)))
    kernel = d.sizes((1, 3), (1, 3))
    step, pad = d.pick(kernel, d.sizes((1, 3), (1, 3))), [d.int(0, k // 2) for k in kernel]
    return d.pick(
        f"F.max_pool2d({x}, {kernel}, {step}, {pad}, ceil_mode={d.flag()})",
        f"F.max_pool2d({x}, {kernel}, {step}, {pad}, dilation=2)",
        f"F.max_pool2d({x}, {kernel}, {step}, {pad}, return_indices=True)",
        f"F.avg_pool2d({x}, {kernel}, {step}, {pad}, {d.flag()}, {d.flag()})",
        f"F.avg_pool2d({x}, {kernel}, {step}, divisor_override=3)", f"F.max_pool2d({x}, 2)",
        f"F.adaptive_avg_pool2d({x}, {d.sizes((1, 4), (1, 4))})", f"F.lp_pool2d({x}, 2.0, 2)",
        f"F.adaptive_max_pool2d({x}, {d.sizes((1, 2), (1, 2))}, return_indices=True)",
    )  # fmt: skip


def resizing(d):
    mode = d.pick("nearest", "nearest-exact", "bilinear", "bicubic", "area")
    corners = f", align_corners={d.flag()}" if mode[0] == "b" else ""
    x = d.x(1, 2, *d.sizes((1, 6), (1, 6)))
    how = d.pick(f"size={d.sizes((1, 9), (1, 9))}", f"scale_factor={d.pick(0.5, 1.5, 2, 2.3)}")
    return f"F.interpolate({x}, {how}, mode='{mode}'{corners})"


def padding(d):
    mode, n = d.pick("constant", "reflect", "replicate", "circular"), d.int(2, 4)
    x = d.x(d.sizes(*[(1, 5)] * n))
    axes = d.int(1, n) if mode == "constant" else d.int(1, min(2, n - 1))
    widths = [d.int(-1 if mode == "constant" else 0, 2) for _ in range(2 * axes)]
    return f"F.pad({x}, {widths}, mode='{mode}'{', value=1.5' if mode == 'constant' else ''})"


def recurrent(d):
    kind, given, width = d.pick("LSTM", "GRU", "RNN"), d.int(1, 3), d.int(1, 3)
    x = d.x(d.pick(d.sizes((1, 3), (1, 4)), d.sizes((1, 4))) + [given])
    how = f"num_layers={d.int(1, 2)}, bidirectional={d.flag()}, batch_first={d.flag()}"
    return f"module(nn.{kind}({given}, {width}, {how}, bias={d.flag()}))({x})"


def attention(d):
    heads, first = d.int(1, 2), d.flag()
    width, batch, queries, keys = heads * d.int(1, 3), d.int(1, 3), d.int(1, 4), d.int(1, 4)
    q, k = [d.x([batch, n, width] if first else [n, batch, width]) for n in (queries, keys)]
    s = [d.x(batch, heads, n, 2) for n in (queries, keys, keys)]
    how = d.pick("", f", attn_mask={d.x(queries, keys)}", ", is_causal=True", ", scale=0.5")
    more = f"add_bias_kv={d.flag()}, add_zero_attn={d.flag()}, batch_first={first}"
    return d.pick(
        f"module(nn.MultiheadAttention({width}, {heads}, {more}))({q}, {k}, {k})",
        f"F.scaled_dot_product_attention({s[0]}, {s[1]}, {s[2]}{how})",
        "module(nn.TransformerEncoderLayer(4, 2, 6, dropout=0, batch_first=True, "
        f"norm_first={d.flag()}))({d.x(2, 3, 4)})",
    )


def normalisation(d):
    shape = [d.int(2, 3), 4, d.int(1, 4), d.int(1, 3)]
    x, last = d.x(shape), shape[2:]
    return d.pick(
        f"F.layer_norm({x}, {last}, {d.pick('None', d.x(last))})",
        f"F.group_norm({x}, {d.pick(1, 2, 4)}, {d.x(4)}, {d.x(4)})",
        f"F.batch_norm({x}, None, None, training=True)", f"F.rms_norm({x}, {shape[3:]})",
        f"F.normalize({x}, p={d.pick(1, 2, 3.0)}, dim={d.axis(4)})",
        f"F.local_response_norm({x}, {d.int(1, 4)})",
    )  # fmt: skip


def losses(d):
    n, classes = d.int(1, 4), d.int(2, 4)
    how = f"reduction='{d.pick('mean', 'sum', 'none')}'"
    x, y, z = d.x(n, classes), d.x(n, classes), d.x(n, classes)
    t, part, weight = d.x(n, kind=classes), d.x(n, classes, kind="part"), d.x(n, kind="positive")
    sign = f"torch.sign({d.x(n)}).detach()"
    return d.pick(
        f"F.cross_entropy({x}, {t}, {how}, label_smoothing={d.pick(0.0, 0.2)})",
        f"F.cross_entropy({x}, {t}, {how}, ignore_index={d.int(0, 1)})",
        f"F.nll_loss(F.log_softmax({x}, 1), {t}, {how})",
        f"F.binary_cross_entropy(torch.sigmoid({x}), {part}, {how})",
        f"F.binary_cross_entropy_with_logits({x}, {part}, {how})",
        f"F.kl_div({x}, {part}, {how}, log_target={d.flag()})",
        f"F.smooth_l1_loss({x}, {y}, beta={d.pick(0.3, 1.0)}, {how})",
        f"F.triplet_margin_loss({x}, {y}, {z}, swap={d.flag()}, {how})",
        f"F.cosine_embedding_loss({x}, {y}, {sign}, margin=0.1, {how})",
        f"F.gaussian_nll_loss({x}, {y}, {part}, full={d.flag()}, {how})",
        f"F.poisson_nll_loss({x}, {part}, full={d.flag()}, {how})",
        f"F.multi_margin_loss({x}, {t}, p={d.int(1, 2)}, {how})",
        f"F.margin_ranking_loss({x}[:, 0], {weight}, {sign}, margin=0.3, {how})",
        f"F.multilabel_soft_margin_loss({x}, {part}, {how})",
    )  # fmt: skip


def scattering(d):
    shape = d.sizes(*[(1, 4)] * d.int(1, 3))
    k = d.axis(len(shape))
    at = [d.int(1, n) for n in shape]
    at[k] = d.int(1, 4)
    index, source, x = d.x(at, kind=shape[k]), d.x(at), d.x(shape)
    how = f"'{d.pick('sum', 'mean', 'amax', 'amin', 'prod')}', include_self={d.flag()}"
    return d.pick(
        f"torch.gather({x}, {k}, {index})", f"torch.scatter_add({x}, {k}, {index}, {source})",
        f"torch.scatter_reduce({x}, {k}, {index}, {source}, {how})",
    )  # fmt: skip


def indexing(d):
    n, m, q = d.sizes((2, 4), (2, 4), (1, 3))
    x, i, j, k = d.x(n, m, q), d.x(2, kind=n), d.x(2, kind=m), d.x(3, kind=q)
    wide, rows = d.x(2, 2, kind=m), d.x(4, kind=n)
    flags = [d.flag() for _ in range(n)]
    return d.pick(
        f"{x}[{i}, {j}]", f"{x}[:, {wide}]", f"{x}[{rows}, :, {d.x(4, kind=q)}]", f"{x}[0, :, {k}]",
        f"{x}[None, {i}, ..., 0]", f"{x}[1:, None, ::2]", f"{x}[{x}.detach() > 0]",
        f"{x}[torch.tensor({flags})]", f"{x}[{i}, 1:]", f"{x}[..., {d.axis(q)}]",
        f"torch.index_add({x}, 0, {rows}, {d.x(4, m, q)}, alpha=2.5)",
        f"{x}.clone().index_put_(({i}, {j}), {d.x(2, q)}, accumulate=True)",
        f"torch.index_fill({x}, 1, {j}, 2.5)", f"torch.take({x}, {d.x(2, 2, kind=n * m * q)})",
        f"torch.masked_scatter({x}, {x}.detach() > 0, {d.x(n, m, q)})",
    )  # fmt: skip


def products(d):
    i, j, k, b = d.sizes(*[(1, 3)] * 4)
    x, y, z = d.x(b, i, j), d.x(b, j, k), d.x(b, i, k)
    return d.pick(
        f"torch.einsum('bij,bjk->bik', {x}, {y})", f"torch.einsum('bij->bj', {x})",
        f"torch.einsum('...ij,...j->...i', {x}, {d.x(b, j)})", f"torch.matmul({x}, {y})",
        f"torch.einsum('bij,bik->jk', {x}, {z})", f"torch.baddbmm({z}, {x}, {y}, beta=0.5)",
        f"torch.addmm({d.x(k)}, {d.x(i, j)}, {d.x(j, k)}, alpha=2)", f"F.linear({x}, {d.x(5, j)})",
        f"torch.tensordot({x}, {y}, dims=([0, 2], [0, 1]))",
        f"torch.kron({d.x(2, 2)}, {d.x(3, 1)})",
        f"torch.cdist({d.x(3, 2)}, {d.x(4, 2)}, p={d.pick(1.0, 2.0, 3.0)})",
        f"torch.outer({d.x(3)}, {d.x(2)})", f"F.bilinear({d.x(3, 2)}, {d.x(3, 4)}, {d.x(5, 2, 4)})",
    )  # fmt: skip


def linear_algebra(d):
    n, a, s = d.matrix()
    b = d.x(n, 2)
    return d.pick(
        f"torch.linalg.inv({s})", f"torch.linalg.det({a})", f"torch.linalg.slogdet({s})",
        f"torch.linalg.cholesky({s})", f"torch.linalg.solve({s}, {b})",
        f"torch.linalg.eigvalsh({s})", f"torch.linalg.svdvals({a})", f"torch.linalg.qr({s})",
        f"torch.linalg.matrix_exp({a} * 0.3)", f"torch.linalg.pinv({s})", f"torch.logdet({s})",
        f"torch.linalg.solve_triangular({s}.tril(), {b}, upper=False)",
        f"torch.linalg.matrix_power({a}, {d.int(1, 3)})",
        f"torch.linalg.vector_norm({a}, ord={d.pick(1, 2, 3, 0.5)}, dim={d.pick(None, -1)})",
    )  # fmt: skip


def reductions(d):
    x, k = d.line()
    keep = f"keepdim={d.flag()}"
    return d.pick(
        f"{x}.sum({k}, {keep})", f"{x}.mean({k}, {keep})", f"{x}.amax({k})",
        f"{x}.max({k}, {keep})",
        f"torch.logsumexp({x}, {k})", f"{x}.median({k})", f"{x}.var({k}, correction={d.int(0, 1)})",
        f"torch.quantile({x}, 0.3, dim={k})", f"torch.std_mean({x}, {k})", f"{x}.prod({k})",
        f"{x}.norm(dim={k}, p={d.int(1, 3)})", f"{x}.cumsum({k})", f"{x}.cumprod({k})",
        f"{x}.cummax({k})", f"torch.logcumsumexp({x}, {k})", f"torch.sort({x}, {k})",
        f"torch.trapezoid({x}, dim={k})", f"torch.diff({x}, dim={k})", f"F.softmax({x}, {k})",
        f"F.log_softmax({x}, {k})", f"torch.count_nonzero({x}, {k})", f"{x}.argmax({k})",
    )  # fmt: skip


def shapes(d):
    extents = d.sizes(*[(1, 3)] * 4)
    x, k = d.x(extents), d.axis(4)
    return d.pick(
        f"{x}.permute({d.rng.sample(range(4), 4)})", f"{x}.movedim({k}, {d.axis(4)})",
        f"{x}.flatten({d.int(0, 1)}, {d.int(2, 3)})", f"{x}.repeat(2, 1, 1, {d.int(1, 2)})",
        f"{x}.repeat_interleave({d.int(1, 3)}, dim={k})", f"{x}.expand(2, *{extents})",
        f"torch.rot90({x}, {d.int(-1, 3)}, (0, 2))", f"{x}.flip({k},)", f"torch.roll({x}, 2, {k})",
        f"{x}.diagonal({d.int(-1, 1)}, 0, 3)", f"torch.diag_embed({x}, {d.int(-1, 1)})",
        f"torch.tril({x}, {d.int(-1, 1)})", f"torch.cat([{x}, {x} * 2], {k})", f"{x}.squeeze({k})",
        f"torch.stack([{x}, {x} * 2], {k})", f"torch.chunk({x}, 2, {k})", f"{x}.unfold({k}, 1, 1)",
        f"torch.select_scatter({x}, {x}.select({k}, 0) * 3, {k}, 0)",
    )  # fmt: skip


def pictures(d):
    x = d.x(2, 2, d.int(3, 6), d.int(3, 6))
    how = f"padding_mode='{d.pick('zeros', 'border', 'reflection')}', align_corners={d.flag()}"
    mode = d.pick("bilinear", "nearest")
    return d.pick(
        f"F.grid_sample({x}, {d.x(2, d.int(1, 4), d.int(1, 4), 2)}, mode='{mode}', {how})",
        f"F.unfold({x}, {d.sizes((1, 3), (1, 3))}, padding={d.int(0, 2)}, stride={d.int(1, 2)})",
        f"F.fold({d.x(2, 8, 9)}, [4, 4], 2)", f"F.pixel_shuffle({d.x(1, 8, 2, 3)}, 2)",
        f"F.affine_grid({d.x(2, 2, 3)}, [2, 1, 3, 2], align_corners={d.flag()})",
    )  # fmt: skip


def elements(d):
    x, y, p = d.x(3, 4), d.x(3, 1), d.x(3, 4, kind="positive")
    name = d.pick(
        "relu", "elu", "selu", "celu", "gelu", "silu", "mish", "softplus", "softsign", "hardswish",
        "hardsigmoid", "hardtanh", "logsigmoid", "tanhshrink", "softshrink", "leaky_relu",
    )  # fmt: skip
    return d.pick(
        f"F.{name}({x} * 3)", f"F.glu({x}, 1)", f"F.prelu({x}, {d.x(4)})", f"torch.pow({p}, {x})",
        f"torch.clamp({x}, {y}, {y} + 1)", f"torch.maximum({x}, {y})", f"torch.atan2({x}, {y})",
        f"torch.lerp({x}, {y}, {p})", f"torch.where({x} > 0, {x}, {y})", f"torch.hypot({x}, {y})",
        f"torch.remainder({x}, {p})", f"torch.xlogy({x}, {p})", f"torch.logaddexp({x}, {y})",
        f"torch.addcdiv({x}, {y}, {p}, value=0.5)", f"torch.lgamma({p} + 0.5)", f"torch.sinc({x})",
        f"torch.special.erfinv({x}.tanh())", f"torch.polygamma({d.int(0, 2)}, {p})",
        f"torch.complex({x}, {x} * 2).abs()", f"torch.fft.irfft(torch.fft.rfft({x}), n=4)",
        f"torch.view_as_real(torch.fft.fft({x}, n={d.int(3, 6)}))", f"torch.cosh({x})",
        f"F.embedding({d.x(2, 3, kind=5)}, {d.x(5, 2)}, padding_idx={d.pick(None, 0)})",
        f"F.cosine_similarity({x}, {x} * 2 + {y}, dim={d.axis(2)})", f"{x} ** 3",
    )  # fmt: skip


SUBJECTS = [
    pooling, pooling, resizing, padding, recurrent, attention, normalisation, losses, scattering,
    indexing, products, linear_algebra, reductions, reductions, shapes, pictures, elements,
    lambda d: convolution(d, d.int(1, 2), False), lambda d: convolution(d, d.int(1, 2), True),
]  # fmt: skip


def grow(seed):
    """The text of a call, with what its operands are."""
    d = Draw(random.Random(seed))
    text = d.rng.choice(SUBJECTS)(d)
    return {"call": text, "operands": d.operands, "turned": d.rng.random() < 0.2}


def operand(torch, rng, shape, kind):
    if isinstance(kind, int):
        return torch.tensor(rng.integers(0, kind, shape))
    low, high = {"positive": (0.2, 2), "part": (0.1, 0.9)}.get(kind, (0, 0))
    return torch.tensor(rng.uniform(low, high, shape) if high else rng.normal(size=shape))


def placed(torch, t, before, after):
    """A tensor as a slice of one that is wider along each axis."""
    wide = torch.zeros([n + before + after for n in t.shape], dtype=t.dtype)
    part = tuple(slice(before, before + n) for n in t.shape)
    wide[part] = t
    return wide, part


def results(y, torch):
    """The tensors of a result, in order."""
    if isinstance(y, (tuple, list)):
        return [t for each in y for t in results(each, torch)]
    return [y] if isinstance(y, torch.Tensor) else []


def called(torch, plan, seed, parts):
    """[shape, dtype, numbers, whether it requires a gradient] of each result, then gradients.

    parts: False, True or "views".
    """
    rng = numpy.random.default_rng(seed)
    operands, leaves, views = [], [], []
    for shape, kind in plan["operands"]:
        t = operand(torch, rng, tuple(shape), kind)
        if t.is_floating_point():
            if plan["turned"] and t.ndim > 1:
                order = list(range(t.ndim))[::-1]
                t = t.permute(order).contiguous().permute(order)
            if parts:
                wide, part = placed(torch, t, 1, 1)
                leaves.append(wide.requires_grad_())
                t = wide[part] if t.ndim else wide * 1
                views.append(t)
            else:
                leaves.append(t.requires_grad_())
        operands.append(t)

    def module(made):
        with torch.no_grad():
            for p in made.double().parameters():
                p.copy_(torch.tensor(rng.normal(size=tuple(p.shape)) * 0.5))
        leaves.extend(made.parameters())
        return made

    scope = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "a": operands}
    seen, outputs, seeds = [], [], []
    for y in results(eval(plan["call"], {**scope, "module": module}), torch):
        seen.append([list(y.shape), str(y.dtype), y.detach().reshape(-1).tolist(), y.requires_grad])
        if y.requires_grad and y.numel():
            g = torch.tensor(numpy.random.default_rng(7).normal(size=tuple(y.shape)))
            if parts:
                wide, part = placed(torch, g, 2, 1)
                g = wide[part]
            outputs.append(y)
            seeds.append(g)
    if parts == "views":
        squares = [(t * t).sum() for t in leaves]
        seeds += [torch.ones_like(t) for t in squares]
        found = torch.autograd.grad([*outputs, *squares], views, seeds, allow_unused=True)
        seen += [None if g is None else [list(g.shape), g.reshape(-1).tolist()] for g in found]
    elif outputs:
        torch.autograd.backward(outputs, seeds)
        for t in leaves:
            g = t.grad
            seen.append(None if g is None else [list(g.shape), g.reshape(-1).tolist()])
    return seen


def without_flags(plan, seen):
    """What is left where flags, and zeros in place of no gradient, do not count."""
    kept = []
    for each in seen:
        if each is not None and len(each) == 4:
            each = each[:3]
        elif any(name in plan["call"] for name in NONE_FOR_ZEROS) and each and not any(each[1]):
            each = None
        kept.append(each)
    while kept and kept[-1] is None:
        kept.pop()
    return kept


def check(torch, seed, plan, wanted, parts):
    """What the two have in common, or in what they differ."""
    found = tried(called, torch, plan, seed, parts)
    if refused := refusals(wanted, found):
        return refused
    if close(wanted, found, TOLERANCE):
        return "alike"
    if close(without_flags(plan, wanted), without_flags(plan, found), TOLERANCE):
        return "flags"
    pairs = enumerate(zip(wanted, found))
    at = next((k for k, (a, b) in pairs if not close(a, b, TOLERANCE)), -1)
    return f"differs: {str(found[at])[:150]} for {str(wanted[at])[:150]}"


def line(torch, seed, args):
    plan = grow(seed)
    parts = "views" if args.views else args.parts
    return plan, tried(called, torch, plan, seed, parts), parts


if __name__ == "__main__":
    FINE = ("alike", "flags", "both refuse", "refused", "lenient")
    raise SystemExit(main(__doc__, line, check, FINE, "parts", "views"))
