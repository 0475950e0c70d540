"""Fifty more mistakes in compiled functions: what the message says, and where its mark is."""

import math
import random

import numpy as np
import pytest
from mistakes import told
from numbus import njit
from numbus.kernels import CompileError, objmode, types
from numbus.kernels.classes import jitclass

X = np.arange(5.0)
ALLOWED = frozenset((1, 2))
GLOBAL_SET = {1, 2}


class Own(Exception):
    pass


@jitclass([("total", types.float64), ("names", types.ListType(types.unicode_type))])
class Box:
    def __init__(self, total):
        self.total = total

    def add(self, x):
        self.total += x


# --- exceptions


def raise_array(x):
    raise ValueError("bad", x)  # ^x


def raise_number(x):
    raise x  # ^x


def raise_keyword(x):
    raise Own(what=x.size)  # ^Own(what


def raise_starred(x):
    args = ("a", 1)
    raise Own(*args)  # ^*args


def raise_from_number(x):
    raise Own("a") from x.size  # ^x.size


def ask_of_exception(x):
    try:
        return x[7]
    except IndexError as e:
        return e.nothing  # ^e.nothing


def except_number(x):
    try:
        return x[7]
    except 3:  # noqa: B030 ^3
        return 0.0


def nothing_to_raise(x):
    raise  # ^raise


# --- lists, dicts, sets


def list_of_two(x):
    a = ["a", 1]
    a.append(2.5)  # ^a.append
    return a


def none_and_two(x):
    a = [None, 1]
    a.append("text")  # ^a.append
    return a


def dict_of_two(x):
    d = {1: "a"}
    d[2] = 2.5  # ^d[2]
    return d


def key_of_array(x):
    d = {1: 2}
    return d[x]  # ^d[x]


def set_index(x):
    s = {1, 2}
    return s[0]  # ^s[0]


def set_of_lists(x):
    return {[1], [2]}  # ^{[1]


def set_plus(x):
    return {1} + {2}  # ^{1} +


def set_method(x):
    s = {1}
    s.append(2)  # ^s.append
    return s


def global_set(x):
    return 1 in GLOBAL_SET  # ^GLOBAL_SET


def frozen_at_run_time(x):
    return 1 in frozenset({x.size})  # ^frozenset(


def frozen_order(x):
    return ALLOWED < 3  # ^ALLOWED


def list_by_float(x):
    a = [1, 2]
    return a[0.5]  # ^a[0.5]


def list_times_float(x):
    return ["a"] * 2.5  # ^["a"]


def sum_of_lists(x):
    return ["a"] + [(1, 2)]  # ^return


def sort_by_nothing(x):
    a = [3, 1]
    a.sort(2)  # ^a.sort
    return a


def dict_method(x):
    d = {1: 2}
    return d.has_key(1)  # ^d.has_key


# --- objmode, local functions


def python_without_type(x):
    with objmode(y="float64"):  # ^with
        y = 1.0
        z = 2.0
    return y + z


def python_wrong_type(x):
    with objmode(y="floaty"):  # ^"floaty"
        y = 1.0
    return y


def python_return(x):
    with objmode():
        return x  # ^return x


def other_with(x):
    with open("a") as f:  # ^with open
        return f


def local_arguments(x):
    def f(n):
        return 0 if n < 1 else f(n - 1, 2)  # ^f(n - 1, 2)

    return f(3)


# --- classes


def field_type(x):
    b = Box(1.0)
    b.total = "text"  # ^b.total
    return b


def no_field(x):
    return Box(1.0).size  # ^Box(1.0).size


def no_method(x):
    b = Box(1.0)
    b.remove(2)  # ^b.remove
    return b


def new_field(x):
    b = Box(1.0)
    b.other = 3  # ^b.other
    return b


def box_arguments(x):
    return Box(1.0, 2.0)  # ^Box(1.0, 2.0)


# --- numbers and arrays


def complex_order(x):
    return 1j < 2j  # ^1j <


def float_shift(x):
    return 1.5 << 2  # ^1.5 <<


def text_plus_number(x):
    return "a" + 1  # ^"a" +


def call_a_number(x):
    n = 3
    return n(x)  # ^n(x)


def too_many_indices(x):
    return x[1, 2]  # ^x[1, 2]


