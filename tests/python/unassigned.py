"""Random functions whose names may have no value where they are read, for test_jit_unassigned.py.

By hand: python tests/python/unassigned.py SEEDS [FIRST] compares so many of them with CPython.
"""

import linecache
import random
import re
import sys

import numpy as np

NAMES = "abc"
# How a value of each kind is made of an int, and an int of it.
KINDS = {
    "int": ("{}", "{}"),
    "float": ("{} * 0.5", "int({} * 2)"),
    "str": ("'x' * ({} % 5)", "len({})"),
    "list": ("[{}, 2]", "{}[0]"),
    "array": ("np.full(2, {})", "int({}[1])"),
    "tuple": ("({}, 0.5)", "{}[0]"),
    "dict": ("{{1: {}}}", "{}[1]"),
}


class Writer:
    """Writes one function f(n) of a seed."""

    def __init__(self, seed, parallel=False):
        self.random = random.Random(seed)
        self.lines, self.level, self.loops, self.counter = [], 0, 0, 0
        self.functions = []  # local ones that are defined on every path
        self.make, self.read = KINDS[self.random.choice(list(KINDS))]

    def line(self, text):
        self.lines.append("    " * self.level + text)

    def fresh(self, stem):
        self.counter += 1
        return f"{stem}{self.counter}"

    def test(self):
        return self.random.choice(
            ["n & 1", "n & 2", "n & 4", "n > 3", "n == 0", "t % 2 == 0", "t % 3 == 1", "n < 9"]
        )

    def name(self):
        return self.random.choice(NAMES)

    def value(self):
        return self.make.format(self.random.choice(["n", "t % 7", "n + 1", "3"]))

    def block(self, depth):
        self.level += 1
        before = len(self.lines)
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth)
        if len(self.lines) == before:
            self.line("pass")
        self.level -= 1

    def statement(self, depth):
        kinds = ["give"] * 5 + ["read"] * 5 + ["del", "many", "some"]
        if depth > 0:
            kinds += ["if"] * 3 + ["for"] * 2 + ["while", "try", "try", "function", "walrus"]
        if self.loops:
            kinds += ["break", "continue"]
        getattr(self, "write_" + self.random.choice(kinds).replace("del", "delete"))(depth)

    def write_give(self, _):
        self.line(f"{self.name()} = {self.value()}")

    def write_read(self, _):
        self.line(f"t += {self.read.format(self.name())}")

    def write_many(self, _):
        x, y = self.random.sample(NAMES, 2)
        self.line(f"{x}, {y} = {y}, {self.value()}")

    def write_some(self, _):
        x = self.read.format(self.name())
        self.line(f"t += 2 if {self.test()} else {x}")

    def write_delete(self, _):
        if self.random.random() < 0.3:
            self.line(f"del {self.name()}")

    def write_if(self, depth):
        self.line(f"if {self.test()}:")
        self.block(depth - 1)
        if self.random.random() < 0.6:
            self.line("else:")
            self.block(depth - 1)

    def write_for(self, depth):
        target = self.fresh("i")
        self.line(f"for {target} in range({self.random.choice(['n', 'n % 2', '2', 'n - 3'])}):")
        self.body_of_loop(depth)
        if self.random.random() < 0.5:
            self.line(f"t += {target}")

    def body_of_loop(self, depth):
        self.loops += 1
        self.block(depth - 1)
        self.loops -= 1
        if self.random.random() < 0.2:
            self.line("else:")
            self.block(depth - 1)

    def write_while(self, depth):
        count = self.fresh("k")
        self.line(f"{count} = 0")
        self.line(self.random.choice([f"while {count} < n:", "while True:"]))
        self.level += 1
        self.line(f"{count} += 1")
        self.line(f"if {count} > 3:")
        self.line("    break")
        self.level -= 1
        self.body_of_loop(depth)

    def write_break(self, _):
        self.line(f"if {self.test()}:")
        self.line("    break")

    def write_continue(self, _):
        self.line(f"if {self.test()}:")
        self.line("    continue")

    def write_try(self, depth):
        self.line("try:")
        self.block(depth - 1)
        self.line(f"    if {self.test()}:")
        self.line("        raise ValueError")
        which = self.random.random()
        if which < 0.7:
            error = self.random.choice(["ValueError", "UnboundLocalError", "NameError"])
            self.line(f"except {error}:")
            self.block(depth - 1)
            if self.random.random() < 0.3:
                self.line("else:")
                self.block(depth - 1)
        if which > 0.5:
            self.line("finally:")
            loops, self.loops = self.loops, 0
            self.block(depth - 1)
            self.loops = loops

    def write_function(self, _):
        f = self.fresh("f")
        inner, outer = self.random.sample(NAMES, 2)
        self.line(f"def {f}(m):")
        self.line("    s = 0")
        self.line("    if m & 1:")
        self.line(f"        {inner} = {self.make.format('m')}")
        self.line(f"    s += {self.read.format(outer)}")
        if self.random.random() < 0.5:
            self.line(f"    s += {self.read.format(inner)}")
        self.line("    return s")
        for _ in range(self.random.randint(0, 2)):
            self.statement(0)
        self.line(f"t += {f}({self.random.choice(['n', '1', 't'])})")

    def write_walrus(self, _):
        x, y = self.random.sample(NAMES, 2)
        v = self.make.format("v")
        if self.random.random() < 0.5:
            self.line(f"t += len([({x} := {v}) for v in range(n % 3)])")
        else:
            kept = self.read.format(y)
            kind = self.random.choice(["[{}]", "sum([{}])", "sum({})"]).format(
                f"{kept} for v in range(n % 3)"
            )
            self.line(f"t += {kind if kind.startswith('sum') else f'len({kind})'}")

    def text(self):
        self.line("def f(n):")
        self.level += 1
        self.line("t = 0")
        self.level -= 1
        for _ in range(3):
            self.block(3)
        self.line("    if n > 8:")  # so that all of them are names of the function
        for name in NAMES:
            self.line(f"        {name} = {self.make.format('n')}")
        self.line("    return t")
        return "\n".join(self.lines) + "\n"


