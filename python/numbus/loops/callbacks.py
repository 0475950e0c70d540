"""Functions of numbers that SciPy calls back: it is given their compiled form, where they have one.

Nothing of SciPy's that a program sees is another: names inside of its modules, by which they reach
what calls the function, lead to objects of bindings/callbacks.cpp. `quad` and its kin get C's
`double (int, double *, void *)` for one call, which is made again with the function itself where
that was not certain; the others get an object that answers in the function's place, and calls the
function for what it is not certain of.
"""

import sys
import types

import numpy

from .. import _core, _loops
from . import background, callback_reads, run, sources
from .native import _kept

HOT = 0.02  # seconds that calls take until a function is compiled
_MOST_MISFITS = 8
_MOST_NATIVES = 4  # combinations of types
_MOST_FAILURES = 100  # integrals that had to be computed again
_LOOK = 32  # calls until it is asked for how long they took
_RUNS = 200  # of a solver, which take as long as that at least
_KINDS = {float: "f", int: "i", numpy.float64: "F", numpy.ndarray: "A"}
_states = {}  # by the code of a function


class State:
    """What became of the functions that have one code."""

    def __init__(self, dead):
        self.dead = dead
        self.seconds = 0.0
        self.misfits = self.runs = self.made = 0
        # By the result ("number", "elements"): those that answer in the function's place.
        self.natives = {"number": [], "elements": []}
        self.integrands = {}  # by types, those that C calls
        self.busy = False
        self.hot = None  # what is compiled if this call took long

    def took(self, seconds):
        """Notes for how long a call was carried out in CPython."""
        self.seconds += seconds
        hot, self.hot = self.hot, None
        if hot is not None and (self.seconds > HOT or run.State.after is not None):
            self.compile(*hot)

    def compile(self, function, kinds, result):
        """Has it compiled for arguments of these types while the program goes on."""
        made = [] if result == "integrand" else self.natives[result]
        if self.busy or len(made) >= _MOST_NATIVES or any(n.types == kinds for n in made):
            return
        found = callback_reads.plan(function, kinds, result)
        if found is None:
            self.dead = True
            return
        self.busy = True

        def work():
            from . import called_back  # which few scripts need

            try:
                native = called_back.compiled(*found)
                self.dead |= native is None
                self.made += native is not None
                if native is None:
                    return
                if result == "integrand":
                    self.integrands[kinds] = native
                else:
                    self.natives[result].append(native)
            finally:
                self.busy = False

        if run.State.after is not None:
            work()
        else:
            background.aside(work)

    def misfit(self, native):
        """Notes that what a compiled form reads is not as it was."""
        self.misfits += 1
        self.dead |= self.misfits > _MOST_MISFITS
        for of in self.natives.values():
            if native in of:
                of.remove(native)
        self.integrands = {k: n for k, n in self.integrands.items() if n is not native}


def report_lines():
    """The functions that were compiled, for --report."""
    return [
        f"      {code.co_filename}:{code.co_firstlineno}  {code.co_name}, which SciPy calls"
        for code, state in _states.items()
        if state.made
    ]


def itself(function):
    """What a process that a callback is sent to gets."""
    return function


def _state(function):
    """That of a function of the program's; None where it is not compiled."""
    if not run.State.enabled or type(function) is not types.FunctionType:
        return None
    code = _loops.running_code(function)
    state = _states.get(code)
    if state is None:
        state = _states[code] = State(not sources.is_noted(code))
    return None if state.dead else state


def _kinds(arguments):
    """The letters of the types of arguments; None where they are not known."""
    kinds = [_KINDS.get(type(a)) for a in arguments]
    return None if None in kinds or kinds.count("A") > 1 or len(kinds) > 30 else "".join(kinds)


def _integrand(at):
    """What looks at the arguments of a function of QUADPACK: the first is a function of x and of
    those in the tuple with number `at`.
    """

    def look(*given):
        state = _state(given[0])
        if state is None or type(given[at]) is not tuple:
            return None
        kinds = _kinds(given[at])
        if kinds is None or "A" in kinds:
            return None
        if "i" in kinds and any(type(a) is int and abs(a) > 1 << 53 for a in given[at]):
            return None
        native = state.integrands.get(kinds)
        if native is None:
            state.hot = given[0], kinds, "integrand"
            return state
        if not native.fits(given[0]):
            state.misfit(native)
            return None
        if native.failures > _MOST_FAILURES:
            state.dead = True
            return None
        if "F" in kinds and not _is_usual():
            return None
        _kept.forget_interrupts()
        return (native.callable, *given[1:]), native

    return look


def _is_usual():
    """Whether NumPy tells nothing of what is found by no result."""
    return numpy.geterr()["under"] == "ignore"


class Callback(_core.Callback):
    """What is called in the place of a function. since: when it was last asked about."""

    since = None


