"""Statements that make lists, hold them under several names and hand them on, as parts of random
scripts.
"""


class Lists:
    """The part of a grower that writes them."""

    def before_lists(self):
        """A line that gives the names of lists that loops make what they hold before."""
        of_complex = self.of_language.choice(
            ("0j, 1 + 2j, -0.5 + 0.25j", "3, 4j, 0.5", "1j, 1e200j, x0")
        )
        singles = self.before_singles()
        return f"c0, c1, c2 = {of_complex}; {singles}; qa, qb, qc = " + self.of_language.choice((
            "[1, 2], [0.5], [True]", "li, [3] * 40, lf", "[], [], None", "[5] * 9, [2.5], n0",
        ))  # fmt: skip

    def _make(self, name):
        """The text of a new list."""
        i, p = self.pick("3", *self.counters), self.pick("qa", "qb", "qc", "li", "lf", "r0", "gi",
                                                         "lb", "fa", "ia", "ti")  # fmt: skip
        ints = self.pick(f"x * {i}", f"x % 5 + {i}", f"x ^ {self.integer(0)}", "x", "x > 3",
                         "helper(x)", f"x // ({i} - 4)", f"li[x % 40] - {i}",
                         "x * 2**59")  # fmt: skip
        any_of = self.pick("x + x", f"x * {i}", "x", "x * 0.5", "abs(x)", "x > 1", f"x - {name}[0]",
                           f"x if x > {i} else -x", self.floating(0))  # fmt: skip
        test = self.pick("", "", " if x % 3", f" if x > {i}", f" if {self.condition(0)}")
        n = self.pick("9", "n0 % 12", i, f"{i} % 7")
        return self.pick(
            f"[{ints} for x in range({n}){test}]", f"[{ints} for x in {self._range()}{test}]",
            f"[{any_of} for x in {p}{test}]", f"[{any_of} for x in {p}]",
            f"[x * y for x, y in zip({p}, {self.pick('qa', 'qb', 'lf', self._range())})]",
            f"[{i} + x for {i if i != '3' else 'z'}, x in enumerate({p})]",
            f"[{self.pick('0', '0.5', 'b0', 'n0', 'f0', 'x0')}] * {self.pick(n, 'n2', '-1')}",
            f"[{i}, n0]", f"[{self.integer(0)}] + {p}", f"{p} + [{i}]", "[]",
            f"{n} * [{i}]", f"{p}[:]", f"list({p})", f"{p}.copy()",
            f"{p}[{self.pick('1', '', i)}:{self.pick('9', 'n0', '-1', i)}{self.pick('', ':2')}]",
            f"{p}[::-1]",
        )  # fmt: skip

    def listed(self):
        """Statements that make lists of numbers under names, and read and change them."""
        names = ["qa", "qb", "qc"]
        for _ in range(self.pick(1, 2, 3)):
            p, q = self.r.choice(names), self.r.choice(names)
            i = self.pick("0", "-1", self.index(), f"n0 % (len({p}) + 1)")
            make = self.pick(f"{p} = {self._make(q)}", f"{p} = {self._make(p)}")
            use = self.pick(
                f"{p} = {q}", f"{p}, {q} = {q}, {p}", f"n1 += len({p})", f"f0 = {p}[{i}]",
                f"if {p}: {q} = {p}", f"{p}[{i}] = {self.pick('3', '0.5', f'{q}[{i}]', 'b0')}",
                f"n0 = sum({p})", f"if {p}: f1 = max({p})", f"{p}[{i}] += 1",
                f"if {self.condition(0)}: {p} = {self.pick(self._make(q), 'li', 'None', '[1.5]')}",
                f"{p}[:] = {q}", f"{p}.append({self.pick('1', 'n0', 'f0', 'b0', 'x0')})",
                f"f1 = {p}.pop()", f"if {p}: {p}.pop()", f"r0 = {p}", f"log.append({p} is {q})",
                f"f1 = any({p})",
            )  # fmt: skip
            self.line(self.pick(make, make, use))
            self.line(self.pick(make, use, use))
        c = self._free()
        if c is None or self.r.random() > 0.3:
            return
        p = self.r.choice(names)
        self.line(f"for {self.pick(f'n0 in {p}', f'n1, {c} in enumerate({p})', f'{c} in {p}')}:")
        self._within(c)

    def churned(self, c=None, depth=0):
        """A loop that does nothing but make lists and give them other names; at times it keeps one,
        swaps, drops or returns it, or changes how long it is.
        """
        c = c or self._free()
        if c is None:
            return
        if not depth:
            self.line(self.pick(
                "qa, qb, qc, qd, qk = [3, 1, 2], [5] * 4, li[:6], [], []",
                "qa = qb = li[:5]; qc, qd, qk = [7, 9], [2] * 3, [qa]",
                "qa = qb = qc = qd = [1, 2]; qk = [qb, [3]]",
            ))  # fmt: skip
        count = 60 if depth == 0 else self.pick("3", "2", "len(qa) % 4")
        self.line(f"for {c} in range({count}):")
        self.level += 1
        self.counters.append(c)
        if not depth and self.r.random() < 0.7:  # each name may hold one then
            for p in ("qa", "qb", "qc", "qd"):
                self.line(f"if {c} == 59: {p} = {p}[:]")
        for _ in range(self.pick(3, 4, 5, 6)):
            self.line(self.churn(c))
            if depth < 2 and self.r.random() < 0.08:
                inner = self._free()
                if inner:
                    self.churned(inner, depth + 1)
        self.counters.pop()
        self.level -= 1
        if not depth:
            every = "qa, qb, qc, qd"
            self.line(f"out.append(({every}, qk, [x is y for x in ({every}, *qk) "
                      f"for y in ({every}, *qk)]))")  # fmt: skip

    def churn(self, c):
        """The text of a statement that hands lists on."""
        names = "qa", "qb", "qc", "qd"
        p, q, r = (self.r.choice(names) for _ in range(3))
        at = self.pick(f"{c} == 41", f"{c} == 17", f"{c} == 1", f"{c} % 13 == 5")
        return self.pick(
            f"{p} = [x ^ {c} for x in {q}]", f"{p} = [x + y for x, y in zip({q}, {r})]",
            f"{p} = [{c}] * ({c} % 7)", f"{p} = {q}[{self.pick('1:', '::-1', ':', '-3:')}]",
            f"{p} = {q}", f"{p}, {q} = {q}, {p}", f"{p}, {q}, {r} = {q}, {r}, {p}",
            f"n0 = sum({p}) & 1023",
            f"if {p}: {p}[{self.pick('0', '-1', f'{c} % len({p})')}] = {c}",
            f"{p} = [x & 15 for x in {q} if x != {c}]", f"{p} = list({q})",
            f"if len({p}) > 9: {p} = [{c}, 4][:1]" if self.r.random() < 0.2 else f"{p} = {q}[:5]",
            f"{p} = []", f"{p} = {q} = []" if self.r.random() < 0.1 else f"{p} = []",
            f"{p}.append({self.pick(c, c, f'{c} * 2 - 3', f'len({q})')})",
            f"{p}.append({self.pick(c, 'n0', '0.5', 'b0')})" if self.r.random() < 0.1
            else f"if {c} % 7 == 4: {p} += {q}[:3]",
            f"for x in range({c} % 9): {p}.append(x)",
            f"if {p}: n1 = {p}.pop()", f"if len({p}) > 3: {p}.pop()",
            f"while len({p}) > {self.pick(2, 4)}: n1 = {p}.pop()",
            f"{p} = {self.pick('[0]', '[]', f'[{c}, 1]', f'[len({q})]')} + {q}[:6]",
            f"{p} = {q}[:{self.pick(3, 5)}] + [{c}]{self.pick('', f' + {r}[:4]')}",
            f"{p} = [{c}, n0 & 7, len({q})]",
            f"if {c} % {self.pick(2, 5, 7)} == 3: {p} = {self.pick(q, f'{q}[:]', f'[{c}] * 3')}",
            f"if {at}: {self.kept(c, p, q)}", f"if {at}: {self.kept(c, p, q)}",
        )  # fmt: skip

    def kept(self, c, p, q):
        """The text of what CPython does with a list that was made."""
        ends = ["break"]
        if self.in_function:
            ends += [f"return {p}, {q}, {p} is {q}"]
        return self.pick(
            f"qk.append({p})", f"qk.append({p})", f"qk.append({p}); {q} = {p}", f"qk += [{p}, {q}]",
            f"{p}.append({c})",
            f"{p}, {q} = {q}, qk[0]" if self.r.random() < 0.5 else f"{p} = {q}; qk.append({q})",
            f"out.append(({p}, {q}[:], {p} is {q}))", f"{p} = None", f"{p} = []", f"{p} = [0.5]",
            f"del {p}[:1]", f"{p} += {q}", f"{p} = {p} + {q}", f"qk[-1:] = [{p}]",
            f"{p} = {q}; {q} = None", *ends,
        )  # fmt: skip

    def lists(self):
        """At times such a loop, by numbers of its own."""
        if self.of_lists.random() < 0.4:
            before, self.r = self.r, self.of_lists
            self.churned()
            self.r = before
