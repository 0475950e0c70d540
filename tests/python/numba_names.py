"""Numba's names, each with a program in which it is used: which compile and agree with CPython.

    python tests/python/numba_names.py            totals, and what is refused or missing
    python tests/python/numba_names.py FOLDER     also says which names of the lists in FOLDER
                                                  (numba_*.txt) have no program here

The expressions for functions of NumPy and of Python stand in numba_name_samples.py. Their arguments
are those of `ARGUMENTS`; a line `name: expression` is one function that returns the expression, and
of a name with `;` the statements before the last part are carried out first.
"""

import argparse
import linecache
import pathlib
import textwrap

import numpy as np
from jit_check import check, equal
from numba_name_samples import CMATH, MATH, NUMPY, OPERATOR, PYTHON, RANDOM, REFUSED, UFUNCS
from numba_name_scripts import CPU, CUDA, HEAD, libdevice
from numba_name_scripts import PYTHON as PYTHON_SCRIPTS
from numbus import njit

RNG = np.random.default_rng(7)
ARGUMENTS = {
    "x": np.array([0.5, -1.25, 3.0, 0.25, 2.0, -0.75]),
    "y": np.array([1.5, 0.5, -2.0, 1.0, 4.0, 0.125]),
    "p": np.array([0.5, 0.25, 0.75, 0.125, 0.625, 0.375]),
    "m": np.eye(4) * 5 + np.arange(16.0).reshape(4, 4) % 3,
    "t": np.arange(6.0).reshape(2, 3),
    "i": np.array([3, 1, 2, 0, 5, 4]),
    "j": np.array([1, 2, 3, 1, 2, 3]),
    "b": np.array([True, False, True, True, False, False]),
    "c": np.array([1 + 2j, -0.5j, 3.0 + 0j]),
    "s": 0.625,
    "k": 3,
    "z": 0.5 + 0.25j,
}
NAMES = ", ".join(ARGUMENTS)


def lines_of(text):
    """{name: code} of lines `name: code`; names before one colon share their code."""
    found = {}
    for line in text.strip().splitlines():
        names, _, code = line.partition(": ")
        for name in names.split():
            found[name] = code.strip()
    return found


def module_of(text, name):
    """What a module of this text has, with its source for njit."""
    file = f"<program of {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"__name__": "program"}
    exec(compile(text, file, "exec"), space)
    return space


def program(name, code):
    """A function `f` of ARGUMENTS, as text: `code` is `statement; …; expression`."""
    *before, last = [part.strip() for part in code.split(";")]
    body = "".join(f"    {part}\n" for part in before)
    imports = (
        "import cmath\nimport ctypes\nimport heapq\nimport math\nimport operator\nimport random\n"
    )
    return f"{imports}import numpy as np\n\n\ndef f({NAMES}):\n{body}    return {last}\n"


def samples():
    """{list: {name: text of a program}}, for what is compared with CPython."""
    numpy, python = lines_of(NUMPY), lines_of(PYTHON)
    for name in RANDOM.split("\n"):
        if name.strip():
            what, _, arguments = name.strip().partition(" ")
            numpy[f"random.{what}"] = (
                f"np.random.seed(5); (np.random.{what}({arguments}), np.random.random())"
            )
    for name in MATH.split():
        what, _, arguments = name.partition("|")
        python[f"math.{what}"] = f"math.{what}({arguments or 's'})"
    for name in CMATH.split():
        what, _, arguments = name.partition("|")
        python[f"cmath.{what}"] = f"cmath.{what}({arguments or 'z'})"
    for name in OPERATOR.split():
        what, _, arguments = name.partition("|")
        python[f"operator.{what}"] = f"operator.{what}({arguments or 'k, 2'})"
    ufuncs = {}
    for name in UFUNCS.split():
        what, _, arguments = name.partition("|")
        arguments = arguments or "x"
        ufuncs[what] = f"np.{what}({arguments})"
    found = {"numpy": numpy, "python": python, "ufuncs": ufuncs}
    return {of: {n: program(n, c) for n, c in codes.items()} for of, codes in found.items()}


