"""Innermost `while` loops with a name that grows, or falls, by the same amount in each iteration.

Indices that are this name and a constant have their greatest, or least, value in the first
iteration, so that one of the two bounds is asked about before the loop. Where that fails, the loop
asks in each iteration. Where the first condition of the loop compares the name with what stays as
it is (`while j >= 0 and …`), it is known how many iterations there are at most: both bounds are
asked about before the loop, and Ctrl-C after many of them.
"""

import ast
import copy

from . import numbers, select
from .strips import offset_of

_MOST_STATEMENTS = 12
_LARGEST = 1 << 20  # of what is added
_LONGEST = 1 << 16  # iterations between two looks for Ctrl-C
_FEW = 1 << 6  # the same, where one may take long
_LONG = ast.Call, ast.Slice, ast.MatMult, ast.comprehension
_LIMIT = 1 << 61  # of numbers that are counted
_FLIPPED = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}


class Bounded:
    """The part of an emitter that emits them."""

    # By array, axis and text of an index: which bound is known, "low" or "high", and the text of
    # the index where it does not overflow.
    bounded = {}  # noqa: RUF012
    stepped = None  # the statement by which the name of a counted loop grows: it does not overflow
    counted = None  # the counted loop whose body is being emitted

    def by_bounds(self, n, head, first):
        """Puts a loop, whose lines begin with the number `first`, beside one with fewer checks."""
        if self._counted(n, head, first):
            return
        found, conditions = self._found(n, head)
        if not found:
            return
        checked = self.lines[first:]
        del self.lines[first:]
        before, self.bounded = self.bounded, found
        self.block(f"if {' and '.join(sorted(conditions))}:")
        self.open.append(([], [], n))
        try:
            self._while_body(n, head)
        finally:
            self.open.pop()
            self.bounded = before
        self.end()
        self.line("else:")
        self.lines += ["    " + x for x in checked]

    def _counted(self, n, head, first):
        """The same for a loop of which it is known how many iterations it has at most."""
        test = n.test.values if isinstance(n.test, ast.BoolOp) else [n.test]
        if isinstance(n.test, ast.BoolOp) and not isinstance(n.test.op, ast.And):
            return False
        if not _is_simple(n) or any(isinstance(x, ast.Continue) for s in n.body
                                    for x in ast.walk(s)):  # fmt: skip
            return False
        for s in n.body:
            name, by = _stepped(s)
            if name is None or not _is_only_store(n, name) or head.get(name) != frozenset("i"):
                continue
            bound, added = _bound(test[0], name, by)
            if bound is not None and self._stays(bound, n):
                break
        else:
            return False
        checked = self.lines[first:]
        del self.lines[first:]
        at, temporaries = n.at, self.temporaries
        self.line("fast_ = 1")
        self._mode = "before"
        try:
            value = self.value(bound, head)
        except numbers.Unsupported:
            value = None
        self._mode = None
        if value is None or value.kind != "i":
            self.temporaries = temporaries
            self.lines[first:] = checked
            return False
        j, size = f"{name}_i", abs(by)
        self.line(f"n{at} = {value.text}")
        for x in (j, f"n{at}"):
            self.line(f"fast_ &= int({x} <= {_LIMIT} and {x} >= {-_LIMIT})")
        most = f"{j} - n{at} + {added}" if by < 0 else f"n{at} - {j} + {added}"
        self.line(f"w{at} = ({most} + {size - 1}) // {size}")
        self.line(f"z{at} = {j} + (w{at} - 1) * {by}")
        self.line(f"fast_ &= int(w{at} > 0)")
        found, ends = {}, (f"z{at}", j) if by < 0 else (j, f"z{at}")
        for array, axis, item, offset, is_after in self._indices(n, name, s):
            key = array[5], axis, ast.unparse(item)
            found[key] = "both", f"{j} + {offset}"
            shift = offset + (by if is_after else 0)
            self.line(f"fast_ &= int({ends[0]} + {shift} >= 0)")
            self.line(f"fast_ &= int({ends[1]} + {shift} < {array[5]}_{axis})")
        self.block("if fast_ != 0:")
        before = self.bounded, self.stepped, self.counted
        self.bounded, self.stepped, self.counted = found, (s, name, by), n
        self.open.append(([], [], n))
        try:
            self._counted_body(n, head, test[1:])
        finally:
            self.open.pop()
            self.bounded, self.stepped, self.counted = before
        self.end()
        self.line("else:")
        self.lines += ["    " + x for x in checked]
        return True

    def _counted_body(self, n, env, test):
        at = n.at
        self.block("while True:")
        self.at = at
        self.check("interrupted()")
        self.line(f"u{at} = 0")
        may_be_long = any(isinstance(x, _LONG) for part in (n.test, *n.body)
                          for x in ast.walk(part))  # fmt: skip
        self.line(f"m{at} = min(w{at}, {_FEW if may_be_long else _LONGEST})")
        self.block(f"for x{at} in range(m{at}):")
        if test:
            rest = copy.copy(n)
            rest.test = test[0] if len(test) == 1 else ast.BoolOp(ast.And(), test)
            c = self._condition(rest, env)
            self.block(f"if not {c}:")
            self.line(f"u{at} = 1")
            self.line("break")
            self.end()
        self._statements(n.body, env)
        self.end()
        self.line(f"w{at} -= m{at}")
        self.block(f"if u{at} != 0 or w{at} <= 0:")
        self.line("break")
        self.end()
        self.end()

    def step(self, env):
        """The statement by which the name of a counted loop grows."""
        _, name, by = self.stepped
        self.line(f"{name}_i += {by}")
        self.line(f"{name}_t = {numbers.CODES['i']}")
        return {**env, name: frozenset("i")}

    def _stays(self, bound, n):
        """Whether an expression is the same, and as cheap to know, all through a loop."""
        changed = set(select.assigned(n))
        for x in ast.walk(bound):
            if isinstance(x, ast.Call):
                of = self._array(x.args[0]) if len(x.args) == 1 else None
                is_len = isinstance(x.func, ast.Name) and x.func.id == "len" and not x.keywords
                if not is_len or of is None or of[6] in ("grows", "made"):
                    return False
            elif isinstance(x, ast.Name):
                if x.id in changed:
                    return False
            elif isinstance(x, ast.Constant):
                if type(x.value) is not int:
                    return False
            elif not isinstance(x, (ast.BinOp, ast.Add, ast.Sub, ast.expr_context)):
                return False
        return True

    def _indices(self, n, name, stepped):
        """(array, axis, index, what it adds to the name, whether it comes after the statement by
        which the name grows) of the elements of a loop whose index is the name and a constant.
        """
        is_after = False
        for part in (n.test, *n.body):
            for x in ast.walk(part):
                array = self._array(x.value) if isinstance(x, ast.Subscript) else None
                if array is None or array[6] not in (*numbers.ARRAYS, "list", "bools", "items"):
                    continue
                items = x.slice.elts if isinstance(x.slice, ast.Tuple) else [x.slice]
                for axis, item in enumerate(items):
                    added = offset_of(item, name)
                    if added is not None and abs(added) <= _LARGEST and axis < array[3]:
                        yield array, axis, item, added, is_after
            is_after |= part is stepped

    def _found(self, n, head):
        """The indices of which one bound is known, and what has to hold before the loop."""
        found, conditions = {}, set()
        if not _is_simple(n):
            return found, conditions
        for s in n.body:
            name, by = _stepped(s)
            if name is None or not _is_only_store(n, name) or head.get(name) != frozenset("i"):
                continue
            for array, axis, item, added, _ in self._indices(n, name, s):
                key = array[5], axis, ast.unparse(item)
                if by < 0:
                    found[key] = "high", f"{name}_i + {added}" if added >= 0 else None
                    conditions.add(f"{name}_i < {array[5]}_{axis} - ({added})")
                else:
                    found[key] = "low", f"{name}_i - {-added}" if added <= 0 else None
                    conditions.add(f"{name}_i >= {-added}")
        return found, conditions


