"""Mistakes in compiled functions: what the message says, where its mark is, how long it is."""

import numpy as np
import pytest
from mistakes import told
from numbus import cuda, njit, prange
from numbus.kernels import CompileError

X = np.arange(5.0)
M = np.ones((3, 4))
LIST = [1, 2, 3]
NAMES = {"a": 1}
TEXT = "hello"


def helper(x):
    return x.missing


def two(a, b):
    return a + b


class Thing:
    value = 3


THING = Thing()


def unknown_attribute(x):
    return x.nothing  # ^x.nothing


def unknown_method(x):
    return x.nonsense(1)  # ^x.nonsense(1)


def unknown_name(x):
    return x + not_there  # noqa: F821 ^not_there


def unknown_function(x):
    return np.nonsense(x)  # ^np.nonsense


def misspelt_function(x):
    return np.cumsun(x)  # ^np.cumsun


def unsupported_numpy(x):
    return np.einsum_path("i,i", x, x)  # ^np.einsum_path


def unsupported_math(x):
    return np.fft.fft(x)  # ^np.fft.fft


def join_number_array(x):
    if x[0] > 1:
        y = 1
    else:
        y = x  # ^y
    return y


def join_dimensions(x):
    y = x
    for _ in range(3):
        y = x[:, None]  # ^y
    return y


def join_tuples(x):
    if x[0] > 1:
        t = (1, 2)
    else:
        t = (1, 2, 3)  # ^t
    return t


def returns_differ(x):
    if x[0] > 1:
        return 1
    return x  # ^return x


def one_sided(x):
    y = 1 if x[0] > 0 else x  # ^1 if
    return y


def global_list(x):
    return x[LIST[0]]  # ^LIST


def global_dict(x):
    return NAMES["a"] + x[0]  # ^NAMES


def global_object(x):
    return x[0] + THING.value * len(THING)  # ^THING


def string_operations(x):
    return len(TEXT % x)  # ^TEXT % x


def string_methods(x):
    return TEXT.encode()  # ^TEXT.encode


def list_append(x):
    a = [1.0, 2.0]
    a.append("b")  # ^a.append("b")
    return a


def empty_list(x):
    a = []
    a.append(range(3))  # ^a.append
    return a


def list_of_arrays(x):
    return [x, x][0] + [x + i for i in range(3)]  # ^[x, x][0] +


def dictionary(x):
    d = {1: 2, 2.5: 3}  # ^{1: 2, 2.5: 3}
    return d[1]


def with_statement(x):
    with x:  # ^with
        return 1


def class_statement(x):
    class A:  # ^class
        pass

    return 1


def generator(x):
    try:
        yield x[0]  # ^yield x[0]
    finally:
        x[0] = 1


def import_statement(x):
    import math  # ^import

    return math.pi


def global_statement(x):
    global X  # ^global
    X = 3


def lambda_keywords(x):
    return two(x, c=1)  # ^two(x, c=1)


def too_few(x):
    return two(x)  # ^two(x)


def too_many(x):
    return two(x, x, x)  # ^two(x, x, x)


def call_of_number(x):
    n = 3
    return n(x)  # ^n(x)


def ambiguous_truth(x):
    if x > 1:  # ^if
        return 1
    return 0


def chained_arrays(x):
    return 0 < x < 3  # ^0 < x < 3


def too_many_indices(x):
    return x[1, 2]  # ^x[1, 2]


def float_index(x):
    return x[1.5]  # ^x[1.5]


def float_range(x):
    s = 0
    for i in range(2.5):  # ^range(2.5)
        s += i
    return s


def index_number(x):
    return x[0][1]  # ^x[0][1]


def unpack_count(x):
    a, b = (1, 2, 3)  # ^a, b
    return a + b


def unpack_number(x):
    a, b = 3  # ^a, b
    return a + b


def loop_over_number(x):
    for i in 5:  # ^5
        x[0] += i


def shift_floats(x):
    return x << 2  # ^x << 2


def bits_of_floats(x):
    return x[0] & 1  # ^x[0] & 1


def invert_float(x):
    return ~x[0]  # ^~x[0]


def complex_to_float(x):
    return float(1j * x[0])  # ^float(1j * x[0])


def complex_into_floats(x):
    x[0] = 1j  # ^x[0]


def order_complex(x):
    return np.sqrt(x[0] * 1j) // 2  # ^np.sqrt(x[0] * 1j) // 2


def bad_dtype(x):
    return np.zeros(3, "float99")  # ^np.zeros


