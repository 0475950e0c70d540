"""Every function in compiled functions against NumPy: calls drawn as for the sweep of array calls
(sweep.py), their numbers and tuples literal or arguments of run time.

    python tests/python/sweep_compiled.py --seconds 600      # in processes that may die
    python tests/python/sweep_compiled.py np.take linalg.svd --calls 200
    python tests/python/sweep_compiled.py --seed "np.take 1234"

Prints the calls whose value, type or shape differs from NumPy's, that raise where NumPy does not,
or the other way round, and those that end or stop the process. "Not yet" is an answer; an error
while compiling is one, too, and shown by --refused. A seed that failed goes into
sweep_compiled_seeds.txt, whose calls test_sweep_compiled.py makes.
"""

import argparse
import os
import select
import subprocess
import sys
import time
import traceback
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import compiled_calls
import numpy as np
import registry_samples
import sweep
from jit_check import function_of
from numbus import njit
from numbus.kernels import CompileError
from registry_calls import Choices, Out, arguments, check, compare, operand, outcome
from scipy import special

registry_samples.SAMPLES.update(compiled_calls.SAMPLES)
FUNCTIONS = sweep.ROWS | compiled_calls.ROWS
EXPRESSIONS = {f"expression {text}": text for text in compiled_calls.EXPRESSIONS}
NUMBERS = {f"number {name}": name for name in compiled_calls.NUMBERS}
NAMES = [*sorted(FUNCTIONS), *NUMBERS, *EXPRESSIONS]
SEEDS = Path(__file__).with_name("sweep_compiled_seeds.txt")
RARE = set("where casting order subok dtype out like copy stable descending initial".split())
PREFIX = {"linalg": "np.linalg.", "polynomial": "np.polynomial.polynomial."}

# The answers that are no difference.
AGREES, NOT_YET, REFUSED = "agrees", "not yet", "refused"


def difference(name, seed):
    """AGREES, (NOT_YET or REFUSED, the call, the error), or what tells the call of this seed from
    NumPy's: (the call, text).
    """
    rng = Choices(f"{name} compiled {seed}")
    rng.wide = True
    if name in NUMBERS:
        return difference_of_numbers(NUMBERS[name], rng)
    if name in EXPRESSIONS:
        a = operand(rng)
        source = EXPRESSIONS[name]
        if source.endswith(".strides") and (a.size < 2 or 1 in a.shape or not a.flags.forc):
            return AGREES  # any would do, or the order of the elements is known at run time
        function = function_of(source, "a, n, k")
        given = [a, rng.choice([0, 1, -1, 2]), rng.choice([0, 1])]
        row = None
        args, keywords = given, {}
    else:
        row = FUNCTIONS[name]
        args, keywords = arguments(row, rng)
        if rng.random() < 0.8:  # few of these are there
            keywords = {key: x for key, x in keywords.items() if key not in RARE}
            args = args[:-1] if args and isinstance(args[-1], Out) else args
        if sweep.with_out(row, args, keywords) is None:
            return AGREES
        function, given, source = compiled(row, args, keywords, rng)
    note = source, sweep.described(given)
    real, _ = sweep.twins((given, {}), {})
    mine, _ = sweep.twins((given, {}), {})
    oracle = function if row is None else original(row)
    at = dict(zip(map(id, given), real))
    want, error = outcome(oracle, *(real, {}) if row is None else replaced((args, keywords), at))
    got, mistake = outcome(njit(function), mine, {})
    if "internal error" in str(mistake):
        return note, f"raises {mistake!r}"
    if isinstance(mistake, NotImplementedError) or "not yet" in str(mistake):
        return NOT_YET, note, str(mistake)
    if "positional-only" in str(error) or decided(row, error, mistake):
        return AGREES
    try:
        if error is not None:
            return AGREES if mistake is not None else no_error(row, note, error, got)
        if isinstance(mistake, CompileError):
            return REFUSED, note, str(mistake)
        if mistake is not None:
            raise AssertionError(f"raises {mistake!r}")
        here = forgiven(numbers_of(want, got), want)
        if row is None:
            check(here, of_list(want), "")
        else:
            special_compare(row, here, want, args, keywords, at)
        for x, y in zip(mine, real) if free(name, keywords) else ():
            if isinstance(y, np.ndarray) and y is not want:
                check(x, y, "an operand")
    except AssertionError as found:
        return note, str(found)
    return AGREES


