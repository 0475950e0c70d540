"""Random scripts, plain and with their loops compiled after 1, 2 and 50 iterations.

python -m tests.loops.run --programs 1000 [--first 0]
python -m tests.loops.run --print 17
python -m tests.loops.run --replay 17
python -m tests.loops.run --callbacks …      the same of scripts whose functions SciPy calls
"""

import argparse
import array
import ast
import collections
import contextlib
import io
import signal
import sys
import traceback
import types
import warnings

import numbus
import numpy
from numbus import loops
from numbus.loops import (
    background,
    heads,
    held,
    kept,
    made_lists,
    narrow,
    numbers,
    rewrite,
    singles,
    strips,
)
from numbus.loops import run as runtime
from numbus.loops.called import FunctionEmitter
from numbus.loops.emit import Emitter
from numbus.loops.held import Held
from numbus.loops.made_lists import MadeLists
from numbus.loops.pools import Pools
from scipy import integrate, optimize  # noqa: F401 - which scripts with callbacks import

from .grow import script
from .grow_callbacks import callbacks_script

AFTER = (1, 2, 50)


def _shown(value, depth=0):
    """A value so that equal texts mean the same type and bits."""
    kind = type(value)
    if isinstance(value, numpy.ndarray) or kind is numbus.ndarray:
        a = numpy.asarray(value)
        elements = a.tobytes().hex() if a.dtype != object else a.tolist()
        return f"{kind.__name__}{a.dtype}{a.shape}{elements}"
    if kind in (list, tuple) and depth < 6:
        return f"{kind.__name__}[{', '.join(_shown(v, depth + 1) for v in value)}]"
    if kind in (array.array, bytearray, bytes):
        return f"{kind.__name__} {value!r}"
    if kind is dict:
        return f"dict {_shown(list(value.items()), depth + 1)}"
    if kind.__name__ in ("Ob", "Oc", "Om"):
        return f"{kind.__name__} {_shown(vars(value), depth + 1)}"
    if isinstance(value, numpy.generic):
        whose = "numbus." if kind in numbus._core.scalar_types else ""
        return f"{whose}{kind.__name__} {value.tobytes().hex()}"
    if kind is complex:
        return f"complex {value.real.hex()} {value.imag.hex()}"
    if kind is float:
        return f"{kind.__name__} {value.hex()}"
    if kind in (int, bool, str, type(None)):
        return f"{kind.__name__} {value!r}"
    return kind.__name__


def execute(text, library, file, rewritten, after=None):
    """What a script leaves behind: names, output, warnings, the exception and its lines."""
    tree = ast.parse(text, file)
    code = compile(tree, file, "exec", dont_inherit=True)
    if rewritten:
        code = loops.compiled(tree, text, file, code)
    module = types.ModuleType("script")
    module.np = library
    printed, failure = io.StringIO(), None
    runtime.configure(rewritten, after)
    try:
        with contextlib.redirect_stdout(printed), warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                exec(code, module.__dict__)
            except Exception as error:
                frames = traceback.extract_tb(error.__traceback__)
                lines = [(f.lineno, f.name) for f in frames if f.filename == file]
                failure = type(error).__name__, str(error), lines
    finally:
        runtime.configure(False)
    names = {k: _shown(v) for k, v in vars(module).items() if not k.startswith("__") and k != "np"}
    told = [(w.category.__name__, str(w.message), w.lineno) for w in warned]
    return {"names": names, "printed": printed.getvalue(), "failure": failure, "warned": told}


class TooLong(BaseException):
    """A script takes too long: its ints have grown out of all bounds."""


def _too_long(number, frame):
    raise TooLong


