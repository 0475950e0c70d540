"""Innermost loops by strips: their checks are made before the loop, and after each strip.

That indices are inside is asked for the loop's first and last iteration, as they change by the same
amount in each. Whether results are certain (finite, in 64 bits) is gathered over a strip, so that
the compiler can make vectors of it: where one was not, what the strip has stored is put back, and
its iterations are carried out one by one with all checks, one of which leaves the code. So they are
where an index may be outside.
"""

import ast
import re

from . import heads, numbers, select
from .numbers import Value

LENGTH = 512  # iterations of a strip that may have to be put back
_LONGEST = 1 << 16  # of others: between two looks for Ctrl-C
FEWEST = 16  # iterations that the questions before the loop are worth
_MOST_STATEMENTS = 12
_INDENT = "    "


class NotStripped(Exception):
    """A loop is carried out one by one."""


def may_be(loop):
    """Whether a loop's text allows for strips: an innermost one of assignments and conditions."""
    if not isinstance(loop, ast.For) or select.is_tiny(loop):
        return False
    statements = [n for s in loop.body for n in ast.walk(s) if isinstance(n, ast.stmt)]
    return len(statements) <= _MOST_STATEMENTS and all(
        isinstance(n, (ast.Assign, ast.AugAssign, ast.If, ast.Pass)) and not n.opaque
        for n in statements
    )


