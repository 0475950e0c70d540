"""The statements of random programs of training (`training.py`)."""

NETS = ["nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))",
        "nn.Sequential(nn.Linear(3, 2))",
        "nn.Sequential(nn.Linear(3, 4, bias=False), nn.Sigmoid(), nn.Linear(4, 4), nn.Tanh(),"
        " nn.Linear(4, 2))"]  # fmt: skip


def keywords(rng, *choices):
    """Some of the keywords, each with one of its values."""
    kept = [f"{name}={rng.choice(values)}" for name, values in choices if rng.random() < 0.4]
    return ", ".join(["", *kept])


FLAG = [True, False]
DECAY = ("weight_decay", [0, 0.1, 0.01])
LARGEST = ("maximize", FLAG)
MANY = ("foreach", [True, False, None])
SLOPE = ("differentiable", [False])
CAPTURE = ("capturable", [False])
EPS = ("eps", [1e-8, 1e-3])
BETAS = ("betas", ["(0.9, 0.999)", "(0.8, 0.9)", "(0.0, 0.99)"])
RATE = ("lr", [0.01, 0.1, "torch.tensor(0.05)", 0.03])
BETAS_TENSOR = ("betas", ["(0.9, 0.999)", "(0.8, 0.9)"])
FUSED = ("fused", [True, False, None])

OPTIMIZERS = {
    "SGD": [RATE, ("momentum", [0, 0.9, 0.5]), ("dampening", [0, 0.3]), DECAY, LARGEST, MANY,
            SLOPE, FUSED, ("nesterov", FLAG)],
    "Adam": [RATE, BETAS, EPS, DECAY, ("amsgrad", FLAG), LARGEST, MANY, SLOPE, CAPTURE, FUSED,
             ("decoupled_weight_decay", FLAG)],
    "AdamW": [RATE, BETAS, EPS, DECAY, ("amsgrad", FLAG), LARGEST, MANY, SLOPE, CAPTURE, FUSED],
    "RMSprop": [RATE, ("alpha", [0.9, 0.5]), EPS, DECAY, ("momentum", [0, 0.9]),
                ("centered", FLAG), LARGEST, MANY, SLOPE, CAPTURE],
    "Adagrad": [RATE, ("lr_decay", [0, 0.1]), DECAY, ("initial_accumulator_value", [0, 0.3]),
                EPS, LARGEST, MANY, SLOPE, FUSED],
    "Adadelta": [("lr", [1.0, 0.3]), ("rho", [0.9, 0.5]), EPS, DECAY, LARGEST, MANY, SLOPE],
    "Adamax": [RATE, BETAS, EPS, DECAY, LARGEST, MANY, SLOPE],
    "NAdam": [RATE, BETAS, EPS, DECAY, ("momentum_decay", [4e-3, 0.1]),
              ("decoupled_weight_decay", FLAG), LARGEST, MANY, SLOPE],
    "RAdam": [RATE, BETAS, EPS, DECAY, ("decoupled_weight_decay", FLAG), LARGEST, MANY, SLOPE],
    "ASGD": [RATE, ("lambd", [1e-4, 0.1]), ("alpha", [0.75, 0.5]), ("t0", [2, 1e6]), DECAY,
             LARGEST, MANY, SLOPE],
    "Rprop": [("lr", [0.01, 0.1]), ("etas", ["(0.5, 1.2)", "(0.3, 1.5)"]),
              ("step_sizes", ["(1e-6, 50)", "(0.005, 0.05)"]), LARGEST, MANY, SLOPE],
    "Adafactor": [("lr", [0.01, 0.1]), ("beta2_decay", [-0.8, -0.5]),
                  ("eps", ["(None, 1e-3)", "(1e-8, 1e-2)"]), ("d", [1.0, 0.5]), DECAY, LARGEST,
                  MANY],
    "LBFGS": [("lr", [1, 0.3]), ("max_eval", [None, 4]),
              ("tolerance_grad", [1e-7, 1e-2]), ("tolerance_change", [1e-9, 1e-3]),
              ("history_size", [100, 2]), ("line_search_fn", [None, "'strong_wolfe'"])],
}  # fmt: skip


