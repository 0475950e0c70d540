"""Pure functions of tensors whose calls are recorded again without their code: what tells one call
from another, and what may not be kept.
"""

import math
import threading
import warnings

import numpy as np
import pytest

nb = pytest.importorskip("numbus")
from numbus import _core, nn, tensors  # noqa: E402
from numbus.nn import functional as F  # noqa: E402
from numbus.tensors import autograd, no_grad, pure_function  # noqa: E402
from numbus.tensors._tensor import wrap  # noqa: E402

pytestmark = pytest.mark.cpu
RNG = np.random.default_rng(14)


def fenced(a, gradient=False):
    return tensors.from_numpy(np.array(a)).to("fenced").requires_grad_(gradient)


def floats(*shape):
    return RNG.standard_normal(shape).astype("f4")


def numpy_of(t):
    return t.detach().to("cpu").numpy()


class Counted:
    """A pure function that counts the calls of its body."""

    def __init__(self, body):
        self.calls = 0

        def counting(*args, **keywords):
            self.calls += 1
            return body(*args, **keywords)

        self.function = pure_function(counting)

    def __call__(self, *args, **keywords):
        return self.function(*args, **keywords)


def test_the_body_runs_once_for_operands_alike():
    f = Counted(lambda x, y: x * y + 1)
    for _ in range(4):
        a, b = floats(3, 4), floats(4)
        np.testing.assert_array_equal(numpy_of(f(fenced(a), fenced(b))), a * b + 1)
    assert f.calls == 1
    a, b = floats(4, 3), floats(3)  # another shape is another call
    np.testing.assert_array_equal(numpy_of(f(fenced(a), fenced(b))), a * b + 1)
    assert f.calls == 2


def test_memory_that_the_host_reads_is_worked_on_by_the_body():
    f = Counted(lambda x: x + 1)
    for _ in range(3):
        f(tensors.from_numpy(floats(3)))
    assert f.calls == 3


@pytest.mark.parametrize(
    "first, second",
    [
        ((1,), (2,)),
        ((1.0,), (1,)),
        ((True,), (1,)),
        ((0.0,), (-0.0,)),
        (("a",), ("b",)),
        ((None,), (False,)),
        (((1, 2),), ([1, 2],)),
        (((1, (2, 3)),), ((1, 2, 3),)),
        (((),), ([],)),
    ],
)
def test_other_arguments_are_other_calls(first, second):
    seen = []
    f = Counted(lambda x, *rest: seen.append(rest) or x + len(seen))
    for given in (first, second) * 2:
        f(fenced([0.0]), *given)
    assert f.calls == 2
    assert seen[0] == first and seen[1] == second


def test_names_of_arguments_count():
    f = Counted(lambda x, a=1, b=2: x * a + b)
    x = fenced([2.0])
    for _ in range(2):
        assert numpy_of(f(x, a=3)) == 8.0
        assert numpy_of(f(x, b=3)) == 5.0
        assert numpy_of(f(x, 3)) == 8.0
    assert f.calls == 3


def test_objects_that_may_change_are_not_kept():
    class Factor:
        value = 2

    f = Counted(lambda x, k: x * k.value)
    k = Factor()
    assert numpy_of(f(fenced([1.0]), k)) == 2
    k.value = 3
    assert numpy_of(f(fenced([1.0]), k)) == 3
    assert f.calls == 2


def test_one_operand_given_twice_is_another_call():
    def body(x, y):
        x[0] = 5
        return x + y

    f = Counted(body)
    a, b = floats(3), floats(3)
    for _ in range(2):
        x = fenced(a)
        got = numpy_of(f(x, x))
        np.testing.assert_array_equal(got, 2 * np.array([5, *a[1:]], "f4"))
        x, y = fenced(a), fenced(b)
        np.testing.assert_array_equal(numpy_of(f(x, y)), np.array([5, *a[1:]], "f4") + b)
    assert f.calls == 2


