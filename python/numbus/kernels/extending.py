"""numba.extending: what compiled functions do in place of functions, methods and attributes that
Python has and they do not.
"""

import inspect

from .. import _core
from . import types
from ._resolve import program

__all__ = ["intrinsic", "overload", "overload_attribute", "overload_method", "register_jitable"]

_functions = []  # by number: (the function, what has been said of it)
_members = {}  # "method sum": [(type, what makes the function)]


# Options of jit that have nothing to change in a function that is compiled into its callers.
_WITHOUT_EFFECT = {"cache", "nopython", "no_cpython_wrapper", "no_cfunc_wrapper"}


def _options(what, jit_options, strict, inline, prefer_literal, more):
    """Refuses what would have to change something and does not."""
    if more or inline not in ("never", "always"):
        raise TypeError(
            f"[{what}] no such option; got {', '.join(more) or f'inline={inline!r}'}; expected "
            "jit_options, strict, inline ('never' or 'always'; LLVM decides) or prefer_literal"
        )
    other = {k: v for k, v in (jit_options or {}).items() if k not in _WITHOUT_EFFECT}
    if other or prefer_literal:
        given = f"jit_options={other!r}" if other else "prefer_literal=True"
        raise NotImplementedError(
            f"[{what}] an option that is not served yet; got {given}; expected none"
        )
    return strict


def _fits(make, made, what, strict):
    """Whether the function has the parameters of what makes it."""
    if not callable(made) or not hasattr(made, "__code__"):
        made = getattr(made, "py_func", None)
        if made is None:
            return f"{what}: what overload() calls has to give a function or None"
    ours, theirs = inspect.signature(make).parameters, inspect.signature(made).parameters
    if strict and (
        list(ours) != list(theirs)
        or any(ours[k].default is not theirs[k].default and ours[k].default != theirs[k].default
               for k in ours)
    ):  # fmt: skip
        return (
            f"{what}: the function's parameters ({', '.join(theirs)}) are not those of what gives "
            f"it ({', '.join(ours)})"
        )
    return None


def _function(made):
    return getattr(made, "py_func", made)


def chosen(what, described, names):
    """Called by the core: the number of the function for arguments of these types, of which the
    last ones are given by these names; or a message, empty where something else may know them.
    """
    given = types.from_core(described)
    kind, _, name = what.partition(" ")
    if kind == "function":
        number, _, name = name.partition(" ")
        makers = _functions[int(number)][1]
    else:
        makers = [m for t, *m in _members.get(what, ()) if isinstance(given[0], t)]
    count = len(given) - len(names)
    positional, keywords = given[:count], dict(zip(names, given[count:], strict=True))
    for make, strict in makers:
        try:
            inspect.signature(make).bind(*positional, **keywords)
        except TypeError:
            continue
        made = make(*positional, **keywords)
        if made is None:
            continue
        wrong = _fits(make, made, name, strict)
        return wrong or program.anew(_function(made))
    return ""


def overload(func, jit_options=None, strict=True, inline="never", prefer_literal=False, **more):
    """Says what compiled functions do where a program calls `func`.

    The decorated function is called with the types of the arguments, and gives a function with the
    same parameters, or None where it knows nothing for them. Raises TypeError and
    NotImplementedError for options that are not served.
    """
    _options("overload", jit_options, strict, inline, prefer_literal, more)
    if not callable(func):
        raise TypeError(f"[overload] not a function; got {func!r}; expected one")
    if hasattr(func, "_kernel_function"):
        raise TypeError(
            f"[overload] a function that is compiled already; got {func!r}; expected one of Python"
        )

    def decorate(make):
        number = program.extended.get(id(func))
        if number is None:
            number = program.extended[id(func)] = len(_functions)
            _functions.append((func, []))
        _functions[number][1].insert(0, (make, strict))
        return make

    return decorate


def _overload_member(what, typ, name, options):
    strict = _options(f"overload_{what}", **options)
    kind = typ
    if isinstance(typ, types.Type):
        kind = types.one_type(typ)
    if not isinstance(kind, type):
        raise TypeError(
            f"[overload_{what}] not a type; got {typ!r}; expected such as types.Array, or "
            "Bag.class_type.instance_type"
        )

    def decorate(make):
        _members.setdefault(f"{what} {name}", []).insert(0, (kind, make, strict))
        _core.extend(f"{what} {name}")
        return make

    return decorate


def overload_method(
    typ, attr, jit_options=None, strict=True, inline="never", prefer_literal=False, **more
):
    """Says what compiled functions do where a program calls a method of values of a type, as
    overload() does; the first argument is the value.
    """
    options = {"jit_options": jit_options, "strict": strict, "inline": inline,
               "prefer_literal": prefer_literal, "more": more}  # fmt: skip
    return _overload_member("method", typ, attr, options)


def overload_attribute(
    typ, attr, jit_options=None, strict=True, inline="never", prefer_literal=False, **more
):
    """The same for an attribute of values of a type."""
    options = {"jit_options": jit_options, "strict": strict, "inline": inline,
               "prefer_literal": prefer_literal, "more": more}  # fmt: skip
    return _overload_member("attribute", typ, attr, options)


def register_jitable(*args, **options):
    """The function as it is: compiled functions call Python functions by compiling them."""
    _options("register_jitable", None, True, options.pop("inline", "never"), False, options)
    return args[0] if args else lambda function: function


def intrinsic(*args, **options):
    """Raises NotImplementedError: it would have to emit Numba's LLVM IR."""
    given = getattr(args[0], "__name__", repr(args[0])) if args else f"options {options!r}"
    raise NotImplementedError(
        f"[intrinsic] what emits code by Numba's own LLVM builder is not served; got {given}; "
        "expected overload() of a function, which gives Python to compile (bits of a number: "
        "x.view(np.int64); an element as it is: boundscheck=False; atomics: cuda.atomic), or a C "
        "function by ctypes or cffi"
    )
