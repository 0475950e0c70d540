"""Layers whose numbers are drawn, buffers as attributes, and what new layers refuse."""

import pytest

nb = pytest.importorskip("numbus")
from numbus import nn, tensors  # noqa: E402
from numbus.nn import functional as F  # noqa: E402

pytestmark = pytest.mark.numbus


def test_slopes_of_rrelu():
    x = tensors.full((1000,), -1.0, requires_grad=True)
    y = nn.RReLU()(x)
    y.sum().backward()
    assert bool((y >= -1 / 3).all()) and bool((y <= -1 / 8).all())
    assert y.unique().numel() > 900
    assert bool((x.grad == -y).all())
    z = tensors.tensor([-1.0, 2.0])
    assert nn.RReLU(0.1, 0.3).eval()(z).tolist() == pytest.approx([-0.2, 2])
    assert F.rrelu_(z, 0.5, 0.5) is z
    assert z.tolist() == [-0.5, 2.0]


def test_whole_channels_of_alpha_dropout():
    y = nn.FeatureAlphaDropout(0.5)(tensors.ones(8, 16, 5))
    assert bool((y == y[:, :, :1]).all())
    assert y.unique().numel() == 2
    with pytest.raises(ValueError, match="another number of axes"):
        F.feature_alpha_dropout(tensors.ones(3), training=True)


@pytest.mark.parametrize("count", [2, 3])
def test_drawn_windows(count):
    x = tensors.rand(3, 2, *(9, 8, 7)[:count], dtype=tensors.float64, requires_grad=True)
    pool = getattr(nn, f"FractionalMaxPool{count}d")(2, output_ratio=0.5, return_indices=True)
    y, places = pool(x)
    assert y.shape == (3, 2, *(4, 4, 3)[:count])
    assert bool((x.flatten(2).gather(2, places.flatten(2)) == y.flatten(2)).all())
    y.sum().backward()
    assert float(x.grad.sum()) == y.numel()
    drawn = [pool(x)[1].tolist() for _ in range(8)]
    assert any(places != drawn[0] for places in drawn)
    with pytest.raises(ValueError, match="do not fit the input"):
        getattr(F, f"fractional_max_pool{count}d")(x, 5, output_size=6)
    with pytest.raises(ValueError, match="one of output_size and output_ratio"):
        getattr(F, f"fractional_max_pool{count}d")(x, 2)


def test_lazy_instance_norm():
    module = nn.LazyInstanceNorm2d()
    x = tensors.rand(2, 3, 4, 5)
    y = module(x)
    assert type(module) is nn.InstanceNorm2d
    assert sorted(module.state_dict()) == [
        "bias", "num_batches_tracked", "running_mean", "running_var", "weight",
    ]  # fmt: skip
    assert bool((y - F.instance_norm(x)).abs().max() < 1e-6)


def test_buffers_as_attributes():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.kept = nn.Buffer(tensors.arange(3.0))
            self.dropped = nn.Buffer(tensors.ones(2), persistent=False)

    net = Net()
    assert list(net.state_dict()) == ["kept"]
    assert [name for name, _ in net.named_buffers()] == ["kept", "dropped"]
    assert list(net.parameters()) == []
    assert isinstance(net.kept, nn.Buffer)
    assert net.double().kept.dtype is tensors.float64


def test_bases_of_recurrent_layers():
    assert isinstance(nn.LSTM(2, 3), nn.RNNBase)
    assert isinstance(nn.GRUCell(2, 3), nn.RNNCellBase)


def test_predictions_of_adaptive_softmax():
    tensors.manual_seed(0)
    module = nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 9], div_value=2.0)
    x = tensors.randn(30, 8) * 4
    chances = module.log_prob(x)
    assert tensors.allclose(chances.exp().sum(1), tensors.ones(30))
    found = module.predict(x)
    near = chances.argmax(1) < 5
    assert bool((found[near] == chances.argmax(1)[near]).all())
    target = tensors.arange(30) % 20
    assert tensors.allclose(module(x, target).output, chances.gather(1, target[:, None])[:, 0])
    assert module(x[0], target[0]).output.shape == ()


@pytest.mark.parametrize(("call", "match"), [
    (lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 5, [3, 2]), "cutoffs"),
    (lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 5, [2])(tensors.ones(2, 4), tensors.tensor([0, 5])),
     "target values"),
    (lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 5, [2])(tensors.ones(2, 4), tensors.tensor([0])),
     "input and target do not fit"),
    (lambda: F.multi_margin_loss(tensors.ones(2, 3), tensors.tensor([0])), "does not fit"),
    (lambda: F.multi_margin_loss(tensors.ones(2, 3), tensors.tensor([0, 1]), p=3), "p; got 3"),
    (lambda: nn.MultiMarginLoss(p=3), "p; got 3"),
    (lambda: F.multi_margin_loss(tensors.ones(2, 3), tensors.tensor([0, 3])).item(), "index"),
    (lambda: F.multilabel_margin_loss(tensors.ones(2, 3), tensors.tensor([0, 1])), "does not fit"),
    (lambda: nn.TripletMarginWithDistanceLoss(margin=0), "margin"),
    (lambda: nn.FractionalMaxPool2d(2), "the size of the result"),
    (lambda: nn.FractionalMaxPool2d(2, output_ratio=1.5), "output_ratio"),
    (lambda: F.rrelu(tensors.ones(2), 0.5, 0.2), "lower is above upper"),
])  # fmt: skip
def test_refused(call, match):
    with pytest.raises((ValueError, RuntimeError, IndexError), match=match):
        call()
