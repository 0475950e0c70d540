"""What a program has to give: CPython and NumPy run it, with the allowed differences.

Functions that need not agree with NumPy in the last bit are perturbed in further runs (shadows).
How far the results then move is the tolerance; what changes otherwise hangs on rounding, and the
program has no verdict.
"""

from __future__ import annotations

import copy
import linecache
import math
import operator
import random
import sys
import types
import warnings
from dataclasses import dataclass

import numpy as np

from . import differences, one_type
from .differences import NoVerdict
from .instrument import instrumented
from .raised import class_of, is_unset, message_of, raised_by_program
from .shadows import either_zero, perturbed
from .values import distance, leaves, same_bits

SHADOWS = 3
MANY_SHADOWS = 60
FACTOR = 4.0
LEAST = 5e-324


ILL_FORMED = (NameError, AttributeError, TypeError, RecursionError)
STEPS = 20_000  # of all loops of a run
ITEMS = 1_000_000  # of one array or list
GROWN = 2_000  # of a list that a program makes item by item


def from_numpy(function) -> bool:
    return (getattr(function, "__module__", None) or "").startswith("numpy") or isinstance(
        function, np.ufunc
    )


# Names of functions and methods that give exactly NumPy's bits; what is not named is perturbed.
EXACT = frozenset(
    """abs absolute fabs sqrt floor ceil trunc rint round around sign signbit copysign negative
    positive minimum maximum fmin fmax add subtract multiply divide true_divide square equal
    not_equal less less_equal greater greater_equal logical_and logical_or logical_xor logical_not
    isnan isinf isfinite heaviside nextafter fmod remainder mod floor_divide floordiv ldexp frexp
    modf min max amin amax nanmin nanmax argmin argmax any all count_nonzero sort argsort unique
    where clip zeros ones full empty zeros_like ones_like full_like empty_like eye identity array
    asarray ascontiguousarray asfortranarray copy astype reshape ravel flatten transpose swapaxes
    moveaxis expand_dims squeeze flip fliplr flipud roll rot90 repeat tile concatenate stack vstack
    hstack column_stack dstack split array_split hsplit vsplit diag diagonal tril triu trace
    nonzero flatnonzero argwhere searchsorted digitize bincount take take_along_axis put compress
    delete insert append isin intersect1d union1d setdiff1d setxor1d broadcast_to atleast_1d
    atleast_2d atleast_3d fill item tolist view conj conjugate real imag shape size ndim
    array_equal ndenumerate ndindex bitwise_and bitwise_or bitwise_xor invert left_shift
    right_shift bit_count gcd lcm partition argpartition lexsort fill_diagonal meshgrid tri
    diff ediff1d nan_to_num isclose allclose isreal iscomplex isscalar median nanmedian
    enumerate zip map reversed range len list tuple int float bool complex str sum_of_ints
    isqrt comb perm factorial fsum is_integer bit_length index count append extend pop remove
    insert reverse clear sorted isinstance divmod slice print next iter type
    _replace prange get pop setdefault update keys values items clear dict
    ord chr find rfind rindex startswith endswith splitlines rsplit join strip lstrip rstrip replace
    zfill center ljust rjust partition rpartition removeprefix removesuffix upper lower title
    capitalize swapcase casefold isalpha isdigit isalnum isspace isupper islower isascii isnumeric
    isdecimal istitle isprintable random standard_normal integers uniform standard_exponential
    permutation normal""".split()
)
# These add integers as float64, which need not hold them.
MEANS = frozenset("mean average nanmean std var nanstd nanvar".split())
# Products of complex numbers are added, and multiplied, in an order that is open, and so are signs
# of zeros.
PRODUCTS = frozenset("matmul dot vdot inner tensordot einsum prod nanprod".split())
# Of complex numbers these round differently, too.
COMPLEX_INEXACT = frozenset(
    "abs absolute sqrt multiply divide true_divide square sign prod power".split()
)


def is_finite(value) -> bool:
    """Whether complex numbers have finite parts; True for what else there is."""
    return not np.iscomplexobj(value) or bool(np.isfinite(value).all())


COMPARISONS = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Is": operator.is_,
    "IsNot": operator.is_not,
    "In": lambda a, b: a in b,
    "NotIn": lambda a, b: a not in b,
}


