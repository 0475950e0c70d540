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
        self.pick(self.zipped, self.zipped, self.while_else, self.while_else)()
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
