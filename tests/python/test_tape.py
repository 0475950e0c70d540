"""What tensors record and let go: backward, hooks, in-place work, modes; facts are PyTorch's."""

import gc
import pickle

import numbus.tensors as torch
import numpy
import pytest
from numbus import _core


def numbers(t):
    return t.detach().cpu().numpy().tolist()


@pytest.fixture(autouse=True)
def nothing_stays():
    gc.collect()
    _core.tape_drop_circles()
    before = _core.tape_length()
    yield
    gc.collect()
    _core.tape_drop_circles()
    assert _core.tape_length() == before, _core.tape_text()


def leaf(*values):
    return torch.tensor([float(v) for v in values], dtype=torch.float64, requires_grad=True)


def test_gradients_add_up():
    x = leaf(1, 2)
    for k in range(1, 4):
        (x * x).sum().backward()
        assert numbers(x.grad) == [2 * k, 4 * k]


def test_a_second_backward_needs_the_graph():
    x = leaf(2)
    y = (x**3).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert numbers(x.grad) == [24]
    with pytest.raises(RuntimeError, match="let go"):
        y.backward()
    assert numbers(x.grad) == [24]


def test_graphs_that_share_a_part():
    x = leaf(2)
    h = x * x
    a, b = (h * 3).sum(), (h * h).sum()
    a.backward(retain_graph=True)
    b.backward()
    assert numbers(x.grad) == [12 + 4 * 8]
    h = x * x
    a, b = (h * 3).sum(), (h * h).sum()
    a.backward()
    with pytest.raises(RuntimeError, match="let go"):
        b.backward()


def test_what_nobody_reaches_is_let_go():
    x = leaf(*range(100))
    start = _core.tape_length()
    for _ in range(50):
        y = (x * x).exp().sum()  # never differentiated
        assert _core.tape_length() - start <= 6
    del y
    assert _core.tape_length() == start
    kept = x * 2
    chain = kept
    for _ in range(20):
        chain = chain * 1.5
    long = _core.tape_length()
    assert long - start == 21
    del chain
    assert _core.tape_length() - start == 1
    del kept


def test_a_view_keeps_what_made_it():
    x = leaf(1, 2, 3, 4)
    v = (x * x).reshape(2, 2)[1]
    gc.collect()
    v.sum().backward()
    assert numbers(x.grad) == [0, 0, 6, 8]


def test_values_are_kept_from_later_writes():
    w, x = leaf(3), torch.tensor([5.0], dtype=torch.float64)
    y = w * x
    with torch.no_grad():
        x.add_(100)
    y.sum().backward()
    assert numbers(w.grad) == [5]
    w.grad = None
    y = (w * w).sum()
    with torch.no_grad():
        w.mul_(2)
    y.backward()
    assert numbers(w.grad) == [6] and numbers(w) == [6]
    x = torch.tensor([5.0], dtype=torch.float64)
    y = w * x
    x.zero_()  # in a mode that records
    y.sum().backward()
    assert numbers(w.grad) == [11]


def test_writes_in_place_are_recorded():
    x, base = leaf(2, 3), torch.zeros(4, dtype=torch.float64)
    alias = base[1:3]
    base[1:3] = x * x
    assert base.requires_grad and alias.requires_grad and not base.is_leaf
    base[0] = 7
    base.mul_(2)
    (base * torch.tensor([1.0, 10, 100, 1000], dtype=torch.float64)).sum().backward()
    assert numbers(x.grad) == [2 * 2 * 10 * 2, 2 * 3 * 100 * 2]
    with pytest.raises(RuntimeError, match="leaf"):
        x.add_(1)


def test_detached_tensors_share_memory_and_are_constants():
    x = leaf(2, 3)
    d = x.detach()
    assert not d.requires_grad and d.is_leaf and x.data.data_ptr() == d.data_ptr()
    (x * d).sum().backward()
    assert numbers(x.grad) == [2, 3]
    d.mul_(2)
    assert numbers(x) == [4, 6] and x.is_leaf
    h = x * x
    assert not h.detach().requires_grad and not h.detach()[0].requires_grad
    with torch.no_grad():
        v = x.view(2)
        assert not v.requires_grad and not (x * 2).requires_grad
        with torch.enable_grad():
            inner = (x * 2).sum()
    inner.backward()
    assert numbers(x.grad) == [4, 5]


