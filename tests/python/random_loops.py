"""Random functions of loops over arrays whose indices are now and then out of bounds."""

import linecache
import sys

import numpy as np

HEAD = "def f(x, y, a, at, n, m, k, s):"


class Writer:
    """Writes one function; `r` is a random.Random."""

    def __init__(self, r):
        self.r, self.lines, self.count = r, [HEAD], 0

    def put(self, depth, text):
        self.lines.append("    " * depth + text)

    def number(self):
        r = self.r
        return r.choice(["n", "m", "k", "len(x)", "y.size", "a.shape[0]", "a.shape[1]", *"012357"])

    def bound(self, names):
        r, e = self.r, self.number()
        if names and r.random() < 0.25:
            e = r.choice(names)
        if r.random() < 0.35:
            e += r.choice([" - 1", " + 1", " - 2", " // 2", " - k"])
        if r.random() < 0.1:
            e = f"min({e}, {self.number()})"
        if r.random() < 0.05:
            e = f"max({e}, 0)"
        return e

    def index(self, names):
        r = self.r
        if not names or r.random() < 0.1:
            return r.choice(["0", "-1", "1", "n - 1", "k", "len(x) - 1", "m"])
        v, u = r.choice(names), r.choice(names)
        return r.choice(
            [v] * 6
            + [f"{v} - 1", f"{v} + 1", f"{v} + {u}", f"{v} - {u}", f"2 * {v}", f"{v} // 2"]
            + [f"{v} * m + {u}", f"n - 1 - {v}", f"-{v} - 1", f"{v} % 5", f"({v} + 1) % n"]
            + [f"at[{v}]", f"at[{v} % 4]", f"{v} + k", f"min({v}, n - 1)", f"{v} & 3"]
            + [f"3 * {v} - {u} + 1", f"{v} * k", f"abs({v})", f"{v} >> 1"]
        )

    def element(self, names):
        which = self.r.random()
        if which < 0.4:
            return f"x[{self.index(names)}]"
        if which < 0.7:
            return f"y[{self.index(names)}]"
        return f"a[{self.index(names)}, {self.index(names)}]"

    def condition(self, names):
        r = self.r
        if not names or r.random() < 0.2:
            return r.choice(["n > 2", "s > 20", "k < m", f"{self.element(names)} > 3"])
        v = r.choice(names)
        one = r.choice(
            [f"{v} > 0", f"{v} < n - 1", f"0 < {v} < m - 1", f"{v} + 1 < len(x)", f"{v} != 2"]
            + [f"{v} >= k", f"{v} % 2 == 0", f"{self.element(names)} > 4", f"{v} < y.size"]
        )
        if r.random() < 0.3:
            one += r.choice([" and ", " or "]) + self.condition(names)
        return one

    def statement(self, depth, names, loops):
        r, which = self.r, self.r.random()
        if which < 0.5:
            e = self.element(names)
            if e[0] != "x" and r.random() < 0.6:
                op = r.choice(["=", "+="])
                self.put(depth, f"{e} {op} {self.element(names)} + {r.randrange(3)}")
            else:
                self.put(depth, f"s += {e}")
        elif which < 0.65:
            self.put(depth, f"if {self.condition(names)}:")
            self.block(depth + 1, names, loops, 2)
            if r.random() < 0.3:
                self.put(depth, "else:")
                self.block(depth + 1, names, loops, 1)
        elif which < 0.72 and loops:
            self.put(depth, f"if {self.condition(names)}:")
            self.put(depth + 1, r.choice(["break", "continue"] if loops == "for" else ["break"]))
        elif depth < 5:
            self.loop(depth, names)
        else:
            self.put(depth, f"s += {self.element(names)}")

    def loop(self, depth, names):
        r = self.r
        self.count += 1
        if r.random() < 0.72:
            v = r.choice(["i", "j", f"v{self.count}"])
            a, b = self.bound(names), self.bound(names)
            which = r.random()
            if which < 0.4:
                over = f"range({b})"
            elif which < 0.7:
                over = f"range({r.choice(['0', '1', a])}, {b})"
            else:
                over = f"range({a}, {b}, {r.choice(['2', '3', '-1', '-1', '-2', 'k', 'm'])})"
            self.put(depth, f"for {v} in {over}:")
            self.block(depth + 1, [*names, v], "for", 3)
            return
        w = f"w{self.count}"
        self.put(depth, f"{w} = {self.bound(names)}")
        up = r.random() < 0.6
        test = f"{w} < {self.bound(names)}" if up else f"{w} > {r.choice(['0', '1', '-1', 'k'])}"
        if r.random() < 0.3:
            test += f" and {self.element([*names, w])} < 40"
        self.put(depth, f"while {test}:")
        step = f"{w} {'+' if up else '-'}= {r.choice(['1', '1', '2'])}"
        early = r.random() < 0.3
        if early:
            self.put(depth + 1, step)
        self.block(depth + 1, [*names, w], "while", 3)
        if r.random() < 0.2:
            self.put(depth + 1, f"if {self.condition([*names, w])}:")
            self.put(depth + 2, step)
        if not early:
            self.put(depth + 1, step)

    def block(self, depth, names, loops, most):
        for _ in range(self.r.randrange(1, most + 1)):
            self.statement(depth, names, loops)


def write(r):
    """The source of a function, and the function."""
    w = Writer(r)
    for _ in range(r.randrange(1, 3)):
        w.loop(1, [])
    if r.random() < 0.5:
        w.put(1, f"s += {w.element([])}")
    w.put(1, "return s")
    source = "\n".join(w.lines) + "\n"
    return source, define(source)


def define(source):
    name = f"<random loops {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space = {}
    exec(compile(source, name, "exec"), space)
    return space["f"]


def arguments(r):
    """Arguments for one of them: arrays that are mostly long enough."""
    n, m, k = r.randrange(1, 7), r.randrange(1, 6), r.choice([-2, -1, 1, 2, 3])
    more = r.choice([0, 0, 3, 30, 60])

    def numbers(size, low=0, high=9):
        return np.array([r.randrange(low, high) for _ in range(size)], dtype=np.int64)

    x = numbers(n + r.choice([0, 0, 1, 3]) + more)
    y = numbers(n + r.choice([-1, 0, 0, 1, 5]) + more)
    a = numbers((n + more) * (m + more)).reshape(n + more, m + more)
    return x, y, a, numbers(max(n, 4) + more, -1, n + 1), n, m, k, 0


class TooLong(Exception):
    """A function that runs for too many lines."""


def limited(f, most=20_000):
    """The same function, but TooLong after so many lines."""

    def run(*args):
        left = most

        def trace(frame, event, arg):
            nonlocal left
            left -= 1
            if left < 0:
                raise TooLong
            return trace

        sys.settrace(trace)
        try:
            return f(*args)
        finally:
            sys.settrace(None)

    return run
