"""Records what PyTorch (2.11, on a CPU) gives for the cases: python tests/pytorch/record.py
[NAMES].

Run by hand, where PyTorch is installed; what it writes is compared by tests/python/test_nn_*.py.
"""

import json
import subprocess
import sys
import tempfile
import warnings
from collections import OrderedDict

import numpy as np
import torch
from functional_cases import CASES as FUNCTIONAL
from inputs import FOLDER, Drawn, save
from modules_cases import CASES as MODULES
from modules_cases import SHOWN
from optim_cases import CASES as OPTIMIZERS
from optim_cases import (
    EPOCHS,
    METRICS,
    PLATEAUS,
    SCHEDULES,
    STATES,
    STEPS,
    gradients,
    start,
)
from training_cases import CASES as TRAINED
from training_cases import LEARNING, LEARNT, TRAINED_EXAMPLES, data, weight
from training_cases import STEPS as TRAINING_STEPS

warnings.filterwarnings("ignore")
torch.use_deterministic_algorithms(True)
torch.set_num_threads(1)


def tensor(value, drawn):
    """What was drawn as a tensor, also within a tuple; anything else as it is."""
    if isinstance(drawn, tuple):
        return tuple(tensor(v, d) for v, d in zip(value, drawn))
    if not isinstance(drawn, Drawn):
        return value
    return torch.from_numpy(np.array(value)).requires_grad_(drawn.gradient)


def functional():
    found = {}
    for name, case in FUNCTIONAL.items():
        given, keywords = case.arrays()
        args = [tensor(x, drawn) for x, drawn in zip(given, case.inputs)]
        words = {key: tensor(x, case.keywords[key]) for key, x in keywords.items()}
        function = getattr(torch.nn.functional, case.function)
        try:
            results = function(*args, **words)
        except Exception as error:
            raise RuntimeError(f"{name}: {case.inputs} {case.keywords}") from error
        results = results if isinstance(results, tuple) else (results,)
        for k, r in enumerate(results):
            found[f"{name} value {k}"] = r.detach().numpy()
        floats = [r for r in results if r.requires_grad]
        if not floats:
            continue
        seeds = case.cotangents([tuple(r.shape) for r in floats])
        sum((r * torch.from_numpy(np.asarray(s))).sum() for r, s in zip(floats, seeds)).backward()
        every = {**dict(enumerate(args)), **words}
        for key, drawn in case.drawn().items():
            if drawn.gradient:
                found[f"{name} gradient {key}"] = every[key].grad.numpy()
    save("functional.npz", found)
    print(f"functional: {len(FUNCTIONAL)} cases, {len(found)} arrays")


def _flat(results):
    """All tensors of a result, however it is nested."""
    if isinstance(results, torch.Tensor):
        return [results]
    if isinstance(results, (tuple, list)):
        return [t for r in results for t in _flat(r)]
    return []


def made(text):
    return eval(text, {**vars(torch.nn), "OrderedDict": OrderedDict})


def modules():
    found, shown = {}, {}
    for name, case in MODULES.items():
        module = made(case.text).double().train(case.train)
        shown[name] = [repr(module), [[k, list(v.shape)] for k, v in module.state_dict().items()]]
        state = module.state_dict()
        shapes = [(k, tuple(v.shape), v.is_floating_point()) for k, v in state.items()]
        for key, a in case.state(shapes).items():
            state[key].copy_(torch.from_numpy(np.asarray(a)))
        given, keywords = case.arrays()
        args = [tensor(x, drawn) for x, drawn in zip(given, case.inputs)]
        words = {key: tensor(x, case.keywords[key]) for key, x in keywords.items()}
        try:
            for _ in range(case.calls):
                results = _flat(module(*args, **words))
        except Exception as error:
            raise RuntimeError(f"{name}: {case.text}") from error
        for k, r in enumerate(results):
            found[f"{name} value {k}"] = r.detach().numpy()
        for key, b in module.named_buffers():
            found[f"{name} buffer {key}"] = b.numpy().copy()
        floats = [(k, r) for k, r in enumerate(results) if r.requires_grad]
        if not floats:
            continue
        seeds = [torch.from_numpy(np.asarray(case.cotangent(k, tuple(r.shape)))) for k, r in floats]
        sum((r * s).sum() for (_, r), s in zip(floats, seeds)).backward()
        for key, p in module.named_parameters():
            if p.grad is not None:
                found[f"{name} gradient {key}"] = p.grad.numpy()
        for k, x in enumerate(_flat([*args, *words.values()])):
            if x.grad is not None:
                found[f"{name} gradient of input {k}"] = x.grad.numpy()
    for text in SHOWN:
        module = made(text)
        shown[text] = [repr(module), [[k, list(v.shape)] for k, v in module.state_dict().items()]]
    text = json.dumps(shown, separators=(",", ":")).encode()
    save("modules.npz", {**found, "shown": np.frombuffer(text, np.uint8)})
    print(f"modules: {len(MODULES)} cases, {len(found)} arrays")


