"""Types for editors and checkers, made by tools/stubs.py: do not edit."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, SupportsIndex

from numpy.typing import ArrayLike, DTypeLike
import numpy
from builtins import bool as _bool
from numpy import bool as bool
from numpy import bool_ as bool_
from numpy import broadcast as broadcast
from numpy import busdaycalendar as busdaycalendar
from numpy import byte as byte
from numpy import bytes_ as bytes_
from numpy import cdouble as cdouble
from numpy import character as character
from numpy import clongdouble as clongdouble
from numpy import complex128 as complex128
from numpy import complex256 as complex256
from numpy import complex64 as complex64
from numpy import complexfloating as complexfloating
from numpy import csingle as csingle
from . import cuda as cuda
from . import data as data
from numpy import datetime64 as datetime64
from numpy import double as double
from numpy import dtype as dtype
from numpy import dtypes as dtypes
from numpy import errstate as errstate
from numpy import exceptions as exceptions
from . import fft as fft
from numpy import flatiter as flatiter
from numpy import flexible as flexible
from numpy import float128 as float128
from numpy import float16 as float16
from numpy import float32 as float32
from numpy import float64 as float64
from numpy import floating as floating
from numpy import generic as generic
from numpy import half as half
from numpy import iinfo as iinfo
from numpy import inexact as inexact
from numpy import int16 as int16
from numpy import int32 as int32
from numpy import int64 as int64
from numpy import int8 as int8
from numpy import int_ as int_
from numpy import intc as intc
from numpy import integer as integer
from numpy import intp as intp
from . import kernels as kernels
from . import linalg as linalg
from numpy import long as long
from numpy import longdouble as longdouble
from numpy import longlong as longlong
from numpy import matrix as matrix
from numpy import memmap as memmap
from numpy import ndenumerate as ndenumerate
from numpy import ndindex as ndindex
from . import nn as nn
from numpy import number as number
from numpy import object_ as object_
from . import optim as optim
from numpy import poly1d as poly1d
from . import random as random
from numpy import recarray as recarray
from numpy import record as record
from numpy import short as short
from numpy import signedinteger as signedinteger
from numpy import single as single
from numpy import str_ as str_
from . import tensors as tensors
from . import testing as testing
from numpy import timedelta64 as timedelta64
from . import types as types
from numpy import typing as typing
from numpy import ubyte as ubyte
from numpy import uint as uint
from numpy import uint16 as uint16
from numpy import uint32 as uint32
from numpy import uint64 as uint64
from numpy import uint8 as uint8
from numpy import uintc as uintc
from numpy import uintp as uintp
from numpy import ulong as ulong
from numpy import ulonglong as ulonglong
from numpy import unsignedinteger as unsignedinteger
from numpy import ushort as ushort
from numpy import void as void

class ufunc:
    """A function of elements: one, two or more operands, which broadcast."""

    nin: int
    nout: int
    nargs: int
    ntypes: int
    types: list[str]
    identity: Any
    signature: str | None
    __name__: str
    def __call__(
        self,
        *operands: Any,
        out: Any = ...,
        where: Any = ...,
        casting: str = ...,
        order: str = ...,
        dtype: DTypeLike | None = ...,
        subok: _bool = ...,
        signature: Any = ...,
    ) -> Any: ...
    def reduce(
        self,
        array: ArrayLike,
        axis: SupportsIndex | Sequence[SupportsIndex] | None = 0,
        dtype: DTypeLike | None = ...,
        out: Any = ...,
        keepdims: _bool = ...,
        initial: Any = ...,
        where: Any = ...,
    ) -> Any: ...
    def accumulate(
        self, array: ArrayLike, axis: SupportsIndex = 0, dtype: Any = ..., out: Any = ...
    ) -> ndarray: ...
    def reduceat(
        self,
        array: ArrayLike,
        indices: ArrayLike,
        axis: SupportsIndex = 0,
        dtype: DTypeLike | None = ...,
        out: Any = ...,
    ) -> ndarray: ...
    def outer(self, A: ArrayLike, B: ArrayLike, /, **kwargs: Any) -> ndarray: ...
    def at(self, a: ndarray, indices: Any, b: ArrayLike = ..., /) -> None: ...
    def resolve_dtypes(self, dtypes: Any, **kwargs: Any) -> Any: ...

class _Unary(ufunc):
    def __call__(  # type: ignore[override]
        self, x: ArrayLike, /, out: Any = ..., *, where: Any = ..., casting: str = ..., order: str = ..., dtype: DTypeLike | None = ..., subok: _bool = ..., signature: Any = ...
    ) -> Any: ...
class _Binary(ufunc):
    def __call__(  # type: ignore[override]
        self, x1: ArrayLike, x2: ArrayLike, /, out: Any = ..., *, where: Any = ..., casting: str = ..., order: str = ..., dtype: DTypeLike | None = ..., subok: _bool = ..., signature: Any = ...
    ) -> Any: ...
class _Ternary(ufunc):
    def __call__(  # type: ignore[override]
        self, x1: ArrayLike, x2: ArrayLike, x3: ArrayLike, /, out: Any = ..., *, where: Any = ..., casting: str = ..., order: str = ..., dtype: DTypeLike | None = ..., subok: _bool = ..., signature: Any = ...
    ) -> Any: ...
class ndarray:
    """An array; `isinstance(x, ndarray)` holds for Numbus arrays and for numpy.ndarray."""
    def __new__(cls, shape: Any, dtype: DTypeLike | None = ..., buffer: Any = ..., offset: int = ..., strides: Any = ..., order: str | None = ...) -> ndarray: ...
    @property
    def T(self) -> ndarray: ...
    @property
    def base(self) -> Any: ...
    @property
    def ctypes(self) -> Any: ...
    @property
    def data(self) -> memoryview: ...
    @property
    def device(self) -> str: ...
    @property
    def dtype(self) -> numpy.dtype[Any]: ...
    @property
    def flags(self) -> Any: ...
    @property
    def flat(self) -> Any: ...
    @flat.setter
    def flat(self, value: Any) -> None: ...
    @property
    def imag(self) -> ndarray: ...
    @imag.setter
    def imag(self, value: Any) -> None: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def mT(self) -> ndarray: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def ndim(self) -> int: ...
    @property
    def real(self) -> ndarray: ...
    @real.setter
    def real(self, value: Any) -> None: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @shape.setter
    def shape(self, value: Any) -> None: ...
    @property
    def size(self) -> int: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    def __abs__(self) -> ndarray: ...
    def __add__(self, other: Any, /) -> ndarray: ...
    def __and__(self, other: Any, /) -> ndarray: ...
    def __array__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __array_namespace__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __bool__(self) -> _bool: ...
    def __complex__(self) -> complex: ...
    def __contains__(self, key: Any, /) -> _bool: ...
    def __copy__(self) -> ndarray: ...
    def __divmod__(self, other: Any, /) -> Any: ...
    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __float__(self) -> float: ...
    def __floordiv__(self, other: Any, /) -> ndarray: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __iadd__(self, other: Any, /) -> ndarray: ...
    def __iand__(self, other: Any, /) -> ndarray: ...
    def __ifloordiv__(self, other: Any, /) -> ndarray: ...
    def __ilshift__(self, other: Any, /) -> ndarray: ...
    def __imatmul__(self, other: Any, /) -> ndarray: ...
    def __imod__(self, other: Any, /) -> ndarray: ...
    def __imul__(self, other: Any, /) -> ndarray: ...
    def __index__(self) -> int: ...
    def __int__(self) -> int: ...
    def __invert__(self) -> ndarray: ...
    def __ior__(self, other: Any, /) -> ndarray: ...
    def __ipow__(self, other: Any, /) -> ndarray: ...
    def __irshift__(self, other: Any, /) -> ndarray: ...
    def __isub__(self, other: Any, /) -> ndarray: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __itruediv__(self, other: Any, /) -> ndarray: ...
    def __ixor__(self, other: Any, /) -> ndarray: ...
    def __len__(self) -> int: ...
    def __lshift__(self, other: Any, /) -> ndarray: ...
    def __matmul__(self, other: Any, /) -> ndarray: ...
    def __mod__(self, other: Any, /) -> ndarray: ...
    def __mul__(self, other: Any, /) -> ndarray: ...
    def __neg__(self) -> ndarray: ...
    def __or__(self, other: Any, /) -> ndarray: ...
    def __pos__(self) -> ndarray: ...
    def __pow__(self, other: Any, /) -> ndarray: ...
    def __radd__(self, other: Any, /) -> ndarray: ...
    def __rand__(self, other: Any, /) -> ndarray: ...
    def __rdivmod__(self, other: Any, /) -> Any: ...
    def __rfloordiv__(self, other: Any, /) -> ndarray: ...
    def __rlshift__(self, other: Any, /) -> ndarray: ...
    def __rmatmul__(self, other: Any, /) -> ndarray: ...
    def __rmod__(self, other: Any, /) -> ndarray: ...
    def __rmul__(self, other: Any, /) -> ndarray: ...
    def __ror__(self, other: Any, /) -> ndarray: ...
    def __rpow__(self, other: Any, /) -> ndarray: ...
    def __rrshift__(self, other: Any, /) -> ndarray: ...
    def __rshift__(self, other: Any, /) -> ndarray: ...
    def __rsub__(self, other: Any, /) -> ndarray: ...
    def __rtruediv__(self, other: Any, /) -> ndarray: ...
    def __rxor__(self, other: Any, /) -> ndarray: ...
    def __setitem__(self, key: Any, value: Any, /) -> None: ...
    def __sub__(self, other: Any, /) -> ndarray: ...
    def __truediv__(self, other: Any, /) -> ndarray: ...
    def __xor__(self, other: Any, /) -> ndarray: ...
    def all(self, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: Any = None, keepdims: _bool = False, *, where: Any = True) -> Any:
        """Whether all elements over `axis` are true."""
    def any(self, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: Any = None, keepdims: _bool = False, *, where: Any = True) -> Any:
        """Whether any element over `axis` is true."""
    def argmax(self, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: Any = None, *, keepdims: _bool = False) -> Any:
        """Index of the first largest element (of the first NaN) along `axis`; None: in the flattened
        array."""
    def argmin(self, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: Any = None, *, keepdims: _bool = False) -> Any:
        """Index of the first smallest element (of the first NaN) along `axis`; None: in the flattened
        array."""
    def argpartition(self, kth: Any, axis: SupportsIndex | None = -1, kind: Literal['introselect'] = 'introselect', order: Any = None) -> Any:
        """The indices, int64, that partition `a` along `axis` as partition() does."""
    def argsort(self, axis: SupportsIndex | None = -1, kind: Literal['quicksort', 'heapsort', 'mergesort', 'stable'] | None = None, order: Any = None, *, stable: _bool | None = None, descending: _bool = False) -> ndarray:
        """The indices, int64, that put the elements in order along `axis`; equal ones keep theirs."""
    def astype(self, dtype: DTypeLike | None, order: Any = 'K', casting: Any = 'unsafe', subok: Any = True, copy: Any = True) -> ndarray:
        """The elements converted to `dtype`; TypeError if `casting` forbids it."""
    def bind(self, stream: Any = 0) -> Any:
        ...
    def byteswap(self, *args: Any, **kwargs: Any) -> ndarray:
        """a.byteswap(inplace=False)"""
    def choose(self, choices: Any, out: Any = None, mode: Any = 'raise') -> Any:
        """For each element the choice that it names by its number; as numbus.choose()."""
    def clip(self, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None, **kwargs: Any) -> Any:
        """`a` limited to [a_min, a_max], also called min and max; either limit may be None."""
    def compress(self, condition: Any, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: Any = None) -> Any:
        """The slices along `axis` where the condition holds."""
    def conj(self) -> Any:
        """Complex conjugate, element-wise; a real array itself."""
    def conjugate(self) -> Any:
        """Complex conjugate, element-wise; a real array itself."""
    def copy(self, *args: Any, **kwargs: Any) -> ndarray:
        """copy(self, order: object | None = 'C') -> object"""
    def copy_to_device(self, ary: Any, stream: Any = 0) -> Any:
        """Copies an array of the host or of a device into this one."""
    def copy_to_host(self, ary: Any = None, stream: Any = 0) -> Any:
        """The array as a NumPy array, or copied into `ary`; raises what kernels have noted."""
    def cumprod(self, axis: SupportsIndex | None = None, dtype: DTypeLike | None = None, out: Any = None) -> ndarray:
        """Products of all elements up to each along `axis` (None: flattened). Small integers and bool
        multiply as (u)int64."""
    def cumsum(self, axis: SupportsIndex | None = None, dtype: DTypeLike | None = None, out: Any = None) -> ndarray:
        """Sums of all elements up to each along `axis` (None: flattened). Small integers and bool sum
        as (u)int64."""
    def diagonal(self, offset: SupportsIndex = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1) -> Any:
        """The diagonal of two axes as the last axis of a read-only view, in compiled functions of a
        copy. ValueError for one axis."""
    def dot(self, b: ArrayLike, out: Any = None) -> Any:
        """Inner product of vectors, matrix product of matrices, product with a scalar; N-d: over a's
        last and b's second-to-last axis, the other axes of both kept."""
    def dump(self, *args: Any, **kwargs: Any) -> Any:
        """a.dump(file)"""
    def dumps(self, *args: Any, **kwargs: Any) -> Any:
        """a.dumps()"""
    def fill(self, *args: Any, **kwargs: Any) -> None:
        """fill(self, value: object) -> None"""
    def flatten(self, order: Any = 'C') -> ndarray:
        """A copy flattened to one axis."""
    def getfield(self, *args: Any, **kwargs: Any) -> Any:
        """a.getfield(dtype, offset=0)"""
    def getitem(self, index: Any, stream: Any = 0) -> Any:
        """A view, or for one element its value, read in the stream."""
    def is_c_contiguous(self) -> Any:
        ...
    def is_f_contiguous(self) -> Any:
        ...
    def item(self, *args: Any, **kwargs: Any) -> Any:
        """item(self, *args) -> object"""
    def max(self, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: Any = None, keepdims: _bool = False, initial: Any = ..., where: Any = True) -> Any:
        """Largest element over `axis`; NaN if there is one. Raises ValueError for an empty axis."""
    def mean(self, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: _bool = False, *, where: Any = True) -> Any:
        """Arithmetic mean over `axis`; float64 for integers."""
    def min(self, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: Any = None, keepdims: _bool = False, initial: Any = ..., where: Any = True) -> Any:
        """Smallest element over `axis`; NaN if there is one. Raises ValueError for an empty axis."""
    def nonzero(self) -> tuple[ndarray, ...]:
        """A tuple of int64 arrays: the indices of the elements that are not zero, one array per axis.
        ValueError for an array without axes."""
    def partition(self, kth: Any, axis: SupportsIndex | Sequence[SupportsIndex] | None = -1, kind: Any = 'introselect', order: Any = None) -> Any:
        """Partitions the elements along `axis`; see `partition`."""
    def prod(self, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: _bool = False, initial: Any = ..., where: Any = True) -> Any:
        """Product over `axis` (int, tuple, None for all). Small integers and bool multiply
        as (u)int64."""
    def put(self, ind: Any, v: Any, mode: Any = 'raise') -> Any:
        """Sets `a.flat[ind[k]] = v[k % len(v)]`, cast to the type of `a`."""
    def ravel(self, *args: Any, **kwargs: Any) -> ndarray:
        """ravel(self, order: object | None = 'C') -> object"""
    def repeat(self, repeats: Any, axis: SupportsIndex | None = None) -> ndarray:
        """Each element repeated: `repeats` is an int, or one int per element along `axis` (None:
        flattened). ValueError for negative ones and for another number of them."""
    def reshape(self, *args: Any, **kwargs: Any) -> ndarray:
        """reshape(self, *shape, order: object | None = 'C', copy: object | None = None) -> object"""
    def resize(self, *new_shape: Any, refcheck: Any = True) -> Any:
        """Changes the shape in place: elements as they lie in memory, zeros after the last, or fewer."""
    def round(self, decimals: Any = 0, out: Any = None) -> Any:
        """`a` rounded to `decimals` places, halves to even; integers stay as they are for decimals >=
        0."""
    def searchsorted(self, v: ArrayLike, side: Literal['left', 'right'] = 'left', sorter: Any = None) -> Any:
        """The indices, int64, before which the values `v` belong in the sorted 1-d `a`."""
    def setfield(self, *args: Any, **kwargs: Any) -> Any:
        """a.setfield(val, dtype, offset=0)"""
    def setflags(self, write: Any = None, align: Any = None, uic: Any = None) -> None:
        """Makes the array read-only, or an array that owns its memory writeable again."""
    def setitem(self, index: Any, value: Any, stream: Any = 0) -> Any:
        """Writes elements, in the stream where they lie in one piece."""
    def sort(self, axis: SupportsIndex | Sequence[SupportsIndex] | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> ndarray:
        """Puts the elements in order along `axis`; see `sort`."""
    def split(self, section: Any, stream: Any = 0) -> list[ndarray]:
        """Views of `section` elements each, the last one of what is left."""
    def squeeze(self, axis: Any = None) -> ndarray:
        """`a` without its axes of extent 1 (or without `axis`, which must have extent 1): a view."""
    def std(self, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, dtype: DTypeLike | None = None, out: Any = None, ddof: Any = 0, keepdims: _bool = False, *, where: Any = True, mean: Any = ..., correction: Any = ...) -> Any:
        """Standard deviation over `axis` with divisor `n - ddof`, reading its input once."""
    def sum(self, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: _bool = False, initial: Any = ..., where: Any = True) -> Any:
        """Sum over `axis` (int, tuple, None for all). Small integers and bool sum as (u)int64."""
    def swapaxes(self, axis1: Any, axis2: Any) -> ndarray:
        """`a` with two axes exchanged: a view."""
    def take(self, indices: Any, axis: SupportsIndex | None = None, out: Any = None, mode: Literal['raise', 'wrap', 'clip'] = 'raise') -> Any:
        """The elements of `a` at `indices` along `axis` (None: flattened)."""
    def to_device(self, device: Any, /, *, stream: Any = None) -> ndarray:
        """The array on the named device: itself where it already is, else a copy."""
    def to_numpy(self) -> numpy.ndarray[Any, Any]:
        """The values as a NumPy array; libraries that ask for this method need not go through elements."""
    def tobytes(self, order: Any = 'C') -> bytes:
        """The bytes of the elements in the given order."""
    def tofile(self, *args: Any, **kwargs: Any) -> Any:
        """a.tofile(fid, /, sep='', format='%s')"""
    def tolist(self, *args: Any, **kwargs: Any) -> Any:
        """tolist(self) -> object"""
    def trace(self, offset: SupportsIndex = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1, dtype: DTypeLike | None = None, out: Any = None) -> Any:
        """The sum along a diagonal."""
    def transpose(self, *args: Any, **kwargs: Any) -> ndarray:
        """transpose(self, *args) -> object"""
    def var(self, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, dtype: DTypeLike | None = None, out: Any = None, ddof: Any = 0, keepdims: _bool = False, *, where: Any = True, mean: Any = ..., correction: Any = ...) -> Any:
        """Variance over `axis` with divisor `n - ddof`; `mean` may give the mean (with keepdims)."""
    def view(self, dtype: DTypeLike | None = None, type: Any = None) -> ndarray:
        """A view of the same memory, with elements of `dtype` if given. type: numpy.ndarray or one of
        its subclasses, whose view NumPy makes, as those of structured types, text, dates and bytes in
        another order; these only where the memory is the host's (TypeError)."""
    def __eq__(self, other: Any, /) -> ndarray: ...  # type: ignore[override]
    def __ne__(self, other: Any, /) -> ndarray: ...  # type: ignore[override]
    def __lt__(self, other: Any, /) -> ndarray: ...
    def __le__(self, other: Any, /) -> ndarray: ...
    def __gt__(self, other: Any, /) -> ndarray: ...
    def __ge__(self, other: Any, /) -> ndarray: ...
    __hash__ = None  # type: ignore[assignment]
def jit(function: Any = ..., /, *args: Any, **kwargs: Any) -> Any: ...
def njit(function: Any = ..., /, *args: Any, **kwargs: Any) -> Any: ...
def vectorize(*args: Any, **kwargs: Any) -> Any: ...
def guvectorize(*args: Any, **kwargs: Any) -> Any: ...
def stencil(*args: Any, **kwargs: Any) -> Any: ...
def benchmark(*args: Any, **kwargs: Any) -> Any: ...
def prange(*bounds: SupportsIndex) -> range: ...
def __array_namespace_info__() -> Any: ...
class device:
    """The device of new arrays, as a statement or in `with`."""

    name: str
    def __init__(self, name: Any = None) -> None: ...
    def __enter__(self) -> device: ...
    def __exit__(self, *error: object) -> None: ...

__version__: str
__array_api_version__: str
CompileWarning: Any
False_: Any
ScalarType: Any
True_: Any
abs: _Unary
"""Absolute value element-wise."""
absolute: _Unary
"""Absolute value element-wise."""
acos: _Unary
"""Inverse cosine, element-wise."""
acosh: _Unary
"""Inverse hyperbolic cosine, element-wise."""
add: _Binary
"""Add arguments element-wise."""
def all(a: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: Any = None, keepdims: _bool = False, *, where: Any = True) -> Any:
    """Whether all elements over `axis` are true."""
def allclose(a: ArrayLike, b: ArrayLike, rtol: ArrayLike = 1e-05, atol: ArrayLike = 1e-08, equal_nan: _bool = False) -> _bool:
    """Whether all elements are close (see isclose): a Python bool."""
def amax(a: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: Any = None, keepdims: _bool = False, initial: Any = ..., where: Any = True) -> Any:
    """Largest element over `axis`; NaN if there is one. Raises ValueError for an empty axis."""
def amin(a: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: Any = None, keepdims: _bool = False, initial: Any = ..., where: Any = True) -> Any:
    """Smallest element over `axis`; NaN if there is one. Raises ValueError for an empty axis."""
def angle(z: ArrayLike, deg: _bool = False) -> Any:
    """The angle of complex numbers, in radians or degrees."""
def any(a: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: Any = None, keepdims: _bool = False, *, where: Any = True) -> Any:
    """Whether any element over `axis` is true."""
def append(arr: ArrayLike, values: ArrayLike, axis: SupportsIndex | None = None) -> Any:
    """`values` joined to the end of `arr` along `axis`; None flattens both."""
def apply_along_axis(func1d: Any, axis: SupportsIndex | Sequence[SupportsIndex] | None, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """func1d(line, *args, **kwargs) of each line along `axis`; the axes of its results stand where
    that axis was. ValueError where there is no line."""
def apply_over_axes(func: Any, a: ArrayLike, axes: Any) -> Any:
    """func(a, axis) for each of the axes in turn; axes that it takes away come back with one
    element. ValueError where it gives another number of axes."""
def arange(start: Any, stop: Any = None, step: Any = 1, dtype: DTypeLike | None = None, *, device: Any = None, like: Any = None) -> ndarray:
    """`ceil((stop - start)/step)` values from `start` in steps of `step`; `arange(stop)` starts at
    0."""
arccos: _Unary
"""Inverse cosine, element-wise."""
arccosh: _Unary
"""Inverse hyperbolic cosine, element-wise."""
arcsin: _Unary
"""Inverse sine, element-wise."""
arcsinh: _Unary
"""Inverse hyperbolic sine, element-wise."""
arctan: _Unary
"""Inverse tangent, element-wise."""
arctan2: _Binary
"""Element-wise arc tangent of x1/x2 choosing the quadrant correctly."""
arctanh: _Unary
"""Inverse hyperbolic tangent, element-wise."""
def argmax(a: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: Any = None, *, keepdims: _bool = False) -> Any:
    """Index of the first largest element (of the first NaN) along `axis`; None: in the flattened
    array."""
def argmin(a: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: Any = None, *, keepdims: _bool = False) -> Any:
    """Index of the first smallest element (of the first NaN) along `axis`; None: in the flattened
    array."""
def argpartition(a: ArrayLike, kth: Any, axis: SupportsIndex | None = -1, kind: Literal['introselect'] = 'introselect', order: Any = None) -> Any:
    """The indices, int64, that partition `a` along `axis` as partition() does."""
def argsort(a: ArrayLike, axis: SupportsIndex | None = -1, kind: Literal['quicksort', 'heapsort', 'mergesort', 'stable'] | None = None, order: Any = None, *, stable: _bool | None = None, descending: _bool = False) -> ndarray:
    """The indices, int64, that put the elements in order along `axis`; equal ones keep theirs."""
def argwhere(a: ArrayLike) -> Any:
    """(count, ndim) array of the indices of the elements that are not zero."""
def around(a: ArrayLike, decimals: Any = 0, out: Any = None) -> Any:
    """`a` rounded to `decimals` places, halves to even; integers stay as they are for decimals >=
    0."""
def array(object: Any, dtype: DTypeLike | None = None, *, copy: Any = True, order: Any = 'K', subok: Any = False, ndmin: Any = 0, ndmax: Any = 0, like: Any = None) -> ndarray:
    """An array from any array-like: shape of the nesting, dtype promoted from the elements."""
def array2string(a: ArrayLike, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None, separator: Any = ' ', prefix: Any = '', *, formatter: Any = None, threshold: Any = None, edgeitems: Any = None, sign: Any = None, floatmode: Any = None, suffix: Any = '', legacy: Any = None) -> Any:
    """Return a string representation of an array."""
def array_equal(a1: ArrayLike, a2: ArrayLike, equal_nan: _bool = False) -> _bool:
    """Whether two arrays have the same shape and elements: a Python bool. equal_nan: NaNs equal
    each other."""
def array_equiv(a1: ArrayLike, a2: ArrayLike) -> _bool:
    """Whether two arrays are equal after broadcasting: a Python bool."""
def array_repr(arr: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None) -> Any:
    """Return the string representation of an array."""
def array_split(ary: ArrayLike, indices_or_sections: Any, axis: SupportsIndex = 0) -> list[ndarray]:
    """A list of views: parts of almost equal size, or the parts between the given indices."""
def array_str(a: ArrayLike, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None) -> Any:
    """Return a string representation of the data in an array."""
def asanyarray(a: ArrayLike, dtype: DTypeLike | None = None, order: Any = None, *, device: Any = None, copy: Any = None, like: Any = None) -> ndarray:
    """`asarray(a)`, but for subclasses of numpy.ndarray, which stay what they are."""
def asarray(a: ArrayLike, dtype: DTypeLike | None = None, order: Any = None, *, device: Any = None, copy: Any = None, like: Any = None) -> ndarray:
    """`a` as an array, without a copy where that is possible. dtype, order, device: asked of the
    result."""
def asarray_chkfinite(a: Any, dtype: DTypeLike | None = None, order: Any = None) -> Any:
    """`asarray(a)`; raises ValueError if it holds infs or NaNs."""
def ascontiguousarray(a: ArrayLike, dtype: DTypeLike | None = None, *, like: Any = None) -> ndarray:
    """`a` as a C-contiguous array of at least one dimension."""
def asfortranarray(a: Any, dtype: DTypeLike | None = None, *, like: Any = None) -> ndarray:
    """`a` as an array laid out with the first index fastest."""
asin: _Unary
"""Inverse sine, element-wise."""
asinh: _Unary
"""Inverse hyperbolic sine, element-wise."""
def asmatrix(data: Any, dtype: DTypeLike | None = None) -> Any:
    """Interpret the input as a matrix."""
def astype(x: ArrayLike, dtype: DTypeLike | None, /, *, copy: Any = True, device: Any = None) -> ndarray:
    """`x` converted to `dtype`; without `copy` an array that has it already comes back itself."""
atan: _Unary
"""Inverse tangent, element-wise."""
atan2: _Binary
"""Element-wise arc tangent of x1/x2 choosing the quadrant correctly."""
atanh: _Unary
"""Inverse hyperbolic tangent, element-wise."""
def atleast_1d(*arys: ArrayLike) -> Any:
    """Each argument with at least one axis; a tuple for several arguments."""
def atleast_2d(*arys: ArrayLike) -> Any:
    """Each argument with at least two axes, new ones in front; a tuple for several arguments."""
def atleast_3d(*arys: ArrayLike) -> Any:
    """Each argument with at least three axes: (N,) to (1, N, 1), (M, N) to (M, N, 1)."""
def average(a: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, weights: Any = None, returned: _bool = False, *, keepdims: _bool = False) -> Any:
    """Weighted mean over `axis`. weights: of the shape of `a`, or of its extents along `axis`."""
def bartlett(M: Any) -> Any:
    """A triangle of M points, float64, zero at both ends."""
def base_repr(number: Any, base: Any = 2, padding: Any = 0) -> Any:
    """Return a string representation of a number in the given base system."""
bfloat16: Any
def binary_repr(num: Any, width: Any = None) -> Any:
    """Return the binary representation of the input number as a string."""
def bincount(x: ArrayLike, /, weights: Any = None, minlength: SupportsIndex = 0) -> Any:
    """How often each value 0, 1, … occurs in the 1-d integers `x`, int64, or the float64 sum of its
    `weights`; at least `minlength` of them."""
bitwise_and: _Binary
"""Bit-wise AND of two arrays element-wise."""
bitwise_count: _Unary
"""Number of 1-bits in the absolute value of x."""
bitwise_invert: _Unary
"""Bit-wise inversion, or bit-wise NOT, element-wise."""
bitwise_left_shift: _Binary
"""Shift the bits of an integer to the left."""
bitwise_not: _Unary
"""Bit-wise inversion, or bit-wise NOT, element-wise."""
bitwise_or: _Binary
"""Bit-wise OR of two arrays element-wise."""
bitwise_right_shift: _Binary
"""Shift the bits of an integer to the right."""
bitwise_xor: _Binary
"""Bit-wise XOR of two arrays element-wise."""
def blackman(M: Any) -> Any:
    """A sum of two cosines and a constant of M points, float64, zero at both ends."""
def block(arrays: Any) -> Any:
    """Arrays joined from nested lists: innermost lists along the last axis, and so outwards."""
def bmat(obj: Any, ldict: Any = None, gdict: Any = None) -> Any:
    """Build a matrix object from a string, nested sequence, or array."""
def broadcast_arrays(*args: Any, subok: _bool = False) -> tuple[ndarray, ...]:
    """All arguments broadcast against each other: a tuple of read-only views."""
def broadcast_shapes(*args: Any) -> Any:
    """Broadcast the input shapes into a single shape."""
def broadcast_to(array: Any, shape: SupportsIndex | Sequence[SupportsIndex], subok: Any = False) -> ndarray:
    """A read-only view of `array` with `shape`, repeated along axes of extent 1."""
def busday_count(begindates: Any, enddates: Any, weekmask: Any = '1111100', holidays: Any = ..., busdaycal: Any = None, out: Any = None) -> Any:
    """The business days from the first date up to the second one, which does not count: int64; less
    than zero where the second one is earlier, and then counts itself and the first does not."""
def busday_offset(dates: Any, offsets: Any, roll: Any = 'raise', weekmask: Any = '1111100', holidays: Any = None, busdaycal: Any = None, out: Any = None) -> Any:
    """The business days so many business days after the dates: NumPy's dates, which only it holds."""
c_: Any
def can_cast(from_: Any, to: Any, casting: Any = 'safe') -> Any:
    """Whether a cast is allowed under the rule `casting`: NumPy's answer, and with bfloat16, which
    stands with the floats."""
cbrt: _Unary
"""Cube root, element-wise."""
ceil: _Unary
"""Ceiling of the input, element-wise."""
char: Any
def checkpoint(function: Any) -> Any:
    """A function that keeps only its arguments for its derivative, and runs again to find it."""
def choose(a: ArrayLike, choices: Any, out: Any = None, mode: Any = 'raise') -> Any:
    """For each element the choice that `a` names by its number, all broadcast."""
def clip(a: ArrayLike, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None, **kwargs: Any) -> Any:
    """`a` limited to [a_min, a_max], also called min and max; either limit may be None."""
def column_stack(tup: Any) -> ndarray:
    """1-D arrays as the columns of a 2-D array; 2-D arrays are joined along the second axis."""
def common_type(*arrays: Any) -> Any:
    """Return a scalar type which is common to the input arrays."""
def compile(function: Any = None) -> Any:
    """A function whose array work is recorded again without running its Python code."""
def compress(condition: Any, a: ArrayLike, axis: SupportsIndex | None = None, out: Any = None) -> Any:
    """The slices of `a` along `axis` (None: flattened) where the 1-D condition holds."""
def concat(arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = 'same_kind') -> ndarray:
    """The arrays joined along an existing axis (None: flattened first)."""
def concatenate(arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = 'same_kind') -> ndarray:
    """The arrays joined along an existing axis (None: flattened first)."""
conj: _Unary
"""Complex conjugate, element-wise."""
conjugate: _Unary
"""Complex conjugate, element-wise."""
def convolve(a: ArrayLike, v: ArrayLike, mode: Any = 'full') -> Any:
    """Discrete convolution of two lines, in their common dtype."""
def copy(a: ArrayLike, order: Any = 'K', subok: Any = False) -> ndarray:
    """A copy of `a` with its shape and dtype; order 'K' keeps the layout."""
copysign: _Binary
"""Change the sign of the first argument to that of the second."""
def copyto(dst: Any, src: Any, casting: Any = 'same_kind', where: Any = True) -> Any:
    """Copies `src`, broadcast, into `dst` (only where `where` holds). TypeError for an
    unsafe cast, ValueError for a `dst` that is read-only."""
def corrcoef(x: ArrayLike, y: ArrayLike | None = None, rowvar: _bool = True, *, dtype: DTypeLike | None = None) -> Any:
    """Covariances over the deviations, within [-1, 1]."""
def correlate(a: ArrayLike, v: ArrayLike, mode: Any = 'valid') -> Any:
    """Cross-correlation of two lines: sums of `a[k + n] * conj(v[n])`."""
cos: _Unary
"""Cosine element-wise."""
cosh: _Unary
"""Hyperbolic cosine, element-wise."""
def count_nonzero(a: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, *, keepdims: _bool = False) -> Any:
    """Number of elements that are not zero over `axis`: int64."""
def cov(m: ArrayLike, y: ArrayLike | None = None, rowvar: _bool = True, bias: _bool = False, ddof: Any = None, fweights: ArrayLike | None = None, aweights: ArrayLike | None = None, *, dtype: DTypeLike | None = None) -> Any:
    """Covariances of the rows of `m` and `y` (of their columns without `rowvar`), by the number of
    observations less `ddof` (1; 0 with `bias`). fweights: how often each observation counts;
    aweights: how much. Compiled functions refuse one row of a matrix, which has no axes in NumPy."""
def cross(a: ArrayLike, b: ArrayLike, axisa: SupportsIndex = -1, axisb: SupportsIndex = -1, axisc: SupportsIndex = -1, axis: SupportsIndex | None = None) -> Any:
    """Cross product of vectors of 3 components along the given axes; before NumPy 2.5, 2 components
    are those of a plane, from then on a ValueError. Compiled functions refuse two vectors of the
    plane, whose products are numbers."""
ctypeslib: Any
def cumprod(a: ArrayLike, axis: SupportsIndex | None = None, dtype: DTypeLike | None = None, out: Any = None) -> ndarray:
    """Products of all elements up to each along `axis` (None: flattened). Small integers and bool
    multiply as (u)int64."""
def cumsum(a: ArrayLike, axis: SupportsIndex | None = None, dtype: DTypeLike | None = None, out: Any = None) -> ndarray:
    """Sums of all elements up to each along `axis` (None: flattened). Small integers and bool sum
    as (u)int64."""
def cumulative_prod(x: ArrayLike, /, *, axis: Any = None, dtype: DTypeLike | None = None, out: Any = None, include_initial: _bool = False) -> Any:
    """`cumprod` along `axis`, which only 1-D arrays may leave out; include_initial: a one first."""
def cumulative_sum(x: ArrayLike, /, *, axis: Any = None, dtype: DTypeLike | None = None, out: Any = None, include_initial: _bool = False) -> Any:
    """`cumsum` along `axis`, which only 1-D arrays may leave out; include_initial: a zero first."""
def custom_gradient(function: Any, repeats: Any = False) -> Any:
    """A function with a derivative of its own."""
def datetime_as_string(arr: Any, unit: Any = None, timezone: Any = 'naive', casting: Any = 'same_kind') -> Any:
    """datetime_as_string(arr, unit=None, timezone='naive', casting='same_kind')"""
def datetime_data(dtype: DTypeLike | None, /) -> Any:
    """datetime_data(dtype, /)"""
deg2rad: _Unary
"""Degrees to radians."""
degrees: _Unary
"""Radians to degrees."""
def delete(arr: ArrayLike, obj: Any, axis: SupportsIndex | None = None) -> Any:
    """A copy of `arr` without the indices `obj` along `axis` (None: flattened)."""
detect_anomaly: Any
def device_info() -> dict[str, Any]:
    """A dict about the devices: the default one, processor, vector width, memory in use."""
def diag(v: ArrayLike, k: SupportsIndex = 0) -> ndarray:
    """The k-th diagonal of a 2-D array (read-only view, in compiled functions a copy), or a 2-D
    array with `v` on its k-th diagonal."""
def diag_indices(n: SupportsIndex, ndim: SupportsIndex = 2) -> Any:
    """The indices along each axis, int64, of the main diagonal of an array of `ndim` axes of n."""
def diag_indices_from(arr: ArrayLike) -> Any:
    """diag_indices() of the shape of an array of equal extents. ValueError for others."""
def diagflat(v: ArrayLike, k: SupportsIndex = 0) -> Any:
    """A 2-D array with the flattened `v` on its k-th diagonal."""
def diagonal(a: ArrayLike, offset: SupportsIndex = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1) -> Any:
    """The diagonal of two axes as the last axis of a read-only view, in compiled functions of a
    copy. ValueError for one axis."""
def diff(a: ArrayLike, n: SupportsIndex = 1, axis: SupportsIndex = -1, prepend: ArrayLike | None = None, append: ArrayLike | None = None) -> ndarray:
    """The n-th differences along `axis`; bool arrays differ by not_equal. prepend, append: values
    added first."""
def digitize(x: ArrayLike, bins: ArrayLike, right: _bool = False) -> Any:
    """The index, int64, of the bin that each value lies in: 0 before the first edge, as many as
    there are edges after the last one."""
divide: _Binary
"""Divide arguments element-wise."""
def divmod(x1: Any, x2: Any, out1: Any = None, out2: Any = None, /, out: Any = ..., **kwargs: Any) -> Any:
    """Quotient and remainder element-wise: `(x1 // x2, x1 % x2)`, broadcast; a pair of arrays."""
def dot(a: ArrayLike, b: ArrayLike, out: Any = None) -> Any:
    """Inner product of vectors, matrix product of matrices, product with a scalar; N-d: over a's
    last and b's second-to-last axis, the other axes of both kept."""
def dsplit(ary: ArrayLike, indices_or_sections: Any) -> list[ndarray]:
    """Split along the third axis."""
def dstack(tup: Any) -> ndarray:
    """Arrays joined along the third axis."""
e: float
def ediff1d(ary: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None) -> Any:
    """The differences of the flattened array, with values put before and after them."""
def einsum(*operands: Any, out: Any = None, dtype: DTypeLike | None = None, order: Any = 'K', casting: Any = 'safe', optimize: Any = False) -> Any:
    """Sum of products by subscripts, such as `einsum('ij,jk->ik', a, b)`, or with lists of axis
    numbers."""
def einsum_path(*operands: Any, optimize: Any = 'greedy', einsum_call: Any = False) -> Any:
    """einsum_path(subscripts, *operands, optimize='greedy')"""
emath: Any
def empty(shape: SupportsIndex | Sequence[SupportsIndex], dtype: DTypeLike | None = ..., order: Any = 'C', *, device: Any = None, like: Any = None) -> ndarray:
    """An array of uninitialised elements. shape: int or ints."""
def empty_like(prototype: Any, dtype: DTypeLike | None = None, order: Any = 'K', subok: Any = True, shape: SupportsIndex | Sequence[SupportsIndex] | None = None, *, device: Any = None) -> ndarray:
    """An uninitialised array with the shape, dtype and layout of `prototype`, or those given."""
equal: _Binary
"""Return (x1 == x2) element-wise."""
euler_gamma: float
exp: _Unary
"""Exponential of all elements."""
exp2: _Unary
"""2**p for all p in the input."""
def expand_dims(a: ArrayLike, axis: Any) -> ndarray:
    """`a` with axes of extent 1 inserted at the positions `axis` of the result: a view."""
def explain(target: Any, *args: Any, ir: Any = False, **kwargs: Any) -> Any:
    """How work is run: for each flush its reason and its kernels; for each kernel its shape, the
    bytes it moves, how it ran, the operations fused into it, their Python lines, and the values
    that never left its registers; which compiled functions were run by Python, and why; and which
    loops of the script ran compiled (docs/loops.md)."""
expm1: _Unary
"""exp(x) - 1."""
def extract(condition: ArrayLike, arr: ArrayLike) -> Any:
    """The elements of the flattened `arr` where the flattened condition holds."""
def eye(N: Any, M: Any = None, k: Any = 0, dtype: DTypeLike | None = ..., order: Any = 'C', *, device: Any = None, like: Any = None) -> ndarray:
    """(N, M) array with ones on the k-th diagonal and zeros elsewhere."""
fabs: _Unary
"""Absolute values element-wise, as floats."""
def fill_diagonal(a: Any, val: ArrayLike, wrap: _bool = False) -> Any:
    """Sets the main diagonal of an array to `val`, a number or values that are repeated."""
finfo: Any
def fix(x: ArrayLike, out: Any = None) -> Any:
    """Rounded towards zero."""
def flatnonzero(a: ArrayLike) -> Any:
    """The indices of the elements of the flattened `a` that are not zero."""
def flip(m: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None = None) -> ndarray:
    """`m` reversed along `axis` (int, tuple, or None for all axes): a view."""
def fliplr(m: ArrayLike) -> ndarray:
    """`m` with its columns reversed: a view."""
def flipud(m: ArrayLike) -> ndarray:
    """`m` with its rows reversed: a view."""
float_power: _Binary
"""First array elements raised to powers from the second, in float64 at least."""
floor: _Unary
"""Floor of the input, element-wise."""
floor_divide: _Binary
"""Largest integer smaller than or equal to the quotient."""
fmax: _Binary
"""Element-wise maximum, ignoring NaN."""
fmin: _Binary
"""Element-wise minimum, ignoring NaN."""
fmod: _Binary
"""Remainder of division, with the sign of the dividend."""
def format_float_positional(x: ArrayLike, precision: Any = None, unique: Any = True, fractional: Any = True, trim: Any = 'k', sign: Any = False, pad_left: Any = None, pad_right: Any = None, min_digits: Any = None) -> Any:
    """Format a floating-point scalar as a decimal string in positional notation."""
def format_float_scientific(x: ArrayLike, precision: Any = None, unique: Any = True, trim: Any = 'k', sign: Any = False, pad_left: Any = None, exp_digits: Any = None, min_digits: Any = None) -> Any:
    """Format a floating-point scalar as a decimal string in scientific notation."""
def frexp(x: ArrayLike, /) -> Any:
    """Fractions of [0.5, 1) with the sign, and powers of two (int32), whose product is `x`."""
def from_dlpack(x: ArrayLike, /, *, device: Any = None, copy: Any = None) -> ndarray:
    """An array over the memory of any object with DLPack's methods; a copy on the named device
    where that memory is not on it."""
def frombuffer(buffer: Any, dtype: DTypeLike | None = ..., count: Any = -1, offset: Any = 0, *, like: Any = None) -> ndarray:
    """A 1-D array over the memory of an object with a buffer."""
def fromfile(file: Any, dtype: DTypeLike | None = None, count: Any = -1, sep: Any = '', offset: Any = 0, *, like: Any = None) -> ndarray:
    """fromfile(file, dtype=float, count=-1, sep='', offset=0, *, like=None)"""
def fromfunction(function: Any, shape: SupportsIndex | Sequence[SupportsIndex], *, dtype: DTypeLike | None = ..., like: Any = None, **kwargs: Any) -> ndarray:
    """`function` called with one array of indices per axis."""
def fromiter(iter: Any, dtype: DTypeLike | None, count: Any = -1, *, like: Any = None) -> ndarray:
    """A 1-D array of the items of an iterable."""
def frompyfunc(func: Any, /, nin: Any, nout: Any, **kwargs: Any) -> Any:
    """frompyfunc(func, /, nin, nout, *[, identity])"""
def fromregex(file: Any, regexp: Any, dtype: DTypeLike | None, encoding: Any = None) -> Any:
    """Construct an array from a text file, using regular expression parsing."""
def fromstring(*args: Any, **kwargs: Any) -> Any:
    """fromstring(string, dtype=float, count=-1, *, sep, like=None)"""
def full(shape: SupportsIndex | Sequence[SupportsIndex], fill_value: Any, dtype: DTypeLike | None = None, order: Any = 'C', *, device: Any = None, like: Any = None) -> ndarray:
    """An array of `fill_value` (a scalar, or something that broadcasts to `shape`)."""
def full_like(a: ArrayLike, fill_value: Any, dtype: DTypeLike | None = None, order: Any = 'K', subok: Any = True, shape: SupportsIndex | Sequence[SupportsIndex] | None = None, *, device: Any = None) -> ndarray:
    """An array of `fill_value` with the shape, dtype and layout of `a`, or those given."""
gcd: _Binary
"""Greatest common divisor of |x1| and |x2|."""
def genfromtxt(fname: Any, dtype: DTypeLike | None = ..., comments: Any = '#', delimiter: Any = None, skip_header: Any = 0, skip_footer: Any = 0, converters: Any = None, missing_values: Any = None, filling_values: Any = None, usecols: Any = None, names: Any = None, excludelist: Any = None, deletechars: Any = " !#$%&'()*+,-./:;<=>?@[\\]^{|}~", replace_space: Any = '_', autostrip: Any = False, case_sensitive: Any = True, defaultfmt: Any = 'f%i', unpack: Any = None, usemask: Any = False, loose: Any = True, invalid_raise: Any = True, max_rows: Any = None, encoding: Any = None, *, ndmin: Any = 0, like: Any = None) -> Any:
    """Load data from a text file, with missing values handled as specified."""
def geomspace(start: ArrayLike, stop: ArrayLike, num: Any = 50, endpoint: _bool = True, dtype: DTypeLike | None = None, axis: Any = 0) -> ndarray:
    """`num` values in geometric progression from `start` to `stop`, both met exactly."""
def get_float32_matmul_precision() -> Any:
    """What products of float32 are allowed: 'highest', 'high' or 'medium'."""
def get_include() -> Any:
    """Return the directory that contains the NumPy \\*.h header files."""
def get_printoptions() -> Any:
    """Return the current print options."""
def getbufsize() -> Any:
    """Return the size of the buffer used in ufuncs."""
def geterr() -> Any:
    """Get the current way of handling floating-point errors."""
def geterrcall() -> Any:
    """Return the current callback function used on floating-point errors."""
def grad(function: Any, argnums: Any = 0, has_aux: Any = False) -> Any:
    """A function that gives the gradient of `function`: `value_and_grad` without the value."""
def gradient(f: ArrayLike, *varargs: Any, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, edge_order: Any = 1) -> Any:
    """Central differences inside, one-sided ones of `edge_order` (1, 2) at the borders: an array
    for one axis, else a tuple."""
greater: _Binary
"""Return (x1 > x2) element-wise."""
greater_equal: _Binary
"""Return (x1 >= x2) element-wise."""
def hamming(M: Any) -> Any:
    """A raised cosine of M points, float64, 0.08 at both ends."""
def hanning(M: Any) -> Any:
    """A raised cosine of M points, float64, zero at both ends."""
heaviside: _Binary
"""Heaviside step function."""
def histogram(a: ArrayLike, bins: Any = 10, range: Any = None, density: _bool | None = None, weights: ArrayLike | None = None) -> Any:
    """How many elements of `a`, or how much of their `weights`, lie in each bin; and the edges."""
def histogram2d(x: ArrayLike, y: ArrayLike, bins: Any = 10, range: Any = None, density: _bool | None = None, weights: ArrayLike | None = None) -> Any:
    """Histogram of points (x, y), float64, and the edges of both: the first axis is that of `x`."""
def histogram_bin_edges(a: ArrayLike, bins: Any = 10, range: Any = None, weights: ArrayLike | None = None) -> Any:
    """The edges that histogram() would use, one more than bins."""
def histogramdd(sample: Any, bins: Any = 10, range: Any = None, density: _bool | None = None, weights: ArrayLike | None = None) -> Any:
    """Histogram of points of D coordinates: (counts or sums of weights, float64 with an axis for
    each coordinate; a list of the edges)."""
def hsplit(ary: ArrayLike, indices_or_sections: Any) -> list[ndarray]:
    """Split along the second axis (the first for 1-D arrays)."""
def hstack(tup: Any, *, dtype: DTypeLike | None = None, casting: Any = 'same_kind') -> ndarray:
    """Arrays joined along the second axis (the first for 1-D arrays)."""
hypot: _Binary
"""Hypotenuse of a right triangle with the given legs."""
def i0(x: ArrayLike) -> Any:
    """The modified Bessel function of the first kind of order 0, within 5 ULP; float64 of integers,
    infinite from where exp(x) is. Raises TypeError for complex numbers."""
def identity(n: Any, dtype: DTypeLike | None = None, *, like: Any = None) -> ndarray:
    """(n, n) array with ones on the main diagonal."""
def imag(val: Any) -> Any:
    """The imaginary part: a view of a complex array."""
index_exp: Any
def indices(dimensions: Any, dtype: DTypeLike | None = ..., sparse: _bool = False) -> Any:
    """The index of each point of a grid along each axis: shape `(n, *dimensions)`."""
inf: float
def info(object: Any = None, maxwidth: Any = 76, output: Any = None, toplevel: Any = 'numpy') -> Any:
    """Get help information for an array, function, class, or module."""
def inner(a: ArrayLike, b: ArrayLike, /) -> Any:
    """Sum of products over the last axes of both. Raises ValueError where their extents differ."""
def insert(arr: ArrayLike, obj: Any, values: ArrayLike, axis: SupportsIndex | None = None) -> Any:
    """A copy of `arr` with `values` before the indices `obj` along `axis` (None: flattened)."""
def interp(x: ArrayLike, xp: ArrayLike, fp: ArrayLike, left: ArrayLike | None = None, right: ArrayLike | None = None, period: Any = None) -> Any:
    """The values at `x` of the lines between the points (xp, fp): float64, or complex128 where `fp`
    is complex; NaN where `x` is."""
def intersect1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: _bool = False, return_indices: _bool = False) -> Any:
    """The values that are in both arrays, once each and in order."""
invert: _Unary
"""Bit-wise inversion, or bit-wise NOT, element-wise."""
def is_busday(dates: Any, weekmask: Any = '1111100', holidays: Any = None, busdaycal: Any = None, out: Any = None) -> Any:
    """Whether each date is a business day, bool: a day of the week that `weekmask` has, and none of
    the holidays. busdaycal: a numpy.busdaycalendar with both. "Not a time" is none."""
def isclose(a: ArrayLike, b: ArrayLike, rtol: ArrayLike = 1e-05, atol: ArrayLike = 1e-08, equal_nan: _bool = False) -> Any:
    """Element-wise `|a - b| <= atol + rtol*|b|`; equal infinities are close, NaNs only with
    equal_nan."""
def iscomplex(x: ArrayLike) -> Any:
    """True where an element has an imaginary part that is not zero."""
def iscomplexobj(x: Any) -> Any:
    """Whether `x` has a complex dtype."""
def isdtype(dtype: DTypeLike | None, kind: Any) -> Any:
    """Whether a dtype is one of a kind, or of several, of the array API standard's: NumPy's answer,
    and of bfloat16, which is "real floating" and "numeric"."""
isfinite: _Unary
"""Test element-wise for finiteness."""
def isfortran(a: ArrayLike) -> Any:
    """Check if the array is Fortran contiguous but *not* C contiguous."""
def isin(element: ArrayLike, test_elements: ArrayLike, assume_unique: _bool = False, invert: _bool = False, *, kind: Literal['sort', 'table'] | None = None) -> Any:
    """Whether each element is among `test_elements` (or not, with `invert`), in the shape of
    `element`. NaN is among none."""
isinf: _Unary
"""Test element-wise for infinity."""
isnan: _Unary
"""Test element-wise for NaN."""
def isnat(x: ArrayLike, /, out: Any = None, **kwargs: Any) -> Any:
    """Where dates, or their differences, are none ("not a time"): _bool."""
def isneginf(x: ArrayLike, out: Any = None) -> Any:
    """True for -inf. TypeError for complex numbers."""
def isposinf(x: ArrayLike, out: Any = None) -> Any:
    """True for +inf. TypeError for complex numbers."""
def isreal(x: ArrayLike) -> Any:
    """True where an element has no imaginary part."""
def isrealobj(x: Any) -> Any:
    """Whether `x` has a dtype that is not complex."""
def isscalar(element: Any) -> _bool:
    """Whether `element` is a scalar, a generic among them."""
def issubdtype(arg1: Any, arg2: Any) -> Any:
    """Returns True if first argument is a typecode lower/equal in type hierarchy."""
def iterable(y: ArrayLike) -> Any:
    """Whether `y` can be iterated over."""
def ix_(*args: Any) -> Any:
    """For each sequence its indices along an axis of its own, which broadcast to a grid; bools give
    the indices where they hold. ValueError for what has not one axis."""
def jacobian(function: Any, argnums: Any = 0) -> Any:
    """A function that gives the Jacobian of `function`."""
def jvp(function: Any, args: Any, tangents: Any) -> Any:
    """The value of `function` and its derivative along `tangents`: ``(value, tangent)``."""
def kaiser(M: Any, beta: Any) -> Any:
    """Kaiser's window of M points, float64: Bessel functions, of a width that `beta` tells."""
def kron(a: ArrayLike, b: ArrayLike) -> ndarray:
    """Kronecker product: blocks of `b` scaled by the elements of `a`."""
lcm: _Binary
"""Lowest common multiple of |x1| and |x2|."""
def ldexp(x1: ArrayLike, x2: ArrayLike, /) -> Any:
    """x1 * 2**x2 for integers x2, rounded once. TypeError for other x2 and for uint64."""
left_shift: _Binary
"""Shift the bits of an integer to the left."""
less: _Binary
"""Return (x1 < x2) element-wise."""
less_equal: _Binary
"""Return (x1 <= x2) element-wise."""
def lexsort(keys: Any, axis: Any = -1) -> Any:
    """The indices, int64, that sort by several keys, of which the last one counts most."""
lib: Any
def linspace(start: Any, stop: Any, num: Any = 50, endpoint: Any = True, retstep: Any = False, dtype: DTypeLike | None = None, axis: SupportsIndex | Sequence[SupportsIndex] | None = 0, *, device: Any = None) -> ndarray:
    """`num` evenly spaced values from `start` to `stop`; arrays of limits give a new axis of
    samples."""
little_endian: _bool
def load(file: Any, mmap_mode: Any = None, allow_pickle: Any = False, **kwargs: Any) -> Any:
    """The array of an .npy file or the Archive of an .npz file. Never unpickles (ValueError if
    asked to)."""
def loadtxt(fname: Any, dtype: DTypeLike | None = ..., comments: Any = '#', delimiter: Any = None, converters: Any = None, skiprows: Any = 0, usecols: Any = None, unpack: Any = False, ndmin: Any = 0, encoding: Any = None, max_rows: Any = None, *, quotechar: Any = None, like: Any = None) -> ndarray:
    """Load data from a text file."""
log: _Unary
"""Natural logarithm, element-wise."""
log10: _Unary
"""Base-10 logarithm."""
log1p: _Unary
"""log(1 + x)."""
log2: _Unary
"""Base-2 logarithm."""
logaddexp: _Binary
"""log(exp(x1) + exp(x2))."""
logaddexp2: _Binary
"""log2(2**x1 + 2**x2)."""
logical_and: _Binary
"""Truth value of x1 AND x2 element-wise."""
logical_not: _Unary
"""Truth value of NOT x element-wise."""
logical_or: _Binary
"""Truth value of x1 OR x2 element-wise."""
logical_xor: _Binary
"""Truth value of x1 XOR x2 element-wise."""
def logspace(start: ArrayLike, stop: ArrayLike, num: Any = 50, endpoint: _bool = True, base: ArrayLike = 10.0, dtype: DTypeLike | None = None, axis: Any = 0) -> ndarray:
    """`base` to the power of `linspace(start, stop, num)`: evenly spaced on a log scale."""
ma: Any
def mask_indices(n: SupportsIndex, mask_func: Any, k: Any = 0) -> Any:
    """The indices of an (n, n) matrix where mask_func(ones, k) is not zero: a tuple of two."""
def matmul(x1: Any, x2: Any, /, out: Any = None, *, casting: Any = 'same_kind', order: Any = 'K', dtype: DTypeLike | None = None, subok: Any = True, axes: Any = ..., axis: SupportsIndex | Sequence[SupportsIndex] | None = ..., keepdims: _bool = ..., signature: Any = ..., sig: Any = ...) -> Any:
    """Matrix product; stacks of matrices broadcast, 1-D operands are a row on the left, a column on
    the right."""
def matrix_transpose(x: ArrayLike, /) -> ndarray:
    """`x` with its last two axes exchanged: a view. ValueError for fewer than two axes."""
def matvec(x1: Any, x2: Any, /, out: Any = None, *, casting: Any = 'same_kind', order: Any = 'K', dtype: DTypeLike | None = None, subok: Any = True, axes: Any = ..., axis: SupportsIndex | Sequence[SupportsIndex] | None = ..., keepdims: _bool = ..., signature: Any = ..., sig: Any = ...) -> Any:
    """Matrices times vectors, stacks of both broadcast; the arguments are those of matmul()."""
def max(a: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: Any = None, keepdims: _bool = False, initial: Any = ..., where: Any = True) -> Any:
    """Largest element over `axis`; NaN if there is one. Raises ValueError for an empty axis."""
maximum: _Binary
"""Element-wise maximum, propagating NaN."""
def may_share_memory(a: ArrayLike, b: ArrayLike, /, max_work: Any = 0) -> Any:
    """may_share_memory(a, b, /, max_work=0)"""
def mean(a: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: _bool = False, *, where: Any = True) -> Any:
    """Arithmetic mean over `axis`; float64 for integers."""
def median(a: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: Any = None, overwrite_input: _bool = False, keepdims: _bool = False) -> Any:
    """The middle of the sorted elements over `axis`; NaN where one is NaN."""
def meshgrid(*xi: ArrayLike, copy: _bool = True, sparse: _bool = False, indexing: Literal['xy', 'ij'] = 'xy') -> Any:
    """Coordinate arrays of a grid over 1-D axes: a tuple of one array per axis."""
mgrid: Any
def min(a: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: Any = None, keepdims: _bool = False, initial: Any = ..., where: Any = True) -> Any:
    """Smallest element over `axis`; NaN if there is one. Raises ValueError for an empty axis."""
def min_scalar_type(a: ArrayLike, /) -> Any:
    """min_scalar_type(a, /)"""
minimum: _Binary
"""Element-wise minimum, propagating NaN."""
def mintypecode(typechars: Any, typeset: Any = 'GDFgdf', default: Any = 'd') -> Any:
    """Return the character for the minimum-size type to which given types can
    be safely cast."""
mod: _Binary
"""Element-wise remainder of division, with the sign of the divisor."""
def modf(x: ArrayLike, /) -> Any:
    """The fraction and the whole part, both with the sign; the fraction of an infinity is 0."""
def moveaxis(a: ArrayLike, source: Any, destination: Any) -> ndarray:
    """`a` with the axes `source` at the positions `destination`: a view."""
multiply: _Binary
"""Multiply arguments element-wise."""
nan: float
def nan_to_num(x: Any, copy: _bool = True, nan: ArrayLike = 0.0, posinf: ArrayLike | None = None, neginf: ArrayLike | None = None) -> Any:
    """NaNs and infinities replaced by numbers: by default 0 and the largest finite values."""
def nanargmax(a: ArrayLike, axis: Any = None, out: Any = None, *, keepdims: _bool = False) -> Any:
    """Index of the first largest element that is not NaN. ValueError if a slice has none."""
def nanargmin(a: ArrayLike, axis: Any = None, out: Any = None, *, keepdims: _bool = False) -> Any:
    """Index of the first smallest element that is not NaN. ValueError if a slice has none."""
def nancumprod(a: ArrayLike, axis: SupportsIndex | None = None, dtype: DTypeLike | None = None, out: Any = None) -> Any:
    """`cumprod` with NaNs as ones."""
def nancumsum(a: ArrayLike, axis: SupportsIndex | None = None, dtype: DTypeLike | None = None, out: Any = None) -> Any:
    """`cumsum` with NaNs as zeros."""
def nanmax(a: ArrayLike, axis: Any = None, out: Any = None, keepdims: _bool = False, initial: Any = None, where: Any = True) -> Any:
    """Largest element over `axis` that is not NaN; NaN if there is none."""
def nanmean(a: ArrayLike, axis: Any = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: _bool = False, *, where: Any = True) -> Any:
    """Mean over `axis` of the elements that are not NaN."""
def nanmedian(a: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: Any = None, overwrite_input: _bool = False, keepdims: _bool = False) -> Any:
    """The median over `axis` of what is not NaN; NaN where all is NaN."""
def nanmin(a: ArrayLike, axis: Any = None, out: Any = None, keepdims: _bool = False, initial: Any = None, where: Any = True) -> Any:
    """Smallest element over `axis` that is not NaN; NaN if there is none."""
def nanpercentile(a: ArrayLike, q: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: Any = None, overwrite_input: _bool = False, method: Literal['inverted_cdf', 'averaged_inverted_cdf', 'closest_observation', 'interpolated_inverted_cdf', 'hazen', 'weibull', 'linear', 'median_unbiased', 'normal_unbiased', 'lower', 'higher', 'midpoint', 'nearest'] = 'linear', keepdims: _bool = False, *, weights: ArrayLike | None = None) -> Any:
    """The quantiles of q / 100 of what is not NaN."""
def nanprod(a: ArrayLike, axis: Any = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: _bool = False, initial: Any = None, where: Any = True) -> Any:
    """Product over `axis` with NaNs as ones."""
def nanquantile(a: ArrayLike, q: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: Any = None, overwrite_input: _bool = False, method: Literal['inverted_cdf', 'averaged_inverted_cdf', 'closest_observation', 'interpolated_inverted_cdf', 'hazen', 'weibull', 'linear', 'median_unbiased', 'normal_unbiased', 'lower', 'higher', 'midpoint', 'nearest'] = 'linear', keepdims: _bool = False, *, weights: ArrayLike | None = None) -> Any:
    """The q-th quantiles over `axis` of what is not NaN; NaN where all is NaN."""
def nanstd(a: ArrayLike, axis: Any = None, dtype: DTypeLike | None = None, out: Any = None, ddof: Any = 0, keepdims: _bool = False, *, where: Any = True, mean: Any = None, correction: Any = None) -> Any:
    """Standard deviation over `axis` of the elements that are not NaN."""
def nansum(a: ArrayLike, axis: Any = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: _bool = False, initial: Any = None, where: Any = True) -> Any:
    """Sum over `axis` with NaNs as zeros."""
def nanvar(a: ArrayLike, axis: Any = None, dtype: DTypeLike | None = None, out: Any = None, ddof: Any = 0, keepdims: _bool = False, *, where: Any = True, mean: Any = None, correction: Any = None) -> Any:
    """Variance over `axis` of the elements that are not NaN."""
def ndim(a: ArrayLike) -> int:
    """Number of axes."""
nditer: Any
negative: _Unary
"""Numerical negative, element-wise."""
def nested_iters(op: Any, axes: Any, flags: Any = None, op_flags: Any = None, op_dtypes: Any = None, order: Any = 'K', casting: Any = 'safe', buffersize: Any = 0) -> Any:
    """nested_iters(op, axes, flags=None, op_flags=None, op_dtypes=None,
    order='K', casting='safe', buffersize=0)"""
newaxis: None
nextafter: _Binary
"""Next floating-point value after x1 towards x2."""
def nonzero(a: ArrayLike) -> tuple[ndarray, ...]:
    """A tuple of int64 arrays: the indices of the elements that are not zero, one array per axis.
    ValueError for an array without axes."""
not_equal: _Binary
"""Return (x1 != x2) element-wise."""
ogrid: Any
def ones(shape: SupportsIndex | Sequence[SupportsIndex], dtype: DTypeLike | None = None, order: Any = 'C', *, device: Any = None, like: Any = None) -> ndarray:
    """An array of ones. shape: int or ints."""
def ones_like(a: ArrayLike, dtype: DTypeLike | None = None, order: Any = 'K', subok: Any = True, shape: SupportsIndex | Sequence[SupportsIndex] | None = None, *, device: Any = None) -> ndarray:
    """An array of ones with the shape, dtype and layout of `a`, or those given."""
def outer(a: ArrayLike, b: ArrayLike, out: Any = None) -> ndarray:
    """Products of all pairs of elements of two flattened arrays: shape (a.size, b.size)."""
def packbits(a: ArrayLike, /, axis: SupportsIndex | None = None, bitorder: Literal['big', 'little'] = 'big') -> Any:
    """Eight elements along `axis` (None: flattened) as the bits of a uint8, zeros after the last."""
def pad(array: ArrayLike, pad_width: Any, mode: Any = 'constant', *, constant_values: Any = None, end_values: Any = None, reflect_type: Any = None, stat_length: Any = None) -> ndarray:
    """`array` with `pad_width` more elements: an int, a pair (before, after), a pair for each axis,
    or a dict from axes to these."""
def partition(a: ArrayLike, kth: Any, axis: SupportsIndex | None = -1, kind: Literal['introselect'] = 'introselect', order: Any = None) -> Any:
    """The elements along `axis` with each of index `kth` as sorting would have it: none before it
    is larger, none after it smaller."""
def percentile(a: ArrayLike, q: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: Any = None, overwrite_input: _bool = False, method: Literal['inverted_cdf', 'averaged_inverted_cdf', 'closest_observation', 'interpolated_inverted_cdf', 'hazen', 'weibull', 'linear', 'median_unbiased', 'normal_unbiased', 'lower', 'higher', 'midpoint', 'nearest'] = 'linear', keepdims: _bool = False, *, weights: ArrayLike | None = None) -> Any:
    """The quantiles of q / 100."""
def permute_dims(a: ArrayLike, axes: Any = None) -> ndarray:
    """`a` with its axes permuted (reversed by default): a view."""
pi: float
def piecewise(x: ArrayLike, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """For each condition, func(x[condition], *args, **kw) or a number where it holds; a function
    more is for where none of them does. Zero elsewhere."""
def place(arr: Any, mask: Any, vals: Any) -> Any:
    """Sets the elements where the mask holds to the values in order, repeated as needed."""
def poly(seq_of_zeros: ArrayLike) -> Any:
    """The coefficients, falling powers, of the polynomial with these zeros, or of a square matrix's
    characteristic one; real where complex zeros come in conjugate pairs. Compiled functions take
    real ones."""
def polyadd(a1: ArrayLike, a2: ArrayLike) -> Any:
    """The sum of two polynomials, coefficients of falling powers."""
def polyder(p: ArrayLike, m: SupportsIndex = 1) -> Any:
    """The m-th derivative of a polynomial, coefficients of falling powers."""
def polydiv(u: ArrayLike, v: ArrayLike) -> Any:
    """Quotient and remainder of two polynomials, coefficients of falling powers."""
def polyfit(x: ArrayLike, y: ArrayLike, deg: Any, rcond: Any = None, full: _bool = False, w: ArrayLike | None = None, cov: Any = False) -> Any:
    """The coefficients, falling powers, of the polynomials of degree `deg` that fit each column of
    `y` best in the least squares; weights of the points in `w`."""
def polyint(p: ArrayLike, m: SupportsIndex = 1, k: ArrayLike | None = None) -> Any:
    """The m-th antiderivative of a polynomial, coefficients of falling powers."""
def polymul(a1: ArrayLike, a2: ArrayLike) -> Any:
    """The product of two polynomials, coefficients of falling powers; leading zeros are dropped."""
polynomial: Any
def polysub(a1: ArrayLike, a2: ArrayLike) -> Any:
    """The difference of two polynomials, coefficients of falling powers."""
def polyval(p: ArrayLike, x: ArrayLike) -> Any:
    """A polynomial's value at each `x`, by Horner's rule; coefficients of falling powers."""
positive: _Unary
"""Numerical positive, element-wise."""
pow: _Binary
"""First array elements raised to powers from the second, element-wise."""
power: _Binary
"""First array elements raised to powers from the second, element-wise."""
def printoptions(*args: Any, **kwargs: Any) -> Any:
    """Context manager for setting print options."""
def prod(a: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: _bool = False, initial: Any = ..., where: Any = True) -> Any:
    """Product over `axis` (int, tuple, None for all). Small integers and bool multiply
    as (u)int64."""
def promote_types(type1: Any, type2: Any) -> Any:
    """The smallest dtype to which two can be cast without loss: NumPy's, and with bfloat16."""
def ptp(a: ArrayLike, axis: Any = None, out: Any = None, keepdims: _bool = False) -> Any:
    """Range of the values over `axis`: largest minus smallest."""
def put(a: Any, ind: Any, v: Any, mode: Any = 'raise') -> Any:
    """Sets `a.flat[ind[k]] = v[k % len(v)]`, cast to the type of `a`."""
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> Any:
    """Puts values into `arr` by an index array that matches it in all axes but one."""
def putmask(a: Any, mask: Any, values: Any) -> Any:
    """Sets `a.flat[i] = values[i % len(values)]` where the mask holds."""
def quantile(a: ArrayLike, q: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, out: Any = None, overwrite_input: _bool = False, method: Literal['inverted_cdf', 'averaged_inverted_cdf', 'closest_observation', 'interpolated_inverted_cdf', 'hazen', 'weibull', 'linear', 'median_unbiased', 'normal_unbiased', 'lower', 'higher', 'midpoint', 'nearest'] = 'linear', keepdims: _bool = False, *, weights: ArrayLike | None = None) -> Any:
    """The q-th quantiles over `axis`, q in [0, 1]; several of them are the result's first axes."""
r_: Any
rad2deg: _Unary
"""Radians to degrees."""
radians: _Unary
"""Degrees to radians."""
def ravel(a: ArrayLike, order: Any = 'C') -> ndarray:
    """`a` flattened to one axis, a view where strides allow. order: 'C', 'F', 'A' or 'K'."""
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = 'raise', order: Literal['C', 'F'] = 'C') -> Any:
    """The index into the flattened array of shape `dims` for an index along each axis: int64, of
    the shape to which the indices broadcast."""
def real(val: Any) -> Any:
    """The real part: a view of an array."""
def real_if_close(a: ArrayLike, tol: Any = 100) -> Any:
    """The real part if all imaginary parts are within `tol` machine epsilons (or below `tol`) of
    zero. Compiled functions take real numbers: the type hangs on the values of complex ones."""
rec: Any
reciprocal: _Unary
"""Reciprocal of the argument, element-wise."""
remainder: _Binary
"""Element-wise remainder of division, with the sign of the divisor."""
def repeat(a: ArrayLike, repeats: Any, axis: SupportsIndex | None = None) -> ndarray:
    """Each element repeated: `repeats` is an int, or one int per element along `axis` (None:
    flattened). ValueError for negative ones and for another number of them."""
def require(a: ArrayLike, dtype: DTypeLike | None = None, requirements: Any = None, *, like: Any = None) -> Any:
    """`a` with the flags that `requirements` names ('C', 'F', 'A', 'W', 'O', 'E', or in full),
    copied if need be."""
def reshape(a: ArrayLike, /, shape: SupportsIndex | Sequence[SupportsIndex], order: Any = 'C', *, copy: Any = None) -> ndarray:
    """`a` with another shape of the same size (one extent may be -1): a view where strides allow."""
def resize(a: ArrayLike, new_shape: Any) -> Any:
    """A new array of `new_shape` (an int or ints) with the elements of the flattened `a`, from the
    first one again and again; zeros where `a` has none. ValueError for negative extents."""
def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype that NumPy's promotion gives; Python numbers are weak."""
right_shift: _Binary
"""Shift the bits of an integer to the right."""
rint: _Unary
"""Round to the nearest integer, ties to even."""
def roll(a: ArrayLike, shift: Any, axis: Any = None) -> ndarray:
    """`a` with its elements moved by `shift` along `axis` (int or tuples; None: flattened), going
    round."""
def rollaxis(a: ArrayLike, axis: SupportsIndex, start: Any = 0) -> ndarray:
    """`a` with `axis` moved to lie before `start`: a view. AxisError for others than there are."""
def roots(p: ArrayLike) -> Any:
    """The zeros of a polynomial, coefficients of falling powers: eigenvalues of its companion."""
def rot90(m: ArrayLike, k: SupportsIndex = 1, axes: SupportsIndex | Sequence[SupportsIndex] | None = ...) -> ndarray:
    """`m` rotated k times by 90 degrees in the plane of two axes: a view."""
def round(a: ArrayLike, decimals: Any = 0, out: Any = None) -> Any:
    """`a` rounded to `decimals` places, halves to even; integers stay as they are for decimals >=
    0."""
def row_stack(tup: Any, *, dtype: DTypeLike | None = None, casting: Any = 'same_kind') -> Any:
    """Arrays joined row-wise; 1-D arrays count as rows."""
s_: Any
def save(file: Any, arr: Any, allow_pickle: Any = False) -> None:
    """Writes an array as .npy. allow_pickle: objects, too, as pickles; ValueError otherwise."""
def savetxt(fname: Any, X: Any, fmt: Any = '%.18e', delimiter: Any = ' ', newline: Any = '\n', header: Any = '', footer: Any = '', comments: Any = '# ', encoding: Any = None) -> None:
    """Save an array to a text file."""
def savez(file: Any, *args: Any, allow_pickle: Any = False, **kwds: Any) -> None:
    """Writes arrays by position (arr_0, …) and name as an uncompressed .npz; see save()."""
def savez_compressed(file: Any, *args: Any, allow_pickle: Any = False, **kwds: Any) -> Any:
    """Writes arrays by position (arr_0, …) and name as a compressed .npz; see save()."""
sctypeDict: Any
def searchsorted(a: ArrayLike, v: ArrayLike, side: Literal['left', 'right'] = 'left', sorter: Any = None) -> Any:
    """The indices, int64, before which the values `v` belong in the sorted 1-d `a`."""
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """For each element the choice of the first condition that holds there, else `default`."""
def set_float32_matmul_precision(precision: Any) -> Any:
    """Sets how precisely products and convolutions of float32 are computed on a GPU."""
def set_printoptions(precision: Any = None, threshold: Any = None, edgeitems: Any = None, linewidth: Any = None, suppress: Any = None, nanstr: Any = None, infstr: Any = None, formatter: Any = None, sign: Any = None, floatmode: Any = None, *, legacy: Any = None, override_repr: Any = None) -> Any:
    """Set printing options."""
def setbufsize(size: Any) -> Any:
    """Set the size of the buffer used in ufuncs."""
def setdiff1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: _bool = False) -> Any:
    """The values that are in the first array only: once each and in order, or, with assume_unique,
    those elements of it as they are."""
