"""Programs of several processes: torch.distributed, DistributedDataParallel, spawn, torchrun."""

import os
import socket
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

nb = pytest.importorskip("numbus")
from numbus import dist  # noqa: E402
from numbus import tensors as T  # noqa: E402
from numbus.dist import encoding, sockets, store  # noqa: E402
from numbus.dist.collectives import fold_tree  # noqa: E402

pytestmark = pytest.mark.numbus


def launch(folder, text, ranks, runner=True, fails=False, more=()):
    """What a script prints as that many ranks, sorted by line."""
    script = Path(folder) / "script.py"
    script.write_text(textwrap.dedent(text), "utf-8")
    environment = dict(os.environ, NUMBUS_DEVICE="cpu", NUMBUS_NUM_THREADS="1")
    start = (
        ["-m", "numbus.dist.run", "--nproc_per_node", str(ranks)] if runner else ["-m", "numbus"]
    )
    done = subprocess.run(
        [sys.executable, *start, *more, str(script)], cwd=folder, capture_output=True, text=True,
        env=environment, timeout=110,
    )  # fmt: skip
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return (done.stdout + done.stderr) if fails else "\n".join(sorted(done.stdout.splitlines()))


COLLECTIVES = """
    import torch
    import torch.distributed as dist

    dist.init_process_group("gloo")
    r, n = dist.get_rank(), dist.get_world_size()
    assert dist.is_initialized() and dist.get_backend() == "gloo"
    x = torch.arange(5.0) + r
    for op, want in (
        (dist.ReduceOp.SUM, [sum(k + j for k in range(n)) for j in range(5)]),
        (dist.ReduceOp.AVG, [sum(k + j for k in range(n)) / n for j in range(5)]),
        (dist.ReduceOp.MAX, [n - 1.0 + j for j in range(5)]),
        (dist.ReduceOp.MIN, [float(j) for j in range(5)]),
    ):
        y = x.clone()
        dist.all_reduce(y, op=op)
        assert torch.allclose(y, torch.tensor(want)), (op, y, want)
    y = torch.tensor([r + 1, 2])
    dist.all_reduce(y, op=dist.ReduceOp.PRODUCT)
    assert y.tolist() == [[1, 2, 6, 24][n - 1], 2**n]
    y = torch.full((2, 3), float(r))
    dist.broadcast(y, src=n - 1)
    assert (y == n - 1).all()
    every = [torch.zeros(2) for _ in range(n)]
    dist.all_gather(every, torch.tensor([r, 10.0 * r]))
    assert [t.tolist() for t in every] == [[k, 10.0 * k] for k in range(n)]
    joined = torch.zeros(2 * n)
    dist.all_gather_into_tensor(joined, torch.tensor([r, 10.0 * r]))
    assert joined.tolist() == [v for k in range(n) for v in (k, 10.0 * k)]
    some = [torch.zeros(1) for _ in range(n)] if r == 1 else None
    dist.gather(torch.tensor([float(r)]), some, dst=1)
    assert r != 1 or [t.item() for t in some] == list(range(n))
    y = torch.zeros(2)
    dist.scatter(y, [torch.tensor([k, k + 0.5]) for k in range(n)] if r == 0 else None, src=0)
    assert y.tolist() == [r, r + 0.5]
    y = x.clone()
    dist.reduce(y, dst=0)
    assert y[0].item() == (sum(range(n)) if r == 0 else r)
    y = torch.zeros(2)
    dist.reduce_scatter(y, [torch.full((2,), float(k + r)) for k in range(n)])
    assert (y == sum(r + k for k in range(n))).all()
    y = torch.zeros(2)
    dist.reduce_scatter_tensor(y, torch.arange(2.0 * n), op=dist.ReduceOp.AVG)
    assert y.tolist() == [2.0 * r, 2 * r + 1.0]
    dist.barrier()
    right, left = (r + 1) % n, (r - 1) % n
    begun = dist.isend(torch.full((300000,), float(r)), right)  # more than a socket holds
    y = torch.zeros(300000)
    assert dist.recv(y, left) == left and (y == left).all()
    begun.wait()
    if r == 0:
        found = {dist.recv(torch.zeros(1), tag=7) for _ in range(n - 1)}
        assert found == set(range(1, n))
    else:
        dist.send(torch.zeros(1), 0, tag=7)
    things = [None] * n
    dist.all_gather_object(things, {"rank": r, "list": [1, (2.5, "x")], "t": torch.ones(2) * r})
    assert [t["rank"] for t in things] == list(range(n)) and things[1]["t"].tolist() == [1, 1]
    said = [r, "a"] if r == 0 else [None, None]
    dist.broadcast_object_list(said, src=0)
    assert said == [0, "a"]
    got = [None]
    dist.scatter_object_list(got, [f"for {k}" for k in range(n)] if r == 0 else None)
    assert got == [f"for {r}"]
    try:
        dist.all_gather_object(things, object())
    except TypeError as error:
        assert "pickles" in str(error)
    pair = dist.new_group([0, n - 1])
    y = torch.tensor([float(r)])
    dist.all_reduce(y, group=pair)
    assert y.item() == (n - 1 if r in (0, n - 1) else r)
    assert dist.get_rank(pair) == {0: 0, n - 1: 1}.get(r, -1)
    dist.destroy_process_group()
    assert not dist.is_initialized()
    dist.init_process_group("gloo")  # and once more
    dist.all_reduce(y)
    dist.destroy_process_group()
    print(f"fine {r}\\n", end="")  # one write: ranks share the pipe
"""