def forgiven(got, want):
    """`got` with NumPy's infinite complex numbers for its own, in tuples, too."""
    if isinstance(got, tuple) and isinstance(want, (tuple, list)) and len(got) == len(want):
        made = [forgiven(x, y) for x, y in zip(got, want)]
        return type(got)(*made) if hasattr(got, "_fields") else tuple(made)
    return sweep.forgiven(got, want)


def free(name, keywords):
    """Whether the operands afterwards are the call's results, not any order of elements."""
    return not ("partition" in name or "overwrite_input" in keywords)


def decided(row, error, mistake):
    words = sweep.DECIDED.get(row.name, ()) if row else ()
    return any([text in f"{error} {mistake}" for text in words])


def no_error(row, note, error, got):
    return note, f"no error but {sweep.described(got)}; NumPy: {error!r}"


def original(row):
    if row.kind in PREFIX:
        return row.function
    return sweep.original(row)


def replaced(x, at):
    """The same arguments with other arrays for those that are known by their identity."""
    if id(x) in at:
        return at[id(x)]
    if isinstance(x, dict):
        return {key: replaced(item, at) for key, item in x.items()}
    if type(x) in (list, tuple):
        return type(x)([replaced(item, at) for item in x])
    return x


NUMBER = (bool, int, float, complex, np.generic)


def compiled(row, args, keywords, rng):
    """A function that makes this call, what it is called with, and its text: arrays are its
    arguments, and of numbers and tuples of them some.
    """
    given = []

    def shown(x):
        if type(x) in (list, tuple):
            plain = x and all([isinstance(item, NUMBER) for item in x])
            if not (type(x) is tuple and plain and rng.random() < 0.3):
                text = ", ".join(map(shown, x))
                return f"[{text}]" if isinstance(x, list) else f"({text}{',' if x else ''})"
        elif isinstance(x, type):
            return f"np.{x.__name__}" if issubclass(x, np.generic) else x.__name__
        elif isinstance(x, np.dtype):
            return f"np.dtype({x.name!r})"
        elif callable(x):
            return f"np.{x.__name__}"
        elif not isinstance(x, np.ndarray) and not (isinstance(x, NUMBER) and rng.random() < 0.3):
            return repr(x)
        given.append(x)
        return f"a{len(given) - 1}"

    kind = row.names[0].split(".")[0]
    text = [shown(x) for x in args] + [f"{k}={shown(x)}" for k, x in keywords.items()]
    if kind == "method":
        source = f"{text[0]}.{row.name}({', '.join(text[1:])})"
    else:
        source = f"{PREFIX.get(kind, kind + '.')}{row.name}({', '.join(text)})"
    names = ", ".join([f"a{n}" for n in range(len(given))])
    function = function_of(source, names, special=special, inf=np.inf, nan=np.nan)
    return function, given, source


def of_list(want):
    return tuple(map(of_list, want)) if type(want) is list else want


def numbers_of(want, got):
    """Python's own numbers, which compiled functions return, in NumPy's type of the same kind;
    lists, which they return for some tuples, as tuples.
    """
    if isinstance(want, (tuple, list)) and isinstance(got, (tuple, list)):
        assert len(want) == len(got), f"{len(got)} results; NumPy: {len(want)}"
        made = [numbers_of(x, y) for x, y in zip(want, got)]
        return type(got)(*made) if hasattr(got, "_fields") else tuple(made)
    if isinstance(got, (bool, int, float, complex)) and isinstance(want, (np.generic, *NUMBER)):
        kinds = np.asarray(got).dtype.kind, np.asarray(want).dtype.kind.replace("u", "i")
        assert kinds[0] == kinds[1], f"{got!r}; NumPy: {want!r}"
        return np.asarray(got).astype(np.asarray(want).dtype)
    return got