def seterr(all: Any = None, divide: Any = None, over: Any = None, under: Any = None, invalid: Any = None) -> Any:
    """Set how floating-point errors are handled."""
def seterrcall(func: Any) -> Any:
    """Set the floating-point error callback function or log object."""
def setxor1d(ar1: ArrayLike, ar2: ArrayLike, assume_unique: _bool = False) -> Any:
    """The values that are in just one of the arrays, in order."""
def shape(a: ArrayLike) -> Any:
    """Extents of the axes."""
def shares_memory(a: ArrayLike, b: ArrayLike, /, max_work: Any = -1) -> Any:
    """shares_memory(a, b, /, max_work=-1)"""
def show_config(mode: Any = 'stdout') -> Any:
    """Show libraries and system information on which NumPy was built
    and is being used"""
def show_runtime() -> Any:
    """Print information about various resources in the system
    including available intrinsic support and BLAS/LAPACK library
    in use"""
sign: _Unary
"""Indication of the sign of a number."""
signbit: _Unary
"""True where the sign bit is set."""
sin: _Unary
"""Trigonometric sine, element-wise."""
def sinc(x: ArrayLike) -> Any:
    """sin(πx)/(πx), and 1 at 0."""
sinh: _Unary
"""Hyperbolic sine, element-wise."""
def size(a: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None = None) -> int:
    """Number of elements, or the extent of `axis`."""