def schedule(rng, opt="opt", depth=0):
    """The text that makes a scheduler, and whether it takes a metric."""
    start = keywords(rng, ("start_factor", [0.5, 0.1]), ("end_factor", [1.0, 0.8]),
                     ("total_iters", [2, 5]))  # fmt: skip
    one = keywords(rng, ("pct_start", [0.3, 0.5]), ("anneal_strategy", ["'cos'", "'linear'"]),
                   ("cycle_momentum", FLAG), ("base_momentum", [0.8, 0.85]),
                   ("max_momentum", [0.9, 0.95]), ("div_factor", [25, 4.0]),
                   ("final_div_factor", [1e4, 10]), ("three_phase", FLAG))  # fmt: skip
    turns = keywords(rng, ("step_size_up", [2, 3]), ("step_size_down", [1, 4, None]),
                     ("mode", ["'triangular'", "'triangular2'", "'exp_range'"]),
                     ("gamma", [1.0, 0.9]), ("scale_fn", ["lambda x: 0.5 ** (x % 3)", None]),
                     ("scale_mode", ["'cycle'", "'iterations'"]),
                     ("cycle_momentum", [False, True]), ("base_momentum", [0.8, 0.7]),
                     ("max_momentum", [0.9]))  # fmt: skip
    total = rng.choice(["total_steps=24", "epochs=4, steps_per_epoch=6", "total_steps=12"])
    made = [
        f"lr.StepLR({opt}, {rng.choice([1, 2, 3])}{keywords(rng, ('gamma', [0.5, 0.9]))})",
        f"lr.MultiStepLR({opt}, {rng.choice(['[1, 3]', '[2, 2, 5]', '(4, 1)'])}"
        f"{keywords(rng, ('gamma', [0.5, 0.3]))})",
        f"lr.ExponentialLR({opt}, {rng.choice([0.8, 1.1])})", f"lr.LinearLR({opt}{start})",
        f"lr.ConstantLR({opt}"
        f"{keywords(rng, ('factor', [0.3, 0.5]), ('total_iters', [1, 3]))})",
        f"lr.PolynomialLR({opt}"
        f"{keywords(rng, ('total_iters', [3, 6]), ('power', [1.0, 2.0]))})",
        f"lr.CosineAnnealingLR({opt}, {rng.choice([3, 5])}{keywords(rng, ('eta_min', [1e-3]))})",
        f"lr.CosineAnnealingWarmRestarts({opt}, {rng.choice([2, 3])}"
        f"{keywords(rng, ('T_mult', [1, 2]), ('eta_min', [1e-3]))})",
        f"lr.LambdaLR({opt}, lambda e: 0.9 ** e)", f"lr.LambdaLR({opt}, lambda e: 1 / (1 + e))",
        f"lr.MultiplicativeLR({opt}, lambda e: 0.95 if e % 2 else 1.02)",
    ]  # fmt: skip
    if depth < 2 and rng.random() < 0.3:
        parts = [schedule(rng, opt, 2) for _ in range(2)]
        made = [f"lr.SequentialLR({opt}, [{', '.join(parts)}], [{rng.choice([1, 3])}])",
                f"lr.ChainedScheduler([{', '.join(parts)}])"]  # fmt: skip
    elif depth == 0:
        made += [f"lr.OneCycleLR({opt}, {rng.choice([0.1, 0.5])}, {total}{one})",
                 f"lr.CyclicLR({opt}, 0.01, 0.05{turns})"] * 2  # fmt: skip
        parts = [schedule(rng, opt, 1) for _ in range(rng.choice([1, 2, 3]))]
        joined = ", ".join(parts)
        stones = sorted(rng.sample(range(1, 9), len(parts) - 1))
        made += [f"lr.SequentialLR({opt}, [{joined}], milestones={stones})",
                 f"lr.ChainedScheduler([{joined}])"] * 2  # fmt: skip
        calm = keywords(rng, ("mode", ["'min'", "'max'"]), ("factor", [0.5, 0.1]),
                        ("patience", [0, 1, 2]), ("threshold", [1e-4, 0.1]),
                        ("threshold_mode", ["'rel'", "'abs'"]), ("cooldown", [0, 2]),
                        ("min_lr", [0, 1e-2]), ("eps", [1e-8, 1e-2]))  # fmt: skip
        made += [f"lr.ReduceLROnPlateau({opt}{calm})"] * 2
    return rng.choice(made)


