"""Random scripts whose functions SciPy calls back; see README.md."""

import random

_HEAD = """
import math
from scipy import integrate, optimize
g0 = {g0}
g1 = {g1}
sine = math.sin
seen = []
def told(f):
    try:
        r = f()
    except Exception as error:
        lines, t = [], error.__traceback__
        while t is not None:
            if t.tb_frame.f_code.co_filename == told.__code__.co_filename:
                lines.append((t.tb_lineno, t.tb_frame.f_code.co_name))
            t = t.tb_next
        r = type(error).__name__, str(error), lines
    seen.append(r)
    return r
def helper(u, k=2):
    if u > {h0}:
        return u * 0.5 + g0
    return u - k * 0.25
def shifts(by):
    def shift(u):
        return helper(u) + by
    return shift
shift = shifts(1.5)
"""


class _Grower:
    """Grows functions of numbers as text."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def number(self):
        return self.r.choice(["0.5", "1.5", "-2.0", "3", "-1", "0.1", "7", "1e3", "2"])

    def expression(self, names, depth=0):
        r = self.r
        if depth > 3 or r.random() < 0.2:
            return r.choice([*names, *names, self.number(), "g0", "g1"])
        a = self.expression(names, depth + 1)
        b = self.expression(names, depth + 1)
        kind = r.random()
        if kind < 0.5:
            return f"({a} {r.choice(['+', '-', '*', '*', '+'])} {b})"
        if kind < 0.58:
            return r.choice([f"({a} / {b})", f"({a} / (1.0 + {b} * {b}))"])
        if kind < 0.64:
            # Of complex numbers SciPy's C code makes errors that differ from call to call.
            return r.choice([f"({a}) ** {r.choice('23')}", f"abs({a}) ** {r.choice(['0.5', b])}"])
        if kind < 0.8:
            f = r.choice(["math.sin", "math.cos", "math.tanh", "math.atan", "sine", "abs"])
            return f"{f}({a})"
        if kind < 0.86:
            f = r.choice(["math.exp", "math.sqrt", "math.log"])
            inner = f"abs({a})" if r.random() < 0.7 else a
            return f"{f}({inner})" if f != "math.exp" else f"{f}(-{inner})"
        if kind < 0.92:
            return f"{r.choice(['helper', 'helper', 'shift'])}({a})"
        if kind < 0.96:
            return f"({a} if {b} > {self.number()} else {b})"
        return r.choice([f"min({a}, {b})", f"float({a})", f"int({a})", f"({a}) % 3.0", f"-({a})"])

    def body(self, names, results):
        """Lines of a function; results: gives the text of what it returns for names."""
        r, lines, names = self.r, [], list(names)
        for k in range(r.randrange(3)):
            kind = r.random()
            if kind < 0.5:
                lines.append(f"    v{k} = {self.expression(names)}")
            elif kind < 0.7:
                lines += [f"    v{k} = {self.number()}", f"    if {names[0]} > {self.number()}:",
                          f"        v{k} = {self.expression(names)}"]  # fmt: skip
            elif kind < 0.85:
                count = r.choice(["3", "int(g1) % 6", "5"])
                lines += [f"    v{k} = 0.0", f"    for k in range({count}):",
                          f"        v{k} += {self.expression([*names, 'k'])}"]  # fmt: skip
            else:
                rare = r.choice([f"print(v{k})", f"v{k} = v{k} << 70", "seen.append(1)"])
                lines += [f"    v{k} = 1", f"    if {names[0]} > {r.choice(['0.9', '2.5'])}:",
                          f"        {rare}"]  # fmt: skip
            names.append(f"v{k}")
        return [*lines, f"    return {results(names)}"]

    def change(self):
        """A statement between two runs."""
        return self.r.choice([
            "g0 = 0.75", "g0 = g0 + 1", "g1 = 3.5", "g1 = g1 + 1", "sine = math.cos", "g0 = 2",
            "sine = math.sin", "pass", "shift = shifts(g0)", "g1 = 2 ** 60",
            "math = __import__('math')",
            "def helper(u): return u * 1.25", "g0 = True", "g0 = np.float64(1.5)", "pass",
            "helper.__defaults__ = (3,)", "helper.__code__ = (lambda u, k=2: u - k).__code__",
        ])  # fmt: skip

    def arguments(self, count):
        kinds = ["0.5", "2", "1.25", "np.float64(0.75)", "-1.5", "3", "True"]
        return [self.r.choice(kinds) for _ in range(count)]

    def script(self):
        r = self.r
        lines = [_HEAD.format(g0=r.choice(["0.5", "2", "1.25"]), g1=r.choice(["1", "2", "3.5"]),
                              h0=self.number())]  # fmt: skip
        for n in range(r.randrange(1, 4)):
            kind = r.choice(["quad", "quad", "closure", "lambda", "ivp", "odeint", "zero",
                             "minimize", "fsolve", "dblquad"])  # fmt: skip
            made, run = getattr(self, "_" + kind)(f"f{n}")
            lines += made
            for _ in range(3):
                lines.append(f"for turn in range({r.choice(['1', '3'])}):")
                lines.append(f"    told(lambda: {run()})")
                lines.append(self.change())
        return "\n".join(lines) + "\n"

    def _function(self, name, names, results=None):
        defaulted = [n if r > 0.15 else f"{n}=0.5" for n, r in
                     ((n, self.r.random()) for n in names[-1:])]  # fmt: skip
        text = ", ".join([*names[:-1], *defaulted] if len(names) > 1 else names)
        results = results or self.expression
        return [f"def {name}({text}):", *self.body(names, results)]

    def _bounds(self):
        return self.r.choice(["0, 1", "0.0, 2.5", "-1, 1", "0, math.inf", "-math.inf, 1"])

    def _given(self, count):
        """The argument `args` of a call of SciPy's that hands on so many numbers."""
        more = self.arguments(count) if count else []
        return f", args=({', '.join(more)},)" if more else ""

    def _quad(self, name):
        count = self.r.randrange(3)
        names = ["x", *"abc"[:count]]

        def run():
            given = self._given(count)
            word = self.r.choice(["", "", "", ", points=[0.3]", ", weight='cos', wvar=2.0",
                                  ", limit=7", ", full_output=1"])  # fmt: skip
            return f"integrate.quad({name}, {self._bounds()}{given}{word})[:2]"

        return self._function(name, names), run

    def _closure(self, name):
        inner = ["    " + line for line in self._function("inner", ["x"], lambda names:
                 self.expression([*names, "k"]))]  # fmt: skip
        lines = [f"def {name}(k):", *inner, "    return integrate.quad(inner, 0, 1)[0]"]
        return lines, lambda: f"{name}({self.arguments(1)[0]})"

    def _lambda(self, name):
        a, b = self.expression(["x", "k"]), self.expression(["x", "n"])
        lines = [f"def {name}(k):",
                 f"    p, q = lambda x: {a}, lambda x, n=k: {b}",
                 "    return integrate.quad(p, 0, 1)[0], integrate.quad(q, 0, 2)[0]"]  # fmt: skip
        return lines, lambda: f"{name}({self.arguments(1)[0]})"

    def _dblquad(self, name):
        lines = self._function(name, ["y", "x"])
        return lines, lambda: f"integrate.dblquad({name}, 0, 1, 0, {self.number()})"

    def _right_side(self, name, first, state, more):
        r, names = self.r, [n for n in (*first, *more)]
        read = [f"{state}[0]", f"{state}[1]"]
        unpacked = r.random() < 0.4
        order = [*first, state, *more] if first else [state, *more]

        def results(known):
            # Bounded, as steps would become too small otherwise.
            parts = [f"math.sin({self.expression(known, 1)})" for _ in range(2)]
            shape = r.choice(["[{}]", "[{}]", "({})", "np.array([{}])", "{}"])
            return shape.format(", ".join(parts))

        if unpacked:
            body = [f"    u, w = {state}", *self.body([*names, "u", "w"], results)]
        else:
            body = self.body([*names, *read], results)
        return [f"def {name}({', '.join(order)}):", *body]

    def _ivp(self, name):
        count = self.r.randrange(2)
        lines = self._right_side(name, ["t"], "y", "ab"[:count])
        method = self.r.choice(["", "", ", method='RK23'", ", method='Radau'", ", t_eval=[0, 0.1]"])

        def run():
            given = self._given(count)
            return f"integrate.solve_ivp({name}, (0, 0.25), [1, 0.5]{given}{method}).y.tolist()"

        return lines, run

    def _odeint(self, name):
        count = self.r.randrange(2)
        lines = self._right_side(name, [], "y", ["t", *"ab"[:count]])

        def run():
            given = self._given(count)
            return f"integrate.odeint({name}, [1.0, 0.5], [0, 0.1, 0.2]{given}).tolist()"

        return lines, run

    def _zero(self, name):
        count = self.r.randrange(3)
        names = ["x", *"abc"[:count]]

        def run():
            given = self._given(count)
            f = self.r.choice(["brentq", "bisect", "ridder", "brenth"])
            low = self.r.choice(["-2", "0"])
            return f"optimize.{f}({name}, {low}, 3.5{given}, full_output=True)[0]"

        return self._function(name, names), run

    def _minimize(self, name):
        lines = [f"def {name}(p):", *self.body(["p[0]", "p[1]"], self.expression)]
        method = self.r.choice(["Nelder-Mead", "BFGS", "L-BFGS-B", "Powell"])
        run = (f"(lambda m: (m.x.tolist(), m.fun, m.nfev))(optimize.minimize({name}, [0.5, -0.25], "
               f"method='{method}', options={{'maxiter': 4}}))")  # fmt: skip
        return lines, lambda: run

    def _fsolve(self, name):
        lines = self._right_side(name, [], "p", [])
        return lines, lambda: f"optimize.fsolve({name}, [0.5, 0.25]).tolist()"


def callbacks_script(seed):
    """The script of a seed."""
    return _Grower(f"callbacks {seed}").script()
