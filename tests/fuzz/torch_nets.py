"""Random nets trained for some steps by PyTorch and by Numbus: layers, losses, optimizers,
schedules of learning rates, clipping of gradients, gradients of several passes.

    python tests/fuzz/torch_nets.py grow --first 0 --count 1000 --file nets.jsonl   # with PyTorch
    python tests/fuzz/torch_nets.py check --file nets.jsonl                         # with Numbus

All is in float64 from the same weights and data. `check` prints the nets whose losses, norms,
learning rates, outputs or states differ. Where a normalisation comes after a bias, or two follow
one another, gradients are rounding errors, which Adam and its kin divide by themselves: such nets
differ in the eighth digit and below.
"""

import random

import numpy
from beside_torch import close, main, refusals, tried

TOLERANCE = 1e-7

STEPS = 5
ACTIVATIONS = """nn.ReLU() nn.Tanh() nn.Sigmoid() nn.GELU() nn.GELU(approximate='tanh') nn.SiLU()
    nn.ELU(0.7) nn.LeakyReLU(0.1) nn.Softplus(beta=2) nn.Hardtanh() nn.Hardswish() nn.Mish()
    nn.SELU() nn.CELU(0.5) nn.ReLU6() nn.Softsign() nn.Tanhshrink() nn.Hardshrink(0.1)
    nn.Softshrink(0.1) nn.LogSigmoid() nn.Hardsigmoid() nn.ReLU(inplace=True)
    nn.Threshold(0.1,0.2)""".split()
LOSSES = [
    ("nn.CrossEntropyLoss()", "class"), ("nn.CrossEntropyLoss(label_smoothing=0.1)", "class"),
    ("nn.CrossEntropyLoss(reduction='sum')", "class"), ("nn.MultiMarginLoss()", "class"),
    ("nn.CrossEntropyLoss(weight=torch.tensor([0.2, 0.5, 0.3], dtype=torch.float64))", "class"),
    ("nn.MSELoss()", "number"), ("nn.L1Loss()", "number"), ("nn.SmoothL1Loss(beta=0.5)", "number"),
    ("nn.HuberLoss(delta=0.7)", "number"), ("nn.SoftMarginLoss()", "sign"),
    ("nn.BCEWithLogitsLoss()", "part"), ("nn.KLDivLoss(reduction='batchmean')", "part"),
    ("nn.PoissonNLLLoss()", "part"), ("nn.MultiLabelSoftMarginLoss()", "part"),
]  # fmt: skip
SCHEDULES = [
    None, None, "StepLR(optimizer, 2, gamma=0.5)", "ExponentialLR(optimizer, 0.8)",
    "CosineAnnealingLR(optimizer, 4)", "MultiStepLR(optimizer, [1, 3], gamma=0.3)",
    "LinearLR(optimizer, total_iters=3)", "OneCycleLR(optimizer, 0.1, total_steps=8)",
    "CyclicLR(optimizer, 0.01, 0.05, step_size_up=2, cycle_momentum=False)",
    "CosineAnnealingWarmRestarts(optimizer, 2, T_mult=2)",
    "PolynomialLR(optimizer, total_iters=4, power=2.0)", "LambdaLR(optimizer, lambda e: 0.9**e)",
    "ConstantLR(optimizer, factor=0.3, total_iters=2)",
    "SequentialLR(optimizer, [lr.ConstantLR(optimizer, 0.1, 2), lr.ExponentialLR(optimizer, 0.9)],"
    " milestones=[2])",
    "ChainedScheduler([lr.ConstantLR(optimizer, 0.1, 2), lr.ExponentialLR(optimizer, 0.9)])",
]  # fmt: skip
CLIPS = [
    None, None, None, "clip_grad_norm_(model.parameters(), 0.5)",
    "clip_grad_value_(model.parameters(), 0.1)",
    "clip_grad_norm_(model.parameters(), 0.5, norm_type=float('inf'))",
]  # fmt: skip


def optimizer(rng):
    decay, largest = rng.choice([0, 0, 0.1]), rng.choice([False, False, True])
    momentum, flag = rng.choice([0, 0.9]), rng.choice([True, False])
    return rng.choice([
        f"SGD(given, lr=0.05, momentum={momentum}, weight_decay={decay}, maximize={largest})",
        "SGD(given, lr=0.05, momentum=0.9, nesterov=True)",
        "SGD(given, lr=0.05, momentum=0.9, dampening=0.3)",
        f"Adam(given, lr=0.01, weight_decay={decay}, amsgrad={flag}, maximize={largest})",
        f"AdamW(given, lr=0.01, weight_decay=0.1, amsgrad={flag})",
        f"RMSprop(given, lr=0.01, momentum={momentum}, centered={flag}, weight_decay={decay})",
        f"Adagrad(given, lr=0.05, lr_decay=0.1, weight_decay={decay},"
        f" initial_accumulator_value={rng.choice([0, 0.1])})",
        f"Adadelta(given, lr=0.5, weight_decay={decay})", "Adamax(given, lr=0.01)",
        f"NAdam(given, lr=0.01, weight_decay={decay}, decoupled_weight_decay={flag})",
        f"RAdam(given, lr=0.01, weight_decay={decay}, decoupled_weight_decay={flag})",
        "ASGD(given, lr=0.05, t0=2)",
    ])  # fmt: skip