def judge_sample(name, text):
    """Raises unless the program compiles and agrees with CPython."""
    f = module_of(text, name)["f"]
    check(f, *ARGUMENTS.values(), rtol=1e-12)


def judge_script(name, text):
    """Raises where a script fails; its asserts say what is expected."""
    module_of(HEAD + textwrap.dedent(text), name)


def judge_generator():
    """Raises unless a Generator gives a compiled function NumPy's numbers."""
    text = "def f(g):\n    return g.normal(0.5, 2.0, 3), g.integers(10), g.random()\n"
    f = module_of(text, "Generator")["f"]
    ours, theirs = njit(f)(np.random.default_rng(3)), f(np.random.default_rng(3))
    equal(ours, tuple([int(v) if isinstance(v, np.integer) else v for v in theirs]), 0)


def everything():
    """{(list, name): a function that raises unless the name does what it should}."""
    found = {}
    for of, programs in samples().items():
        for name, text in programs.items():
            found[of, name] = lambda name=name, text=text: judge_sample(name, text)
    found["numpy", "random.Generator"] = judge_generator
    for of, scripts in (("cpu", CPU), ("python", PYTHON_SCRIPTS), ("cuda", CUDA)):
        for names, text in scripts.items():
            for name in names.split():
                found[of, name] = lambda name=name, text=text: judge_script(name, text)
    for name, action in libdevice().items():
        found["libdevice", name] = action
    for key in refused():
        assert key not in found, key
        found[key] = None
    return found


def refused():
    """{(list, name): why it is refused}."""
    found = {}
    for line in REFUSED.strip().splitlines():
        of, names, reason = line.split(": ", 2)
        for name in names.split():
            found[of, name] = reason
    return found


def table():
    """The lines of the table in docs/from-numba.md: a list's names, and how many are refused."""
    keys, without = list(everything()), refused()
    titles = {
        "cpu": "`numba`: decorators, their options, dispatchers, extensions",
        "numpy": "functions, methods and types of NumPy",
        "ufuncs": "ufuncs",
        "python": "builtins, `math`, `cmath`, `operator`, `random`, `heapq`, `ctypes`",
        "cuda": "`numba.cuda`",
        "libdevice": "`numba.cuda.libdevice`",
    }
    lines = []
    for of, title in titles.items():
        all_ = [key for key in keys if key[0] == of]
        lines.append(f"| {title} | {len(all_)} | {sum(k not in without for k in all_)} |")
    good = sum(k not in without for k in keys)
    lines.append(f"| all | {len(keys)} | {good} ({100 * good / len(keys):.1f} %) |")
    return lines


LISTS = {
    "cpu": "numba_cpu.txt",
    "numpy": "numba_cpu_numpy.txt",
    "python": "numba_cpu_python.txt",
    "ufuncs": "numba_cpu_ufuncs.txt",
    "cuda": "numba_cuda.txt",
    "libdevice": "numba_cuda_libdevice.txt",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", help="of the lists of names")
    parser.add_argument("--only", help="names that contain this")
    options = parser.parse_args()
    wrong, good, reasons = [], {}, refused()
    every = everything()
    for (of, name), action in every.items():
        if options.only and options.only not in name:
            continue
        if action is None:
            continue
        try:
            action()
            good[of] = good.get(of, 0) + 1
        except Exception as error:
            text = str(error).replace("\n", " ")
            wrong.append(f"{of}: {name}: {type(error).__name__}: {text[:300]}")
    for line in wrong:
        print(line)
    for (of, name), reason in reasons.items():
        print(f"{of}: {name}: refused: {reason}")
    for of in LISTS:
        count = sum(key[0] == of for key in every)
        print(f"{of}: {good.get(of, 0)} of {count} compile and agree")
    print(f"{sum(good.values())} of {len(every)} compile and agree")
    if options.folder:
        for of, file in LISTS.items():
            names = (pathlib.Path(options.folder) / file).read_text().split()
            absent = [n for n in names if (of, n) not in every]
            more = [n for a, n in every if a == of and n not in names]
            print(f"{file}: without a program: {' '.join(absent)}; not in it: {' '.join(more)}")


if __name__ == "__main__":
    main()
