"""Loops over many elements whose indices go by the same step, as parts of random scripts."""

_NAMES = "fa", "ga", "lf", "li", "ia", "lb", "ba", "ua", "za", "da", "bb", "sa"
_FLOATS = "fa", "ga", "lf", "da", "hb", "hc"

# The beginning of an element's text, and a number of its type.
_HANDED = (
    *((n, "np.float64(0.5)") for n in ("fa[", "fa[", "ga[", "hb[", "hc[", "ma[1, ", "ma[1][")),
    *((n, "0.5") for n in ("lf[", "lf[", "da[", "df[", "df[", "ll[1][")),
    *((n, "3") for n in ("li[", "ob.li[", "bb[")), ("ia[", "np.int64(3)"),
    ("sa[", "np.float32(0.5)"),
    ("ua[", "np.uint8(3)"), ("ra[", "np.uint32(3)"), ("lb[", "True"), ("lb[", "True"),
    ("ba[", "True"),
)  # fmt: skip


class Strips:
    """The part of a grower that writes such loops."""

    def strip_index(self, c):
        """The text of an index, mostly inside."""
        if self.of_floats == 1 and self.r.random() < 0.9:
            return self.pick(c, c, c, c, f"{c} + 1", f"{c} - 1", "3")
        return self.pick(c, c, c, f"{c} + 1", f"{c} - 1", f"2 + {c}", f"{c} * 2 - 3", f"30 - {c}",
                         f"n1 + {c}", f"{c} % 7", f"-{c}", self.pick("3", "-1", "n1", "n2"),
                         "len(lf) - 1", f"{c} - n1 * 2")  # fmt: skip

    def strip_element(self, c):
        """The text of an element."""
        if self.of_floats == 1 and self.r.random() < 0.8:
            return f"{self.pick(*_FLOATS)}[{self.strip_index(c)}]"
        name = self.pick(*(_FLOATS if self.r.random() < self.of_floats else _NAMES))
        if self.r.random() < 0.2:
            at = self.pick("1", "n1", "-1", "i", c)
            rows = f"{self.pick('ll', 'lm', 'ma')}[{at}][{self.strip_index(c)}]"
            return self.pick(rows, f"ma[{at}, {self.strip_index(c)}]", f"ma[{c}, {at}]")
        return f"{name}[{self.strip_index(c)}]"

    def strip_value(self, c, depth=2):
        """The text of a number."""
        if depth == 0 or self.r.random() < 0.2:
            more = ["n1", c] if self.r.random() > self.of_floats else ["0.5"]
            return self.pick(self.strip_element(c), self.strip_element(c), "x0", "f1", "f2",
                             self.pick("0.5", "1e200"), "x1", "v", *more)  # fmt: skip
        a, b = self.strip_value(c, depth - 1), self.strip_value(c, depth - 1)
        if self.r.random() < (0.2 if self.of_floats < 1 else 0.05):
            return self.pick(f"np.sqrt({a})", f"min({a}, {b})", f"({a} if {b} > 1 else {a})",
                             f"({a} // 3)", f"math.sqrt({a})")  # fmt: skip
        return self.pick(f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} / {b})", f"-{a}",
                         f"abs({a})", f"({a} * 0.5)")  # fmt: skip

    def strip_statement(self, c):
        """The text of a statement."""
        if self.of_floats == 1 and self.r.random() < 0.3:
            other = f"{self.pick('hb', 'hc')}[{c}]{self.pick('', ' * 10.0', ' * x0')}"
            return f"{self.pick(*_FLOATS)}[{c}] {self.pick('+', '-', '*', '/')}= {other}"
        if self.of_floats == 1 and self.r.random() < 0.6:
            sign = self.pick("", "", "+", "-", "/")
            return f"{self.strip_element(c)} {sign}= {self.strip_value(c)}"
        value = self.strip_value(c)
        return self.pick(
            f"{self.strip_element(c)} = {value}", f"{self.strip_element(c)} = {value}",
            f"{self.strip_element(c)} {self.pick('+', '-', '*', '/')}= {value}",
            f"{self.strip_element(c)} = {value}", f"v = {value}", f"x0 = {value}",
            self.pick(f"f1 += {value}", f"n2 ^= {c}"),
            f"{self.strip_element(c)}, {self.strip_element(c)} = {value}, 0.5",
            f"{self.strip_element(c)} = {self.pick('2.5', 'True', '7', c)}",
        )  # fmt: skip

    def fold(self):
        """The text of a sum, or another one of NAMES in loops/folds.py, over items."""
        c = self.pick("q", "q", *self.counters)
        name = self.pick("sum", "sum", "max", "min", "any", "all")
        over = self.pick(
            ("range(9)", c), ("range(n1 % 7, 30, 3)", c), ("li", c), ("lf", c), ("fa", c),
            ("zip(li, lf)", f"{c}, p"), ("enumerate(lb)", f"{c}, p"), ("ia", c), ("r1", c),
            (f"range({self.pick('n0', 'n1', '40', '0')})", c), ("ua", c), ("ob.li", c), ("gi", c),
        )  # fmt: skip
        if self.r.random() < 0.15:
            return f"{name}({self.pick('li', 'lf', 'fa', 'lb', 'gl', 'ga', 'ti', 'da')})"
        value = self.pick(c, f"{c} * 2", f"li[{c} % 9]", f"lf[{c}] * 0.5", f"{c} > 3", "f1",
                          f"{c} - n1", f"{c} * f1", f"{c} ** 2", "x0",
                          f"{c} * n2", f"fa[{c}]")  # fmt: skip
        test = self.pick("", "", f" if {c} > 2", f" if {c} % 2")
        return f"{name}({value} for {over[1]} in {over[0]}{test})"

    def strips(self):
        """At the end of some scripts: several such loops."""
        if self.r.random() < 0.3:
            self.line("n1 = 2")
            for _ in range(self.r.randint(1, 4)):
                self.strip("i")
        if self.of_handed.random() < 0.3:
            # By numbers of its own, so that what scripts of all seeds held before stays.
            before, self.r = self.r, self.of_handed
            for _ in range(self.r.randint(1, 3)):
                self.handed("i")
            self.r = before

    def strip(self, c):
        """Lines of a loop."""
        self.of_floats = self.pick(0.5, 1, 1, 1)
        head = self.pick(
            "range(30)", "range(1, 39)", "range(1, 30)", "range(1, 39)",
            "range(n1, 40)", "range(38, 0, -1)", "range(0, 40, 3)",
            "range(3, 33, n1)", "reversed(range(2, 36))", "range(0, 30)",
        )  # fmt: skip
        self.line("v = 0.5")
        if self.r.random() < 0.2:
            over = self.pick("fa", "lf", "ia", "li", "da")
            start = self.pick("", "", ", 2", ", -1")
            self.line(f"for {c}, {self.pick('x1', 'v')} in enumerate({over}{start}):")
        else:
            self.line(f"for {c} in {head}:")
        self.level += 1
        for _ in range(self.r.randint(1, 3)):
            if self.r.random() < 0.25:
                sign, other = self.pick("<", ">", "!="), self.pick("1", c, "x0")
                self.line(f"if {self.strip_value(c)} {sign} {other}:")
                self.line(f"    {self.strip_statement(c)}")
            else:
                self.line(self.strip_statement(c))
        self.level -= 1

    def handed(self, c):
        """Lines of a loop whose elements depend on the one before; what is stored, or the name of
        it, changes in the same iteration.
        """
        self.of_floats = 1
        name, first = self.pick(*_HANDED)
        at, before = self.pick((c, f"{c} - 1"), (c, f"{c} - 1"), (f"{c} + 1", c))
        e, last = f"{name}{at}]", f"{name}{before}]"
        other = self.pick("1.5", "v", e, f"{self.pick(*_FLOATS)}[{c}]", last)
        if first == "True":
            value, more = self.pick(f"not {last}", f"{last} if {c} % 3 else not {last}"), "False"
        elif "." not in first or "int" in first:
            value, more = self.pick(f"{last} ^ 5", f"({last} + {c}) % 101", f"{last} + 1"), "7"
        else:
            value = self.pick(f"{last} * 0.7 + {other}", f"-0.0 * {last}", f"{other} - {last}")
            more = self.pick("1.25", "-0.0", other)
        held = self.pick("v", "v", "ob.f", "oc.f")
        change = self.pick(f"{held} = {last}", f"{held} = {more}", f"{held} += {e}",
                           f"{held} *= {more}")  # fmt: skip
        test = f"if {self.pick(f'{c} % 3', f'fa[{c}] > 2.0')}:"
        body = self.pick(
            [f"{held} = {value}", f"{e} = {held}", change],
            [f"{held} = {value}", f"{e} = {held}", change],
            [f"{e} = {held}", f"{held} = {value}"],
            [f"{e} = {value}", f"{e} = {more}"],
            [f"{e} = {more}", f"{e} = {value}"],
            [f"{e} = {value}", f"{e} {self.pick('+', '-')}= {more}"],
            [f"{e} += {last}", f"{e} = {value}", f"{held} = {e}"],
            [f"{e} = {value}", f"{test}", f"    {e} = {more}"],
            [f"{test}", f"    {e} = {value}"],
            [f"{test}", f"    {e} = {more}", f"{e} = {value}"],
            [f"{e} = {held} = {value}", change],
            [f"{held}, {e} = {more}, {value}", change],
            [f"{held} = {last}", f"{e} = {value}", f"{held} = {last} + {held}"],
            [f"{e} = {value}"],
        )
        if self.r.random() < 0.2:
            body.insert(self.r.randrange(2) * len(body), self.strip_statement(c))
        self.line("df = array.array('f', [0.3 * k for k in range(40)])")
        self.line(f"v = ob.f = oc.f = {first}")
        self.line(f"for {c} in range({self.pick('1', '1', '2')}, {self.pick('38', '39', '40')}):")
        self.level += 1
        for text in body:
            self.line(text)
        self.level -= 1
        self.line("out.append((df, v))")
