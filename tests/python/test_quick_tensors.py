"""Plain calls of functions of tensors that the core answers: the same as the recorded calls, and as
loops of Python.
"""

import itertools
import math

import numbus.tensors as torch
import numpy as np
import pytest
from numbus import _core

KINDS = ["f4", "f8", "i1", "i4", "i8", "u1", "f2", "?"]


def _tensor(rng, shape, kind, layout):
    a = rng.integers(0, 5, shape).astype(kind)
    t = torch.tensor(a)
    if layout == "turned" and t.ndim > 1:
        t = torch.tensor(np.ascontiguousarray(a.T)).permute(*range(t.ndim)[::-1])
    elif layout == "part" and t.ndim:
        wide = torch.zeros((*shape[:-1], 2 * shape[-1]), dtype=t.dtype)
        wide[..., ::2] = t
        t = wide[..., ::2]
    return t, a


def _named(index, axis):
    for at in np.ndindex(index.shape):
        yield at, (*at[:axis], index[at], *at[axis + 1 :])


def _cases(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5))
    shape = [int(x) for x in rng.integers(1, 6, n)]
    axis = int(rng.integers(0, n))
    small = [int(rng.integers(0, x + 1)) for x in shape]
    small[axis] = int(rng.integers(0, 8))
    kind = KINDS[seed % len(KINDS)]
    layouts = [str(x) for x in rng.choice(["plain", "turned", "part"], 3)]
    index = rng.integers(0, shape[axis], small)
    return rng, shape, axis, small, kind, layouts, index


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("seed", range(120))
def test_against_loops(seed, at_once):
    rng, shape, axis, small, kind, layouts, index = _cases(seed)
    before = _core.set_at_once(1024 if at_once else 0)
    try:
        t, a = _tensor(rng, shape, kind, layouts[0])
        k, _ = _tensor(rng, small, "i8", layouts[1])
        k.copy_(torch.tensor(index))
        larger = [n + int(rng.integers(0, 2)) for n in small]
        src, s = _tensor(rng, larger, kind, layouts[2])
        dim = axis if rng.random() < 0.5 else axis - len(shape)

        wanted = np.zeros(small, kind)
        for at, there in _named(index, axis):
            wanted[at] = a[there]
        got = t.gather(dim, k)
        assert np.array_equal(got.cpu().numpy(), wanted)
        assert got.is_contiguous()

        for name, by in itertools.product(("scatter_", "scatter_add_"), (src, 3)):
            if name == "scatter_add_" and by is not src:
                continue
            wanted = a.copy()
            for at, there in _named(index, axis):
                value = s[at] if by is src else np.dtype(kind).type(3)
                wanted[there] = wanted[there] + value if name == "scatter_add_" else value
            made = t.clone() if layouts[0] == "plain" else _tensor(rng, shape, kind, layouts[0])[0]
            made.copy_(torch.tensor(a))
            assert getattr(made, name)(dim, k, by) is made
            assert np.array_equal(made.cpu().numpy(), wanted), name
    finally:
        _core.set_at_once(before)


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("seed", range(60))
def test_slices_against_numpy(seed, at_once):
    rng, shape, axis, _, kind, layouts, _ = _cases(seed)
    before = _core.set_at_once(1024 if at_once else 0)
    try:
        n = int(rng.integers(0, 8))
        index = rng.integers(0, shape[axis], n)
        t, a = _tensor(rng, shape, kind, layouts[0])
        src, s = _tensor(rng, [*shape[:axis], n, *shape[axis + 1 :]], kind, layouts[1])
        where = (slice(None),) * axis
        wanted = a.copy()
        for at in range(n):
            there = (*where, index[at])
            wanted[there] = wanted[there] + s[(*where, at)]
        t.index_add_(axis, torch.tensor(index), src)
        assert np.array_equal(t.cpu().numpy(), wanted)
        for at in range(n):
            wanted[(*where, index[at])] = s[(*where, at)]
        t.index_copy_(axis, torch.tensor(index), src)
        assert np.array_equal(t.cpu().numpy(), wanted)
    finally:
        _core.set_at_once(before)


@pytest.mark.parametrize("at_once", [1024, 0])
@pytest.mark.parametrize("wrong", [-1, 3, 2**40])
def test_wrong_indices_are_refused(wrong, at_once):
    before = _core.set_at_once(at_once)
    try:
        _refused(wrong)
    finally:
        _core.set_at_once(before)


