"""What `for` loops go over: a range, a list or an array, or such by enumerate() or zip(); and the
iterators by which CPython goes on with what is left of one.
"""

import ast


class Over:
    """The head of a loop over items. around: "", "enumerate" or "zip"; names: of the sequences."""

    def __init__(self, around, names, start=0):
        self.around, self.names, self.start = around, names, start

    def rest(self, sequences, index):
        """An iterator over the items from an index on."""
        iterators = [iter(s) for s in sequences]
        for i in iterators:
            i.__setstate__(index)
        if self.around == "zip":
            return zip(*iterators)
        (first,) = iterators
        return enumerate(first, self.start + index) if self.around else first

    def position(self, iterator, sequences):
        """(index, end) of what an iterator has left to give of these sequences; None where it is
        no iterator over them, or nothing is left.
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
        for i, sequence in zip(found, sequences):
            if type(i) not in _ITERATORS:
                return None
            _, of, *at = i.__reduce__()
            if not at or of[0] is not sequence:
                return None
            index.add(at[0])
        end = min(map(len, sequences))
        return (*index, end) if len(index) == 1 and min(index) < end else None


class _Items:
    def __getitem__(self, index):
        raise IndexError


_ITERATORS = type(iter([])), type(iter(_Items()))  # of lists, and of arrays


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
    elif _is_call(node, "zip") and node.args and all(map(name_of, node.args)):
        of = Over("zip", [name_of(a) for a in node.args])
    elif _is_call(node, "enumerate") and 1 <= len(node.args) <= 2 and name_of(node.args[0]):
        start = node.args[1] if len(node.args) > 1 else ast.Constant(0)
        if isinstance(start, ast.Constant) and type(start.value) is int and start.value < 1 << 61:
            of = Over("enumerate", [name_of(node.args[0])], start.value)
    if of is None:
        return None
    count = {"": None, "enumerate": 2, "zip": len(of.names)}[of.around]
    if count is None:
        return of if isinstance(loop.target, ast.Name) else None
    names = targets(loop)
    fits = isinstance(loop.target, ast.Tuple) and names and len(set(names)) == count == len(names)
    return of if fits else None


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
