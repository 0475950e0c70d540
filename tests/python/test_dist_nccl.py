"""Ranks whose tensors lie on devices of their own, by NCCL: a stand-in for it, and the fenced
device in place of GPUs.
"""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

nb = pytest.importorskip("numbus")
from numbus import dist  # noqa: E402

pytestmark = pytest.mark.numbus
SOURCES = Path(__file__).parents[1] / "cpp"


def compiled(folder, source):
    """A stand-in as a library."""
    made = folder / "library.so"
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-O1", "-shared", "-fPIC", "-x", "c++"]
    try:
        done = subprocess.run([*command, str(SOURCES / source), "-o", str(made)],
                              capture_output=True, text=True, timeout=100)  # fmt: skip
    except FileNotFoundError:
        pytest.skip("no compiler for the stand-in")
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The stand-in for NCCL."""
    return compiled(tmp_path_factory.mktemp("nccl"), "fake_nccl.inc")


def launch(folder, text, ranks, library, fails=False, device="fenced", **more):
    """What a script prints as that many ranks, sorted by line."""
    script = Path(folder) / "script.py"
    script.write_text(textwrap.dedent(text), "utf-8")
    environment = dict(
        os.environ, NUMBUS_DEVICE=device, NUMBUS_NUM_THREADS="1", NUMBUS_NCCL=str(library), **more
    )
    done = subprocess.run(
        [sys.executable, "-m", "numbus.dist.run", "--nproc_per_node", str(ranks), str(script)],
        cwd=folder, capture_output=True, text=True, env=environment, timeout=110,
    )  # fmt: skip
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stdout + done.stderr if fails else "\n".join(sorted(done.stdout.splitlines()))


COLLECTIVES = """
    import numpy as np
    import torch
    import torch.distributed as dist

    dist.init_process_group("nccl")
    r, n = dist.get_rank(), dist.get_world_size()

    def everywhere(make):
        return [make(k) for k in range(n)]

    folds = {
        dist.ReduceOp.SUM: lambda all: sum(all[1:], all[0]),
        dist.ReduceOp.PRODUCT: lambda all: np.prod(np.stack(all), 0),
        dist.ReduceOp.MIN: lambda all: np.min(np.stack(all), 0),
        dist.ReduceOp.MAX: lambda all: np.max(np.stack(all), 0),
        dist.ReduceOp.AVG: lambda all: sum(all[1:], all[0]) / n,
    }
    names = "float16 bfloat16 float32 float64 int8 uint8 int16 int32 int64 complex64".split()
    for name in names:
        kind = getattr(torch, name)
        for op, fold in folds.items():
            if op == dist.ReduceOp.AVG and "int" in name:
                continue
            if name == "complex64" and op not in (dist.ReduceOp.SUM, dist.ReduceOp.AVG):
                continue
            parts = everywhere(lambda k: np.arange(6.0).reshape(2, 3) % 3 + k)
            want = fold(parts)
            x = torch.tensor(parts[r].tolist()).to(kind)
            y = x.clone()
            dist.all_reduce(y, op=op)
            assert y.dtype == kind and y.float().tolist() == want.tolist(), (name, op, y, want)
            y = x.clone().t()  # its memory is in another order
            dist.all_reduce(y, op=op)
            assert y.float().tolist() == want.T.tolist(), (name, op, y)
            y = x.clone()
            dist.reduce(y, dst=n - 1, op=op)
            assert y.float().tolist() == (want if r == n - 1 else parts[r]).tolist(), (name, op)
            y = torch.zeros(3, dtype=kind)
            stacked = [np.arange(3.0 * n).reshape(n, 3) % 3 + k for k in range(n)]
            dist.reduce_scatter_tensor(y, torch.tensor(stacked[r].tolist()).to(kind), op=op)
            assert y.float().tolist() == fold(stacked)[r].tolist(), (name, op, y)
            y = torch.zeros(3, dtype=kind)
            dist.reduce_scatter(y, list(torch.tensor(stacked[r].tolist()).to(kind)), op=op)
            assert y.float().tolist() == fold(stacked)[r].tolist(), (name, op, y)
        mine = torch.arange(4).to(kind) + r
        y = mine.clone()
        dist.broadcast(y, src=n - 1)
        assert y.float().tolist() == [n - 1.0, n, n + 1, n + 2]
        every = [torch.zeros(4, dtype=kind) for _ in range(n)]
        dist.all_gather(every, mine)
        assert [t[0].float().item() for t in every] == list(range(n))
        for shape in ((n, 4), (4 * n,)):
            joined = torch.zeros(shape, dtype=kind)
            dist.all_gather_into_tensor(joined, mine)
            assert joined.float().reshape(n, 4)[:, 1].tolist() == [k + 1.0 for k in range(n)]
        some = [torch.zeros(4, dtype=kind) for _ in range(n)] if r == 1 else None
        dist.gather(mine, some, dst=1)
        assert r != 1 or [t[1].float().item() for t in some] == [k + 1.0 for k in range(n)]
        y = torch.zeros(4, dtype=kind)
        dist.scatter(y, [mine + k for k in range(n)] if r == 0 else None, src=0)
        assert y.float().tolist() == [0.0 + r, 1 + r, 2 + r, 3 + r]
        got = [torch.zeros(k + 1, dtype=kind) for k in range(n)]
        dist.all_to_all(got, [torch.full((r + 1,), 10 * r + k).to(kind) for k in range(n)])
        assert [t.float().tolist() for t in got] == [[10.0 * k + r] * (k + 1) for k in range(n)]
        y = torch.zeros(2 * n, dtype=kind)
        dist.all_to_all_single(y, torch.arange(2 * n).to(kind) + r)
        assert y.float().tolist() == [2.0 * r + j + k for k in range(n) for j in range(2)]
        right, left = (r + 1) % n, (r - 1) % n
        begun = dist.isend(mine, right)
        y = torch.zeros(4, dtype=kind)
        assert dist.recv(y, left) == left and y[0].float().item() == left
        begun.wait()
        y, z = torch.zeros(4, dtype=kind), torch.zeros(2, dtype=kind)
        works = dist.batch_isend_irecv([
            dist.P2POp(dist.irecv, y, left), dist.P2POp(dist.irecv, z, left),
            dist.P2POp(dist.isend, mine, right), dist.P2POp(dist.isend, mine[2:], right),
        ])
        for work in works:
            work.wait()
        assert y[0].float().item() == left and z.float().tolist() == [left + 2.0, left + 3]
    flags = torch.tensor([r == 0, True, False])
    dist.all_reduce(flags, op=dist.ReduceOp.BOR)
    assert flags.tolist() == [True, True, False]
    for wrong, kind in ((dist.ReduceOp.BAND, ValueError), (dist.ReduceOp.AVG, ValueError)):
        try:
            dist.all_reduce(torch.tensor([1]), op=wrong)
            raise SystemExit("no error")
        except kind as error:
            assert "all_reduce" in str(error)
    works = [dist.all_reduce(torch.ones(3) * k, async_op=True) for k in range(3)]
    assert all(w.wait() and w.is_completed() for w in works)
    y = torch.ones(5, requires_grad=True)
    (y * 2).sum().backward()
    dist.all_reduce(y.grad)
    assert y.grad.tolist() == [2.0 * n] * 5
    dist.barrier()
    try:
        dist.all_reduce(torch.ones(3).to("cpu"))
        raise SystemExit("no error")
    except ValueError as error:
        assert "a tensor on the CPU in a group of NCCL's" in str(error), error
    things = [None] * n
    dist.all_gather_object(things, r)
    assert things == list(range(n))
    pair = dist.new_group([0, n - 1])
    y = torch.tensor([float(r)])
    dist.all_reduce(y, group=pair)
    assert y.item() == (n - 1 if r in (0, n - 1) else r)
    by_tcp = dist.new_group(backend="gloo")
    y = torch.ones(3).to("cpu")
    dist.all_reduce(y, group=by_tcp)
    assert y.tolist() == [n] * 3 and dist.get_backend(by_tcp) == "gloo"
    dist.destroy_process_group()
    dist.init_process_group("cpu:gloo,cuda:nccl")  # and once more
    for place in ("cpu", "fenced"):
        y = torch.ones(2).to(place)
        dist.all_reduce(y)
        assert y.tolist() == [n] * 2
    dist.destroy_process_group()
    print(f"fine {r}\\n", end="")  # one write: ranks share the pipe
