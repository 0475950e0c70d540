"""Statements that came into the grammar later, as parts of random scripts: by numbers of their own,
so that what scripts of all seeds held before stays.
"""


class Language:
    """The part of a grower that writes them."""

    def language(self):
        """At times a statement, before the one that follows."""
        if self.alone or self.of_language.random() > 0.12:
            return
        before, self.r = self.r, self.of_language
        self.pick(self.zipped, self.while_else, self.method, self.method, self.copied,
                  self.listed, self.listed, self.churned, self.complexes, self.complexes,
                  self.handed_on, self.stepped, self.singles, self.singles)()  # fmt: skip
        self.r = before

    def _free(self):
        """The name of a counter that no loop around has."""
        free = [c for c in "ijkm" if c not in self.counters]
        return free[0] if free else None

    def _within(self, c, *lines):
        """Lines of a loop over c, and the end of it."""
        self.level += 1
        self.counters.append(c)
        for text in lines:
            self.line(text)
        if self.r.random() < 0.3:
            self.line(f"if {self.condition(0)}:")
            if self.r.random() < 0.5:
                self.line(f"    {self.pick('break', 'continue', self.odd())}")
            else:
                self.line(f"    {self.assignment()}")
        self.line(self.assignment())
        self.counters.pop()
        self.level -= 1

    def _range(self):
        return self.pick(
            "range(9)", "range(3, 40)", "range(30, 2, -3)", "range(n0 % 9, 25)", "range(n1)",
            f"range(0, 50, {self.pick('n0', 'n1', '2', '-1')})", "range(5, 5)", "range(True, 7)",
            "range(y0)", f"range({self.pick('-n1', *self.counters, '2')}, 12)",
        )  # fmt: skip

    def zipped(self):
        """A loop over zip() or enumerate() of ranges."""
        c = self._free()
        if c is None:
            return
        other = self.pick("li", "lf", "fa", "ll", "gi", "r0", "bb", self._range(), self._range())
        name = {"li": "n2", "gi": "n2", "bb": "n2", "ll": "r0"}.get(other, "f0")
        head = self.pick(
            f"{c}, {name} in zip({self._range()}, {other})",
            f"{name}, {c} in zip({other}, {self._range()})",
            f"{c}, n0, {name} in zip({self._range()}, {self._range()}, {other})",
            f"{c}, n0 in enumerate({self._range()}{self.pick('', ', 3')})",
            f"n0, {c} in zip({self._range()}, {self._range()})",
        )
        self.line(f"for {head}:")
        self._within(c)

    def complexes(self):
        """A statement of complex numbers."""
        c, d = self.pick("c0", "c1", "c2"), self.pick("c0", "c1", "c2", "c2", "f0", "n0 % 9", "x0")
        value = self.pick(
            f"{c} * {c} + {d}", f"{c} - {d}", f"{c} / {d}",
            f"{c} ** {self.pick(2, 2, 3, 4, '0.5')}",
            f"-{c}", f"complex({self.floating(0)}, {self.pick('f1', 'n0 % 5', *self.counters)})",
            f"{d} * 0.5j", f"{c} if {self.condition(0)} else {d}", f"{d} - 0.25j", "n1 % 7", "0j",
            f"{c}.conjugate()", f"abs({c}) * 1j",
        )  # fmt: skip
        limit = self.pick("2", "2.0", "f0", "n0 % 5", f"abs({d})", "1")
        to = self.pick("c0", "c1", "c2")
        self.line(self.pick(
            f"{to} = {value}", f"{to} = {value}", f"{to} {self.pick('+', '*', '-', '/')}= {d}",
            f"f1 = {c}.{self.pick('real', 'imag')}", f"if {c}: {to} = {value}",
            f"if abs({c}) {self.pick('>', '<=', '==')} {limit}: {to} = {value}",
            f"if {c} {self.pick('==', '!=')} {d}: n1 += 1", f"c0, c1 = c1, {value}",
        ))  # fmt: skip

    def methods(self):
        """Lines that make a class with methods of numbers, and an object of it."""
        self.has_methods = self.of_language.random() < 0.6
        if not self.has_methods:
            return
        before, self.r = self.r, self.of_language
        what = self.pick("self.f * p", "p + self.n", "self.li[p % 3] - p", "self.n // (p - 7)",
                         "self.n * self.n * p", "self.k + p", "self.np + p",
                         "len(self.li) * p")  # fmt: skip
        test = self.pick("p > 20", "self.b", "p % 3 == self.n % 3", "q")
        odd = self.pick("return p", "return self.f", "print('in', p)", "self.n += 1", "p = p * 2",
                        "raise KeyError(p)", "return self.li")  # fmt: skip
        more = self.pick("q=2", "q", "q=0.5")
        last = self.pick("self.get(p)", "self.get(p, self.n)", "self.get(p, q) + self.f",
                         "self.mix(p - 1) if p > 40 else 1", "self")  # fmt: skip
        kind = self.pick(["    k = 3"], ["    @property", "    def k(self): return 4"],
                         ["    def __getattr__(self, name): return 7"])  # fmt: skip
        for text in (
            "class Om:", *kind, "    def __repr__(self): return 'Om'",
            f"    def get(self, p, {more}):", f"        if {test}:", f"            {odd}",
            f"        return {what}",
            "    def mix(self, p, q=1):",
            f"        w = {last}", f"        return {self.pick('w', 'w * 0.5', 'w + q')}",
            "om = Om()", f"om.n, om.f, om.b = {self.pick('4', '2**62', '0')}, 0.75, True",
            f"om.li, om.np = {self.pick('[3, 1, 2]', '[0.5, 2.0]')}, np.float64(1.5)",
        ):  # fmt: skip
            self.line(text)
        self.r = before

    def method(self):
        """A statement that calls a method, or changes what it reads."""
        if not self.has_methods:
            return
        p = self.pick(self.index(), self.integer(0), self.floating(0), "3")
        q = self.pick("", "", ", 2", ", f0", ", n1")
        self.line(self.pick(
            f"n0 = om.get({p}{q})", f"f0 = om.mix({p}{q})", f"n1 += om.get({p}{q}) % 9",
            f"li[{self.index()}] = om.get({p}{q})", f"f1 = om.mix({p}{q}) + om.n",
            f"if {self.condition(0)}: {self._change()}", f"om.n {self.pick('=', '+=')} 1",
        ))  # fmt: skip

    def _change(self):
        return self.pick(
            "Om.get = lambda self, p, q=3: p - q", "om.get = helper", "om.f = 2", "om.li = [1.5]",
            "om.n = 2.5", "om.b = not om.b", "del om.f", "Om.f = property(lambda self: 2.5)",
            "om.li.append(4)", "om = Om()",
        )  # fmt: skip

    def handed_on(self):
        """A loop whose elements of several arrays depend on the ones before, in any direction."""
        c = self._free()
        if c is None:
            return
        names = ["fa", "fa", "ga", "hb", "hc", "lf", "da", "ll[1]", "ma[1]", "li"]
        a, b = self.pick(*names), self.pick(*names)
        by = self.pick(1, 1, -1, -1, -2, 2)
        head, before = f"range(2, {self.pick(6, 30, 39)})", f"{c} - 1"
        if by < 0:
            head, before = f"range({self.pick(4, 30, 37)}, -1, {by})", f"{c} + {-by}"
        elif by == 2:
            head, before = f"range(2, {self.pick(8, 38)}, 2)", f"{c} - 2"
        e, f = f"{a}[{c}]", f"{b}[{c}]"
        p, q = f"{a}[{before}]", f"{b}[{before}]"
        other = self.pick("hb", "hc", "fa")
        w = self.pick(f"{p} * 0.5", f"{e} - {other}[{c}] * {p}", f"{p} / {other}[{c}]", p)
        z = self.pick(f"{q} - {e}", f"0.7 * {q} + v", f"({f} - {q}) / v", q)
        body = self.pick(
            [f"v = {w}", f"{e} = v", f"{f} = {z}"], [f"{e} = {w}", f"{f} = {z}"],
            [f"{f} = {z}", f"{e} = {w}", f"v = {self.pick(p, q)}"], [f"{e} = {w}", f"v = {p}"],
            [f"{e} = {w}", f"if {f} > 1:", f"    {f} = {z}"],
            [f"{e}, {f} = {w}, {z}"], [f"{e} = {w}", f"{f} += {p}"],
        )  # fmt: skip
        self.line("v = 1.5")
        self.line(f"for {c} in {head}:")
        for text in body:
            self.line(f"    {text}")
        self.line("out.append(v)")

    def stepped(self):
        """A while loop whose indices grow or fall by the same amount each time."""
        c = self._free()
        if c is None:
            return
        a, b = (self.pick("fa", "fa", "ga", "lf", "li", "lb", "ma[1]", "da") for _ in range(2))
        i, j, k = (self.pick(c, c, f"{c} + 1", f"{c} - 1", f"{c} - 2", f"{c} + 3") for _ in "ijk")
        test = self.pick(f" and {a}[{i}] > {self.pick('0.5', 'f0', b + '[' + j + ']')}", "", "")
        if self.r.random() < 0.6:
            start = self.pick("35", "39", "40", "n0 % 50", "-1", "2**62", "n1 - 3")
            test, by = f"{c} {self.pick('>= 0', '> -7', '> 3', '>= -1')}{test}", "-"
            if start in ("2**62", "n1 - 3"):
                test += f" and {c} < 90"
        else:
            start = self.pick("0", "-3", "3", "-41", "n0 % 9")
            most = self.pick("< 39", "< 45", "<= n0", "< len(lf)")
            test, by = f"{c} {most} and {c} < 60{test}", "+"
        body = [f"{b}[{k}] = {a}[{i}]", f"{c} {by}= {self.pick(1, 1, 2, 3)}"]
        if self.r.random() < 0.3:
            then = self.pick("break", f"f0 = {a}[{k}]", "n0 = n0 ^ 1")
            is_so = f"{a}[{j}] {self.pick('<', '>')} {self.floating(0)}"
            body.insert(self.r.randrange(3), f"if {is_so}: {then}")
        self.line(f"{c} = {start}")
        self.line(f"while {test}:")
        for text in body:
            self.line(f"    {text}")
        if self.r.random() < 0.2:
            self.line("else:")
            self.line(f"    n1 = {c} % 5")

    def copied(self):
        """An assignment of a slice of a list to one."""

        def part():
            low = self.pick("", "", "1", "n0 % 4", "-9", *self.counters)
            high = self.pick("", "5", "6", "n0", "-2", *self.counters)
            step = self.pick("", "", "", ":2", ":-1", ":-1")
            name = self.pick("li", "lf", "lb", "lf", "li", "gi", "ll[1]", "ob.li", "r0", "da",
                             "lm[n0 % 5]")  # fmt: skip
            return f"{name}[{low}:{high}{step}]"

        a, b = part(), self.pick(part(), part(), "li", "lf", "r0", "ti")
        if self.r.random() < 0.7:  # of one list
            of = a.partition("[")[0] if not a.startswith(("ll", "lm")) else a[: a.index("]") + 1]
            k = self.pick("3", "n0 % 5", *self.counters)
            pairs = (f"{of}[:{k}]", f"{of}[{k}::-1]"), (f"{of}[:{k}]", f"{of}[{k} - 1::-1]")
            more = (f"{of}[1:{k}]", f"{of}[2:{k} + 1]"), (f"{of}[:]", f"{of}[::-1]")
            last = (f"{of}[:4]", f"{of}[{k}:{k} + 4]"), (f"{of}[:]", of)
            a, b = self.pick(*pairs, *pairs, *more, *last, (f"{of}[4:1:-1]", f"{of}[:3]"))
        self.line(f"{a} = {b}")

    def while_else(self):
        """A while loop with an else."""
        c = self._free()
        if c is None:
            return
        self.line(f"{c} = 0")
        self.line(f"while {c} < {self.pick(4, 9, 40)}{self.pick('', ' and n0 != 77')}:")
        self._within(c, f"{c} += {self.pick(1, 2)}")
        self.line("else:")
        self.level += 1
        self.line(self.assignment())
        if self.r.random() < 0.4:
            leaves = ["break", "continue"] if self.counters else ["pass"]
            self.line(f"if {self.condition(0)}:")
            self.line(f"    {self.pick(*leaves, self.odd(), self.assignment())}")
        self.level -= 1

    def before_singles(self):
        """What makes an array and two numbers of float32."""
        of = self.of_language.choice(("np.arange(40) / 7 - 2", "np.arange(40) * 3e37 - 1e38"))
        s1 = self.of_language.choice(("np.float32(0.1)", "np.float32(3e38)", "0.5"))
        return f"sa = ({of}).astype(np.float32); s0, s1 = np.float32(1.25), {s1}"

    def single(self, depth=2):
        """The text of a float32, or of what it makes with others."""
        if depth == 0 or self.r.random() < 0.25:
            return self.pick("s0", "s1", f"sa[{self.index()}]", f"sa[{self.index()}]")
        a = self.single(depth - 1)
        b = self.pick(
            self.single(depth - 1), self.single(0), self.floating(0), self.integer(0), "0.1", "2",
            "x0", "w1", "w2", "w0", "y0", "b0", f"fa[{self.index()}]", "1e39", "2**53 + 1",
        )  # fmt: skip
        if self.r.random() < 0.3:
            a, b = b, a
        r = self.r.random()
        if r < 0.1:
            return f"np.{self.pick('sqrt', 'abs', 'floor', 'ceil', 'sqrt', 'float64')}({a})"
        if r < 0.2:
            return self.pick(f"np.float32({b})", f"-{a}", f"abs({a})", f"min({a}, {b})",
                             f"({a} if {b} > 1 else {b})")  # fmt: skip
        return f"({a} {self.pick('+', '-', '*', '+', '-', '*', '/', '//', '**')} {b})"

    def singles_loop(self):
        """At times a loop of nothing but such statements, by numbers of its own."""
        c = self._free()
        if c is None or self.of_singles.random() > 0.35:
            return
        before, self.r = self.r, self.of_singles
        self.line(f"for {c} in range({self.pick('35', '60', '1, 39')}):")
        self.level += 1
        self.counters.append(c)
        for _ in range(self.pick(1, 2, 3)):
            self.singles()
        self.counters.pop()
        self.level -= 1
        self.r = before

    def singles(self):
        """A statement of float32."""
        i, sign = self.index(), self.pick("<", ">", "<=", "==", "!=")
        other = self.pick("0.1", "f0", "s1", "n0", "x0", "w2", f"sa[{i}]", "1e39", "2**24 + 1")
        self.line(self.pick(
            f"s0 = {self.single()}", f"s1 = {self.single()}", f"sa[{i}] = {self.single()}",
            f"sa[{i}] {self.pick('+', '-', '*', '/')}= {self.single(1)}", f"x1 = {self.single()}",
            f"s0 {self.pick('+', '-', '*', '/')}= {self.single(1)}",
            f"f0 = float({self.single(1)})",
            f"b0 = {self.single(1)} {sign} {other}", f"fa[{i}] = {self.single(1)}",
            f"if {self.single(1)} {sign} {other}: n1 += 1", f"sa[{i}] = {self.floating(1)}",
            f"n0 = int({self.single(1)})", f"f1 = math.{self.pick('sin', 'floor', 'fabs')}(s0)",
            f"s1 = {self.pick('sum', 'max')}(x * {self.pick('2', 's0', '0.1')} for x in sa)",
            f"if n0 == {i}: lf[{i}] = {self.single(0)}", f"da[{i}] = {self.single(1)}",
            f"sa[{i}] = {other}",
            f"sa[{self.pick('2', i)}:9] = {self.pick('s0', '0.1', 'sa[1]', '3')}",
            f"x1 = {self.pick('fa[2:5]', 'sa[:3]')} * s0", "s0, s1 = s1, s0",
            f"if n0 == {i}: li[{i}] = s0",
        ))  # fmt: skip
