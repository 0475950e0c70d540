"""CUDA's vector types: float32x4 and the like, named tuples of x, y, z, w."""

from collections import namedtuple

import numpy

from ..kernels._made import make

__all__ = []
_AXES = "xyzw"


def _vector(dtype, count):
    """The class of `count` numbers of one type; calling it in a kernel makes a tuple of them."""
    name = f"{dtype}x{count}"
    names = tuple(_AXES[:count])
    base = namedtuple(name, names)
    kind = numpy.dtype(dtype).type

    def new(cls, *items):
        # Vectors among the items are spread: float32x4(float32x2(1, 2), 3, 4).
        flat = []
        for item in items:
            flat.extend(item if isinstance(item, tuple) else (item,))
        if len(flat) not in (0, count):
            raise TypeError(f"[{name}] wrong number of items; got {len(flat)}; expected {count}")
        return tuple.__new__(cls, [kind(i) for i in flat or [0] * count])

    given = [f"{n}=0" for n in names]
    converted = ", ".join(f"kind({n})" for n in names)
    lines = [f"def {name}({', '.join(given)}):", f"    return base({converted})"]
    return type(
        name,
        (base,),
        {
            "__slots__": (),
            "__new__": new,
            "__doc__": f"{count} numbers of type {dtype}: {', '.join(names)}.",
            "__module__": "numbus.cuda",
            "_kernel_maker": make(name, lines, base=base, kind=kind),
        },
    )


for _dtype in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32",
               "float64"):  # fmt: skip
    for _count in (1, 2, 3, 4):
        _made = _vector(_dtype, _count)
        globals()[_made.__name__] = _made
        __all__.append(_made.__name__)
