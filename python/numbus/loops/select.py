"""Which loops of a module are worth compiling, by their trees alone, and the numbers of their
statements.
"""

import ast

from . import generators, heads, trees

# Statements that code of ours carries out; all others are left to CPython where they are met.
SIMPLE = (ast.Assign, ast.AugAssign, ast.Pass)
_LOOPS = (ast.For, ast.While)
# What makes a frame stop in the middle of a loop, or gives names a meaning of their own.
_REFUSED = (
    ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith, ast.Global, ast.Nonlocal,
)  # fmt: skip
_EXPRESSIONS = (
    ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Constant, ast.Name,
    ast.Subscript, ast.Attribute, ast.Tuple, ast.Call, ast.operator, ast.unaryop, ast.boolop,
    ast.cmpop, ast.expr_context, ast.keyword, ast.Slice,
)  # fmt: skip
MOST_STATEMENTS = 400


def is_known(node):
    """Whether an expression is made of nodes that code of ours may know."""
    folded = set()  # nodes of generator expressions that are
    for n in trees.walk(node) if node is not None else [None]:
        if not isinstance(n, _EXPRESSIONS) and n not in folded:
            return False
        if isinstance(n, ast.Call) and generators.is_fold(n):
            folded |= {n.args[0], *n.args[0].generators}
        if isinstance(n, ast.Call):
            dotted = isinstance(n.func, ast.Attribute) and isinstance(n.func.value, ast.Name)
            named = isinstance(n.func, ast.Name)
            if not (dotted or named) or (n.keywords and not named):
                return False
            if any(k.arg is None for k in n.keywords):
                return False
        if isinstance(n, ast.Constant) and type(n.value) not in (int, float, bool, complex):
            return False
    return True


def is_tiny(loop):
    """Whether a loop has few items, which its text tells, and no loop in it."""
    if not isinstance(loop, ast.For) or not heads.range_of(loop.iter) or loop.orelse:
        return False
    args = heads.range_of(loop.iter)[0].args
    if not all(isinstance(a, ast.Constant) and type(a.value) is int for a in args):
        return False
    if any(isinstance(n, _LOOPS) for b in loop.body for n in trees.walk(b)):
        return False
    args = [a.value for a in args]
    return (len(args) < 3 or args[2] != 0) and len(range(*args)[:33]) <= 32


def _is_target(node):
    if isinstance(node, ast.Tuple):
        kinds = (ast.Name, ast.Subscript, ast.Attribute)
        return all(isinstance(t, kinds) and _is_target(t) for t in node.elts)
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name)
    return isinstance(node, ast.Name) or (isinstance(node, ast.Subscript) and is_known(node))


