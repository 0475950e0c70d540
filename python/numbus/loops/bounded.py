"""Innermost `while` loops with a name that grows, or falls, by the same amount in each iteration.

Indices that are this name and a constant have their greatest, or least, value in the first
iteration, so that one of the two bounds is asked about before the loop. Where that fails, the loop
asks in each iteration.
"""

import ast

from . import numbers
from .strips import offset_of

_MOST_STATEMENTS = 12
_LARGEST = 1 << 20  # of what is added


class Bounded:
    """The part of an emitter that emits them."""

    # By array, axis and text of an index: which bound is known, "low" or "high", and the text of
    # the index where it does not overflow.
    bounded = {}  # noqa: RUF012

    def by_bounds(self, n, head, first):
        """Puts a loop, whose lines begin with the number `first`, beside one with fewer checks."""
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

    def _found(self, n, head):
        """The indices of which one bound is known, and what has to hold before the loop."""
        found, conditions = {}, set()
        statements = [s for b in n.body for s in ast.walk(b) if isinstance(s, ast.stmt)]
        if len(statements) > _MOST_STATEMENTS or any(
            s.opaque or isinstance(s, (ast.For, ast.While)) for s in statements
        ):
            return found, conditions
        for s in n.body:
            name, by = _stepped(s)
            stores = [x for b in n.body for x in ast.walk(b) if isinstance(x, ast.Name)
                      and x.id == name and isinstance(x.ctx, ast.Store)]  # fmt: skip
            if name is None or len(stores) != 1 or head.get(name) != frozenset("i"):
                continue
            for x in [x for part in (n.test, *n.body) for x in ast.walk(part)]:
                array = self._array(x.value) if isinstance(x, ast.Subscript) else None
                if array is None or array[6] not in (*numbers.ARRAYS, "list", "bools", "items"):
                    continue
                items = x.slice.elts if isinstance(x.slice, ast.Tuple) else [x.slice]
                for axis, item in enumerate(items):
                    added = offset_of(item, name)
                    if added is None or abs(added) > _LARGEST or axis >= array[3]:
                        continue
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
