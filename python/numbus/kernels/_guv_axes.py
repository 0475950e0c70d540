"""Axes of generalised functions: axis=, axes= and keepdims=, as NumPy's gufuncs take them;
and which inputs a function without outputs writes to.
"""

import ast
import operator

import numpy

from ._generate import operand
from ._sources import parse


def written_parameters(function, names, dims):
    """Positions of the parameters that the function may write to: those whose elements it assigns,
    those that get another name, and those that it hands to functions that may write.

    dims: how many axes each has.
    """
    found = set()

    def base(node):
        while isinstance(node, (ast.Subscript, ast.Attribute, ast.Starred)):
            node = node.value
        if isinstance(node, ast.Name) and node.id in names:
            found.add(names.index(node.id))

    def alias(node):
        parts = (
            node.elts if isinstance(node, (ast.Tuple, ast.List))
            else [node.body, node.orelse] if isinstance(node, ast.IfExp)
            else node.values if isinstance(node, ast.BoolOp)
            else [node.value] if isinstance(node, ast.NamedExpr)
            else None
        )  # fmt: skip
        if parts is not None:
            for part in parts:
                alias(part)
        elif not _is_element(node, names, dims):
            base(node)

    for node in ast.walk(parse(function)):
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                for part in ast.walk(target):
                    if isinstance(part, ast.Subscript) or isinstance(node, ast.AugAssign):
                        base(part)
            if all(isinstance(t, ast.Subscript) for t in targets):
                continue  # the elements of what is assigned, no other name for it
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            alias(node.value)
        if isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.iter, ast.Name):
            if dims[names.index(node.iter.id)] > 1 if node.iter.id in names else False:
                base(node.iter)  # its rows
        if isinstance(node, ast.Call) and not _reads(node):
            for given in (node.func, *node.args, *[k.value for k in node.keywords]):
                if not isinstance(given, ast.Name) or given is not node.func:
                    alias(given)
    return found


def _is_element(node, names, dims):
    """Whether this is a number: `x[i]` with an index for each axis, none of them a slice."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return False
    if node.value.id not in names:
        return False
    by = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    plain = (ast.Name, ast.BinOp, ast.UnaryOp, ast.Subscript)
    count = max(1, dims[names.index(node.value.id)])
    return len(by) == count and all(
        isinstance(b, plain) or (isinstance(b, ast.Constant) and type(b.value) is int) for b in by
    )


_READERS = {"len", "range", "prange", "enumerate", "zip", "print", "sum", "min", "max", "abs",
            "int", "float", "bool"}  # fmt: skip
_METHODS = {"sum", "mean", "min", "max", "std", "var", "any", "all", "argmin", "argmax", "copy",
            "astype", "item"}  # fmt: skip
_WRITERS = {"copyto", "put", "place", "putmask", "fill_diagonal"}


def _reads(call):
    """Whether a call reads its arguments only."""
    f = call.func
    if isinstance(f, ast.Name):
        return f.id in _READERS
    if not isinstance(f, ast.Attribute) or any(k.arg == "out" for k in call.keywords):
        return False
    module = isinstance(f.value, ast.Name) and f.value.id in ("np", "numpy", "math")
    return f.attr not in _WRITERS if module else f.attr in _METHODS


def normalised(gufunc, inputs, axis, axes, keepdims):
    """The axes of each argument's core: tuples, or None for outputs whose axes are the last."""
    name, layout, nin = gufunc.__name__, gufunc._all, gufunc.nin
    if keepdims:
        count = {len(core) for core in layout[:nin]}
        if len(count) != 1 or any(layout[nin:]):
            raise TypeError(
                f"[{name}] keepdims=True is for functions whose inputs have equally many core "
                f"dimensions and whose outputs have none; got {gufunc.signature}; expected "
                "keepdims=False"
            )
    if axis is not None:
        if axes is not None:
            raise TypeError(f"[{name}] two sources of axes; got axis= and axes=; expected one")
        names = {n for core in layout for n in core}
        if len(names) != 1 or any(len(core) > 1 for core in layout):
            raise TypeError(
                f"[{name}] axis= is for one core dimension that all arguments share; got "
                f"{gufunc.signature}; expected axes="
            )
        one = (operator.index(axis),)
        axes = [one if core or (keepdims and k >= nin) else () for k, core in enumerate(layout)]
    elif axes is None:
        last = tuple(range(-len(layout[0]), 0))
        axes = [tuple(range(-len(core), 0)) for core in layout[:nin]]
        axes += [last if keepdims else None for _ in layout[nin:]]
    else:
        if not isinstance(axes, list):
            raise TypeError(f"[{name}] axes is no list; got {axes!r}; expected one of tuples")
        short = len(axes) == nin and not any(layout[nin:])
        if len(axes) != gufunc.nargs and not short:
            raise ValueError(
                f"[{name}] axes has the wrong length; got {len(axes)}; expected {gufunc.nargs}"
            )
        axes = [a if isinstance(a, tuple) else (operator.index(a),) for a in axes]
        axes += [axes[0] if keepdims else ()] * (gufunc.nargs - len(axes))
    cores = [len(c) for c in layout]
    if keepdims:
        cores[nin:] = [cores[0]] * gufunc.nout
    for k, (own, core) in enumerate(zip(axes, cores, strict=True)):
        if own is not None and len(own) != core:
            raise numpy.exceptions.AxisError(
                f"[{name}] axes of argument {k} are as many as its core dimensions; got {own}; "
                f"expected {core}"
            )
    return [_of(name, a, x.ndim) for a, x in zip(axes[:nin], inputs, strict=True)] + axes[nin:]