def differences(text, after, library=numpy, file="<script>"):
    """The ways in which a script does not do the same with its loops compiled; and its loops."""
    plain = execute(text, library, file, False)
    first = len(runtime._loops)
    compiled = execute(text, library, file, True, after)
    made = runtime._loops[first:]
    found = []
    if library is numbus:
        # A warning of what is computed later is told when something reads it, which compiled code
        # does at its entry; in which order with those of numbers is not promised.
        for of in (plain, compiled):
            of["warned"].sort()
    for what in ("failure", "printed", "warned"):
        if plain[what] != compiled[what]:
            found.append(f"{what}: {plain[what]!r:.300} but {compiled[what]!r:.300}")
    for name in sorted({*plain["names"], *compiled["names"]}):
        a, b = plain["names"].get(name, "nothing"), compiled["names"].get(name, "nothing")
        if a != b:
            found.append(f"{name}: {a:.200} but {b:.200}")
    return found, made


def _one_end(self, array, axis, item, env, fixed, ask=strips.Strips._ask):
    self._ends = self._ends[:1] * 2
    ask(self, array, axis, item, env, fixed)


def _the_one_before(self, n, of, whole=strips.Strips._handed_one):
    name, element, before = whole(self, n, of)
    return name, element, [*before, f"{name} = {name} + {name}"]


def _without(checks, in_strips=False):
    """Emitter.check() that leaves out checks whose text holds one of these, or those of strips."""
    whole = Emitter.check

    def check(self, condition, later=False):
        known = any(c in condition for c in checks)
        if not known or (in_strips and self.checks_now):
            whole(self, condition, later)

    return check


def mutants():
    """(what is broken, object, attribute, the wrong one)."""
    return [
        ("sums that overflow", Emitter, "check", _without(["add_overflows"])),
        ("products that overflow", Emitter, "check", _without(["mul_overflows"])),
        ("warnings of NumPy's", Emitter, "check", _without([f"<= {numbers.LARGEST}"])),
        ("warnings of parts of arrays", Emitter, "check", _without(["bad_"])),
        ("ints that are no floats", Emitter, "check", _without([str(1 << 53)])),
        ("divisors of zero", Emitter, "check", _without(["== 0"])),
        ("names that hold nothing", rewrite, "_call", _asking("gone", False)),
        ("items that are left", rewrite, "_call", _asking("left", None)),
        ("floor division", numbers, "floor_divided", _truncated),
        ("NumPy's kinds", numbers, "_result", lambda a, b, real: "f" if real else "i"),
        ("integers of few bits", narrow, "outside", lambda text, kind: "False"),
        ("roundings of float32", singles, "rounded", lambda e, text: e.temporary(text)),
        ("whose number it is", narrow, "common", lambda e, a, b: a.kind.upper()),
        ("where loops over items are", heads.Over, "rest", _one_later),
        ("items that are new", held._kept, "extend_list", lambda *of: None),
        ("functions with effects", FunctionEmitter, "_assign", Emitter._assign),
        ("attributes that run code", held, "_attribute", getattr),
        ("attributes assigned by code", held, "_is_assigned_plainly", lambda value, name: True),
        ("lists without items", Emitter, "check", _without(["_0 == 0"])),
        ("lists written back", Held, "write_back", lambda self, si: None),
        ("strips that are put back", strips.Strips, "_undone", lambda self, n, env: ([], ["pass"])),
        ("results of strips", Emitter, "check", _without(["<= 1.79", "== 0.0"], True)),
        ("elements from iterations before", strips.Strips, "_handed_one", _the_one_before),
        ("memory of lists that are held", MadeLists, "_room_for", _room_among(0)),
        ("memory of one list that is held", MadeLists, "_room_for", _room_among(-1)),
        ("memory of lists from before", Pools, "tops", lambda self: [0] * len(self._tops)),
        ("lists that grow", MadeLists, "_put_word", _first_word),
        ("lists from before that grow", Emitter, "check", _without(["_base"])),
        ("one list under two names", Pools, "list_of", _another_list),
        # The last ones, as they write outside.
        ("ends of strips", strips.Strips, "_ask", _one_end),
        ("indices outside", Emitter, "check", _without([" >= a"])),
    ]