"""


@pytest.mark.parametrize("ranks", [2, 4])
def test_collectives(tmp_path, library, ranks):
    lines = launch(tmp_path, COLLECTIVES, ranks, library)
    assert lines == "\n".join(f"fine {r}" for r in range(ranks))


LOST = """
    import os, sys, time
    import torch
    import torch.distributed as dist
    from datetime import timedelta

    dist.init_process_group("nccl", timeout=timedelta(seconds=3))
    r = dist.get_rank()
    dist.all_reduce(torch.ones(3))
    if r == 1:
        {what}
    begun = time.monotonic()
    y = torch.ones(3)
    try:
        {then}
        print(f"rank {{r}} was not told", flush=True)
    except (RuntimeError, TimeoutError) as error:
        print(f"rank {{r}} after {{time.monotonic() - begun:.0f}} s: {{error}}", flush=True)
        try:
            y.tolist()
            print("read what is not to be trusted", flush=True)
        except RuntimeError as again:
            assert str(again) == str(error)
        try:
            dist.all_reduce(y)
            print("took another call", flush=True)
        except RuntimeError as again:
            assert str(again) == str(error)
        try:
            dist.destroy_process_group()
            print("ended well", flush=True)
        except RuntimeError as again:
            assert str(again) == str(error)
        assert torch.ones(2).tolist() == [1, 1]  # what was there before can be read again