def test_hooks():
    x = leaf(1, 2)
    seen = []
    h = x * 3
    h.register_hook(lambda g: seen.append(numbers(g)))
    handle = h.register_hook(lambda g: g * 10)
    h.retain_grad()
    removed = h.register_hook(lambda g: g * 1000)
    removed.remove()
    x.register_hook(lambda g: g + 1)
    (h * h).sum().backward()
    assert seen == [[6, 12]] and numbers(h.grad) == [60, 120] and numbers(x.grad) == [181, 361]
    handle.remove()
    with pytest.raises(RuntimeError, match="does not require"):
        h.detach().register_hook(print)


def test_grad_of_inputs_and_results():
    x, y = leaf(1, 2), leaf(3, 4)
    h = x * y
    total = (h * h).sum()
    gx, gh = torch.autograd.grad(total, [x, h], retain_graph=True)
    assert numbers(gx) == [18, 64] and numbers(gh) == [6, 16] and x.grad is None
    with pytest.raises(RuntimeError, match="do not depend"):
        torch.autograd.grad(total, [leaf(1)], retain_graph=True)
    assert torch.autograd.grad(total, [leaf(1)], allow_unused=True) == (None,)


def test_derivatives_of_derivatives():
    x = leaf(2)
    y = (x**4).sum()
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
    (third,) = torch.autograd.grad(second.sum(), x)
    assert [numbers(g) for g in (first, second, third)] == [[32], [48], [48]]
    # A value that was saved as a copy is part of the graph, too.
    z = x * x
    w = z.exp()
    with torch.no_grad():
        z.zero_()
    (first,) = torch.autograd.grad(w.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert numbers(second)[0] == pytest.approx(float(numpy.exp(4) * (2 + 16)))


def test_functions_of_their_own():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b, scale):
            ctx.save_for_backward(a, b)
            ctx.scale = scale
            return a * b * scale, a + b

        @staticmethod
        def backward(ctx, g, s):
            a, b = ctx.saved_tensors
            return g * b * ctx.scale + s, g * a * ctx.scale + s, None

    a, b = leaf(2, 3), leaf(5, 7)
    p, s = Twice.apply(a, b, 10)
    (p.sum() + 3 * s.sum()).backward()
    assert numbers(a.grad) == [53, 73] and numbers(b.grad) == [23, 33]


def test_modes_of_threads_and_functions():
    x = leaf(1)

    @torch.no_grad()
    def quiet():
        return x * 2

    assert not quiet().requires_grad and torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    assert not (x * 2).requires_grad
    torch.set_grad_enabled(True)
    with torch.inference_mode():
        assert not (x * 2).requires_grad
    assert (x * 2).requires_grad


def test_copies_and_pickles():
    import copy

    x = leaf(1, 2)
    x.sum().backward()
    for y in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert y.requires_grad and y.is_leaf and numbers(y) == [1, 2]
    with pytest.raises(RuntimeError, match="leaves"):
        copy.deepcopy(x * 2)


def test_mistakes():
    x = leaf(1, 2)
    with pytest.raises(RuntimeError, match="single number"):
        (x * 2).backward()
    with pytest.raises(RuntimeError, match="does not depend"):
        torch.ones(1).backward()
    with pytest.raises(RuntimeError, match="floating"):
        torch.ones(2, dtype=torch.int64).requires_grad_()
    with pytest.raises(RuntimeError, match="detach"):
        x.numpy()
    with pytest.raises(RuntimeError, match="another shape"):
        (x * 2).backward(torch.ones(3, dtype=torch.float64))
    with pytest.raises(RuntimeError, match="another shape"):
        x.grad = torch.ones(3)


