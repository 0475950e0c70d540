"""Programs that read a number of Python's objects, each in a way of its own, for
test_compile_reads.py.
"""

import collections
import dataclasses
import functools
import operator
import threading
import types
import weakref

import numbus as nb
import numpy as np
from numbus import nn, optim, tensors


def fenced(a):
    return tensors.from_numpy(np.array(a, dtype="f4")).to("fenced")


class Config:
    shared = 2.0
    table = {"k": 2.0}  # noqa: RUF012

    def __init__(self, scale=2.0):
        self.scale = scale
        self.values = [2.0, 3.0]
        self.inner = types.SimpleNamespace(scale=2.0)

    @property
    def half(self):
        return self.scale / 2

    @classmethod
    def of_class(cls):
        return cls.shared

    def method(self):
        return self.scale

    def __call__(self):
        return self.scale


class Child(Config):
    def up(self):
        return super().shared

    def by_type(self):
        return type(self).shared


class Slots:
    __slots__ = ("scale",)

    def __init__(self):
        self.scale = 2.0


class Lazy:
    def __init__(self):
        self.kept = {"scale": 2.0}

    def __getattr__(self, name):
        return self.kept[name]


class Asked:
    def __init__(self):
        self.scale = 2.0

    def __getattribute__(self, name):
        return object.__getattribute__(self, name)


class Numbers(list):
    pass


@dataclasses.dataclass
class Data:
    scale: float = 2.0


Point = collections.namedtuple("Point", "config other")

WAYS = {}


def way(make):
    """A program: makes objects, a function of x that reads them, and changes of them."""
    WAYS[make.__name__] = make
    return make


def set_scale(o):
    return lambda k: setattr(o, "scale", float(k))


def of_loop(cs):
    def f(x):
        for c in cs:
            x = x * c.scale
        return x

    return f


@way
def loop_variable():
    cs = [Config(), Config()]
    return of_loop(cs), set_scale(cs[1])


@way
def loop_over_slots():
    cs = (Slots(), Slots())
    return of_loop(cs), set_scale(cs[0])


@way
def loop_over_dict():
    d = {"a": Config(), "b": Data()}

    def f(x):
        for name, c in d.items():
            x = x * c.scale * len(name)
        return x

    return f, set_scale(d["b"])


@way
def keys_of_dict():
    d = {"a": 1.0}

    def change(k):
        d.clear()
        d["a" * k] = 1.0

    return lambda x: x * sum(len(k) for k in d), change


@way
def enumerated():
    cs = [Config(), Config()]
    return lambda x: sum((x * c.scale * (k + 1) for k, c in enumerate(cs)), x), set_scale(cs[1])


@way
def mapped():
    cs = [Config(), Config()]
    return lambda x: x * sum(map(operator.attrgetter("scale"), cs)), set_scale(cs[1])


@way
def by_getattr():
    c = Config()
    name = "scale"
    return lambda x: x * getattr(c, name), set_scale(c)


@way
def by_getattr_with_default():
    c = Config()
    return lambda x: x * getattr(c, "other", 2.0), lambda k: setattr(c, "other", float(k))


@way
def by_hasattr():
    c = Config()
    return lambda x: x * (2 if hasattr(c, "other") else 3), lambda k: setattr(c, "other", k)


@way
def by_vars():
    c = Config()
    return lambda x: x * vars(c)["scale"], set_scale(c)


@way
def by_dict_of():
    c = Config()
    return lambda x: x * c.__dict__["scale"], set_scale(c)


@way
def inner_object():
    c = Config()
    return lambda x: x * c.inner.scale, set_scale(c.inner)


@way
def item_of_attribute():
    c = Config()
    return lambda x: x * c.values[1], lambda k: c.values.__setitem__(1, float(k))


@way
def by_property():
    c = Config()
    return lambda x: x * c.half, set_scale(c)


@way
def by_method():
    c = Config()
    return lambda x: x * c.method(), set_scale(c)


@way
def by_bound_method():
    c = Config()
    f = c.method
    return lambda x: x * f(), set_scale(c)


@way
def by_call():
    c = Config()
    return lambda x: x * c(), set_scale(c)


@way
def by_class():
    return lambda x: x * Config.shared, lambda k: setattr(Config, "shared", float(k))


@way
def by_classmethod():
    c = Config()
    return lambda x: x * c.of_class(), lambda k: setattr(Config, "shared", float(k))


@way
def by_super():
    c = Child()
    return lambda x: x * c.up(), lambda k: setattr(Config, "shared", float(k))


@way
def by_type():
    c = Child()
    return lambda x: x * c.by_type(), lambda k: setattr(Config, "shared", float(k))


@way
def by_class_of():
    c = Child()
    return lambda x: x * c.__class__.shared, lambda k: setattr(Config, "shared", float(k))