def function(text, name):
    """The function f of a text, with a source for njit."""
    file = f"<unassigned {name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space = {"np": np}
    exec(compile(text, file, "exec"), space)
    return space["f"]


def outcome(f, n):
    """What a call gives, or the class, the text and the line of its error."""
    try:
        return f(n)
    except Exception as error:
        told = [str(error), *getattr(error, "__notes__", [])]
        found = re.search(r"<unassigned [^>]*>:(\d+)", "\n".join(told))
        if found:
            line = int(found[1])
        else:
            trace = error.__traceback__
            line = 0
            while trace is not None:
                if trace.tb_frame.f_code.co_filename.startswith("<unassigned"):
                    line = trace.tb_lineno
                trace = trace.tb_next
        return type(error).__name__, told[0].split("\n")[0], line


def differences(seed):
    """[(n, what CPython does, what compiled code does)] of the function of a seed, and its text."""
    from numbus import njit

    text = Writer(seed).text()
    f = function(text, seed)
    found = []
    compiled = njit(f)
    for n in range(8):
        # A fresh one each time: the lines of those that have run a while are less exact.
        theirs, ours = outcome(function(text, seed), n), outcome(compiled, n)
        if isinstance(ours, tuple) and ours[0] == "UnsupportedError":
            return None, ours[1], text
        if theirs != ours:
            found.append((n, theirs, ours))
    return found, "", text


if __name__ == "__main__":
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    reasons = {}
    for seed in range(first, first + count):
        found, reason, text = differences(seed)
        if found is None:
            reasons[reason[:90]] = reasons.get(reason[:90], 0) + 1
        elif found:
            print(f"seed {seed}", text, *found, sep="\n")
    print(count, "functions; not yet:", reasons)