def test_collectives(tmp_path):
    assert launch(tmp_path, COLLECTIVES, 3) == "fine 0\nfine 1\nfine 2"


AGAIN = """
    import torch
    import torch.distributed as dist

    for k in range(25):
        dist.init_process_group("gloo")
        x = torch.ones(3) * k
        dist.all_reduce(x)
        assert x.tolist() == [3 * k] * 3
        dist.destroy_process_group()
    print(f"fine {k}\\n", end="")  # one write: ranks share the pipe
"""


# A rank may be ready for the next group while the store of the last one is still there.
def test_groups_after_one_another(tmp_path):
    assert launch(tmp_path, AGAIN, 3) == "fine 24\nfine 24\nfine 24"


TRAIN = """
    import sys
    import torch
    import torch.distributed as dist
    from torch import nn
    from torch.nn.parallel import DistributedDataParallel as DDP
    from torch.utils.data import DataLoader, TensorDataset
    from torch.utils.data.distributed import DistributedSampler

    dist.init_process_group()
    r, n = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(r)  # DDP takes over what rank 0 has
    net = nn.Sequential(nn.Linear(20, 33), nn.Tanh(), nn.Linear(33, 5))
    torch.manual_seed(7)
    x, y = torch.randn(64, 20), torch.randint(0, 5, (64,))
    with torch.no_grad():
        for p in net.parameters():
            if r == 0:
                p.copy_(torch.randn(*p.shape) * 0.3)
    model = DDP(net, bucket_cap_mb=0.001)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    loss_of = nn.CrossEntropyLoss()
    for step in range(6):
        each = 64 // 4
        mine = range(r * 4 // n, (r + 1) * 4 // n)
        optimizer.zero_grad()
        model.backward_parts(
            loss_of(model(x[k * each : (k + 1) * each]), y[k * each : (k + 1) * each]) for k in mine
        )
        optimizer.step()
    if r == 0:
        text = " ".join(p.detach().numpy().tobytes().hex() for p in net.parameters())
        print(text + "\\n", end="")
"""


def test_the_same_bits_at_one_two_and_four_ranks(tmp_path):
    one, two, four = (launch(tmp_path, TRAIN, ranks) for ranks in (1, 2, 4))
    assert one == two == four and len(one) > 1000


