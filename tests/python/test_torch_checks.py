"""What PyTorch refuses or takes of limits, indices, sources and states of random numbers."""

import io
import math

import numbus.compat.torch as torch
import numpy as np
import pytest

pytestmark = [pytest.mark.numbus]

at, nan = torch.tensor, math.nan
KINDS = (torch.float32, torch.float64, torch.int64, torch.int8, torch.bool)


@pytest.mark.parametrize("limits", [(nan, None), (None, nan), (nan, 1), (0, nan)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_limit_that_is_nan_makes_nan(kind, limits):
    a = torch.ones(3, dtype=kind)
    expected = kind if kind.is_floating_point else torch.float32
    tensors = [None if x is None else at(x) for x in limits]
    for made in (torch.clamp(a, *limits), a.clip(*limits), torch.clamp(a, *tensors)):
        assert made.dtype == expected
        assert torch.isnan(made).all()


def test_limits_of_clamp():
    assert torch.clamp(at([1.0, nan, 3.0]), 2, 1).tolist()[::2] == [1, 1]
    for limit in (1.5, at(1.5)):
        with pytest.raises(RuntimeError, match="clamp_"):
            at([1, 2]).clamp_(limit)
    with pytest.raises(TypeError):
        torch.clamp(at([1.0]), [1], None)
    with pytest.raises(RuntimeError):
        torch.clamp(at([1.0]), 1j, None)
    x = at([0.0, nan, 1.5, 3.0], requires_grad=True)
    x.clamp(1.0, 2.0).sum().backward()
    assert x.grad.tolist() == [0, 0, 1, 0]


STORES = {
    "scatter": (), "scatter_": (), "scatter_add": (), "scatter_add_": (),
    "scatter_reduce": ("sum",), "scatter_reduce_": ("amax",), "index_add": (), "index_add_": (),
    "index_copy": (), "index_copy_": (), "index_reduce": ("prod",), "index_reduce_": ("mean",),
}  # fmt: skip


@pytest.mark.parametrize("name", STORES)
def test_sources_are_of_the_same_dtype(name):
    index, more = at([0, 1, 2]), STORES[name]
    for kind in KINDS[:4]:
        for other in KINDS[:4]:
            a, src = torch.zeros(3, dtype=kind), torch.ones(3, dtype=other)
            if kind == other:
                assert getattr(a, name)(0, index, src, *more).dtype == kind
                continue
            with pytest.raises(RuntimeError, match="another dtype"):
                getattr(a, name)(0, index, src, *more)
    if name.rstrip("_") != "scatter":
        with pytest.raises(TypeError):
            getattr(torch.zeros(3), name)(0, index, 5, *more)


@pytest.mark.parametrize("name", STORES)
def test_indices_are_of_int64_or_int32(name):
    more = STORES[name]
    takes = {torch.int64} if "copy" in name else {torch.int64, torch.int32}
    for kind in (torch.int64, torch.int32, torch.uint8, torch.int16, torch.bool, torch.float32):
        a, index = torch.zeros(3), torch.arange(3).to(kind)
        if kind in takes:
            getattr(a, name)(0, index, torch.ones(3), *more)
            continue
        with pytest.raises(RuntimeError):
            getattr(a, name)(0, index, torch.ones(3), *more)


def test_other_stores_and_reads():
    a, narrow = torch.zeros(3), at([0], dtype=torch.int32)
    assert a.scatter(0, at([1]), 5).tolist() == [0, 5, 0]
    assert at([2, 3, 4]).scatter(0, at([0, 2]), 5.5, reduce="add").tolist() == [7, 3, 9]
    assert at([2, 3, 4]).scatter(0, at([0, 2]), 5, reduce="multiply").tolist() == [10, 3, 20]
    for call in (lambda: a.masked_fill(at([1, 0, 1]), 2), lambda: a.masked_fill_(a, 2),
                 lambda: a.masked_fill(a == 0, torch.ones(3)), lambda: a.take(narrow),
                 lambda: a.masked_scatter(at([1, 0, 1]), torch.ones(3)),
                 lambda: a.take_along_dim(narrow, 0), lambda: a.put_(narrow, at([1.0])),
                 lambda: a.index_add(0, at([0, 1]), at([1.0])),
                 lambda: a.index_fill(0, at([0]), at([1.0]))):  # fmt: skip
        with pytest.raises(RuntimeError):
            call()
    with pytest.raises(IndexError):
        a.index_fill(0, narrow, 1)
    with pytest.raises(TypeError):
        a.masked_scatter(a == 0, 5)


def test_states_of_random_numbers_are_bytes():
    generator = torch.Generator().manual_seed(3)
    for get, put, draw in (
        (torch.get_rng_state, torch.set_rng_state, lambda: torch.randn(5, device="cpu")),
        (generator.get_state, generator.set_state,
         lambda: torch.randn(5, device="cpu", generator=generator)),
    ):  # fmt: skip
        draw()
        state, file = get(), io.BytesIO()
        assert state.dtype == torch.uint8 and state.dim() == 1
        assert torch.equal(state, get())
        torch.save(state, file)
        file.seek(0)
        first = draw()
        assert not torch.equal(state, get())
        for kept in (state, torch.load(file), torch.from_numpy(np.array(state.numpy()))):
            put(kept)
            assert torch.equal(draw(), first)
    other = generator.clone_state()
    assert torch.equal(torch.rand(2, generator=other), torch.rand(2, generator=generator))
    assert other.initial_seed() == 3
    for state in (at([1, 2]), 1, at([1.0])):
        with pytest.raises(TypeError):
            torch.set_rng_state(state)
    with pytest.raises(RuntimeError):
        torch.set_rng_state(at([1, 2], dtype=torch.uint8))
    with torch.random.fork_rng():
        drawn = torch.rand(2)
    assert torch.equal(torch.rand(2), drawn)
