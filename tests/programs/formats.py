"""Expressions of grammar 17: formats of run time, tables of characters, items of dicts."""

from __future__ import annotations

SPECS = ("", "5", "<4", "^6", "*>7", "05", "+", " ", "x", "#o", "b", "c", ",", "_d", "e", ".2f",
         "08.3f", "g", "%", ".1", "s", "=6", "z.0f", "q", ".", "08,", "#.0f")  # fmt: skip
CONVERSIONS = ("%s", "%d", "%5d", "%-4d|", "%+.3d", "%05.1f", "%x", "%#o", "%c", "%r", "%.2s", "%%",
               "%e", "%G", "%", "%y", "%(a)s", "%*d")  # fmt: skip
FIELDS = ("{}", "{0}", "{1}", "{:>5}", "{!r}", "{1!s:.1}", "{{}}", "{", "{k}", "{:{}}", "{0:{1}}")


class Formats:
    def text_of_run_time(self, depth: int):
        """A string made by a format or a table of characters that is known at run time only."""
        r = self.r
        s, t = self.string(depth - 1), self.string(0)
        value = r.choice((s, t, self.small(), self.evaluate("({0} * 0.5 - 1.0)", self.small())))
        none = self.evaluate("{0}[:0]", t)  # of which the compiler knows nothing
        which = r.random()
        if which < 0.25:
            return self.evaluate(f"format({{0}}, {{1}} + '{r.choice(SPECS)}')", value, none)
        if which < 0.55:
            text = "".join(r.choice(CONVERSIONS) for _ in range(r.choice((1, 1, 2))))
            pair = r.choice(("({0}, {2})", "({0},)", "{0}"))
            return self.evaluate(f"(({{1}} + '{text}') % {pair})", value, none, self.small())
        if which < 0.75:
            text = "".join(r.choice(FIELDS) for _ in range(r.choice((1, 2))))
            text = text.replace("{", "{{").replace("}", "}}")
            return self.evaluate(f"({{1}} + '{text}').format({{0}}, {{2}})", value, none, t)
        ways = (
            "{0}.translate(str.maketrans('ab', 'éa'))",
            "{0}.translate(str.maketrans({1}, {1}[::-1]))",
            "{0}.translate(str.maketrans('a', 'b', {1}))",
            "{0}.translate({{97: 98, 44: {2} + 60}})",
            "{0}.translate(str.maketrans({{'a': {1}}}))",
            "str(int({1} + '٣'))",
            "str(float('१' + {1}))",
            "str(hash(({2}, {2} * 0.5)) % 1000)",
            "str(({2}, 1.5) in {{1: 1.5, 2: 0.5}}.items())",
        )
        return self.evaluate(r.choice(ways), s, t, self.small())