def is_text(node):
    """Whether a statement is a constant, such as the text that describes a function."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def is_append(node):
    """Whether a statement is `name.append(expression)`."""
    call = node.value if isinstance(node, ast.Expr) else None
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "append"
        and isinstance(call.func.value, ast.Name)
        and len(call.args) == 1
        and not call.keywords
        and is_known(call)
    )


def popped(node):
    """The name of the list that a statement takes the last item of: `x = name.pop()`, or without a
    target; None for other statements.
    """
    if isinstance(node, ast.Assign):
        if len(node.targets) > 1 or not isinstance(node.targets[0], ast.Name):
            return None
    elif not isinstance(node, ast.Expr):
        return None
    call = node.value
    if not isinstance(call, ast.Call) or call.args or call.keywords:
        return None
    f = call.func
    named = isinstance(f, ast.Attribute) and f.attr == "pop" and isinstance(f.value, ast.Name)
    return f.value.id if named else None


def repeated(node):
    """(element, count) of a statement `list[slice] = [element] * count`; None for others."""
    if not isinstance(node, ast.Assign) or len(node.targets) > 1:
        return None
    target, value = node.targets[0], node.value
    if not isinstance(target, ast.Subscript) or not isinstance(target.slice, ast.Slice):
        return None
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Mult):
        return None
    pair = (value.left, value.right)
    of, count = pair if isinstance(value.left, ast.List) else pair[::-1]
    if not isinstance(of, ast.List) or len(of.elts) != 1 or not is_known(target):
        return None
    return (of.elts[0], count) if is_known(of.elts[0]) and is_known(count) else None


def makes_list(node):
    """Whether a statement may assign a new list of numbers to a name."""
    if not isinstance(node, ast.Assign) or len(node.targets) > 1:
        return False
    v = node.value
    if not isinstance(node.targets[0], ast.Name):
        return False
    if isinstance(v, ast.ListComp):
        return generators.is_known_head(v) and all(map(is_known, _parts_of(v)))
    if isinstance(v, ast.List):
        return all(map(is_known, v.elts))
    if isinstance(v, ast.BinOp) and isinstance(v.op, ast.Add):
        parts = joined(v)
        return any(isinstance(p, ast.List) for p in parts) and all(map(_is_joined, parts))
    if isinstance(v, ast.BinOp):
        pair = (v.left, v.right) if isinstance(v.left, ast.List) else (v.right, v.left)
        return (
            isinstance(v.op, ast.Mult)
            and isinstance(pair[0], ast.List)
            and len(pair[0].elts) == 1
            and is_known(pair[0].elts[0])
            and is_known(pair[1])
        )
    if isinstance(v, ast.Call):
        return copied_whole(v) is not None
    return isinstance(v, ast.Subscript) and isinstance(v.slice, ast.Slice) and is_known(v)


def joined(n):
    """The operands of `a + b + c`."""
    if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Add):
        return [*joined(n.left), *joined(n.right)]
    return [n]


def _is_joined(n):
    """Whether it may be a list that is joined with others."""
    if isinstance(n, ast.List):
        return all(map(is_known, n.elts))
    of_slice = isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Slice)
    return isinstance(n, ast.Name) or (of_slice and is_known(n))


def empty_names(loop):
    """The names to which a loop assigns `[]`."""
    nodes = [n for n in trees.walk(loop) if isinstance(n, ast.Assign) and makes_list(n)]
    return {n.targets[0].id for n in nodes if isinstance(n.value, ast.List) and not n.value.elts}


def _parts_of(n):
    """The expressions in a comprehension, and those in the range that it goes over."""
    (of,) = n.generators
    found = heads.range_of(of.iter)
    return [n.elt, *of.ifs, *(found[0].args if found else ())]


def copied_whole(v):
    """What `list(p)` or `p.copy()` copies; None for other calls."""
    if v.keywords:
        return None
    if isinstance(v.func, ast.Name) and v.func.id == "list" and len(v.args) == 1:
        return v.args[0] if isinstance(v.args[0], ast.Name) else None
    dotted = isinstance(v.func, ast.Attribute) and isinstance(v.func.value, ast.Name)
    return v.func.value if dotted and v.func.attr == "copy" and not v.args else None


def made_names(loop):
    """The names that may hold a list that code of ours has made, in order."""
    nodes = [
        n for n in trees.walk(loop) if isinstance(n, ast.Assign) and not getattr(n, "opaque", True)
    ]
    found = {n.targets[0].id for n in nodes if makes_list(n)}
    before = None
    while found != before:
        before = set(found)
        for n in nodes:
            for t in n.targets:
                pairs = [(t, n.value)]
                if isinstance(t, ast.Tuple) and isinstance(n.value, ast.Tuple):
                    pairs = zip(t.elts, n.value.elts)
                found |= {a.id for a, b in pairs if isinstance(a, ast.Name)
                          and isinstance(b, ast.Name) and b.id in found}  # fmt: skip
    return sorted(found)


def copies(loop):
    """Whether a statement may copy a part of an array to a part of another one."""
    return any(
        isinstance(n, ast.Assign)
        and isinstance(n.targets[0], ast.Subscript)
        and isinstance(n.value, (ast.Subscript, ast.Name, ast.Attribute))
        for n in trees.walk(loop)
    )


def stores_several(loop):
    """Whether an innermost `for` loop assigns to elements of several arrays."""
    for n in trees.walk(loop):
        if isinstance(n, ast.For) and not any(isinstance(x, _LOOPS) for s in n.body
                                              for x in trees.walk(s)):  # fmt: skip
            stored = [x.value for s in n.body for x in trees.walk(s)
                      if isinstance(x, ast.Subscript) and isinstance(x.ctx, ast.Store)]  # fmt: skip
            if len({ast.unparse(x) for x in stored}) > 1:
                return True
    return False


def appended(loop):
    """The names of the lists whose length code of ours may change."""
    nodes = [n for n in trees.walk(loop) if hasattr(n, "at") and not n.opaque]
    found = {n.value.func.value.id for n in nodes if is_append(n)}
    return found | {popped(n) for n in nodes} - {None}


def is_simple(node):
    """Whether code of ours may carry out this statement."""
    if isinstance(node, ast.Pass) or is_text(node) or is_append(node):
        return True
    if popped(node) or repeated(node) or makes_list(node):
        return True
    if isinstance(node, ast.AugAssign):
        return _is_target(node.target) and is_known(node.value)
    if isinstance(node, ast.Assign):
        return all(map(_is_target, node.targets)) and is_known(node.value)
    return False


def is_mangled(name):
    """Whether it is another name within a class."""
    return name.startswith("__") and not name.endswith("__")


def why_not(loop):
    """The reason, in words, why a loop is not tried; None where it is."""
    count = 0
    for n in trees.walk(loop):
        if isinstance(n, _REFUSED):
            return f"line {n.lineno}: {type(n).__name__.lower()}"
        name = getattr(n, "attr" if isinstance(n, ast.Attribute) else "id", "")
        if is_mangled(name):
            return f"line {n.lineno}: the name '{name}', which is another one in a class"
        count += isinstance(n, ast.stmt)
    if isinstance(loop, ast.While) and _leaves(loop.orelse):
        return f"line {loop.lineno}: a while loop whose else leaves the loop around it"
    if count > MOST_STATEMENTS:
        return f"{count} statements; at most {MOST_STATEMENTS} are compiled at once"
    return _loop(loop)


def _leaves(body):
    """Whether a block has a `break` or `continue` of the loop around it."""
    return any(
        isinstance(n, (ast.Break, ast.Continue))
        or _leaves(getattr(n, "orelse", []))
        or (not isinstance(n, _LOOPS) and _leaves(_inside(n)))
        for n in body
    )


def _inside(n):
    """The statements of a compound one, other than its `else`."""
    lists = [of for f, of in ast.iter_fields(n) if f != "orelse" and isinstance(of, list)]
    parts = [x for of in lists for x in of]
    # Handlers of exceptions and cases of `match` are no statements by themselves.
    return [s for x in parts for s in ([x] if isinstance(x, ast.stmt) else getattr(x, "body", []))]


def _loop(loop):
    if isinstance(loop, ast.For):
        if not _head(loop):
            return f"line {loop.lineno}: a loop over something else than numbers"
    elif not is_known(loop.test):
        return f"line {loop.lineno}: the condition"
    return _block(loop.body, False) or _block(loop.orelse, True)


def _block(body, rare):
    """rare: the statements stand under a condition, where anything may be left to CPython."""
    for n in body:
        if isinstance(n, ast.If):
            if not is_known(n.test):
                if rare:
                    continue
                return f"line {n.lineno}: the condition"
            why = _block(n.body, True) or _block(n.orelse, True)
        elif isinstance(n, _LOOPS):
            why = None if rare else _loop(n)
        elif isinstance(n, (ast.Break, ast.Continue)) or is_simple(n):
            why = None
        elif rare:
            why = None
        else:
            why = f"line {n.lineno}: {_words(n)}"
        if why:
            return why
    return None


def _words(n):
    if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call):
        return f"a call of {ast.unparse(n.value.func)}"
    calls = [x for x in trees.walk(n) if isinstance(x, ast.Call) and not is_known(x)]
    if calls:
        return f"a call of {ast.unparse(calls[-1].func)}"
    for x in trees.walk(n):
        if isinstance(x, ast.expr) and not isinstance(x, _EXPRESSIONS):
            return f"an expression that is not compiled ({type(x).__name__.lower()})"
    return f"a statement that is not compiled ({type(n).__name__.lower()})"


def number(loop):
    """Gives each statement below `loop`, which may be a function, its number, in order: `at`, and
    the first number after what it holds, `end`. The statements that CPython has to carry out as a
    whole are `opaque`. The condition of a while loop has the loop's own number.
    """
    counter = iter(range(1, 1 << 30))

    def walk(n):
        n.at = next(counter)
        n.opaque = False
        if isinstance(n, ast.If) and is_known(n.test):
            for s in n.body:
                walk(s)
            n.middle = next(counter)
            for s in n.orelse:
                walk(s)
        elif isinstance(n, _LOOPS) and _head(n):
            for s in n.body:
                walk(s)
            n.middle = next(counter)
            for s in n.orelse:
                walk(s)
        elif is_function and isinstance(n, ast.Return):
            n.opaque = not all(map(is_known, _returned(n.value)))
        else:
            n.opaque = not (isinstance(n, (ast.Break, ast.Continue)) or is_simple(n))
        n.end = next(counter)

    is_function = isinstance(loop, ast.FunctionDef)
    for n in loop.body if is_function else [loop]:
        walk(n)


def _returned(n):
    """The nodes of the numbers that a function returns: also several, as a list, a tuple or an
    array.
    """
    if isinstance(n, ast.Call) and len(n.args) == 1 and not n.keywords and is_known(n.func):
        n = n.args[0] if isinstance(n.args[0], (ast.List, ast.Tuple)) else n
    return n.elts if isinstance(n, (ast.List, ast.Tuple)) else [n]


def _head(n):
    """Whether the head of an inner loop is one that is compiled; its body may still be left."""
    if isinstance(n, ast.While):
        return is_known(n.test)
    if over := heads.over(n):
        return all(is_known(a) for r in over.ranges for a in r.args)
    found = heads.range_of(n.iter)
    return isinstance(n.target, ast.Name) and found and all(map(is_known, found[0].args))


DOT = "·"  # between the two in the name that stands for an attribute


def with_attributes(loop):
    """A loop in which the attributes that it assigns to, of objects whose names it does not assign
    to, are names of their own; such as it is where it has a name like that.
    """
    names, stored = set(assigned(loop)), set()
    for n in trees.walk(loop):
        if isinstance(n, ast.Name) and DOT in n.id:
            return loop
        if isinstance(n, (ast.Assign, ast.AugAssign)) and not getattr(n, "opaque", True):
            targets = [n.target] if isinstance(n, ast.AugAssign) else n.targets
            parts = [x for t in targets for x in (t.elts if isinstance(t, ast.Tuple) else [t])]
            stored |= {(x.value.id, x.attr) for x in parts if isinstance(x, ast.Attribute)}
    stored = {of for of in stored if of[0] not in names}
    return _Named(stored).visit(trees.copied(loop)) if stored else loop


class _Named(ast.NodeTransformer):
    def __init__(self, stored):
        self._stored = stored

    def visit_Attribute(self, node):
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and (node.value.id, node.attr) in self._stored:
            return ast.copy_location(ast.Name(f"{node.value.id}{DOT}{node.attr}", node.ctx), node)
        return node


def assigned(loop):
    """Names that code of ours may assign to, in order."""
    found = set()

    def walk(n):
        if n.opaque:
            return
        if isinstance(n, ast.Assign):
            for t in n.targets:
                found.update(
                    x.id
                    for x in trees.walk(t)
                    if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)
                )
        elif isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name):
            found.add(n.target.id)
        elif isinstance(n, _LOOPS):
            if isinstance(n, ast.For):
                found.update(heads.targets(n))
            for s in (*n.body, *n.orelse):
                walk(s)
        elif isinstance(n, ast.If):
            for s in (*n.body, *n.orelse):
                walk(s)

    walk(loop)
    return sorted(found)
