"""`with objmode(…)`: statements of a compiled function that Python runs.

The block becomes a function of Python's, which is called with the names that it reads and gives
those whose types the program declares.
"""

import ast
import copy

from ._errors import CompileError
from ._resolve import with_statements
from .types import signature

blocks = []  # functions of Python's, by number
_known = {}  # (position, ids of the code, of the globals, of what the closure holds) to number
_held = []  # what those ids are of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class _ObjectMode:
    """Has Python run a block of a compiled function: with objmode(y='float64[:]'): …

    The keywords are the names that the block assigns and the function goes on to use, with their
    types. In a function that is not compiled it does nothing.
    """

    def __call__(self, *args, **types):
        if args:
            raise TypeError(
                f"[objmode] takes names and their types; got {args!r}; expected objmode(y='int64')"
            )
        for given in types.values():
            signature(given)
        return self

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


objmode = _ObjectMode()


def _own_nodes(nodes):
    """All nodes but those of functions inside, with whether a loop is around them."""
    todo = [(n, False) for n in nodes]
    while todo:
        node, loop = todo.pop()
        yield node, loop
        if not isinstance(node, _FUNCTIONS):
            within = loop or isinstance(node, (ast.For, ast.While))
            todo += [(n, within) for n in ast.iter_child_nodes(node)]


def _names(nodes, context):
    return {
        n.id
        for node in nodes
        for n in ast.walk(node)
        if isinstance(n, ast.Name) and isinstance(n.ctx, context)
    }


def _reads(body):
    """Names that the statements read before they have assigned them for certain."""
    read, assigned = set(), set()
    for n in body:
        loads = _names([n], ast.Load)
        if isinstance(n, ast.AugAssign):
            loads |= _names([n.target], ast.Store)
        read |= loads - assigned
        if isinstance(n, (ast.Assign, ast.AnnAssign)):
            assigned |= _names([n], ast.Store)
        elif isinstance(n, (ast.Import, ast.ImportFrom)):
            assigned |= {(a.asname or a.name).split(".")[0] for a in n.names}
        elif isinstance(n, _FUNCTIONS):
            assigned.add(n.name)
    return read


def _declared(names, node):
    """The type that a keyword of objmode says."""
    value = node.value
    if isinstance(value, ast.Constant):
        found, given = True, value.value
    else:
        found, given = names.static(value)
    try:
        if found:
            arguments, result = signature(given)
            if result is None and len(arguments) == 1:
                return arguments[0]
    except (TypeError, ValueError):
        pass
    raise CompileError(
        f"objmode takes a type for '{node.arg}'", value, names.function, "objmode(y='float64[:]')"
    )


def statement(names, node, describe):
    """The statement that stands for `with objmode(…)`; None for other with statements.

    names: what resolves the function's names; describe(number, types, at): the node of the block.
    """
    context = node.items[0].context_expr
    called = isinstance(context, ast.Call)
    found, value = names.static(context.func if called else context)
    if not found or value is not objmode:
        return None

    def fail(message, at, hint):
        raise CompileError(message, at, names.function, hint)

    if len(node.items) > 1 or node.items[0].optional_vars or (called and context.args):
        fail("objmode takes names and their types", node, "with objmode(y='float64[:]'):")
    keywords = context.keywords if called else []
    results = {k.arg: _declared(names, k) for k in keywords if k.arg}
    if len(results) < len(keywords):
        fail("objmode takes names and their types", node, "with objmode(y='float64[:]'):")
    for n, loop in _own_nodes(node.body):
        if isinstance(n, (ast.Return, ast.Yield, ast.YieldFrom)) or (
            isinstance(n, (ast.Break, ast.Continue)) and not loop
        ):
            fail("a block of objmode ends where it ends", n, "a name that says what follows")
    stored = _names(node.body, ast.Store)
    inside = {id(n) for n in ast.walk(node)}
    others = [n for n in ast.walk(names.root) if id(n) not in inside and isinstance(n, ast.Name)]
    used = {n.id for n in others if isinstance(n.ctx, ast.Load)}
    for name in sorted((stored - set(results)) & used):
        fail(
            f"'{name}' is assigned in objmode and read outside, but has no type there",
            node,
            f"objmode({name}='float64'), or another name",
        )
    for name in sorted(set(results) - stored):
        fail(f"'{name}' is not assigned in the block of objmode", node, f"{name} = … in the block")
    functions = {n.name for n in ast.walk(names.root) if isinstance(n, ast.FunctionDef)}
    for name in sorted((_reads(node.body) - stored) & (functions - {names.root.name})):
        if names.is_local(name):
            fail(
                f"a local function in objmode: '{name}'", node, "a function defined at module level"
            )
    known = {n.id for n in others if isinstance(n.ctx, ast.Store)} | names.parameters
    inputs = sorted(n for n in _reads(node.body) if names.is_local(n) and n in known)
    number = _block(names, node, inputs, list(results))
    call = ast.Call(
        describe(number, list(results.values()), node),
        [],
        [ast.keyword(n, ast.Name(n, ast.Load())) for n in inputs],
    )
    targets = [ast.Name(n, ast.Store()) for n in results]
    if not targets:
        made = ast.Expr(call)
    else:
        target = targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())
        made = ast.Assign([target], call)
    for n in ast.walk(made):
        if not hasattr(n, "lineno"):
            ast.copy_location(n, node)
            n.end_lineno = node.lineno
    return made


def _block(names, node, inputs, results):
    """The number of the block as a function of Python's."""
    code = names.function.__code__
    closure = {}
    for name in sorted(_names(node.body, ast.Load) & set(names.closure)):
        try:
            closure[name] = names.closure[name].cell_contents
        except ValueError:
            continue
    space = names.function.__globals__
    # By identity: code that is equal is that of other modules, too, whose globals differ.
    held = tuple([id(v) for v in (code, space, *closure.values())])
    key = node.lineno, node.col_offset, held
    if key in _known:
        return _known[key]

    def function(name, parameters, body):
        args = ast.arguments([], [ast.arg(p) for p in parameters], None, [], [], None, [])
        made = ast.FunctionDef(name=name, args=args, body=body, decorator_list=[])
        made.type_params = []
        return made

    given = ast.Tuple([ast.Name(n, ast.Load()) for n in results], ast.Load())
    body = [*copy.deepcopy(node.body), ast.Return(given)]
    name = "objmode" if code.co_name == "<lambda>" else f"{code.co_name}_objmode"
    made = [function(name, inputs, body), ast.Return(ast.Name(name, ast.Load()))]
    outer = function("numbus_outer", list(closure), made)
    module = ast.Module([outer], [])
    for n in ast.walk(module):
        if "lineno" in getattr(n, "_attributes", ()) and not hasattr(n, "lineno"):
            ast.copy_location(n, node)
            n.end_lineno, n.end_col_offset = n.lineno, n.col_offset
    local = {}
    exec(compile(module, code.co_filename, "exec"), space, local)
    blocks.append(local["numbus_outer"](**closure))
    _held.append((code, closure))
    _known[key] = len(blocks) - 1
    return _known[key]


with_statements.append(statement)