def sort(a: ArrayLike, axis: SupportsIndex | None = -1, kind: Literal['quicksort', 'heapsort', 'mergesort', 'stable'] | None = None, order: Any = None, *, stable: _bool | None = None, descending: _bool = False) -> ndarray:
    """The elements in order along `axis` (None: of the flattened array), in the dtype of `a`."""
def sort_complex(a: ArrayLike) -> Any:
    """The elements along the last axis in order, as complex numbers (complex64 of small types)."""
def spacing(x: ArrayLike, /) -> Any:
    """The distance to the next number of larger magnitude, with the sign (of half floats to the
    next larger number); NaN of infinities."""
def split(ary: ArrayLike, indices_or_sections: Any, axis: SupportsIndex = 0) -> list[ndarray]:
    """A list of views as `array_split` gives; a number of sections must divide the extent
    (ValueError)."""
sqrt: _Unary
"""Non-negative square root of an array, element-wise."""
square: _Unary
"""Element-wise square of the input."""
def squeeze(a: ArrayLike, axis: Any = None) -> ndarray:
    """`a` without its axes of extent 1 (or without `axis`, which must have extent 1): a view."""
def stack(arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = 'same_kind') -> ndarray:
    """Arrays of one shape joined along a new axis."""
def stats() -> dict[str, Any]:
    """A dict of counters: instructions, flushes, plan_hits, compiles, launches, contracted_bytes,
    fallbacks, bytes_to_device and bytes_to_host (copied over the link; 0 on a CPU)…"""
