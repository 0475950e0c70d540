"""Factors of matrices, short-time transforms, `out=`, views of memory: results are PyTorch 2.11's,
or what defines them.
"""

import math

import numbus as nb
import numpy
import pytest
import scipy.linalg
import scipy.signal
import scipy.special
import scipy.stats
from numbus import nn
from numbus import tensors as torch
from numbus.compat.torch import special
from numbus.tensors import linalg
from test_tape import nothing_stays  # noqa: F401 - a fixture

pytestmark = [pytest.mark.numbus]


def _drawn(*shape, seed=0):
    return numpy.random.default_rng(seed).normal(size=shape)


def _checked(function, *arrays):
    """That the gradient of a function of tensors is that by differences."""
    given = [torch.tensor(a, requires_grad=True) for a in arrays]
    assert torch.autograd.gradcheck(function, given)


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 5), (2, 3, 3), (1, 1), (0, 3, 3)])
def test_lu(shape):
    a = _drawn(*shape)
    t = torch.tensor(a)
    p, low, up = linalg.lu(t)
    numpy.testing.assert_allclose((p @ low @ up).cpu().numpy(), a, atol=1e-13)
    made, pivots = linalg.lu_factor(t)
    again = torch.lu_unpack(made, pivots)
    numpy.testing.assert_array_equal(again[0].cpu().numpy(), p.cpu().numpy())
    numpy.testing.assert_array_equal(again[1].cpu().numpy(), low.cpu().numpy())
    if len(shape) == 2:
        wanted, numbers = scipy.linalg.lapack.dgetrf(a)[:2]
        numpy.testing.assert_allclose(made.cpu().numpy(), wanted, atol=1e-13)
        assert pivots.tolist() == (numbers + 1).tolist() and pivots.dtype == torch.int32
    if shape[-1] == shape[-2] and a.size:
        b = torch.tensor(_drawn(*shape[:-1], 2, seed=1))
        for left in (True, False):
            for adjoint in (True, False):
                x = linalg.lu_solve(made, pivots, b if left else b.mT, left=left, adjoint=adjoint)
                m = t.mT if adjoint else t
                got = m @ x if left else x @ m
                wanted = b if left else b.mT
                numpy.testing.assert_allclose(got.cpu().numpy(), wanted.cpu().numpy(), atol=1e-12)
        _checked(lambda m: linalg.lu(m)[1].sum() + (linalg.lu(m)[2] ** 2).sum(), a)


def test_singular_lu():
    made, pivots, info = linalg.lu_factor_ex(torch.zeros(2, 2))
    assert made.tolist() == [[0, 0], [0, 0]] and pivots.tolist() == [1, 2] and info.item() == 1


@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("unit", [True, False])
def test_triangles(upper, left, unit):
    a = _drawn(2, 3, 3) + 3 * numpy.eye(3)
    b = _drawn(2, 3, 2) if left else _drawn(2, 2, 3)
    x = linalg.solve_triangular(
        torch.tensor(a), torch.tensor(b), upper=upper, left=left, unitriangular=unit
    )
    m = numpy.triu(a) if upper else numpy.tril(a)
    if unit:
        m = m - m * numpy.eye(3) + numpy.eye(3)
    found = x.cpu().numpy()
    numpy.testing.assert_allclose(m @ found if left else found @ m, b, atol=1e-12)
    _checked(
        lambda m, c: linalg.solve_triangular(m, c, upper=upper, left=left, unitriangular=unit), a, b
    )


def test_least_squares():
    a, b = _drawn(5, 3), _drawn(5, 2, seed=1)
    wanted, residuals, rank, values = numpy.linalg.lstsq(a, b, rcond=None)
    for driver in (None, "gels", "gelsy", "gelsd", "gelss"):
        found = linalg.lstsq(torch.tensor(a), torch.tensor(b), driver=driver)
        numpy.testing.assert_allclose(found.solution.cpu().numpy(), wanted, atol=1e-12)
        if driver in ("gelsd", "gelss"):
            numpy.testing.assert_allclose(found.residuals.cpu().numpy(), residuals)
            numpy.testing.assert_allclose(found.singular_values.cpu().numpy(), values)
            assert found.rank.item() == rank
    with pytest.raises(RuntimeError, match="unknown driver"):
        linalg.lstsq(torch.tensor(a), torch.tensor(b), driver="qr")
    _checked(lambda m, c: linalg.lstsq(m, c).solution, a, b)