class Run:
    """The operators and calls of one run; a shadow has a random generator of its own."""

    def __init__(self, table: one_type.Table, decides: bool, shadow=None, contracts=False):
        self.r = random.Random(shadow) if shadow is not None else None
        self.contracts = contracts  # a product that is added to a number may not be rounded
        self.inexact = False
        self.steps = STEPS
        self.dry = 0  # sides of an expression that are run to know their types only
        self.table, self.decides = table, decides
        self.sampling = 0  # functions that are run on samples, to know the types of their names
        self.begun: set = set()  # functions, with types of arguments, that were run on samples
        self.entered: dict = {}  # of these the last one by name
        self.left: dict = {}  # dicts that lost values, by identity, and samples of these

    def tick(self):
        self.steps -= 1
        if self.steps < 0:
            raise NoVerdict("a loop without an end")
        return True

    def names(self):
        return {
            "_op": self.op,
            "_iop": self.iop,
            "_iat": self.iat,
            "_merge": self.merge,
            "_merge_extreme": self.merge_extreme,
            "_un": self.un,
            "_call": self.call,
            "_either": self.either,
            "_choose": self.choose,
            "_extreme": self.extreme,
            "_list": self.list,
            "_guarded": differences.guarded,
            "_dict": self.dict,
            "_entries": self.entries,
            "_key": KEY,
            "_store": self.store,
            "_delete": self.delete,
            "_unless_none": unless_no_verdict,
            "_tick": self.tick,
            "_at": self.at,
            "_chain": self.chain,
            "_ordered": differences.ordered,
            "_order": self.order,
            "_declared": one_type.declared,
            "_identified": differences.identified,
            "_equated": differences.equated,
            "_equals": self.equals,
            "_enter": self.enter,
            "_produced": one_type.Produced,
            "_samples": self.samples,
            "_over": self.over,
            "_loop_depth": self.loop_depth,
            "_unknown": one_type.UNKNOWN,
            "_ones": np.ones(2),
            "_open": int(not self.decides),
        }

    # ---- names of one type -----------------------------------------------------------------------
    def enter(self, name, types, arguments):
        """The names of a call; what they may hold is found out when its types are new."""
        frame = one_type.Frame(self.table, (name, *map(one_type.kind, arguments)))
        fresh = frame.key not in self.begun
        self.begun.add(frame.key)
        self.entered[name] = frame.key
        if fresh and self.r is None:
            kept = self.steps, self.inexact
            self.sampling += 1
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for _ in range(one_type.ROUNDS):
                    before, self.steps = self.table.size, STEPS
                    types(one_type.Frame(self.table, frame.key), *copy.deepcopy(arguments))
                    if self.table.size == before:
                        break
            self.sampling -= 1
            self.steps, self.inexact = kept
        return frame

    @staticmethod
    def loop_depth(over, left):
        """Loops over tuples are unrolled, unless something leaves them."""
        plain = isinstance(over, tuple) and not hasattr(over, "_fields")
        return int(left or not plain)

    def samples(self, over):
        try:
            return one_type.first_items(over)
        except Exception:
            return []

    def over(self, iterable):
        """What a comprehension goes over: something, where types are wanted."""
        if self.sampling or self.dry:
            return self.samples(iterable)
        return differences.guarded(iterable)

    def _retried(self, attempt, *operands):
        """Where only the type of a result is wanted, other operands of these types do as well."""
        try:
            return attempt(*operands)
        except Exception as error:
            if isinstance(error, TypeError) or (not self.sampling and not self.dry):
                raise
        return attempt(*map(one_type.ones, operands))

    def at(self, value, key):
        if isinstance(value, dict):
            identify_key(key)
        if self.sampling or self.dry:
            return one_type.element(value, key)
        return value[key]

    def _moved(self, value, product=False):
        self.inexact = True
        if self.r is None:
            return value
        value = perturbed(value, self.r)
        return either_zero(value, self.r) if product else value

    def _terms(self, name, value, keywords):
        """What a shadow reduces in place of an operand."""
        if name in MEANS and "dtype" not in keywords and beyond_float64(value):
            value = value.astype(np.float64)
        return perturbed(value, self.r) if is_inexact(value) else value

    def _side(self, side):
        """A list of what a side that CPython does not look at would give; empty: an error."""
        kept = self.steps, self.inexact
        self.dry += 1
        try:
            return [side()]
        except Exception as error:
            self.table.refuse(error)
            return []
        finally:
            self.dry -= 1
            self.steps, self.inexact = kept

    def either(self, stop, decided, constants, frame, names, *sides):
        """and, or: the value has the type of all sides; `stop` is the truth that ends it."""
        seen, held = [], []  # held: what names that are None here may hold
        for k, side in enumerate(sides):
            value = side()
            if k + 1 < len(sides) and self.decides and decided[k] and not seen:
                if bool(value) == stop:
                    return value
                continue
            seen.append(value)
            if value is None and frame and names[k]:
                held += frame.held(names[k])
            if k + 1 < len(sides) and bool(seen[-1]) == stop:
                more = [v for s in sides[k + 1 :] for v in self._side(s)]
                return differences.of_both(seen[-1], [*seen, *more, *held], constants)
        return differences.of_both(seen[-1], [*seen, *held], constants)

    @staticmethod
    def order(name, a, b):
        """<, <=, > and >=."""
        value = COMPARISONS[name](a, b)
        if isinstance(a, (list, tuple)) and type(value) is bool:
            if any(isinstance(v, np.generic) for v in (*a, *b)):
                # Of their items, where two differ, else of their lengths: one type holds both.
                return np.bool_(value)
        return value

    def chain(self, names, first, *later):
        """a < b < c: the value has the type of all comparisons."""
        seen, left = [], first
        for k, (name, side) in enumerate(zip(names, later, strict=True)):
            right = side()
            seen.append(COMPARISONS[name](left, right))
            if k + 1 < len(later) and not seen[-1]:
                rest = self._side(lambda k=k, right=right: self._rest(names, k + 1, right, later))
                return differences.of_both(seen[-1], [*seen, *(rest[0] if rest else ())])
            left = right
        return differences.of_both(seen[-1], seen)

    @staticmethod
    def _rest(names, begin, left, later):
        """The values of the comparisons from one on."""
        found = []
        for name, side in zip(names[begin:], later[begin:], strict=True):
            right = side()
            found.append(COMPARISONS[name](left, right))
            left = right
        return found

    @staticmethod
    def equals(op, frame, name_a, a, name_b, b):
        """== and !=. A name that may hold None has one type: NumPy's bool for NumPy's numbers."""
        value = COMPARISONS[op](a, b)
        if (a is not None and b is not None) or not frame:
            return value
        sides = [frame.held(n) if v is None else [v] for n, v in ((name_a, a), (name_b, b))]
        if all(sides) and any(isinstance(v, np.generic) for side in sides for v in side):
            return np.bool_(value)
        return value

    def list(self, *items):
        """A list has items of one type."""
        return one_type.of_one_type(items)

    def dict(self, made):
        """A dict has values of one type, and its keys are no NaN."""
        for key in made:
            identify_key(key)
        if not made and not self.sampling and not self.dry:
            return OfNothing()
        one_type.settle_dict(made)
        return made

    def entries(self, *parts):
        """A dict from keys and values, one after the other: dropped values count for the type."""
        keys, values = parts[::2], parts[1::2]
        for key in keys:
            identify_key(key)
        made = dict(zip(keys, one_type.of_one_type(values), strict=True))
        if len(made) < len(keys) and len(set(map(one_type.kind, keys))) > 1:
            raise NoVerdict("a key twice in a dict, in two types")
        return made

    def choose(self, test, decided, constants, yes, no):
        first, second = (yes, no) if test else (no, yes)
        value = first()
        if decided and self.decides:
            return value
        constants = constants if test else constants[::-1]
        other = self._side(second)
        if value is None and self.sampling and other:
            return other[0]  # what a name may hold, beside None
        return differences.of_both(value, [value, *other], constants)

    def extreme(self, constants, function, *args):
        """min and max of several numbers."""
        value = self.call(function, *args)
        return differences.of_both(value, args, constants) if len(args) > 1 else value

    def _own(self, value):
        """What may be changed, where nothing that lasts may be."""
        if self.dry and isinstance(value, (np.ndarray, list, dict, set)):
            return value.copy()
        return value

    def store(self, value, target, key):
        target = self._own(target)
        self._remember(target)
        old, before = [], len(target) if isinstance(target, dict) else 0
        if isinstance(target, list) and isinstance(key, (int, np.integer)):
            old = target[key : key + 1 or None]
        try:
            differences.store(value, target, key)
        except IndexError:
            if self.sampling and isinstance(target, np.ndarray):
                np.zeros(1, target.dtype)[0] = value  # says whether the types fit
            raise
        if isinstance(target, list):
            one_type.settle(target, value, replaced=old)
        if isinstance(target, dict):
            if len(target) != before:
                differences.note_keys(target)
            identify_key(key)
            expect_types(target)
            one_type.settle_dict(target, self._remembered(target))

    def _remember(self, changed):
        """Notes the types of a dict's values before a call that may remove some of them."""
        if isinstance(changed, dict) and changed:
            kinds = self.left.setdefault(id(changed), (changed, {}))[1]
            kinds.update({one_type.kind(v): one_type.sample(v) for v in changed.values()})

    def _remembered(self, changed):
        return self.left.get(id(changed), (changed, {}))[1].values()

    def delete(self, target, key):
        target = self._own(target)
        self._remember(target)
        del target[key]
        if isinstance(target, dict):
            differences.note_keys(target)

    def op(self, name, a, b):
        a, b = self._repeated(name, a, b)
        finite = is_finite(a) and is_finite(b)
        value = self._retried(lambda b: differences.binary(name, a, b), b)
        self._stays_finite(name, value, finite)
        return self._operator(name, value, a, b)

    def _stays_finite(self, name, value, finite):
        """Where a part of a complex product overflows, NaN or infinity depends on its rounding."""
        if finite and name in ("Mult", "Pow", "PowLiteral") and np.iscomplexobj(value):
            if not self.sampling and not self.dry and not is_finite(value):
                raise NoVerdict("a complex product overflows")

    def _operator(self, name, value, a, b):
        if (
            name in ("Pow", "PowLiteral", "MatMult")
            or (name in ("Mult", "Div") and np.iscomplexobj(value))
            or (name == "Mult" and self.contracts)
        ):
            if name == "MatMult" and self.r is not None and is_inexact(value):
                value = perturbed(a, self.r) @ perturbed(b, self.r)
            if is_inexact(value):
                return self._moved(value, name == "MatMult")
        return value

    def _repeated(self, name, a, b):
        """The operands of a product; samples of a list are repeated once at least."""
        if name != "Mult" or not (self.sampling or self.dry):
            return a, b
        if isinstance(a, list) and isinstance(b, (int, np.integer)):
            return a, max(int(b), 1)
        if isinstance(b, list) and isinstance(a, (int, np.integer)):
            return max(int(a), 1), b
        return a, b

    def iop(self, name, a, b):
        a, b = self._repeated(name, self._own(a), b)
        limit_growth(a)
        finite = is_finite(a) and is_finite(b)
        self._remember(a)
        value = self._retried(lambda b: differences.in_place(name, a, b), b)
        if isinstance(value, dict):
            one_type.settle_dict(value, self._remembered(value))
        self._stays_finite(name, value, finite)
        moved = self._operator(name, value, a, b)
        if isinstance(value, np.ndarray) and moved is not value:
            value[...] = moved
            return value
        return moved

    def merge(self, name, a, b):
        """a op= b in a parallel loop: the iterations have no order."""
        value = self.iop(name, a, b)
        if self.sampling or not is_inexact(value):
            return value
        if name in ("Mult", "Div") and not order_matters_not(value, a, b):
            raise NoVerdict("the order of a product")
        if self.r is not None:
            value = self.iop(name, a, perturbed(b, self.r))
        return self._moved(value)

    def merge_extreme(self, constants, function, *args):
        """min and max in a parallel loop."""
        numbers = len(args) == 2 and not any(np.ndim(v) for v in args) and not self.sampling
        if numbers and any(v == 0 for v in args) and differences.is_open(np.maximum, args, {}):
            raise NoVerdict("one of two zeros")
        return self.extreme(constants, function, *args)

    def iat(self, name, a, key, later):
        """a[key] op= what is computed after the element has been read."""
        old = self.at(a, key)
        self.store(self.iop(name, old, later()), a, key)

    def un(self, name, a):
        if name == "USub":
            return differences.wrapped(-a)
        if name == "Invert":
            return ~a
        return +a

    def call(self, function, *args, **keywords):
        """A call; a list to which it added has items of one type afterwards."""
        if self.sampling:
            return self._sampled_call(function, args, keywords)
        changed = getattr(function, "__self__", None)
        before = len(changed) if isinstance(changed, dict) else 0
        self._remember(changed)
        value = self._with_default(function, args, self._call(function, args, keywords))
        if isinstance(value, (np.ndarray, list)) and count(value) > ITEMS:
            raise NoVerdict("an array that grows without an end")
        if isinstance(changed, dict):
            if len(changed) != before:
                differences.note_keys(changed)
            for key in args[:1]:
                identify_key(key)
            expect_types(changed)
            one_type.settle_dict(changed, self._remembered(changed))
        if isinstance(changed, list):
            at = {"append": 0, "extend": 0, "insert": 1}.get(function.__name__)
            limit_growth(changed)
            if at is not None:
                one_type.settle(changed, *args[at:])
        return value

    @staticmethod
    def _with_default(function, args, value):
        """What a dict has for a key, or a default: of the type that holds its values and that.

        So it is with what a generator yields.
        """
        if function is next and len(args) > 1 and isinstance(args[0], one_type.Produced):
            return one_type.fitted(value, [value, args[1], *args[0].samples()])
        owner = getattr(function, "__self__", None)
        names = ("get", "pop", "setdefault")
        if not isinstance(owner, dict) or len(args) < 2 or function.__name__ not in names:
            return value
        return one_type.fitted(value, [value, args[1], *owner.values()])

    def _sampled_call(self, function, args, keywords):
        if function in (zip, map):
            every = [one_type.first_items(a) for a in args[function is map :]]
            return list(zip(*every)) if function is zip else list(map(args[0], *every))
        if function in (enumerate, reversed):
            items = one_type.first_items(args[0])
            return items if function is reversed else [(0, v) for v in items]
        try:
            return self._with_default(function, args, self._call(function, args, keywords))
        except TypeError:
            raise
        except Exception:
            if isinstance(function, types.FunctionType):
                found = self.table.samples((self.entered.get(function.__name__), "return"))
                if not found:
                    raise
                return one_type.fitted(found[0], found)
        owner = getattr(function, "__self__", None)
        if isinstance(owner, np.ndarray):
            function = getattr(one_type.ones(owner), function.__name__)
        return self._call(function, tuple(map(one_type.ones, args)), keywords)

    def _call(self, function, args, keywords):
        name = getattr(function, "__name__", "")
        if self.dry:
            owner = getattr(function, "__self__", None)
            if isinstance(owner, (np.ndarray, list, dict)):
                function = getattr(owner.copy(), name)
            args = tuple(map(self._own, args))
            keywords = {k: self._own(v) for k, v in keywords.items()}
        if function in (sum, math.prod) and hasattr(args[0], "__len__") and not len(args[0]):
            raise NoVerdict("the sum of nothing is an int, whatever it is the sum of")
        if any(isinstance(a, list) and not a for a in args) and from_numpy(function):
            raise NoVerdict("an empty list has no type")  # "empty lists"
        exact = isinstance(function, (types.FunctionType, type)) or name in EXACT
        if exact and name in COMPLEX_INEXACT:
            exact = not any(np.iscomplexobj(a) for a in args) and not np.iscomplexobj(
                getattr(function, "__self__", 0)
            )
        if exact and name == "round" and len(args) + len(keywords) > 1:
            exact = not is_inexact(args[0]) and name == "round"
        if exact and differences.is_open(function, args, keywords):
            raise NoVerdict("the sign of a NaN, one of two zeros, or the order of NaN")
        if exact:
            return differences.call(function, args, keywords)
        if self.r is not None and (not isinstance(function, np.ufunc) or len(args) > 2):
            # How a sum moves with its terms says what its order may change.
            owner = getattr(function, "__self__", None)
            if isinstance(owner, np.ndarray):
                function = getattr(self._terms(name, owner, keywords), name)
            args = tuple(self._terms(name, a, keywords) for a in args)
        value = differences.call(function, args, keywords)
        if name in PRODUCTS and not is_finite(value):
            raise NoVerdict("a complex product beyond finite numbers")
        if not is_inexact(value) and not isinstance(value, (tuple, list)):
            return value
        if differences.overflows_on_the_way(name, function, args, value):
            raise NoVerdict("a short float or a zero times infinity on the way to a value")
        moved = self._moved(value, name in PRODUCTS and function is not math.prod)
        out = keywords.get("out")
        if isinstance(out, np.ndarray):
            if moved is not out:
                out[...] = moved
            return out
        return moved