def special_compare(row, got, want, args, keywords, at):
    args, keywords = replaced((args, keywords), at)
    if row.kind == "linalg":
        return compare_linalg(row.name, got, want, args, keywords)
    if row.name == "tolist":  # lists in lists
        return check(np.asarray(got), np.asarray(want), "")
    if type(want) is list and row.name != "trim_zeros":
        want = tuple(want)
    if type(want) is tuple:  # numbers_of() made tuples of lists in it
        want = tuple([tuple(x) if type(x) is list else x for x in want])
    if isinstance(want, (tuple, list)) or isinstance(want, np.ndarray):
        return compare(row, got, want, "", args, keywords)
    check(got, want, "")


def loose(got, want, factor=64):
    """As check(), of results that several operations have rounded."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype, f"{got.dtype}; NumPy: {want.dtype}"
    assert got.shape == want.shape, f"{got.shape}; NumPy: {want.shape}"
    if not want.size:
        return
    if want.dtype.kind not in "fc":
        np.testing.assert_array_equal(got, want)
        return
    size = np.max(np.abs(want[np.isfinite(want)]), initial=0)
    tolerance = factor * 16 * np.finfo(want.dtype).eps
    np.testing.assert_allclose(got, want, tolerance, tolerance * size)


def compare_linalg(name, got, want, args, keywords):
    """Factors are unique up to signs and orders, which their product shows."""
    a = np.asarray(args[0])
    if isinstance(want, tuple):
        assert isinstance(got, tuple) and len(got) == len(want), f"{got!r}; NumPy: {want!r}"
        got, want = list(got), list(want)
        for x, y in zip(got, want):
            assert np.asarray(x).dtype == np.asarray(y).dtype, f"{x!r}; NumPy: {y!r}"
            assert np.shape(x) == np.shape(y), f"{np.shape(x)}; NumPy: {np.shape(y)}"
    if name in ("qr", "svd", "eigh", "eig") and isinstance(want, list):
        if name == "svd":
            k = len(want[1])
            parts = [(x[0][..., :, :k] * x[1]) @ x[2][..., :k, :] for x in (got, want)]
            loose(got[1], want[1])
        elif name == "qr":
            parts = [x[0] @ x[1] for x in (got, want)]
        else:
            order = [np.lexsort((x[0].imag, x[0].real)) for x in (got, want)]
            loose(got[0][order[0]], want[0][order[1]])
            parts = [a @ got[1], got[1] * got[0]]
            loose(np.linalg.norm(got[1], axis=0), np.ones(len(a), got[1].real.dtype))
        loose(*[part.astype(want[0].dtype) for part in parts])
        at = {"svd": (0, 2), "qr": (0,), "eigh": (1,)}.get(name, ())
        for q in [got[k].T if k == 2 else got[k] for k in at]:
            loose(q.conj().T @ q, np.eye(q.shape[1], dtype=q.dtype))
        return
    if name == "eigvals":
        got, want = [np.sort_complex(x).astype(x.dtype) for x in (got, want)]
    if name == "qr":  # R alone, or the factors as LAPACK has them: signs are LAPACK's
        got, want = (np.abs(got), np.abs(want)) if keywords.get("mode") == "r" else (got, want)
    for x, y in zip(got, want) if isinstance(want, list) else [(got, want)]:
        loose(x, y)


def difference_of_numbers(name, rng):
    """One compilation, many values: the first that differ."""
    kinds = compiled_calls.NUMBERS[name]
    names = ", ".join("xyz"[: len(kinds)])
    function = function_of(f"{name}({names})", names, **compiled_calls.SPACE)
    types = {
        "r": [float, float, float, int, bool, np.float32, np.float64, np.int32],
        "i": [int, int, np.int32, np.int64, np.uint8, bool],
        "c": [complex, complex, float, int, np.complex64, np.complex128],
    }
    of = [rng.choice(types[kind]) for kind in kinds]
    made = njit(function)
    for _ in range(60):
        values = []
        for kind, t in zip(kinds, of):
            some = compiled_calls.COMPLEX if kind == "c" else compiled_calls.REAL
            if name.endswith(("factorial", "perm", "comb")):  # whose results may take for ever
                some = [x for x in compiled_calls.WHOLE if x < 100]
            elif kind == "i" or t in (int, bool, np.int32, np.int64, np.uint8):
                some = compiled_calls.WHOLE
            x = rng.choice(some)
            if t is np.uint8:
                x = abs(x) % 256
            if t is np.int32:
                x = x % 2**31 if x > 0 else -(-x % 2**31)
            x = x.real if t is float else x
            values.append(t(x))
        note = f"{name}({', '.join(map(repr, values))})", ""
        want, error = outcome(function, values, {})
        got, mistake = outcome(made, values, {})
        if isinstance(mistake, NotImplementedError) or "not yet" in str(mistake):
            return NOT_YET, note, str(mistake)
        if isinstance(mistake, CompileError):
            return AGREES if error is not None else (REFUSED, note, str(mistake))
        if name in ("min", "max") and error is None and mistake is None:
            got = type(want)(got) if got == want else got  # results have one type
        beyond = isinstance(want, int) and not -(2**63) <= want < 2**63
        if beyond or "64 bits" in str(mistake) or isinstance(mistake, OverflowError):
            continue
        if mistake is None and error is not None and name.startswith(("math", "cmath")):
            if quiet(got) or name in ("math.log", "math.ldexp"):
                continue  # as NumPy's functions do
        elif mistake is None and name == "math.lgamma" and abs(want - got) < 1e-15:
            continue  # near its zeros
        if mistake is None and error is not None and name == "math.trunc":
            continue  # NumPy's floats have none in this version
        if (error is None) != (mistake is None):
            return note, f"{got!r} {mistake!r}; CPython: {want!r} {error!r}"
        if error is None:
            try:
                short = [t for t in of if t in (np.float32, np.complex64)]
                check_number(numbers_of(want, got), want, np.finfo("f4" if short else "f8").eps)
            except AssertionError as found:
                return note, str(found)
    return AGREES


def quiet(got):
    """Whether some number is infinite or none."""
    return not np.isfinite(np.ravel(got)).all()


def check_number(got, want, eps):
    if isinstance(want, tuple):
        for x, y in zip(got, want):
            check_number(x, y, eps)
        return
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype.kind == want.dtype.kind, f"{got!r}; CPython: {want!r}"
    if want.dtype.kind not in "fc":
        assert got == want, f"{got!r}; CPython: {want!r}"
        return
    parts = [(got.real, want.real), (got.imag, want.imag)]
    if want.dtype.kind == "c" and want != want and got != got:
        return  # parts beside a NaN are NumPy's, where cmath has others
    size = np.abs(complex(want)) if np.isfinite(want) else 0.0
    for x, y in parts if want.dtype.kind == "c" else parts[:1]:
        x, y = float(x), float(y)
        same = (x == y and np.signbit(x) == np.signbit(y)) or (x != x and y != y)
        assert same or abs(x - y) <= 64 * eps * max(abs(y), size), f"{got!r}; CPython: {want!r}"


def kept():
    """[(name, seed)] of the calls that once differed."""
    lines = SEEDS.read_text().splitlines() if SEEDS.exists() else []
    return [tuple(line.rsplit(" ", 1)) for line in lines if line and not line.startswith("#")]


# --- Many calls, in processes of their own -----------------------------------------------------


def work(names, first, calls):
    """A process's part: it says which call it makes, then what came of it."""
    for name in names:
        for seed in range(first, first + calls):
            print(f"@ {seed} {name}", flush=True)
            try:
                found = difference(name, seed)
            except Exception:
                found = "the sweep itself", traceback.format_exc(limit=-4)
            if isinstance(found, tuple) and found[0] in (REFUSED, NOT_YET):
                letter = "r" if found[0] == REFUSED else "n"
                print(letter, " ".join(f"{found[1]} {found[2]}".split())[:400], flush=True)
            elif isinstance(found, tuple):
                print("d", " ".join(f"{found[0]}: {found[1]}".split())[:900], flush=True)
            else:
                print("=", found, flush=True)