def std(a: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, dtype: DTypeLike | None = None, out: Any = None, ddof: Any = 0, keepdims: _bool = False, *, where: Any = True, mean: Any = ..., correction: Any = ...) -> Any:
    """Standard deviation over `axis` with divisor `n - ddof`, reading its input once."""
def stop_gradient(x: ArrayLike) -> Any:
    """The arrays of a tree as constants: copies that have no derivative."""
strings: Any
subtract: _Binary
"""Subtract arguments, element-wise."""
def sum(a: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, dtype: DTypeLike | None = None, out: Any = None, keepdims: _bool = False, initial: Any = ..., where: Any = True) -> Any:
    """Sum over `axis` (int, tuple, None for all). Small integers and bool sum as (u)int64."""
def swapaxes(a: ArrayLike, axis1: Any, axis2: Any) -> ndarray:
    """`a` with two axes exchanged: a view."""
def synchronize() -> None:
    """Runs all pending work and waits for it."""
def take(a: ArrayLike, indices: Any, axis: SupportsIndex | None = None, out: Any = None, mode: Literal['raise', 'wrap', 'clip'] = 'raise') -> Any:
    """The elements of `a` at `indices` along `axis` (None: flattened)."""
def take_along_axis(arr: ArrayLike, indices: ArrayLike, axis: SupportsIndex | None = -1) -> Any:
    """Elements of `arr` by an index array that matches it in all axes but one."""