def unless_no_verdict():
    """Begins a handler: what says that there is no verdict is no error of the program's."""
    error = sys.exc_info()[1]
    if isinstance(error, (NoVerdict, RuntimeWarning)):
        raise error
    if isinstance(error, RecursionError):
        raise NoVerdict("calls that are too deep")


class OfNothing(dict):
    """What a comprehension has made that had no entries: compiled, it has their types."""


def expect_types(changed):
    if isinstance(changed, OfNothing) and changed:
        raise NoVerdict("a dict of nothing has types that nobody sees")  # "empty lists"


def identify_key(key):
    """A key of a dict, by which CPython finds a NaN that is the same object."""
    for part in key if isinstance(key, tuple) else (key,):
        differences.identified(part)


class _Key:
    def __getitem__(self, key):
        return key


KEY = _Key()


def limit_growth(value):
    if isinstance(value, list) and len(value) > GROWN:
        raise NoVerdict("a list that grows without an end")


def count(value) -> int:
    return value.size if isinstance(value, np.ndarray) else len(value)


def beyond_float64(value) -> bool:
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "iu" or not value.size:
        return False
    return max(int(value.max()), -int(value.min())) > 1 << 53


def order_matters_not(value, a, b) -> bool:
    """Whether a product neither leaves the range of its type nor begins outside."""
    with np.errstate(all="ignore"):
        sizes = [float(abs(v)) for v in (a, b, value)]
    least = float(np.finfo(np.asarray(value).dtype).smallest_normal)
    return (sizes[2] < np.inf and (sizes[2] > least or 0 in sizes[:2])) or np.inf in sizes[:2]