def bad_shape(x):
    return np.zeros(2.5)  # ^np.zeros(2.5)


def bad_axis(x):
    return x.sum(axis=3)  # ^x.sum(axis=3)


def in_callee(x):
    return helper(x)


def read_before(x):
    if False:
        y = 1
    return y + x[0]  # ^y


def recursion_without_end(x):  # ^def
    return recursion_without_end(x) + 1


def raise_value(x):
    raise x  # ^x


def assign_attribute(x):
    x.shape = (1, 5)  # ^x.shape
    return x


def store_array(x):
    x[0] = x  # ^x[0]


def slice_step_zero(x):
    return x[::0]  # ^x[::0]


def return_in_prange(x):
    for i in prange(5):
        return i  # ^return i
    return 0


def prange_recurrence(x):
    s = 0.0
    for i in prange(x.size):
        s = s * 0.5 + x[i]  # ^s
    return s


def prange_place_of_maximum(x):
    best, place = x[0], 0
    for i in prange(x.size):
        if x[i] > best:  # ^best
            best, place = x[i], i
    return place


def prange_last_value(x):
    last = 0.0
    for i in prange(x.size):
        last = x[i] * 2
        x[i] = last
    return last  # ^last


def prange_arrays_swap(x):
    a, b = x, x * 2
    for _ in prange(x.size):
        a, b = b, a  # ^b
    return a


def complex_of_string(x):
    return complex("3")  # ^complex("3")


def star_star(x, **options):
    return x


def nested_recursion(x):
    def g(n):
        return n - 1

    def f(n):
        return 1 if n < 2 else f(g(n))

    return f(5)  # ^f(5)


CASES = {
    # function: (arguments, words of the message)
    unknown_attribute: ((X,), ["no attribute 'nothing'", "array(float64, 1d, C)"]),
    unknown_method: ((X,), ["no method 'nonsense'", "array(float64, 1d, C)"]),
    unknown_name: ((X,), ["'not_there' is not defined"]),
    unknown_function: ((X,), ["no attribute 'nonsense'"]),
    misspelt_function: ((X,), ["no attribute 'cumsun'", "instead: cumsum"]),
    unsupported_numpy: ((X,), ["not yet", "einsum_path"]),
    unsupported_math: ((X,), ["not yet", "np.fft.fft"]),
    join_number_array: ((X,), ["'y' is int on one path", "array(float64"]),
    join_dimensions: ((X,), ["'y' is array(float64, 1d", "2d"]),
    join_tuples: ((X,), ["'t' is (int, int)", "(int, int, int)"]),
    returns_differ: ((X,), ["returns int on one path", "array(float64"]),
    one_sided: ((X,), ["one side is int, the other array(float64"]),
    global_list: ((X,), ["global list", "tuple or an array"]),
    global_dict: ((X,), ["global dict"]),
    global_object: ((X,), ["'Thing' objects"]),
    string_operations: ((X,), ["a format of run time of array", "its parts, one by one"]),
    string_methods: ((X,), ["str"]),
    list_append: ((X,), ["putting str into a list(float)"]),
    empty_list: ((X,), ["a list of range"]),
    list_of_arrays: ((X,), ["operators on a list(array(float64"]),
    dictionary: ((X,), ["keys of two types in one dict"]),
    with_statement: ((X,), ["With"]),
    class_statement: ((X,), ["ClassDef"]),
    generator: ((X,), ["yield in a try statement"]),
    import_statement: ((X,), ["Import"]),
    global_statement: ((X,), ["global 'X'"]),
    lambda_keywords: ((X,), ["no parameter 'c'"]),
    too_few: ((X,), ["missing the argument 'b'"]),
    too_many: ((X,), ["takes 2 arguments; got 3"]),
    call_of_number: ((X,), ["int cannot be called"]),
    ambiguous_truth: ((X,), ["ambiguous", ".any() or .all()"]),
    chained_arrays: ((X,), ["chained comparison"]),
    too_many_indices: ((X,), ["too many indices", "1 dimensions"]),
    float_index: ((X,), ["an index has to be an integer", "float"]),
    float_range: ((X,), ["integer", "float"]),
    index_number: ((X,), ["float64 cannot be indexed"]),
    unpack_count: ((X,), ["tuple of 3 into 2"]),
    unpack_number: ((X,), ["cannot unpack int"]),
    loop_over_number: ((X,), ["cannot loop over int", "range"]),
    shift_floats: ((X,), ["operator <<", "float64"]),
    bits_of_floats: ((X,), ["operator &", "float64"]),
    invert_float: ((X,), ["operator ~", "float64"]),
    complex_to_float: ((X,), ["complex", ".real or abs()"]),
    complex_into_floats: ((X,), ["complex", "float64"]),
    order_complex: ((X,), ["operator //", "complex128"]),
    bad_dtype: ((X,), ["dtype", "float99"]),
    bad_shape: ((X,), ["a shape is an integer"]),
    bad_axis: ((X,), ["axis 3 is out of bounds"]),
    in_callee: ((X,), ["no attribute 'missing'", "in helper", "return x.missing"]),
    read_before: ((X,), ["'y', which is read before"]),
    recursion_without_end: ((X,), ["depends on itself", "without recursion"]),
    raise_value: ((X,), ["only exception classes"]),
    assign_attribute: ((X,), ["attributes cannot be assigned"]),
    store_array: ((X,), ["storing array(float64", "in an element"]),
    slice_step_zero: ((X,), ["step cannot be zero"]),
    return_in_prange: ((X,), ["return does not work in a parallel loop"]),
    prange_recurrence: ((X,), ["'s' carries a value", "range instead of prange"]),
    prange_place_of_maximum: ((X,), ["'best' carries a value"]),
    prange_last_value: ((X,), ["has its own 'last'"]),
    prange_arrays_swap: ((X,), ["'b' carries a value"]),
    complex_of_string: ((X,), ["complex() of a string"]),
    nested_recursion: ((X,), ["calls itself and another local function, 'g'", "module level"]),
}


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_mistake(function):
    told(function, *CASES[function])