def groups(rng):
    return rng.choice([
        "net.parameters()", "net.parameters()", "list(net.parameters())", "net.named_parameters()",
        "[{'params': list(net.parameters())[:1], 'lr': 0.02}, {'params':"
        " list(net.parameters())[1:]}]",
        "[{'params': list(net.parameters())[1:], 'weight_decay': 0.3}, {'params':"
        " [extra, list(net.parameters())[0]]}]",
        "[*net.parameters(), extra]", "[*net.parameters(), extra]",
        "(p for p in net.parameters() if p.dim() > 1)",
    ])  # fmt: skip


START = """see.dtype = see.dtype
net = {net}.to(see.dtype)
with torch.no_grad():
    for p in net.parameters():
        p.copy_(drawn(*p.shape))
extra = nn.Parameter(drawn(2))
x, y = drawn(5, 3), drawn(5, 2)
def loss_of(k=0):
    out = net(x)
    if k % 2:
        out = out * (1 + extra)
    return ((out - y) ** 2).mean()
def show():
    see([p for p in net.parameters()], extra, [p.grad for p in net.parameters()])
"""

RENEW = """kept = copy.deepcopy(opt.state_dict())
opt = {opt}
opt.load_state_dict(kept)
see(opt.state_dict())"""

BY_FILE = """file = io.BytesIO()
torch.save({{'opt': opt.state_dict(), 'net': net.state_dict()}}, file)
file.seek(0)
kept = torch.load(file{only})
opt = {opt}
opt.load_state_dict(kept['opt'])
see(net.load_state_dict(kept['net']))"""


def step(rng, k, opt, metric, scheduled):
    """The statements of one step of training."""
    clear = rng.choice(["opt.zero_grad()", "opt.zero_grad(set_to_none=False)", "net.zero_grad()",
                        "opt.zero_grad(True)", "None"])  # fmt: skip
    lines = [clear]
    use = rng.choice([0, 0, 1])
    closure = opt.startswith("torch.optim.LBFGS") or rng.random() < 0.15
    if closure:
        lines.append(f"""def closure():
    opt.zero_grad()
    loss = loss_of({use})
    loss.backward()
    return loss""")
        lines.append("see(float(opt.step(closure)))")
    else:
        lines.append(f"loss = loss_of({use}); loss.backward(); see(loss)")
        if rng.random() < 0.2:
            lines.append(f"(loss_of({use}) / 2).backward()")
        if rng.random() < 0.4:
            lines.append(rng.choice(CLIPS))
        if rng.random() < 0.15:
            lines.append(rng.choice(GRADS))
        lines.append("see(opt.step())")
    if scheduled and rng.random() < 0.9:
        lines.append(f"sched.step({rng.choice(['loss', '0.5', '1.0']) if metric else ''})")
        lines.append("see(sched.get_last_lr())")
    lines.append("show()")
    return lines