"""


@pytest.mark.parametrize("what, then, says, most", [
    ("os._exit(0)", "dist.all_reduce(y)", "[all_reduce] rank 1 has left", 3),
    ("time.sleep(8); sys.exit()", "dist.all_reduce(y)", "did not end within the timeout", 6),
    ("os._exit(0)", "dist.send(y, 1); dist.recv(y, 1)", "[recv] rank 1 has left", 3),
])  # fmt: skip
def test_a_lost_rank_is_named(tmp_path, library, what, then, says, most):
    lines = launch(tmp_path, LOST.format(what=what, then=then), 2, library).splitlines()
    assert len(lines) == 1 and says in lines[0], lines
    assert int(lines[0].split()[3]) <= most


def test_a_failure_names_the_call_and_the_cause(tmp_path, library):
    said = launch(
        tmp_path,
        """
        import torch
        import torch.distributed as dist

        dist.init_process_group("nccl")
        for k in range(3):
            dist.all_reduce(torch.ones(3))
        """,
        2, library, fails=True, FAKE_NCCL_FAIL="2",
    )  # fmt: skip
    assert "[all_reduce] ncclAllReduce failed; got NCCL's internal error; expected nccl" in said


WRONG = """
    import torch
    import torch.distributed as dist
    from numbus.dist import nccl

    dist.init_process_group("nccl")
    r = dist.get_rank()
    {}