tan: _Unary
"""Tangent element-wise."""
tanh: _Unary
"""Hyperbolic tangent, element-wise."""
def tensordot(a: ArrayLike, b: ArrayLike, axes: Any = 2) -> Any:
    """Sum of products over pairs of axes: `axes` is a number of inner axes or two sequences of
    axes."""
def tile(A: ArrayLike, reps: Any) -> ndarray:
    """`A` repeated along each axis: `reps` is an int or a sequence of ints, the last for the last
    axis. Raises TypeError for other numbers, ValueError for negative ones."""
def to_device(a: ArrayLike, device: Any) -> ndarray:
    """`a` on the named device: itself where it already is, else a copy."""
def trace(a: ArrayLike, offset: SupportsIndex = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1, dtype: DTypeLike | None = None, out: Any = None) -> Any:
    """The sum along a diagonal."""
def transpose(a: ArrayLike, axes: Any = None) -> ndarray:
    """`a` with its axes permuted (reversed by default): a view."""
def trapezoid(y: ArrayLike, x: ArrayLike | None = None, dx: ArrayLike = 1.0, axis: SupportsIndex = -1) -> Any:
    """Integral along `axis` by the trapezoidal rule, over sample points `x` or steps `dx`."""
def tri(N: ArrayLike, M: ArrayLike | None = None, k: Any = 0, dtype: DTypeLike | None = ..., *, like: Any = None) -> ndarray:
    """(N, M) array with ones at and below the k-th diagonal and zeros above."""