def _asking(what, answer):
    """rewrite._call() where one question always has this answer."""
    whole = rewrite._call

    def call(number, name, *args):
        return ast.Constant(answer) if name == what else whole(number, name, *args)

    return call


def _one_later(self, sequences, index, rest=heads.Over.rest):
    return rest(self, sequences, index + 1)


def _room_among(count, room=MadeLists._room_for):
    """MadeLists._room_for() that asks only so many of the names what they hold."""

    def room_for(self, kind, most):
        names, self.made_names = self.made_names, self.made_names[:count]
        try:
            return room(self, kind, most)
        finally:
            self.made_names = names

    return room_for


def _first_word(self, kind, old, new, put=MadeLists._put_word):
    names, self.made_names = self.made_names, self.made_names[:1]
    put(self, kind, old, new)
    self.made_names = names


def _another_list(self, kind, word, of, made=Pools.list_of):
    found = made(self, kind, word, of)
    return found if len(found) > 5 else found[:]


def _truncated(x, y):
    return float(numpy.trunc(x / y))


def find_mutants(seeds):
    """Whether each mutant makes some script of these seeds differ."""
    missed = []
    for name, owner, attribute, wrong in mutants():
        right = getattr(owner, attribute)
        setattr(owner, attribute, wrong)
        found = None
        try:
            for seed in seeds:
                signal.alarm(5)
                try:
                    found = seed if differences(script(seed), AFTER[seed % 3])[0] else None
                except Exception:
                    found = seed
                except TooLong:
                    found = None
                signal.alarm(0)
                if found is not None:
                    break
        finally:
            setattr(owner, attribute, right)
        print(f"{name}: {'not found' if found is None else f'seed {found}'}", flush=True)
        if found is None:
            missed.append(name)
    return missed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--print", type=int, dest="shown")
    parser.add_argument("--replay", type=int)
    parser.add_argument("--mutants", action="store_true")
    parser.add_argument("--callbacks", action="store_true")
    given = parser.parse_args()
    of_seed = callbacks_script if given.callbacks else script
    if given.shown is not None:
        print(of_seed(given.shown))
        return 0
    loops.install()
    runtime.configure(False)
    background.RAISES = True
    held.ROOM, made_lists.ROOM = 5, 150
    strips.FEWEST, strips.LENGTH, strips._LONGEST = 2, 7, 11
    sys.set_int_max_str_digits(0)
    signal.signal(signal.SIGALRM, _too_long)
    runtime._SIGNALS.remove(signal.SIGALRM)
    seeds = range(given.first, given.first + given.programs)
    kept.made_by[0] = None if given.mutants else "tests"
    if given.mutants:
        return bool(find_mutants(seeds))
    failed, why = [], collections.Counter()
    entered = left = total = long = 0
    for seed in [given.replay] if given.replay is not None else seeds:
        text = of_seed(seed)
        afters = AFTER if given.replay is not None else [AFTER[seed % 3]] * (1 + (seed % 3 == 0))
        for after in afters:
            library = numbus if seed % 4 == 3 else numpy
            signal.alarm(20 if given.callbacks else 5)
            try:
                found, made = differences(text, after, library)
            except Exception as error:
                found, made = [f"{type(error).__name__}: {error}"], []
                if given.replay is not None:
                    raise
            except TooLong:
                found, made = [], []
                long += 1
            signal.alarm(0)
            total += len(made)
            entered += sum(m.entries for m in made)
            left += sum(m.exits for m in made)
            for m in made:
                if m.why:
                    why[m.why.split(": ", 1)[-1][:70]] += 1
            if found:
                failed.append(seed)
                print(f"seed {seed}, after {after}:", *found, sep="\n    ", flush=True)
                break
    print(f"{len(failed)} failed: {failed[:30]}; {long} take too long")
    print(f"{total} loops, entered {entered}×, left {left}×")
    if given.replay is not None or given.programs < 2000:
        for reason, count in why.most_common(12):
            print(f"    {count} {reason}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
