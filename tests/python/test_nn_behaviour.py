"""numbus.nn and numbus.optim: hooks, saving and loading, random numbers, in-place work, errors."""

import copy
import math

import numpy as np
import pytest

nb = pytest.importorskip("numbus")
from numbus import nn, optim  # noqa: E402
from numbus import tensors as T  # noqa: E402
from numbus.nn import functional as F  # noqa: E402

pytestmark = pytest.mark.numbus


def numbers(t):
    return np.asarray(t.detach()._array)


def net():
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))


# In-place functions.


@pytest.mark.parametrize("name", "relu relu6 elu celu selu silu mish leaky_relu hardtanh".split())
def test_in_place_functions_return_their_argument(name):
    function = getattr(F, name)
    x = T.tensor([-2.0, -0.5, 0.5, 7.0], requires_grad=True)
    y = x * 1.5
    found = function(y, inplace=True)
    assert found is y
    found.sum().backward()
    other = T.tensor([-2.0, -0.5, 0.5, 7.0], requires_grad=True)
    expected = function(other * 1.5)
    expected.sum().backward()
    assert (numbers(y) == numbers(expected)).all()
    assert (numbers(x.grad) == numbers(other.grad)).all()
    a = nb.array([-2.0, 3.0])
    assert (function(a, inplace=True) is a and a[0] != -2.0) or name == "hardtanh"
    with pytest.raises(RuntimeError, match="leaf"):
        function(x, inplace=True)


# Dropout and its random numbers.


def test_dropout():
    T.manual_seed(3)
    x = T.ones(200, 300, requires_grad=True)
    y = F.dropout(x, 0.3)
    kept = numbers(y) != 0
    assert abs(kept.mean() - 0.7) < 0.01
    assert np.allclose(numbers(y)[kept], 1 / 0.7)
    y.sum().backward()
    assert (numbers(x.grad) == numbers(y)).all()
    T.manual_seed(3)
    assert (numbers(F.dropout(x, 0.3)) == numbers(y)).all()
    assert (numbers(F.dropout(x, 0.3)) != numbers(y)).any()
    assert (numbers(F.dropout(x, 0.3, training=False)) == 1).all()
    assert (numbers(F.dropout(x, 1.0)) == 0).all()
    z = numbers(F.dropout2d(T.ones(20, 30, 2, 2), 0.5))
    assert ((z == z[:, :, :1, :1]).all()) and 0 < (z == 0).mean() < 1
    with pytest.raises(ValueError, match=r"\[dropout\] p is no probability; got 2"):
        F.dropout(x, 2)
    layer = nn.Dropout(0.5)
    assert (numbers(layer(x)) == 0).any() and (numbers(layer.eval()(x)) == 1).all()


def test_alpha_dropout_keeps_mean_and_variance():
    T.manual_seed(1)
    y = numbers(F.alpha_dropout(T.randn(400, 500), 0.2, training=True))
    assert abs(y.mean()) < 0.02 and abs(y.std() - 1) < 0.02


# Initial weights.


@pytest.mark.parametrize(
    "name, words, low, high, deviation",
    [
        ("xavier_uniform_", {}, -0.1, 0.1, 0.1 / 3**0.5),
        ("xavier_normal_", {"gain": 2.0}, None, None, 2 * (2 / 600) ** 0.5),
        ("kaiming_uniform_", {"a": 5**0.5}, -(200**-0.5), 200**-0.5, (600**-0.5)),
        (
            "kaiming_uniform_",
            {"mode": "fan_out", "nonlinearity": "relu"},
            None,
            None,
            0.0707,
        ),
        ("kaiming_normal_", {}, None, None, 0.1),
        ("normal_", {"mean": 0.0, "std": 3.0}, None, None, 3.0),
        ("uniform_", {"a": -1.0, "b": 2.0}, -1, 2, 3 / 12**0.5),
        ("trunc_normal_", {"std": 0.5, "a": -0.5, "b": 0.5}, -0.5, 0.5, 0.5 * 0.5396),
        ("orthogonal_", {}, None, None, 400**-0.5),
    ],
)
def test_initial_weights(name, words, low, high, deviation):
    T.manual_seed(0)
    t = T.empty(400, 200)
    assert getattr(nn.init, name)(t, **words) is t
    a = numbers(t)
    assert abs(a.std() / deviation - 1) < 0.02
    if low is not None:
        assert low <= a.min() < low * 0.98 and high * 0.98 < a.max() <= high
    if name == "orthogonal_":
        assert np.allclose(a.T @ a, np.eye(200), atol=1e-5)