def _refused(wrong):
    index = torch.tensor([0, 2, wrong])
    for call in (
        lambda t: t.scatter_(0, index, torch.ones(3)),
        lambda t: t.scatter_(0, index, 1.0),
        lambda t: t.scatter_add_(0, index, torch.ones(3)),
        lambda t: t.index_copy_(0, index, torch.ones(3)),
        lambda t: t.index_add_(0, index, torch.ones(3)),
        lambda t: t.gather(0, index).tolist(),
    ):
        for kind in (IndexError, RuntimeError):
            t = torch.zeros(3)
            with pytest.raises(kind, match="index"):
                call(t).tolist()


def test_memory_that_is_shared():
    t = torch.arange(6)
    t.scatter_(0, t, t.flip(0))
    assert t.tolist() == [5, 4, 3, 2, 1, 0]
    row = torch.zeros(1).expand(3)
    with pytest.raises((RuntimeError, ValueError)):
        row.scatter_add_(0, torch.tensor([0, 1]), torch.ones(2))


def test_what_backward_needs_is_kept():
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = torch.tensor([1.0, 1.0, 1.0])
    z = (x * y).sum()
    y.scatter_(0, torch.tensor([1]), 7.0)
    y.index_add_(0, torch.tensor([0]), torch.ones(1))
    z.backward()
    assert x.grad.tolist() == [1, 1, 1]
    x.grad = None
    (x.gather(0, torch.tensor([2, 2])) * torch.clamp(x, 1.5, 2.5)[:2]).sum().backward()
    assert x.grad.tolist() == [0, 3, 3.5]


LIMITS = [None, 0, 2, -1, 1.5, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("kind", ["f4", "f8", "f2", "i4", "u1", "i8"])
@pytest.mark.parametrize("low, high", [*itertools.product(LIMITS, LIMITS)])
def test_clamp(kind, low, high):
    if low is None and high is None:
        return
    x = torch.tensor(np.array([0, 1, 2, 3, 7]).astype(kind))
    if kind[0] == "f":
        x = torch.cat([x, torch.tensor([math.nan, -math.inf, math.inf, -2.0]).to(x.dtype)])
    made = []
    for at_once in (1024, 0):
        before = _core.set_at_once(at_once)
        try:
            try:
                y = torch.clamp(x, low, high)
                made.append((y.dtype, y.cpu().double().numpy()))
            except (RuntimeError, OverflowError) as error:
                made.append((type(error), np.array(str(error))))
        finally:
            _core.set_at_once(before)
    assert made[0][0] == made[1][0]
    if made[0][1].dtype.kind == "f":
        np.testing.assert_array_equal(made[0][1], made[1][1])


LATE = {
    "scatter_": lambda t, k: t.scatter_(0, k, 1.0),
    "scatter_add_": lambda t, k: t.scatter_add_(0, k, torch.ones(k.shape)),
    "gather": lambda t, k: t.gather(0, k),
    "take": lambda t, k: t.take(k),
    "index": lambda t, k: t[k],
    "set": lambda t, k: t.__setitem__(k, 1.0) or t,
    "index_select": lambda t, k: t.index_select(0, k),
    "index_add_": lambda t, k: t.index_add_(0, k, torch.ones(k.shape)),
    "index_fill_": lambda t, k: t.index_fill_(0, k, 2.0),
    "index_put_": lambda t, k: t.index_put_((k,), torch.tensor(1.0)),
    "put_": lambda t, k: t.put_(k, torch.ones(k.shape)),
    "embedding": lambda t, k: torch_embedding(k, t[:, None]),
    "cross_entropy": lambda t, k: cross_entropy(t[None].expand(len(k), -1), k),
}


def torch_embedding(k, table):
    from numbus.nn import functional as F

    return F.embedding(k, table)


def cross_entropy(scores, k):
    from numbus.nn import functional as F

    return F.cross_entropy(scores, k)


@pytest.mark.parametrize("kind", [IndexError, RuntimeError])
@pytest.mark.parametrize("pending", [False, True])
@pytest.mark.parametrize("n", [3, 5000])
@pytest.mark.parametrize("name", LATE)
def test_wrong_indices_are_errors_of_both_kinds(name, n, pending, kind):
    """Also where they are only known to be wrong when a result is read."""
    k = torch.arange(n) % 7
    k[n // 2] = 9
    t = torch.rand(7)
    before = _core.set_at_once(0 if pending else 1024)
    try:
        if pending:
            k, t = k * 1, t + 0.5
        with pytest.raises(kind):
            LATE[name](t, k).sum().item()
    finally:
        _core.set_at_once(before)


def test_errors_of_arrays_stay_as_they_are():
    import numbus as nb

    a, k = nb.arange(5000.0), nb.arange(5000) + 1
    with pytest.raises(IndexError) as caught:
        float(nb.sum(a[k]))
    assert not isinstance(caught.value, RuntimeError)
