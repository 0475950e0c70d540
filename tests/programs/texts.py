"""Statements and expressions of grammar 7: strings that are not known while compiling."""

from __future__ import annotations

from .expressions import Reject
from .kinds import is_text

WORDS = ("", "a", "ab", "b,a", "  x y ", "Ab1", "é", "Straße", "中", "12", "-7", "a\\n", "q" * 5)
SAME = ("upper()", "lower()", "title()", "capitalize()", "swapcase()", "strip()", "lstrip()",
        "rstrip()", "casefold()")  # fmt: skip
TESTS = ("isalpha()", "isdigit()", "isalnum()", "isspace()", "isupper()", "islower()", "isascii()",
         "isnumeric()", "isdecimal()", "istitle()", "isprintable()")  # fmt: skip


class Texts:
    def literal_string(self):
        return self.evaluate("'" + self.r.choice(WORDS) + "'")

    def end_of_slice(self):
        return self.r.choice(("", self.small()[0], str(self.r.randint(-4, 4))))

    def string(self, depth: int):
        """An expression of a string."""
        r = self.r
        if depth <= 0 or r.random() < 0.25:
            if r.random() < 0.75 and self.names(is_text):
                return self.variable(is_text)
            return self.literal_string()
        if self.features.formats and r.random() < 0.25:
            return self.text_of_run_time(depth)
        s, t, n = self.string(depth - 1), self.string(depth - 1), self.small()
        which = r.random()
        if which < 0.2:
            return self.evaluate("({0} + {1})", s, t)
        if which < 0.27:
            return self.evaluate("({0} * {1})", s, n)
        if which < 0.34:
            return self.evaluate("{0}[{1}]", s, n)
        if which < 0.46:
            step = r.choice(("", "", ":2", ":-1", f":{r.choice((-3, -2, 3))}"))
            return self.evaluate(f"{{0}}[{self.end_of_slice()}:{self.end_of_slice()}{step}]", s)
        if which < 0.58:
            return self.evaluate("{0}." + r.choice(SAME), s)
        if which < 0.64:
            ways = (
                "{0}.replace({1}, 'z')",
                "{0}.replace('a', {1})",
                "{0}.strip({1})",
                "{0}.removeprefix({1})",
                "{0}.removesuffix({1})",
                "{0}.partition('a')[0]",
            )
            return self.evaluate(r.choice(ways), s, t)
        if which < 0.7:
            ways = ("zfill({1})", "center({1} + 3, '*')", "ljust({1} + 2)", "rjust({1} + 4, '0')")
            return self.evaluate("{0}." + r.choice(ways), s, n)
        if which < 0.76:
            ways = ("str({1})", "str({1} - 9)", "chr(97 + {1})", "str({1} > 1)", "str({1} * 0.5)")
            return self.evaluate(r.choice(ways), s, n)
        if which < 0.88:
            format_ = r.choice(("", "", ":4", ":<3", ":^5", ":02", ":+", ":x"))
            other = r.choice(("", ":>4", ":.2", ":*^6"))
            return self.string_format(s, n, format_, other)
        if which < 0.94:
            ways = ("{1}.join({0}.split())", "{1}.join([{0}, {1}])", "'-'.join({0})",
                    "'+'.join([c + '.' for c in {0}])", "{0}.split(',')[0]")  # fmt: skip
            return self.evaluate(r.choice(ways), s, t)
        return self.evaluate("({0} if {1} > 1 else {2})", s, n, t)

    def string_format(self, s, n, format_, other):
        for text, _ in (s, n):
            if any(c in text for c in "{}\\'\""):
                raise Reject
        return self.evaluate(f"f'{{{{{{0}}{other}}}}}:{{{{{{1}}{format_}}}}}'", s, n)

    def number_string(self, depth):
        """A number or a truth that strings give."""
        if self.scalar or not self.wordy:
            raise Reject
        r = self.r
        s, t = self.string(depth), self.string(0)
        ways = ["len({0})"] * 3 + [
            "({0} == {1})",
            "({0} != {1})",
            "({0} < {1})",
            "({0} >= {1})",
            "({1} in {0})",
            "({1} not in {0})",
            "{0}.find({1})",
            "{0}.rfind({1})",
            "{0}.count({1})",
            "{0}.count('a')",
            "{0}.startswith({1})",
            "{0}.endswith({1})",
            "len({0}.split({1}))",
            "len({0}.split())",
            "(not {0})",
            "bool({0})",
            "({0} in ['a', {1}])",
            "({0}, 1)[1]",
            "len([c for c in {0} if c in {1}])",
        ]
        ways += ["{0}." + r.choice(TESTS)] * 3
        if r.random() < 0.2:
            ways = ["int({0})", "ord({0})", "{0}.index({1})", "int({0}, 16)", "ord({0}[0])"]
        return self.evaluate(r.choice(ways), s, t)

    # ---- statements ------------------------------------------------------------------------------
    def do_string(self):
        if self.scalar or not self.wordy:
            raise Reject
        r = self.r
        which = r.random()
        free = [n for n in self.names(is_text) if n not in self.fixed]
        if free and which < 0.35:
            name = r.choice(free)
            op = r.choice(("+=", "+=", "="))
            return self.change(name, f"{name} {op} {self.string(1)[0]}")
        if which < 0.7:
            return self.simple(f"{self.fresh('s')} = {self.string(2)[0]}")
        if which < 0.85:
            s, t = self.string(1)[0], self.string(0)[0]
            ways = (
                f"{s}.split()",
                f"{s}.split(',')",
                f"[{s}, {t}]",
                f"[c for c in {s}]",
                f"list({s})",
                f"[{t}] + [{s}]",
                f"{s}.rsplit(None, 1)",
                f"{s}.splitlines()",
            )
            return self.simple(f"{self.fresh('w')} = {r.choice(ways)}")
        words = self.lists_of_strings()
        name = r.choice(words)
        s = self.string(1)[0]
        ways = (f"{name}.append({s})", f"{name}.insert(0, {s})", f"{name}[0] = {s}",
                f"{name}.extend({s}.split())", f"{name}.reverse()", f"{name}.pop()")  # fmt: skip
        return self.change(name, r.choice(ways))

    def lists_of_strings(self):
        found = self.names(lambda v: isinstance(v, list) and v and is_text(v[0]))
        found = [n for n in found if n not in self.fixed]
        if not found:
            raise Reject
        return found

    def over_string(self, target: str):
        """A loop over characters, words or a list of strings."""
        s = self.string(1)
        if not s[1] or any(c in s[0] for c in "\\"):
            raise Reject
        which = self.r.random()
        if which < 0.5:
            return target, s[0], {target: s[1][0]}
        if which < 0.75:
            other = self.fresh("i")
            return f"{target}, {other}", f"enumerate({s[0]})", {target: 0, other: s[1][0]}
        if not s[1].split():
            raise Reject
        return target, f"{s[0]}.split()", {target: s[1].split()[0]}


__all__ = ["Texts"]