def asked(callback, arguments):
    """Has a function compiled whose calls have become hot."""
    state, result = callback.state
    if state.dead:
        return
    now = _core.processor_seconds()
    if callback.since is not None:
        state.seconds += now - callback.since
    callback.since = now
    callback.left = _LOOK
    if state.seconds < HOT and state.runs < _RUNS and run.State.after is None:
        return
    for native in state.natives[result]:
        if not native.fits(callback.function):
            state.misfit(native)
    kinds = _kinds(arguments + (callback.extra or ()))
    if kinds is not None:
        callback.left = 300 * _LOOK
        state.compile(callback.function, kinds, result)


def _instead(original, result, function, extra=None, counter=None, zeros=False):
    """A callback in the place of `original`, which calls a function of the program's, or None.

    counter: the attribute in which `original` counts. zeros: NaN is an error.
    """
    state = _state(function)
    if state is None or not (zeros or _is_usual()):
        return None
    state.runs += 1
    natives = state.natives[result]
    made = Callback(original, function, (state, result), extra, natives, counter, zeros)
    made.left = 0 if state.runs >= _RUNS or run.State.after is not None else _LOOK
    _kept.forget_interrupts()
    return made


def _first(result):
    def look(*given, **_):
        made = _instead(given[0], result, given[0]) if given else None
        return None if made is None else ((made, *given[1:]),)

    return look


def _is_of_scipy(function, *names):
    """Whether it is one that SciPy makes, with these variables of functions around it."""
    code = getattr(function, "__code__", None)
    return code is not None and code.co_freevars == names and "scipy" in code.co_filename


def _zero(function, *more):
    """Before a function that looks for a zero: the first argument is SciPy's, which looks for NaN,
    around another.
    """
    if not _is_of_scipy(function, "f", "f_raise"):
        return None
    if not all(type(a) in (float, int) for a in more[5]) and not _is_usual():
        return None
    inner = function.__closure__[0].cell_contents
    made = _instead(function, "number", inner, counter="_function_calls", zeros=True)
    return None if made is None else ((made, *more),)


def _equations(function, *more):
    """Before a function of MINPACK: the first argument may be SciPy's, which counts calls of
    another.
    """
    inner, counter = function, None
    counts = ("_wrapped_func", "func"), ("_wrapped_fun", "fun")
    if any(_is_of_scipy(function, *names) for names in counts):
        inner, counter = function.__closure__[1].cell_contents, "nfev"
    made = _instead(function, "elements", inner, counter=counter)
    return None if made is None else ((made, *more),)


def _right_side(function, *more):
    """Before check_arguments(fun, y0, …) of solve_ivp: the first may be SciPy's, which adds
    arguments, around another.
    """
    inner, extra = function, None
    if _is_of_scipy(function, "args") and len(function.__defaults__ or ()) == 1:
        inner, extra = function.__defaults__[0], tuple(function.__closure__[0].cell_contents)
    made = _instead(function, "elements", inner, extra)
    return None if made is None else ((made, *more),)


# --- where they are in SciPy: by the module, (the name of a module in it, or None; names; look)

_TABLE = {
    "scipy.integrate._quadpack_py": [
        ("_quadpack", ["_qagse", "_qagie"], _integrand(3)),
        ("_quadpack", ["_qagpe", "_qawfe", "_qawce"], _integrand(4)),
        ("_quadpack", ["_qawoe", "_qawse"], _integrand(5)),
    ],
    "scipy.integrate._odepack_py": [("_odepack", ["odeint"], _first("elements"))],
    "scipy.integrate._ivp.base": [(None, ["check_arguments"], _right_side)],
    "scipy.optimize._zeros_py": [("_zeros", ["_bisect", "_ridder", "_brentq", "_brenth"], _zero)],
    "scipy.optimize._minpack_py": [
        ("_minpack", ["_hybrd", "_hybrj", "_lmdif", "_lmder"], _equations),
    ],
    "scipy.optimize._optimize": [
        (None, ["_wrap_scalar_function", "_wrap_scalar_function_maxfun_validation"],
         _first("number")),
    ],
    "scipy.optimize._differentiable_functions": [
        (None, ["_ScalarFunctionWrapper"], _first("number")),
    ],
}  # fmt: skip


def are_in(name):
    """Whether functions of a module of SciPy's call those of a program."""
    return name in _TABLE and run.State.enabled


def adapt(module):
    """Has a module of SciPy's look at the functions that it is given."""
    for inner, names, look in _TABLE[module.__name__]:
        owner = module
        if inner is not None:
            owner = getattr(module, inner)
            if type(owner) is not _Inner:
                made = _Inner(owner.__name__)
                vars(made).update(vars(owner))
                setattr(module, inner, made)
                owner = made
        for name in names:
            original = getattr(owner, name, None)
            if original is not None and type(original) is not _core.Hook:
                setattr(owner, name, _core.Hook(original, look))


class _Inner(types.ModuleType):
    """A copy of a module of SciPy's in C."""


def adapt_loaded():
    """Does so with those that are there."""
    for name in _TABLE:
        if name in sys.modules:
            adapt(sys.modules[name])


_core.compile_callbacks(asked)
