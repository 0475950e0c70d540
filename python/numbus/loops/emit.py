"""From a loop and the types of its names to a function that the kernel language compiles.

The function does what CPython would do, statement by statement, and leaves before a statement whose
result it cannot vouch for: all checks of a statement come before its first effect, so that CPython
can carry it out from its beginning. Types are found by emitting: the kinds that a name may have
at the head of a loop only grow, until an emission changes nothing.
"""

import ast

from . import (
    bounded,
    calls,
    folds,
    for_heads,
    heads,
    lines,
    list_parts,
    made_lists,
    numbers,
    places,
    select,
    strips,
)
from .numbers import CODES, STORES, Unsupported, Value

INDENT = "    "
MOST_VERSIONS = 6
_STATE = "?"  # stands for the names of all variables, until they are known


class NotCompiled(Exception):
    """The loop would be left in each iteration: the line and why."""


class Emitter(
    bounded.Bounded,
    calls.Calls,
    folds.Folds,
    for_heads.ForHeads,
    lines.Lines,
    list_parts.ListParts,
    made_lists.MadeLists,
    places.Places,
    strips.Strips,
):
    """Emits one loop for the kinds of its names at the entry.

    loop: with numbered statements. names: those that are assigned to. fixed: what each other name,
    or dotted name, stands for: a kind of number; ("array", kind of elements, dtype, axes, whether
    it can be written to, parameter); ("call", "math.sin"); ("function", Called); "o" for all else.
    entry: of `names`. of_function: the class that emits functions of the program's. made: those
    that were emitted.
    """

    def __init__(self, loop, names, fixed, entry, of_function, made=None):
        self.loop, self.names, self.fixed, self.entry = loop, names, fixed, entry
        self.lines, self.level, self.temporaries = [], 1, 0
        self.rare = 0
        self.at = None  # the statement that is being emitted
        self.open = []  # loops: (breaks, continues, node)
        self.loops = [
            n
            for n in (ast.walk(loop) if loop else ())
            if isinstance(n, ast.For) and hasattr(n, "at") and not n.opaque
        ]
        # Which variables a name has: for ints, floats, bools.
        self.stores = {n: {STORES[k]} if k in STORES else set() for n, k in entry.items()}
        self.of_function = of_function
        self._called = self._kinds = None  # of the function of the program's that this is one of
        self.made = {} if made is None else made  # (Called, kinds): (name, kind, lines, arrays)
        # Numbers that the loop reads and never assigns to.
        self.more = [n for n, f in fixed.items() if isinstance(f, str) and f in STORES]
        self.ids = {n: f"g{j}" for j, n in enumerate(self.more)}
        arrays = [f for f in fixed.values() if isinstance(f, tuple) and f[0] == "array"]
        growing = {f[5] for f in arrays if f[6] == "grows"}
        self.by_parameter = {f[5]: f for f in arrays}
        self.made_names = [] if loop is None else select.made_names(loop)
        for n in self.made_names:
            self.stores[n].add("i")
        self.growing = sorted(growing, key=_number_of)  # in the order of Held's

    # --- text

    def line(self, text):
        self.lines.append(INDENT * self.level + text)

    def temporary(self, text):
        self.temporaries += 1
        name = f"t{self.temporaries}"
        self.line(f"{name} = {text}")
        return name

    def block(self, head):
        self.line(head)
        self.level += 1

    def end(self):
        self.level -= 1

    def leave(self, at):
        self.line(f"return leave(si, sf, {at}, {_STATE})")

    def _state(self):
        state = []
        for n in self.names:
            state += [f"{n}_t", *(f"{n}_{s}" for s in sorted(self.stores[n]))]
        for loop in self.loops:
            state += [f"k{loop.at}", f"e{loop.at}", f"s{loop.at}"]
        state += self._of_ranges()
        return state + [f"{a}_0" for a in self.growing]

    # --- the functions

    def functions(self):
        """The lines of `leave` and of the function `loop`; its arguments are si, sf and arrays."""
        arrays = sorted(self.by_parameter, key=_number_of)
        env = {n: frozenset([k]) for n, k in self.entry.items()}
        self._emit_loop(self.loop, env)
        body = self.lines
        self.lines, self.level = [], 1
        self.block("if si[0] == 1:")
        self.line("return -2")
        self.end()
        self.extents(
            {
                f[5]: f for f in self.fixed.values() if isinstance(f, tuple) and f[0] == "array"
            }.values()
        )
        count = len(self.names) + len(self.more)
        for j, n in enumerate(self.names):
            kind = self.entry[n]
            store = STORES.get(kind)
            self.line(f"{n}_t = 0")
            for s in sorted(self.stores[n]):
                given, none = {
                    "c": (f"complex(sf[{j}], sf[{count + j}])", "complex(0.0, 0.0)"),
                    "i": (f"int(si[{4 + 2 * j}])", "0"),
                    "f": (f"float(sf[{j}])", "0.0"),
                    "b": (f"bool(si[{4 + 2 * j}] != 0)", "False"),
                }[s]
                self.line(f"{n}_{s} = {given if s == store else none}")
        for j, n in enumerate(self.more, len(self.names)):
            store, name = STORES[self.fixed[n]], self.ids[n]
            if store == "f":
                self.line(f"{name} = float(sf[{j}])")
            elif store == "c":
                self.line(f"{name} = complex(sf[{j}], sf[{count + j}])")
            elif store == "b":
                self.line(f"{name} = bool(si[{4 + 2 * j}] != 0)")
            else:
                self.line(f"{name} = int(si[{4 + 2 * j}])")
        for loop in self.loops:
            self.line(f"k{loop.at} = 0")
            self.line(f"e{loop.at} = 0")
            self.line(f"s{loop.at} = 0")
        first = 4 + 2 * (len(self.names) + len(self.more)) + 3 * len(self.loops)
        last = first + self.words
        of_outer = len([x for r in heads.ranges(self.loop) for x in r])
        for k, name in enumerate(self._of_ranges()):
            self.line(f"{name} = int(si[{first + k}])" if k < of_outer else f"{name} = 0")
        self.line(f"true_ = int(si[{last}])")
        self.line(f"false_ = int(si[{last + 1}])")
        most = "".join(f", {f[5]}_{d}" for f in self.by_parameter.values() for d in range(f[3])
                       if f[6] in numbers.ARRAYS)  # fmt: skip
        for k in range(self.scratches):
            self.line(f"scratch{k} = np.empty(min(max(1{most}), {lines.MOST}))")
        for name in sorted(self.item_scratches):
            of = {"i": "np.int64", "f": "np.float64", "b": "np.bool_"}[name[-1]]
            self.line(f"{name} = np.empty({lines.MOST}, {of})")
        for name, of in self.logs:
            self.line(f"{name} = np.empty({strips.LENGTH}, {of})")
        for k, a in enumerate(self.growing):
            self.line(f"{a}_room = {a}.shape[0]")
            self.line(f"{a}_0 = int(si[{last + 2 + k}])")
        self.begin_pools(last + 2 + len(self.growing))
        if isinstance(self.loop, ast.For):
            at = self.loop.at
            for word, k in (("b", 1), ("e", 2), ("s", 3)):
                self.line(f"{word}{at} = int(si[{k}])")
        state = ", ".join(self._state())
        head = [
            f"def loop({', '.join(['si', 'sf', *arrays, *self.pool_parameters()])}):",
            *self.lines,
            *body,
        ]
        head += [f"{INDENT}leave(si, sf, -1, {_STATE})", f"{INDENT}return -1"]
        head = [x.replace(_STATE, state) for x in head]
        first = 4 + 2 * (len(self.names) + len(self.more))
        leave = [f"def leave(si, sf, at, {state}):"]
        for j, n in enumerate(self.names):
            stores, to = self.stores[n], f"si[{5 + 2 * j}]"
            leave.append(f"{INDENT}si[{4 + 2 * j}] = {n}_t")
            if "b" in stores:
                leave += [
                    f"{INDENT}if {n}_t == 3 or {n}_t == 6:",
                    f"{INDENT * 2}{to} = int({n}_b)",
                ]
            if "i" in stores:
                leave += [
                    f"{INDENT}if {n}_t != 3 and {n}_t != 6:",
                    f"{INDENT * 2}{to} = {n}_i",
                ]
            if "f" in stores:
                leave.append(f"{INDENT}sf[{j}] = {n}_f")
            if "c" in stores:
                leave += [
                    f"{INDENT}if {n}_t == {CODES['c']}:",
                    f"{INDENT * 2}sf[{j}] = {n}_c.real",
                    f"{INDENT * 2}sf[{count + j}] = {n}_c.imag",
                ]
        for k, loop in enumerate(self.loops):
            for m, word in enumerate("kes"):
                leave.append(f"{INDENT}si[{first + 3 * k + m}] = {word}{loop.at}")
        for k, name in enumerate(self._of_ranges(), first + 3 * len(self.loops)):
            leave.append(f"{INDENT}si[{k}] = {name}")
        for k, a in enumerate(self.growing):
            leave.append(f"{INDENT}si[{last + 2 + k}] = {a}_0")
        leave += [f"{INDENT}si[0] = at", f"{INDENT}return at"]
        return leave, head

    def extents(self, arrays):
        """Puts the extents of arrays under names."""
        for f in arrays:
            for d in range(f[3] if f[6] != "grows" else 0):
                self.line(f"{f[5]}_{d} = {f[5]}.shape[{d}]")

    # --- statements; each gives the kinds of names after it, None where control never gets there

    def _statements(self, body, env):
        for n in body:
            if env is None:
                return None
            env = self._statement(n, env)
        return env

    def _statement(self, n, env):
        if isinstance(n, (ast.For, ast.While)) and not n.opaque:
            return self._emit_loop(n, env)
        self.at = n.at
        if isinstance(n, ast.Pass) or select.is_text(n):
            return env
        if isinstance(n, ast.Break):
            self.open[-1][0].append(env)
            of = self.open[-1][2]
            if of is self.loop and of.orelse:
                self.leave(n.at)  # CPython knows then that there is no `else`
                return None
            if of.orelse:
                self.line(f"q{of.at} = True")
            if of is self.counted:
                self.line(f"u{of.at} = 1")
            self.line("break")
            return None
        if isinstance(n, ast.Continue):
            self.open[-1][1].append(env)
            self.line("continue")
            return None
        if n.opaque:
            return self._left(n, "a statement that is left to CPython")
        if isinstance(n, ast.If):
            return self._if(n, env)
        if isinstance(n, ast.Return):
            return self._return(n, env)
        read = _read(n, self.names)
        if select.is_append(n):
            return self._tried(n, read, env, lambda e: self._append(n.value, e))
        if select.popped(n):
            return self._tried(n, read, env, lambda e: self._pop(n, e))
        return self._tried(n, read, env, lambda e: self._assign(n, e))

    def _left(self, n, why):
        """Leaves at this statement; not in each iteration."""
        if self._mode is not None:
            raise strips.NotStripped
        if not self.rare:
            raise NotCompiled(f"line {n.lineno}: {why}")
        self.leave(n.at)
        return None

    def _tried(self, n, read, env, emit):
        """emit() for each combination of kinds that the names read may have."""
        several = [name for name in read if len(env[name]) > 1]
        count = 1
        for name in several:
            count *= len(env[name] - {"o"})
        if count > MOST_VERSIONS:
            return self._left(n, "names of several types")
        return self._versions(n, several, env, emit)

    def _versions(self, n, several, env, emit):
        if not several:
            mark, level = len(self.lines), self.level
            self._used = 0
            try:
                return emit(env)
            except Unsupported as e:
                del self.lines[mark:]
                self.level = level
                return self._left(n, str(e))
        if self._mode is not None:
            raise strips.NotStripped
        name, *more = several
        result, word = None, "if"
        self.rare += 1
        for kind in sorted(env[name] - {"o"}):
            known = f"{name}_t == {CODES[kind]}"
            if self.entry[name] == kind:
                known += f" or {name}_t == 0"
            self.block(f"{word} {known}:")
            found = self._versions(n, more, {**env, name: frozenset([kind])}, emit)
            self.line("pass")
            self.end()
            result, word = _join(result, found), "elif"
        self.block("else:")
        self.leave(n.at)
        self.end()
        self.rare -= 1
        return result

    def _condition(self, n, env):
        """The name of a variable that holds a statement's test; None: it is not compiled."""
        self.temporaries += 1
        c = f"c{self.temporaries}"

        def test(e):
            self.line(f"{c} = {self.truth(n.test, e)}")
            return e

        return None if self._tried(n, names_read(n.test, self.names), env, test) is None else c

    def _if(self, n, env):
        c = self._condition(n, env)
        if c is None:
            return None
        self.rare += 1
        self.block(f"if {c}:")
        yes = self._statements(n.body, env)
        self.line("pass")
        self.end()
        no = env
        if n.orelse:
            self.block("else:")
            no = self._statements(n.orelse, env)
            self.line("pass")
            self.end()
        self.rare -= 1
        return _join(yes, no)

    def _emit_loop(self, n, env):
        outer = n is self.loop
        self.at = n.at
        is_for = isinstance(n, ast.For)
        if is_for and (over := heads.over(n)):
            inside = {x for r in over.ranges for x in names_read(r, self.names)}
            read = sorted({*(name for name in over.names if name in self.names), *inside})
            env = self._tried(n, read, env, lambda e: self._over(n, over, e))
            if env is None:
                return None
        elif is_for and not outer:
            args = heads.range_of(n.iter)[0].args
            env = self._tried(n, [x for a in args for x in names_read(a, self.names)], env,
                              lambda e: self._range(n, e))  # fmt: skip
            if env is None:
                return None
        head = env
        if n.orelse:
            self.line(f"q{n.at} = False")  # whichever form of the loop is taken
        while True:
            mark = len(self.lines), self.level, self.temporaries
            self.open.append(([], [], n))
            rare, self.rare = self.rare, (0 if outer else self.rare)
            back, ended = (self._for_body if is_for else self._while_body)(n, head)
            self.rare = rare
            breaks, continues, _ = self.open.pop()
            for e in continues:
                back = _join(back, e)
            wider = _join(head, back)
            if wider == head:
                break
            del self.lines[mark[0] :]
            self.level, self.temporaries, head = mark[1], mark[2], wider
        if self._mode is None and strips.may_be(n) and n.lineno not in self.short:
            self.by_strips(n, head, self._step(n), mark[0])
        if not is_for and self._mode is None:
            self.by_bounds(n, head, mark[0])
        if n.orelse and not outer:
            self.rare += 1
            self.block(f"if not q{n.at}:")
            ended = self._statements(n.orelse, ended)
            self.line("pass")
            self.end()
            self.rare -= 1
        for e in breaks:
            ended = _join(ended, e)
        return ended

    def _for_body(self, n, env):
        if over := heads.over(n):
            self.block(f"for k{n.at} in range(b{n.at}, e{n.at}):")
            inside = {**env, **self._items(n, over, env)}
            return self._rest_of_body(n, env, inside)
        step = self._step(n)
        bounds = f"b{n.at}, e{n.at}" + ("" if step == "1" else f", {step}")
        self.block(f"for k{n.at} in range({bounds}):")
        self._set(n.target.id, Value(f"k{n.at}", "i"))
        return self._rest_of_body(n, env, {**env, n.target.id: frozenset("i")})

    def _rest_of_body(self, n, env, inside):
        self.at = n.body[0].at
        self.check("interrupted()")
        back = self._statements(n.body, inside)
        self.end()
        return back, env

    def _while_body(self, n, env):
        self.block("while True:")
        self.at = n.at
        self.check("interrupted()")
        ended = None
        if not (isinstance(n.test, ast.Constant) and n.test.value):
            c = self._condition(n, env)
            if c is None:
                self.end()
                return None, None
            self.block(f"if not {c}:")
            self.line("break")
            self.end()
            ended = env
        back = self._statements(n.body, env)
        self.end()
        return back, ended

    def _append(self, call, env):
        name = call.func.value.id
        if name in self.entry and not env[name].isdisjoint(numbers.MADE):
            return self.append_to_made(name, call.args[0], env)
        array = self._array(call.func.value)
        if array is None or array[6] != "grows":
            raise Unsupported("append() to what is no list of numbers")
        text = numbers.to_store(self, array, self.value(call.args[0], env))
        self.check(f"{array[5]}_0 >= {array[5]}_room")
        self.line(f"{array[5]}[{array[5]}_0] = {text}")
        self.line(f"{array[5]}_0 += 1")
        return env

    def _pop(self, n, env):
        name = n.value.func.value.id
        if name in self.entry and not env[name].isdisjoint(numbers.MADE):
            target = None if isinstance(n, ast.Expr) else n.targets[0].id
            return self.pop_from_made(name, target, env)
        array = self._array(n.value.func.value)
        if array is None or array[6] != "grows":
            raise Unsupported("pop() from what is no list of numbers")
        self.check(f"{array[5]}_0 == 0")
        self.line(f"{array[5]}_0 -= 1")
        if isinstance(n, ast.Expr):
            return env
        value = numbers.load(array, f"{array[5]}_0")
        self._set(n.targets[0].id, value)
        return {**env, n.targets[0].id: frozenset(value.kind)}

    # --- assignments: values and places first, with all checks; then the effects

    def _assign(self, n, env):
        if self.stepped and n is self.stepped[0]:
            return self.step(env)
        made = self.store_list(n, env)
        if made is not None:
            return made
        if self.store(n, env) or self.store_repeated(n, env) or self.store_copied(n, env):
            return env
        if isinstance(n, ast.AugAssign):
            operator = type(n.op)
            if isinstance(n.target, ast.Name):
                value = self.value(_load(n.target), env)
                value = self._settled(
                    numbers.binary(self, operator, value, self.operand_value(n.value, env))
                )
                self._set(n.target.id, value)
                return {**env, n.target.id: frozenset(value.kind)}
            array, index = self._element(n.target, env)
            value = numbers.binary(
                self, operator, numbers.load(array, index), self.operand_value(n.value, env)
            )
            adds = operator in (ast.Add, ast.Sub)
            if not (adds and self.settled_sum(n.target, array, index, value)):
                value = self._settled(value)
            self.line(f"{array[5]}[{index}] = {numbers.to_store(self, array, value)}")
            return env
        pairs = []  # (target, value)
        value = None
        for target in n.targets:
            parts = self._unpacked(target, n.value, env)
            if parts is not None:
                if len(n.targets) > 1:
                    raise Unsupported("an unpacking beside another target")
                pairs = list(zip(target.elts, parts))
            elif isinstance(target, ast.Tuple):
                if not isinstance(n.value, ast.Tuple) or len(n.value.elts) != len(target.elts):
                    raise Unsupported("an unpacking that is not of as many values")
                if len(n.targets) > 1:
                    raise Unsupported("an unpacking beside another target")
                for t, v in zip(target.elts, n.value.elts):
                    v = self._assigned(v, env)
                    pairs.append((t, Value(self.temporary(v.text), v.kind)))
            else:
                if value is None:
                    value = self._assigned(n.value, env)
                    if len(n.targets) > 1:
                        value = Value(self.temporary(value.text), value.kind)
                pairs.append((target, value))
        effects, changed, stores = [], set(), False
        for target, v in pairs:
            if isinstance(target, ast.Name):
                changed.add(target.id)
                effects.append((target, v))
                continue
            if not isinstance(target, ast.Subscript):
                raise Unsupported("an unpacking inside of another")
            if changed & set(names_read(target, self.names)) or (
                stores and any(isinstance(x, ast.Subscript) for x in _in_indices(target))
            ):
                raise Unsupported("a target that depends on the one before")
            stores = True
            array, index = self._element(target, env)
            effects.append((f"{array[5]}[{index}]", numbers.to_store(self, array, v)))
        env = dict(env)
        for target, v in effects:
            if isinstance(target, str):
                self.line(f"{target} = {v}")
            else:
                self._set(target.id, v)
                env[target.id] = frozenset(v.kind)
        return env

    def _unpacked(self, target, n, env):
        """The elements of an array, a list or a row that a statement unpacks; None for others."""
        if not isinstance(target, ast.Tuple) or not isinstance(n, ast.Name):
            return None
        array, at = self._array(n), ()
        if n.id in self.entry:
            array, at = self._row_of(n.id, env)
        # Those of Numbus's arrays may be computed later.
        if array is None or array[3] != len(at) + 1 or array[6] in ("ours", "grows"):
            return None
        self.check(f"{self.extent(array, at)} != {len(target.elts)}")
        values = [numbers.load(array, self.index(array, at, str(k)))
                  for k in range(len(target.elts))]  # fmt: skip
        return [Value(self.temporary(v.text), v.kind) for v in values]

    def _assigned(self, n, env):
        """The value of an expression, which may be a row of an array."""
        if isinstance(n, ast.Name) and n.id in self.entry:
            array, at = self._row_of(n.id, env)
            if array is not None:
                return Value(at[0], places.kind_of_rows(array))
        if isinstance(n, ast.Subscript) and not isinstance(n.slice, (ast.Tuple, ast.Slice)):
            array = self._array(n.value)
            if array is not None and array[3] > 1 and array[6] != "ours":
                return Value(self._position(array, 0, self.value(n.slice, env)),
                             places.kind_of_rows(array))  # fmt: skip
        return self.value(n, env)

    def _set(self, name, value):
        if value.kind not in CODES or (value.kind == numbers.COMPLEX and not self.checks_now):
            raise Unsupported("a name for a number of this type")
        self.stores[name].add(STORES[value.kind])
        self.line(f"{name}_{STORES[value.kind]} = {value.text}")
        self.line(f"{name}_t = {CODES[value.kind]}")

    # --- expressions

    def value(self, n, env):
        """The value of an expression, a number."""
        if isinstance(n, ast.Constant):
            return numbers.constant(n.value)
        if isinstance(n, ast.Attribute):
            return self._part_of_complex(n, env) or self._attribute(n)
        found = getattr(self, "_" + type(n).__name__.lower(), None)
        if found is None:
            raise Unsupported(type(n).__name__.lower())
        return found(n, env)

    exact = {}  # noqa: RUF012 - by texts of absolute values of complex numbers: when they are exact

    def _part_of_complex(self, n, env):
        """`z.real` or `z.imag` of a name that holds a complex number; None of others."""
        if n.attr not in ("real", "imag") or not isinstance(n.value, ast.Name):
            return None
        name = n.value.id
        held = env[name] if name in self.entry else {self.fixed.get(name)}
        if held != {numbers.COMPLEX} or name in self.bound:
            return None
        return Value(self.temporary(f"{self._name(n.value, env).text}.{n.attr}"), "f")

    def truth(self, n, env):
        """The text of whether an expression is true."""
        if isinstance(n, ast.BoolOp):
            c = self.temporary(self.truth(n.values[0], env))
            for more in n.values[1:]:
                self.block(f"if {'' if isinstance(n.op, ast.And) else 'not '}{c}:")
                self.line(f"{c} = {self.truth(more, env)}")
            self.level -= len(n.values) - 1
            return c
        if isinstance(n, ast.UnaryOp) and isinstance(n.op, ast.Not):
            return f"(not {self.truth(n.operand, env)})"
        if isinstance(n, ast.Compare):
            return self._compare(n, env, True).text
        if isinstance(n, ast.Name) and n.id in self.entry:
            array, at = self._row_of(n.id, env)
            if array is not None and array[6] == "made":
                return f"({self.extent(array, at)} != 0)"
        array = self._array(n)
        if array is not None and array[6] not in numbers.ARRAYS:  # a list is true if it holds any
            return f"({array[5]}_0 != 0)"
        return numbers.truth(self.value(n, env))

    def _name(self, n, env):
        if n.id in self.bound:
            return self.bound[n.id]
        if n.id in self.entry:
            (kind,) = env[n.id]
            if kind == "o" or kind in numbers.NO_NUMBERS:
                raise Unsupported(f"'{n.id}', which holds no number")
            return Value(f"{n.id}_{STORES[kind]}", kind)
        return self._number(n.id)

    def _number(self, name):
        """A number that the loop does not assign to."""
        kind = self.fixed.get(name, "o")
        if isinstance(kind, tuple) and kind[0] == "number":
            return Value(kind[2], kind[1])
        if isinstance(kind, tuple) or kind not in STORES:
            raise Unsupported(f"'{name}', which is no number")
        return Value(self.ids[name], kind)

    def _attribute(self, n):
        if not isinstance(n.value, ast.Name):
            raise Unsupported("an attribute")
        array = self._array(n.value)
        if array and array[0] == "array" and n.attr == "size" and array[6] in numbers.ARRAYS:
            return Value("*".join(f"{array[5]}_{d}" for d in range(array[3])), "i")
        return self._number(f"{n.value.id}.{n.attr}")

    def _unaryop(self, n, env):
        if isinstance(n.op, ast.Not):
            return Value(self.truth(n, env), "b")
        if isinstance(n.op, ast.USub) and isinstance(n.operand, ast.Constant):
            return numbers.constant(-n.operand.value)
        if isinstance(n.op, ast.USub):
            return self._number_of(self.operand(n, env))
        return numbers.unary(self, type(n.op), self.value(n.operand, env))

    def _binop(self, n, env):
        return self._number_of(self.operand(n, env))

    def operand_value(self, n, env):
        """A number that is an operand, which may be open."""
        if isinstance(n, ast.BinOp):
            return self._number_of(self._open(n, env))
        return self.value(n, env)

    @staticmethod
    def _number_of(found):
        if isinstance(found, lines.Line):
            raise Unsupported("a part of an array")
        return found

    def _kept(self, v):
        """A value under a name, as its text is used more than once."""
        return v if v.text.isidentifier() else Value(self.temporary(v.text), v.kind, v.open)

    def _compare(self, n, env, truth=False):
        left = self._kept(self.value(n.left, env))
        kinds, c = set(), None
        for op, other in zip(n.ops, n.comparators):
            if c is not None:
                self.block(f"if {c}:")
            right = self._kept(self.value(other, env))
            r = numbers.compare(self, type(op), left, right)
            kinds.add(r.kind)
            if c is None:
                c = self.temporary(r.text)
            else:
                self.line(f"{c} = {r.text}")
            left = right
        self.level -= len(n.ops) - 1
        if len(kinds) > 1 and not truth:
            raise Unsupported("a chain of comparisons of several types")
        return Value(c, kinds.pop())

    def _boolop(self, n, env):
        first = self.value(n.values[0], env)
        r = self.temporary(first.text)
        for more in n.values[1:]:
            t = numbers.truth(Value(r, first.kind))
            self.block(f"if {t}:" if isinstance(n.op, ast.And) else f"if not ({t}):")
            v = self.value(more, env)
            if v.kind != first.kind:
                raise Unsupported("'and', 'or' of several types")
            self.line(f"{r} = {v.text}")
        self.level -= len(n.values) - 1
        return Value(r, first.kind)

    def _ifexp(self, n, env):
        c = self.truth(n.test, env)
        self.temporaries += 1
        r = f"t{self.temporaries}"
        self.block(f"if {c}:")
        a = self.value(n.body, env)
        self.line(f"{r} = {a.text}")
        self.end()
        self.block("else:")
        b = self.value(n.orelse, env)
        self.line(f"{r} = {b.text}")
        self.end()
        if a.kind != b.kind:
            raise Unsupported("'if … else' of several types")
        return Value(r, a.kind)

    def _subscript(self, n, env):
        if isinstance(n.value, ast.Attribute) and n.value.attr == "shape":
            array = self._array(n.value.value)
            axis = n.slice.value if isinstance(n.slice, ast.Constant) else None
            of_array = array and array[6] in numbers.ARRAYS
            if of_array and type(axis) is int and 0 <= axis < array[3]:
                return Value(f"{array[5]}_{axis}", "i")
        array, index = self._element(n, env)
        v = numbers.load(array, index)
        return Value(self.temporary(v.text), v.kind)


def _number_of(parameter):
    """The place of an array among those that are held, where "a10" comes after "a2"."""
    return int(parameter[1:])


def _load(target):
    return ast.copy_location(ast.Name(target.id, ast.Load()), target)


def _in_indices(target):
    """The nodes of all indices of a target, as of `a[i][j]`."""
    while isinstance(target, ast.Subscript):
        yield from ast.walk(target.slice)
        target = target.value


def names_read(n, among):
    """Names of `among` that an expression reads."""
    return sorted(
        {
            x.id
            for x in ast.walk(n)
            if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load) and x.id in among
        }
    )


def _read(n, among):
    found = set(names_read(n, among))
    if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name):
        found.add(n.target.id)
    return sorted(found)


def _join(a, b):
    if a is None or b is None:
        return a if b is None else b
    return {n: a[n] | b[n] for n in a}