def test_pseudoinverse_and_rank():
    a = _drawn(4, 3) @ numpy.diag([5.0, 1.0, 1e-4])
    t = torch.tensor(a)
    for options in ({}, {"rtol": 1e-2}, {"atol": 0.1}, {"rcond": 1e-2}):
        cut = {"rcond": options.get("rtol", options.get("rcond", 1e-15))}
        if "atol" in options:
            cut["rcond"] = options["atol"] / numpy.linalg.svd(a)[1][0]
        wanted = numpy.linalg.pinv(a, **cut)
        numpy.testing.assert_allclose(linalg.pinv(t, **options).cpu().numpy(), wanted, atol=1e-8)
    assert linalg.matrix_rank(t).item() == 3 and linalg.matrix_rank(t, rtol=1e-2).item() == 2
    assert linalg.matrix_rank(t, tol=0.1).item() == 2
    s = a.T @ a
    numpy.testing.assert_allclose(
        linalg.pinv(torch.tensor(s), hermitian=True, rtol=1e-5).cpu().numpy(),
        numpy.linalg.pinv(s, 1e-5), atol=1e-8,
    )  # fmt: skip


def test_exponential_and_condition():
    for scale in (1e-3, 1.0, 20.0):
        a = _drawn(2, 4, 4) * scale / 3
        got = torch.matrix_exp(torch.tensor(a)).cpu().numpy()
        wanted = scipy.linalg.expm(a)
        numpy.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-12 * abs(wanted).max())
    _checked(torch.matrix_exp, _drawn(3, 3))
    a = _drawn(3, 3)
    for p in (None, 2, -2, 1, numpy.inf, "fro"):
        numpy.testing.assert_allclose(
            linalg.cond(torch.tensor(a), p).item(), numpy.linalg.cond(a, p), rtol=1e-10
        )


def test_short_time_transforms():
    x = _drawn(2, 100)
    window = torch.hann_window(16, dtype=torch.float64)
    wanted = scipy.signal.get_window("hann", 16)
    numpy.testing.assert_allclose(window.cpu().numpy(), wanted, atol=1e-15)
    made = torch.stft(
        torch.tensor(x), 16, hop_length=4, window=window, center=False, return_complex=True
    )
    cut = numpy.stack([x[:, k : k + 16] for k in range(0, 85, 4)], axis=1) * window.cpu().numpy()
    wanted = numpy.fft.rfft(cut).swapaxes(1, 2)
    numpy.testing.assert_allclose(made.cpu().numpy(), wanted, atol=1e-12)
    for options in ({}, {"normalized": True}, {"onesided": False}, {"pad_mode": "constant"}):
        more = {k: v for k, v in options.items() if k != "pad_mode"}
        made = torch.stft(torch.tensor(x), 16, 4, window=window, return_complex=True, **options)
        again = torch.istft(made, 16, 4, window=window, length=100, **more)
        numpy.testing.assert_allclose(again.cpu().numpy(), x, atol=1e-12)
    with pytest.raises(RuntimeError, match="return_complex is not said"):
        torch.stft(torch.tensor(x), 16)
    with pytest.raises(RuntimeError, match="leave elements out"):
        torch.istft(made[..., :3], 16, 40, window=window)
    _checked(
        lambda v: torch.stft(v, 8, window=window[:8], return_complex=False), _drawn(20, seed=2)
    )


@pytest.mark.parametrize("name", ["hann", "hamming", "blackman", "bartlett", "kaiser"])
def test_windows(name):
    function = getattr(torch, name + "_window")
    kind = ("kaiser", 12.0) if name == "kaiser" else name
    for n in (0, 1, 2, 7, 8):
        for periodic in (True, False):
            got = function(n, periodic, dtype=torch.float64).cpu().numpy()
            wanted = scipy.signal.get_window(kind, n, fftbins=periodic) if n else numpy.zeros(0)
            numpy.testing.assert_allclose(got, wanted, atol=1e-15)
    assert function(3).dtype == torch.float32


