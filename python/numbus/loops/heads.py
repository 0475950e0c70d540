"""What `for` loops go over: a range, a list or an array, or such by enumerate() or zip(); and the
iterators by which CPython goes on with what is left of one.
"""

import ast
import collections

_LIMIT = 1 << 61


# The names that hold a range in the head of a loop over zip() or enumerate().
Numbers = collections.namedtuple("Numbers", "first count step")


def ranges(loop):
    """These names, for each such range."""
    found = over(loop) if isinstance(loop, ast.For) else None
    count = len(found.ranges) if found else 0
    return [Numbers(*(f"{w}{loop.at}_{k}" for w in "bns")) for k in range(count)]


class Over:
    """The head of a loop over items. around: "", "enumerate" or "zip"; parts: what it goes over,
    names of sequences and calls of range(); names: of the sequences.
    """

    def __init__(self, around, parts, start=0):
        self.around, self.parts, self.start = around, parts, start
        self.names = [p for p in parts if isinstance(p, str)]
        self.ranges = [p for p in parts if not isinstance(p, str)]

    def rest(self, sequences, index, ranges=()):
        """An iterator over the items from an index on; sequences: one for each part, of which
        those of ranges are not looked at; ranges: (number at index zero, count, step) of these.
        """
        iterators, ranges = [], iter(ranges)
        for part, s in zip(self.parts, sequences):
            if isinstance(part, str):
                iterators.append(iter(s))
                iterators[-1].__setstate__(index)
            else:
                first, count, step = next(ranges)
                iterators.append(iter(range(first + index * step, first + count * step, step)))
        if self.around == "zip":
            return zip(*iterators)
        (first,) = iterators
        return enumerate(first, self.start + index) if self.around else first

    def position(self, iterator, sequences):
        """(index, end, ranges as for rest()) of what an iterator has left to give of these
        sequences; None where it is no iterator over them, or nothing is left.
        """
        found = [iterator]
        if self.around:
            if type(iterator) is not {"enumerate": enumerate, "zip": zip}[self.around]:
                return None
            _, found, *more = iterator.__reduce__()
            if more:
                return None  # a zip() that is strict
        index = set()
        if self.around == "enumerate":
            index.add(found[1] - self.start)
            found = found[:1]
        if len(found) != len(sequences):
            return None
        ranges = []
        for part, i, sequence in zip(self.parts, found, sequences):
            if not isinstance(part, str):
                if type(i) is not _RANGE_ITERATOR:
                    return None
                _, (of,), *at = i.__reduce__()
                if max(abs(of.start), abs(of.stop), abs(of.step)) >= _LIMIT:
                    return None
                ranges.append(of[at[0] or 0 :] if at else of)
                continue
            if type(i) not in _ITERATORS:
                return None
            _, of, *at = i.__reduce__()
            if not at or of[0] is not sequence:
                return None
            index.add(at[0])
        if len(index) > 1:
            return None
        first = index.pop() if index else 0
        ends = [len(s) for p, s in zip(self.parts, sequences) if isinstance(p, str)]
        ends += [first + len(r) for r in ranges]
        found = [(r.start - first * r.step, first + len(r), r.step) for r in ranges]
        return (first, min(ends), found) if first < min(ends) else None


class _Items:
    def __getitem__(self, index):
        raise IndexError


_ITERATORS = type(iter([])), type(iter(_Items()))  # of lists, and of arrays
_RANGE_ITERATOR = type(iter(range(0)))


def range_of(node):
    """(the call of range(), whether it is reversed) of `range(…)` and `reversed(range(…))`; None
    for all else. That these names mean Python's is asked as it runs.
    """
    backwards = _is_call(node, "reversed") and len(node.args) == 1
    call = node.args[0] if backwards else node
    fits = (
        _is_call(call, "range")
        and 1 <= len(call.args) <= 3
        and not any(isinstance(a, ast.Starred) for a in call.args)
    )
    return (call, backwards) if fits else None


def _is_call(node, name):
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == name
        and not node.keywords
    )


def over(loop):
    """What a loop over items goes over; None for other loops, also where the names in its head do
    not fit.
    """
    node, of = loop.iter, None
    if name_of(node):
        of = Over("", [name_of(node)])
    elif _is_call(node, "zip") and node.args and all(map(_part, node.args)):
        of = Over("zip", [_part(a) for a in node.args])
    elif _is_call(node, "enumerate") and 1 <= len(node.args) <= 2 and _part(node.args[0]):
        start = node.args[1] if len(node.args) > 1 else ast.Constant(0)
        if isinstance(start, ast.Constant) and type(start.value) is int and start.value < 1 << 61:
            of = Over("enumerate", [_part(node.args[0])], start.value)
    if of is None:
        return None
    count = {"": None, "enumerate": 2, "zip": len(of.parts)}[of.around]
    if count is None:
        return of if isinstance(loop.target, ast.Name) else None
    names = targets(loop)
    fits = isinstance(loop.target, ast.Tuple) and names and len(set(names)) == count == len(names)
    return of if fits else None


def _part(node):
    """What zip() and enumerate() may go over: the name of a sequence, or a call of range()."""
    found = range_of(node)
    return found[0] if found and not found[1] else name_of(node)


def name_of(node):
    """`a`, or `a.b`, of such a node; None for others."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else None


def _are_names(nodes):
    return all(isinstance(n, ast.Name) for n in nodes)


def targets(loop):
    """The names in the head of a loop; None where there is anything else."""
    of = loop.target.elts if isinstance(loop.target, ast.Tuple) else [loop.target]
    return [n.id for n in of] if _are_names(of) else None
