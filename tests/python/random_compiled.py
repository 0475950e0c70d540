"""Random nets whose steps are compiled by `nb.compile`, beside the same steps without it.

Between steps the program changes what the step depends on: settings, weights, gradients, states,
batches. Both runs are on a device whose memory the host cannot read, and must give the same bits.

    python tests/python/random_compiled.py --first 0 --count 1000
"""

import warnings

import numbus as nb
import numpy as np
from numbus import _core, nn, optim, tensors
from numbus.nn import functional as F
from numbus.nn import optimized
from numbus.tensors import no_grad
from random_nets import count_failures, elements, net, optimizer, parser_of_seeds, pick

STEPS = 16


class Noise(nn.Module):
    """Adds normal numbers while training."""

    def forward(self, x):
        return x + 0.1 * tensors.randn_like(x) if self.training else x


def with_chance(seed, model):
    """The net, in half of the seeds with layers that draw random numbers."""
    rng = np.random.default_rng([seed, 1])
    layers = list(model)
    for _ in range(int(pick(rng, 0, 0, 1, 2))):
        made = pick(
            rng, nn.Dropout(0.3), nn.Dropout(0.5, inplace=True), nn.AlphaDropout(0.2), Noise()
        )
        layers.insert(int(rng.integers(len(layers))), made)
    return nn.Sequential(*layers)


def step_of(rng, model, steps, loss_of):
    """A step of one of several forms, which returns a tree of tensors."""
    zeros, order, returns = pick(rng, True, True, False), int(rng.integers(4)), int(rng.integers(3))
    clips = rng.random() < 0.2

    def finish(loss, out):
        if clips:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        steps.step()
        if order == 1:
            steps.zero_grad(set_to_none=zeros)
        if returns == 0:
            return loss
        if returns == 1:
            return {"loss": loss, "out": out.detach() * 1, "size": len(out)}
        return [loss, (out.detach().sum(), None)]

    def step(x, y):
        if order in (0, 2):
            steps.zero_grad(set_to_none=zeros)
        out = model(x)
        loss = loss_of(out, y)
        loss.backward()
        return finish(loss, out)

    return step


def open_step_of(seed, model, steps, loss_of, compiles):
    """A step whose derivatives are taken outside of what is compiled: a model, or a loss."""
    rng = np.random.default_rng([seed, 2])
    form, order, twice = int(rng.integers(4)), int(rng.integers(3)), rng.random() < 0.3
    by_input, keeps, looks = rng.random() < 0.3, rng.random() < 0.2, rng.random() < 0.4
    compiled = optimized.compile if compiles else lambda f: f

    if form == 0:
        net_of = compiled(model)
        loss_at = lambda x, y: loss_of(net_of(x), y)  # noqa: E731
    elif form == 1:
        net_of = compiled(lambda x: {"out": model(x), "more": [(x * x).sum(), 3]})
        loss_at = lambda x, y: loss_of(net_of(x)["out"], y)  # noqa: E731
    elif form == 2:
        loss_at = net_of = compiled(lambda x, y: loss_of(model(x), y))
    else:  # a part of the model
        first, second = compiled(model[0]), compiled(model[1:])
        net_of = first
        loss_at = lambda x, y: loss_of(second(first(x)), y)  # noqa: E731

    def step(x, y):
        if order == 0:
            steps.zero_grad()
        if by_input:
            x = x.requires_grad_() if order else (x * 1.5).requires_grad_()
        loss = loss_at(x, y)
        if twice:
            loss = loss + loss_at(x * 0.5, y)
        if keeps:
            loss.backward(retain_graph=True)
        if looks:
            with no_grad():
                loss_at(x, y)
        loss.backward()
        if by_input:
            loss = loss.detach() + x.grad.sum()
        steps.step()
        if order == 1:
            steps.zero_grad(set_to_none=False)
        return loss

    made = getattr(net_of, "_compiled", net_of)
    return step, lambda: getattr(made, "answers", 0)


