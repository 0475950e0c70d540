"""Devices chosen by cost (NUMBUS_DEVICE=auto), with the fenced device in a GPU's place.

Code of the host that touches the fenced device's memory outside of the device's work is a
segmentation fault, as it would be with a GPU's.
"""

import os
import subprocess
import sys

import numpy as np
import pytest
from check import Checker
from grammar import generate
from numbus import tensors

pytestmark = [pytest.mark.numbus, pytest.mark.cpu]

FEW = 1024  # bytes


@pytest.fixture(autouse=True)
def placed(core, by_cost):
    by_cost(FEW)
    core.set_at_once(16)


def where(*arrays):
    return [a.device for a in arrays]


def test_large_work_goes_to_the_gpu(xp):
    small, large = xp.arange(5.0) + 1, xp.arange(1000.0) + 1
    assert where(small, large) == ["cpu", "fenced"]
    np.testing.assert_array_equal(np.asarray(large), np.arange(1000.0) + 1)


def test_a_chain_is_chosen_as_a_whole(xp, core):
    """Not operation by operation: the window is flushed once, whatever its operands were."""
    a = xp.arange(1000.0) + 1
    assert a.device == "fenced"
    b, c = xp.array(np.arange(1000.0)), xp.array(3.0)
    before = core.stats()["flushes"]
    total = ((a * b + c) * (b - a)).sum()
    assert core.stats()["flushes"] == before
    x, y = np.arange(1000.0) + 1, np.arange(1000.0)
    assert float(total) == ((x * y + 3.0) * (y - x)).sum()
    assert core.stats()["flushes"] == before + 1


def test_large_results_of_small_arrays(xp):
    a, b = xp.array(np.arange(20.0)), xp.array(np.arange(30.0))
    table = a[:, None] * b
    assert table.device == "fenced"
    np.testing.assert_array_equal(np.asarray(table), np.arange(20.0)[:, None] * np.arange(30.0))


def test_copies_of_one_array_are_apart(xp):
    """A routine and a kernel of one window read an array that dies with it."""
    x, y = xp.arange(240.0) % 7, xp.array(np.array([5.0, 1.0, 3.0]))
    where(x)
    for _ in range(3):
        found = xp.isin(x, y)
        np.testing.assert_array_equal(np.asarray(found), np.isin(np.arange(240.0) % 7, [5, 1, 3]))
        line = xp.sort(y)
        got = np.asarray(xp.interp(x, line, line * 2))
        np.testing.assert_array_equal(got, np.clip(np.arange(240.0) % 7, 1, 5) * 2)


def test_an_array_of_numpy_goes_where_it_is_used(xp):
    given = np.arange(1000.0)
    a = xp.asarray(given)
    assert a.device == "cpu"
    for _ in range(6):
        b = a * 2 + 1
        lies = where(a, b)
        np.testing.assert_array_equal(np.asarray(b), given * 2 + 1)
    assert lies == ["cpu", "fenced"]  # which has a copy of `a`
    assert b.device == "cpu"  # NumPy has its memory


def test_reads_of_elements_bring_an_array_near(xp):
    a = xp.arange(1000.0) * 0
    assert a.device == "fenced"
    for i in range(20):
        assert a[i] == 0
        a[i] = i
    assert a.device == "cpu"
    assert a[19] == 19
    assert float(a.sum()) == 190


WRITES = [
    "a += 1",
    "a[2:5] = 7",
    "a[a > 3] = 0",
    "a[[1, 2]] = 9",
    "a.fill(2)",
    "a.sort()",
    "np.asarray(a)[3] = 5",
    "a[:] = b",
    "np.negative(a, out=a)",
]


@pytest.mark.parametrize("write", WRITES)
def test_copies_stay_coherent(xp, write):
    """What was copied to the other device shows later writes, on both sides."""

    def work(m):
        a, b = m.arange(8.0)[::-1].copy(), m.arange(8.0)
        large = m.ones((50, 8))
        seen = []
        for _ in range(3):
            large = large + a
            exec(write, {"np": m if "asarray" not in write else np}, {"a": a, "b": b})
            seen += [large * a, (large * a).sum(axis=0) + a]
        return seen

    for got, want in zip(work(xp), work(np), strict=True):
        np.testing.assert_array_equal(np.asarray(got), want)


