"""NumPy's functions for compiled functions, themselves in Python that compiles.

Each runs in CPython, too. They stand in library/, by subject, under the names of the functions that
they are for.
"""

import functools
import importlib
import pathlib
import re

from ..functions import einsum, registry
from ..functions.names import not_yet as not_yet

_functions = {}


def known(*names):
    """Makes a function the one for these names: 'np.sort', 'math.gcd'."""

    def keep(function):
        for name in names:
            _functions[name] = function
        return function

    return keep


def expanded(function):
    """Has a function of the library be expanded where it is called, as registered ones are: tuples
    stay known.
    """
    function._kernel_expanded = True
    return function


@functools.cache
def _files():
    """Which file has the function for a name: read from their text, so that few are imported."""
    found = {}
    for file in sorted((pathlib.Path(__file__).parent / "library").glob("*.py")):
        for names in re.findall(r"^@known\(([^)]*)\)", file.read_text("utf-8"), re.MULTILINE):
            found.update(dict.fromkeys(re.findall(r'"([^"]+)"', names), file.stem))
    return found


def find(name):
    """The function for 'np.sort' and the like, or None."""
    if name.startswith("einsum "):
        return einsum.compiled_for(*name.split(" ")[1:])
    row = registry.ROWS.get(name)
    if row is not None and row.compiled:
        return row.body
    file = _files().get(name)
    if file is None:
        return None
    importlib.import_module(f"{__package__}.library.{file}")
    return _functions[name]


# What random numbers are made of. In CPython they come from a state of its own.
@functools.cache
def _state():
    import numpy

    return numpy.random.RandomState(), numpy.zeros(2)


def random_bits():
    """32 random bits, as uint32."""
    return _state()[0].randint(0, 2**32, dtype="uint32")


def random_unit():
    """A random number of [0, 1)."""
    return _state()[0].random_sample()


class _OfGenerator:
    """What numbers of numpy.random.Generator are made of: bits of the source at an address, and the
    C library's functions that it calls.
    """

    def __init__(self, name):
        self._kernel_name = f"numbus random {name}"

    def __call__(self, *_):
        raise NotImplementedError("only compiled functions know a generator by its address")


next_word, next_half, next_unit = map(_OfGenerator, "word half unit64".split())
c_log1p, c_exp, c_log, c_expm1, c_cos, c_acos, c_pow, c_log1pf, c_expf = map(
    _OfGenerator, "log1p exp log expm1 cos acos pow log1pf expf".split()
)


def random_kept():
    """Whether a normal number is kept for the next call, and which: two float64 of the state."""
    return _state()[1]


def random_seed(seed):
    """Begins the state anew."""
    state, kept = _state()
    state.seed(seed)
    kept[0] = 0


def list_resize(items, length):
    """A list has that many items from now on; new ones are yet to be set."""
    del items[length:]
    items.extend([None] * (length - len(items)))


list_resize._kernel_name = "numbus list resize"


class _OfMemory:
    """dict_hash and the like: steps of dicts and strings, which are memory of compiled code."""

    def __init__(self, name):
        self._kernel_name = f"numbus {name}"

    def __call__(self, *_):
        raise NotImplementedError("only compiled functions have such memory")


dict_hash, dict_mask, dict_slot, dict_mark, dict_same, dict_room, dict_grow, dict_new = (
    _OfMemory(f"dict {name}") for name in "hash mask slot mark same room grow new".split()
)
codes, memory, cut, room_for, number_of_text, float_text, sort_of = (
    _OfMemory(f"string {name}") for name in "codes memory cut room number float sort".split()
)


def random_python_seed(seed):
    """Begins the state anew, as Python's random.seed."""
    state, kept = _state()
    state.seed([seed & 0xFFFFFFFF])
    kept[0] = 0


# Calls of the core's host code (base/host_call.h), whose arrays lie dense; in CPython as NumPy does
# it. Not 0: there is none, or LAPACK says what is wrong.


def host_sort(source, out, lines, n, stable, descending):
    """Sorts lines; `source` may be `out`."""
    ordered = _lines(source, lines, n).copy()
    ordered.sort(-1, "stable" if stable else None)
    _lines(out, lines, n)[...] = ordered[:, ::-1] if descending else ordered
    return 0


def host_argsort(source, out, lines, n, descending):
    """The orders of lines, int64."""
    rows = _lines(source, lines, n)
    order = rows[:, ::-1].argsort(-1, kind="stable") if descending else rows.argsort(-1, "stable")
    _lines(out, lines, n)[...] = (n - 1 - order)[:, ::-1] if descending else order
    return 0


def host_partition(source, out, lines, n, ranks, count):
    """Partitions lines; `source` may be `out`."""
    rows = _lines(source, lines, n).copy()
    rows.partition(ranks[:count], -1)
    _lines(out, lines, n)[...] = rows
    return 0


def host_argpartition(source, out, lines, n, ranks, count):
    """The same for indices, int64."""
    _lines(out, lines, n)[...] = _lines(source, lines, n).argpartition(ranks[:count], -1)
    return 0


def host_search(line, n, values, m, right, out):
    """Where values belong in a sorted line, int64."""
    found = line[:n].searchsorted(values.reshape(m), "right" if right else "left")
    out[...] = found.reshape(out.shape)
    return 0


def _lines(a, lines, n):
    return a.reshape(lines, n)


class _Lapack:
    """host_solve and the like: what compiled functions find in the LAPACK that NumPy has loaded."""

    def __init__(self, name):
        self._kernel_name = f"numbus host {name}"

    def __call__(self, *words):
        return -1  # CPython's own calls have it by NumPy


host_solve, host_lu, host_cholesky, host_eigh, host_eig, host_svd, host_qr = map(
    _Lapack, "solve lu cholesky eigh eig svd qr".split()
)
for _name in "sort argsort partition argpartition search".split():
    globals()[f"host_{_name}"]._kernel_name = f"numbus host {_name}"

for _function in (random_bits, random_unit, random_kept, random_seed, random_python_seed):
    _function._kernel_name = _function.__name__.replace("random_", "numbus random ")
