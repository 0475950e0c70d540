"""The same program with other extents and offsets: it meets the plans that the first one made."""

from __future__ import annotations

import ast
import zlib

SHIFTS = (1, -1, 2, 5, 9)


class _Shift(ast.NodeTransformer):
    """Adds to every integer above two, except in ranges and in the offset of input data.

    Extents and the bounds of slices that belong together move together, so that most programs stay
    valid; axes, small powers and extents of one stay as they are.
    """

    def __init__(self, by: int):
        self.by = by

    def visit_Call(self, node):
        name = getattr(node.func, "id", "")
        if name == "range":
            return node
        kept = node.args[:1] if name == "rnd" else []
        for child in [node.func, *node.args[len(kept) :], *(k.value for k in node.keywords)]:
            self.visit(child)
        return node

    def visit_Constant(self, node):
        if type(node.value) is int and node.value > 2:
            node.value = max(2, node.value + self.by)
        return node


def resized(text: str) -> str:
    """Program text with other extents; always the same for the same text."""
    by = SHIFTS[zlib.crc32(text.encode()) % len(SHIFTS)]
    return ast.unparse(_Shift(by).visit(ast.parse(text)))
