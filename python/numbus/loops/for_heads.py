"""The heads of `for` loops: the bounds of ranges and of what is gone over."""

import ast

from . import heads
from .numbers import INTEGERS, Unsupported

_LIMIT = 1 << 61


class ForHeads:
    """The part of an emitter that emits them."""

    def _of_ranges(self):
        """The names that hold the ranges in the heads of loops over zip() and enumerate()."""
        return [x for loop in self.loops for r in heads.ranges(loop) for x in r]

    @property
    def words(self):
        """How many numbers these are."""
        return len(self._of_ranges())

    def _count(self, part):
        """The text of how many items a part of a loop's head has."""
        if isinstance(part, heads.Numbers):
            return part.count
        array, at = part
        return self.extent(array, at)

    def _bounds_of_range(self, call, names, env):
        """Puts the first number, the count and the step of a range under names."""
        if "range" in self.entry or self.fixed.get("range") != ("call", "range"):
            raise Unsupported("a range() that is not Python's")
        args = [self._kept(self.value(a, env)) for a in call.args]
        for a in args:
            if a.kind not in INTEGERS:
                raise Unsupported("range() of something else than integers")
            self.check(f"{a.text} > {_LIMIT} or {a.text} < {-_LIMIT}")
        texts = [a.text for a in args]
        first, end = ("0", *texts) if len(texts) == 1 else texts[:2]
        step = texts[2] if len(texts) == 3 else "1"
        self.check(f"{step} == 0")
        self.line(f"{names.first} = {first}")
        self.line(f"{names.step} = {step}")
        count = f"({end} - {first} + {step} - (1 if {step} > 0 else -1)) // {step}"
        self.line(f"{names.count} = max({count}, 0)")

    def _range(self, n, env):
        call, backwards = heads.range_of(n.iter)
        for word in ("range", "reversed")[: 1 + backwards]:
            if word in self.entry or self.fixed.get(word) != ("call", word):
                raise Unsupported(f"a {word}() that is not Python's")
        args = [self.value(a, env) for a in call.args]
        for a in args:
            if a.kind not in INTEGERS:
                raise Unsupported("range() of something else than integers")
        texts = [a.text for a in args]
        if len(texts) == 1:
            texts = ["0", *texts]
        step = texts[2] if len(texts) == 3 else "1"
        if is_small(step) and int(step.strip("()")) == 0:
            raise Unsupported("a step of zero")
        for word, text in zip("bes", (*texts[:2], step)):
            self.line(f"{word}{n.at} = {text}")
            if not is_small(text):
                name = f"{word}{n.at}"
                self.check(f"{name} > {_LIMIT} or {name} < {-_LIMIT}")
        if not is_small(step):
            self.check(f"s{n.at} == 0")
        if backwards:
            b, e, s = (self.temporary(f"{word}{n.at}") for word in "bes")
            count = self.temporary(f"({e} - {b} + {s} - (1 if {s} > 0 else -1)) // {s}")
            self.line(f"b{n.at} = {b} + (max({count}, 0) - 1) * {s}")
            self.line(f"e{n.at} = {b} - {s}")
            self.line(f"s{n.at} = -{s}")
        return env

    def _over(self, n, over, env):
        """The bounds of the indices of a loop over items."""
        parts = self._sequences(n, over, env)
        if over.around and self.fixed.get(over.around) != ("call", over.around):
            raise Unsupported(f"a loop over {over.around}(…) that is not Python's")
        if n is not self.loop:
            for r, names in zip(over.ranges, heads.ranges(n)):
                self._bounds_of_range(r, names, env)
            ends = [self._count(p) for p in parts]
            for word, text in zip("bes", ("0", ends[0], "1")):
                self.line(f"{word}{n.at} = {text}")
            for end in ends[1:]:
                self.line(f"e{n.at} = min(e{n.at}, {end})")
        return env

    def _step(self, n):
        """The text of what the number of a loop grows by."""
        if heads.over(n):
            return "1"
        call, backwards = heads.range_of(n.iter)
        text = ast.unparse(call.args[2]) if len(call.args) == 3 else "1"
        known = is_small(text) and not backwards
        return text if known and (n is not self.loop or text == "1") else f"s{n.at}"


def is_small(text):
    try:
        return 0 < abs(int(text)) < 1 << 61 or int(text) == 0
    except ValueError:
        return False