"""


@pytest.mark.parametrize("what, says", [
    ("dist.all_reduce(torch.ones(3 + r))", "or brings another dtype or size"),
    ("dist.all_reduce(torch.ones(3)) if r else dist.broadcast(torch.ones(3), 0)",
     "is in another operation"),
    ("nccl._identity = lambda device: 'host GPU 0'; dist.all_reduce(torch.ones(3))",
     "[all_reduce] ranks 0 and 1 share a GPU; got fenced of host; expected a GPU for each rank"),
    ("dist.all_reduce(torch.ones(3)); dist.all_to_all_single(torch.ones(2 + 2 * r), torch.ones(2))",
     "sends another dtype or size"),
])  # fmt: skip
def test_what_does_not_fit_is_named(tmp_path, library, what, says):
    assert says in launch(tmp_path, WRONG.format(what), 2, library, fails=True)


def test_no_library(tmp_path):
    said = launch(
        tmp_path, WRONG.format("dist.all_reduce(torch.ones(3))"), 2, "/nowhere/nccl.so", fails=True
    )
    assert "[init_process_group] no NCCL library found; got /nowhere/nccl.so" in said
    assert "pip install nvidia-nccl-cu13" in said


# What has no GPU runs a program for NCCL by TCP.
def test_on_the_host(tmp_path):
    ends = "print(f'{y.tolist()}\\n', end='')"  # one write: ranks share the pipe
    text = WRONG.format(f"y = torch.ones(2); dist.all_reduce(y); {ends}")
    assert launch(tmp_path, text, 2, "/nowhere/nccl.so", device="cpu") == "[2.0, 2.0]\n[2.0, 2.0]"


NETS = """
    import os
    import torch
    import torch.distributed as dist
    import torch.nn.functional as F
    from torch import nn
    from torch.nn.parallel import DistributedDataParallel as DDP
    from numbus.dist import nccl

    dist.init_process_group("nccl")
    r, n = dist.get_rank(), dist.get_world_size()
    log = []
    begin = nccl.Link.all_reduce

    def watched(self, op, a, fold, aside=False, checked=True):
        log.append((a.size, aside, sum(p.grad is not None for p in watched.net.parameters())))
        return begin(self, op, a, fold, aside, checked)

    nccl.Link.all_reduce = watched

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = nn.Linear(6, 40), nn.Linear(40, 40), nn.Linear(40, 3)
            self.unused = nn.Linear(3, 3)
            self.norm = nn.BatchNorm1d(40)

        def forward(self, x, also=False):
            y = self.c(torch.relu(self.norm(self.b(torch.tanh(self.a(x))))))
            return self.unused(y) if also else y

    def net():
        torch.manual_seed(3 + r)  # DDP takes over what rank 0 has
        return Net()

    torch.manual_seed(9)
    x, y = torch.randn(8 * n, 6), torch.randint(0, 3, (8 * n,))
    mine = slice(8 * r, 8 * r + 8)

    def step(model, **how):
        model.zero_grad()
        F.cross_entropy(model(x[mine], **how), y[mine]).backward()
        return [None if p.grad is None else p.grad.clone() for p in model.parameters()]

    def mean_of(gradients):
        made = []
        for g in gradients:
            every = [torch.zeros(g.shape) for _ in range(n)]
            dist.all_gather(every, g)
            made.append(sum(every) / n)
        return made

    # One part after the pass, and four that begin within it: the same bits, and the ranks' means.
    found = []
    for cap in (25, 0.003):
        model = DDP(net(), bucket_cap_mb=cap, find_unused_parameters=False)
        watched.net = model.module
        log.clear()
        for k in range(2):
            plain = Net()
            plain.load_state_dict(model.module.state_dict())
            want = mean_of(step(plain, also=True))
            found.append(step(model, also=True))
            for p, q in zip(want, found[-1]):
                assert torch.allclose(p, q, rtol=1e-5, atol=1e-7), (cap, k)
        sizes = [entry[0] for entry in log]
        assert sum(sizes) == 2 * sum(p.numel() for p in model.parameters())
        if cap == 25:
            assert len(log) == 2 and not log[0][1] and log[0][2] == 10
        else:
            assert len(log) > 4 and all(entry[1] for entry in log)
            assert log[0][2] < 10 and log[0][2] < log[1][2], log  # while others are to come
    assert all(torch.equal(p, q) for p, q in zip(found[0], found[2]))

    # Without synchronisation, gradients stay this rank's; then they travel with the next ones.
    model = DDP(net(), bucket_cap_mb=0.003)
    model.eval()
    plain = Net()
    plain.load_state_dict(model.module.state_dict())
    plain.eval()
    log.clear()
    watched.net = model.module
    with model.no_sync():
        own = step(model, also=True)
    assert not log
    want = [2 * g for g in mean_of(step(plain, also=True))]
    F.cross_entropy(model(x[mine], also=True), y[mine]).backward()
    for p, q in zip(want, model.parameters()):
        assert torch.allclose(p, q.grad, rtol=1e-5, atol=1e-7)

    # Parameters that are unused in some or all ranks.
    for how in ({"find_unused_parameters": True}, {"static_graph": True}):
        model = DDP(net(), bucket_cap_mb=0.003, **how)
        watched.net = model.module
        for k in range(3):
            log.clear()
            given = step(model)
            assert given[6] is None and given[7] is None
            assert all(g is not None for g in given[:6] + given[8:])
            early = log[0][2] < 8
            assert early == ("static_graph" in how and k > 0), (how, k, log)
    model = DDP(net(), find_unused_parameters=True)
    watched.net = model.module
    given = step(model, also=r == 0)
    every = [torch.zeros(3) for _ in range(n)]
    dist.all_gather(every, given[7])
    assert all(torch.equal(one, every[0]) for one in every) and every[0].abs().sum() > 0

    # Training: the optimizer steps on views of what travelled; all ranks stay alike.
    model = DDP(net(), bucket_cap_mb=0.003)
    watched.net = model.module
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    losses = []
    for _ in range(12):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x[mine], also=True), y[mine])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    every = [torch.zeros(40, 6) for _ in range(n)]
    dist.all_gather(every, model.module.a.weight.detach())
    assert all(torch.equal(one, every[0]) for one in every)
    assert losses[-1] < losses[0] / 2, losses

    # Two nets, one of which has gradients of an earlier pass.
    one, two = DDP(net(), bucket_cap_mb=0.003), DDP(net(), bucket_cap_mb=0.003)
    watched.net = one.module
    step(two, also=True)
    z = two(x[mine], also=True)
    log.clear()
    F.cross_entropy(one(x[mine], also=True) + z.detach(), y[mine]).backward()
    assert sum(entry[0] for entry in log) == sum(p.numel() for p in one.parameters())
    before = [p.grad.clone() for p in one.parameters()]
    F.cross_entropy(z, y[mine]).backward()
    assert all(torch.equal(p, q.grad) for p, q in zip(before, one.parameters()))
    try:
        step(DDP(Net()))
        raise SystemExit("no error")
    except RuntimeError as error:
        assert "unused.weight" in str(error) and "find_unused_parameters" in str(error)
    print(f"fine {r}\\n", end="")
