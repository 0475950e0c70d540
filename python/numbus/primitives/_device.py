"""Device kernels of the core's routines: compiled for their types and given to the core by name.

They are the package's own, so that indices are neither checked nor counted from the end, and loops
that count do not look for Ctrl-C.
"""

import functools

from .. import _core
from ..kernels import types
from ..kernels._resolve import program

_OPTIONS = {
    "boundscheck": False, "wraparound": False, "python_errors": False, "long_loops": False,
}  # fmt: skip
INT = types.Type("number", "int64", weak=True, name="int")
REAL = types.Type("number", "float64", weak=True, name="float")


@functools.cache
def array(dtype, aligned=False):
    """The type of a contiguous array of one axis; aligned: its address is a multiple of 16."""
    made = types.Array(types.Type("number", str(dtype), name=str(dtype)), 1, "C")
    made.aligned = aligned
    return made


def add(name, dtype, function, arguments, tile=0, threads=0, shared=0, **options):
    """Compiles a kernel and makes it the one of that name and dtype.

    `arguments`: types of its parameters, as array() and INT. For the core: tile, how many elements
    a block takes at a time; threads of a block; shared, bytes of memory whose size the launch says.
    Options: max_threads, min_blocks, max_registers. Nothing is done where the core has it.
    """
    if (name, str(dtype)) in _kept:
        return
    made = _core.Kernel(lambda: program.anew(function), {**_OPTIONS, **options}, name)
    made.add_to_routines(name, dtype, list(arguments), tile, threads, shared)
    _kept[name, str(dtype)] = made


_kept = {}  # the core holds no reference
