"""Functions of numbers, which loops call, as parts of random scripts."""


class Functions:
    """The part of a grower that writes them."""

    def function(self, name):
        """A function of numbers, which a loop may call, with what CPython has to do under an if."""
        count = self.r.randint(1, 3)
        before = self.ints, self.floats, self.bools, self.numpys, self.counters, self.budget
        self.ints = ("p0", "p2")[: (count + 1) // 2]
        self.floats = ("p1", "w") if count > 1 else ("w",)
        self.bools, self.counters, self.alone, self.budget = ("True", "False"), [], True, 3
        given = [f"p{k}" for k in range(count)]
        if self.r.random() < 0.4:
            given[-1] += f"={self.pick('2', '0.25', 'SCALE', 'True', '3')}"
            self.defaults.add(name)
        self.line(f"def {name}({', '.join(given)}):")
        self.level += 1
        if self.r.random() < 0.3:
            self.line("'What it does.'")
        self.line(f"w = {self.pick('0.5', 'SCALE', f'{self.ints[0]} * 0.5', '1')}")
        changes = self.r.random() < 0.1
        if changes:
            self.lines.insert(len(self.lines) - 1, "    global SCALE")
        for _ in range(self.r.randint(0, 3)):
            r = self.r.random()
            value = self.pick(self.integer, self.floating)
            if r < 0.4:
                self.line(f"{self.pick('w', *self.ints, *self.floats)} = {value(1)}")
            elif r < 0.7:
                self.line(f"if {value(1)} {self.pick('<', '>', '==')} {value(1)}:")
                odd = self.pick(
                    f"return {value(1)}", f"return {value(1)}", "w = 2.5", "raise KeyError(p0)",
                    "print('in', p0)", "return None", f"return {self.pick(*self.ints)}", "del w",
                    "SCALE = 0.75" if changes else "w += 1.0",
                )  # fmt: skip
                self.line(f"    {odd}")
            else:
                c = "k"
                self.line(f"for {c} in range({self.pick('3', 'abs(p0) % 5', '4, 0, -1')}):")
                self.line(f"    w += {self.pick(c, '0.5', f'{c} * 0.25', 'p0')}")
                if self.r.random() < 0.4:
                    self.line(f"    if w > {self.pick('2', '9.5', 'p0')}:")
                    self.line(f"        {self.pick('break', 'continue', 'return w', 'return 1.5')}")
        self.line(f"return {self.pick('w', '0.5 * w', self.floating(1), self.integer(1))}")
        self.level -= 1
        if self.r.random() < 0.15:  # as a closure over a number
            self.enclose(name)
        self.ints, self.floats, self.bools, self.numpys, self.counters, self.budget = before
        self.alone = False
        self.functions.append((name, count))

    def enclose(self, name):
        """Puts the function, which ends here, into another one that holds SCALE."""
        start = max(k for k, x in enumerate(self.lines) if x.startswith(f"def {name}("))
        body = [f"    {x}" for x in self.lines[start:] if "global" not in x]
        value = self.pick("0.75", "2", "-3.5")
        head = [f"def make_{name}(SCALE):"]
        self.lines[start:] = [*head, *body, f"    return {name}", f"{name} = make_{name}({value})"]
