"""The rule "one type" for names, results and lists, as the oracle applies it.

A name has one type from one assignment outside of loops and branches to the next: the type that
holds all that is assigned to it there, also where control never comes. So each function is run
twice: its `_types` runs every branch and every loop's body once, on samples of its arguments, to
see what would be assigned; then the function itself runs, and converts what it assigns. What is
seen stands in a table that outlives the run; a run that sees something new is repeated.
"""

from __future__ import annotations

import ast
import copy
import itertools

import numpy as np
from numpy._core._exceptions import UFuncTypeError

from . import differences
from .kinds import is_number, kind_of

ROUNDS = 8
VIEWS = type({}.keys()), type({}.values()), type({}.items())


class Unknown:
    """What a name holds whose value could not be computed from samples; good for nothing."""

    error = TypeError("unknown")

    def _fails(self, *_):
        raise Unknown.error

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _fails
    __bool__ = __iter__ = __len__ = __getitem__ = __call__ = __getattr__ = _fails
    __hash__ = None


UNKNOWN = Unknown()


# ---- samples -------------------------------------------------------------------------------------
def sample(value):
    """What says of which types a value and its items are: lists have one item of each kind."""
    if isinstance(value, list):
        return list({kind(v): sample(v) for v in value}.values())
    if isinstance(value, tuple):
        return tuple(map(sample, value))
    if isinstance(value, dict):
        return {kind((k, v)): (sample(k), sample(v)) for k, v in value.items()}
    return value if is_number(value) else None


def kind(value):
    """Equal for values with samples of the same types."""
    if value is UNKNOWN:
        raise Unknown.error
    if isinstance(value, list):
        return ("list", frozenset(map(kind, value)))
    if isinstance(value, tuple):
        return (type(value).__name__, *map(kind, value))
    if isinstance(value, dict):
        return ("dict", frozenset(map(kind, value.items())))
    return kind_of(value)


def fitted(value, samples, constants=()):
    """A value as one of the type that holds all samples; a list is changed."""
    if is_number(value):
        return differences.of_both(value, samples, constants)
    if isinstance(value, list):
        if all(isinstance(s, list) for s in samples):
            items = list(itertools.chain.from_iterable(samples))
            value[:] = [fitted(v, items) for v in value]
        return value
    if isinstance(value, dict):
        entries = [e for s in samples if isinstance(s, dict) for e in s.values()]
        return fitted_dict(value, entries) if entries else value
    if isinstance(value, tuple):
        if any(not isinstance(s, tuple) or len(s) != len(value) for s in samples):
            return value
        items = [fitted(v, column) for v, *column in zip(value, *samples)]
        return value._make(items) if hasattr(value, "_make") else tuple(items)
    return value


def fitted_dict(value, entries):
    """A dict whose values are of the type that holds these, too."""
    samples = [v for _, v in entries]
    for k, v in value.items():
        value[k] = fitted(v, samples)
    return value


def of_one_type(items):
    """The items of a list, of the type that holds them all."""
    samples = list({kind(v): sample(v) for v in items}.values())
    return [fitted(v, samples) for v in items]


def settle(changed: list, *new, replaced=()):
    """A list that was of one type is so again after these were put in, at most.

    What was replaced has left its type behind.
    """
    seen = (*changed[:1], *changed[-1:], *new, *replaced)
    if changed and len({kind(v) for v in seen}) > 1:
        changed[:] = of_one_type([*changed, *replaced])[: len(changed)]


def settle_dict(changed: dict, left=()):
    """The same of the values of a dict; `left` are samples of what it has held before."""
    kinds = {kind(v): sample(v) for v in (*changed.values(), *left)}
    if len(kinds) > 1:
        samples = list(kinds.values())
        for k, v in changed.items():
            changed[k] = fitted(v, samples)


def first_items(value):
    """Samples of what a loop over this value goes over."""
    if value is UNKNOWN:
        return []
    if isinstance(value, range):
        return [0]
    if isinstance(value, np.ndarray):
        return [ones(value)[0]]
    if isinstance(value, Produced):
        return value.samples()
    if isinstance(value, (list, dict, *VIEWS)):
        return list({kind(v): v for v in value}.values())
    if isinstance(value, tuple):
        return list(value)
    return list(itertools.islice(value, 1))