def test_constant_initial_weights():
    assert (numbers(nn.init.eye_(T.empty(2, 3))) == np.eye(2, 3)).all()
    x = T.randn(1, 4, 5)
    w = nn.init.dirac_(T.empty(4, 2, 3), groups=2)
    assert np.allclose(numbers(F.conv1d(x, w, padding=1, groups=2)), numbers(x))
    s = numbers(nn.init.sparse_(T.empty(10, 5), 0.4))
    assert ((s == 0).sum(axis=0) == 4).all()
    assert nn.init.calculate_gain("leaky_relu", 0.2) == math.sqrt(2 / 1.04)
    with pytest.raises(ValueError, match="nonlinearity not known; got 'sinc'"):
        nn.init.calculate_gain("sinc")
    with pytest.raises(ValueError, match="fewer than 2 dimensions"):
        nn.init.xavier_uniform_(T.empty(3))


@pytest.mark.parametrize(
    "make, bound",
    [
        (lambda: nn.Linear(64, 300), 1 / 8),
        (lambda: nn.Conv2d(4, 300, 4), 1 / 8),
        (lambda: nn.ConvTranspose2d(30, 4, 4), 1 / 8),
        (lambda: nn.LSTM(20, 64), 1 / 8),
        (lambda: nn.GRUCell(20, 64), 1 / 8),
    ],
)
def test_layers_begin_uniform(make, bound):
    for p in make().parameters():
        a = numbers(p)
        if a.size > 100:
            assert 0.95 * bound < a.max() <= bound and -bound <= a.min() < -0.95 * bound


# Modules: names, saving, loading, hooks.


def test_parameters_and_names():
    m = nn.Module()
    m.a = nn.Linear(2, 2)
    m.b = m.a
    m.w = nn.Parameter(T.zeros(3))
    m.register_buffer("c", T.ones(2))
    m.register_buffer("d", T.ones(1), persistent=False)
    m.plain = T.ones(4)
    assert [n for n, _ in m.named_parameters()] == ["w", "a.weight", "a.bias"]
    assert [n for n, _ in m.named_modules()] == ["", "a"]
    assert [n for n, _ in m.named_buffers()] == ["c", "d"]
    assert list(m.state_dict()) == ["w", "c", "a.weight", "a.bias", "b.weight", "b.bias"]
    assert m.get_parameter("a.bias") is m.a.bias and m.get_submodule("b") is m.a
    m.w = None
    assert [n for n, _ in m.named_parameters()] == ["a.weight", "a.bias"]
    with pytest.raises(TypeError, match="cannot assign a Tensor as parameter 'w'"):
        m.w = T.zeros(3)
    del m.b
    assert not hasattr(m, "b") and hasattr(m, "a")
    with pytest.raises(AttributeError, match="'Module' object has no attribute 'nothing'"):
        getattr(m, "nothing")  # noqa: B009
    with pytest.raises(KeyError, match="dot"):
        m.register_parameter("x.y", None)
    with pytest.raises(KeyError, match="exists already"):
        m.register_buffer("plain", None)

    class Late(nn.Module):
        def __init__(self):
            self.layer = nn.Linear(1, 1)

    with pytest.raises(AttributeError, match=r"super\(\).__init__\(\) first"):
        Late()
    with pytest.raises(NotImplementedError, match='missing the required "forward"'):
        nn.Module()(1)


def test_loading_says_what_does_not_fit():
    m = net()
    state = m.state_dict()
    state["0.weight"] = T.zeros(4, 5)
    state["extra"] = T.zeros(1)
    del state["2.bias"]
    with pytest.raises(RuntimeError) as error:
        m.load_state_dict(state)
    text = str(error.value)
    assert "Error(s) in loading state_dict for Sequential" in text
    assert 'Unexpected key(s) in state_dict: "extra"' in text
    assert 'Missing key(s) in state_dict: "2.bias"' in text
    assert (
        "size mismatch for 0.weight: copying a param with shape (4, 5) from checkpoint, the shape "
        "in current model is (4, 3)" in text
    )
    state["0.weight"] = T.ones(4, 3)
    found = m.load_state_dict(state, strict=False)
    assert found.missing_keys == ["2.bias"] and found.unexpected_keys == ["extra"]
    assert (numbers(m[0].weight) == 1).all() and m[0].weight.requires_grad
    same = net()
    assert str(same.load_state_dict(net().state_dict())) == "<All keys matched successfully>"
    given = {k: T.zeros(*v.shape) for k, v in same.state_dict().items()}
    same.load_state_dict(given, assign=True)
    assert numbers(same[2].weight).sum() == 0 and isinstance(same[2].weight, nn.Parameter)