def optimizers():
    found = {}
    for name, (kind, words, dtype) in OPTIMIZERS.items():
        params = {k: torch.from_numpy(a).requires_grad_() for k, a in start(name, dtype).items()}
        plain = {} if kind == "Muon" else {"foreach": False}
        optimizer = getattr(torch.optim, kind)(params.values(), **plain, **words)
        for step in range(STEPS):
            for key, g in gradients(name, step, dtype).items():
                if key in params:
                    params[key].grad = torch.from_numpy(g)
            optimizer.step()
        for key, p in params.items():
            found[f"{name} {key}"] = p.detach().numpy()
            for state in STATES:
                if isinstance(optimizer.state[p].get(state), torch.Tensor):
                    found[f"{name} {key} {state}"] = optimizer.state[p][state].numpy()
    schedulers = torch.optim.lr_scheduler
    for k, (kind, words) in enumerate(SCHEDULES):
        for rule, more in (("SGD", {"lr": 0.3, "momentum": 0.9}), ("Adam", {"lr": 0.3})):
            optimizer = getattr(torch.optim, rule)([torch.zeros(1, requires_grad=True)], **more)
            schedule = getattr(schedulers, kind)(optimizer, **words)
            rates, momenta = [], []
            for _ in range(EPOCHS):
                group = optimizer.param_groups[0]
                rates.append(group["lr"])
                momenta.append(group["betas"][0] if "betas" in group else group["momentum"])
                optimizer.step()
                schedule.step()
            found[f"schedule {k} {rule}"] = np.array([rates, momenta])
    for k, words in enumerate(PLATEAUS):
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.3)
        schedule = schedulers.ReduceLROnPlateau(optimizer, **words)
        rates = []
        for metric in METRICS:
            schedule.step(metric)
            rates.append(optimizer.param_groups[0]["lr"])
        found[f"plateau {k}"] = np.array(rates)
    save("optim.npz", found)
    print(f"optim: {len(found)} arrays")


def archives():
    """A file as torch.save() writes it, of what a program keeps."""
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    net(torch.randn(5, 3)).sum().backward()
    optimizer.step()
    w = torch.arange(12.0).reshape(3, 4)
    kept = {
        "net": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3, "view": w.T[1:],
        "whole": w, "parameter": torch.nn.Parameter(w), "size": w.shape, "dtype": torch.float16,
        "half": torch.ones(2, dtype=torch.half), "empty": torch.zeros(0, 2), "number": 2.5,
        "complex": torch.tensor(1 + 2j), "none": None, "list": [1, (2.5, "text")],
    }  # fmt: skip
    torch.save(kept, FOLDER / "archive.pt")
    mine = {k: v.detach().numpy() for k, v in net.state_dict().items()}
    save("archive.npz", mine)


def training():
    found = {}
    for name, (text, _, _, kind, words) in TRAINED.items():
        net = made(text).double()
        for key, p in net.named_parameters():
            p.data.copy_(torch.from_numpy(np.asarray(weight(name, key, tuple(p.shape)))))
        optimizer = getattr(torch.optim, kind)(net.parameters(), **words)
        losses = []
        for step in range(TRAINING_STEPS):
            x, y = map(torch.from_numpy, data(name, step))
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(net(x), y)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
        found[name] = np.array(losses)
    save("training.npz", found)


EXAMPLE = """
import runpy, sys, torch
torch.set_num_threads(int(sys.argv[1]))
torch.set_default_dtype(getattr(torch, sys.argv[2]))
sys.argv = sys.argv[3:]
sys.path.insert(0, sys.argv[0].rpartition("/")[0])
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def example(name, options, threads=1, dtype="float32"):
    """(losses, the percentage that the program prints) of one of examples/."""
    script = str(FOLDER.parents[1] / "examples" / f"{name}.py")
    with tempfile.TemporaryDirectory() as folder:
        more = [*options.split(), "--picture", "", "--save", "losses.npy"]
        done = subprocess.run(
            [sys.executable, "-c", EXAMPLE, str(threads), dtype, script, *more],
            cwd=folder, check=True, capture_output=True, text=True,
        )  # fmt: skip
        right = [line for line in done.stdout.splitlines() if line.startswith("right:")]
        return np.load(f"{folder}/losses.npy"), float(right[0].split()[1])


def examples():
    found = {name: example(name, options)[0] for name, options in TRAINED_EXAMPLES.items()}
    for threads, dtype in LEARNT:
        losses, right = example(*LEARNING, threads, dtype)
        found[f"learning {dtype} {threads}"] = losses
        found[f"right {dtype} {threads}"] = np.array(right)
    save("examples.npz", found)


def script(name):
    """Stores what a script that both libraries run has found."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(FOLDER / f"{name}_calls.py"), "found"]
        subprocess.run(command, cwd=folder, check=True)
        with np.load(f"{folder}/found.npz") as found:
            save(f"{name}.npz", {key: found[key] for key in found.files})


PARTS = {
    "functional": functional,
    "modules": modules,
    "optim": optimizers,
    "archives": archives,
    "training": training,
    "examples": examples,
    "torchvision": lambda: script("torchvision"),
    "sequence": lambda: script("sequence"),
}
if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
