"""Names of PyTorch that public training code imports: they do what they do in PyTorch 2.11."""

import math

import numbus.compat.torch as torch
import numpy as np
import pytest
from numbus.compat.rewrite import OF_DISTRIBUTIONS, replacement
from numbus.nn import functional as F


def test_modules_of_their_names():
    import importlib

    names = [f"torch.distributions.{name}" for name in OF_DISTRIBUTIONS]
    names += [
        "torch._dynamo", "torch.autograd.function", "torch.autograd.profiler",
        "torch.nn.parallel.distributed", "torch.nn.utils.convert_parameters",
        "torch.nn.utils.stateless", "torch.optim.optimizer", "torch.optim.swa_utils",
        "torch.profiler", "torch.random", "torch.testing", "torch.types",
    ]  # fmt: skip
    for name in names:
        assert importlib.import_module(replacement(name)).__name__
    assert importlib.import_module(replacement("torch.optim.optimizer")).required
    assert torch.nn.modules.activation.MultiheadAttention is torch.nn.MultiheadAttention


NAMES = [
    (torch.tensor(1.0), "torch.FloatTensor"), (torch.tensor([1]), "torch.LongTensor"),
    (torch.ones(2, dtype=torch.bfloat16), "torch.BFloat16Tensor"), (3, "int"), ([1], "list"),
    (None, "NoneType"), (torch, "torch"), (torch.float32, "torch.dtype"),
    (torch.optim.SGD, "torch.optim.sgd.SGD"), (torch.nn.init, "torch.nn.init"),
    (torch.nn.Linear(1, 1), "torch.nn.modules.linear.Linear"),
    (torch.nn.BatchNorm1d, "torch.nn.modules.batchnorm.BatchNorm1d"),
    (torch.nn.LayerNorm, "torch.nn.modules.normalization.LayerNorm"),
    (torch.nn.MultiheadAttention, "torch.nn.modules.activation.MultiheadAttention"),
]  # fmt: skip


@pytest.mark.parametrize("x, name", NAMES, ids=[name for _, name in NAMES])
def test_typename(x, name):
    assert torch.typename(x).replace("cuda.", "") == name


ONE, TWO = [1.0, 2.0], [1.0, 2.1]
PAIRS = [
    (ONE, TWO, {}, AssertionError), (ONE, [1.0, 2.0000001], {}, None), (1, 1.0, {}, AssertionError),
    (1, 1.0, {"check_dtype": False}, None), ([1.0], (1.0,), {}, None),
    ([1, {"a": 2.0}], [1, {"a": 2.0}], {}, None), ({"a": 1}, {"b": 1}, {}, AssertionError),
    ([1, 2], [1, 2, 3], {}, AssertionError), (1.0, 1.0 + 1e-6, {}, AssertionError),
    (torch.ones(2), torch.ones(3), {}, AssertionError),
    (torch.ones(2), torch.ones(2).double(), {}, AssertionError),
    (torch.ones(2), torch.ones(2).double(), {"check_dtype": False}, None),
    (torch.tensor(math.nan), torch.tensor(math.nan), {}, AssertionError),
    (torch.tensor(math.nan), torch.tensor(math.nan), {"equal_nan": True}, None),
    (torch.tensor([1, 2]), torch.tensor([1, 3]), {}, AssertionError),
    (torch.tensor([1, 2]), torch.tensor([1, 3]), {"rtol": 0, "atol": 1}, None),
    (torch.tensor(1e-6), torch.tensor(0.0), {}, None),
    (torch.tensor([True]), torch.tensor([False]), {}, AssertionError),
    (torch.ones(1), 1.0, {}, TypeError), (torch.ones(1), torch.ones(1), {"rtol": 1}, ValueError),
    (torch.ones(2, 2).t(), torch.ones(2, 2), {"check_stride": True}, AssertionError),
    (torch.ones(2).half(), torch.ones(2).half() * 1.01, {}, AssertionError),
    ("a", "a", {}, None), (None, None, {}, None),
]  # fmt: skip


@pytest.mark.parametrize("k", range(len(PAIRS)))
def test_assert_close(k):
    one, other, keywords, error = PAIRS[k]
    if error is None:
        torch.testing.assert_close(one, other, **keywords)
        return
    with pytest.raises(error, match="assert_close"):
        torch.testing.assert_close(one, other, **keywords)