def is_inexact(value) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(is_inexact, value))
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind in "fc"
    return isinstance(value, (float, complex))


_count = 0


def load(text: str) -> dict:
    """The program's names, as if imported: compiled functions find its source."""
    global _count
    _count += 1
    name = f"<program {_count}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"__name__": "program"}
    exec(compile(text, name, "exec"), space)
    return space


@dataclass
class Outcome:
    """What a call gave, and what its arguments are afterwards."""

    value: object = None
    error: BaseException | None = None
    arguments: tuple = ()
    inexact: bool = False


def outcome(function, arguments) -> Outcome:
    with warnings.catch_warnings(), np.errstate(all="warn"):
        warnings.simplefilter("ignore")
        # What an integer cannot hold of a float is the processor's to say.
        warnings.filterwarnings("error", "invalid value encountered in cast")
        try:
            return Outcome(function(*arguments), None, arguments)
        except (NoVerdict, RuntimeWarning) as error:
            raise NoVerdict(str(error)) from None
        except Exception as error:
            # A `finally` that raises replaces what was on its way.
            earlier = error.__context__
            while earlier is not None:
                if isinstance(earlier, (NoVerdict, RuntimeWarning)):
                    raise NoVerdict(str(earlier)) from None
                earlier = earlier.__context__
            return Outcome(None, error, arguments)