def test_backward_beside_another_device(core):
    """New arrays of derivatives lie with the tensors, wherever new arrays go by default."""
    from numbus.nn import functional

    device = core.set_device("fenced")
    try:
        x = torch.ones(3, 4).requires_grad_()
        labels = torch.tensor([0, 1, 3])
    finally:
        core.set_device(device)
    loss = functional.cross_entropy(functional.relu(x * 2), labels) + (x * x).sum()
    loss.backward()
    assert str(x.grad.device) == "fenced"
    (second,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    second.sum().backward()
    assert numbers(second) == [[3.0] * 4] * 3


@pytest.mark.parametrize("later", [False, True])
def test_values_saved_before_a_write_are_not_kept_for_good(later):
    def step(x):
        y = x * 2
        z = y.exp() if later else y * y  # needs what is overwritten
        y.mul_(3)
        return z.sum() + (0 if later else y.sum())

    x = torch.ones(4, requires_grad=True)
    for _ in range(3):
        step(x).backward()
        assert not _core.tape_keeps()


def test_circles_of_what_is_changed_in_place_go():
    x = torch.ones(4, requires_grad=True)
    before = _core.tape_length()
    for _ in range(1000):
        y = x * 2
        z = (y * y).sum()
        y.mul_(3)
        z.backward()
    kept = (x * x).sum()
    assert _core.tape_length() - before < 1200  # those that are gone are counted, too
    for _ in range(300):
        y = x * 2
        z = (y * y).sum()
        y.mul_(3)
        z.backward()
    del y, z
    x.grad = None
    kept.backward()
    assert numbers(x.grad) == [2.0] * 4


@pytest.mark.parametrize("steps", [3, 400])
@pytest.mark.parametrize("kept", [0, 400])
def test_derivatives_that_are_recorded_stay(steps, kept):
    other = w = torch.ones(3, requires_grad=True)
    for _ in range(kept):
        other = other * 1.0  # an unrelated graph that is alive
    h = w
    for _ in range(steps):
        h = h * 1.0
    loss = (h**2).sum()
    (g,) = torch.autograd.grad(loss, w, create_graph=True)
    (loss + (g**2).sum()).backward()
    assert numbers(w.grad) == [10.0] * 3
    v = torch.ones(3, requires_grad=True)
    h = v
    for _ in range(steps):
        h = h * 1.0
    (h**3).sum().backward(create_graph=True)
    first = v.grad
    v.grad = None
    first.sum().backward()
    assert numbers(v.grad) == [6.0] * 3
    del other


def test_leaves_that_are_garbage_during_a_pass():
    """The collector may run wherever a gradient is made, and free leaves that only it holds."""

    class Box:
        pass

    before = gc.get_threshold()
    try:
        for n in range(40):
            gc.disable()
            box, total = Box(), 0
            box.box = box
            box.x = [torch.ones(2, requires_grad=True) for _ in range(30)]
            for x in box.x:
                total = total + (x * x).sum()
            del box, x
            gc.set_threshold(gc.get_count()[0] + n, 0, 0)
            gc.enable()
            total.backward()
    finally:
        gc.set_threshold(*before)
        gc.enable()


def test_gradients_are_made_in_one_order():
    """Steps that are captured twice record the same, whatever numbers their memory has."""
    orders = []
    for _ in range(3):
        leaves = [torch.ones(2, requires_grad=True) for _ in range(60)]
        total = sum((x * x).sum() for x in reversed(leaves))
        seed = _core.filled_like(total._array, 1)
        bases = _core.tape_backward([total._array], [seed], False, False, []).bases()
        orders.append([bases.index(x._base) for x in leaves])
    assert orders[0] == orders[1] == orders[2] and len(set(orders[0])) == 60


def test_what_needs_no_values_may_be_passed_again():
    leaf = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    x = leaf.float()
    for _ in range(3):
        (x**2).sum().backward()
    assert leaf.grad.tolist() == [6, 12]
    y = (leaf + 1).sum()
    y.backward()
    y.backward()
    assert leaf.grad.tolist() == [8, 14]
    z = leaf * leaf + 1
    z.sum().backward()
    with pytest.raises(RuntimeError, match="let go"):
        z.sum().backward()