def tril(m: ArrayLike, k: Any = 0) -> ndarray:
    """`m` with zeros above the k-th diagonal of its last two axes. TypeError for no axis."""
def tril_indices(n: SupportsIndex, k: Any = 0, m: SupportsIndex | None = None) -> Any:
    """The rows and the columns, int64, of the elements at and below the k-th diagonal of an array
    of shape (n, m); m is n unless given."""
def tril_indices_from(arr: ArrayLike, k: Any = 0) -> Any:
    """tril_indices() of the shape of a 2-D array."""
def trim_zeros(filt: Any, trim: Any = 'fb', axis: Any = None) -> Any:
    """`filt` without the zeros at the ends that `trim` names ("f", "b"), along all axes or `axis`:
    a view; of a list a list."""
def triu(m: ArrayLike, k: Any = 0) -> ndarray:
    """`m` with zeros below the k-th diagonal of its last two axes. TypeError for no axis."""
def triu_indices(n: SupportsIndex, k: Any = 0, m: SupportsIndex | None = None) -> Any:
    """The rows and the columns, int64, of the elements at and above the k-th diagonal of an array
    of shape (n, m); m is n unless given."""
def triu_indices_from(arr: ArrayLike, k: Any = 0) -> Any:
    """triu_indices() of the shape of a 2-D array."""
