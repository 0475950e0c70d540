"""What captured calls read of Python's objects: after any change the next call gives what Python
gives. Each way of reading a number is a program; numbers are changed between calls.
"""

import gc
import os
import statistics
import sys
import types

import numpy as np
import pytest

nb = pytest.importorskip("numbus")
from read_programs import WAYS, Child, Config, Data, Slots, fenced, set_scale, way  # noqa: E402

pytestmark = pytest.mark.cpu


# What a review found: names that were not there, classes, functions and dicts that are replaced.
class Base:
    scale = 2.0


@way
def hidden_by_a_class():
    class Derived(Base):
        pass

    return lambda x: x * Derived.scale, lambda k: setattr(Derived, "scale", float(k))


@way
def another_class():
    class Other:
        scale = 3.0

    c = Config()
    del c.scale
    c.__class__ = Base
    return lambda x: x * c.scale, lambda k: setattr(c, "__class__", Other)


@way
def another_dict():
    c = Data()
    return lambda x: x * c.scale, lambda k: setattr(c, "__dict__", {"scale": float(k)})


@way
def a_special_method_that_is_replaced():
    class Sized:
        def __len__(self):
            return 2

    c = Sized()
    return lambda x: x * len(c), lambda k: setattr(Sized, "__len__", lambda self: k)


@way
def a_classmethod_that_is_replaced():
    class Of:
        scale = classmethod(lambda cls: 2.0)

    c = Of()
    change = lambda k: setattr(Of, "scale", classmethod(lambda cls: float(k)))  # noqa: E731
    return lambda x: x * c.scale(), change


@way
def a_name_of_a_module_that_was_absent():
    m = types.ModuleType("settings")
    return lambda x: x * getattr(m, "scale", 2.0), set_scale(m)


@way
def a_name_of_a_class_that_was_absent():
    class Of:
        pass

    return lambda x: x * getattr(Of, "scale", 2.0), set_scale(Of)


@way
def a_global_name_that_was_absent():
    space = {}
    exec("def f(x):\n try:\n  return x * zzz\n except NameError:\n  return x * 2", space)
    return space["f"], lambda k: space.__setitem__("zzz", float(k))


@way
def a_slot_that_was_absent():
    c = Slots()
    del c.scale
    return lambda x: x * getattr(c, "scale", 2.0), set_scale(c)


@way
def a_default_by_name():
    def g(*, scale=2.0):
        return scale

    return lambda x: x * g(), lambda k: setattr(g, "__kwdefaults__", {"scale": float(k)})


@way
def by_a_property_of_the_library():
    c = [statistics.NormalDist(2.0)]
    return lambda x: x * c[0].mean, lambda k: setattr(c[0], "_mu", float(k))


@way
def a_named_tuple_of_types():
    class Of(type):
        def __len__(cls):
            return cls.count

    class Counted(metaclass=Of):
        count = 2

    return lambda x: x * len(Counted), lambda k: setattr(Counted, "count", k)


@way
def environment():
    os.environ["NUMBUS_TEST_SCALE"] = "2"
    change = lambda k: os.environ.__setitem__("NUMBUS_TEST_SCALE", str(k))  # noqa: E731
    return lambda x: x * float(os.environ["NUMBUS_TEST_SCALE"]), change


@way
def names_of_types():
    return lambda x: x * types.SimpleNamespace(a=2.0).a, lambda k: None


@way
def a_list_that_is_added_to():
    values = [2.0]

    def f(x):
        nonlocal values
        values += [1.0]
        return x * len(values)

    return f, lambda k: None


@way
def set_by_object():
    c = Config()

    def f(x):
        object.__setattr__(c, "scale", c.scale + 1)
        return x * c.scale

    return f, lambda k: None


@way
def attributes_of_a_tensor():
    w = fenced([2.0])
    w.scale = 2.0
    return lambda x: x * w * w.scale, set_scale(w)