DDP = """
    import torch
    import torch.distributed as dist
    import torch.nn.functional as F
    from torch import nn
    from torch.nn.parallel import DistributedDataParallel as DDP
    from torch.utils.data.distributed import DistributedSampler

    dist.init_process_group("gloo")
    r, n = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(3)
    net = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
    alone = nn.Linear(6, 3)
    x, y = torch.randn(16, 6), torch.randint(0, 3, (16,))
    plain = nn.Linear(6, 3)
    plain.load_state_dict(alone.state_dict())
    model = DDP(alone)
    assert model.module is alone
    part = slice(r * 16 // n, (r + 1) * 16 // n)
    F.cross_entropy(model(x[part]), y[part]).backward()
    F.cross_entropy(plain(x), y).backward()
    assert torch.allclose(alone.weight.grad, plain.weight.grad, atol=1e-6)
    model.zero_grad()
    plain.zero_grad()
    with model.no_sync():
        F.cross_entropy(model(x[part]), y[part]).backward()
    own = alone.weight.grad.clone()
    other = own.clone()
    dist.broadcast(other, 0)
    assert r == 0 or not torch.equal(own, other)
    F.cross_entropy(model(x[part]), y[part]).backward()
    F.cross_entropy(plain(x), y).backward()
    assert torch.allclose(alone.weight.grad, 2 * plain.weight.grad, atol=1e-6)
    sampler = DistributedSampler(list(range(10)), shuffle=True)
    sampler.set_epoch(1)
    every = [None] * n
    dist.all_gather_object(every, list(sampler))
    assert sorted({k for part in every for k in part}) == list(range(10))
    model = DDP(net)
    torch.manual_seed(r)
    for _ in range(3):
        F.cross_entropy(model(torch.randn(4, 6)), y[:4]).backward()
    every = [None] * n
    dist.all_gather_object(every, net[0].weight.grad.tolist())
    assert every[0] == every[-1]

    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)

        def forward(self, x, both):
            return self.a(x) + (self.b(x) if both else 0)

    model = DDP(Two(), find_unused_parameters=True)
    model(torch.ones(1, 2), r == 0).sum().backward()
    assert torch.allclose(model.module.b.weight.grad, torch.full((2, 2), 1 / n))
    model = DDP(Two())
    try:
        model(torch.ones(1, 2), False).sum().backward()
    except RuntimeError as error:
        assert "b.weight" in str(error) and "find_unused_parameters" in str(error)
        print(f"fine {r}\\n", end="")  # one write: ranks share the pipe
"""


@pytest.mark.parametrize("ranks", [1, 2])
def test_data_parallel(tmp_path, ranks):
    lines = launch(tmp_path, DDP, ranks)
    assert lines == "\n".join(f"fine {r}" for r in range(ranks))


def test_other_parameters_are_named(tmp_path):
    said = launch(
        tmp_path,
        """
        import torch.distributed as dist
        from torch import nn

        dist.init_process_group()
        nn.parallel.DistributedDataParallel(nn.Linear(2, 2 + dist.get_rank()))
        """,
        2,
        fails=True,
    )
    assert "rank 1 has other parameters than rank 0" in said


LOST = """
    import os, sys, time
    import torch
    import torch.distributed as dist
    from datetime import timedelta

    dist.init_process_group("gloo", timeout=timedelta(seconds=4))
    r = dist.get_rank()
    dist.barrier()
    if r == 1:
        {what}
    begun = time.monotonic()
    try:
        dist.all_reduce(torch.ones(3))
    except (RuntimeError, TimeoutError) as error:
        print(f"rank {{r}} after {{time.monotonic() - begun:.0f}} s: {{error}}", flush=True)
"""


@pytest.mark.parametrize("what, says, most", [
    ("os._exit(0)", "rank 1 has left", 2),
    ("time.sleep(8); sys.exit()", "rank 1 did not take part within the timeout", 6),
    ("dist.broadcast(torch.ones(3), 1); sys.exit()", "rank 1 is in another operation", 2),
])  # fmt: skip
def test_a_lost_rank_is_named(tmp_path, what, says, most):
    lines = launch(tmp_path, LOST.format(what=what), 2).splitlines()
    assert lines and says in lines[0], lines
    assert int(lines[0].split()[3]) <= most


def test_another_size_is_an_error(tmp_path):
    said = launch(
        tmp_path,
        """
        import torch
        import torch.distributed as dist

        dist.init_process_group()
        dist.all_reduce(torch.ones(3 + dist.get_rank()))
        """,
        2,
        fails=True,
    )
    assert "or brings another dtype or size" in said