def test_state_is_shared_and_copies_are_not():
    m = net()
    state, other = m.state_dict(), copy.deepcopy(m)
    with T.no_grad():
        m[0].weight.fill_(5.0)
    assert (numbers(state["0.weight"]) == 5).all() and not (numbers(other[0].weight) == 5).any()
    assert other[0].weight is not m[0].weight and other[0].weight.requires_grad
    F.mse_loss(other(T.ones(1, 3)), T.ones(1, 2)).backward()
    assert m[0].weight.grad is None and other[0].weight.grad is not None


def test_conversion():
    m = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    p = m[0].weight
    m.double()
    assert m[0].weight is p and p.dtype == T.float64 and p.requires_grad and p.is_leaf
    assert m[1].running_mean.dtype == T.float64 and m[1].num_batches_tracked.dtype == T.int64
    m(T.ones(3, 2, dtype=T.float64)).sum().backward()
    assert p.grad.dtype == T.float64
    assert m.to(T.float32)[0].weight.grad.dtype == T.float32
    assert m.to("cpu") is m
    with pytest.raises(TypeError, match="floating-point dtypes only"):
        m.to(T.int64)
    m.requires_grad_(False)
    assert not any(p.requires_grad for p in m.parameters())
    assert not m.eval()[1].training and m.train()[1].training
    seen = []
    m.apply(lambda module: seen.append(type(module).__name__))
    assert seen == ["Linear", "BatchNorm1d", "Sequential"]


def test_forward_hooks():
    m, seen = nn.Linear(2, 2), []
    first = m.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
    second = m.register_forward_hook(lambda module, args, y: seen.append(args) or y + 1)
    x = T.ones(1, 2)
    expected = F.linear(x * 2, m.weight, m.bias) + 1
    assert np.allclose(numbers(m(x)), numbers(expected))
    assert (numbers(seen[0][0]) == 2).all()
    first.remove()
    second.remove()
    assert np.allclose(numbers(m(x)), numbers(F.linear(x, m.weight, m.bias)))
    with m.register_forward_hook(lambda m, a, k, y: y * len(k), with_kwargs=True):
        assert (numbers(m(input=x)) == numbers(m.forward(x))).all()
    order = []
    m.register_forward_hook(lambda *_: order.append(1))
    m.register_forward_hook(lambda *_: order.append(0), prepend=True)
    m(x)
    assert order == [0, 1]


def test_backward_hooks():
    m, seen = nn.Linear(2, 3), []
    m.register_full_backward_hook(lambda module, i, o: seen.append((i, o)))
    x = T.randn(4, 2, requires_grad=True)
    y = m(x)
    (y * 2).sum().backward()
    ((gx,), (gy,)) = seen[0]
    assert (numbers(gy) == 2).all()
    assert np.allclose(numbers(gx), numbers(x.grad))
    handle = m.register_full_backward_hook(lambda module, i, o: (i[0] * 10,))
    before = numbers(x.grad).copy()
    x.grad = None
    (m(x) * 2).sum().backward()
    assert np.allclose(numbers(x.grad), 10 * before)
    handle.remove()
    x.grad = None
    with m.register_full_backward_pre_hook(lambda module, o: (o[0] * 3,)):
        (m(x) * 2).sum().backward()
    assert np.allclose(numbers(x.grad), 3 * before)