def change(rng, model, steps, scheduler):
    """Something that a program does between two steps."""
    what = int(rng.integers(16))
    parameters = list(model.parameters())
    p = parameters[int(rng.integers(len(parameters)))]
    if what == 0:
        steps.param_groups[0]["lr"] *= 0.5
    elif what == 1:
        model.eval() if model.training else model.train()
    elif what == 2:
        with no_grad():
            p.mul_(0.5)
    elif what == 3:
        p.data = p.detach() * 0.5
    elif what == 4:
        if p.grad is not None:
            p.grad *= 2
    elif what == 5:
        p.grad = None
    elif what == 6:
        steps.load_state_dict(steps.state_dict())
    elif what == 7:
        model.load_state_dict({k: v * 0.9 if v.dtype.is_floating_point else v
                               for k, v in model.state_dict().items()})  # fmt: skip
    elif what == 8:
        p.requires_grad_(not p.requires_grad)
    elif what == 9:
        scheduler.step()
    elif what == 10:
        steps.param_groups[0]["weight_decay"] = pick(rng, 0, 0.1)
    elif what == 11:
        for k in range(len(model)):
            if isinstance(model[k], nn.Linear):
                model[k].bias = None
                return
    elif what == 12:
        model[len(model) - 1].weight = nn.Parameter(model[len(model) - 1].weight.detach() * 0.5)
    elif what == 13:
        for m in model:
            if isinstance(m, nn.LeakyReLU):
                m.negative_slope *= 0.5
    elif what == 14:
        tensors.manual_seed(7)
    elif what == 15:
        if scheduler.last_epoch % 2 or not hasattr(scheduler, "kept"):
            scheduler.kept = tensors.get_rng_state()
        else:
            tensors.set_rng_state(scheduler.kept)


def difference(seed, device="fenced", outside=False):
    """(what differs between the two runs of a seed, or None; how many steps needed no code).

    outside: derivatives are taken outside of what is compiled.
    """
    runs, answers = [], 0
    for compiled in (False, True):
        rng = np.random.default_rng(seed)
        tensors.manual_seed(seed)
        model, shape = net(rng)
        model = with_chance(seed, model)
        with no_grad():
            for p in model.parameters():
                p.copy_(tensors.from_numpy(rng.uniform(-1, 1, tuple(p.shape))).to(p.dtype))
        model = model.to(device)
        steps = optimizer(rng, list(model.parameters()))
        scheduler = optim.lr_scheduler.ExponentialLR(steps, 0.9)
        loss_of = pick(rng, F.cross_entropy, F.cross_entropy, F.mse_loss)
        step = step_of(rng, model, steps, loss_of)
        if outside:
            step, answered = open_step_of(seed, model, steps, loss_of, compiled)
        elif compiled:
            step = nb.compile(step)
        calm = rng.random()
        found = []
        for k in range(STEPS):
            batch = int(pick(rng, 4, 4, 4, 4, 4, 5))
            x = tensors.from_numpy(rng.standard_normal((batch, *shape)).astype("f4")).to(device)
            y = tensors.from_numpy(rng.integers(0, 3, batch)).to(device)
            if loss_of is not F.cross_entropy:
                y = F.one_hot(y, 3).float()
            try:
                made = step(x, y)
            except RuntimeError as error:
                found.append((f"step {k}", str(error)))
                continue
            if rng.random() < 0.3:
                first = made["loss"] if isinstance(made, dict) else made
                first = first[0] if isinstance(first, list) else first
                found.append((f"loss {k}", first.item()))
            if rng.random() < 0.2:
                found += [(f"gradient {n} {k}", elements(p.grad))
                          for n, p in model.named_parameters() if p.grad is not None]  # fmt: skip
            if isinstance(made, dict):
                found += [(f"out {k}", elements(made["out"])), (f"size {k}", made["size"])]
            if rng.random() < calm * 0.3:
                change(rng, model, steps, scheduler)
        found += [(name, elements(t)) for name, t in model.state_dict().items()]
        for n, state in enumerate(steps.state_dict()["state"].values()):
            found += [(f"{key} of {n}", elements(v) if isinstance(v, tensors.Tensor) else v)
                      for key, v in state.items()]  # fmt: skip
        runs.append(found)
        answers = 0 if not compiled else answered() if outside else step.answers
    if len(runs[0]) != len(runs[1]):
        return f"{len(runs[0])} results and {len(runs[1])}", answers
    for (name, a), (other, b) in zip(*runs, strict=True):
        if name != other or not np.array_equal(a, b, equal_nan=not isinstance(a, str)):
            return f"{name}: {a} and {b}", answers
    return None, answers


def main():
    parser = parser_of_seeds()
    parser.add_argument("--late", action="store_true", help="launches wait for each other there")
    parser.add_argument("--outside", action="store_true", help="derivatives are taken outside")
    options = parser.parse_args()
    _core.set_late_checks(options.late)
    nb.seterr(all="ignore")
    warnings.simplefilter("ignore")
    answered = 0

    def counted(seed):
        nonlocal answered
        found, answers = difference(seed, options.device, options.outside)
        answered += answers
        return found

    failed = count_failures(options, counted)
    print(f"{options.count} nets from {options.first}: {failed} differ; "
          f"{answered} of {options.count * STEPS} steps needed no code")  # fmt: skip


if __name__ == "__main__":
    main()
