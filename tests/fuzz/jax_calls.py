"""Single calls with random arguments, by JAX and by Numbus's names for it.

    python tests/fuzz/jax_calls.py grow --first 0 --count 1000 --file calls.jsonl
    python tests/fuzz/jax_calls.py check --file calls.jsonl

`grow` needs JAX and writes down what it gives: dtypes, weak types, shapes and elements, or the
kind of an error; `check` prints what Numbus gives otherwise. Printed with `--all` only: calls that
one of the two refuses ("refused", "lenient"), and errors of different kinds ("kinds"). The same
text is run by both; `tests/fuzz/jax_grammar.py` and `jax_programs.py` make it.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import signal
import sys
import warnings

import jax_programs

sys.path.append(str(pathlib.Path(__file__).parents[1]))
import recorded

FINE = ("alike", "both refuse", "refused", "lenient", "kinds")
LIMIT = 20  # seconds for a call
SLOPES = ("grad", "jac", "hess", "jvp", "vjp", "linearize")  # whose terms may cancel
recorded.TOLERANCE.setdefault("bfloat16", 4e-2)


def told(value, jax):
    """A result as JSON has it; keys as their bits, trees as lists."""
    if isinstance(value, (list, tuple)):
        return [told(v, jax) for v in value]
    if isinstance(value, dict):
        return {str(k): told(v, jax) for k, v in value.items()}
    if hasattr(value, "dtype") and "key" in str(value.dtype) and hasattr(value, "shape"):
        value = jax.random.key_data(value)
    if "bfloat16" in str(getattr(value, "dtype", "")):
        found = recorded.told(value.astype("float32"))
        return [found[0], "bfloat16", bool(getattr(value, "weak_type", False)), *found[3:]]
    if value is None or isinstance(value, (bool, int, float, str)):
        return recorded.told(value)
    if hasattr(value, "__array__"):
        found = recorded.told(value)
        found[2] = found[2] and found[1] != "bool"
        found[4] = [0.0 if isinstance(x, float) and abs(x) < 1e-6 else x for x in found[4]]
        return found
    return f"{getattr(value, 'name', type(value).__name__)}"


def out_of_time(*_):
    """Ends a call that takes too long."""
    raise TimeoutError(f"more than {LIMIT} s")


def evaluated(text, names, compiled=str):
    """What a call gives, as JSON has it; ["raises", kinds, text] for an error."""
    signal.signal(signal.SIGALRM, out_of_time)
    signal.alarm(LIMIT)
    try:
        return json.loads(json.dumps(told(eval(compiled(text), names), names["jax"])))
    except Exception as error:
        kinds = [c.__name__ for c in type(error).__mro__]
        return ["raises", [k for k in kinds if k not in ("object", "BaseException")], str(error)]
    finally:
        signal.alarm(0)


def refuses(found):
    """Whether it is an error."""
    return isinstance(found, list) and found[:1] == ["raises"]


def check(text, wanted, names, compiled):
    """What the two have in common, or in what they differ."""
    found = evaluated(text, names, compiled)
    which = refuses(wanted), refuses(found)
    if which == (True, True):
        alike = wanted[1][0] in found[1] or set(found[1]) & set(wanted[1]) - {"Exception"}
        return "both refuse" if alike else f"kinds: {found[1][0]} for {wanted[1][0]}"
    if which == (False, True):
        return f"refused: {found[1][0]}: {found[2][:150]}"
    if which == (True, False):
        return f"lenient: {str(found)[:120]} for {wanted[1][0]}: {wanted[2][:120]}"
    try:
        factor = 50 if any(word in text for word in SLOPES) else 1
        differs = recorded.differs(found, wanted, factor)
    except (TypeError, ValueError) as error:
        differs = f"{error}: {str(found)[:60]} for {str(wanted)[:60]}"
    return f"differs: {differs}" if differs else "alike"


def numbus_names():
    """What calls see where Numbus runs them, and how their text is compiled."""
    from numbus.compat import kinds
    from numbus.compat.rewrite import compile_user

    kinds.install()
    names = {"__name__": "__main__"}
    exec(compile_user(jax_programs.SETUP, "<string>"), names)
    return names, lambda text: compile_user(text, "<string>", "eval")


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["grow", "check"])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--file", required=True)
    parser.add_argument("--subject", help="only calls of this function of the grammar")
    parser.add_argument("--all", action="store_true", help="print what is fine, too, but alike")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.what == "grow":
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        names = {}
        exec(jax_programs.SETUP, names)
        with open(args.file, "w") as file:
            for seed in range(args.first, args.first + args.count):
                text = jax_programs.grow(random.Random(seed), args.subject)
                found = evaluated(text, names)
                file.write(json.dumps([seed, text, found]) + "\n")
                file.flush()
        return 0
    names, compiled = numbus_names()
    totals = collections.Counter()
    with open(args.file) as file:
        for line in file:
            seed, text, wanted = json.loads(line)
            said = check(text, wanted, names, compiled)
            word = said.partition(":")[0]
            totals[word] += 1
            if word not in FINE or (args.all and word not in ("alike", "both refuse")):
                print(f"seed {seed}: {said}\n    {text}", flush=True)
    print(dict(totals))
    return 0 if set(totals) <= set(FINE) else 1


if __name__ == "__main__":
    raise SystemExit(main())