def test_containers():
    m = nn.ModuleList([nn.Linear(1, 1), nn.ReLU()])
    m.append(nn.Tanh()).insert(0, nn.Sigmoid())
    assert [type(x).__name__ for x in m] == ["Sigmoid", "Linear", "ReLU", "Tanh"]
    assert type(m[-1]) is nn.Tanh and len(m[1:3]) == 2 and m[1] in m
    del m[0]
    assert list(m.state_dict()) == ["0.weight", "0.bias"]
    with pytest.raises(IndexError, match="index 9 is out of range"):
        m[9]
    s = nn.Sequential(nn.ReLU()) + nn.Sequential(nn.Tanh())
    s[0] = nn.Identity()
    assert repr(s) == "Sequential(\n  (0): Identity()\n  (1): Tanh()\n)"
    d = nn.ModuleDict({"a": nn.ReLU()})
    d["b"] = nn.Tanh()
    assert list(d) == ["a", "b"] and "b" in d and d.pop("a") is not None and len(d) == 1
    p = nn.ParameterList([T.ones(2), nn.Parameter(T.zeros(3))])
    assert [tuple(x.shape) for x in p.parameters()] == [(2,), (3,)] and len(p) == 2
    q = nn.ParameterDict({"x": T.ones(1)})
    assert [n for n, _ in q.named_parameters()] == ["x"]


# Errors name the layer.


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.fc = nn.Linear(10, 2)

    def forward(self, x):
        return self.fc(self.conv(x))


def test_errors_name_the_layer():
    m = nn.Sequential(nn.Identity(), Inner())
    with pytest.raises(ValueError) as error:
        m(T.ones(1, 3, 5, 5))
    assert str(error.value) == (
        "[linear] input does not fit weight of shape (2, 10); got input of shape (1, 4, 3, 3); "
        "expected (..., 10)"
    )
    assert error.value.__notes__ == [
        "in layer '1.fc': Linear(in_features=10, out_features=2, bias=True)"
    ]
    with pytest.raises(ValueError, match="2 channels; expected 3 channels") as error:
        m(T.ones(1, 2, 5, 5))
    assert error.value.__notes__[0].startswith("in layer '1.conv': Conv2d(3, 4,")