CLIPS = [
    f"see(utils.clip_grad_norm_({what}))" for what in (
        "net.parameters(), 0.5", "net.parameters(), 0.1, norm_type=1", "[extra], 0.1",
        "net.parameters(), 0.1, norm_type=float('inf')", "list(net.parameters()), 1e3",
        "net.parameters(), max_norm=0.2, error_if_nonfinite=True, foreach=False",
        "net.parameters(), 0.2, norm_type=3", "list(net.parameters())[0], 0.1", "[], 1.0",
        "net.parameters(), torch.tensor(0.1)",
    )
] + [
    "utils.clip_grad_value_(net.parameters(), 0.05)",
    "utils.clip_grad_value_(net.parameters(), clip_value=0.01, foreach=False)",
    "see(utils.get_total_norm([p.grad for p in net.parameters() if p.grad is not None]))",
    "utils.clip_grads_with_norm_(net.parameters(), 0.3, torch.tensor(2.0))",
]  # fmt: skip
GRADS = [
    "for p in net.parameters(): p.grad = None", "list(net.parameters())[0].grad = None",
    "for p in net.parameters():\n    if p.grad is not None: p.grad.mul_(0.5)",
    "list(net.parameters())[0].grad = torch.ones_like(list(net.parameters())[0])",
    "extra.grad = drawn(2)", "extra.grad = drawn(3)",
    "for p in net.parameters():\n    if p.grad is not None: p.grad.zero_()",
    "for p in net.parameters():\n    if p.grad is not None: p.grad.data.add_(0.01 * p.data)",
    "for p in net.parameters():\n    if p.grad is not None: p.grad /= 3",
]  # fmt: skip
BETWEEN = [
    "list(net.parameters())[0].requires_grad_(False)", "net.requires_grad_(True)",
    "list(net.parameters())[0].requires_grad = True", "net[0].requires_grad_(False)",
    "opt.param_groups[0]['lr'] = 0.02", "opt.param_groups[0]['lr'] *= 0.5",
    "for g in opt.param_groups: g['weight_decay'] = 0.05",
    "opt.param_groups[0]['betas'] = (0.5, 0.8)", "opt.param_groups[-1]['maximize'] = True",
    "opt.param_groups[0]['momentum'] = 0.4",
    "opt.add_param_group({'params': [extra]})",
    "opt.add_param_group({'params': nn.Parameter(drawn(1)), 'lr': 0.5})",
    "see([sorted(g) for g in opt.param_groups])", "see(opt.state_dict())", "see(opt.defaults)",
    "see(len(opt.state), [sorted(map(str, opt.state.get(p, []))) for p in net.parameters()])",
    "opt.state.clear()", "with torch.no_grad(): extra.add_(0.1)",
    "with torch.no_grad():\n    for p in net.parameters(): p.mul_(0.9)",
    "net.load_state_dict({k: v * 0.5 for k, v in net.state_dict().items()})",
    "hook = opt.register_step_post_hook(lambda o, a, k: see('after', len(a), sorted(k)))",
    "opt.register_step_pre_hook(lambda o, a, k: see('before'))",
    "list(net.parameters())[0].register_hook(lambda g: g * 2)",
    "list(net.parameters())[-1].register_post_accumulate_grad_hook(lambda p: see(p.grad))",
    "ema = torch.optim.swa_utils.AveragedModel(net,"
    " multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.7))",
    "ema = torch.optim.swa_utils.AveragedModel(net)",
    "ema = torch.optim.swa_utils.AveragedModel(net, avg_fn=lambda a, p, n: 0.6 * a + 0.4 * p)",
    "ema.update_parameters(net); see(ema(x), ema.state_dict())",
    "sched = torch.optim.swa_utils.SWALR(opt, swa_lr=0.05, anneal_epochs=3)",
    "sched = torch.optim.swa_utils.SWALR(opt, 0.01, 2, anneal_strategy='linear')",
    "see(repr(type(opt).__name__), len(opt.param_groups))",
    "opt.load_state_dict({'state': {}, 'param_groups': []})",
    "opt = copy.deepcopy(opt)",
    "v = utils.parameters_to_vector(net.parameters()); see(v)",
    "utils.vector_to_parameters(drawn(200)[:sum(p.numel() for p in net.parameters())],"
    " net.parameters())",
]  # fmt: skip

SCALED = """opt.zero_grad()
scaler.scale(loss_of()).backward()
see([p.grad for p in net.parameters()])
{unscale}see(scaler.step(opt))
scaler.update({new})
see(scaler.get_scale(), scaler.state_dict())"""


def optimizers(rng):
    name = rng.choice(list(OPTIMIZERS))
    few = ", max_iter=3" if name == "LBFGS" else ""  # later steps divide rounding errors
    opt = f"torch.optim.{name}({groups(rng)}{keywords(rng, *OPTIMIZERS[name])}{few})"
    text = [START.format(net=rng.choice(NETS)), f"opt = {opt}"]
    sched = schedule(rng) if rng.random() < 0.4 else None
    if sched:
        text.append(f"sched = {sched}")
    metric = sched is not None and "Plateau" in sched
    scaled = rng.random() < 0.1 and name != "LBFGS"
    if scaled:
        text.append(
            "scaler = torch.amp.GradScaler('cpu'"
            + keywords(rng, ("init_scale", [4.0, 2.0**10]), ("growth_interval", [1, 2]),
                       ("growth_factor", [2.0, 3.0]), ("backoff_factor", [0.5, 0.25]),
                       ("enabled", [True, False])) + ")")  # fmt: skip
    for k in range(rng.choice([2, 4, 6])):
        if scaled:
            unscale = rng.choice(["", f"scaler.unscale_(opt)\n{rng.choice(CLIPS)}\n"])
            text.append(SCALED.format(unscale=unscale, new=rng.choice(["", "", "8.0"])))
            if rng.random() < 0.3:
                text.append("list(net.parameters())[0].data[0] = float('inf')")
            continue
        text += step(rng, k, opt, metric, sched is not None)
        while rng.random() < 0.35:
            usual = [b for b in BETWEEN if not few or "maximize" not in b]
            text.append(rng.choice([
                rng.choice(usual), rng.choice(usual), RENEW.format(opt=opt),
                BY_FILE.format(opt=opt, only=rng.choice(["", ", weights_only=True"])),
            ]))  # fmt: skip
    if rng.random() < 0.7:
        text.append("see(opt.state_dict())")
    return text