@way
def attribute_of_class_by_object():
    c = Child()
    return lambda x: x * c.shared, lambda k: setattr(Config, "shared", float(k))


@way
def attribute_of_class_hidden_by_an_object():
    c = Child()
    return lambda x: x * c.shared, lambda k: setattr(c, "shared", float(k))


@way
def table_of_class():
    c = Child()
    return lambda x: x * c.table["k"], lambda k: Config.table.__setitem__("k", float(k))


@way
def class_in_list():
    cs = [Child]
    return lambda x: x * cs[0].shared, lambda k: setattr(Config, "shared", float(k))


@way
def method_of_a_class():
    c = Config()

    def change(k):
        Config.method = lambda self: float(k)

    return lambda x: x * c.method(), change


@way
def method_of_an_object():
    c = Config()
    return lambda x: x * c.method(), lambda k: setattr(c, "method", lambda: float(k))


@way
def slots():
    c = Slots()
    return lambda x: x * c.scale, set_scale(c)


@way
def lazy():
    c = Lazy()
    return lambda x: x * c.scale, lambda k: c.kept.__setitem__("scale", float(k))


@way
def asked():
    c = Asked()
    return lambda x: x * c.scale, set_scale(c)


@way
def dataclass():
    c = Data()
    return lambda x: x * c.scale, set_scale(c)


@way
def replaced_dataclass():
    c = Data()
    return lambda x: x * dataclasses.replace(c).scale, set_scale(c)


@way
def namedtuple():
    p = Point(Config(), 1)
    return lambda x: x * p.config.scale, set_scale(p.config)


@way
def a_module():
    m = types.ModuleType("settings")
    m.scale = 2.0
    return lambda x: x * m.scale, set_scale(m)


@way
def modules_in_a_list():
    ms = [types.ModuleType("settings"), types.ModuleType("settings")]
    for m in ms:
        m.scale = 2.0
    return of_loop(ms), set_scale(ms[1])


@way
def attribute_of_a_function():
    def g():
        return g.scale

    g.scale = 2.0
    return lambda x: x * g(), set_scale(g)


@way
def default_of_a_function():
    def g(scale=2.0):
        return scale

    return lambda x: x * g(), lambda k: setattr(g, "__defaults__", (float(k),))


@way
def list_as_default():
    values = [2.0]

    def g(found=values):
        return found[0]

    return lambda x: x * g(), lambda k: values.__setitem__(0, float(k))


@way
def partial():
    c = Config()
    f = functools.partial(lambda c, y: y * c.scale, c)
    return lambda x: f(x), set_scale(c)


@way
def dict_of_a_partial():
    f = functools.partial(lambda y, s: y * s, s=2.0)
    return lambda x: f(x), lambda k: f.keywords.__setitem__("s", float(k))


@way
def cached():
    values = [2.0]

    @functools.lru_cache(None)
    def g():
        return values[0]

    def change(k):
        values[0] = float(k)
        g.cache_clear()

    return lambda x: x * g(), change


@way
def cell_of_a_cell():
    scale = 2.0

    def set_it(k):
        nonlocal scale
        scale = float(k)

    def g():
        return lambda: scale

    return lambda x: x * g()(), set_it


@way
def many_items():
    values = [2.0] * 1000
    return lambda x: x * sum(values), lambda k: values.__setitem__(k, float(k))


@way
def too_many_items():
    values = [2.0] * 20000
    return lambda x: x * sum(values), lambda k: values.__setitem__(k, float(k))


@way
def nested_lists():
    values = [[[[2.0]]]]
    return lambda x: x * values[0][0][0][0], lambda k: values[0][0][0].__setitem__(0, float(k))


@way
def a_set():
    values = {2.0}
    return lambda x: x * sum(values), lambda k: values.add(float(k * 7))


@way
def a_deque():
    values = collections.deque([2.0])
    return lambda x: x * values[0], lambda k: values.__setitem__(0, float(k))


@way
def a_counter():
    values = collections.Counter(a=2)
    return lambda x: x * values["a"], lambda k: values.__setitem__("a", k)


@way
def an_ordered_dict():
    values = collections.OrderedDict(a=2, b=Config())
    return lambda x: x * values["b"].scale, set_scale(values["b"])


@way
def a_list_of_a_class_of_its_own():
    values = Numbers([2.0])
    values.scale = 2.0

    def change(k):
        values[0] = float(k)
        values.scale = float(k)

    return lambda x: x * values[0] * values.scale, change


@way
def an_array_of_numpys():
    values = np.array([2.0])
    return lambda x: x * float(values[0]), lambda k: values.__setitem__(0, float(k))


@way
def an_iterator():
    values = iter(range(2, 100))
    return lambda x: x * next(values), lambda k: None


@way
def a_generator():
    values = (float(k) for k in range(2, 100))

    def f(x):
        for v in values:
            return x * v
        return x

    return f, lambda k: None