true_divide: _Binary
"""Divide arguments element-wise."""
trunc: _Unary
"""Truncated value of the input, element-wise."""
typecodes: Any
def typename(char: Any) -> Any:
    """Return a description for the given data type code."""
def union1d(ar1: ArrayLike, ar2: ArrayLike) -> Any:
    """The values that are in either array, once each and in order."""
def unique(ar: ArrayLike, return_index: _bool = False, return_inverse: _bool = False, return_counts: _bool = False, axis: Any = None, *, equal_nan: _bool = True, sorted: _bool = True) -> Any:
    """The values of `ar` once each, in order; with more results a tuple of them."""
def unique_all(x: ArrayLike, /) -> Any:
    """A named tuple: the values of `x` once each (of NaN all), where each is first, the index among
    them of each element, in the shape of `x`, and how often each occurs."""
def unique_counts(x: ArrayLike, /) -> Any:
    """A named tuple: the values of `x` once each (of NaN all), and how often each occurs."""
def unique_inverse(x: ArrayLike, /) -> Any:
    """A named tuple: the values of `x` once each (of NaN all), and the index among them of each
    element, in the shape of `x`."""
def unique_values(x: ArrayLike, /) -> Any:
    """The values of `x` once each, in order; of NaN all."""
def unpackbits(a: ArrayLike, /, axis: SupportsIndex | None = None, count: Any = None, bitorder: Literal['big', 'little'] = 'big') -> Any:
    """The bits of uint8 elements along `axis` (None: flattened), each a uint8."""
