"""What attributes are, without running code of the program's, against `inspect`."""

import collections
import gc
import inspect

from numbus.loops import held, methods, static


class _Meta(type):
    of_meta = 3


class _Both:
    def __get__(self, *_):
        raise AssertionError

    __set__ = __get__


class _Reads:
    def __get__(self, *_):
        raise AssertionError


class _Plain(metaclass=_Meta):
    a, b, both, reads = 1, [2], _Both(), _Reads()

    def __init__(self):
        self.a, self.c = 5, 6
        self.__dict__.update(both=7, reads=8, read=9)
        self.raw = _Plain.raw

    def method(self):
        pass

    def raw(self):
        pass

    @property
    def read(self):
        raise AssertionError

    @staticmethod
    def apart():
        pass


class _Slots:
    __slots__ = "a", "b"
    c = 4

    def __init__(self):
        self.a = 1


class _Derived(_Plain, _Slots):
    b = 7

    def __getattr__(self, name):
        raise AssertionError


class _List(list):
    pass


_NAMED = collections.namedtuple("_NAMED", "a b")


def test_attributes_are_found_as_inspect_finds_them():
    values = [
        _Plain(), _Slots(), _Derived(), _Plain, _Slots, _Derived, _Meta, _List(), _NAMED(1, 2), 5,
        int, type, 2.5, object(), _Plain.method,
    ]  # fmt: skip
    names = (
        "a b c raw both reads read method apart of_meta __dict__ __class__ append real pi __mro__"
    )
    for k, value in enumerate(values):
        for name in names:
            wanted = inspect.getattr_static(value, name, static.NOTHING)
            assert static.attribute(value, name) is wanted, (k, name)


class _Kept:
    d = 1

    def __init__(self):
        self.a, self.b, self.raw = 1, 2, _Kept.raw
        self.again = self.raw_of

    def raw(self):
        pass

    def raw_of(self):
        pass

    other = raw


def test_objects_get_no_dict():
    value = _Kept()
    found = [static.attribute(value, n) for n in ("a", "d", "raw", "other", "again", "absent")]
    assert found == [1, 1, _Kept.raw, _Kept.raw, value.raw_of, static.NOTHING]
    methods_of = [methods.of_object(value, n) for n in ("raw", "other", "raw_of", "again", "a")]
    assert methods_of == [None, _Kept.raw, _Kept.raw_of, None, None]
    assert held._is_assigned_plainly(value, "b") and not held._is_assigned_plainly(value, "e")
    assert not any(type(x) is dict for x in gc.get_referents(value))


def test_objects_with_a_dict_of_their_own_are_not_known():
    class Hidden:
        a = 1
        __dict__ = property(lambda self: {"a": 2})

    assert static.attribute(Hidden(), "a") is static.NOTHING
    assert static.attribute(Hidden, "a") == 1