def convolution(rng, shape):
    """A convolution of pictures and what it gives of them; None where that is nothing."""
    channels, height, width = shape
    k, pad, step, apart = rng.randint(1, 3), rng.randint(0, 2), rng.randint(1, 2), rng.randint(1, 2)
    made = rng.choice([2, 4, 6])
    groups = rng.choice([g for g in (1, 2) if channels % g == 0 and made % g == 0])
    mode = rng.choice(["zeros", "zeros", "reflect", "replicate", "circular"])
    if pad >= min(height, width):
        mode = "zeros"
    sizes = [(n + 2 * pad - apart * (k - 1) - 1) // step + 1 for n in (height, width)]
    if min(sizes) < 1:
        return None
    text = (
        f"nn.Conv2d({channels}, {made}, {k}, stride={step}, padding={pad}, dilation={apart},"
        f" groups={groups}, bias={rng.choice([True, False])}, padding_mode='{mode}')"
    )
    return text, [made, *sizes]


def widening(rng, shape):
    channels, height, width = shape
    k, step, pad, made = rng.randint(1, 3), rng.randint(1, 2), rng.randint(0, 1), rng.choice([2, 4])
    more = rng.randint(0, step - 1)
    sizes = [(n - 1) * step - 2 * pad + k + more for n in (height, width)]
    if min(sizes) < 1 or max(sizes) > 20:
        return None
    text = (
        f"nn.ConvTranspose2d({channels}, {made}, {k}, stride={step}, padding={pad},"
        f" output_padding={more})"
    )
    return text, [made, *sizes]


def pooling(rng, shape):
    channels, height, width = shape
    if min(height, width) < 2:
        return None
    up = [channels, -(-height // 2), -(-width // 2)]
    down, size = [channels, height // 2, width // 2], rng.randint(1, 3)
    return rng.choice([
        ("nn.MaxPool2d(2)", down), ("nn.AvgPool2d(2)", down), ("nn.LPPool2d(2, 2)", down),
        ("nn.AvgPool2d(2, ceil_mode=True, count_include_pad=False)", up),
        ("nn.MaxPool2d(2, stride=1)", [channels, height - 1, width - 1]),
        (f"nn.AdaptiveAvgPool2d({size})", [channels, size, size]),
        (f"nn.AdaptiveMaxPool2d({size})", [channels, size, size]),
    ])  # fmt: skip


def of_pictures(rng, shape):
    channels, height, width = shape
    kept, flag = list(shape), rng.choice([True, False])
    wide, twice = [channels, height + 2, width + 2], [channels, 2 * height, 2 * width]
    groups = rng.choice([g for g in (1, 2, channels) if channels % g == 0])
    momentum = rng.choice([0.1, 0.3, None])
    choices = [
        convolution(rng, shape), convolution(rng, shape), widening(rng, shape),
        pooling(rng, shape), pooling(rng, shape), (rng.choice(ACTIVATIONS), kept),
        (f"nn.BatchNorm2d({channels}, momentum={momentum}, affine={flag},"
         f" track_running_stats={rng.choice([True, True, False])})", kept),
        (f"nn.GroupNorm({groups}, {channels})", kept), ("nn.LocalResponseNorm(2)", kept),
        (f"nn.LayerNorm([{channels}, {height}, {width}])", kept),
        (rng.choice(["nn.ZeroPad2d(1)", "nn.ConstantPad2d(1, 0.5)"]), wide),
        ("nn.ReplicationPad2d(1)", wide),
        (f"nn.PReLU({rng.choice([1, channels])})", kept),
        ("nn.Flatten()", [channels * height * width]),
    ]  # fmt: skip
    if height * width > 1:
        choices.append((f"nn.InstanceNorm2d({channels}, affine={flag})", kept))
    if height <= 10:
        mode = rng.choice(["", ", mode='bilinear'", ", mode='bilinear', align_corners=True"])
        choices.append((f"nn.Upsample(scale_factor=2{mode})", twice))
    if channels % 4 == 0:
        choices.append(("nn.PixelShuffle(2)", [channels // 4, 2 * height, 2 * width]))
    return rng.choice(choices)


def of_lines(rng, shape):
    (width,) = shape
    flag, made = rng.choice([True, False]), rng.randint(1, 6)
    return rng.choice([
        (f"nn.Linear({width}, {made}, bias={flag})", [made]), (rng.choice(ACTIVATIONS), [width]),
        (f"nn.Linear({width}, {made})", [made]), (rng.choice(ACTIVATIONS), [width]),
        (f"nn.BatchNorm1d({width}, affine={flag})", [width]),
        (f"nn.LayerNorm({width}, elementwise_affine={flag})", [width]),
        (rng.choice(["nn.Softmax(1)", "nn.LogSoftmax(1)", "nn.Softmin(1)"]), [width]),
    ])  # fmt: skip


def grow(seed):
    """A net and how it is trained, as text and numbers."""
    rng = random.Random(seed)
    batch = rng.choice([2, 3, 4])
    size = rng.choice([6, 7, 8])
    shape = rng.choice([[rng.choice([1, 2, 4]), size, size], [rng.choice([3, 4, 6])]])
    layers, now = [], shape
    for _ in range(rng.randint(2, 6)):
        found = of_pictures(rng, now) if len(now) == 3 else of_lines(rng, now)
        if found is None:
            continue
        layers.append(found[0])
        now = found[1]
        if numpy.prod(now) > 3000:
            break
    if len(now) == 3:
        layers.append("nn.Flatten()")
    layers.append(f"nn.Linear({numpy.prod(now)}, 3)")
    loss, target = rng.choice(LOSSES)
    return {
        "layers": layers, "shape": [batch, *shape], "loss": loss, "target": target,
        "optimizer": optimizer(rng), "schedule": rng.choice(SCHEDULES), "clip": rng.choice(CLIPS),
        "groups": rng.random() < 0.3, "outputs": rng.random() < 0.5, "parts": rng.random() < 0.2,
    }  # fmt: skip


def targets(torch, rng, kind, batch):
    if kind == "class":
        return torch.tensor(rng.integers(0, 3, batch))
    drawn = rng.normal(size=(batch, 3))
    if kind == "part":
        drawn = rng.uniform(0.1, 0.9, (batch, 3))
    return torch.tensor(numpy.sign(drawn) if kind == "sign" else drawn)


def trained(torch, plan, seed):
    """What can be seen of each step, and the state after the last one."""
    rng = numpy.random.default_rng(seed)
    scope = {"torch": torch, "nn": torch.nn, "lr": torch.optim.lr_scheduler}
    model = torch.nn.Sequential(*[eval(text, scope) for text in plan["layers"]]).double()
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.tensor(rng.normal(size=tuple(p.shape)) * 0.4))
    x = torch.tensor(rng.normal(size=tuple(plan["shape"])))
    y = targets(torch, rng, plan["target"], plan["shape"][0])
    given = list(model.parameters())
    if plan["groups"] and len(given) > 1:
        given = [{"params": given[:1], "lr": 0.02}, {"params": given[1:]}]
    scope |= {"given": given, "model": model}
    loss_of = eval(plan["loss"], scope)
    optimizer = eval(f"torch.optim.{plan['optimizer']}", scope)
    scope["optimizer"] = optimizer
    schedule = plan["schedule"] and eval(f"lr.{plan['schedule']}", scope)
    seen = []
    for k in range(STEPS):
        if not plan["parts"] or k % 2 == 0:
            optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        norm = plan["clip"] and eval(f"torch.nn.utils.{plan['clip']}", scope)
        optimizer.step()
        if schedule:
            schedule.step()
        rates = [float(group["lr"]) for group in optimizer.param_groups]
        seen.append([float(loss), None if norm is None else float(norm), rates])
        if plan["outputs"] and k == 2:
            model.eval()
            with torch.no_grad():
                seen.append(model(x).reshape(-1).tolist())
            model.train()
    state = model.state_dict().items()
    seen.append([[name, t.double().reshape(-1).tolist()] for name, t in state])
    return seen


def check(torch, seed, plan, wanted):
    """What the two have in common, or in what they differ."""
    found = tried(trained, torch, plan, seed)
    if refused := refusals(wanted, found):
        return f"{refused}: {found}" if refused == "refused" else refused
    if close(wanted, found, TOLERANCE):
        return "alike"
    pairs = enumerate(zip(wanted, found))
    at = next(k for k, (a, b) in pairs if not close(a, b, TOLERANCE))
    return f"differs: step {at}: {str(found[at])[:120]} for {str(wanted[at])[:120]}"


def line(torch, seed, _):
    plan = grow(seed)
    return plan, tried(trained, torch, plan, seed)


if __name__ == "__main__":
    raise SystemExit(main(__doc__, line, check, ("alike", "both refuse", "lenient")))