def store_text(x):
    x[0] = "a"  # ^x[0]
    return x


def unpack_number(x):
    a, b = 3  # ^a, b
    return a + b


def unpack_three(x):
    a, b = (1, 2, 3)  # ^a, b
    return a + b


def wrong_dtype(x):
    return np.zeros(3, "float63")  # ^np.zeros


def loop_over_number(x):
    s = 0
    for i in 3:  # ^3
        s += i
    return s


def math_of_array(x):
    return math.sqrt(x)  # ^math.sqrt


def random_of_text(x):
    return random.gauss("a", 1)  # ^random.gauss


def keyword_of_builtin(x):
    return abs(x=3)  # ^abs(


def len_of_number(x):
    return len(3)  # ^len(3)


def star_of_array(x):
    return max(*x)  # ^*x


# --- order, powers and items that have none


def complex_sorted(x):
    return sorted([2j, 1j])  # ^sorted(


def complex_extreme(x):
    z = 1j
    return max(z, 2j, 3j)  # ^max(z


def complex_sort(x):
    a = [2j, 1j]
    a.sort()  # ^a.sort()
    return a


def order_of_none(x):
    return None < x.size  # ^None <


def order_of_dicts(x):
    return {1: 2} < {1: 3}  # ^{1: 2} <


def order_of_text(x):
    return "a" < x.size  # ^"a" <


CASES = {
    # function: words of the message
    raise_array: "array(float64, 1d, C) as an argument of an exception",
    raise_number: "only exception classes",
    raise_keyword: "keywords of an exception",
    raise_starred: "* in the arguments of an exception",
    raise_from_number: "only exception classes",
    ask_of_exception: "str(e), e.args",
    except_number: "takes a class of exceptions",
    nothing_to_raise: "nothing to raise again",
    list_of_two: "a list of str and int",
    none_and_two: "putting str into a list(int or None)",
    dict_of_two: "putting float into a dict(int, str)",
    key_of_array: "keys of the type array",
    set_index: "a set has no items by index",
    set_of_lists: "keys of the type list(int)",
    set_plus: "operator + does not work on set(int)",
    set_method: "set(int) has no method 'append'",
    global_set: "a global set",
    frozen_at_run_time: "frozenset() of set(int)",
    frozen_order: "frozenset and int have no order",
    list_by_float: "integers or slices; got float",
    list_times_float: "operator * does not work",
    sum_of_lists: "list of several types (str, (int, int))",
    sort_by_nothing: "sort() takes no positional arguments",
    dict_method: "no method 'has_key'",
    python_without_type: "'z' is assigned in objmode",
    python_wrong_type: "takes a type for 'y'",
    python_return: "ends where it ends",
    other_with: "with statements",
    local_arguments: "f() takes 1 arguments; got 2",
    field_type: "the field 'total' is of the type float; got str",
    no_field: "its fields are total, names",
    no_method: "no method 'remove'",
    new_field: "no field 'other'",
    box_arguments: "__init__() takes 2 arguments; got 3",
    complex_order: "complex and complex have no order",
    float_shift: "operator << needs integers",
    text_plus_number: "operator + does not work on str and int",
    call_a_number: "int cannot be called",
    too_many_indices: "too many indices",
    store_text: "cannot store str",
    unpack_number: "cannot unpack int into 2 names",
    unpack_three: "cannot unpack a tuple of 3 into 2 names",
    wrong_dtype: "the dtype 'float63'",
    loop_over_number: "cannot loop over int",
    math_of_array: "np.sqrt",
    random_of_text: "str",
    keyword_of_builtin: "abs() with x=",
    len_of_number: "len() of int",
    star_of_array: "* of anything but a tuple",
    complex_sorted: "sorted() of complex numbers",
    complex_extreme: "max() of complex numbers",
    complex_sort: "sort() of complex numbers",
    order_of_none: "no order",
    order_of_dicts: "no order",
    order_of_text: "",
}


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_mistake(function):
    told(function, (X,), [CASES[function]])


def test_local_functions_in_objmode():
    def f(x):
        def g(a):
            return a

        with objmode():
            print(g)
        return x

    with pytest.raises(CompileError, match="a local function in objmode: 'g'"):
        njit(f)(1)