def test_parts_of_one_array_are_told_by_their_offsets():
    f = Counted(lambda x, y: x - y)
    a = floats(6)
    for _ in range(2):
        t = fenced(a)
        np.testing.assert_array_equal(numpy_of(f(t[:3], t[3:])), a[:3] - a[3:])
        np.testing.assert_array_equal(numpy_of(f(t[3:], t[:3])), a[3:] - a[:3])
        np.testing.assert_array_equal(numpy_of(f(t[::2], t[1::2])), a[::2] - a[1::2])
    assert f.calls == 3


def test_what_reads_elements_runs_each_time():
    f = Counted(lambda x: x + float(x.sum()))
    for a in (1.0, 2.0, 3.0, 4.0, 5.0):
        assert numpy_of(f(fenced([a]))) == 2 * a
    assert f.calls == 5


def test_random_numbers_are_drawn_each_time():
    f = Counted(lambda x: x + tensors.rand(1000, device="fenced")._array)
    drawn = [numpy_of(f(fenced(np.zeros(1000)))) for _ in range(5)]
    assert all((drawn[0] != d).any() for d in drawn[1:])


def test_constants_of_the_body_stay():
    table = nb.array(floats(5)).to_device("fenced")
    f = Counted(lambda x: x * table)
    for _ in range(3):
        a = floats(5)
        np.testing.assert_array_equal(numpy_of(f(fenced(a))), a * np.asarray(table))
    assert f.calls == 1


def test_arrays_of_the_body_that_are_changed_are_not_kept():
    count = nb.zeros(1).to_device("fenced")

    def body(x):
        count[...] += 1
        return x + count

    f = Counted(body)
    got = [float(numpy_of(f(fenced([0.0])))[0]) for _ in range(5)]
    assert got == [1, 2, 3, 4, 5] and f.calls == 5


def test_results_that_are_operands_or_parts_of_them():
    same, part = Counted(lambda x: x), Counted(lambda x: x[1:])
    for _ in range(3):
        a = floats(3)
        t = fenced(a)
        same(t)[0] = 7
        part(t)[0] = 8
        np.testing.assert_array_equal(numpy_of(t), [7, 8, a[2]])


def test_several_results():
    f = Counted(lambda x: (x + 1, x.sum(), x * 2))
    for _ in range(3):
        a = floats(2, 3)
        one, total, two = f(fenced(a))
        np.testing.assert_array_equal(numpy_of(one), a + 1)
        np.testing.assert_allclose(numpy_of(total), a.sum(), rtol=1e-5)
        np.testing.assert_array_equal(numpy_of(two), a * 2)
        assert total.shape == ()
    assert f.calls == 1


def test_gradients_and_whether_they_are_wanted():
    f = Counted(lambda x, y: x * x * y)
    for _ in range(2):
        for wanted in ((True, False), (False, True), (True, True), (False, False)):
            a, b = floats(4), floats(4)
            x, y = fenced(a, wanted[0]), fenced(b, wanted[1])
            out = f(x, y)
            assert out.requires_grad == any(wanted)
            if any(wanted):
                out.sum().backward()
            assert (x.grad is not None, y.grad is not None) == wanted
            if wanted[0]:
                np.testing.assert_allclose(numpy_of(x.grad), 2 * a * b, rtol=1e-6)
            if wanted[1]:
                np.testing.assert_allclose(numpy_of(y.grad), a * a, rtol=1e-6)
            with no_grad():
                assert not f(x, y).requires_grad
    assert f.calls == 2  # with the tape and without


def test_second_derivatives():
    f = Counted(lambda x: x * x * x)
    for _ in range(3):
        a = floats(3)
        x = fenced(a, True)
        (g,) = autograd.grad(f(x).sum(), x, create_graph=True)
        (h,) = autograd.grad(g.sum(), x)
        np.testing.assert_allclose(numpy_of(h), 6 * a, rtol=1e-5)


def test_an_operand_that_is_changed_before_backward():
    f = Counted(lambda x: x * x)
    for _ in range(3):
        a = floats(3)
        x = fenced(a, True)
        y = x * 1
        out = f(y).sum()
        with no_grad():
            y.detach().mul_(0)  # the values that the derivative needs are copied before
        out.backward()
        np.testing.assert_allclose(numpy_of(x.grad), 2 * a, rtol=1e-6)


