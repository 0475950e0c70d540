"""Registered functions in compiled ones: the conversions that the adapter makes for array calls, as
statements before the body.
"""

import ast
import copy

import numpy

from ..functions.axes import distinct
from ..functions.names import is_known
from ..functions.outputs import stored
from ._library import not_yet


def _axis_last(op, a, axis):
    """`a` with an axis that only a run knows after the others: a view, in compiled functions."""
    raise NotImplementedError(op)


_axis_last._kernel_name = "numbus axis last"


def _axis_back(op, a, axis, ndim):
    """`a` with its last axis where it was in an array of `ndim` axes, of which `a` has the last."""
    raise NotImplementedError(op)


_axis_back._kernel_name = "numbus axis back"

# What these statements name.
NAMES = {
    "_axis_last": _axis_last,
    "_axis_back": _axis_back,
    "_compiled": True,
    "_ndarray": numpy.ndarray,
    "_as_array": numpy.asarray,
    "_result_type": numpy.result_type,
    "_floating": numpy.floating,
    "_axes": distinct,
    "_AxisError": numpy.exceptions.AxisError,
    "_not_yet": not_yet,
    "_is_known": is_known,
    "_stored": stored,
}

# What each of *arguments, x, becomes.
_CONVERTED = {
    "Array": "_as_array(x)",
    "Operand": "_as_array(x) if isinstance(x, (tuple, list)) else x",
}


def convert(row, definition):
    """Has a registered function begin with the statements by which its arguments become what its
    annotations say, and end with its result in what `out` names.
    """
    out = row.parameters().get("out")
    if out is not None and out[0].kind == "Out":
        rule = _rule(out[0])
        casts = rule == "same_kind" and "casting" in row.parameters()
        _store_results(row.name, "casting" if casts else repr(rule), definition)
    definition.body[:0] = _conversions(row, definition)


def _rule(what):
    """How results are stored, in the words of outputs.stored()."""
    if what.words[:1] == ("read",):
        return what.words[1] if len(what.words) > 1 else "equal"
    return "broadcast" if len(what.words) > 1 else "".join(what.words) or "same_kind"


def _store_results(op, rule, definition):
    """The body gets None for `out`, and what it returns is stored there."""

    def parsed(text, at):
        (made,) = ast.parse(text).body
        for node in ast.walk(made):
            if hasattr(node, "lineno"):
                ast.copy_location(node, at)
        return made

    class Stores(ast.NodeTransformer):
        def visit_Name(self, node):
            return ast.copy_location(ast.Constant(None), node) if node.id == "out" else node

        def visit_FunctionDef(self, node):
            return node  # an inner function's results are none of the body's

        def visit_Return(self, node):
            self.generic_visit(node)
            given = parsed(f"if out is not None: return _stored({op!r}, {rule}, None, out)", node)
            given.body[0].value.args[2] = copy.deepcopy(node.value)
            return [given, node]

    stores = Stores()
    body = []
    for statement in definition.body:
        made = stores.visit(statement)
        body += made if isinstance(made, list) else [made]
    definition.body = body


