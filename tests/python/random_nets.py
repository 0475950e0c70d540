"""Random nets trained for some steps, on the host and on a device whose memory it cannot read.

There calls of pure functions are recorded again without their code, steps wait for each other and
are launched together; on the host none of this happens. Weights, gradients and losses of both must
agree at each step.

    python tests/python/random_nets.py --first 0 --count 1000
"""

import argparse
import warnings

import numbus as nb
import numpy as np
from numbus import _core, nn, optim, tensors
from numbus.nn import functional as F
from numbus.tensors import no_grad

IMAGE, LINE = "image", "line"


def pick(rng, *choices):
    return choices[rng.integers(len(choices))]


def layer(rng, kind, shape):
    """(a layer, the kind and the shape of what it gives, without the batch)."""
    if kind == LINE:
        (width,) = shape
        out = int(rng.integers(1, 9))
        return pick(
            rng,
            (nn.Linear(width, out, bias=bool(rng.integers(2))), LINE, (out,)),
            (pick(rng, nn.ReLU(), nn.Tanh(), nn.GELU(), nn.Softplus(), nn.ELU()), kind, shape),
            (nn.LayerNorm(width), kind, shape),
            (nn.BatchNorm1d(width, momentum=pick(rng, 0.1, 0.5)), kind, shape),
            (nn.Softmax(dim=1), kind, shape),
        )
    channels, height, width = shape
    out = 2 * int(rng.integers(1, 4))
    k, pad, step = int(rng.integers(1, 4)), int(rng.integers(0, 3)), int(rng.integers(1, 3))
    k = min(k, height + 2 * pad, width + 2 * pad)
    size = [(n + 2 * pad - k) // step + 1 for n in (height, width)]
    choices = [
        (nn.Conv2d(channels, out, k, stride=step, padding=pad), IMAGE, (out, *size)),
        (pick(rng, nn.ReLU(), nn.LeakyReLU(0.1), nn.SiLU()), kind, shape),
        (nn.BatchNorm2d(channels), kind, shape),
        (nn.Flatten(), LINE, (channels * height * width,)),
    ]
    if height > 1 and width > 1:
        pool = pick(rng, nn.MaxPool2d, nn.AvgPool2d)(2)
        choices.append((pool, IMAGE, (channels, height // 2, width // 2)))
    if channels % 2 == 0:
        choices.append((nn.GroupNorm(2, channels), kind, shape))
    return pick(rng, *choices)


def net(rng):
    """(layers, the shape of an example, the number of results)."""
    if rng.integers(2):
        kind, first = IMAGE, (int(rng.integers(1, 4)), *(int(n) for n in rng.integers(4, 9, 2)))
    else:
        kind, first = LINE, (int(rng.integers(1, 9)),)
    layers, shape = [], first
    for _ in range(rng.integers(1, 7)):
        made, kind, shape = layer(rng, kind, shape)
        layers.append(made)
    if kind == IMAGE:
        layers.append(nn.Flatten())
        shape = (int(np.prod(shape)),)
    layers.append(nn.Linear(shape[0], 3))
    return nn.Sequential(*layers), first


def optimizer(rng, parameters):
    rate = float(pick(rng, 1e-2, 1e-3))
    return pick(
        rng,
        lambda: optim.SGD(parameters, lr=rate, momentum=pick(rng, 0, 0.9)),
        lambda: optim.Adam(parameters, lr=rate, amsgrad=bool(rng.integers(2))),
        lambda: optim.Adam(parameters, lr=rate, weight_decay=0.1, maximize=bool(rng.integers(2))),
        lambda: optim.AdamW(parameters, lr=rate),
        lambda: optim.RMSprop(parameters, lr=rate),
    )()


def elements(t):
    return np.array(t.detach().to("cpu").numpy())  # not those of memory that steps change


def difference(seed, device="fenced"):
    """What differs between the two runs of the net of a seed; None: nothing."""
    runs = []
    for where in ("cpu", device):
        rng = np.random.default_rng(seed)
        model, shape = net(rng)
        with no_grad():
            for p in model.parameters():
                p.copy_(tensors.from_numpy(rng.uniform(-1, 1, tuple(p.shape))).to(p.dtype))
        model = model.double().to(where)
        steps = optimizer(rng, list(model.parameters()))
        loss_of = pick(rng, F.cross_entropy, F.cross_entropy, F.mse_loss, F.smooth_l1_loss)
        found = []
        for step in range(7):
            batch = int(pick(rng, 4, 4, 4, 5))
            x = tensors.from_numpy(rng.standard_normal((batch, *shape))).to(where)
            y = tensors.from_numpy(rng.integers(0, 3, batch)).to(where)
            if loss_of is not F.cross_entropy:
                y = F.one_hot(y, 3).double()
            what = rng.random()
            if what < 0.1:
                model.eval() if model.training else model.train()
            if what < 0.8:
                steps.zero_grad(set_to_none=bool(rng.random() < 0.8))
            loss = loss_of(model(x), y, reduction=pick(rng, "mean", "mean", "sum"))
            if rng.random() < 0.15:
                loss.backward(retain_graph=True)
            loss.backward()
            if rng.random() < 0.2:
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            if rng.random() < 0.15:
                steps.param_groups[0]["lr"] *= 0.5
            steps.step()
            if rng.random() < 0.5:
                found.append((f"loss {step}", loss.item()))
            if rng.random() < 0.2:
                with no_grad():
                    found.append((f"evaluated {step}", elements(model(x))))
            if rng.random() < 0.2:
                found += [(f"gradient {n} {step}", elements(p.grad))
                          for n, p in model.named_parameters() if p.grad is not None]  # fmt: skip
        found += [(name, elements(t)) for name, t in model.state_dict().items()]
        runs.append(found)
    for (name, a), (_, b) in zip(*runs, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape or not np.allclose(a, b, rtol=1e-6, atol=1e-8, equal_nan=True):
            return f"{name}: {a} and {b}"
    return None


def parser_of_seeds():
    """The arguments that each script of random programs has."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--device", default="fenced")
    return parser


def count_failures(options, difference):
    """How many seeds differ, or raise; each is printed."""
    failed = 0
    for seed in range(options.first, options.first + options.count):
        try:
            found = difference(seed)
        except Exception as error:  # noqa: BLE001: a seed that raises is one that failed
            found = f"{type(error).__name__}: {error}"
        if found:
            failed += 1
            print(f"seed {seed}: {found}", flush=True)
    return failed


def main():
    parser = parser_of_seeds()
    parser.add_argument("--late", action="store_true", help="launches wait for each other there")
    options = parser.parse_args()
    nb.seterr(all="ignore")
    _core.set_late_checks(options.late)
    warnings.simplefilter("ignore")
    failed = count_failures(options, lambda seed: difference(seed, options.device))
    print(f"{options.count} nets from {options.first}: {failed} differ")


if __name__ == "__main__":
    main()