@pytest.mark.parametrize(
    "call, kind, text",
    [
        (lambda: F.relu(None), TypeError, r"\[relu\] input is missing"),
        (lambda: F.softmax(T.tensor([1, 2]), 0), TypeError, "not floating point; got dtype int64"),
        (lambda: F.softmax(T.ones(2), 3), IndexError, "axis 3 is out of bounds"),
        (lambda: F.gelu(T.ones(2), "x"), ValueError, "approximate not known; got 'x'"),
        (lambda: F.mse_loss(T.ones(2), T.ones(3)), ValueError, "target does not fit the input"),
        (lambda: F.mse_loss(T.ones(2), T.ones(2), reduction="x"), ValueError, "reduction not"),
        (lambda: F.nll_loss(T.ones(2, 3), T.ones(2)), TypeError, "target are no integers"),
        (lambda: F.nll_loss(T.ones(2, 3), T.tensor([1])), ValueError, "got .1,.; expected"),
        (lambda: F.cross_entropy(T.ones(2, 3), T.ones(2, 4)), ValueError, "target of floats"),
        (lambda: F.cross_entropy(T.ones(2, 3), T.tensor([0, 1]), weight=T.ones(2)), ValueError,
         r"weight is not one a class; got \(2,\); expected \(3,\)"),
        (lambda: F.cross_entropy(T.ones(2, 3), T.tensor([0, 1]), label_smoothing=2), ValueError,
         "label_smoothing; got 2"),
        (lambda: F.binary_cross_entropy(T.ones(2), T.ones(3)), ValueError, "target does not fit"),
        (lambda: F.huber_loss(T.ones(2), T.ones(2), delta=0), ValueError, "delta is not positive"),
        (lambda: F.conv2d(T.ones(1, 3, 4, 4), T.ones(2, 4, 3, 3)), ValueError, "expected 4"),
        (lambda: F.conv2d(T.ones(4, 4), T.ones(2, 4, 3, 3)), ValueError, "another number of axes"),
        (lambda: F.conv2d(T.ones(1, 1, 2, 2), T.ones(1, 1, 3, 3)), ValueError, "beyond the padded"),
        (lambda: F.conv1d(T.ones(1, 1, 5), T.ones(1, 1, 3), stride=2, padding="same"), ValueError,
         "'same' with a stride"),
        (lambda: F.conv1d(T.ones(1, 1, 5), T.ones(1, 1, 3), padding="x"), ValueError, "padding n"),
        (lambda: F.conv1d(T.ones(1, 1, 5), T.ones(1, 1, 3, dtype=T.float64)), TypeError, "one d"),
        (lambda: F.conv1d(T.ones(1, 1, 5), T.ones(1, 1, 3), stride=(1, 1)), ValueError, "stride"),
        (lambda: F.conv1d(T.ones(1, 1, 5), T.ones(1, 1, 3), T.ones(2)), ValueError, "bias does"),
        (lambda: F.conv_transpose1d(T.ones(1, 1, 5), T.ones(1, 1, 3), output_padding=1), ValueError,
         "output_padding is not below"),
        (lambda: F.max_pool2d(T.ones(1, 1, 4, 4), 2, padding=2), ValueError, "more than half"),
        (lambda: F.max_pool2d(T.ones(1, 1, 2, 2), 3), ValueError, "reaches beyond the input"),
        (lambda: F.batch_norm(T.ones(1, 3), None, None, training=True), ValueError, "1 value"),
        (lambda: F.batch_norm(T.ones(2, 3), None, None), ValueError, "statistics are missing"),
        (lambda: F.layer_norm(T.ones(2, 3), (4,)), ValueError, r"expected \(..., 4\)"),
        (lambda: F.group_norm(T.ones(2, 3), 2), ValueError, "are not divided; got 2"),
        (lambda: F.embedding(T.ones(2), T.ones(3, 3)), TypeError, "input are no integers"),
        (lambda: F.embedding(T.tensor([1]), T.ones(3, 3), sparse=True), NotImplementedError, "sp"),
        (lambda: F.one_hot(T.tensor([3]), 2), ValueError, "integers are no classes; got 3 to 3"),
        (lambda: F.pad(T.ones(1, 3), (1, 1), "x"), ValueError, "mode not known"),
        (lambda: F.pad(T.ones(1, 3), (3, 1), "reflect"), ValueError, "borders too long"),
        (lambda: F.scaled_dot_product_attention(T.ones(2, 3), T.ones(2, 4), T.ones(2, 3)),
         ValueError, "do not fit"),
        (lambda: nn.BatchNorm2d(3)(T.ones(2, 3)), ValueError, "input is no 4D tensor"),
        (lambda: nn.BatchNorm1d(3)(T.ones(2, 4)), ValueError, r"expected \(N, 3, ...\)"),
        (lambda: nn.LSTM(3, 4)(T.ones(2, 2, 5)), ValueError, "does not fit input_size=3"),
        (lambda: nn.GRU(3, 4)(T.ones(2, 2, 3), T.ones(1, 3, 4)), ValueError, "h_0 does not fit"),
        (lambda: nn.Conv2d(3, 4, 3, groups=2), ValueError, "groups do not divide"),
        (lambda: nn.MultiheadAttention(5, 2), ValueError, "divisible by num_heads"),
        (lambda: nn.GroupNorm(2, 3), ValueError, "divisible by num_groups"),
        (lambda: nn.Dropout(1.5), ValueError, "no probability"),
        (lambda: nn.Embedding(3, 2, padding_idx=3), ValueError, "within num_embeddings"),
        (lambda: nn.DataParallel(nn.ReLU(), [0, 1]), NotImplementedError, "several devices"),
        (lambda: optim.SGD([], 0.1), ValueError, "empty parameter list"),
        (lambda: optim.SGD(T.ones(2, requires_grad=True)), TypeError, "one tensor"),
        (lambda: optim.SGD([T.ones(2, requires_grad=True) * 2]), ValueError, "non-leaf"),
        (lambda: optim.SGD([T.ones(2, requires_grad=True)], lr=-1), ValueError, "rate; got -1"),
        (lambda: optim.SGD([T.ones(2, requires_grad=True)], nesterov=True), ValueError, "Nesterov"),
        (lambda: optim.Adam([T.ones(2, requires_grad=True)], betas=(1, 0)), ValueError, "index 0"),
        (lambda: optim.Adam([T.ones(2, requires_grad=True)], differentiable=True),
         NotImplementedError, "not yet differentiable"),
    ],
)  # fmt: skip
def test_errors(call, kind, text):
    with pytest.raises(kind, match=text) as error:
        call()
    assert "; got " in str(error.value) and "; expected " in str(error.value)


