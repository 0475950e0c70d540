"""From a Python function to the tree that the core compiles, its outer names resolved."""

import ast
import builtins
import contextlib
import hashlib
import sys
import threading
import types as python_types

import numpy

from .. import _core
from ..core import derivatives
from ..functions import registry
from . import _errors, _foreign, _registered, _texts
from ._errors import CompileError, UnsupportedError
from ._sources import parse

# Arrays of NumPy's that say all by their elements.
_PLAIN = {numpy.ndarray, numpy.memmap}
_NUMBERS = (bool, int, float, complex, numpy.generic)
_BUILTINS = """range len abs min max int float complex bool round sum any all divmod pow enumerate
zip tuple list slice reversed isinstance sorted print map filter str dict set ord chr
getattr hasattr repr format iter next hash type frozenset""".split()


class Global(ast.expr):
    """A name that stands for something outside of the function."""

    _fields = ("text", "number", "value", "literal", "elts")

    def __init__(self, text, at, number=-1, value=None, literal=False, elts=()):
        super().__init__()
        self.text, self.number, self.value, self.literal = text, number, value, literal
        self.elts = list(elts)
        for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            setattr(self, name, getattr(at, name, 0))


with_statements = []  # functions that know what stands for a `with`: (names, node, describe)

_names = {}  # id of an object to its canonical name; the objects are kept alive by `_named`
_named = []


def name_object(obj, name):
    """Makes the object known to compiled functions under that name."""
    _named.append(obj)
    _names[id(obj)] = name


_SOURCES = (
    ("builtins", ""),
    ("math", "math."),
    ("cmath", "cmath."),
    ("operator", "operator."),
    ("functools", "functools."),
    ("random", "random."),
    ("heapq", "heapq."),
    ("numpy", "np."),
    ("numpy.linalg", "np.linalg."),
    ("numpy.random", "np.random."),
    ("numpy.fft", "np.fft."),
    ("numpy.polynomial.polynomial", "np.polynomial.polynomial."),
    ("numpy.lib.stride_tricks", "np.lib.stride_tricks."),
    ("scipy.special", "special."),
    ("numbus", "np."),
    ("numbus.core.dtypes", "np."),
    ("numbus.linalg", "np.linalg."),
    ("numbus.random", "np.random."),
    ("numbus.fft", "np.fft."),
)


def name_of(value):
    """The name under which compiled functions know an object of Python's or NumPy's, or None."""
    known = _names.get(id(value))
    if known is not None or not callable(value):
        return known
    if isinstance(value, type) and issubclass(value, numpy.generic):
        return {numpy.integer: "np.integer", numpy.floating: "np.floating"}.get(value)
    own = getattr(value, "__name__", None)
    if not isinstance(own, str):
        return None
    if own == "fromkeys" and getattr(value, "__self__", None) is dict:
        return "dict.fromkeys"  # an object of its own each time it is asked for
    if own == "maketrans" and value is str.maketrans:
        return "str.maketrans"
    module = str(getattr(value, "__module__", ""))
    if module == "numbus.core.routines":
        name_object(value, "routines." + own)
        return "routines." + own
    if module == "numbus.core.fallback" and hasattr(value, "__wrapped__"):
        return name_of(value.__wrapped__)  # what is NumPy's for now
    if module == "numbus.core.dtypes" and not hasattr(numpy, own):
        return None
    if module.startswith("numbus.functions.") and hasattr(numpy, own):
        # The function itself, which the namespace has with what hands operands to NumPy around it.
        if own in getattr(sys.modules[module], "__all__", ()):
            name_object(value, "np." + own)
            return "np." + own
    if module == "numbus.functions.strides":
        name_object(value, "np.lib.stride_tricks." + own)
        return "np.lib.stride_tricks." + own
    for module, prefix in _SOURCES:
        names = getattr(sys.modules.get(module), "__dict__", ())
        if own in names and names[own] is value and (prefix or own in _BUILTINS):
            name_object(value, prefix + own)
            return prefix + own
    return None


_dtypes = [
    numpy.dtype(t)
    for t in (
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    )
]


def dtype_number(value):
    """The core's number of an element type, or None."""
    try:
        dtype = numpy.dtype(value)
    except TypeError:
        return None
    return _dtypes.index(dtype) if dtype in _dtypes else None


def _like(name, names):
    """The name of `names` that a misspelt one resembles; empty where there is none."""
    import difflib  # only after a mistake

    return "".join(difflib.get_close_matches(name, names, 1))