@pytest.mark.filterwarnings("ignore")
def test_classes_are_as_they_were_after_errors():
    class Never:
        def __get__(self, o, kind):
            raise KeyError("never asked for")

    class Of:
        never = Never()
        scale = 2.0

    c = Of()
    compiled = nb.compile(lambda x: x * c.scale * (2.0 if int is int else 3.0))
    for _ in range(6):
        assert compiled(fenced([1.0])).item() == 4
    assert "__getattribute__" not in vars(Of) and gc.isenabled()
    assert type(types) is types.ModuleType

    def fails(x):
        return x * c.missing

    compiled = nb.compile(fails)
    limit = sys.getrecursionlimit()
    for _ in range(4):
        with pytest.raises(AttributeError):
            compiled(fenced([1.0]))
    assert "__getattribute__" not in vars(Of) and gc.isenabled()
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize(
    ("make", "read", "change", "is_seen"),
    [
        (Config, lambda c: c.scale, lambda c, k: setattr(c, "scale", float(k)), True),
        (Config, lambda c: c.values[0], lambda c, k: c.values.__setitem__(0, float(k)), True),
        (lambda: [Config()], lambda c: c[0].scale, lambda c, k: set_scale(c[0])(k), True),
        (lambda: {"a": Config()}, lambda c: c["a"].scale, lambda c, k: set_scale(c["a"])(k), True),
        (lambda: {2.0}, lambda c: sum(c), lambda c, k: c.add(float(k * 7)), True),
        (lambda: np.ones(1), lambda c: float(c[0]), lambda c, k: c.__setitem__(0, k), False),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_arguments_that_are_objects(make, read, change, is_seen):
    c = make()
    f = lambda x, c, *more, **named: x * read(c) * read(more[0]) * read(named["d"])  # noqa: E731
    compiled = nb.compile(f)
    for k in range(11):
        if k >= 5:
            change(c, k)
        x = fenced([1.0, -2.0])
        found, wanted = compiled(x, c, c, d=c), f(x, c, c, d=c)
        assert found.to("cpu").numpy().tolist() == wanted.to("cpu").numpy().tolist()
    assert (compiled.answers > 0) == is_seen


@pytest.fixture(autouse=True)
def classes_as_they_were():
    before = [(c, dict(vars(c))) for c in (Config, Child)]
    table = dict(Config.table)
    yield
    for c, entries in before:
        for name, value in entries.items():
            if name in ("shared", "method"):
                setattr(c, name, value)
    if "shared" in vars(Child):
        del Child.shared
    Config.table.update(table)


# What these read is not seen, so that Python runs them.
PYTHONS = {
    "too_many_items", "a_deque", "an_array_of_numpys", "an_iterator", "a_generator",
    "set_by_operator", "random_choices",
    "a_list_that_is_added_to", "set_by_object", "replaced_dataclass", "cached",
    "asked", "attributes_of_a_thread", "a_view_of_a_dict",
}  # fmt: skip


# What these change is there once.
SHARED = {
    "by_class", "by_classmethod", "by_super", "by_type", "by_class_of", "table_of_class",
    "class_in_list", "method_of_a_class", "attribute_of_class_by_object", "by_metaclass",
    "environment",
}  # fmt: skip


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.filterwarnings("ignore")
def test_what_has_changed_is_read_again(name):
    f, change = WAYS[name]()
    other, change_other = WAYS[name]()
    if name in SHARED:  # both would change the same
        change_other = lambda k: None  # noqa: E731
    compiled = nb.compile(f)
    found, wanted = [], []
    for k in range(12):
        if k >= 5:
            change(k)
            change_other(k)
        x = fenced([1.0, -2.0])
        wanted.append(other(x).to("cpu").numpy().tolist())
        found.append(compiled(x).to("cpu").numpy().tolist())
    assert found == wanted
    assert (compiled.answers > 0) == (name not in PYTHONS), compiled.reasons


def test_containers_that_contain_themselves():
    items, table = [1.0], {}
    items.append(items)
    table["itself"] = table

    @nb.compile
    def by_argument(x, container):
        return x * len(container)

    @nb.compile
    def as_result(x):
        made = [x * 2]
        made.append(made)
        return made

    x = fenced([1.0, -2.0])
    for _ in range(5):
        assert by_argument(x, items).tolist() == [2.0, -4.0]
        assert by_argument(x, table).tolist() == [1.0, -2.0]
    with pytest.warns(nb.CompileWarning, match="that the program keeps"):
        for _ in range(5):
            made = as_result(x)
            assert made[0].tolist() == [2.0, -4.0] and made[1] is made


def returned_argument(x, kept):
    kept[0] = x * 2
    return kept


def returned_item(x, kept):
    return x * 2, kept


def returned_twice(x, kept):
    made = [x * 2]
    return made, made


def returned_dict(x, kept):
    return {"made": x * 2, "kept": kept}


def returned_and_kept(x, kept):
    made = [x * 2]
    kept[0] = made
    return made


RETURNED = [returned_argument, returned_item, returned_twice, returned_dict, returned_and_kept]


@pytest.mark.parametrize("f", RETURNED)
@pytest.mark.filterwarnings("ignore::numbus.CompileWarning")
def test_containers_that_the_program_keeps_are_returned_themselves(f):
    """And no copies of them."""
    compiled, kept, x = nb.compile(f), [None], fenced([1.0, -2.0])
    for _ in range(6):
        made = compiled(x, kept)
        if f is returned_argument:
            assert made is kept
        elif f is returned_item:
            assert made[1] is kept
        elif f is returned_twice:
            assert made[0] is made[1]
        elif f is returned_dict:
            assert made["kept"] is kept
        else:
            assert made is kept[0]
        made = made[0] if isinstance(made, (tuple, list)) else made["made"]
        made = made[0] if isinstance(made, list) else made
        assert made.tolist() == [2.0, -4.0]


MADE = [lambda x: [x * 2, [x + 1]], lambda x: {"a": [x * 2], "b": (x + 1, [x * 3])}]


@pytest.mark.parametrize("make", MADE)
def test_containers_that_a_step_makes_need_no_python(make):
    compiled, x = nb.compile(make), fenced([1.0, -2.0])
    for _ in range(6):
        made = compiled(x)
    assert compiled.answers >= 2, compiled.reasons
    assert (made[0] if isinstance(made, list) else made["a"][0]).tolist() == [2.0, -4.0]