def test_strided_views():
    x = torch.arange(9.0, requires_grad=True)
    y = x.as_strided((3, 2), (1, 2))
    assert y.tolist() == [[0, 2], [1, 3], [2, 4]]
    (y**2).sum().backward()
    assert x.grad.tolist() == [0, 2, 8, 6, 8, 0, 0, 0, 0]
    z = torch.arange(6.0)
    part = z[1:]
    assert part.storage_offset() == 1
    assert torch.as_strided(part, (2,), (2,)).tolist() == [1, 3]
    part.as_strided((2,), (2,), 0)[1] = 7
    assert z.tolist() == [0, 1, 7, 3, 4, 5]
    with pytest.raises(RuntimeError, match="outside the storage"):
        z.as_strided((4,), (2,))


def test_results_into_tensors():
    x, out = torch.arange(4.0), torch.empty(4)
    assert torch.add(x, x, out=out) is out and out.tolist() == [0, 2, 4, 6]
    torch.cat([x[:2], x[:2]], out=out)
    assert out.tolist() == [0, 1, 0, 1]
    values, order = torch.empty(4), torch.empty(4, dtype=torch.int64)
    made = torch.sort(-x, out=(values, order))
    assert made.values is values and order.tolist() == [3, 2, 1, 0]
    whole = torch.empty(0)
    assert torch.exp(x, out=whole) is whole and tuple(whole.shape) == (4,)
    with pytest.warns(UserWarning, match="another shape"):
        torch.sum(x, out=whole)
    assert whole.item() == 6
    assert torch.add(x, 1, out=None).tolist() == [1, 2, 3, 4]
    with pytest.raises(RuntimeError, match="without loss"):
        torch.add(x, x, out=torch.empty(4, dtype=torch.int64))
    with pytest.raises(RuntimeError, match="out= has no derivative"):
        torch.add(x.requires_grad_(), x, out=out)
    with torch.no_grad():
        assert torch.mul(x, 2, out=out).tolist() == [0, 2, 4, 6]


def test_search():
    rng = numpy.random.default_rng(3)
    lines, values = numpy.sort(rng.integers(0, 9, (2, 3, 5))), rng.integers(0, 9, (2, 3, 4))
    for side in ("left", "right"):
        found = torch.searchsorted(torch.tensor(lines), torch.tensor(values), side=side)
        wanted = [
            numpy.searchsorted(line, value, side=side)
            for line, value in zip(lines.reshape(-1, 5), values.reshape(-1, 4), strict=True)
        ]
        assert found.reshape(-1, 4).tolist() == numpy.array(wanted).tolist()
    mixed = torch.tensor([3, 1, 2])
    assert torch.searchsorted(mixed, torch.tensor([2]), sorter=mixed.argsort()).tolist() == [1]
    with pytest.raises(RuntimeError, match="contradict"):
        torch.searchsorted(mixed, mixed, side="left", right=True)
    with pytest.raises(RuntimeError, match="do not fit"):
        torch.searchsorted(torch.tensor(lines), torch.tensor(values[:1]))


def test_search_of_other_dtypes():
    whole, wide = torch.tensor([1, 2, 5]), torch.tensor([1.0, 2.0], dtype=torch.float64)
    assert torch.searchsorted(whole, 2.5).item() == torch.bucketize(2.5, whole).item() == 2
    assert torch.searchsorted(whole, torch.tensor([2.5])).tolist() == [2]
    assert torch.searchsorted(wide, torch.tensor([1.5])).tolist() == [1]
    assert torch.searchsorted(torch.tensor([0.1, 0.2]), 0.1).item() == 0  # a float32 like the line
    assert torch.searchsorted(torch.tensor([1.0, 2.0]), 2).item() == 1