def misfits(error):
    """Whether an error says that types do not fit, which a compiler may find earlier."""
    sequence = "setting an array element with a sequence"
    if type(error) is TypeError or isinstance(error, UFuncTypeError):
        return True
    return type(error) is ValueError and sequence in str(error)


def ones(value):
    """A value of the same type with which an operation that refused the value may go well."""
    if isinstance(value, np.ndarray):
        return np.ones([max(n, 1) for n in value.shape], value.dtype)
    if isinstance(value, np.generic):
        return value.dtype.type(1)
    return type(value)(1) if is_number(value) else value


def element(value, key):
    """value[key], or, where there is no such element, one of its type."""
    try:
        found = value[key]
        # Of an empty slice nobody knows the items' type.
        return found or value[:1] if isinstance(found, list) else found
    except KeyError:
        if value:
            return next(iter(value.values()))
        raise
    except IndexError:
        if isinstance(value, list) and value:
            return value[0]
        if not isinstance(value, np.ndarray):
            raise
        keys = key if isinstance(key, tuple) else (key,)
        return ones(value)[tuple(0 if isinstance(k, (int, np.integer)) else k for k in keys)]


def is_constant(node) -> bool:
    """Whether this is a number with or without a sign, a global, or one of a module's."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        node = node.operand
    if isinstance(node, ast.Call) and node.args and isinstance(node.func, ast.Name):
        if node.func.id == "_un" and node.args[0].value in ("USub", "UAdd"):
            node = node.args[1]
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.value.id in ("math", "np")
    if isinstance(node, ast.Name):
        return getattr(node, "is_global", False)
    return isinstance(node, ast.Constant)


# ---- what is seen --------------------------------------------------------------------------------
class Table:
    """Samples of all that was assigned to each name, returned or yielded."""

    def __init__(self):
        self.seen: dict = {}
        self.refused: set[int] = set()  # lines of which CPython says that the types do not fit
        self.size = 0

    def note(self, where, value, constant=False):
        samples = self.seen.setdefault(where, {})
        k = kind(value)
        constant = constant and is_number(value)
        if constant:
            k = (k, repr(value))
        if k not in samples:
            samples[k] = sample(value), constant
            self.size += 1

    def fitted(self, where, value):
        if not (seen := self.seen.get(where)):
            return value
        return fitted(value, *zip(*seen.values()))

    def refuse(self, error):
        """A TypeError of what never runs, which the compiler may find earlier."""
        if misfits(error) and error is not Unknown.error:
            at = error.__traceback__
            while at is not None:
                if at.tb_frame.f_code.co_filename == "<oracle>":
                    self.refused.add(at.tb_lineno)
                at = at.tb_next

    def samples(self, where):
        return [s for s, _ in self.seen.get(where, {}).values()]


class Frame:
    """The names of one call of a function."""

    def __init__(self, table: Table, key):
        self.table, self.key = table, key
        self.versions: dict = {}

    def set(self, name, value, depth, at, constant=False):
        """What a name holds after this assignment."""
        if depth == 0:
            self.renew(name, at)
        if value is not UNKNOWN and callable(value):
            return value
        return self._one_type((self.key, name, self.versions.get(name)), value, constant)

    def _one_type(self, where, value, constant=False):
        self.table.note(where, value, constant)
        return self.table.fitted(where, value)

    def held(self, name):
        """The numbers that a name may hold here, as samples."""
        samples = self.table.samples((self.key, name, self.versions.get(name)))
        return [s for s in samples if is_number(s)]

    def renew(self, name, at):
        count = self.versions.get(name, (0, 0))[1]
        self.versions[name] = (at, count + 1)

    def give(self, value, constant=False):
        return self._one_type((self.key, "return"), value, constant)

    def failed(self, error):
        """What has no value of these samples."""
        self.table.refuse(error)

    def close(self, names: dict):
        """Lists may hold more types at the end than where they were assigned."""
        for name, value in names.items():
            if isinstance(value, (list, tuple, dict)) and not name.startswith("_"):
                self.table.note((self.key, name, self.versions.get(name)), value)


class Produced:
    """What a generator gives, and the samples of what it may give."""

    def __init__(self, frame: Frame, items):
        self.frame, self.items = frame, items

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.items)

    def samples(self):
        return self.frame.table.samples((self.frame.key, "return"))


# ---- the functions' text -------------------------------------------------------------------------
def made(text: str, **nodes):
    """Statements from text in which these names stand for expressions or, alone, for statements."""

    class Fill(ast.NodeTransformer):
        def visit_Name(self, node):
            return nodes.get(node.id, node)

        def visit_Expr(self, node):
            if isinstance(node.value, ast.Name) and isinstance(nodes.get(node.value.id), list):
                return nodes[node.value.id] or ast.Pass()
            return self.generic_visit(node)

    return Fill().visit(ast.parse(text)).body


# A value of each type that the programs declare of objmode's names.
DECLARED = {"int64": 1, "float64": 1.5, "boolean": True, "unicode_type": "a", "float64[:]": None}


def declared(value, kind):
    """What an objmode block gives for a name of that type."""
    if kind == "int64" and isinstance(value, (float, complex, np.inexact)):
        raise TypeError("a value of another type than the declared one")
    return value


def names_in(target) -> list[ast.Name]:
    return [n for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def leaves(body) -> bool:
    """Whether a break or continue in these statements means the loop around them."""
    for n in body:
        if isinstance(n, (ast.Break, ast.Continue)):
            return True
        if isinstance(n, ast.If) and (leaves(n.body) or leaves(n.orelse)):
            return True
        if isinstance(n, (ast.For, ast.While)) and leaves(n.orelse):
            return True
        if isinstance(n, ast.Try) and any(map(leaves, parts_of_try(n))):
            return True
    return False


def ends(n) -> bool:
    """Whether control never comes to what stands after a statement."""
    if isinstance(n, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
        return True
    if isinstance(n, ast.Try):
        body, orelse, finalbody, *handlers = ([*map(ends, part)] for part in parts_of_try(n))
        return any(finalbody) or (any(body + orelse) and all(map(any, handlers)))
    return isinstance(n, ast.If) and any(map(ends, n.body)) and any(map(ends, n.orelse))


def decided_end(body):
    """An expression that says whether what is decided while compiling ends these statements."""
    for n in body:
        if ends(n):
            return ast.Constant(True)
        if isinstance(n, ast.If) and n.decided:
            yes, no = decided_end(n.body), decided_end(n.orelse)
            if not all(isinstance(e, ast.Constant) and not e.value for e in (yes, no)):
                test = copy.deepcopy(n.test)
                return made("yes if test else no", yes=yes, test=test, no=no)[0].value
    return ast.Constant(False)


def parts_of_try(n: ast.Try):
    return n.body, n.orelse, n.finalbody, *(h.body for h in n.handlers)


def yields(body) -> bool:
    inner = (ast.FunctionDef, ast.Lambda)
    return any(
        isinstance(n, ast.Yield) or (not isinstance(n, inner) and yields(ast.iter_child_nodes(n)))
        for n in body
    )


class Rewriter:
    """Functions whose names, results and lists have one type each.

    `depth` is the text of an expression: how many loops and branches are around a statement. What
    is decided while compiling is none (`_open` is 0 then), nor is a loop over a tuple, which is
    unrolled.
    """

    count = 0

    def function(self, node: ast.FunctionDef) -> ast.FunctionDef:
        for n in ast.walk(node):
            if isinstance(n, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.With)):
                if not hasattr(n, "at"):
                    Rewriter.count += 1
                    n.at = Rewriter.count
        names = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        given = "(" + "".join(f"{n}, " for n in names) + ")"
        taken = "\n".join(f"{n} = _f.set({n!r}, {n}, 0, 0)" for n in names)
        types = made(
            f"def _types(_f, {', '.join(names)}):\n"
            + "".join(f"    {line}\n" for line in taken.split("\n"))
            + "    flat\n    _f.close(locals())",
            flat=self.samples(copy.deepcopy(node.body), "0"),
        )
        head = types + made(f"_f = _enter({node.name!r}, _types, {given})")
        body = made(taken) + self.block(node.body, "0")
        if yields(node.body):
            inner = made(f"def _items({', '.join(names)}):\n    body", body=body)
            body = inner + made(f"return _produced(_f, _items({', '.join(names)}))")
        node.body = head + body
        return node

    # ---- the function itself ---------------------------------------------------------------------
    def block(self, body, depth):
        return [new for n in body for new in self.statement(n, depth)]

    def assigned(self, targets, value, depth, at):
        """What assigns a value to targets, by way of names that nobody else has."""
        if len(targets) == 1 and isinstance(targets[0], ast.Name):
            name = targets[0].id
            constant = is_constant(value)
            text = f"{name} = _f.set({name!r}, value, {depth}, {at}, {constant})"
            return made(text, value=value)
        new = made(f"_v{at} = value", value=value)
        for t in targets:
            names = names_in(t)
            ids = [n.id for n in names]
            for n in names:
                n.id = f"_n{at}_{n.id}"
            assign = ast.Assign([t], ast.Name(f"_v{at}", ast.Load()))
            new += [ast.copy_location(assign, targets[0])]
            for name in ids:
                new += made(f"{name} = _f.set({name!r}, _n{at}_{name}, {depth}, {at})")
        return new

    def statement(self, n, depth):
        if isinstance(n, ast.Assign):
            return self.assigned(n.targets, n.value, depth, n.at)
        if isinstance(n, ast.AnnAssign) and n.value is not None:
            return self.assigned([n.target], n.value, depth, n.at)
        if isinstance(n, ast.Return) and n.value is not None:
            return made(f"return _f.give(value, {is_constant(n.value)})", value=n.value)
        if isinstance(n, ast.If):
            inner = f"{depth} + {'_open' if n.decided else 1}"
            n.body, n.orelse = self.block(n.body, inner), self.block(n.orelse, inner)
        if isinstance(n, ast.While):
            n.body, n.orelse = (self.block(b, depth + " + 1") for b in (n.body, n.orelse))
        if isinstance(n, ast.Try):
            for part in (n, *n.handlers):
                part.body = self.block(part.body, depth + " + 1")
            n.orelse = self.block(n.orelse, depth + " + 1")
            n.finalbody = self.block(n.finalbody, depth + " + 1")
        if isinstance(n, ast.For):
            inner = f"{depth} + _d{n.at}"
            head = self.over(n)
            n.iter = made(f"_guarded(_i{n.at})")[0].value
            item = ast.Name(f"_t{n.at}", ast.Load())
            first = self.assigned([n.target], item, inner, n.at)
            n.body = first + self.block(n.body, inner)
            n.orelse = self.block(n.orelse, inner)
            n.target = ast.Name(f"_t{n.at}", ast.Store())
            return [*head, n]
        if isinstance(n, ast.With):
            given = [k.arg for k in n.items[0].context_expr.keywords]
            declared = [k.value.value for k in n.items[0].context_expr.keywords]
            text = "".join(
                f"{x} = _f.set({x!r}, _declared({x}, {t!r}), {depth}, {n.at})\n"
                for x, t in zip(given, declared, strict=True)
            )
            return [n, *made(text)]
        return [n]

    def over(self, n: ast.For):
        left = leaves(n.body)
        return made(f"_i{n.at} = over\n_d{n.at} = _loop_depth(_i{n.at}, {left})", over=n.iter)

    # ---- every branch once -----------------------------------------------------------------------
    def samples(self, body, depth):
        found = []
        for k, n in enumerate(body):
            found += self.sampled(n, depth)
            if ends(n):
                break
            left = decided_end([n])
            if not isinstance(left, ast.Constant):
                rest = self.samples(body[k + 1 :], depth)
                return found + made("if _open or not left:\n    rest", left=left, rest=rest)
        return found

    def guarded(self, statements, names=(), depth="1", at=0):
        """Statements whose failure makes nothing but the names unknown that they assign to."""
        lost = [f"_f.renew({n!r}, {at}); {n} = _unknown" for n in names]
        text = "".join(f"        {line}\n" for line in lost)
        text = "    _f.failed(_e)\n" + (f"    if {depth} == 0:\n{text}" if lost else "")
        return made(f"try:\n    statements\nexcept Exception as _e:\n{text}", statements=statements)

    def sampled(self, n, depth):
        if isinstance(n, (ast.Assign, ast.AnnAssign)):
            targets = n.targets if isinstance(n, ast.Assign) else [n.target]
            names = [name.id for t in targets for name in names_in(t)]
            return self.guarded(self.statement(n, depth), names, depth, n.at)
        if isinstance(n, ast.Return) and n.value is not None:
            give = made(f"_f.give(value, {is_constant(n.value)})", value=n.value)
            return self.guarded(give)
        if isinstance(n, ast.Expr) and isinstance(n.value, ast.Yield):
            return self.guarded(made("_f.give(value)", value=n.value.value))
        if isinstance(n, ast.If):
            if not n.decided:
                test = self.guarded([ast.Expr(n.test)])
                sides = [s for b in (n.body, n.orelse) for s in self.samples(b, depth + " + 1")]
                return test + sides
            yes, no = (self.samples(b, depth + " + _open") for b in (n.body, n.orelse))
            text = "if _open or test:\n    yes\nif _open or not test:\n    no"
            return made(text, test=n.test, yes=yes, no=no)
        if isinstance(n, ast.While):
            test = self.guarded([ast.Expr(n.test)])
            return test + [s for b in (n.body, n.orelse) for s in self.samples(b, depth + " + 1")]
        if isinstance(n, ast.Try):
            # A handler begins where the body may not have been done.
            parts = n.body, *(h.body for h in n.handlers), n.orelse, n.finalbody
            return [s for b in parts for s in self.samples(b, depth + " + 1")]
        if isinstance(n, ast.For):
            at, inner = n.at, f"{depth} + _d{n.at}"
            names = [name.id for name in names_in(n.target)]
            item = ast.Name(f"_t{at}", ast.Load())
            first = self.guarded(self.assigned([n.target], item, inner, at), names, inner, at)
            head = made(f"_i{at}, _d{at} = (), 1") + self.guarded(self.over(n))
            text = f"for _t{at} in _samples(_i{at}):\n    body"
            body = first + self.samples(n.body, inner)
            return head + made(text, body=body) + self.samples(n.orelse, inner)
        if isinstance(n, ast.With):  # objmode says of which types its names are
            found = []
            for k in n.items[0].context_expr.keywords:
                value = ast.Constant(DECLARED[k.value.value])
                if k.value.value == "float64[:]":
                    value = made("_ones")[0].value
                found += self.assigned([ast.Name(k.arg, ast.Store())], value, depth, n.at)
            return found
        if isinstance(n, ast.FunctionDef):
            return [n]
        if isinstance(n, (ast.Expr, ast.Delete)):
            return self.guarded([n])
        return []  # raise, assert, break, continue, pass assign nothing


# ---- what is decided while compiling -------------------------------------------------------------
class Constants(ast.NodeVisitor):
    """Marks tests made of literals and globals alone, of which the compiler may decide any."""

    def __init__(self):
        self.local: set[str] = set()
        self.any = False

    def visit_FunctionDef(self, node):
        outer = self.local
        own = {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
        own |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not reads(n)}
        own |= {n.name for n in ast.walk(node) if isinstance(n, ast.FunctionDef) and n != node}
        self.local = outer | own
        self.generic_visit(node)
        self.local = outer

    def visit_Name(self, node):
        node.is_global = node.id not in self.local

    def constant(self, node) -> bool:
        if isinstance(node, ast.Name):
            return node.id not in self.local
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
            return True
        if isinstance(node, ast.Attribute) and node.attr in ("ndim", "itemsize"):
            return True
        if isinstance(node, ast.BoolOp) and self.constant(node.values[0]):
            return True  # it may decide: 9 or x
        # What is never None, and what always is, are known.
        if isinstance(node, ast.Compare) and any(
            isinstance(n, ast.Constant) and n.value is None for n in (node.left, *node.comparators)
        ):
            return True
        # Arrays of different numbers of axes are not equal, whatever they hold.
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "array_equal":
            return True
        return all(map(self.constant, ast.iter_child_nodes(node)))

    def _marked(self, node, test):
        self.generic_visit(node)
        node.decided = self.constant(test)
        self.any = self.any or node.decided

    def visit_If(self, node):
        self._marked(node, node.test)

    def visit_IfExp(self, node):
        self._marked(node, node.test)

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        node.decided = [self.constant(v) for v in node.values[:-1]]
        self.any = self.any or any(node.decided)


def reads(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)