"""


@pytest.mark.parametrize("ranks", [2, 3])
def test_data_parallel(tmp_path, library, ranks):
    lines = launch(tmp_path, NETS, ranks, library)
    assert lines == "\n".join(f"fine {r}" for r in range(ranks))


# Gradients travel before it is known whether an index was wrong, and are NaN where one was.
LATE = """
    import torch
    import torch.distributed as dist
    import torch.nn.functional as F
    from torch import nn
    from torch.nn.parallel import DistributedDataParallel as DDP
    from numbus import _core

    _core.set_late_checks(True)
    dist.init_process_group("nccl")
    r = dist.get_rank()
    model = DDP(nn.Linear(4, 3))
    label = 7 if r == 0 else 1
    F.cross_entropy(model(torch.ones(2, 4)), torch.tensor([1, label])).backward()
    dist.barrier()
    try:
        lost = torch.isnan(model.module.weight.grad).all().item()
        print(f"{r}: lost {lost}\\n", end="")
    except IndexError as error:
        print(f"{r}: {'7' in str(error)}\\n", end="")
"""


def test_a_wrong_index_spoils_the_gradients_of_all_ranks(tmp_path, library):
    lines = launch(tmp_path, LATE, 2, library)
    assert lines == "0: True\n1: lost True"


CHOICE = """
    import ctypes
    import os
    import torch

    ctypes.CDLL(os.environ["NUMBUS_CUDA_DRIVER"]).fake_set(ctypes.c_size_t(1 << 28), 12040, 2)
    import numbus.dist.group
    {}
    assert torch.cuda.current_device() == 1 and torch.cuda.device_count() == 2
    host = torch.arange(3.0).to("cpu")
    there = host.cuda()
    assert str(there.device) == str(host.to("cuda").device) == "cuda:1"
    for wrong, says in ((7, "there is no GPU 7"), (0, "arrays lie on a GPU already")):
        try:
            torch.cuda.set_device(wrong)
            print("no error")
        except RuntimeError as error:
            assert says in str(error), error
    print("fine")
"""


@pytest.mark.parametrize("how", [
    "torch.cuda.set_device(1)",
    "torch.cuda.set_device('cuda:1')",
    "os.environ['LOCAL_RANK'] = '1'; numbus.dist.group._take_gpu(None)",
    "numbus.dist.group._take_gpu(torch.device('cuda', 1))",
])  # fmt: skip
def test_a_gpu_is_chosen(tmp_path, how):
    driver = compiled(tmp_path, "fake_cuda_driver.inc")
    more = {"NUMBUS_CUDA_DRIVER": str(driver)}
    assert launch(tmp_path, CHOICE.format(how), 1, "none", device="auto", **more) == "fine"


def test_is_available():
    assert isinstance(dist.is_nccl_available(), bool)