def test_sums_to_a_size_count():
    truths, numbers = torch.ones(2, 3, dtype=torch.bool), torch.ones(2, 3, dtype=torch.int32)
    for x in (truths, numbers):
        assert x.sum_to_size(3).tolist() == [2, 2, 2]
        assert x.sum_to_size(3).dtype == x.sum_to_size(1, 3).dtype == torch.int64
        assert x.sum_to_size(2, 3).dtype == x.dtype


def test_differences():
    x = torch.tensor([1.0, 4.0, 9.0], requires_grad=True)
    made = torch.diff(x, prepend=torch.zeros(1), append=torch.zeros(2))
    assert made.tolist() == [1, 3, 5, -9, 0]
    made[1].backward()
    assert x.grad.tolist() == [-1, 1, 0]
    assert torch.diff(torch.tensor([True, False, False])).tolist() == [True, False]


def test_read_under_no_grad():
    x = torch.ones(3, requires_grad=True)
    loss = (x * x).sum()

    def function(t):
        value = (t**3).sum()
        with torch.no_grad():
            assert value.item() == float(value) == value.tolist() == int(value) == 3
            assert bool(value > 0) and "3." in repr(value)
        return value

    with torch.no_grad():
        assert loss.item() == 3 and float(loss) == 3
    function(x).backward()
    assert x.grad.tolist() == [3, 3, 3]
    with torch.no_grad():
        with torch.enable_grad():
            assert loss.item() == 3


def test_of_nothing():
    for part in (lambda x: x[x > 5], lambda x: x[[]], lambda x: x[2:2], lambda x: x[None][:0] * 2):
        x = torch.arange(3.0, requires_grad=True)
        part(x).sum().backward()
        assert x.grad.tolist() == [0, 0, 0]
        assert nb.grad(lambda a, part=part: part(a).sum())(nb.arange(3.0)).tolist() == [0, 0, 0]
    w = torch.ones(3, 2, requires_grad=True)
    (torch.zeros(0, 3) @ w).sum().backward()
    assert w.grad.tolist() == [[0, 0]] * 3


@pytest.mark.parametrize("p", [0, 0.5, 1, 2, 3, float("inf")])
def test_norms_at_zero(p):
    x = torch.tensor([0.0, 0.0, 0.0], requires_grad=True)
    linalg.vector_norm(x, p).backward()
    assert x.grad.tolist() == [0, 0, 0] or p == float("inf")
    y = torch.tensor([[0.0, 1.0, -2.0]], requires_grad=True)
    torch.cdist(y, y.detach(), p=p).sum().backward()
    assert y.grad.tolist() == [[0, 0, 0]]


@pytest.mark.parametrize(("p", "norm"), [(-0.5, 0.34314576), (-1, 2 / 3), (-2, 0.89442719)])
def test_norms_of_negative_order(p, norm):
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    assert linalg.vector_norm(x, p).item() == pytest.approx(norm)
    assert torch.autograd.gradcheck(lambda x: linalg.vector_norm(x, p), (x,))
    y = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)
    made = linalg.vector_norm(y, p)
    made.backward()
    assert made.item() == 0 and y.grad.tolist() == [0, 0, 0]


def test_singular_matrices():
    s = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    for atol in (0.0, torch.tensor(0.0)):
        assert linalg.matrix_rank(s, atol=atol).item() == 2
    assert linalg.pinv(s, atol=0.0).abs().max().item() < 1
    several = torch.tensor([[[1.0, 2.0], [2.0, 4.0]], [[1.0, 0.0], [0.0, 2.0]]])
    assert linalg.cond(several, 1).tolist() == [float("inf"), 2.0]
    assert linalg.cond(several[0], "fro").item() == float("inf")


def test_exponentials_beside_large_ones():
    small = torch.tensor([[1e-3, 1.0], [0.0, 1e-3]])
    several = torch.stack([small, torch.tensor([[0.0, 1000.0], [-1000.0, 0.0]])])
    assert torch.equal(torch.matrix_exp(several)[0], torch.matrix_exp(small))


