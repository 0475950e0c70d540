"""Training on several GPUs: a step of the MNIST net under DistributedDataParallel, and an
all-reduce of 16 MiB, by Numbus and by PyTorch.

    python bench/ddp.py --ranks 2

starts the ranks of each library after the other, which run this same file as a program of
PyTorch's (`python -m numbus` has it run on Numbus), compares their losses and prints the times.
Under torchrun or `python -m numbus.dist.run` it is one rank. It needs a GPU for each rank. Without
GPUs, `--nccl LIBRARY` has Numbus run on the fenced device with a stand-in for NCCL
(tests/cpp/fake_nccl.inc), which shows that the program works and no time of interest.
"""

import argparse
import importlib.util
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time

BATCH, LOSSES = 64, 20
TOLERANCE = 2e-3  # of losses after 20 steps: sums in another order, and TF32 is off in both


def net_of(torch, width):
    """conv 32, conv 64, dense 128; a narrow one where only the program is tried."""
    nn = torch.nn
    made = nn.Sequential(
        nn.Conv2d(1, width, 3), nn.ReLU(), nn.Conv2d(width, 2 * width, 3), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(288 * width, 128), nn.ReLU(), nn.Linear(128, 10),
    )  # fmt: skip
    import numpy as np

    random = np.random.default_rng(1)
    with torch.no_grad():
        for p in made.parameters():  # the same in both libraries
            bound = 1 / np.sqrt(max(p[0].numel(), 1))
            p.copy_(torch.tensor(random.uniform(-bound, bound, tuple(p.shape)).astype("f4")))
    return made


def times_of(step, rounds, count):
    """Milliseconds a step, of each round; the clock is read when all work is done."""
    found = []
    for _ in range(rounds):
        begun = time.perf_counter()
        for _ in range(count):
            last = step()
        last.item()
        found.append(1e3 * (time.perf_counter() - begun) / count)
    return found


def rank():
    """One rank: prints what it found as JSON, if it is the first."""
    import numpy as np
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    torch.backends.cudnn.allow_tf32 = False
    local, quick = int(os.environ["LOCAL_RANK"]), "DDP_QUICK" in os.environ
    place = "fenced" if quick else f"cuda:{local}"
    if not quick:
        torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    me, ranks = dist.get_rank(), dist.get_world_size()
    random = np.random.default_rng(2)
    x = random.standard_normal((ranks * BATCH, 1, 28, 28)).astype("f4")
    y = random.integers(0, 10, ranks * BATCH)
    part = slice(me * BATCH, (me + 1) * BATCH)
    x, y = torch.tensor(x[part]).to(place), torch.tensor(y[part]).to(place)
    loss_of = torch.nn.CrossEntropyLoss()

    def trainer(model):
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

        def step():
            optimizer.zero_grad()
            loss = loss_of(model(x), y)
            loss.backward()
            optimizer.step()
            return loss

        return step

    rounds, count = (1, 2) if quick else (5, 100)
    width = 2 if quick else 32
    step = trainer(DistributedDataParallel(net_of(torch, width).to(place)))
    losses = [step().item() for _ in range(LOSSES)]
    found = {"losses": losses, "step": times_of(step, rounds, count)}
    found["alone"] = times_of(trainer(net_of(torch, width).to(place)), rounds, count)
    big = torch.ones(1 << (12 if quick else 22)).to(place)  # 16 MiB

    def reduce():
        dist.all_reduce(big)
        return big[0]

    dist.all_reduce(big)
    found["reduce"] = times_of(reduce, rounds, count)
    names = [None] * ranks
    dist.all_gather_object(names, "a stand-in" if quick else torch.cuda.get_device_name(local))
    found["devices"], found["ranks"] = names, ranks
    dist.barrier()
    dist.destroy_process_group()
    if me == 0:
        with open(os.environ["DDP_RESULT"], "w") as file:
            json.dump(found, file)


def ranks_of(command, ranks, more, seconds):
    """Runs the ranks of one library; what the first one found, or its error as text."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        result = os.path.join(folder, "result.json")
        common = {
            **os.environ, **more, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port),
            "WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(ranks), "DDP_RESULT": result,
        }  # fmt: skip
        logs, running = [], []
        for k in range(ranks):
            log = open(os.path.join(folder, f"{k}.txt"), "w+")
            env = {**common, "RANK": str(k), "LOCAL_RANK": str(k)}
            running.append(subprocess.Popen(command, env=env, stdout=log, stderr=log))
            logs.append(log)
        until = time.monotonic() + seconds
        for p in running:
            try:
                p.wait(max(until - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()
        if all(p.returncode == 0 for p in running) and os.path.exists(result):
            with open(result) as file:
                return json.load(file)
        for log in logs:
            log.seek(0)
        return "\n".join(f"rank {k}: {log.read()[-1500:]}" for k, log in enumerate(logs))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--nccl", help="a stand-in for NCCL: no GPU, Numbus only")
    parser.add_argument("--json", help="a file for what was found")
    parser.add_argument("--seconds", type=float, default=250, help="for each library")
    args = parser.parse_args()
    more = {}
    if args.nccl:
        more = {"NUMBUS_DEVICE": "fenced", "NUMBUS_NCCL": args.nccl, "DDP_QUICK": "1"}
    script = os.path.abspath(__file__)
    ours = [sys.executable, "-m", "numbus", script]
    found = {"Numbus": ranks_of(ours, args.ranks, more, args.seconds)}
    if args.nccl:
        print("a stand-in for NCCL on the CPU: times say nothing")
    elif importlib.util.find_spec("torch") is None:
        print("PyTorch is not installed: Numbus alone")
    else:
        found["PyTorch"] = ranks_of([sys.executable, script], args.ranks, {}, args.seconds)
    if args.json:
        with open(args.json, "w") as file:
            json.dump(found, file, indent=1)
    failed = False
    heads = ("step, ms", "alone, ms", "16 MiB, ms")
    print(" " * 10, *(f"{head:>18}" for head in heads), "  (median, least)")
    for name, one in found.items():
        if isinstance(one, str):
            failed = True
            print(f"{name}: failed\n{one}")
            continue
        times = [one[key] for key in ("step", "alone", "reduce")]
        columns = [f"{statistics.median(v):.3f} {min(v):.3f}" for v in times]
        print(f"{name:10}", *(f"{c:>18}" for c in columns), " ", ", ".join(one["devices"]))
    if not failed and len(found) == 2:
        pairs = list(zip(found["Numbus"]["losses"], found["PyTorch"]["losses"]))
        worst = max(abs(a - b) / abs(b) for a, b in pairs)
        failed = not worst <= TOLERANCE
        verdict = "NOT alike" if failed else "alike"
        print(f"losses of {LOSSES} steps differ by {worst:.1e} at most: {verdict}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    rank() if "RANK" in os.environ else main()