def test_a_body_that_calls_another_function_of_tensors():
    outer = Counted(lambda x: x * 3 + F.relu(wrap(x))._array)
    for _ in range(4):
        a = floats(3)
        expected = a * 3 + np.maximum(a, 0)
        np.testing.assert_array_equal(numpy_of(outer(fenced(a))), expected)
    assert outer.calls == 1


def test_statistics_of_a_batch_move_at_each_call():
    net, other = nn.BatchNorm2d(3), nn.BatchNorm2d(3).to("fenced")
    for _ in range(5):
        a = floats(4, 3, 5, 5)
        y = net(tensors.from_numpy(a))
        z = other(fenced(a))
        np.testing.assert_allclose(numpy_of(z), numpy_of(y), rtol=1e-4, atol=1e-5)
    for name in ("running_mean", "running_var", "num_batches_tracked"):
        expected = numpy_of(getattr(net, name))
        np.testing.assert_allclose(numpy_of(getattr(other, name)), expected, rtol=1e-5)


def test_each_call_warns():
    x, y = fenced(floats(3, 1)), fenced(floats(3))
    for _ in range(5):
        with warnings.catch_warnings(record=True) as met:
            warnings.simplefilter("always")
            F.mse_loss(x, y)
            F.softmax(x)
        assert len(met) == 2


def test_targets_that_are_no_classes_are_found_each_time():
    x = fenced(floats(4, 3))
    for k in range(4):
        assert np.isfinite(numpy_of(F.cross_entropy(x, fenced([0, 1, 2, 0]))))
        with pytest.raises(IndexError):
            F.cross_entropy(x, fenced([0, 1, 3 + k, 0])).item()


def test_wrong_shapes_raise_after_right_ones():
    w = fenced(floats(2, 3))
    for _ in range(3):
        F.linear(fenced(floats(5, 3)), w)
    for _ in range(5):
        with pytest.raises(ValueError, match="does not fit"):
            F.linear(fenced(floats(5, 4)), w)


def test_a_training_step_is_answered_without_code():
    net = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 3)).to("fenced")
    x, y = fenced(floats(8, 6)), fenced(RNG.integers(0, 3, 8))
    for _ in range(4):
        F.cross_entropy(net(x), y).backward()
    before = _core.recipe_answers()
    F.cross_entropy(net(x), y).backward()
    assert _core.recipe_answers() - before == 4  # linear, relu, linear, cross_entropy


def test_many_kinds_of_calls_do_not_stay():
    f = Counted(lambda x, k: x + k)
    for k in range(300):
        assert numpy_of(f(fenced([1.0]), k)) == 1 + k
    for k in range(300):
        assert numpy_of(f(fenced([1.0]), k)) == 1 + k


def test_threads():
    f = Counted(lambda x: (x * 2).sum() + x)
    failures = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(50):
            a = rng.integers(0, 100, rng.integers(1, 6)).astype("f4")
            if not np.array_equal(numpy_of(f(fenced(a))), 2 * a.sum() + a):
                failures.append(a)

    all_threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in all_threads:
        t.start()
    for t in all_threads:
        t.join()
    assert not failures


def test_what_no_grad_has_recorded_is_not_for_others():
    """Under `no_grad`, between a forward and a backward pass, programs see writes alone."""
    x = fenced([0.5, -1.0]).requires_grad_()
    for _ in range(3):
        x.grad = None
        kept = (x * x).sum()
        with tensors.no_grad():
            F.gelu(x * 1)
        (F.gelu(x).sum() + kept).backward()
        y = np.array([0.5, -1.0])
        slope = np.array([math.erf(v / 2**0.5) / 2 + 0.5 for v in y])
        slope += y * np.exp(-y * y / 2) / (2 * math.pi) ** 0.5 + 2 * y
        np.testing.assert_allclose(x.grad.to("cpu").numpy(), slope, rtol=1e-6)
