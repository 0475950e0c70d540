"""Parameters, buffers and modules are found by attributes of the class, as the tables have them."""

import copy
import pickle
import sys

import pytest
from numbus import nn, tensors


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.scale = nn.Parameter(tensors.ones(3))
        self.register_buffer("mean", tensors.zeros(3))
        self.none = None
        self.register_parameter("empty", None)

    def forward(self, x):
        return self.first(x) * self.scale + self.mean


def test_the_tables_are_what_counts():
    net, other = Net(), Net()
    assert net.first is net._modules["first"] and net.scale is net._parameters["scale"]
    assert net.mean is net._buffers["mean"] and net.empty is None
    net._modules["first"] = replaced = nn.Identity()
    assert net.first is replaced and other.first is not replaced
    net._parameters["scale"] = changed = nn.Parameter(tensors.zeros(3))
    assert net.scale is changed
    del net.scale
    assert not hasattr(net, "scale") and hasattr(other, "scale")
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'scale'"):
        net.scale  # noqa: B018
    net.scale = 5
    assert net.scale == 5 and net.__dict__["scale"] == 5 and other.scale is not 5  # noqa: F632
    assert not hasattr(Net, "first") and not hasattr(Net(), "second")


def test_what_is_put_in_place_of_a_parameter():
    layer = nn.Linear(2, 2)
    weight = layer.weight
    del layer._parameters["weight"]
    layer.weight = weight * 2  # a plain tensor, as old versions of weight_norm do
    assert "weight" in layer.__dict__ and tensors.equal(layer.weight, weight * 2)
    layer.register_parameter("bias2", nn.Parameter(tensors.ones(2)))
    assert layer.bias2 is layer._parameters["bias2"]


def test_classes_with_the_name_for_something_else():
    class Base(nn.Module):
        shared = "of the class"

        def __init__(self):
            super().__init__()
            self.layer = nn.Identity()
            self._modules["shared"] = nn.Identity()

    class Derived(Base):
        @property
        def layer(self):
            return "a property"

        @layer.setter
        def layer(self, value):
            raise AssertionError("modules are not set by properties")

    assert isinstance(Base().layer, nn.Identity) and Base().shared == "of the class"
    assert Derived().layer == "a property"


def test_attributes_that_a_wrapper_looks_for_elsewhere():
    class Wrapper(nn.Module):
        def __init__(self, module):
            super().__init__()
            self.module = module

        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(self.module, name)

    wrapped = Wrapper(Net())
    assert wrapped.first is wrapped.module.first and wrapped.scale is wrapped.module.scale
    with pytest.raises(AttributeError, match="other"):
        wrapped.other  # noqa: B018


def test_a_getattr_of_users_has_the_last_word():
    class Base(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("cache", tensors.zeros(1))

    class Lazy(Base):
        def __getattr__(self, name):
            found = super().__getattr__(name)
            return found + 1 if name == "cache" else found

    base = Base()
    assert base.cache.item() == 0 and Lazy().cache.item() == 1
    Base.__getattr__ = lambda self, name: 7
    assert base.cache == 7


def test_what_a_module_does_not_have_is_looked_for_in_later_classes():
    block = nn.Module()
    block.generate = nn.Identity()

    class Mixin:
        limit = None

        def generate(self):
            return "of the mixin"

        @property
        def size(self):
            return 3

    class Base(nn.Module):
        def __init__(self, all=False):
            super().__init__()
            if all:
                self.generate = nn.Identity()
                self.limit = nn.Parameter(tensors.ones(1))
                self.size = nn.Identity()

    class Net(Base, Mixin):
        pass

    full = Base(True)
    assert isinstance(full.generate, nn.Identity) and isinstance(full.limit, nn.Parameter)
    assert Net().generate() == "of the mixin" and Net().limit is None and Net().size == 3
    assert Net.limit is None and Net.generate(None) == "of the mixin"
    assert isinstance(Net.size, property) and not hasattr(Base, "size")
    with pytest.raises(KeyError, match="exists"):
        Net(True)


def test_before_the_base_has_begun():
    class Late(nn.Module):
        def __init__(self):
            self.first = nn.Identity()

    with pytest.raises(AttributeError, match="__init__"):
        Late()

    class Never(nn.Module):
        def __init__(self):
            pass

    with pytest.raises(AttributeError):
        Never()(1)


def test_copies_and_pickles(monkeypatch):
    # Where a test has imported numbus.compat.torch, classes say that they are those of torch.
    for name in ("torch", "torch.nn", "torch.nn.parameter"):
        monkeypatch.setitem(sys.modules, name, tensors)
    net = Net()
    for made in (copy.deepcopy(net), pickle.loads(pickle.dumps(net)), copy.copy(net)):
        assert made.first is made._modules["first"]
        assert tensors.equal(made(tensors.ones(2)), net(tensors.ones(2)))
    assert copy.copy(net).first is net.first and copy.deepcopy(net).first is not net.first
    attribute = Net.__dict__["first"]
    assert type(pickle.loads(pickle.dumps(attribute))) is type(attribute)


def test_names_that_are_made_up():
    class Many(nn.Module):
        pass

    net = Many()
    for k in range(400):
        net.register_parameter(f"p{k}", nn.Parameter(tensors.zeros(1)))
    net.add_module("0", nn.Identity())
    assert all(getattr(net, f"p{k}") is net._parameters[f"p{k}"] for k in range(400))
    assert len(vars(Many)) < 300 and getattr(net, "0") is net._modules["0"]