@pytest.mark.parametrize("bad", [3, -1, -3])
@pytest.mark.parametrize("with_gradient", [False, True])
def test_numbers_that_are_no_classes_raise(bad, with_gradient):
    x = T.randn(4, 3, requires_grad=with_gradient)
    for call in (
        lambda: F.cross_entropy(x, T.tensor([0, 1, bad, 2])),
        lambda: F.nll_loss(x, T.tensor([0, 1, bad, 2]), reduction="none"),
        lambda: F.embedding(T.tensor([[0], [bad + (bad > 0)]]), x),
    ):
        with pytest.raises(IndexError, match="out of bounds"):
            print(call())


def test_warnings():
    with pytest.warns(UserWarning, match="target is broadcast"):
        F.mse_loss(T.ones(2, 1), T.ones(2))
    with pytest.warns(UserWarning, match="size_average and reduce are deprecated"):
        assert tuple(F.mse_loss(T.ones(2), T.ones(2), reduce=False).shape) == (2,)
    with pytest.warns(UserWarning, match="dim is not given"):
        F.softmax(T.ones(2, 2))


# Optimizers.


def test_groups_closures_and_zero_grad():
    a, b = T.ones(2, requires_grad=True), T.ones(3, requires_grad=True)
    o = optim.SGD([{"params": [a]}, {"params": b, "lr": 1.0}], lr=0.5)
    calls = []

    def closure():
        calls.append(T.is_grad_enabled())
        o.zero_grad()
        loss = (a.sum() + b.sum()) * 1.0
        loss.backward()
        return loss

    with T.no_grad():
        loss = o.step(closure)
    assert calls == [True] and float(loss) == 5
    assert (numbers(a) == 0.5).all() and (numbers(b) == 0).all()
    assert a.requires_grad and a.is_leaf
    o.zero_grad(set_to_none=False)
    assert (numbers(a.grad) == 0).all()
    o.step()
    o.zero_grad()
    assert a.grad is None
    o.step()
    assert (numbers(a) == 0.5).all()
    c = T.ones(1, requires_grad=True)
    o.add_param_group({"params": c})
    assert [g["lr"] for g in o.param_groups] == [0.5, 1.0, 0.5]
    with pytest.raises(ValueError, match="more than one parameter group"):
        o.add_param_group({"params": [a]})
    state = o.state_dict()
    assert [g["params"] for g in state["param_groups"]] == [[0], [1], [2]]
    with pytest.raises(ValueError, match="different number of parameter groups"):
        optim.SGD([a], lr=1).load_state_dict(state)
    seen = []
    with o.register_step_post_hook(lambda *_: seen.append(1)):
        o.step()
    assert seen == [1] and repr(o).startswith("SGD (\nParameter Group 0\n")


def test_a_net_learns():
    T.manual_seed(0)
    m = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 2))
    o = optim.Adam(m.parameters(), lr=0.05)
    schedule = optim.lr_scheduler.StepLR(o, 100, 0.3)
    x = T.randn(64, 3)
    y = (x[:, 0] * x[:, 1] > 0).long()
    losses = []
    for _ in range(300):
        loss = F.cross_entropy(m(x), y)
        o.zero_grad()
        loss.backward()
        o.step()
        schedule.step()
        losses.append(loss.item())
    assert losses[-1] < 0.4 * losses[0]


@pytest.mark.parametrize("p", [1.0, 2.0, 3.0, math.inf])
def test_bounded_gradients(p):
    ws = [T.ones(2, 2, requires_grad=True), T.ones(3, requires_grad=True)]
    gradients = [np.arange(4.0).reshape(2, 2), np.array([-5.0, 0.0, 2.0])]
    for w, g in zip(ws, gradients):
        w.grad = T.tensor(g.astype("float32"))
    every = np.concatenate([g.ravel() for g in gradients])
    total = nn.utils.clip_grad_norm_(ws, 1.5, p)
    expected = np.linalg.norm(every, p)
    assert abs(float(total) - expected) < 1e-5
    after = np.concatenate([numbers(w.grad).ravel() for w in ws])
    assert np.allclose(after, every * 1.5 / (expected + 1e-6), atol=1e-6)
    assert abs(float(nn.utils.clip_grad_norm_(ws, 100.0, p)) - 1.5) < 1e-5
    assert np.allclose(np.concatenate([numbers(w.grad).ravel() for w in ws]), after)
    nn.utils.clip_grad_value_(ws, 0.1)
    assert max(abs(numbers(w.grad)).max() for w in ws) <= np.float32(0.1)
    ws[0].grad = T.tensor([[math.nan, 0.0], [0.0, 0.0]])
    with pytest.raises(RuntimeError, match="non-finite"):
        nn.utils.clip_grad_norm_(ws, 1.0, p, error_if_nonfinite=True)
    vector = nn.utils.parameters_to_vector(ws)
    nn.utils.vector_to_parameters(vector * 3, ws)
    assert (numbers(ws[1]) == 3).all()