class Strips:
    """The part of an emitter that makes checks, and loops with few of them."""

    short = frozenset()  # lines of loops that are not worth it
    logs = ()  # (name, type of elements) of arrays for what strips have stored over
    _mode = None  # what becomes of checks, besides leaving: "before", "covered", "strip"

    def check(self, condition, later=False):
        """Leaves before the present statement where the condition holds. later: what follows has no
        effect then that cannot be put back.
        """
        if self._mode is None:
            self.line(f"if {condition}:")
            self.level += 1
            self.leave(self.at)
            self.level -= 1
        elif self._mode == "before":
            self.line(f"fast_ &= int(not ({condition}))")
        elif self._mode == "strip":
            if not later:
                raise NotStripped
            self._defers = True
            if "_overflows" in condition:  # of which no vectors are made
                self._put([f"if {condition}:", f"{_INDENT}bad_ = 1", f"{_INDENT}break"])
            else:
                self.line(f"bad_ |= int({condition})")

    @property
    def checks_now(self):
        """Whether what follows a check is not carried out where its condition holds."""
        return self._mode is None

    def divisor(self, text):
        """The text of a float that is not zero."""
        self.check(f"{text} == 0.0", True)
        return text

    def by_strips(self, n, env, step, first):
        """Has a loop whose lines begin with the number `first` go by strips, where it may."""
        before = self.lines[:first], self.level, self.temporaries, self.logs
        checked = self.lines[first:]
        self.lines = before[0].copy()
        try:
            self._emit_strips(n, env, step, checked)
        except (NotStripped, numbers.Unsupported):
            _, self.level, self.temporaries, self.logs = before
            self.lines = [*before[0], *checked]
        finally:
            self._mode = None

    def _emit_strips(self, n, env, step, checked):
        at, over = n.at, heads.over(n)
        self._changed, names = set(select.assigned(n)), heads.targets(n)
        self._varying = names[0] if not over or over.around == "enumerate" else None
        if any(name in select.assigned(s) for name in names for s in n.body) or not _stored(n):
            raise NotStripped
        added = f" + {over.start}" if over and over.start else ""
        self._before, self._fixed, self._known, self._views = [], [], {}, {}
        self._along = {}  # by an array and all indices but one: the ones met, with their parts
        self._handed = {}  # by such: the element that the iteration before has stored
        self._strip = n, step, added
        self._ends = f"b{at}{added}", f"z{at}{added}"
        self._defers, self._mode = False, "strip"
        self._after = []
        env = dict(env)
        times = "" if step == "1" else f" * {step}"

        def body():
            self.line(f"k{at} = c{at} + x{at}{times}")
            if over:
                env.update(self._items(n, over, env))
            else:
                self._set(self._varying, Value(f"k{at}", "i"))
                env[self._varying] = frozenset("i")
            self._statements(n.body, env)

        strip, first = self._apart(body), []
        self._env = env
        stored = {self._parameter(t, env) for t in _stored(n)}
        # Elements elsewhere in an array that is stored to are read from memory.
        kept = {self._line_of(t, env) for t in _stored(n)}
        again = [of for of, met in self._along.items() if len(met) > 1 and of in kept]
        if again:  # elements before or after, so that no vectors can be made of it
            handed = self._handed_on(n, again, stored)
            first += [x for _, _, before in handed for x in before]
            # What memory holds at the end, however it came there: names that were stored may hold
            # something else by then, and a store may round.
            self._after = []
            strip = self._apart(body)
            for p, element, _ in handed:
                _hand_on(strip, p, element)
        saves, restores = self._undone(n, env) if self._defers else ([], [])
        self._mode = None
        if step == "1":
            self.line(f"w{at} = e{at} - b{at}")
        else:
            self._put([
                f"w{at} = e{at} - b{at} if {step} > 0 else b{at} - e{at}",
                f"if w{at} > 0:",  # else it is not divided, which takes longer than all the rest
                f"{_INDENT}w{at} = (w{at} - 1) // abs({step}) + 1",
            ])  # fmt: skip
        self.line(f"z{at} = b{at} + (w{at} - 1) * {step}")
        self.line(f"c{at} = b{at}")
        self._put(self._fixed)
        self.line(f"fast_ = int(w{at} >= {FEWEST})")
        self.block("if fast_ != 0:")
        self._put([*self._before, "pass"])
        self.end()
        self.line(f"f{at} = fast_")
        self.block(f"while w{at} > 0:")
        self._put([f"if f{at} != 0 and interrupted():", f"{_INDENT}f{at} = 0"])
        most = LENGTH if self._defers else _LONGEST
        self.line(f"m{at} = min(w{at}, {most}) if f{at} != 0 else w{at}")
        self.line(f"d{at} = c{at} + m{at}{times}")
        self.line("bad_ = 1")
        self.block(f"if f{at} != 0:")
        for lines, _ in self._views.values():
            self._put(lines)
        self._put([*first, *saves, "bad_ = 0", f"for x{at} in range(m{at}):"])
        self._put([_INDENT + x for x in strip])
        self._put(self._after)
        if self._defers:
            self.block("if bad_ != 0:")
            self._put(restores)
            self.end()
        self.end()
        self.block("if bad_ != 0:")
        outer = _INDENT * (self.level - 2)
        is_head = f"{outer}for k{at} in range("
        by = "" if step == "1" else f", {step}"
        head = f"for k{at} in range(c{at}, d{at}{by}):"
        self._put([head if x.startswith(is_head) else x[len(outer) :] for x in checked])
        self.end()
        self._put([f"c{at} = d{at}", f"w{at} -= m{at}"])
        self.end()

    def _apart(self, emit):
        """The lines that emit() gives, for any level."""
        lines, level = self.lines, self.level
        self.lines, self.level = [], 0
        try:
            emit()
            return self.lines
        finally:
            self.lines, self.level = lines, level

    def _put(self, lines):
        self.lines += [_INDENT * self.level + x for x in lines]

    def _undone(self, n, env):
        """(lines before a strip, lines after one that has failed)."""
        at = n.at
        saves, restores, names = [], [], []
        for name in sorted(self._changed):
            for part in ("t", *sorted(self.stores[name])):
                saves.append(f"o_{name}_{part} = {name}_{part}")
                names.append(f"{name}_{part} = o_{name}_{part}")
        for target in _stored(n):
            read = {x.id for x in ast.walk(target) if isinstance(x, ast.Name)}
            if read & (self._changed - {self._varying}):
                raise NotStripped
            found = []
            if self._apart(lambda t=target, f=found: f.extend(self._element(t, env))):
                raise NotStripped  # one whose index is computed in each iteration
            array, text = found[0], f"{found[0][5]}[{found[1]}]"
            letter = "i" if array[6] == "bools" else array[1]
            convert = "float" if letter in numbers.FLOATS else "int"
            put = "bool({} != 0)" if letter in "bB" else "{}"
            if self._varying not in read:
                self.temporaries += 1
                saves.append(f"t{self.temporaries} = {convert}({text})")
                restores.append(f"{text} = {put.format(f't{self.temporaries}')}")
                continue
            log = f"log{len(self.logs)}_"
            self.logs = (*self.logs, (log, "np.float64" if convert == "float" else "np.int64"))
            for to, last in ((saves, f"{log}[x{at}] = {convert}({text})"),
                             (restores, f"{text} = {put.format(f'{log}[x{at}]')}")):  # fmt: skip
                to += [f"for x{at} in range(m{at}):", f"{_INDENT}{last}"]
        return saves, restores + names

    def _handed_on(self, n, again, stored):
        """Has each iteration get what the one before has stored from it, rather than read it:
        (name, text of the element that is stored, lines that give the one before the first
        iteration) for each; without a text the array's one element that is stored.
        """
        arrays = {of[0] for of in again}
        if len(arrays) != len(again) or len(list(_stored(n))) != len(stored):
            raise NotStripped  # several elements of one array
        shared = self.fixed["&"][1]
        for a in arrays if len(stored) > 1 else ():
            # What another name stores must be somewhere else.
            known = self.by_parameter[a][6] in (*numbers.ARRAYS, "list")
            if not known or any((a, b) in shared for b in stored):
                raise NotStripped
            if any(self.by_parameter[b][6] == "items" for b in stored):
                raise NotStripped
        return [self._handed_one(n, of) for of in again]

    def _handed_one(self, n, of):
        met, targets = self._along[of], [t for t in _stored(n) if self._base(t) == of[0]]
        if len(targets) != 1:
            raise NotStripped
        written = {ast.unparse(i) for i in _items(targets[0])} & set(met)
        if len(written) != 1:
            raise NotStripped
        (text,) = written
        by = _step_of(n)
        nodes = {t: ast.parse(t, mode="eval").body for t in met}
        offsets = {t: offset_of(nodes[t], self._varying) for t in met}
        if by is None or offsets[text] is None:
            raise NotStripped
        before = [t for t, k in offsets.items() if k is not None and k + by == offsets[text]]
        if len(before) != 1:
            raise NotStripped
        name = f"p{n.at}_{len(self._handed)}"
        self._handed[of] = before[0], name
        if met[text] is not None and met[before[0]] is not None:
            lines = [f"{name} = {met[before[0]][5]}[0]"]
            return name, f"{met[text][5]}[x{n.at}]", lines
        array, _, *index = of
        added = self._strip[2]

        def first():
            self.line(f"{self._varying}_i = c{n.at}{added}")
            index[of[1]] = self.temporary(self._integer(nodes[before[0]], self._env))
            self.line(f"{name} = {array}[{', '.join(index)}]")

        self._mode, mode = "covered", self._mode
        lines = self._apart(first)
        self._mode = mode
        if self._strip[1] != str(by):  # of the outermost loop, whose range is known at the entry
            self._before.append(f"fast_ &= int({self._strip[1]} == {by})")
        return name, f"{array}[", lines

    def _line_of(self, target, env):
        """The array and all indices of an element but the one that varies; None where none does."""
        self._met = None
        self._apart(lambda: self._element(target, env))
        return self._met

    def settled_sum(self, target, array, index, value):
        """Has an element that a strip only adds to asked about after the strip: once it is not
        finite, it stays so. Whether it was possible.
        """
        n = self._strip[0] if self._mode == "strip" else None
        if n is None or not value.open or {value.kind, array[1]} - {*"FG"}:
            return False
        stores = [x for s in n.body for x in ast.walk(s)
                  if isinstance(x, ast.Subscript) and isinstance(x.ctx, ast.Store)]  # fmt: skip
        if len(stores) != 1 or self._varies(target):
            return False
        text = f"abs(float({array[5]}[{index}])) <= {numbers.LARGEST}"
        self._after.append(f"bad_ |= int(not ({text}))")
        self._defers, value.open = True, False
        return True

    def _base(self, target):
        """The parameter that a target's array is."""
        return self._parameter(target, self._env)

    def _parameter(self, target, env):
        """The name of the array that an element belongs to."""
        while isinstance(target, ast.Subscript):
            target = target.value
        if isinstance(target, ast.Name) and target.id in self.entry:
            array, _ = self._row_of(target.id, env)
        else:
            array = self._array(target)
        if array is None or array[6] == "made":
            raise NotStripped
        return array[5]

    def element_in_strip(self, array, at, items, env):
        """(array, index) of an element in a strip, which is inside: of a part of an array, where
        its elements follow each other.
        """
        if array[6] == "made":
            raise NotStripped
        n, step, _ = self._strip
        index, along = list(at), None
        for axis, item in enumerate(items, len(at)):
            index.append(self._index(array, axis, item, env))
            if index[-1] is None:
                if along is not None:  # as in a[i, i]
                    raise NotStripped
                along = axis, item
        if along is None:
            return array, ", ".join(index)
        axis, item = along
        of, text = (array[5], axis, *index), ast.unparse(item)
        self._met = of
        met = self._along.setdefault(of, {})
        if self._handed.get(of, ("",))[0] == text:
            return (*array[:5], self._handed[of][1], *array[6:]), None
        met.setdefault(text, None)
        if step != "1" or not _is_shifted(item, self._varying):
            self._mode, mode = "covered", self._mode  # as it was asked at both ends
            index[axis] = self.temporary(self._integer(item, env))
            self._mode = mode
            return array, ", ".join(index)
        key = array[5], *index[:axis], ast.unparse(item), *index[axis + 1 :]
        if key not in self._views:
            name = f"v{n.at}_{len(self._views)}"

            def first():
                self.line(f"{self._varying}_i = c{n.at}{self._strip[2]}")
                t = self.temporary(self._integer(item, env))
                index[axis] = f"{t}:{t} + m{n.at}"
                self.line(f"{name} = {array[5]}[{', '.join(index)}]")

            self._mode, mode = "covered", self._mode
            self._views[key] = self._apart(first), name
            self._mode = mode
        met[text] = (*array[:5], self._views[key][1], *array[6:])
        return met[text], f"x{n.at}"

    def _index(self, array, axis, item, env):
        """The name of an index that is inside; None where it is another one in each iteration."""
        if not self._is_affine(item):
            raise NotStripped
        key, fixed, mode = (array[5], axis, ast.unparse(item)), not self._varies(item), self._mode
        if key not in self._known:
            self._known[key] = f"i{len(self._known)}_" if fixed else None
            self._mode = "before"
            self._before += self._apart(lambda: self._ask(array, axis, item, env, fixed))
            self._mode = mode
            if fixed:
                name = self._known[key]
                self._fixed.append(f"{name} = 0")
                self._before.append(f"{name} = t{self.temporaries}")
        return self._known[key]

    def _ask(self, array, axis, item, env, fixed):
        """Asks at both ends whether an index is inside, and all that computing it asks."""
        extent = f"{array[5]}_{axis}"
        for end in self._ends[: 1 if fixed else 2]:
            if not fixed:
                self.line(f"{self._varying}_i = {end}")
            i = self.temporary(self._integer(item, env))
            if fixed:
                self._put([f"if {i} < 0:", f"{_INDENT}{i} += {extent}"])
            self.check(f"{i} < 0 or {i} >= {extent}")

    def _integer(self, item, env):
        v = self.value(item, env)
        if v.kind not in numbers.INTEGERS:
            raise NotStripped
        return v.text

    def _varies(self, n):
        return any(isinstance(x, ast.Name) and x.id == self._varying for x in ast.walk(n))

    def _is_affine(self, n):
        """Whether an index changes by the same amount in each iteration."""
        if isinstance(n, ast.Constant):
            return True
        if isinstance(n, ast.Name):
            return n.id == self._varying or n.id not in self._changed
        if isinstance(n, ast.Attribute):
            return isinstance(n.value, ast.Name)
        if isinstance(n, ast.UnaryOp):
            return isinstance(n.op, ast.USub) and self._is_affine(n.operand)
        if not isinstance(n, ast.BinOp) or not isinstance(n.op, (ast.Add, ast.Sub, ast.Mult)):
            return False
        if isinstance(n.op, ast.Mult) and self._varies(n.left) and self._varies(n.right):
            return False
        return self._is_affine(n.left) and self._is_affine(n.right)


