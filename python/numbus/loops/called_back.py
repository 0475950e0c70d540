"""From a function that SciPy calls back to compiled code."""

import ast

import numpy
from scipy import LowLevelCallable

from .. import _core
from ..kernels import _generate, carray, cfunc
from ..kernels._errors import CompileError
from . import background, emit, heads, numbers, singles
from .called import FunctionEmitter
from .numbers import CODES, Unsupported


class Native(_core.Native):
    """types: of its arguments, as letters; callable: what SciPy takes for C to call."""


def compiled(called, kinds, more, places, guards, names, result):
    """The Native of a function, or None."""
    arguments = tuple(
        ("array", "F", numpy.dtype("float64"), 1, False, f"a{k}", "array") if kind == "A" else kind
        for k, kind in enumerate(kinds + more)
    )
    made = {}
    try:
        emitter = CallbackEmitter(called, arguments, made, result)
        kind, lines, _ = emitter.function("call0")
    except (Unsupported, emit.NotCompiled):
        return None
    text, signature = (_for_c if result == "integrand" else _for_python)(called, kinds, more, kind)
    try:
        of = background.names_of(made)
        call = _generate.make("call0", lines, **of)
        entry = _generate.make("entry", text, call0=call, carray=carray, **of)
        function = cfunc(signature, boundscheck=False)(entry)
    except CompileError:
        return None
    several = kind[0] == "["
    count = len(kind) - several
    native = Native(function.address, kinds, more, places, guards, names, kind[0], count)
    native.types = kinds
    if result == "integrand":
        native.callable = LowLevelCallable(native.capsule)
    return native


_CONVERT = {"f": "float", "F": "float", "i": "int"}


def _last(called):
    return ["0", "0", *(["0"] if called.calls_itself else [])]


def _for_c(called, kinds, more, _):
    """The lines of double (int, double *, void *), and its signature."""
    given = [f"{_CONVERT[k]}(x[{n}])" for n, k in enumerate(kinds)]
    given += [f"{_CONVERT[k]}(block[{n + 1}])" for n, k in enumerate(more)]
    return [
        "def entry(n, x, block):",
        f"    ok, r = call0({', '.join([*given, *_last(called)])})",
        "    if not ok:",
        "        block[0] = 1.0",
        "        return 0.0",
        "    return r",
    ], "float64(int32, CPointer(float64), CPointer(float64))"


def _for_python(called, kinds, more, kind):
    """The lines of what bindings/callbacks.cpp calls, and its signature."""
    numbers_of = [k for k in kinds + more if k != "A"]
    given = [f"{_CONVERT[k]}(x[{n}])" for n, k in enumerate(numbers_of)]
    given += ["carray(elements, n)"] * ("A" in kinds)
    results = [f"r{k}" for k in range(len(kind.strip("[")))]
    text = [
        "def entry(x, elements, n, out):",
        f"    ok, {', '.join(results)} = call0({', '.join([*given, *_last(called)])})",
    ]
    for k, r in enumerate(results):
        if kind == "i":  # which is exact as a float64
            text += [f"    if {r} > {1 << 53} or {r} < {-(1 << 53)}:", "        return 0"]
        text.append(f"    out[{k}] = float({f'int({r})' if kind == 'b' else r})")
    text.append("    return int(ok)")
    return text, "int64(CPointer(float64), CPointer(float64), int64, CPointer(float64))"


_ARRAYS = ("call", "numpy.array"), ("call", "numbus.array")


_NO_RESULTS = {*numbers.NO_NUMBERS, numbers.COMPLEX, singles.SINGLE}


class CallbackEmitter(FunctionEmitter):
    """Emits a function whose result may be several numbers: its kind then is [ and theirs."""

    def __init__(self, called, arguments, made, result):
        super().__init__(called, arguments, made)
        self._result = result

    def note_returned(self, kind):
        if kind == singles.SINGLE:  # of which callers make float32
            raise Unsupported("a result of this type")
        super().note_returned(kind)

    def _elements(self, n):
        """The nodes of `return [a, b]`, `return a, b` and `return np.array([a, b])`, or None."""
        if isinstance(n, ast.Call) and len(n.args) == 1 and not n.keywords:
            known = self.fixed.get(heads.name_of(n.func))
            if known in _ARRAYS and isinstance(n.args[0], (ast.List, ast.Tuple)):
                n = n.args[0]
        return n.elts if isinstance(n, (ast.List, ast.Tuple)) else None

    def _return(self, n, env):
        elements = self._elements(n.value)
        if elements is None and self._result != "integrand":
            return super()._return(n, env)
        if elements is not None and self._result != "elements":
            raise Unsupported("a result of several numbers")
        several = elements is not None

        def emit_it(e):
            texts = []
            for x in elements if several else [n.value]:
                v = self._kept(self.value(x, e))
                if v.kind not in CODES or v.kind in _NO_RESULTS:
                    raise Unsupported("a result of this type")
                texts.append(f"float({f'int({v.text})' if v.kind in 'bB' else v.text})")
            self.note_returned(("[" if several else "") + "f" * len(texts))
            self.line(f"return True, {', '.join(texts)}")

        self._tried(n, emit.names_read(n.value, self.names), env, emit_it)
        return None