def process(names, first, calls):
    return subprocess.Popen(
        [sys.executable, __file__, "--worker", f"--first={first}", f"--calls={calls}", *names],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"NUMBUS_DEVICE": "cpu", "NUMBUS_VERIFY": "1"},
    )


def lines_of(p, seconds):
    """The lines that a process prints; None, the last one, where there was none for so long."""
    rest = b""
    while True:
        ready, _, _ = select.select([p.stdout], [], [], seconds)
        if not ready:
            yield None
            return
        more = os.read(p.stdout.fileno(), 1 << 16)
        if not more:
            return
        *whole, rest = (rest + more).split(b"\n")
        for line in whole:
            yield line.decode()


def sweep_round(names, first, calls, note):
    """note(name, seed, letter, text) of each call; what ends or stops a process is a letter "x"."""
    left = list(names)
    while left:
        p = process(left, first, calls)
        name, seed, ended, hung = None, first, False, False
        for line in lines_of(p, 120):
            if line is None:
                hung = True
                p.kill()
                break
            letter, _, text = line.partition(" ")
            if letter == "@":
                number, _, name = text.partition(" ")
                seed, ended = int(number), False
            else:
                note(name, seed, letter, text)
                ended = True
        code = p.wait()
        if name is None:
            raise SystemExit("the worker did not begin")
        if not ended:
            note(name, seed, "x", "does not end" if hung else f"the process ended with {code}")
            if seed + 1 < first + calls:
                sweep_round([name], seed + 1, first + calls - seed - 1, note)
        left = left[left.index(name) + 1 :] if not ended else []


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--calls", type=int, default=5, help="of each function in a round")
    parser.add_argument("--first", type=int, default=0, help="seed to begin with")
    parser.add_argument("--seconds", type=float, default=0, help="rounds until then")
    parser.add_argument("--seed", help='one call: "np.take 17"')
    parser.add_argument("--most", type=int, default=3, help="differences of a function to print")
    parser.add_argument("--refused", action="store_true", help="print errors while compiling, too")
    parser.add_argument("--not-yet", action="store_true", help="print what is not yet there, too")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = [n for n in NAMES if not options.names or n in options.names]
    names += [n for n in NAMES for o in options.names if o.endswith("*") and n.startswith(o[:-1])]
    if options.seed:
        name, _, seed = options.seed.rpartition(" ")
        print(difference(name, int(seed)))
        return
    if options.worker:
        work(names, options.first, options.calls)
        return
    counts, failed = {}, {}

    def note(name, seed, letter, text):
        kind = {"=": text, "n": NOT_YET}.get(letter, letter)
        counts[kind] = counts.get(kind, 0) + 1
        if letter == "r" and options.refused:
            print(f"refused: {name} {seed}: {text}", flush=True)
        if letter == "n" and options.not_yet:
            print(f"not yet: {name} {seed}: {text}", flush=True)
        if letter in "dx":
            failed.setdefault(name, []).append(seed)
            if len(failed[name]) <= options.most:
                print(f"{name} {seed}: {text}", flush=True)

    end, first = time.time() + options.seconds, options.first
    while True:
        sweep_round(names, first, options.calls, note)
        first += options.calls
        if time.time() > end:
            break
    print(f"{counts}; next seed {first}")
    for name, seeds in failed.items():
        print(f"{name}: {len(seeds)}: {seeds[:8]}")


if __name__ == "__main__":
    main()