def _hand_on(lines, name, element):
    """Puts the line that hands an element on directly after the one that stores it, so that it is
    known there without a look at memory; at the end, where that may be another one.
    """
    is_part = not element.endswith("[")
    head = f"{element} = " if is_part else element
    stores = [k for k, x in enumerate(lines) if x.lstrip().startswith(head)]
    is_one = len(stores) == 1 and lines[stores[0]][0] != " "
    at = stores[0] + 1 if is_one else len(lines)
    if not is_part:
        if not is_one:
            raise NotStripped
        element = lines[stores[0]].partition(" = ")[0]
    if any(re.search(rf"\b{name}\b", x) for x in lines[at:]):
        at = len(lines)
    lines.insert(at, f"{name} = {element}")


def _step_of(loop):
    """What the number of a loop grows by; None where its text does not tell."""
    if heads.over(loop):
        return 1
    call, backwards = heads.range_of(loop.iter)
    step = call.args[2] if len(call.args) == 3 else ast.Constant(1)
    sign = 1
    if isinstance(step, ast.UnaryOp) and isinstance(step.op, ast.USub):
        sign, step = -1, step.operand
    known = isinstance(step, ast.Constant) and type(step.value) is int and not backwards
    return sign * step.value if known else None


def _is_shifted(n, name):
    """Whether an index is the number of the loop, and something that is the same throughout."""
    if isinstance(n, ast.Name):
        return n.id == name
    if not isinstance(n, ast.BinOp) or not isinstance(n.op, (ast.Add, ast.Sub)):
        return False
    left = any(isinstance(x, ast.Name) and x.id == name for x in ast.walk(n.left))
    if isinstance(n.op, ast.Sub) and not left:
        return False
    right = any(isinstance(x, ast.Name) and x.id == name for x in ast.walk(n.right))
    return not (left and right) and _is_shifted(n.left if left else n.right, name)


def _items(target):
    """The nodes of all indices of `a[i][j]` and `a[i, j]`."""
    found = []
    while isinstance(target, ast.Subscript):
        of = target.slice
        found[:0] = of.elts if isinstance(of, ast.Tuple) else [of]
        target = target.value
    return found


def offset_of(n, name):
    """What is added to the number of the loop in an index; None where it is no constant."""
    if isinstance(n, ast.Name) and n.id == name:
        return 0
    if not isinstance(n, ast.BinOp) or not isinstance(n.op, (ast.Add, ast.Sub)):
        return None
    if not isinstance(n.right, ast.Constant) or offset_of(n.left, name) is None:
        return None
    return offset_of(n.left, name) + n.right.value * (1 if isinstance(n.op, ast.Add) else -1)


def _stored(loop):
    """The elements that a loop assigns to, each once."""
    found = {}
    for s in loop.body:
        for n in ast.walk(s):
            if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store):
                found[ast.unparse(n)] = n
    return found.values()