SPAWN = """
    import os, sys
    import torch
    import torch.distributed as dist
    import torch.multiprocessing as mp


    def work(rank, size, method, fails):
        if method == "env":
            os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=sys.argv[1])
        dist.init_process_group(
            "gloo", None if method == "env" else method, rank=rank, world_size=size
        )
        x = torch.tensor([rank + 1.0])
        dist.all_reduce(x)
        if fails and rank == 1:
            raise KeyError("seven")
        dist.destroy_process_group()
        sys.stdout.write(f"sum {x.item()}\\n")
        sys.stdout.flush()


    if __name__ == "__main__":
        mp.spawn(work, args=(2, "file://" + os.path.abspath("ranks"), False), nprocs=2)
        mp.spawn(work, args=(2, "file://" + os.path.abspath("ranks"), False), nprocs=2)
        try:
            mp.spawn(work, args=(2, "file://" + os.path.abspath("other"), True), nprocs=2)
        except mp.ProcessRaisedException as error:
            print("zz", error.error_index, "KeyError: 'seven'" in str(error))
"""


def test_spawn(tmp_path):
    lines = launch(tmp_path, SPAWN, 1, runner=False).splitlines()
    assert lines[-1] == "zz 1 True" and lines[:4] == ["sum 3.0"] * 4


def test_what_is_not_served_is_named(tmp_path):
    said = launch(
        tmp_path, "import torch.distributed as dist\ndist.no_such_thing()\n", 1, False, True
    )
    assert "torch.distributed.no_such_thing" in said and "script.py:2" in said


def test_one_rank_of_this_process(monkeypatch):
    with pytest.raises(ValueError, match="has not been initialized"):
        dist.get_rank()
    monkeypatch.delenv("RANK", raising=False)
    with pytest.raises(ValueError, match="RANK expected"):
        dist.init_process_group("gloo")
    with pytest.raises(ValueError, match="backend"):
        dist.init_process_group("smoke", rank=0, world_size=1)
    dist.init_process_group("nccl", rank=0, world_size=1)
    try:
        with pytest.raises(ValueError, match="twice"):
            dist.init_process_group("gloo", rank=0, world_size=1)
        x = T.tensor([1.0, 2.0])
        work = dist.all_reduce(x, async_op=True)
        assert work.wait() and work.is_completed() and x.tolist() == [1.0, 2.0]
        with pytest.raises(ValueError, match="mean of integers"):
            dist.all_reduce(T.tensor([1]), op=dist.ReduceOp.AVG)
        with pytest.raises(ValueError, match="not in the group"):
            dist.broadcast(x, 1)
        with pytest.raises(ValueError, match="oneself"):
            dist.send(x, 0)
        with pytest.raises(TypeError, match="truth values"):
            dist.all_reduce(T.tensor([True]))
    finally:
        dist.destroy_process_group()


def test_the_tree():
    assert fold_tree("abcdefg", lambda a, b: f"({a}{b})") == "(((ab)(cd))((ef)g))"
    assert fold_tree("a", None) == "a"


class Foreign:
    """No data."""


def test_objects_are_data():
    things = [
        None, True, -3, 10**30, 2.5, float("inf"), 1 - 2j, "é\n", b"\0x", [], [1, [2]], (1, "a"),
        {"a": {1: (2,)}}, {1, 2}, frozenset("a"),
    ]  # fmt: skip
    assert encoding.decode(encoding.encode(things)) == things
    a = np.arange(6, dtype=">i2").reshape(2, 3)
    found = encoding.decode(encoding.encode([a, np.float32(2.5), nb.array([1.5]), T.ones(2)]))
    assert found[0].dtype == a.dtype and (found[0] == a).all() and found[1] == np.float32(2.5)
    assert type(found[2]) is type(nb.array([1.5])) and isinstance(found[3], T.Tensor)
    for wrong in (Foreign(), len, Foreign, np.array([None]), [object()]):
        with pytest.raises(TypeError, match="object"):
            encoding.encode(wrong)


