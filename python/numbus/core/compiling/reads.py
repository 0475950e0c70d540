"""Objects of Python's that a call reads, seen while it is captured.

Names are known from a function's code. Attributes are seen when they are read: for the time of the
capture the classes of the objects that can be reached have a `__getattribute__` that notes them.
Of containers all items are taken for read.
"""

import collections
import datetime
import decimal
import dis
import fractions
import functools
import gc
import importlib.machinery
import os
import re
import sys
import sysconfig
import threading
import types
import typing
import weakref
from sys import _getframe
from threading import get_ident

import numpy as np

from .kinds import ABSENT, ARRAYS, ATTRIBUTE, CELL, ITEM, ITEMS, flat

PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
LIBRARY = sysconfig.get_paths()["stdlib"] + os.sep
_MOST = 1 << 14  # items of containers in all

# Objects that do not change, or whose changes by calls the watch sees.
_FIXED = (
    str, bytes, int, float, complex, range, slice, type(None), type(...), type(NotImplemented),
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
    types.MethodWrapperType, types.ClassMethodDescriptorType, types.GetSetDescriptorType,
    types.MemberDescriptorType, types.CodeType, types.GenericAlias, types.UnionType, property,
    re.Pattern, datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo, decimal.Decimal,
    fractions.Fraction, np.dtype, np.ufunc, np.generic, super, collections._tuplegetter,
)  # fmt: skip
_CONTAINERS = (list, tuple, dict, set, frozenset)
_PLAIN = {*_CONTAINERS, collections.OrderedDict, collections.defaultdict}
_OPEN = {object, *_PLAIN, types.SimpleNamespace, typing.Generic}
_SUFFIXES = tuple(importlib.machinery.EXTENSION_SUFFIXES)
# Entries of classes that say nothing of what code reads of these.
_OF_CLASSES = {"_abc_impl", "__annotations__", "__doc__", "__module__", "__weakref__"}
_HEAP, _IMMUTABLE = 1 << 9, 1 << 8  # flags of types
# What is asked of modules that note it themselves, `types` among them.
_Module = types.ModuleType
_name_of, _set_name_of = _Module.__getattribute__, _Module.__setattr__
_lock = threading.Lock()
_readers = {}  # by threads that capture: the reads that they note
_classes = {}  # classes that note reads, and the `__getattribute__` that they had, or None
_modules = {}  # modules that do, by their ids, and their classes


def is_ours(code):
    """Whether code is the package's."""
    return code.co_filename.startswith(PACKAGE)


def is_librarys(code):
    """Whether code is that of Python's own library."""
    file = code.co_filename
    if file.startswith("<frozen "):
        return True
    return file.startswith(LIBRARY) and "-packages" + os.sep not in file


def _reader():
    """The reads that the calling function's caller would be noted in, if any."""
    reads = _readers.get(get_ident())
    if reads is None or reads.serves(_getframe(2)):
        return None
    return reads


def _noting(original, present, absent):
    """A `__getattribute__` that has what is read noted by methods of `Reads` of these names."""

    def __getattribute__(self, name):
        try:
            value = original(self, name)
        except AttributeError:
            reads = _reader()
            if reads is not None:
                reads.noted(getattr(reads, absent), self, name)
            raise
        reads = _reader()
        if reads is not None:
            reads.noted(getattr(reads, present), self, name, value)
        return value

    __getattribute__.original = original
    return __getattribute__


class _NotingModule(_Module):
    __getattribute__ = _noting(_name_of, "of_module", "absent_of_module")


def notes(code):
    """Whether code stands between a read and its reader only to note it."""
    return code is _NotingModule.__getattribute__.__code__


def _mro(kind):
    return type.__dict__["__mro__"].__get__(kind)


def _entries(kind):
    return type.__dict__["__dict__"].__get__(kind)


def _is_written_in_c(module):
    file = getattr(module, "__file__", None)
    if file is None:
        return getattr(module, "__name__", None) in sys.builtin_module_names
    return file.endswith(_SUFFIXES)