@pytest.mark.parametrize("kind", ["int64", "int32", "uint8", "int8"])
def test_losses_of_integer_targets_have_the_type_of_the_input(kind):
    x = T.tensor([0.25, -1.5, 2.0])
    for name in (
        "mse_loss l1_loss smooth_l1_loss huber_loss soft_margin_loss hinge_embedding_loss "
        "poisson_nll_loss"
    ).split():
        whole = T.tensor([1, 0, 1]).to(getattr(T, kind))
        for t in (x, x.half()):
            found = getattr(F, name)(t, whole)
            assert found.dtype == t.dtype
            assert found.item() == pytest.approx(getattr(F, name)(t, whole.to(t.dtype)).item())
        assert F.margin_ranking_loss(x, -x, whole).dtype == T.float32
        assert F.gaussian_nll_loss(x, whole, x * x).dtype == T.float32
    assert F.huber_loss(x, T.ones(3, dtype=T.float64)).dtype == T.float32


def test_batches_without_examples_move_no_statistics():
    for m, shape in ((nn.BatchNorm1d(5), (0, 5, 9)), (nn.BatchNorm2d(5), (0, 5, 2, 2))):
        x = T.ones(shape, requires_grad=True)
        y = m(x)
        y.sum().backward()
        assert y.shape == shape and x.grad.shape == shape and m.weight.grad.tolist() == [0] * 5
        assert m.running_mean.tolist() == [0] * 5 and m.running_var.tolist() == [1] * 5
    m = nn.InstanceNorm1d(5, track_running_stats=True)
    assert m(T.ones(0, 5, 9)).shape == (0, 5, 9) and m.running_var.tolist() == [1] * 5


def test_power_means_of_negative_windows():
    x = T.tensor([[[-1.0, 0, 1, 2, 0, 0]]], requires_grad=True)
    y = F.lp_pool1d(x, 1, 2)
    assert y.tolist() == [[[-1, 3, 0]]]
    y = F.lp_pool1d(x, 2, 2)
    y.sum().backward()
    assert x.grad.tolist() == [[[-1, 0, pytest.approx(5**-0.5), pytest.approx(2 * 5**-0.5), 0, 0]]]
    assert F.lp_pool1d(x, 3, 2).isnan().tolist() == [[[True, False, False]]]


@pytest.mark.parametrize("height", [6, 7])
def test_pooling_of_parts_with_parts_of_gradients(height):
    """What lies somewhere in other memory: the operand, the gradient, both."""
    rng = np.random.default_rng(height)
    drawn = rng.normal(size=(3, 2, height, height))
    seeds = rng.normal(size=(3, 2, height // 2, height // 2))
    whole = T.tensor(drawn, requires_grad=True)
    F.max_pool2d(whole, 2).backward(T.tensor(seeds))
    around = np.zeros((4, 2, height + 2, height + 3))
    around[1:, :, 1:-1, 2:-1] = drawn
    wide = np.zeros((3, 4, height // 2 + 2, height // 2 + 2))
    wide[:, 1:3, 1:-1, 1:-1] = seeds
    part = T.tensor(around, requires_grad=True)
    pooled = F.max_pool2d(part[1:, :, 1:-1, 2:-1], 2)
    pooled.backward(T.tensor(wide)[:, 1:3, 1:-1, 1:-1])
    want = np.zeros(around.shape)
    want[1:, :, 1:-1, 2:-1] = numbers(whole.grad)
    assert np.array_equal(numbers(part.grad), want) and np.abs(want).sum() > 1
    padded = T.tensor(drawn, requires_grad=True)
    F.pad(F.max_pool2d(padded, 2), (2, 1, 1, 2)).backward(
        F.pad(T.tensor(seeds), (2, 1, 1, 2), value=9.0)
    )
    assert np.array_equal(numbers(padded.grad), numbers(whole.grad))