def test_wrong_arguments():
    @njit
    def f(x, y):
        return x

    with pytest.raises(TypeError, match="bytes"):
        f(b"a", 1)
    with pytest.raises(TypeError, match="an empty list"):
        f([], 1)
    with pytest.raises(TypeError, match="dict"):
        f({}, 1)
    with pytest.raises(TypeError, match="missing"):
        f(1)
    with pytest.raises(TypeError):
        f(1, 2, 3)
    with pytest.raises(TypeError):
        f(1, z=2)
    with pytest.raises((TypeError, OverflowError)):
        f(2**70, 1)
    with pytest.raises(TypeError):
        f(np.array(["a"]), 1)
    with pytest.raises(TypeError, match="object"):
        f(object(), 1)


def test_no_source():
    space = {}
    exec("def f(x):\n    return x", space)
    with pytest.raises(CompileError, match="source of 'f' is not available") as e:
        njit(space["f"])(1)
    assert "exec" in str(e.value)
    for builtin in (len, np.sin, max):
        with pytest.raises(TypeError, match="Python function"):
            njit(builtin)(1)

    @njit
    def g(x):
        return space["f"](x)

    with pytest.raises(CompileError):
        g(1)


def test_options_and_signatures():
    with pytest.raises(TypeError, match="no such option; got fast"):
        njit(fast=True)(lambda x: x)
    with pytest.raises(ValueError, match="not a signature"):
        njit("float65(float64)")(lambda x: x)

    @njit("float64(float64)")
    def f(x):
        return x

    with pytest.raises(TypeError, match="no matching signature"):
        f(np.ones(3))


def test_not_a_kernel():
    with pytest.raises(TypeError, match=r"\[slice_step_zero\] only kernels are launched"):
        njit(slice_step_zero)[1, 32](X)
    with pytest.raises(TypeError, match=r"not a signature; got 3; expected"):
        njit(3)
    with pytest.raises(
        TypeError, match=r"wrong number of arguments; got float64\(float64, float64\)"
    ):
        njit("float64(float64, float64)")(raise_value)
    with pytest.raises(CompileError, match=r"cuda.threadIdx is three numbers") as e:
        cuda.jit(whole_thread_index)[1, 4](X)
    assert "instead: cuda.threadIdx.x" in str(e.value)


def whole_thread_index(x):
    x[cuda.threadIdx] = 1


def test_runtime():
    @njit
    def f(n):
        return 1 // n

    with pytest.raises(ZeroDivisionError) as e:
        f(0)
    assert "return 1 // n" in e.value.__notes__[0]

    @njit
    def g(a, b):
        return a + b

    with pytest.raises(ValueError, match="broadcast") as e:
        g(np.ones(3), np.ones(4))
    assert "3" in str(e.value) and "4" in str(e.value)

    @njit(boundscheck=True)
    def h(a):
        return a[7]

    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 of 'a' with size 3"):
        h(np.ones(3))