def _of(name, axes, ndim):
    """Axes in [0, ndim)."""
    found = tuple(operator.index(a) for a in axes)
    for a in found:
        if not -ndim <= a < ndim:
            raise numpy.exceptions.AxisError(a, ndim)
    found = tuple(a % ndim for a in found)
    if len(set(found)) != len(found):
        raise ValueError(f"[{name}] an axis comes twice; got {axes}; expected different ones")
    return found


def _last(array, axes):
    """A view whose axes these are the last ones."""
    return array.transpose([d for d in range(array.ndim) if d not in axes] + list(axes))


def call(gufunc, args, outs, axis, axes, keepdims):
    """The call with the axes that the program names."""
    nin, name = gufunc.nin, gufunc.__name__
    inputs = []
    for a in args:
        a = operand(a)
        inputs.append(a if hasattr(a, "ndim") else numpy.asarray(a))
    found = normalised(gufunc, inputs, axis, axes, keepdims)
    moved = [_last(a, own) for a, own in zip(inputs, found)]
    given = []
    for o, own in zip(outs, found[nin:]):
        if own is not None:
            o = _last(o, _of(name, own, o.ndim))
        if keepdims:
            if any(n != 1 for n in o.shape[o.ndim - len(own) :]):
                raise ValueError(
                    f"[{name}] an output with keepdims=True has extents of one; got {o.shape}"
                )
            o = o[(..., *[0] * len(own))] if own else o
        given.append(o)
    if given and any(o.ndim == 0 for o in given):
        raise NotImplementedError(f"[{name}] not yet: outputs without axes beside axis= or axes=")
    made = gufunc(*moved, *given)
    if outs:
        return outs[0] if len(outs) == 1 else tuple(outs)
    results = []
    for r, own, core in zip(
        made if isinstance(made, tuple) else (made,), found[nin:], gufunc._outputs, strict=True
    ):
        if own is not None and (core or keepdims):
            r = numpy.asarray(r) if not hasattr(r, "reshape") else r
            if keepdims:
                r = r.reshape((*r.shape, *[1] * len(own)))
            at = _of(name, own, r.ndim)
            rest = iter(range(r.ndim - len(at)))
            r = r.transpose(
                [r.ndim - len(at) + at.index(d) if d in at else next(rest) for d in range(r.ndim)]
            )
        results.append(r)
    return results[0] if len(results) == 1 else tuple(results)