def test_options_of_grad():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x * torch.tensor([1.0, 3.0])
    (row,) = torch.autograd.grad(y, x, torch.ones(2), True, False, True, False)
    assert row.tolist() == [2, 12]
    (found,) = torch.autograd.grad(y, x, torch.eye(2), is_grads_batched=True, only_inputs=True)
    assert found.tolist() == [[2, 0], [0, 12]]
    with pytest.raises(ValueError, match="only_inputs"):
        torch.autograd.grad(y.sum(), x, only_inputs=False)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_unpooling(count):
    pool = getattr(nn.functional, f"max_pool{count}d")
    unpool = getattr(nn.functional, f"max_unpool{count}d")
    x = torch.tensor(_drawn(2, 3, *[6] * count), requires_grad=True)
    largest, where = pool(x, 2, return_indices=True)
    made = unpool(largest, where, 2)
    kept = (made != 0).detach()
    assert made.shape == x.shape and kept.sum().item() == largest.numel()
    assert torch.equal(made[kept], x[kept])
    made.sum().backward()
    assert torch.equal(x.grad, kept.to(x.dtype))
    module = getattr(nn, f"MaxUnpool{count}d")(2)
    assert torch.equal(module(largest, where), made)
    assert torch.equal(unpool(largest[0], where[0], 2), made[0])
    odd = torch.tensor(_drawn(1, 1, *[7] * count))
    again = unpool(*pool(odd, 2, return_indices=True), 2, output_size=odd.shape)
    assert again.shape == odd.shape and torch.equal(again[again != 0], odd[again != 0])
    with pytest.raises(ValueError, match="output_size"):
        unpool(largest, where, 2, output_size=[9] * count)
    with pytest.raises(ValueError, match="different shapes"):
        unpool(largest, where[:1], 2)


def test_special_names():
    x = numpy.array([-0.5, 0.0, 0.3, 1.2])
    t = torch.tensor(x, requires_grad=True)
    numpy.testing.assert_allclose(special.entr(t).tolist(), scipy.special.entr(x))
    numpy.testing.assert_allclose(special.ndtr(t).tolist(), scipy.special.ndtr(x))
    y = torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=torch.float64)
    numpy.testing.assert_allclose(
        special.xlog1py(t, y).tolist(), scipy.special.xlog1py(x, y.cpu().numpy())
    )
    special.ndtr(t).sum().backward()
    numpy.testing.assert_allclose(t.grad.tolist(), scipy.stats.norm.pdf(x))
    assert special.entr(torch.tensor([1.0])).dtype == torch.float32


def test_singular_matrices_solved():
    linalg, eye = torch.linalg, torch.eye(2, dtype=torch.float64)
    up = torch.tensor([[1.0, 2, 3], [0, 0, 1], [0, 0, 2]], dtype=torch.float64)
    inf, one = math.inf, torch.ones(3, 1, dtype=torch.float64)
    found = linalg.solve_triangular(up, one, upper=True)
    assert found.tolist() == [[-inf], [inf], [0.5]]
    assert linalg.solve_triangular(up.mT, one.mT, upper=False, left=False).tolist() == [
        [-inf, inf, 0.5]
    ]
    ones = torch.ones(2, 2, dtype=torch.float64)
    with pytest.raises(RuntimeError, match=r"singular.*got 2;"):
        linalg.lu_factor(ones)
    factors, pivots, info = linalg.lu_factor_ex(ones)
    assert info.item() == 2 and factors.tolist() == [[1, 1], [1, 0]]
    assert all(math.isnan(x) for (x,) in linalg.lu_solve(factors, pivots, ones[:, :1]).tolist())
    for function in (linalg.inv, lambda a: linalg.lstsq(a, ones[:, :1], driver="gels")):
        with pytest.raises(RuntimeError) as caught:
            function(ones)
        assert isinstance(caught.value, linalg.LinAlgError)
    for call in (
        lambda: linalg.lu_solve(*linalg.lu_factor(eye), torch.ones(2, 1)),
        lambda: linalg.lu_solve(linalg.lu_factor(eye)[0], pivots.long(), ones),
        lambda: torch.cholesky_solve(torch.ones(2, 1), eye),
        lambda: linalg.solve(eye, torch.ones(2, 1)),
        lambda: linalg.lstsq(eye, torch.ones(2, 1)),
    ):
        with pytest.raises(RuntimeError, match="dtype"):
            call()


