"""What the generators share that compare Numbus with what PyTorch did."""

import argparse
import collections
import json
import warnings


def close(a, b, tolerance):
    """Whether numbers in lists are alike; NaN is like NaN."""
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (a != a and b != b) or abs(a - b) <= tolerance * max(1, abs(a), abs(b))
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(close(x, y, tolerance) for x, y in zip(a, b))
    return a == b


def tried(function, *args):
    """What a function gives, as JSON has it; the text of its error."""
    try:
        return json.loads(json.dumps(function(*args)))
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200]


def refusals(wanted, found):
    """Which of the two refuse, where they gave texts of errors; None: neither."""
    which = isinstance(wanted, str), isinstance(found, str)
    words = {(True, True): "both refuse", (False, True): "refused", (True, False): "lenient"}
    return words.get(which)


def _torch():
    import torch

    return torch


def _served():
    from numbus.compat import torch

    return torch


def main(doc, grow, check, fine, *flags, sides=(_torch, _served), only=None):
    """The command of a generator: `grow` writes down programs, `check` compares.

    grow(torch, seed, args): what a line holds after the seed, a list. check(torch, seed, *line):
    a word, or a word, a colon and how it differs. fine: the words that are no failure. flags: names
    of further options. sides: what gives `torch`, for the one and for the other. only: kinds of
    programs, one of which `--only` chooses.
    """
    parser = argparse.ArgumentParser(description=doc.partition("\n")[0])
    parser.add_argument("what", choices=["grow", "check"])
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--file", required=True)
    parser.add_argument("--all", action="store_true", help="print what is fine, too, but alike")
    for flag in flags:
        parser.add_argument(f"--{flag}", action="store_true")
    parser.add_argument("--only", choices=only)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.what == "grow":
        torch = sides[0]()
        with open(args.file, "w") as file:
            for seed in range(args.first, args.first + args.count):
                file.write(json.dumps([seed, *grow(torch, seed, args)]) + "\n")
        return 0
    torch = sides[1]()
    totals = collections.Counter()
    with open(args.file) as file:
        for text in file:
            seed, *line = json.loads(text)
            said = check(torch, seed, *line)
            word = said.partition(":")[0]
            totals[word] += 1
            if word not in fine or (args.all and word != "alike"):
                print(f"seed {seed}: {said}")
                print(f"    {line[0]}" if isinstance(line[0], dict) else "")
    print(dict(totals))
    return 0 if set(totals) <= set(fine) else 1
