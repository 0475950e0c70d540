"""Hooks that are told gradients: what they are given, and what they may return."""

import pytest
from numbus import nn
from numbus import tensors as T

pytestmark = [pytest.mark.numbus]


class Mixed(nn.Module):
    def forward(self, a, b, kind=None):
        if kind == "two":
            return a * b, a + 1, "text"
        return [a * b] if kind == "list" else a * 2 + b


def plain(grads):
    return [None if g is None else g.tolist() for g in grads]


CALLS = {  # what a module's hooks are told, as PyTorch tells them
    "one": (lambda m, a, b: m(a, b), [[2, 2], [0, 0]], [[1, 1]]),
    "word": (lambda m, a, b: m(a, b, None), [[2, 2], [0, 0], None], [[1, 1]]),
    "first": (lambda m, a, b: m(a, b, "two")[0], [[3, 4], [0, 0], None], [[1, 1], None, None]),
    "second": (lambda m, a, b: m(a, b, "two")[1], [[1, 1], [0, 0], None], [None, [1, 1], None]),
    "both": (lambda m, a, b: sum(m(a, b, "two")[:2]), [[4, 5], [0, 0], None],
             [[1, 1], [1, 1], None]),
    "reversed": (lambda m, a, b: m(b, a), [[0, 0], [1, 1]], [[1, 1]]),
    "twice": (lambda m, a, b: m(a, a), [[2, 2], [1, 1]], [[1, 1]]),
    "keyword": (lambda m, a, b: m(a, b=b), [[2, 2]], [[1, 1]]),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_what_hooks_are_told(name):
    call, inputs, outputs = CALLS[name]
    m, seen, before = Mixed(), [], []
    m.register_full_backward_hook(lambda m, i, o: seen.append((plain(i), plain(o))))
    m.register_full_backward_pre_hook(lambda m, o: before.append(plain(o)))
    a, b = T.tensor([1.0, 2.0], requires_grad=True), T.tensor([3.0, 4.0])
    call(m, a, b).sum().backward()
    assert seen == [(inputs, outputs)] and before == [outputs]


def test_lists_are_not_looked_at():
    m, seen = Mixed(), []
    m.register_full_backward_hook(lambda *given: seen.append(given))
    a = T.tensor([1.0, 2.0], requires_grad=True)
    m(a, T.tensor([3.0, 4.0]), "list")[0].sum().backward()
    assert a.grad.tolist() == [3, 4] and not seen


def test_hooks_change_several_gradients():
    m = Mixed()
    a, b = (T.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    m.register_full_backward_pre_hook(lambda m, o: tuple(None if g is None else 3 * g for g in o))
    m.register_full_backward_hook(lambda m, i, o: (i[0] * 10, i[1] * 100))
    m(a, b).sum().backward()
    assert a.grad.tolist() == [60, 60] and b.grad.tolist() == [300, 300]


RETURNED = {
    "too many": (lambda g: (g, None), RuntimeError), "none": (lambda g: (), RuntimeError),
    "size": (lambda g: (T.ones(3),), RuntimeError), "number": (lambda g: 3, TypeError),
    "element": (lambda g: (3,), TypeError), "type": (lambda g: (g.double(),), RuntimeError),
}  # fmt: skip


@pytest.mark.parametrize("name", RETURNED)
def test_what_hooks_may_not_return(name):
    make, kind = RETURNED[name]
    for register in ("register_full_backward_hook", "register_full_backward_pre_hook"):
        m = nn.Linear(2, 2)
        getattr(m, register)(lambda m, *grads: make(grads[0][0]))
        with pytest.raises(kind):
            m(T.ones(1, 2, requires_grad=True)).sum().backward()


@pytest.mark.parametrize("leaf", [True, False])
def test_hooks_of_tensors_keep_size_and_type(leaf):
    makes = (lambda g: T.ones(3), lambda g: g.double(), lambda g: T.ones(2, 1), lambda g: 3)
    for make in makes:
        kind = TypeError if make is makes[-1] else RuntimeError
        x = T.ones(1, 2, requires_grad=True)
        y = x if leaf else x * 2
        y.register_hook(make)
        with pytest.raises(kind):
            (y * 2).sum().backward()


def test_hooks_without_inputs_that_require_gradients():
    m, seen = nn.Identity(), []
    m.register_full_backward_hook(lambda m, i, o: seen.append(plain(i)))
    x = T.ones(2, requires_grad=True)
    m(x).sum().backward()
    assert seen == [[[1, 1]]] and x.grad.tolist() == [1, 1]
    m = nn.Linear(2, 1)
    m.register_full_backward_hook(lambda m, i, o: (o[0],))
    with pytest.raises(RuntimeError, match="no input requires"):
        m(T.ones(1, 2)).sum().backward()


def test_prehooks_with_keywords_return_both():
    m = nn.Linear(2, 2)
    m.register_forward_pre_hook(lambda m, args, keywords: 3, with_kwargs=True)
    with pytest.raises(RuntimeError, match="arguments and keywords"):
        m(T.ones(1, 2))