def execute(code, run: Run) -> Outcome:
    space = {"__name__": "program", **run.names()}
    try:
        exec(code, space)
        arguments = space["arguments"]()
    except Exception as error:
        raise NoVerdict(f"no program: {error!r}") from error
    result = outcome(space["f"], arguments)
    result.inexact = run.inexact
    of_none = "NoneType" in str(result.error)  # a name that may hold None, used as a value
    if isinstance(result.error, ILL_FORMED) and not (
        of_none or raised_by_program(result.error) or is_unset(result.error)
    ):
        raise NoVerdict(f"no program: {type(result.error).__name__}")
    return result


def parts(o: Outcome):
    found = [("error", class_of(o.error), None)] if o.error else list(leaves(o.value))
    for k, a in enumerate(o.arguments):
        found += leaves(a, f"argument {k}")
    return found


@dataclass
class Expected:
    outcome: Outcome
    parts: list
    tolerances: list
    wrapped: set  # what NumPy says of operations that wrapped
    refused: set  # lines whose types do not fit, which is an error while compiling


def settled(code, decides: bool, contracts: bool = False):
    """The outcome when no run sees types of names that were not seen before, and these types."""
    table = one_type.Table()
    for _ in range(one_type.ROUNDS):
        before = table.size
        base = execute(code, Run(table, decides, contracts=contracts))
        if table.size == before:
            return table, base
    raise NoVerdict("types that do not settle")