def test_derivatives_at_equal_singular_values():
    for function in (
        torch.linalg.pinv,
        lambda a: torch.linalg.pinv(a, rtol=1e-3),
        lambda a: torch.linalg.lstsq(a, torch.eye(3, dtype=torch.float64))[0],
    ):
        a = torch.eye(3, dtype=torch.float64).requires_grad_()
        function(a).sum().backward()
        assert numpy.allclose(a.grad.cpu().numpy(), -1, 1e-12)


def test_eig():
    a = torch.tensor([[0.0, 2.0], [-2.0, 1.0]], requires_grad=True)
    values, vectors = torch.linalg.eig(a)
    assert values.dtype == vectors.dtype == torch.complex64
    assert torch.allclose(a.to(torch.complex64) @ vectors, vectors * values)
    (torch.linalg.eigvals(a) ** 2).sum().real.backward()  # the trace of a @ a
    assert numpy.allclose(a.grad.cpu().numpy(), 2 * a.detach().cpu().numpy().T, 1e-5, 1e-5)
    with pytest.raises(RuntimeError, match="phase"):
        torch.linalg.eig(a)[1].real.sum().backward()


def test_distances_of_largest_differences():
    from numbus.nn import functional as F

    a = torch.tensor([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]], requires_grad=True)
    b = torch.tensor([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]])
    torch.cdist(a, b, p=math.inf).sum().backward()  # as PyTorch: ties count as a whole
    assert a.grad.tolist() == [[1, 1, -1], [0, 0, -1]]
    assert F.pairwise_distance(a, b, p=math.inf).tolist() == pytest.approx([1, 3], 1e-5)
    assert F.pairwise_distance(a, b, p=0).tolist() == [3, 3]
    assert F.pdist(torch.cat([a, b])).tolist() == pytest.approx(
        [2**0.5, 2**0.5, 10**0.5, 0, 14**0.5, 14**0.5]
    )


def test_dtypes_of_scaled_sums_and_powers():
    small = torch.tensor([2, -3], dtype=torch.int8)
    truth = torch.tensor([True, True])
    assert torch.add(small, truth, alpha=2).tolist() == [4, -1]
    wide = torch.tensor(0.5, dtype=torch.float64)
    assert torch.add(small, wide, alpha=2).dtype == torch.float64
    assert small.sum(dtype=torch.int32).dtype == torch.int32
    assert small.prod(dtype=torch.int16).dtype == torch.int16
    half = torch.tensor([1.0, 2.0], dtype=torch.float16)
    assert torch.outer(small, half).dtype == torch.float16
    assert torch.ldexp(small, wide).dtype == torch.float64
    assert torch.ldexp(half, small).dtype == torch.float16
    assert torch.ldexp(truth, half[0]).dtype == torch.float16


def test_nearest_elements_of_twice_the_size_ignore_the_factor():
    x = torch.arange(3.0).reshape(1, 1, 3)
    twice = nn.functional.interpolate(x, scale_factor=2.3)
    assert twice.tolist() == [[[0, 0, 1, 1, 2, 2]]]
    more = nn.functional.interpolate(torch.arange(7.0).reshape(1, 1, 7), scale_factor=2.3)
    assert more.tolist() == [[[0, 0, 0, 1, 1, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6, 6]]]


def test_nan_is_told_apart_where_torch_does():
    x = torch.tensor([float("nan"), -2.0, float("nan")])
    assert torch.sign(x).tolist() == [0, -1, 0] and torch.sgn(x).tolist() == [0, -1, 0]
    found, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
    assert found.shape == (3,) and counts.tolist() == [1, 1, 1] and inverse.tolist() == [1, 0, 2]


def test_complex_numbers_as_text():
    assert repr(torch.tensor([1j], device="cpu")) == "tensor([0.+1.j])"
    assert "complex128" in repr(torch.tensor([1j], dtype=torch.complex128))
    assert "complex64" in repr(torch.zeros(0, dtype=torch.complex64))
