"""Random scripts with loops, whose results CPython by itself is the oracle of.

A script defines `work(…)` and calls it, or has its loops in the module itself. Names: i j k m count
loops, n0 n1 … ints, f0 … floats, b0 … bools, x0 … NumPy's floats, y0 … its ints; fa ga ia ba ua are
arrays (ga may be fa, or a view of it), li lf lists.
"""

import random

from .grow_functions import Functions
from .grow_language import Language
from .grow_lists import Lists
from .grow_strips import Strips

INTS = ("n0", "n1", "n2")
FLOATS = ("f0", "f1", "f2")
BOOLS = ("b0", "b1")
NUMPYS = ("x0", "x1")
NUMPY_INTS = ("y0",)


class Grow(Functions, Language, Lists, Strips):
    """One script, of a seed."""

    def __init__(self, seed):
        self.r, self.of_handed = random.Random(seed), random.Random(f"handed {seed}")
        self.of_language = random.Random(f"language {seed}")
        self.of_lists = random.Random(f"lists {seed}")
        self.of_singles = random.Random(f"singles {seed}")
        self.lines, self.level, self.counters, self.depth = [], 0, [], 0
        self.in_function = self.r.random() < 0.6
        self.budget = self.r.randint(4, 12)
        self.ints, self.floats, self.bools, self.numpys = INTS, FLOATS, BOOLS, NUMPYS
        self.alone = False  # in a function of numbers, which sees no arrays
        self.is_ours = seed % 4 == 3  # with Numbus's arrays
        self.functions = []  # (name, number of arguments)
        self.defaults = set()  # names of those whose last argument has one

    def line(self, text):
        self.lines.append("    " * self.level + text)

    def pick(self, *choices):
        return self.r.choice(choices)

    # --- expressions

    def user_call(self, depth):
        """A call of a function of the script's."""
        name, count = self.pick(*self.functions)
        kinds = [self.integer, self.floating]
        if not self.alone:
            kinds.append(self.numpy)
        given = [self.pick(self.pick(*kinds)(depth), "b0", "fa") if self.r.random() < 0.1 and
                 not self.alone else kinds[k % 2](depth) for k in range(count)]  # fmt: skip
        r = self.r.random()
        if r < 0.08:
            given[-1] = f"p{self.pick(count - 1, count - 1, 0)}={given[-1]}"
        elif r < 0.2 and (name in self.defaults or r < 0.09):
            given.pop()
        return f"{name}({', '.join(given)})"

    def repeated(self):
        """An assignment of one number to a part of a list."""
        name, element = self.pick(
            ("li", self.integer(0)), ("lf", self.floating(0)), ("lb", self.pick("True", "b0")),
            ("ob.li", "n0"), ("lf", "n1"), ("gi", "3"),
        )  # fmt: skip
        low, high = self.pick("", "2", self.index()), self.pick("", "9", "-1", self.index())
        step = self.pick("", "", ":2", ":3", ":k" if "k" in self.counters else ":1", ":-1")
        part = f"{low}:{high}{step}"
        count = self.pick(f"len({name}[{part}])", "5", "7", self.index())
        if self.r.random() < 0.6 and low in ("", "2") and high == "" and step in ("", ":2", ":3"):
            first, by = low or "0", step[1:] or "1"
            count = f"((len({name}) - {first} + {by} - 1) // {by})"
        pair = (f"[{element}]", count) if self.r.random() < 0.8 else (count, f"[{element}]")
        return f"{name}[{part}] = {' * '.join(pair)}"

    def integer(self, depth=2):
        r = self.r.random()
        if not self.alone and depth and self.r.random() < 0.03:
            return self.pick(f"{self.pick('look', 'bump')}(li, {self.index()})",
                             f"dig({self.index()}, {self.integer(0)} % 12)")  # fmt: skip
        if self.functions and depth and self.r.random() < 0.06:
            return self.user_call(depth - 1)
        if self.alone and 0.955 <= r:
            return self.pick(*self.ints)
        if depth == 0 or r < 0.35:
            return self.pick(
                *self.ints,
                *self.counters,
                *self.counters,
                str(self.r.randint(-3, 9)),
                str(self.r.randint(0, 3)),
                str(self.pick(2**31, 2**62, -(2**63) + 1, 2**53 + 1, 1000003))
                if self.r.random() < 0.3
                else "2",
            )
        a, b = self.integer(depth - 1), self.integer(depth - 1)
        if r < 0.7:
            op = self.pick("+", "-", "*", "+", "-", "*", "&", "|", "^")
            return f"({a} {op} {self.factor() if op == '*' else b})"
        if r < 0.82:
            return f"({a} {self.pick('//', '%')} {self.pick('3', '7', '-5', b)})"
        if r < 0.86:
            return (
                f"({a} {self.pick('<<', '>>')} {self.pick('1', '3', '40', 'abs(' + b + ') % 70')})"
            )
        if r < 0.89:
            return f"{self.pick('-', '~', '+')}{a}" if not a.startswith("-") else a
        if r < 0.92:
            return f"{self.pick('min', 'max')}({a}, {b})"
        if r < 0.94:
            return f"int({self.floating(depth - 1)})"
        if r < 0.955:
            return f"({self.factor()} ** {self.pick('2', '3')})"
        if r < 0.97:
            f = self.floating(depth - 1)
            return self.pick(f"abs({a})", f"round({f})", f"math.gcd({a}, {b})")
        if r < 0.985:
            return self.pick(
                "len(li)", "fa.shape[0]", "ma.shape[1]", "ia.size", "len(ma)", "len(ll)",
                f"len(ll[{self.index()}])", f"lm[{self.index()}][{self.index()}]", "ob.n",
                f"bb[{self.index()}]", f"ti[{self.index()}]", f"ob.li[{self.index()}]", "ob.few",
                f"r1[{self.index()}]", f"lt[{self.index()}][{self.index()}]", "len(r1)",
                "2**40 + 3",
            )  # fmt: skip
        return self.pick(
            f"li[{self.index()}]", f"int(ia[{self.index()}])", f"int(ua[{self.index()}])"
        )

    def factor(self):
        """An integer that keeps its size: products of others grow out of all bounds in loops."""
        large = self.pick("(n0 % 3037000501)", "3037000500", "(n2 % 4611686018427387904)", "-3")
        return self.pick("2", "3", *self.counters, *self.counters, large)

    def floating(self, depth=2):
        r = self.r.random()
        if not self.alone and depth and self.r.random() < 0.03:
            return f"{self.pick('look', 'bump')}({self.pick('lf', 'gl')}, {self.index()})"
        if self.functions and depth and self.r.random() < 0.06:
            return self.user_call(depth - 1)
        if self.alone and 0.95 <= r < 0.97:
            return self.pick(*self.floats)
        if depth == 0 or r < 0.3:
            return self.pick(
                *self.floats,
                *self.floats,
                f"{self.r.uniform(-3, 3):.3f}",
                "0.5",
                "1e-3",
                "2.0",
                "9007199254740992.0",
            )
        a = self.floating(depth - 1)
        b = self.pick(self.floating(depth - 1), self.integer(depth - 1))
        if self.r.random() < 0.3:
            a, b = b, a
        if r < 0.65:
            return f"({a} {self.pick('+', '-', '*')} {b})"
        if r < 0.72:
            return f"({a} / {self.pick('4', '0.7', b)})"
        if r < 0.8:
            return f"({a} {self.pick('//', '%')} {self.pick('0.3', '2', b)})"
        if r < 0.84:
            return f"float({self.pick(a, b)})"
        if r < 0.9:
            f = self.pick(
                "sin", "cos", "exp", "sqrt", "log", "atan", "tanh", "floor", "fabs", "log10", "asin"
            )
            return f"math.{f}({self.pick(a, b, 'abs(' + a + ')')})"
        if r < 0.915:
            return self.pick(f"math.degrees({a})", f"math.radians({b})", f"math.pow({a}, {b})")
        if r < 0.93:
            return f"({self.integer(1)} / {self.pick(self.integer(1), '3', 'n2')})"
        if r < 0.95:
            return self.pick(f"({a} ** {self.pick('2', '3', '2.0')})",
                             f"(abs({a}) ** {self.pick('2', '0.5', '1.7', '-1')})")  # fmt: skip
        if r < 0.97:
            return self.pick(
                f"lf[{self.index()}]", f"ll[{self.index()}][{self.index()}]", "ob.f", "ob.few",
                f"da[{self.index()}]", f"r0[{self.index()}]", f"ob.m[{self.index()}][0]",
            )  # fmt: skip
        return f"-{a}" if not a.startswith("-") else a

    def numpy(self, depth=2):
        r = self.r.random()
        if depth == 0 or r < 0.3:
            return self.pick(
                *self.numpys,
                f"fa[{self.index()}]",
                f"ga[{self.index()}]",
                f"ma[{self.index()}, {self.index()}]",
            )
        a = self.numpy(depth - 1)
        b = self.pick(
            self.numpy(depth - 1), self.floating(0), self.integer(0), "y0", f"ia[{self.index()}]"
        )
        if self.r.random() < 0.3:
            a, b = b, a
        if r < 0.4:
            name = self.pick("sqrt", "abs", "floor", "ceil", "trunc", "sqrt")
            return self.pick(f"np.{name}({a})", f"np.{name}(abs({b}))",
                             f"np.{self.pick('maximum', 'minimum')}({a}, {b})")  # fmt: skip
        return f"({a} {self.pick('+', '-', '*', '+', '-', '*', '/')} {b})"

    def numpy_integer(self, depth=1):
        if depth == 0 or self.r.random() < 0.4:
            return self.pick("y0", f"ia[{self.index()}]")
        other = self.pick(self.integer(0), self.numpy_integer(0))
        return f"({self.numpy_integer(0)} {self.pick('+', '-', '*', '//', '%', '&')} {other})"

    def narrow(self, depth=2):
        """An integer of NumPy's of fewer than 64 bits."""
        which = self.r.randrange(3)
        name, array, dtype = (
            ("w0", "ra", "uint32"), ("w1", "ua", "uint8"), ("w2", "za", "int16")
        )[which]  # fmt: skip

        def grow(depth):
            r = self.r.random()
            if depth == 0 or r < 0.3:
                return self.pick(name, name, f"{array}[{self.index()}]")
            if r < 0.36:
                return f"np.{dtype}({self.pick(self.integer(0), '7', 'w1', 'y0', self.index())})"
            if r < 0.4:
                return f"{self.pick('-', '~', 'abs')}({grow(depth - 1)})"
            other = self.pick(grow(depth - 1), self.pick("1", "3", "200", self.integer(0)))
            a, b = grow(depth - 1), other
            if self.r.random() < 0.2:
                a, b = b, a
            op = self.pick("&", "|", "^", ">>", "&", "^", ">>", "<<", "+", "-", "*", "//", "%")
            return f"({a} {op} {b})"

        text = grow(depth)
        if self.r.random() < 0.08:
            text = f"({text} {self.pick('*', '/', '+')} {self.pick('f0', '0.5', 'x0', name)})"
        return name, array, text

    def index(self):
        i = self.pick(*(self.counters or ["1"]))
        return self.pick(
            i,
            i,
            i,
            f"{i} - 1",
            f"{i} % 5",
            f"-{i}",
            "0",
            "-1",
            f"{i} + 1",
            "n0 % 6",
            self.integer(1) if self.r.random() < 0.2 else i,
        )

    def condition(self, depth=1):
        r = self.r.random()
        if r < 0.25 and depth:
            return f"{self.condition(0)} {self.pick('and', 'or')} {self.condition(0)}"
        if r < 0.3:
            return f"not {self.condition(0)}" if depth else self.pick(*self.bools)
        if r < 0.4:
            i = self.index()
            return self.pick(*self.bools, "n0", "f1", f"ba[{i}]", f"lb[{i}]", "x0", "gi", "not gl")
        if r < 0.46:
            n = self.pick(*self.ints, "n2")
            return f"{n} {self.pick('==', '>')} float({n})"
        kind = self.pick(self.integer, self.floating, self.numpy, self.numpy_integer)
        other = self.pick(kind, self.integer, self.floating)
        text = f"{kind(1)} {self.pick('<', '>', '<=', '>=', '==', '!=')} {other(1)}"
        if self.r.random() < 0.1:
            text += f" {self.pick('<', '>=')} {self.integer(0)}"
        return text

    # --- statements

    def assignment(self):
        if not self.alone and self.r.random() < (0.2 if self.is_ours else 0.06):
            return self.parts()
        r = self.r.random()
        if not self.alone and self.r.random() < 0.08:
            n = self.pick(*self.ints, *self.floats, *self.numpys)
            return f"{n} {self.pick('', '', '+', '-')}= {self.fold()}"
        if r < 0.3:
            n = self.pick(*self.ints)
            return self.pick(
                f"{n} = {self.integer()}",
                f"{n} {self.pick('+=', '-=', '^=', '%=')} {self.integer(1)}",
                f"{n} *= {self.factor()}",
                f"{n} {self.pick('+=', '-=')} 4611686018427387904",
                f"{n} = ({n} * 1103515245 + 12345) % 2147483648",
            )
        if r < 0.5:
            n = self.pick(*self.floats)
            return self.pick(
                f"{n} = {self.floating()}",
                f"{n} {self.pick('+=', '-=', '*=', '/=')} {self.floating(1)}",
            )
        if r < 0.55:
            value = self.pick(f"{self.integer(1)} < {self.integer(1)}", "True", "not b0")
            return f"{self.pick(*self.bools)} = {value}"
        if r < 0.65:
            n = self.pick(*self.numpys)
            return self.pick(f"{n} = {self.numpy()}", f"{n} += {self.numpy(1)}")
        if r < 0.67:
            return f"y0 = {self.numpy_integer()}"
        if r < 0.72:
            name, array, value = self.narrow()
            return self.pick(f"{name} = {value}", f"{array}[{self.index()}] = {value}",
                             f"{name} ^= {value}", f"n1 = int({value})",
                             f"b0 = {value} < {self.pick('5', 'n0', name, 'f0', 'x0')}",
                             f"fa[{self.index()}] = {value}")  # fmt: skip
        if r < 0.76:
            a, b = self.pick(self.ints, self.floats)[:2]
            return self.pick(
                f"{a}, {b} = {b}, {a}",
                f"{a}, {b} = {b}, {self.integer(1)}",
                f"{a} = {b} = {self.integer(1)}",
                "fa[0], fa[1] = fa[1], fa[0]",
                f"f0, fa[{self.index()}] = fa[{self.index()}], f0",
            )
        if r < 0.8:
            return self.pick(
                f"gi.append({self.integer(1)})", f"gl.append({self.floating(1)})",
                f"lb.append({self.pick('b0', 'True')})", f"gi.append({self.pick('f0', 'n2')})",
                f"n0 = gi[{self.index()}] + len(gi)", "gi.pop()", "n1 = gi.pop()", "f0 = gl.pop()",
                f"gi.append({self.integer(1)})", f"gl.append({self.floating(1)})", "gl.pop()",
                f"gi[{self.index()}] = {self.integer(1)}",
                f"f0 = gl[-1] + len(gl) * {self.floating(0)}",
            )  # fmt: skip
        if r < 0.83 and not self.alone:
            o = self.pick("ob", "oc")
            return self.pick(
                f"{o}.n {self.pick('+=', '-=', '=', '^=')} {self.integer(1)}",
                f"{o}.f {self.pick('+=', '*=', '=')} {self.floating(1)}",
                f"{o}.n, {o}.f = {self.integer(1)}, {self.floating(1)}",
                f"{o}.n, n0 = n0, {o}.n", f"n1 = {o}.n = {self.integer(1)}",
                f"f0 = oc.f + {o}.f", f"li[{self.index()}] = {o}.n + oc.n",
                f"{o}.few = {self.pick('2', self.integer(0))}", f"{o}.n += {o}.few",
                f"n1 = {o}.few + {self.integer(0)}", f"f0 += {o}.few",
            )  # fmt: skip
        i = self.index()
        if r < 0.87:
            return self.pick(
                f"r0 = {self.pick('ll', 'ma', 'll', 'ob.m')}[{i}]", f"r0 = ll[{i}]",
                f"r1 = lm[{i}]", f"r0[{self.index()}] = {self.floating(1)}",
                f"r1[{self.index()}] = {self.integer(1)}",
                f"r0, r1 = ll[{i}], lm[{self.index()}]", f"r1 = {self.pick('li', 'r0', 'n1')}",
                f"da[{i}] = {self.pick(self.floating, self.integer, self.numpy)(1)}",
                f"da[{i}] {self.pick('+=', '*=')} {self.floating(1)}",
                f"bb[{i}] = {self.pick(self.integer(1), f'({self.integer(1)}) % 256', 'b0')}",
                f"bb[{i}] ^= {self.pick('1', '255', self.integer(0))}",
                f"ob.li[{i}] {self.pick('=', '+=')} {self.integer(1)}",
                self.repeated(), self.repeated(),
                f"ti[{i}] = 3" if self.r.random() < 0.1 else f"n1 = ti[{i}] - lt[{i}][0]",
            )  # fmt: skip
        return self.pick(
            f"fa[{i}] = {self.pick(self.floating, self.numpy)(1)}",
            f"ga[{i}] = {self.numpy(1)}",
            f"fa[{i}] += {self.floating(1)}",
            f"ia[{i}] = {self.integer(1)}",
            f"ia[{i}] += {self.integer(1)}",
            f"ba[{i}] = {self.condition(0)}",
            f"ua[{i}] = {self.integer(1)}",
            f"ma[{i}, {self.index()}] += {self.numpy(1)}",
            f"ma[{i}][{self.index()}] = {self.floating(1)}",
            f"li[{i}] = {self.integer(1)}",
            f"li[{i}] += 1",
            f"lf[{i}] = {self.floating(1)}",
            f"lb[{i}] = {self.pick('False', 'True', 'b0')}",
            f"ll[{i}][{self.index()}] = {self.floating(1)}",
            f"lm[{i}][{self.index()}] += {self.pick('1', 'n0', self.index())}",
            f"ll[0][1], ll[1][0] = ll[1][{self.index()}], ll[{i}][1]",
        )

    def parts(self):
        """A statement of slices and rows of arrays."""
        low = self.pick("", "", "1", "n0 % 4", "-9", *self.counters)
        high = self.pick("", "5", "6", "n0", "-2", "y0", *self.counters, *self.counters)
        i, j = self.index(), self.index()

        def part():
            r = self.r.random()
            if r < 0.08:
                if self.is_ours:  # which tell of wrong indices when they are computed
                    return self.pick("fa", f"ma[{i}]", "ia[:6]")
                return self.pick("fa[ia[2:8]]", f"fa[ia[{low}:{high}]]", "fa", f"ma[{i}]", "ia[:6]")
            if r < 0.12:
                step = self.pick("2", "n0", "-1", "3")
                return f"{self.pick('fa', 'ga')}[{low}:{high}:{step}]"
            return self.pick(
                f"fa[{low}:{high}]", f"ga[{low}:{high}]", f"ga[{low}:{high}]",
                f"fa[{low}:{high}][::-1]", f"ga[::-1][{low}:{high}]", f"ma[{i}, {low}:{high}]",
                f"ma[{low}:{high}, {j}]", f"ma[{i}][{low}:{high}]",
            )  # fmt: skip

        def number():
            return self.pick(self.floating, self.numpy, self.integer)(1)

        def several():
            a, b = part(), part()
            return self.pick(
                a, f"{number()} * {a}", f"{a} {self.pick('+', '-', '*', '/')} {b}",
                f"{a} - {self.pick('f0', 'x0', '0.5')} * {b}", f"-{a}", f"{a} / {number()}",
            )  # fmt: skip

        target = part()
        if self.is_ours and self.r.random() < 0.6:
            of = self.pick(
                f"{part()} @ {part()}", f"np.dot({part()}, {part()})", f"({several()}) @ {part()}",
                f"np.inner({several()}, {part()})", f"np.sum({several()})",
            )  # fmt: skip
            # Others are numbers that may be computed later: their type depends on when.
            at_once = f"fa[{low}:{high}] @ ma[{i}, {low}:{high}]"
            return self.pick(
                f"x0 = {at_once}", f"x1 = x0 - {at_once}", f"fa[{i}] = {of}",
                f"fa[{j}] -= np.sqrt({of})",
                f"ma[{i}, {j}] = (1.5 - {of}) / 7", f"{target} = {of}", f"f0 = float({of})",
                f"{target} -= ({of}) * {part()}",
            )  # fmt: skip
        return self.pick(
            f"{target} = {several()}", f"{target} = {number()}",
            f"{target} {self.pick('+=', '-=', '*=', '/=')} {self.pick(several(), number())}",
            f"ba[{low}:{high}] = {self.pick('True', 'b0')}",
            f"ia[{low}:{high}] = {self.integer(1)}",
        )  # fmt: skip

    def odd(self):
        """What CPython has to do, or what changes types."""
        return self.pick(
            f"print('at', {self.pick(*self.ints)}, {self.pick('0', *self.counters)})",
            "n1 = 2.5",
            "f1 = 3",
            "n2 = None",
            "f2 = 'text'",
            "li.append(7) if len(li) < 300 else None",
            "li.append(n0 % 7) if len(li) < 300 else None",
            "print(type(n0).__name__, repr(f0))",
            "x1 = 1.5",
            "del n2",
            "raise ValueError(n0)",
            "assert n1 < 10 ** 40, 'large'",
            "fa = fa.copy()",
            "n1 = n1 * 10 ** 30",
            "y0 = 5",
            "w0 = np.uint32(12)",
            "w1 = 3",
            "lb[0] = None",
            "lb.append(True)",
            "del lb[3:]",
            "lb = lb[::-1]",
            "print(repr(w0), type(w1).__name__, w2)",
            "helper(n0)",
            "h0 = helper" if not self.in_function else "SCALE = 2",
            "log.append(n0)",
            "lf = [1.0, 2, 3.0]",
            "np.add(fa, 1.0, out=fa)",
            "gi = gi[:5]",
            "gl.append(1)",
            "gi.pop()",
            "gl = gi",
            "ll[1] = [1.5, 2.5]",
            "lm[0].append(3)",
            "lf = ll[2]",
            "ll[0], ll[1] = ll[1], ll[0]",
            "lm = [r[:] for r in lm]",
            "x0 = fa[:2].sum()",
            "ob.n += 1",
            "ob.f = n0",
            "ob.li = li",
            "ob.few = 2.5",
            "type(ob).few = 7",
            "da = da[:9]",
            "r0 = None",
            "r0, r1 = r1, r0",
            "print(type(r0).__name__, r1)",
            "lm[0], lm[1] = lm[1], lm[0]",
            "bb.append(3)",
            "ti = ti[1:]",
            "n0 = len(log)",
            "out.append((n0, f0, b0))",
        )

    def statement(self):
        self.budget -= 1
        self.language()
        r = self.r.random()
        if r < 0.62 or self.budget < 0:
            return self.line(self.assignment())
        if r < 0.82 or self.depth >= 3:
            self.line(f"if {self.condition()}:")
            self.level += 1
            s = self.r.random()
            if s < 0.12 and self.counters:
                self.line(self.pick("break", "continue"))
            elif s < 0.16 and self.in_function:
                self.line(f"return {self.pick('n0, f0', 'fa', 'None', *self.counters)}")
            elif s < 0.4:
                self.line(self.odd())
            else:
                self.block(self.r.randint(1, 2))
            self.level -= 1
            if self.r.random() < 0.35:
                self.line("else:")
                self.level += 1
                self.block(1)
                self.level -= 1
            return None
        if r < 0.83:
            return self.line(self.odd())
        return self.loop()

    def block(self, count):
        for _ in range(count):
            self.statement()

    def loop(self):
        free = [c for c in "ijkm" if c not in self.counters]
        if not free:
            return self.line("pass")
        c = free[0]
        if not self.alone and self.r.random() < 0.25:
            return self.strip(c)
        self.depth += 1
        if self.depth < 3 and not self.alone and self.r.random() < 0.2:
            self.line(self.over_items(c))
            self.level += 1
            self.counters.append(c)
        elif self.r.random() < 0.75 or (self.depth == 1 and self.r.random() < 0.5):
            big = self.pick(3, 7, 30, 120) if self.depth == 1 else self.pick(2, 5, 9)
            text = self.pick(
                f"range({big})",
                f"range({big})",
                f"range(1, {big})",
                f"range({big}, 0, -1)",
                f"range(0, {big}, 2)",
                f"range(n0 % {big + 1})",
                f"range(abs(n1) % 4, {big})",
                f"reversed(range({big}))",
                f"reversed(range(-1, {big}, {self.pick(2, 3, 'abs(n0) % 3 + 1')}))",
                f"reversed(range({big}, n1 % 5, -2))",
            )
            self.line(f"for {c} in {text}:")
            self.level += 1
            self.counters.append(c)
        else:
            self.line(f"{c} = 0")
            more = self.pick("", "", " and n0 != 77", f" or b1 and {c} < 50")
            self.line(f"while {c} < {self.pick(4, 9, 40)}{more}:")
            self.level += 1
            self.counters.append(c)
            self.line(f"{c} += {self.pick(1, 1, 2)}")
        is_for = not self.lines[-1].lstrip().startswith(f"{c} +=")
        self.block(self.r.randint(1, 4))
        self.level -= 1
        self.counters.pop()
        self.depth -= 1
        if is_for and self.r.random() < 0.12:
            self.line("else:")
            self.level += 1
            self.block(1)
            self.level -= 1
        return None

    def over_items(self, c):
        """The head of a loop over lists and arrays."""
        return self.pick(
            f"for {c} in li:",
            f"for {c} in {self.pick('ia', 'ua', 'lm', 'za')}:",
            f"for {c}, f1 in enumerate({self.pick('lf', 'lf', 'fa', 'li', 'll')}):",
            f"for {c}, x1 in enumerate({self.pick('fa', 'ga')}{self.pick('', ', 2', ', -1')}):",
            f"for {c}, b1 in {self.pick('enumerate(lb)', 'zip(li, lb)', 'zip(li, ba)')}:",
            f"for {c}, w1 in enumerate(ua):",
            f"for {c}, x0 in zip(li, {self.pick('fa', 'ga', 'lf', 'ma')}):",
            f"for {c}, y0, f1 in zip({self.pick('li', 'range(30)')}, ia, lf):",
            f"for n0, {c} in zip(ia, li):",
            f"for {c}, r0 in enumerate({self.pick('ll', 'll', 'ma', 'ob.m')}):",
            f"for {c}, r1 in {self.pick('zip(ia, lm)', 'enumerate(lm)', 'enumerate(lt)')}:",
            f"for {c} in {self.pick('r1', 'ob.li', 'bb', 'ti', 'r0')}:",
            f"for {c}, f0 in enumerate({self.pick('r0', 'ob.m', 'da')}):",
        )

    def script(self):
        lines = self.lines
        lines += [
            "import array",
            "import math",
            "log = []",
            "out = []",
            "",
            "SCALE = 1.25",
            "def helper(x):",
            "    log.append(x)",
            "    return 1",
            "",
            "def look(p, q):",
            "    return p[q] if q > 3 else p[-1]",
            "",
            "class Ob:",
            "    few = 3",
            *self.pick(["    @property", "    def few(self): return log.append(1) or 4"], []),
            "",
            "class Oc(Ob):",
            *self.pick(
                ["    __slots__ = 'n', 'f'"],
                ["    n, f = 1, 2.5"],
                ["    pass"],
                [
                    "    def __setattr__(self, name, x):",
                    "        log.append(name)",
                    "        object.__setattr__(self, name, x)",
                ],
                [
                    "    def __getattribute__(self, name):",
                    "        log.append(name)",
                    "        return object.__getattribute__(self, name)",
                ],
                ["    f = property(lambda self: 1.5, lambda self, x: log.append(x))"],
            ),
            "",
            "def dig(p, q):",
            f"    if {self.pick('q <= 0', 'q < p % 3', 'p > 40')}:",
            f"        return {self.pick('p', '1', 'q * 2', '0.5', 'li', 'q / 3')}",
            "    return "
            + self.pick(
                "dig(p + 1, q - 1) + q",
                "q * dig(p, q - 1)",
                "dig(p + 1, q)",
                "dig(q % 5, q - 2) - dig(p, q // 2)",
            ),
            "",
            "def bump(p, q):",
            "    p[q % 6] += 1",
            "    return p[q % 9] + (q << 60) % 7",
            "",
        ]
        for k in range(self.pick(0, 1, 2)):
            self.function(f"h{k}")
        self.methods()
        ints = f"{self.r.randint(-5, 50)}, {self.r.randint(1, 9)}"
        large = self.pick(0, 3, 2**40, -(2**62), 2**53 + 1, 2**60 + 1)
        floats = self.pick("0.0", "-0.0", "1e300", "7.25")
        numpys = self.pick("0.0", "3.5", "1e200"), self.pick("3", "2**61", "-7")
        setup = [
            f"n0, n1, n2 = {ints}, {large}",
            f"f0, f1, f2 = {self.r.uniform(-2, 2):.4f}, 1.5, {floats}",
            "b0, b1 = True, False",
            f"x0, x1 = np.float64(1.25), np.float64({numpys[0]})",
            f"y0 = np.int64({numpys[1]})",
            "fa = np.arange(40.0) / 7",
            self.pick("ga = fa", "ga = fa[3:20]", "ga = np.ones(9)", "ga = fa[::-1]"),
            self.pick("hb, hc = np.ones(40), fa * 2", "hb, hc = fa[:], np.ones((40, 2))[:, 1]"),
            self.pick("hb[23] = hc[4] = 1e308", "hc[17] = hb[33] = 0.0", "hc[30] = 1e200"),
            "ia = np.arange(40) * 3 - 7",
            "ba = np.arange(40) % 3 == 0",
            "ua = (np.arange(40) * 5).astype(np.uint8)",
            "ra = (np.arange(40) * 107374182).astype(np.uint32)",
            "za = (np.arange(40) * 1500 - 30000).astype(np.int16)",
            "w0, w1, w2 = np.uint32(3988292384), np.uint8(9), np.int16(-77)",
            self.pick(
                "ma = np.arange(36.0).reshape(6, 6)",
                "ma = np.arange(36.0).reshape(6, 6).T",
                "ma = np.zeros((41, 41))",
            ),
            "li, lf = list(range(40)), [0.5 * v for v in range(40)]",
            self.pick("gi, gl = [3], [0.25, 2.0]", "gi, gl = [], [1.5]", "gi = gl = [7]"),
            self.pick(
                "lb = [v % 2 == 0 for v in range(40)]",
                "lb = [v % 2 == 0 for v in range(40)]",
                "lb = [True, False, None, 1, True] * 8",
                "lb = [True]",
            ),
            self.pick(
                "ll = [[0.25 * v + w for v in range(9)] for w in range(9)]",
                "ll = [[0.5] * 6] * 7",
                "ll = [lf[w:w + 5] for w in range(6)]",
                "ll = [[1.5] * 7, *[[w, 2.0] for w in range(4)]]",
            ),
            self.pick(
                "lm = [[v ^ w for v in range(7)] for w in range(40)]",
                "lm = [li, list(range(40))]",
                "lm = [[2**62, 5, -1] for w in range(8)]",
            ),
        ]
        setup += [
            "da = array.array('d', [0.5 * v for v in range(40)])",
            self.pick("bb = bytearray(range(40))", "bb = array.array('h', range(40))"),
            self.pick("ti = tuple(range(3, 30))", "ti = (1, 2)", "ti = bytes(range(20))"),
            "lt = [(v, 2 * v) for v in range(9)]",
            self.pick("r0, r1 = lf, li", "r0, r1 = None, ti", "r0, r1 = ll[0], lm[1]"),
            "ob = Ob()",
            f"ob.n, ob.f, ob.li, ob.m = {self.pick('4', '2**62')}, 0.75, li[:], [lf[:3], lf[3:6]]",
            self.pick("oc = ob", "oc = Oc(); oc.n = 3; oc.f = 0.5", "oc = Oc(); oc.n = 7"),
            self.before_lists(),
        ]
        keep = [n for n in ("n0", "n1", "f0", "b0") if self.r.random() < 0.5]
        if self.in_function:
            if self.r.random() < 0.3:
                lines += setup[:1]
                self.line("def work():")
                self.level += 1
                self.line("global n0, n2")
                for s in setup if self.r.random() < 0.5 else setup[1:]:
                    self.line(s if not s.startswith("n0") else "n1 = 4")
                if not any("n1" in x for x in lines[-len(setup) :]):
                    self.line("n1 = 4")
                self.loop()
                self.block(2)
            else:
                self.line("def work():")
                self.level += 1
                for s in setup:
                    self.line(s)
                if self.r.random() < 0.2:
                    self.line("def inner(): return n0, f0")
                    keep.append("inner()")
                self.loop()
                if self.r.random() < 0.5:
                    self.loop()
            self.strips()
            self.lists()
            self.singles_loop()
            arrays = "fa, ga, ia, ba, ua, ra, za, ma, hb, hc"
            every = f"n0, f0, f1, b0, x0, y0, {arrays}, li, lf, lb, ll, lm, gi, gl, r0, r1, da, bb"
            every += (
                ", ti, lt, vars(ob), vars(oc), qa, qb, qc, qa is qb, qb is qc, qc is li, c0, c1, c2"
                ", sa, s0, s1"
            )
            self.line(f"out.append(({every}))")
            self.line(f"return {', '.join(['n1', 'f2', *keep])}")
            self.level -= 1
            lines += ["result = work()"]
            if self.r.random() < 0.4:
                lines += ["again = work()"]
        else:
            lines += setup
            self.loop()
            if self.r.random() < 0.6:
                self.loop()
            self.strips()
            self.lists()
            self.singles_loop()
        return "\n".join(lines) + "\n"


def script(seed):
    """The text of the script of a seed."""
    return Grow(seed).script()