def same_parts(one, other) -> bool:
    return len(one) == len(other) and all(
        a[:2] == b[:2] and (a[2] is None or same_bits(a[2], b[2])) for a, b in zip(one, other)
    )


def expected(text: str, shadows: int = SHADOWS, contracts: bool = False) -> Expected:
    """What every run of the program has to give. Raises NoVerdict.

    `contracts`: products of floats may be kept unrounded where they are added, as in kernels.
    """
    code, any_decided = instrumented(text)
    differences.WRAPPED.clear()
    table, base = settled(code, True, contracts)
    found = parts(base)
    if any_decided and not same_parts(found, parts(settled(code, False)[1])):
        raise NoVerdict("types hang on what is decided while compiling")
    tolerances = [0.0] * len(found)
    if base.inexact:
        for k in range(shadows):
            shadow = execute(code, Run(table, True, shadow=k, contracts=contracts))
            moved = parts(shadow)
            if [p[:2] for p in moved] != [p[:2] for p in found]:
                raise NoVerdict("control flow hangs on rounding")
            own = base.error is not None and raised_by_program(base.error)
            if own and message_of(shadow.error) != message_of(base.error):
                raise NoVerdict("a message hangs on rounding")
            for i, ((_, kind, x), (_, _, y)) in enumerate(zip(found, moved, strict=True)):
                if x is None:
                    continue
                inexact = kind in ("float", "complex") or (
                    isinstance(x, np.ndarray) and x.dtype.kind in "fc"
                )
                d = distance(x, y) if inexact else 0.0
                if d == 0.0 and inexact and not same_bits(x, y):
                    d = LEAST  # signs of zeros
                if not math.isfinite(d) or (not inexact and not same_bits(x, y)):
                    raise NoVerdict("a result hangs on rounding")
                tolerances[i] = max(tolerances[i], FACTOR * d)
    return Expected(base, found, tolerances, set(differences.WRAPPED), table.refused)