CALLS = [
    "x + y",
    "y + x",
    "x @ y",
    "m.concatenate([x[0], y])",
    "m.where(y > 0, x, y)",
    "x[:, i]",
    "m.take(x, i)",
    "x.T[y > 0]",
    "x[:, y > 0]",
    "m.stack([y, x[1]])",
    "m.searchsorted(m.sort(x[0]), y)",
    "m.outer(y, x[0])",
    "m.dot(x, y)",
    "m.einsum('ij,j->i', x, y)",
    "m.add(x[3], y, out=y.copy())",
    "m.isin(x, y)",
    "m.interp(x, m.sort(y), y)",
    "m.select([y > 0], [x], y)",
    "m.choose(i % 2, [x, y])",
    "m.average(x, axis=1, weights=y)",
    "x.dot(y)",
    "m.lexsort([x[0], y])",
    "m.clip(x, y - 1, y)",
    "m.add.at(x, (slice(None), i), y)",
    "m.linalg.solve(x @ x.T + 9 * m.eye(40), x)",
    "m.convolve(x[0], y)",
    "m.histogram(x, m.sort(y))[0]",
    "m.put_along_axis(x, i[None], y[None], 1)",
]


@pytest.mark.parametrize("text", CALLS)
@pytest.mark.parametrize("pending", [False, True])
def test_operands_of_both_devices(xp, text, pending):
    r = np.random.default_rng(3)
    given = r.standard_normal((40, 6)), r.standard_normal(6), np.array([5, 0, 3, 3, 1, 2])

    def work(m):
        x, y = m.zeros((40, 6)) + m.asarray(given[0]), m.array(given[1])
        i = m.array(given[2])
        if pending:
            y = y + 0
        if m is xp:
            where(x)  # carried out
        if m is xp and not pending:
            assert where(x, y, i) == ["fenced", "cpu", "cpu"]
        result = eval(text, {"m": m, "x": x, "y": y, "i": i})
        return [np.asarray(a) for a in (x, y, x if result is None else result)]

    for got, want in zip(work(xp), work(np), strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-13)


def test_named_devices_are_kept(xp, core):
    near = xp.to_device(xp.arange(4.0), "fenced")
    far = xp.to_device(xp.zeros(1000), "cpu")
    for _ in range(9):
        assert where(near * 2, far + 1) == ["fenced", "cpu"]
    assert where(near + xp.arange(4.0), far + xp.zeros(1000)) == ["fenced", "cpu"]
    with pytest.raises(ValueError, match="operands are on different devices; got fenced and cpu"):
        near + far[:4]
    with pytest.raises(ValueError, match="different devices"):
        (near * 2) + far[:4]
    with xp.device("cpu"):
        a = xp.zeros(1000)
    assert where(a, a + 1) == ["cpu", "cpu"]
    assert (xp.arange(1000.0) + 1).device == "fenced"
    assert core.get_device() == "auto"


def test_memory_that_is_known_outside_stays(xp):
    given = np.arange(1000.0)
    a = xp.asarray(given)
    for _ in range(9):
        b = a + xp.zeros(1000)
        a += 1
    assert a.device == "cpu"
    np.testing.assert_array_equal(given, np.arange(1000.0) + 9)
    np.testing.assert_array_equal(np.asarray(b), given - 1)


def test_random_programs(xp):
    """The programs of the array fuzzer, with arrays on both devices."""
    checker = Checker(["eager", "auto", "small", "mixed", "unplanned", "resized"])
    for seed in range(20_000_000, 20_000_050):
        assert checker.check_text(generate(seed).text) == "", f"seed {seed}"