def _stepped(s):
    """(name, by how much it grows) of `name += constant`; no name for other statements."""
    if not isinstance(s, ast.AugAssign) or not isinstance(s.target, ast.Name):
        return None, 0
    known = isinstance(s.value, ast.Constant) and type(s.value.value) is int
    if not known or not isinstance(s.op, (ast.Add, ast.Sub)) or not 0 < s.value.value <= _LARGEST:
        return None, 0
    return s.target.id, s.value.value if isinstance(s.op, ast.Add) else -s.value.value


def _is_simple(loop):
    """Whether it is a short loop with no other inside, of which nothing is left to CPython."""
    statements = [s for b in loop.body for s in ast.walk(b) if isinstance(s, ast.stmt)]
    return len(statements) <= _MOST_STATEMENTS and not any(
        s.opaque or isinstance(s, (ast.For, ast.While)) for s in statements
    )


def _is_only_store(loop, name):
    """Whether one statement of a loop assigns to a name."""
    stores = [x for s in loop.body for x in ast.walk(s) if isinstance(x, ast.Name)
              and x.id == name and isinstance(x.ctx, ast.Store)]  # fmt: skip
    return len(stores) == 1


def _bound(test, name, by):
    """(what a comparison compares the name with, 1 if it may be equal) where the loop ends once the
    name has passed it; (None, 0) of others.
    """
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None, 0
    left, (right,), op = test.left, test.comparators, type(test.ops[0])
    if isinstance(right, ast.Name) and right.id == name:
        left, right, op = right, left, _FLIPPED.get(op)
    if not isinstance(left, ast.Name) or left.id != name:
        return None, 0
    ends = (ast.Gt, ast.GtE) if by < 0 else (ast.Lt, ast.LtE)
    return (right, int(op is ends[1])) if op in ends else (None, 0)