def difference(want: Expected, got: Outcome) -> str:
    """How an outcome differs from what it has to be; "" where it does not."""
    error = want.outcome.error
    if got.error is not None and (error is None or class_of(got.error) != class_of(error)):
        text = str(got.error).split("\n")[0]
        wanted = repr(error) if error is not None else "no error"
        return f"{type(got.error).__name__}: {text}; want {wanted[:200]}"
    if error is not None and got.error is None:
        return f"got {got.value!r}; want {error!r}"
    keys = [e.args[0] for e in (error, got.error) if type(e) is KeyError and e.args]
    if len(keys) == 2 and not raised_by_program(error) and keys[0] != keys[1]:
        return f"got KeyError of {keys[1]!r}; want {keys[0]!r}"
    told, said = message_of(got.error), message_of(error)
    if error is not None and raised_by_program(error) and told != said:
        return f"got message {told!r}; want {said!r}"
    mine = parts(got)
    for (path, kind, x), (_, kind_x, y), t in zip(mine, want.parts, want.tolerances):
        if kind != kind_x:
            shown = f" ({x!r} for {y!r})" if y is not None else ""
            return f"{path}: got {kind}, want {kind_x}{shown}"
        if x is None:
            continue
        if t == 0.0:
            if not same_bits(x, y):
                return f"{path}: got {x!r}, want {y!r}"
        elif distance(x, y) > t:
            return f"{path}: got {x!r}, want {y!r} within {t:.3g}"
    if len(mine) != len(want.parts):
        return f"got {len(mine)} parts, want {len(want.parts)}"
    return ""