SHOWN = "see([(g['lr'], g.get('momentum'), g.get('betas')) for g in opt.param_groups])"
KEEP = """kept = {{k: v for k, v in sched.state_dict().items() if not k.startswith('_') or
        k in ('_step_count', '_last_lr')}}
see(kept)"""
GIVE = """kept, kept_opt = copy.deepcopy(sched.state_dict()), copy.deepcopy(opt.state_dict())
opt = {opt}
sched = {sched}
sched.load_state_dict(kept)
opt.load_state_dict(kept_opt)"""


def schedules(rng):
    text = ["w, b = nn.Parameter(drawn(2)), nn.Parameter(drawn(3))"]
    given = rng.choice(["[w, b]", "[{'params': [w], 'lr': 0.3}, {'params': [b]}]"])
    opt = rng.choice([
        f"torch.optim.SGD({given}, lr=0.1, momentum=0.9)", f"torch.optim.Adam({given}, lr=0.05)",
        f"torch.optim.SGD({given}, lr=0.1)", f"torch.optim.AdamW({given}, lr=torch.tensor(0.1))",
        f"torch.optim.RMSprop({given}, lr=0.1)",
    ])  # fmt: skip
    sched = schedule(rng)
    if rng.random() < 0.1 and "[" not in sched and "Plateau" not in sched:
        at = rng.choice([-1, 0, 3])
        text.append(f"opt = {opt}")
        if rng.random() < 0.7:
            text.append("for g in opt.param_groups: g['initial_lr'] = 0.2; g['max_lr'] = 0.4;"
                        " g['min_lr'] = 0.01; g['max_momentum'] = 0.9;"
                        " g['base_momentum'] = 0.8")  # fmt: skip
        text.append(f"sched = {sched[:-1]}, last_epoch={at})")
    else:
        text += [f"opt = {opt}", f"sched = {sched}"]
    text.append(SHOWN)
    for _ in range(rng.choice([6, 14, 26])):
        if "Plateau" in sched:
            value = rng.choice([1.0, 0.9, 0.5, 0.95, "float('nan')", "torch.tensor(0.7)", 2])
            text.append(f"opt.step(); sched.step({value})")
        elif "WarmRestarts(" in sched and "[" not in sched and rng.random() < 0.3:
            text.append(f"opt.step(); sched.step({rng.choice([0.5, 2.25, 7, 3.9, 11.5])})")
        elif rng.random() < 0.04 and "Chained" not in sched and "Sequential" not in sched:
            text.append(f"opt.step(); sched.step({rng.choice([0, 2, 5])})")
        else:
            text.append("opt.step(); sched.step()")
        text += [SHOWN, "see(sched.get_last_lr())"]
        if rng.random() < 0.06:
            text.append(KEEP.format())
        if rng.random() < 0.06:
            text.append(GIVE.format(opt=opt, sched=sched))
        if rng.random() < 0.03:
            text.append("opt.param_groups[0]['lr'] = 0.07")
        if rng.random() < 0.03 and "lambda" not in sched:
            text.append("file = io.BytesIO(); torch.save(sched.state_dict(), file); file.seek(0)\n"
                        "sched.load_state_dict(torch.load(file, weights_only=False))")  # fmt: skip
    return text


KINDS = {"optimizers": optimizers, "schedules": schedules}