def _is_pythons(kind):
    """Whether a class was written in Python, so that what its objects are asked for can be seen."""
    flags = kind.__flags__
    if not flags & _HEAP or flags & _IMMUTABLE:
        return False
    name = _entries(kind).get("__module__")
    return isinstance(name, str) and not _is_written_in_c(sys.modules.get(name))


def _hides_nothing(kind):
    """Whether objects of a class hold nothing but attributes and what a container holds."""
    return all(
        _is_pythons(k) or k in _OPEN or issubclass(k, (BaseException, *_FIXED)) for k in _mro(kind)
    )


def _top(kind):
    """The outermost package that a class says it is of."""
    return str(_entries(kind).get("__module__", "builtins")).partition(".")[0]


def _is_of_the_package(kind):
    return _top(kind) == "numbus"


def _is_foreign(kind):
    """Whether a class is neither Python's nor the package's."""
    top = _top(kind)
    known = top in ("numbus", "numpy") or top in sys.stdlib_module_names
    return top == "__main__" or not known


class Reads:
    """What is read in one thread between `begin` and `end`.

    guards : dict
        By kind, object and name: (kind, of, name, value, owner). What is new, its owner is: such
        guards say nothing of the next call.
    reason : str or None
        Why not all that is read could be seen.
    doubts : list of (object, reason)
        Objects that can be read and whose changes are not seen, unless they are new.
    """

    def __init__(self, name_part, serves):
        self.serves = serves  # whether what a frame reads is the package's own concern
        self.guards = {}
        self.reason, self.doubts = None, []
        self.containers = []  # with their items
        self._name_part = name_part  # is told each object
        self._seen, self._given = {}, {}  # objects by their ids
        self._items = 0
        self._where = None
        self._kinds = {}  # classes that are guarded, by their ids

    def begin(self):
        """Notes attributes of all objects that are reached from now on."""
        with _lock:
            _readers[get_ident()] = self

    def end(self):
        """Gives classes back as they were, if no other thread needs them."""
        with _lock:
            _readers.pop(get_ident(), None)
            if _readers:
                return
            for kind, original in _classes.items():
                if original is None:
                    type.__delattr__(kind, "__getattribute__")
                else:
                    type.__setattr__(kind, "__getattribute__", original)
            for module, kind in _modules.values():
                _set_name_of(module, "__class__", kind)
            _classes.clear()
            _modules.clear()

    def noted(self, note, *read):
        """Notes a read of the program's, which is none of what fails here."""
        self._where = _getframe(2).f_code
        try:
            note(*read)
        except Exception as error:
            self._refuse(f"what it reads cannot be followed ({type(error).__name__})")

    def add(self, kind, of, name, value, owner=None):
        """Notes that `of` has a value by a name."""
        owner = of if owner is None else owner
        self.guards.setdefault((kind, id(of), name), (kind, of, name, value, owner))

    def enter(self, frame):
        """What a function that begins can read by names, and what it was given."""
        code, now = frame.f_code, frame.f_locals
        count = code.co_argcount + code.co_kwonlyargcount
        count += bool(code.co_flags & 4) + bool(code.co_flags & 8)
        for name in (*code.co_varnames[:count], *code.co_freevars):
            if name in now:
                self.reach(now[name], code, given=True)

    def code(self, code, names, builtins):
        """What a function's code reads by names of globals."""
        for i in dis.get_instructions(code):
            if i.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"):
                name = i.argval
                if name in names:
                    self.add(ITEM, names, name, names[name])
                    self.reach(names[name], code)
                else:
                    self.add(ABSENT, names, name, None)
                if name not in names and name in builtins:
                    self.add(ITEM, builtins, name, builtins[name])
            elif i.opname == "IMPORT_NAME":
                for name in (i.argval, i.argval.partition(".")[0]):
                    if name in sys.modules:
                        self.add(ITEM, sys.modules, name, sys.modules[name])
                        self.reach(sys.modules[name], code)

    def closures(self, codes):
        """Variables of other functions that the functions of code see."""
        codes = [code for code in codes if code.co_freevars]
        for function in gc.get_referrers(*codes) if codes else ():
            if type(function) is not types.FunctionType or function.__code__ not in codes:
                continue
            for cell in function.__closure__ or ():
                try:
                    value = cell.cell_contents
                except ValueError:
                    self.add(ABSENT, cell, "cell_contents", None)
                    continue
                self.add(CELL, cell, None, value)
                self.reach(value, function.__code__)

    def reach(self, value, code=None, given=False):
        """An object that the code of a function can read.

        given : whether it is an argument, whose items are known if it is a list, tuple or dict.
        """
        if code is not None:
            self._where = code
        todo = [(value, given)]
        while todo:
            o, given = todo.pop()
            if type(o) in _FIXED or type(o) is object:
                continue
            if isinstance(o, ARRAYS):
                if getattr(o, "__dict__", None) and id(o) not in self._seen:
                    self._seen[id(o)] = o
                    todo.append((o.__dict__, False))
                continue
            known = self._given if given else self._seen
            if id(o) in known:
                continue
            known[id(o)] = o
            self._name_part(o)
            if isinstance(o, _CONTAINERS):
                inner = flat(o)
                self._items += len(inner)
                if self._items > _MOST:
                    self._refuse(f"it can reach more than {_MOST} items of lists and dicts")
                    return
                self.containers.append((o, inner))
                given = given and type(o) in (list, tuple, dict)
                if not given and not isinstance(o, (tuple, frozenset)):
                    self.add(ITEMS, o, None, inner)
                todo += [(item, given) for item in inner]
                if type(o) in _PLAIN:
                    continue
            todo += [(item, False) for item in self._parts(o, type(o))]

    def _parts(self, o, kind):
        """Has reads of an object's attributes noted; what can be read of it in other ways."""
        if isinstance(o, type):
            return self._class(o)
        if isinstance(o, _Module):
            self._follow_module(o)
            return ()
        if kind is types.FunctionType:
            if not is_ours(o.__code__):
                self.add(ATTRIBUTE, o, "__code__", o.__code__)
                self.add(ATTRIBUTE, o, "__defaults__", o.__defaults__)
                self.add(ATTRIBUTE, o, "__kwdefaults__", o.__kwdefaults__)
                return (o.__defaults__, o.__kwdefaults__, o.__dict__)
            return ()
        if kind is types.MethodType:
            return o.__func__, o.__self__
        if kind in (classmethod, staticmethod):
            return (o.__func__,)
        if kind is functools.partial:
            return o.func, o.args, o.keywords
        if kind is types.SimpleNamespace:
            return (o.__dict__,)
        if isinstance(o, weakref.ref):
            return (o(),)
        if isinstance(o, functools._lru_cache_wrapper):
            code = getattr(o.__wrapped__, "__code__", None)
            if code is None or not (is_ours(code) or is_librarys(code)):
                self._doubt(o)  # what its function would read is not seen where it is not called
            return ()
        if _is_pythons(kind) and _hides_nothing(kind):
            self._follow(kind, o)
            self.add(ATTRIBUTE, o, "__class__", kind)
            fields = _fields(o)
            if fields is not None:
                self.add(ATTRIBUTE, o, "__dict__", fields)
            return self._class(kind)
        if not _is_of_the_package(kind) and not isinstance(o, _FIXED):
            self._doubt(o)
        return ()

    def _doubt(self, o):
        self.doubts.append((o, f"it can read an object of type {type(o).__qualname__}, whose "
                            f"changes are unseen{self._at()}"))  # fmt: skip

    def _refuse(self, why):
        if self.reason is None:
            self.reason = why + self._at()

    def _at(self):
        code = self._where
        return f" ({code.co_filename}, line {code.co_firstlineno})" if code is not None else ""

    def _class(self, kind):
        """Guards all that a class has, as code may read it in any way; what it has."""
        if id(kind) in self._kinds:
            return ()
        self._kinds[id(kind)] = kind
        found = []
        for k in _mro(kind):
            if not _is_foreign(k) or not _is_pythons(k):
                continue
            entries = gc.get_referents(_entries(k))[0]
            own = dict(entries)
            with _lock:
                if k in _classes:  # it notes reads at present
                    own.pop("__getattribute__")
                    if _classes[k] is not None:
                        own["__getattribute__"] = _classes[k]
            if "__getattribute__" in own:
                self._refuse(f"{k.__qualname__} says itself what its attributes are")
            self.guards[ITEMS, id(entries), None] = ITEMS, entries, None, flat(own), k
            found += [
                v
                for name, v in own.items()
                if name not in _OF_CLASSES and not isinstance(v, types.FunctionType)
            ]
        self.add(ATTRIBUTE, kind, "__mro__", _mro(kind))
        if type(kind) is not type:
            found.append(type(kind))
        return found

    def _follow(self, kind, o):
        with _lock:
            if kind in _classes:
                return
            original = next(
                e["__getattribute__"] for e in map(_entries, _mro(kind)) if "__getattribute__" in e
            )
            own = _entries(kind).get("__getattribute__")
            try:
                original = getattr(original, "original", original)
                noting = _noting(original, "attribute", "absent")
                type.__setattr__(kind, "__getattribute__", noting)
            except TypeError:
                return self._doubt(o)
            _classes[kind] = own
        return None

    def _follow_module(self, module):
        kind = type(module)
        with _lock:
            if id(module) in _modules or kind is _NotingModule:
                return
            if kind is not _Module:
                return self._module_of_a_kind(module)
            _set_name_of(module, "__class__", _NotingModule)
            _modules[id(module)] = module, kind
        return None

    def _module_of_a_kind(self, module):
        if module.__name__.partition(".")[0] not in ("numbus", "numpy"):
            self._refuse(f"it can read the module {module.__name__}, whose changes are unseen")

    def attribute(self, o, name, value):
        """Code that is not the package's has read an attribute of an object."""
        kind = type(o)
        if name == "__class__":
            self.reach(value)
            return
        fields = _fields(o)
        if name == "__dict__":
            self.add(ITEMS, fields, None, flat(fields), o)
            self.reach(tuple(fields.values()))
            return
        self.reach(value)
        if fields is not None:
            if name in fields and fields[name] is value:
                self.add(ITEM, fields, name, value, o)
                return
            self.add(ABSENT, fields, name, None, o)
        for k in _mro(kind):
            if name not in _entries(k):
                continue
            raw = _entries(k)[name]
            if isinstance(raw, types.MemberDescriptorType):  # of __slots__
                self.add(ATTRIBUTE, o, name, value)
            elif not _is_foreign(k) and not hasattr(type(raw), "__get__"):
                self.add(ATTRIBUTE, kind, name, value, o)
            return

    def absent(self, o, name):
        """An attribute that an object does not have itself was asked for."""
        fields = _fields(o)
        if fields is not None and name not in fields:
            self.add(ABSENT, fields, name, None, o)
        elif fields is None:
            self.add(ABSENT, o, name, None)

    def absent_of_module(self, module, name):
        """A name that a module does not have was asked for."""
        self.add(ABSENT, _name_of(module, "__dict__"), name, None, module)

    def of_module(self, module, name, value):
        """Code that is not the package's has read a name of a module."""
        names = _name_of(module, "__dict__")
        if name == "__dict__":
            self.reach(names)
            return
        if name in names:
            self.add(ITEM, names, name, value, module)
        elif not name.startswith("__"):
            self.add(ABSENT, names, name, None, module)
        self.reach(value)


def _fields(o):
    try:
        return object.__getattribute__(o, "__dict__")
    except AttributeError:
        return None