class _Names(ast.NodeTransformer):
    """Replaces the names that are not local by what they stand for."""

    def __init__(self, function, program):
        self.function = function
        self.program = program
        code = function.__code__
        self.local = [set(code.co_varnames) | set(code.co_cellvars)]
        self.closure = dict(zip(code.co_freevars, function.__closure__ or (), strict=False))

    def is_local(self, name):
        return any(name in names for names in self.local)

    def lookup(self, name):
        if name in _registered.NAMES:
            return True, _registered.NAMES[name]
        # While its decorator compiles it, nothing has its name yet but what had it before.
        if self.function is self.program.declared() and name == self.function.__code__.co_name:
            return True, self.function
        if name in self.closure:
            try:
                return True, self.closure[name].cell_contents
            except ValueError:  # nothing has been assigned to it yet
                return False, None
        if name in self.function.__globals__:
            return True, self.function.__globals__[name]
        if hasattr(builtins, name):
            return True, getattr(builtins, name)
        return False, None

    def visit_Name(self, node):
        if not isinstance(node.ctx, ast.Load) or self.is_local(node.id):
            return node
        found, value = self.lookup(node.id)
        if not found:
            return Global(f"unknown {node.id}", node)
        return self.describe(value, node)

    def visit_Constant(self, node):
        wide = type(node.value) is int and node.value >= 2**64
        return self.describe(node.value, node) if wide else node

    def visit_Attribute(self, node):
        found, value = self.static(node)
        if found:
            return self.describe(value, node)
        return self.generic_visit(node)

    def static(self, node):
        """The value of a dotted name that begins outside of the function."""
        if isinstance(node, ast.Name):
            return (False, None) if self.is_local(node.id) else self.lookup(node.id)
        if not isinstance(node, ast.Attribute):
            return False, None
        found, value = self.static(node.value)
        if not found or isinstance(value, (numpy.ndarray, _core.ndarray, *_NUMBERS, tuple)):
            return False, None
        attribute = getattr(value, "_kernel_attribute", None)
        if attribute is not None:
            return True, attribute(node.attr)
        if not hasattr(value, node.attr):
            raise CompileError(
                f"'{getattr(value, '__name__', value)}' has no attribute '{node.attr}'",
                node,
                self.function,
                _like(node.attr, dir(value)),
            )
        return True, getattr(value, node.attr)

    def visit_FunctionDef(self, node):
        # Decorators, annotations and defaults of the outermost one belong to its surroundings.
        if len(self.local) > 1 or self.nested:
            names = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
            names |= {
                n.id
                for n in ast.walk(node)
                if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            }
            named = (ast.FunctionDef, ast.ExceptHandler)
            names |= {n.name for n in ast.walk(node) if isinstance(n, named) and n.name}
            self.local.append(names)
            node.body = [self.visit(n) for n in node.body]
            self.local.pop()
            self._defaults(node)
            if node.decorator_list:
                raise UnsupportedError(
                    f"not yet in compiled functions: the decorator of the inner function "
                    f"'{node.name}'",
                    node.decorator_list[0],
                    self.function,
                    "decorate it outside of the compiled function",
                )
            return node
        self.nested, self.root = True, node
        self.parameters = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
        node.body = self._statements(node.body)
        node.decorator_list = []
        return node

    nested = False

    def visit_With(self, node):
        def describe(number, declared, at):
            return Global("object mode", at, number, elts=[declared_type(t, at) for t in declared])

        for statement in with_statements:
            made = statement(self, node, describe)
            if made:
                return made
        return self.generic_visit(node)

    def _statements(self, body):
        """Statements without the sides of registered functions that are for array calls alone."""
        found = []
        for n in body:
            side = self._side(n) if isinstance(n, ast.If) else None
            if side is None:
                found.append(self.visit(n))
                continue
            found += self._statements(side)
            if side and isinstance(side[-1], (ast.Return, ast.Raise)):
                break
        return found

    def _side(self, node):
        """What an `if _compiled` of ours leaves; None for other conditions."""
        test, turned = node.test, False
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test, turned = test.operand, True
        ours = _is_own(self.function) and not self.is_local("_compiled")
        if not ours or not isinstance(test, ast.Name) or test.id != "_compiled":
            return None
        return node.orelse if turned else node.body

    def visit_IfExp(self, node):
        side = self._side(node)
        return self.generic_visit(node) if side is None else self.visit(side)

    def visit_Lambda(self, node):
        self.local.append({a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)})
        node.body = self.visit(node.body)
        self.local.pop()
        self._defaults(node)
        return node

    def _defaults(self, node):
        """Those of an inner function, which are expressions of the function around it."""
        for defaults in (node.args.defaults, node.args.kw_defaults):
            defaults[:] = [None if n is None else self.visit(n) for n in defaults]

    def _comprehension(self, node):
        self.local.append(
            {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
        )
        self.generic_visit(node)
        self.local.pop()
        return node

    visit_ListComp = visit_GeneratorExp = visit_SetComp = visit_DictComp = _comprehension

    def known_text(self, node):
        """The text of a node, where it is known here; else None."""
        if isinstance(node, ast.Constant):
            value = node.value
        else:
            value = self.static(node)[1] if isinstance(node, (ast.Name, ast.Attribute)) else None
        return value if isinstance(value, str) else None

    def as_f_string(self, node, make):
        """The f-string for a node that formats a known text; or the node, where there is none."""
        try:
            made = make()
        except _texts.Refused as refused:
            if not refused.mistake:
                return self.generic_visit(node)
            raise CompileError(refused.what, node, self.function, refused.hint) from None
        for n in ast.walk(made):
            if not hasattr(n, "lineno"):
                ast.copy_location(n, node)
        return self.visit(made)

    def visit_Call(self, node):
        f = node.func
        if isinstance(f, ast.Attribute) and f.attr == "format":
            text = self.known_text(f.value)
            if text is not None:
                return self.as_f_string(node, lambda: _texts.of_format(text, node))
        return self.generic_visit(node)

    def visit_BinOp(self, node):
        if isinstance(node.op, ast.Mod):
            text = self.known_text(node.left)
            if text is not None:

                def describe(value):
                    return self.describe(value, node)

                return self.as_f_string(node, lambda: _texts.of_percent(text, node.right, describe))
        return self.generic_visit(node)

    def visit_FormattedValue(self, node):
        """`{x!r}` is `{repr(x)}`."""
        if node.conversion == ord("a"):
            raise UnsupportedError(
                "not yet in compiled functions: !a in f-strings", node, self.function, "{x!r}"
            )
        node = self.generic_visit(node)
        if node.conversion != -1:
            convert = repr if node.conversion == ord("r") else str
            call = ast.Call(self.describe(convert, node), [node.value], [])
            node.value, node.conversion = ast.copy_location(call, node.value), -1
        return node

    def visit_arg(self, node):
        return node

    def visit_Global(self, node):
        if isinstance(node, Global):  # made here, and not the statement
            return node
        raise CompileError(
            f"a compiled function cannot assign to the global '{node.names[0]}'",
            node,
            self.function,
            "return the new value, or write into a global array passed as an argument",
        )

    def visit_Expr(self, node):
        """`yield from x` is a loop that yields each item."""
        if not isinstance(node.value, ast.YieldFrom):
            return self.generic_visit(node)
        at = node.value
        item = ast.Name("numbus item", ast.Load())
        target = ast.Name("numbus item", ast.Store())
        body = ast.Expr(ast.Yield(item))
        loop = ast.For(target, self.visit(at.value), [body], [])
        for made in (item, target, body, body.value, loop):
            ast.copy_location(made, at)
        return loop

    def visit_AnnAssign(self, node):
        node.target = self.visit(node.target)
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def describe(self, value, at):
        """The node that stands for a Python object."""
        if isinstance(value, numpy.generic) or value is None or value is Ellipsis:
            return Global("literal", at, value=value, literal=True)
        if isinstance(value, (bool, int, float, complex, str)):
            if isinstance(value, int) and not -(2**63) <= value < 2**64:
                return Global(f"unsupported the integer {value} does not fit into 64 bits", at)
            return Global("literal", at, value=value, literal=True)
        if isinstance(value, tuple):
            if not value:
                return Global("empty tuple", at)
            items = [self.describe(v, at) for v in value]
            if hasattr(value, "_fields"):
                return self.named_tuple("named ", type(value), at, items)
            return Global("tuple", at, elts=items)
        if isinstance(value, type) and issubclass(value, BaseException):
            bases = [
                Global(f"exception {_errors.exception_name(c)}", at)
                for c in value.__mro__[1:]
                if issubclass(c, BaseException)
            ]
            return Global(f"exception {_errors.exception_name(value)}", at, elts=bases)
        if isinstance(value, type) and hasattr(value, "_kernel_class"):
            name, number = value._kernel_class()
            return Global(f"jitclass {name}", at, number)
        extended = self.program.extended.get(id(value))
        if extended is not None and not _is_own(self.function):
            return self.extended(extended, value, at)
        if isinstance(value, _foreign.Function):
            return Global(_foreign.described(value, dtype_number), at)
        if isinstance(value, _foreign.Linked):
            return Global(_foreign.linked(value, dtype_number), at)
        if _foreign.gives_buffer(value):
            return Global("cffi.from_buffer", at)
        name = getattr(value, "_kernel_name", None) or name_of(value)
        if name is not None:
            return Global(name, at)
        number = getattr(value, "_kernel_dtype", None)
        if number is None and isinstance(value, (type, numpy.dtype)):
            number = dtype_number(value)
            if isinstance(value, type) and not issubclass(value, numpy.generic):
                number = None
        if number is not None:
            return Global(f"dtype {number}", at, number=number)
        if getattr(value, "_kernel_type", False):
            return declared_type(value, at)
        makes = getattr(value, "_kernel_maker", None)
        if makes is not None:
            return Global("function", at, number=self.program.function(makes))
        if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
            defaults = [self.describe(v, at) for v in value._field_defaults.values()]
            return self.named_tuple("namedtuple ", value, at, defaults)
        loops = getattr(value, "_kernel_loops", None)
        if loops is not None:
            kind, number, declared = loops()
            types = [
                [Global(f"dtype {t}", at, number=t) for t in map(dtype_number, loop)]
                for loop in declared
            ]
            return Global(kind, at, number, elts=[Global("tuple", at, elts=t) for t in types])
        function = getattr(value, "_kernel_function", None)
        if function is not None:
            declared = getattr(value, "_declared", None)
            signatures = declared.signatures if declared else ()
            elts = [
                Global("tuple", at, elts=[declared_type(t, at) for t in (*arguments, result)])
                for arguments, result in signatures
            ]
            return Global("function", at, number=function(), elts=elts)
        if isinstance(value, python_types.FunctionType):
            return Global("function", at, number=self.program.function(value))
        if isinstance(value, (numpy.ndarray, _core.ndarray)):
            return self.array(value, at)
        if isinstance(value, python_types.ModuleType):
            return Global(f"module {value.__name__}", at)
        if isinstance(value, frozenset):
            items = [self.describe(v, at) for v in value]
            return Global("frozenset values", at, elts=items)
        if isinstance(value, (list, dict, set)):
            what = type(value).__name__
            return Global(
                f"unsupported not yet: a global {what}; a tuple or an array",
                at,
            )
        ufunc = getattr(value, "__self__", None)
        if isinstance(ufunc, numpy.ufunc):
            return Global(
                f"unsupported not yet: np.{ufunc.__name__}.{value.__name__}; np.sum, np.prod, "
                "np.max, np.cumsum, or a loop",
                at,
            )
        if isinstance(value, type) and value.__module__ != "builtins":
            return Global(
                f"unsupported not yet: the class {value.__name__}; a named tuple, made outside", at
            )
        if isinstance(value, (type, python_types.BuiltinFunctionType, numpy.ufunc, _core.Composed)):
            return Global(f"unsupported not yet: {value.__name__}()", at)
        return Global(
            f"unsupported '{type(value).__name__}' objects mean nothing in compiled functions", at
        )

    def extended(self, number, value, at):
        """A function that overload() has said something of, and what it is beside."""
        del self.program.extended[id(value)]
        try:
            beside = self.describe(value, at)
        except CompileError:  # that of Python need not compile
            beside = None
        finally:
            self.program.extended[id(value)] = number
        if beside is None or beside.text == "function":
            beside = Global(f"unsupported {value.__name__}() is not known for these types", at)
        name = getattr(value, "__name__", "the function")
        return Global(f"overloaded function {number} {name}", at, number, elts=[beside])

    def array(self, value, at):
        """A global array is a constant: its elements as they are when the function is compiled."""
        if isinstance(value, _core.ndarray):
            if derivatives.watched([value]):
                what = "a global array that a derivative is taken of"
            else:
                plain = type(value) is _core.ndarray and dtype_number(value.dtype) is not None
                what = None if plain else f"a global {type(value).__name__}"
        elif type(value) not in _PLAIN:
            what = f"a global {type(value).__name__}"
        elif dtype_number(value.dtype) is None:
            what = f"a global array of the type {value.dtype}"
        else:
            what = None
        if what is None and self.program.seeing_changes:
            what = "a global array whose later changes have to be seen"
        if what is None:
            return Global("array", at, number=self.program.array(value))
        return Global(f"unsupported not yet: {what}; pass it as an argument", at)

    @staticmethod
    def named_tuple(kind, cls, at, elts):
        """A class of named tuples and its last fields' defaults, or one with its items."""
        number, names = _errors.named_tuple_class(cls)
        return Global(kind + " ".join(names), at, number, elts=elts)


def declared_type(t, at):
    """What the core is told of a declared type."""
    tag = getattr(t, "tag", None)
    if tag == "number":
        return Global(f"dtype {t.dtype}", at, number=dtype_number(t.dtype))
    if tag == "array":
        return Global(f"type array {t.ndim} {t.layout}", at, number=dtype_number(t.dtype))
    items = [declared_type(i, at) for i in getattr(t, "items", ())]
    if tag == "object":
        return Global("type object", at, number=t.ndim)
    return Global(f"type {tag}", at, elts=items)


class _Resolving:
    """One resolution: a function and all those that it calls, seen at one moment."""

    def __init__(self):
        self.numbers = {}  # id of a function to its number, None while nothing has asked for it
        self.held = []  # those functions, so that no id is given to another object
        self.open = []  # those whose trees are being made, the outermost one first
        self.fresh = []  # (key, number) of those that other resolutions may find
        self.mutual = set()  # ids of those that reach an outer one: never found again


class Program:
    """The functions and arrays that the core knows, by number.

    A function is known by its code and by all that its names stand for, so that one whose globals
    or closure have changed is another one. Each compilation for new types asks again.
    """

    def __init__(self):
        # (id of code, what it says of checks, what its names stand for) to (number, code)
        self.functions = {}
        self.arrays = {}  # (dtype, shape, digest of the values) to number
        self.extended = {}  # id of a function that overload() has said something of, to its number
        self._own = {}  # functions of Numbus, whose globals never change, to their numbers
        self._local = threading.local()  # this thread's resolution

    def function(self, function):
        """The number of a Python function as its globals and closure are now."""
        if not isinstance(function, python_types.FunctionType):
            raise CompileError(
                f"'{getattr(function, '__name__', function)}' is not a Python function: it has no "
                "source to compile",
                hint="a function with def around it",
            )
        now = getattr(self._local, "now", None)
        if now is not None:
            return self._number(function, now)
        now = self._local.now = _Resolving()
        try:
            number = self._number(function, now)
        finally:
            self._local.now = None
        # Only now all of their trees are there: no other thread finds half of them.
        for key, (known, holds) in now.fresh:
            if isinstance(key, python_types.FunctionType):
                self._own.setdefault(key, known)
            else:
                self.functions.setdefault(key, (known, holds))
        return number

    def declared(self):
        """The function that this thread compiles for the signatures of its decorator, or None."""
        return getattr(self._local, "declared", None)

    @property
    def seeing_changes(self):
        """Whether what this thread compiles has to see later changes of global arrays."""
        return getattr(self._local, "seeing", False)

    @contextlib.contextmanager
    def refusing_arrays(self):
        """Has global arrays not compile: for functions that nobody has asked to be compiled."""
        before, self._local.seeing = self.seeing_changes, True
        try:
            yield
        finally:
            self._local.seeing = before

    @contextlib.contextmanager
    def declaring(self, function):
        """Has the name of a function stand for itself: its decorator has not returned yet."""
        before, self._local.declared = self.declared(), function
        try:
            yield
        finally:
            self._local.declared = before

    def anew(self, function):
        """function(), whatever is being resolved around this call: for a compilation."""
        before = getattr(self._local, "now", None)
        self._local.now = None
        try:
            return self.function(function)
        finally:
            self._local.now = before

    def _number(self, function, now):
        if function in self._own:
            return self._own[function]
        key = id(function)
        if key in now.numbers:
            if now.numbers[key] is None:  # it calls itself, directly or by others
                now.numbers[key] = _add(function)
            reached = now.open.index(key) if key in now.open else len(now.open)
            now.mutual.update(now.open[reached + 1 :])
            return now.numbers[key]
        if not self.functions:
            _core.set_library(self.library)
        now.numbers[key] = None
        now.held.append(function)
        now.open.append(key)
        try:
            tree, seen = self._resolved(function)
        except BaseException:
            del now.numbers[key]
            raise
        finally:
            now.open.pop()
        number, code = now.numbers[key], function.__code__
        own = _is_own(function)
        what = tuple([(s[0], "itself") if s[1:3] == ("function", number) else s for s in seen])
        checks = getattr(function, "_kernel_boundscheck", None)
        full = function if own else (id(code), checks, what)
        alone = key not in now.mutual
        if alone and not own and full in self.functions:
            number = self.functions[full][0]
        else:
            if number is None:
                number = _add(function)
            _core.define_function(number, tree)
            if alone or own:
                now.fresh.append((full, (number, code)))
        now.numbers[key] = number
        # Whoever calls one that is made anew each time is made anew, too.
        if not alone and now.open:
            now.mutual.update(now.open)
        return number

    def tree(self, function):
        """The function's definition, every name resolved."""
        return self._resolved(function)[0]

    def _resolved(self, function):
        """(definition, what its names stand for): the latter tells two states of it apart."""
        definition = parse(function)
        renamed = getattr(function, "_kernel_attributes", None)
        for node in ast.walk(definition) if renamed else ():
            if isinstance(node, ast.Attribute):
                node.attr = renamed.get(node.attr, node.attr)
        row = registry.BODIES.get(function)
        if row is not None:
            _registered.convert(row, definition)
        names = _Names(function, self)
        defaults = list(function.__defaults__ or ())
        keywords = function.__kwdefaults__ or {}
        definition = (
            names.visit(definition)
            if isinstance(definition, ast.FunctionDef)
            else self._lambda(definition, names)
        )
        definition.args.defaults = [names.describe(v, definition) for v in defaults]
        definition.args.kw_defaults = [
            names.describe(keywords[a.arg], definition) if a.arg in keywords else None
            for a in definition.args.kwonlyargs
        ]
        seen = [
            (position, *_fingerprint(node))
            for position, node in enumerate(ast.walk(definition))
            if isinstance(node, Global)
        ]
        return definition, seen

    @staticmethod
    def _lambda(definition, names):
        definition.body = names.visit(definition.body)
        return definition

    def array(self, value):
        """The number of a copy of an array: the elements that it has now."""
        copy = numpy.array(value, order="C", copy=True)
        digest = hashlib.sha256(copy.tobytes()).digest()
        key = copy.dtype.str, copy.shape, digest
        if key not in self.arrays:
            self.arrays[key] = _core.add_global_array(copy)
        return self.arrays[key]

    def library(self, name):
        """The number of the library's function of that name; -1 where there is none."""
        from . import _library

        find = _errors.member if name.startswith("object ") else _library.find
        function = find(name)
        return -1 if function is None else self.anew(function)


def checked_itself(function, boundscheck):
    """The same function, whose indices are checked or not whoever calls it."""
    made = python_types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__,
        function.__closure__
    )  # fmt: skip
    made.__kwdefaults__ = function.__kwdefaults__
    made.__module__, made.__qualname__ = function.__module__, function.__qualname__
    made._kernel_boundscheck = boundscheck
    return made


# What a function is to the core: the user's, one of library/, or a registered one or its helper.
_USER, _LIBRARY, _REGISTERED = range(3)


def _add(function):
    module = str(function.__module__)
    kind = _USER
    if module.startswith("numbus.kernels.library."):
        kind = _REGISTERED if hasattr(function, "_kernel_expanded") else _LIBRARY
    elif module.startswith("numbus.functions."):
        kind = _REGISTERED
    checks = getattr(function, "_kernel_boundscheck", None)
    return _core.add_function(function.__name__, function.__code__.co_filename, kind, checks)


def _is_own(function):
    return str(function.__module__).startswith(
        ("numbus.kernels.", "numbus.cuda.", "numbus.functions.")
    )


def _fingerprint(node):
    """What tells two Globals apart."""
    value = node.value
    if isinstance(value, numpy.generic):
        value = value.dtype.str, value.tobytes()
    elif isinstance(value, (float, complex)):
        value = repr(value)  # tells the zeros apart, and takes NaN for itself
    return (
        node.text,
        node.number,
        type(node.value).__name__,
        value,
        node.literal,
        tuple([_fingerprint(e) for e in node.elts]),
    )


program = Program()