def test_assert_close_tells():
    with pytest.raises(AssertionError, match=r"1 of 2 elements .* first at \(1,\).*2\.0.*at key"):
        try:
            torch.testing.assert_close({"x": torch.tensor(ONE)}, {"x": torch.tensor(TWO)})
        except AssertionError as error:
            raise AssertionError(f"{error} at key") from None
    with pytest.raises(AssertionError, match=r"^mine$"):
        torch.testing.assert_close(1, 2, msg="mine")
    with pytest.raises(AssertionError, match=r"^so: "):
        torch.testing.assert_close(1, 2, msg=lambda text: "so: " + text)


def test_fork_rng():
    torch.manual_seed(0)
    with torch.random.fork_rng():
        first = torch.rand(300)
        torch.randn(1000)
    assert torch.equal(first, torch.rand(300))
    with torch.random.fork_rng(enabled=False):
        second = torch.rand(3)
    assert not torch.equal(second, torch.rand(3))


def test_once_differentiable():
    from numbus.tensors.autograd import Function, once_differentiable

    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        @once_differentiable
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * g * x**2

    x = torch.tensor([2.0], requires_grad=True)
    Cube.apply(x).backward()
    assert x.grad.tolist() == [12]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        torch.autograd.grad((Cube.apply(x) ** 2).sum(), x, create_graph=True)


def test_settings_and_marks():
    @torch.profiler.record_function("f")
    def f(x):
        return x + 1

    assert f(1) == 2
    with torch.cuda.nvtx.range("part"):
        assert torch.cuda.nvtx.range_push("inner") == 1
        assert torch.cuda.nvtx.range_pop() == 1
    with torch.cuda.amp.autocast(enabled=False):
        pass
    assert issubclass(torch.cuda.OutOfMemoryError, MemoryError)
    assert torch.OutOfMemoryError is torch.cuda.OutOfMemoryError
    with torch.backends.cuda.sdp_kernel(enable_flash=False):
        assert not torch.backends.cuda.flash_sdp_enabled()
        assert torch.backends.cuda.math_sdp_enabled()
    assert torch.backends.cuda.flash_sdp_enabled()
    states = torch.cuda.get_rng_state_all()
    assert len(states) == torch.cuda.device_count()
    torch.cuda.set_rng_state_all(states)
    torch._dynamo.config.suppress_errors = True
    torch._dynamo.reset()


def test_default_tensor_type():
    before = torch.get_default_device()
    try:
        torch.set_default_tensor_type("torch.DoubleTensor")
        assert torch.ones(1).dtype == torch.float64
        torch.set_default_tensor_type(torch.FloatTensor)
        assert torch.ones(1).dtype == torch.float32
        for wrong in (torch.LongTensor, "torch.LongTensor", torch.float32):
            with pytest.raises((TypeError, ValueError)):
                torch.set_default_tensor_type(wrong)
    finally:
        torch.set_default_tensor_type(torch.FloatTensor)
        torch.set_default_device(before if before.type == "cuda" else None)


@pytest.mark.parametrize("kdim", [8, 6])
@pytest.mark.parametrize("masked", [False, True])
def test_attention_by_given_weights(kdim, masked):
    torch.manual_seed(2)
    m = torch.nn.MultiheadAttention(8, 2, add_bias_kv=masked, kdim=kdim)
    torch.nn.init.normal_(m.in_proj_bias)
    q, k, v = torch.randn(4, 3, 8), torch.randn(5, 3, kdim), torch.randn(5, 3, 8)
    mask = torch.ones(4, 5).tril(1).logical_not() if masked else None
    padding = torch.tensor([[0, 0, 0, 0, 1]] * 3).bool() if masked else None
    wanted = m(q, k, v, attn_mask=mask, key_padding_mask=padding)
    got = F.multi_head_attention_forward(
        q, k, v, 8, 2, m.in_proj_weight, m.in_proj_bias, m.bias_k, m.bias_v, False, 0.0,
        m.out_proj.weight, m.out_proj.bias, attn_mask=mask, key_padding_mask=padding,
        use_separate_proj_weight=kdim != 8, q_proj_weight=m.q_proj_weight,
        k_proj_weight=m.k_proj_weight, v_proj_weight=m.v_proj_weight,
    )  # fmt: skip
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one.detach().cpu(), other.detach().cpu(), rtol=1e-5, atol=1e-6)
    with pytest.raises(NotImplementedError, match="static_k"):
        F.multi_head_attention_forward(
            q, k, v, 8, 2, m.in_proj_weight, m.in_proj_bias, None, None, False, 0.0,
            m.out_proj.weight, m.out_proj.bias, static_k=k,
        )  # fmt: skip