def _conversions(row, definition):
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
            if what.words == ("0-d",):
                text.append(f"if {array}.ndim == 0: {array} = {array}.ravel()")
            text += [
                *_of_run_time(row, name, array, p.default is None or what.none != 0),
                f"if {name} is None:",
                *what.for_none(array, name),
                "else:",
                f"    if not ({inside}):",
                f"        raise _AxisError(f'[{row.name}] axis {{{name}}} is out of bounds "
                f"for array of dimension {{{array}.ndim}}; got {{{name}}}')",
                f"    if {name} < 0: {name} = {name} + {array}.ndim",
            ]
        elif what.words[1:] == ("operands",):
            text += [
                f"if {name} is not None:",
                f"    if dtype is not None: raise TypeError('[{row.name}] both out and dtype')",
                f"    dtype = _as_array({name}).dtype",
            ]
        elif what.words[:2] == ("read", "unsafe"):
            # As NumPy's loops, which both the operand and `out` choose.
            both = f"_result_type(_as_array({array}).dtype, _as_array({name}).dtype)"
            text.append(f"if {name} is not None and dtype is None: dtype = {both}")
        elif what.kind == "Axes":
            text += _of_run_time(row, name, array, True)
            text.append(
                f"if {name} is not None: {name} = _axes('{row.name}', {name}, {array}.ndim)"
            )
        elif what.kind == "Int":
            wrong = f"[{row.name}] {name} is not an integer; expected an int"
            whole = f"if {name} != int({name}): " if what.words == ("whole",) else ""
            # Of one of NumPy's types it would give results their dtype.
            text += [
                f"if {absent}not isinstance({name}, int):",
                f"    if isinstance({name}, (_floating, float, complex)):",
                f"        {whole}raise TypeError({wrong!r})",
                f"    {name} = int({name})",
            ]
        elif what.kind == "Choice":
            known = " or ".join([f"{name} == {word!r}" for word in what.words])
            expected = ", ".join(map(repr, what.words))
            wrong = f"[{row.name}] {name} not known; expected {expected}"
            text.append(f"if {absent}not ({known}): raise ValueError({wrong!r})")
    statements = ast.parse("\n".join(text)).body
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Call):  # expanded functions are told apart by where they stand
                node.col_offset += 1000 * node.lineno
            for at in ("lineno", "end_lineno"):
                if hasattr(node, at):
                    setattr(node, at, definition.lineno)
    return statements


# Functions of the lines along an axis: where it stands matters for `keepdims` alone. They are long,
# and compiled once for all axes.
_OF_LINES = frozenset("median nanmedian percentile quantile nanpercentile nanquantile".split())
_MOST_AXES = 4  # of an array whose axis is known at run time only


def _of_run_time(row, name, array, or_none):
    """The statements for an axis that only a run knows: the call for each that it may be."""
    others = []
    for other, (_, p) in row.parameters().items():
        if p.kind == p.VAR_POSITIONAL:
            return [
                f"if not _is_known({name}): _not_yet('an axis that is not known while compiling')"
            ]
        given = other if other != name else "{}"
        others.append(f"{other}={given}" if p.kind == p.KEYWORD_ONLY else given)
    call = f"{row.body.__name__}({', '.join(others)})"
    number = f"{name} is not None and isinstance({name}, int)" if or_none else "True"
    if row.name in _OF_LINES:
        line = call.format(-1).replace(f"({array},", f"(_axis_last({row.name!r}, {array}, {name}),")
        not_yet = f"_not_yet('np.{row.name}() with an axis of run time and {{}}')"
        weights = "weights" in row.parameters()
        return [
            f"if {number} and not _is_known({name}):",
            f"    if {array}.ndim == 0:",
            f"        raise _AxisError('[{row.name}] axis {{{name}}} is out of bounds for array of "
            "dimension 0')",
            *([f"    if weights is not None: {not_yet.format('weights=')}"] if weights else []),
            f"    if not keepdims: return {line}",
            f"    if out is not None: {not_yet.format('keepdims= and out=')}",
            f"    return _axis_back({row.name!r}, {line}, {name}, {array}.ndim)",
        ]
    text = [
        f"if {number} and not _is_known({name}):",
        f"    if {array}.ndim > {_MOST_AXES} or {array}.ndim == 0:",
        f"        _not_yet('np.{row.name}() with an axis of run time of so many axes')",
    ]
    for k in range(_MOST_AXES):
        text += [
            f"    if {k} < {array}.ndim:",
            f"        if {name} == {k} or {name} == {k} - {array}.ndim: return {call.format(k)}",
        ]
    return [
        *text,
        f"    raise _AxisError(f'[{row.name}] axis {{{name}}} is out of bounds for array of "
        f"dimension {{{array}.ndim}}')",
    ]