@pytest.mark.filterwarnings("ignore:Data type alias")
def test_bytes_of_strangers_are_refused():
    random = np.random.default_rng(0)
    good = encoding.encode([{"a": [1, 2.5, "text"]}, np.arange(3)])
    for _ in range(3000):
        raw = bytearray(good[: random.integers(1, len(good) + 1)])
        for at in random.integers(len(raw), size=random.integers(0, 3)):
            raw[at] = random.integers(256)
        try:
            encoding.decode(bytes(raw))
        except (ValueError, MemoryError, OverflowError):
            pass


def test_who_does_not_know_the_secret_is_not_answered():
    server = store.Server("127.0.0.1", 0, b"right")
    try:
        good = store.Client("127.0.0.1", server.port, b"right", time.monotonic() + 10)
        good.set("key", b"value")
        assert good.get("key", "it") == b"value"
        with pytest.raises(sockets.Refused, match="another secret"):
            store.Client("127.0.0.1", server.port, b"wrong", time.monotonic() + 0.3)
        with socket.create_connection(("127.0.0.1", server.port)) as stranger:
            stranger.settimeout(5)
            assert len(stranger.recv(16)) == 16
            stranger.sendall(b"g" * 48)
            assert stranger.recv(100) == b""  # closed, with nothing said
        late = store.Client("127.0.0.1", server.port, b"right", time.monotonic() + 0.3)
        with pytest.raises(TimeoutError, match="rank 5 has not come"):
            late.get("rank 5", "rank 5")
        timer = threading.Timer(0.1, lambda: good.set("late", b"1"))
        timer.start()
        other = store.Client("127.0.0.1", server.port, b"right", time.monotonic() + 10)
        assert other.get("late", "it") == b"1"
        timer.join()
        for client in (good, late, other):
            client.close()
    finally:
        server.close()


DIFFERENTIABLE = """
import torch, torch.distributed as dist, torch.distributed.nn.functional as F

dist.init_process_group("gloo")
rank, n = dist.get_rank(), dist.get_world_size()
k = torch.arange(3.0) + 1 + rank
zeros = [torch.zeros(3) for _ in range(n)]


def derivative(function):
    x = (torch.arange(1.0, 4) * (rank + 1)).requires_grad_()
    function(x).backward()
    return x.grad.tolist()


def weighted(tensors, on=True):
    return sum([(t * k * (i + 1)).sum() for i, t in enumerate(tensors)]) * (1.0 if on else 0.0)


found = [
    derivative(lambda x: (F.all_reduce(x * x) * k).sum()),
    derivative(lambda x: (F.broadcast(x * x, 1) * k).sum()),
    derivative(lambda x: weighted([F.reduce(x * x, 0)], rank == 0)),
    derivative(lambda x: weighted(F.all_gather(x * x))),
    derivative(lambda x: weighted(F.gather(x * x, 1), rank == 1)),
    derivative(lambda x: (F.scatter([x * x * (i + 1) for i in range(n)], 0) * k).sum()),
    derivative(lambda x: weighted(F.all_to_all(zeros, [x * (i + 2) for i in range(n)]))),
    derivative(lambda x: (F.reduce_scatter(zeros[0], [x * (i + 2) for i in range(n)]) * k).sum()),
]
wanted = [  # PyTorch's on three ranks, but for the last two, by hand
    [[12, 36, 72], [24, 72, 144], [36, 108, 216]],
    [[0, 0, 0], [24, 72, 144], [0, 0, 0]],
    [[2, 8, 18], [4, 16, 36], [6, 24, 54]],
    [[12, 36, 72], [48, 144, 288], [108, 324, 648]],
    [[4, 12, 24], [16, 48, 96], [36, 108, 216]],
    [[28, 80, 156], [0, 0, 0], [0, 0, 0]],
    [[20, 29, 38], [40, 58, 76], [60, 87, 114]],
    [[20, 29, 38], [20, 29, 38], [20, 29, 38]],
]
assert found == [each[rank] for each in wanted], found
print(f"fine {rank}\\n", end="")  # one write: ranks share the pipe
"""


def test_collectives_that_have_derivatives(tmp_path):
    assert launch(tmp_path, DIFFERENTIABLE, 3) == "fine 0\nfine 1\nfine 2"