@way
def learning_rate_as_a_number():
    w = nn.Parameter(fenced([1.0]))
    optimizer = optim.SGD([w], lr=2.0)

    def f(x):
        for group in optimizer.param_groups:
            x = x * group["lr"]
        return x

    return f, lambda k: optimizer.param_groups[0].__setitem__("lr", float(k))


@way
def setting_of_a_module():
    model = nn.Sequential(nn.Identity(), nn.Identity())
    model[1].scale = 2.0

    def f(x):
        for m in model:
            x = m(x) * getattr(m, "scale", 1.0)
        return x

    return f, set_scale(model[1])


@way
def tensors_of_a_list():
    values = [fenced([2.0]), fenced([3.0])]
    return lambda x: x * values[1], lambda k: values.__setitem__(1, fenced([float(k)]))


@way
def tensors_of_objects():
    cs = [Config(fenced([2.0])), Config(fenced([3.0]))]
    return of_loop(cs), lambda k: setattr(cs[1], "scale", fenced([float(k)]))


@way
def shape_of_a_tensor():
    c = Config(fenced([2.0]))
    return lambda x: x * c.scale.shape[0], lambda k: setattr(c, "scale", fenced([1.0] * k))


@way
def shape_of_an_array():
    with nb.device("fenced"):
        a = nb.arange(4.0, dtype="f4")

    def change(k):
        a.shape = (2, 2) if a.ndim == 1 else (4,)

    return lambda x: x * a.ndim * tensors.asarray(a).mean(0).sum(), change


@way
def a_name_of_a_builtin():
    space = {"x": 1}
    exec("def f(x):\n    return x * abs(-2)", space)
    return space["f"], lambda k: space.__setitem__("abs", lambda y: k)


@way
def set_by_operator():
    values = [2.0]

    def f(x):
        operator.setitem(values, 0, values[0] + 1)
        return x * values[0]

    return f, lambda k: None


@way
def random_choices():
    import random

    r = random.Random(3)
    return lambda x: x * r.choice([1.0, 1.0, 1.0, 2.0]), lambda k: None


class Special:
    """What Python asks of an object by itself."""

    def __init__(self):
        self.scale = 2.0

    def __len__(self):
        return int(self.scale)

    def __getitem__(self, k):
        return self.scale

    def __iter__(self):
        yield self.scale

    def __bool__(self):
        return self.scale > 2

    def __enter__(self):
        return self.scale

    def __exit__(self, *error):
        pass


@way
def special_methods():
    c = Special()

    def f(x):
        for v in c:
            x = x * v
        with c as v:
            return x * c[0] * len(c) * (2 if c else 3) * v

    return f, set_scale(c)


class Meta(type):
    @property
    def scale(cls):
        return cls._scale


class OfMeta(metaclass=Meta):
    _scale = 2.0


@way
def by_metaclass():
    OfMeta._scale = 2.0
    return lambda x: x * OfMeta.scale, lambda k: setattr(OfMeta, "_scale", float(k))


class Hidden:
    def __get__(self, o, kind):
        return o.hidden[0]


class Described:
    scale = Hidden()

    def __init__(self):
        self.hidden = [2.0]


@way
def by_descriptor():
    c = Described()
    return lambda x: x * c.scale, lambda k: c.hidden.__setitem__(0, float(k))


@way
def by_weak_reference():
    c = Config()
    r = weakref.ref(c)
    return lambda x: x * r().scale, lambda k, c=c: setattr(c, "scale", float(k))


@way
def by_match():
    c = Config()
    space = {"c": c, "Config": Config}
    exec("def f(x):\n match c:\n  case Config(scale=s):\n   return x * s", space)
    return space["f"], set_scale(c)


@way
def attributes_of_a_thread():
    c = threading.local()
    c.scale = 2.0
    return lambda x: x * c.scale, set_scale(c)


@way
def a_view_of_a_dict():
    d = {"a": 2.0}
    m = types.MappingProxyType(d)
    return lambda x: x * m["a"], lambda k: d.__setitem__("a", float(k))


@way
def dicts_of_pythons_library():
    c = collections.ChainMap({"a": 2.0})
    d = collections.UserDict(a=2.0)

    def change(k):
        c["a"] = float(k)
        d["a"] = float(k)

    return lambda x: x * c["a"] * d["a"], change


@way
def a_key_that_is_missing():
    d = {}

    def f(x):
        try:
            return x * d["a"]
        except KeyError:
            return x * 2.0

    return f, lambda k: d.__setitem__("a", float(k))


@way
def functions_in_a_list():
    def make(scale):
        return lambda y: y * scale

    fs = [make(2.0)]
    return lambda x: fs[0](x), lambda k: fs.__setitem__(0, make(float(k)))