def unravel_index(indices: Any, shape: Any, order: Literal['C', 'F'] = 'C') -> Any:
    """The index along each axis of an array of that shape, for indices into the flattened one: a
    tuple of int64 arrays."""
def unstack(x: ArrayLike, /, *, axis: SupportsIndex = 0) -> tuple[ndarray, ...]:
    """A tuple of views, in compiled functions a list: the parts of `x` along `axis`, without it."""
def unwrap(p: ArrayLike, discont: Any = None, axis: SupportsIndex = -1, *, period: Any = 6.283185307179586) -> Any:
    """`p` with steps along `axis` of more than half a period replaced by their complements."""
def value_and_grad(function: Any, argnums: Any = 0, has_aux: Any = False) -> Any:
    """A function that gives the value of `function` and its gradient."""
def vander(x: ArrayLike, N: SupportsIndex | None = None, increasing: _bool = False) -> Any:
    """(len(x), N) matrix of powers of the 1-D `x`: columns x**(N-1), …, x, 1, or the reverse."""
def var(a: ArrayLike, axis: SupportsIndex | Sequence[SupportsIndex] | None = None, dtype: DTypeLike | None = None, out: Any = None, ddof: Any = 0, keepdims: _bool = False, *, where: Any = True, mean: Any = ..., correction: Any = ...) -> Any:
    """Variance over `axis` with divisor `n - ddof`; `mean` may give the mean (with keepdims)."""
def vdot(a: ArrayLike, b: ArrayLike, /) -> Any:
    """Inner product of the flattened arrays, the first conjugated. Raises ValueError for other
    numbers of elements."""
def vecdot(x1: Any, x2: Any, /, out: Any = None, *, casting: Any = 'same_kind', order: Any = 'K', dtype: DTypeLike | None = None, subok: Any = True, axes: Any = ..., axis: SupportsIndex | Sequence[SupportsIndex] | None = ..., keepdims: _bool = ..., signature: Any = ..., sig: Any = ...) -> Any:
    """Sum of products along one axis, the first operand conjugated; other axes broadcast."""
def vecmat(x1: Any, x2: Any, /, out: Any = None, *, casting: Any = 'same_kind', order: Any = 'K', dtype: DTypeLike | None = None, subok: Any = True, axes: Any = ..., axis: SupportsIndex | Sequence[SupportsIndex] | None = ..., keepdims: _bool = ..., signature: Any = ..., sig: Any = ...) -> Any:
    """Vectors, conjugated, times matrices, stacks of both broadcast; the arguments are those of
    matmul()."""
def vjp(function: Any, *args: Any, has_aux: Any = False) -> Any:
    """The value of `function` and the products of vectors with its Jacobian."""
def vmap(function: Any, in_axes: Any = 0, out_axes: Any = 0) -> Any:
    """A function of arrays with one axis more than those of `function`."""
def vsplit(ary: ArrayLike, indices_or_sections: Any) -> list[ndarray]:
    """Split along the first axis."""
def vstack(tup: Any, *, dtype: DTypeLike | None = None, casting: Any = 'same_kind') -> ndarray:
    """Arrays joined row-wise; 1-D arrays count as rows."""
def where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    """Elements of `x` where `condition` holds, of `y` elsewhere; the condition alone gives its
    indices. Raises ValueError for one of them alone."""
def zeros(shape: SupportsIndex | Sequence[SupportsIndex], dtype: DTypeLike | None = ..., order: Any = 'C', *, device: Any = None, like: Any = None) -> ndarray:
    """An array of zeros. shape: int or ints."""
def zeros_like(a: ArrayLike, dtype: DTypeLike | None = None, order: Any = 'K', subok: Any = True, shape: SupportsIndex | Sequence[SupportsIndex] | None = None, *, device: Any = None) -> ndarray:
    """An array of zeros with the shape, dtype and layout of `a`, or those given."""
