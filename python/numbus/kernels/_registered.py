"""Registered functions in compiled ones: the conversions that the adapter makes for array calls, as
statements before the body.
"""

import ast

import numpy

from ..functions.axes import distinct
from ._library import is_known, not_yet

# What these statements name.
NAMES = {
    "_compiled": True,
    "_ndarray": numpy.ndarray,
    "_as_array": numpy.asarray,
    "_floating": numpy.floating,
    "_axes": distinct,
    "_AxisError": numpy.exceptions.AxisError,
    "_not_yet": not_yet,
    "_is_known": is_known,
}

# What each of *arguments, x, becomes.
_CONVERTED = {
    "Array": "_as_array(x)",
    "Operand": "_as_array(x) if isinstance(x, (tuple, list)) else x",
}


def conversions(row, definition):
    """The statements by which a registered function's arguments become what its annotations say."""
    text = []
    parameters = row.parameters()
    array = next((name for name, (what, _) in parameters.items() if what.kind == "Array"), None)
    for name, (what, p) in parameters.items():
        if p.kind == p.VAR_POSITIONAL:
            if what.kind != "Any":
                text.append(f"{name} = tuple([{_CONVERTED[what.kind]} for x in {name}])")
            continue
        absent = f"{name} is not None and " if p.default is None else ""
        if what.kind == "Array":
            # A list of numbers is an array to the compiler, without what arrays have.
            foreign = f"isinstance({name}, (tuple, list)) or not isinstance({name}, _ndarray)"
            text.append(f"if {absent}({foreign}): {name} = _as_array({name})")
        elif what.kind == "Operand":
            text.append(f"if isinstance({name}, (tuple, list)): {name} = _as_array({name})")
        elif what.kind == "Axis":
            inside = f"-{array}.ndim <= {name} < {array}.ndim"
            if what.words:
                text.append(f"if {array}.ndim == 0: {array} = {array}.ravel()")
            text += [
                f"if not _is_known({name}): _not_yet('an axis that is not known while compiling')",
                f"if {name} is None:",
                *what.for_none(array, name),
                "else:",
                f"    if not ({inside}):",
                f"        raise _AxisError(f'[{row.name}] axis {{{name}}} is out of bounds "
                f"for array of dimension {{{array}.ndim}}; got {{{name}}}')",
                f"    if {name} < 0: {name} = {name} + {array}.ndim",
            ]
        elif what.kind == "Axes":
            text.append(
                f"if {name} is not None: {name} = _axes('{row.name}', {name}, {array}.ndim)"
            )
        elif what.kind == "Int":
            wrong = f"[{row.name}] {name} is not an integer; expected an int"
            # Of one of NumPy's types it would give results their dtype.
            text += [
                f"if {absent}not isinstance({name}, int):",
                f"    if isinstance({name}, (_floating, float, complex)):",
                f"        raise TypeError({wrong!r})",
                f"    {name} = int({name})",
            ]
        elif what.kind == "Out":
            text.append(f"if {name} is not None: _not_yet('{row.name} with {name}=')")
        elif what.kind == "Choice":
            known = " or ".join([f"{name} == {word!r}" for word in what.words])
            expected = ", ".join(map(repr, what.words))
            wrong = f"[{row.name}] {name} not known; expected {expected}"
            text.append(f"if {absent}not ({known}): raise ValueError({wrong!r})")
    statements = ast.parse("\n".join(text)).body
    for statement in statements:
        for node in ast.walk(statement):
            for at in ("lineno", "end_lineno"):
                if hasattr(node, at):
                    setattr(node, at, definition.lineno)
    return statements
