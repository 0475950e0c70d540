"""Copies of parameters, schedules that go on, wrong arguments of random functions and loaders."""

import copy
import io

import pytest
from numbus.compat import torch

pytestmark = pytest.mark.numbus
lr = torch.optim.lr_scheduler


def optimizer(rate=0.1):
    return torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], lr=rate, momentum=0.9)


def test_copies_of_parameters_have_no_gradients():
    net = torch.nn.Linear(2, 1)
    net(torch.ones(3, 2)).sum().backward()
    assert net.weight.grad is not None
    assert [p.grad for p in copy.deepcopy(net).parameters()] == [None, None]
    leaf = torch.ones(2, requires_grad=True)
    leaf.sum().backward()
    assert copy.deepcopy(leaf).grad.tolist() == [1, 1]  # a tensor's copy keeps its own


def test_schedules_resume_at_the_rates_they_find():
    opt = optimizer()
    opt.param_groups[0]["initial_lr"] = 1.0
    assert lr.ExponentialLR(opt, 0.5, last_epoch=3).get_last_lr() == [0.1]
    assert lr.LinearLR(opt, last_epoch=2).get_last_lr() == [0.1]
    assert lr.MultiplicativeLR(opt, lambda _: 0.5, last_epoch=2).get_last_lr() == [0.1]


def test_states_of_chained_schedules():
    opt = optimizer()
    chained = lr.ChainedScheduler([lr.MultiStepLR(opt, [1, 2]), lr.ExponentialLR(opt, 0.5)])
    chained.step()
    file = io.BytesIO()
    torch.save(chained.state_dict(), file)
    file.seek(0)
    opt = optimizer()
    again = lr.ChainedScheduler([lr.MultiStepLR(opt, [9]), lr.ExponentialLR(opt, 0.9)])
    again.load_state_dict(torch.load(file))
    opt.param_groups[0]["lr"] = 0.005
    again.step()
    assert again.get_last_lr() == pytest.approx([0.00025])


def test_rates_that_are_tensors_stay_the_same_tensors():
    rate = torch.tensor(0.4)
    opt = optimizer(rate)
    schedule = lr.ExponentialLR(opt, 0.5)
    opt.step()
    schedule.step()
    assert opt.param_groups[0]["lr"] is rate and float(rate) == pytest.approx(0.2)


def test_hooks_of_steps_get_the_optimizer_and_may_give_another_closure():
    opt, seen = optimizer(), []
    opt.register_step_pre_hook(lambda o, a, k: ((o, lambda: 7.0), k))
    opt.register_step_post_hook(lambda o, a, k: seen.append(a[0] is o and len(a)))
    assert opt.step() == 7.0 and seen == [2]


def test_clipping_by_a_known_norm():
    p = torch.nn.Parameter(torch.ones(2))
    p.grad = torch.tensor([3.0, 4.0])
    norm = torch.nn.utils.get_total_norm([p.grad])
    torch.nn.utils.clip_grads_with_norm_([p], 1.0, norm)
    assert p.grad.tolist() == pytest.approx([0.6, 0.8])


@pytest.mark.parametrize("call", [
    lambda t: t.uniform_(2, 1), lambda t: t.normal_(0, -1), lambda t: t.exponential_(0),
    lambda t: t.bernoulli_(1.5), lambda t: t.cauchy_(0, 0), lambda t: t.log_normal_(0, -1),
    lambda t: torch.randint(3, 3, (2,)), lambda t: torch.normal(0.0, -1.0, (2,)),
    lambda t: torch.randperm(-1), lambda t: torch.multinomial(t, 0),
    lambda t: torch.multinomial(-t, 1), lambda t: torch.multinomial(t * 0, 1),
    lambda t: torch.multinomial(t * float("nan"), 1), lambda t: torch.multinomial(t.long(), 1),
    lambda t: torch.bernoulli(t, p=3),
])  # fmt: skip
def test_random_functions_refuse(call):
    with pytest.raises(RuntimeError):
        call(torch.ones(3))


def test_many_draws_with_weights():
    drawn = torch.multinomial(torch.tensor([0.0, 1.0, 0.0, 3.0] * 300), 4000, True)
    assert set((drawn % 4).tolist()) == {1, 3}
    assert 0.2 < float((drawn % 4 == 1).double().mean()) < 0.3


def test_sums_of_products_of_stacks():
    a, b, c = torch.randn(2, 3), torch.randn(4, 2, 5), torch.randn(4, 5, 3)
    wanted = 2 * a + 0.5 * (b @ c).sum(0)
    assert torch.allclose(torch.addbmm(a, b, c, beta=2, alpha=0.5), wanted, atol=1e-5)
    assert torch.allclose(a.clone().addbmm_(b, c, beta=2, alpha=0.5), wanted, atol=1e-5)
    with torch.autocast("cuda" if a.is_cuda else "cpu", torch.bfloat16):
        assert torch.addbmm(a, b, c).dtype == torch.inner(a, a).dtype == torch.bfloat16


def test_loaders_are_not_changed_afterwards():
    loader = torch.utils.data.DataLoader(range(4), batch_size=2)
    with pytest.raises(ValueError, match="batch_size"):
        loader.batch_size = 3
    loader.collate_fn = list
    assert list(loader) == [[0, 1], [2, 3]]
    assert torch.utils.data.distributed.DistributedSampler(range(4), 2, 0).num_samples == 2