def test_the_fence():
    """Memory of the fenced device that the host reads by itself ends the process."""
    text = (
        "import ctypes, sys; import numbus as nb; a = nb.arange(10.0)\n"
        "print(a[3]); sys.stdout.flush(); ctypes.string_at(a._pointer, 8)"
    )
    done = subprocess.run(
        [sys.executable, "-c", text],
        env={**os.environ, "NUMBUS_DEVICE": "fenced"},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "3.0\n", done.stderr
    assert done.returncode == -11


def test_what_numpy_does_with_few_elements_that_move(xp, by_cost):
    """What is pending may be carried out on the other device, and results may go there."""
    by_cost(16)
    for more in range(4):
        a = xp.array(np.eye(8) * 2.0)
        m = (a + 1) * 2
        for _ in range(more):
            m = m + a
        assert np.allclose(np.asarray(xp.linalg.inv(m)) @ np.asarray(m), np.eye(8))
        found = xp.linalg.inv(m + 1)
        assert isinstance(found, xp.ndarray)
        assert np.allclose(np.asarray(found) @ np.asarray(m + 1), np.eye(8))


def test_reading_an_operand_of_pending_work_leaves_it_there(xp, core):
    """An array that lies far, and that pending work reads, is not moved under it by reads."""
    table = xp.to_device(xp.arange(5000.0), "fenced")
    index = xp.arange(5000)
    index = index + table[index].astype("i8") * 0  # it lies where the work was
    index += 0
    for _ in range(50):
        pending = table[index] * 2
        for k in range(20):
            assert int(index[k]) == k
        assert float(pending[4999]) == 9998


def test_gradients_of_gathers_beside_a_named_device(xp):
    table = xp.to_device(xp.arange(20000.0).reshape(2000, 10), "fenced")
    columns = xp.to_device(xp.arange(2000) % 10, "fenced")
    found = xp.grad(lambda x: (x[xp.arange(2000), columns] * 2).sum())(table)
    assert found.device == "fenced" and float(found.sum()) == 4000


def test_few_rows_of_a_large_array_of_numpys_stay(xp, core, by_cost):
    """Batches of a data set: the array is not copied for them, however often they are taken."""
    by_cost(1 << 16)
    table = np.arange(2_000_000.0).reshape(20_000, 100)
    shared = tensors.from_numpy(table)._array
    index = np.arange(3, 67)
    before = core.stats()["bytes_to_device"]
    for _ in range(300):
        batch = shared[xp.asarray(index)]
    assert batch.device == "cpu"
    assert core.stats()["bytes_to_device"] == before
    np.testing.assert_array_equal(np.asarray(batch), table[index])


def test_constants_of_losses_are_named_by_nobody(by_cost):
    """A loss of open tensors may meet tensors that the user has put on either device."""
    from numbus.nn import functional

    by_cost(1 << 10)
    rng = np.random.default_rng(0)
    for n in (4, 500, 4):
        x = (tensors.from_numpy(rng.standard_normal((n, 10), "f4")) + 0).detach().requires_grad_()
        y = tensors.from_numpy(rng.integers(0, 10, n))
        square = tensors.from_numpy(rng.standard_normal((n, 3, 3))) + 0
        for place in ("cpu", "fenced", "cpu"):
            for made in (functional.cross_entropy(x, y), tensors.matrix_exp(square).sum()):
                beside = tensors.from_numpy(np.ones(1, "f4")).to(place)
                assert np.isfinite((made * beside).item())


def test_a_training_step_of_named_tensors_is_one_window(core, by_cost):
    """The seed of a backward pass is a single number, which by itself would be made on the host."""
    from numbus import nn, optim
    from numbus.nn import functional

    by_cost(1 << 16)
    rng = np.random.default_rng(0)
    model = nn.Sequential(nn.Linear(300, 200), nn.ReLU(), nn.Linear(200, 10)).to("fenced")
    x = tensors.from_numpy(rng.standard_normal((64, 300), "f4")).to("fenced")
    y = tensors.from_numpy(rng.integers(0, 10, 64)).to("fenced")
    optimizer = optim.Adam(model.parameters())

    def step():
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    for _ in range(3):
        step()
    core.flush()
    before = core.stats()
    losses = [step() for _ in range(3)]
    core.flush()
    after = core.stats()
    assert after["flushes"] - before["flushes"] <= 3
    assert after["bytes_to_device"] == before["bytes_to_device"]
    assert losses[0].item() > losses[2].item() > 0
