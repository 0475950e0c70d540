"""Lists of numbers that loops make: comprehensions, `[0] * n`, `[a, b] + p`, `p[:]`, `list(p)`.

Their items lie in pools, one for ints, one for floats and one for bools. A name that holds such a
list holds a word: the place of its first item, the logarithm of the room that it has, and how many
items there are. So two names may hold one list; where it grows, both get the new word. What kind of
items `q = []` is for, the first `q.append(x)` says. Lists that names of this kind hold at the entry
lie at the beginning of a pool. A new list is put behind them, at the first place where it is in the
way of none that a name still holds. At the end each word becomes a list of Python's, the same for
the same word.
"""

import ast

from . import heads, numbers, select
from .generators import as_loop
from .numbers import Unsupported, Value

SHIFT, _ROOM_SHIFT = 29, 24  # of the place in a word, and of the logarithm of its room
ROOM = 1 << 23  # items of a pool, whose memory is only taken where it is touched
_MOST = 1 << 22  # items of a list
POOLS = "ifb"
COUNT = (1 << _ROOM_SHIFT) - 1


class Again(Exception):
    """The kind of items of an empty list is known now: the loop is emitted again."""


def word(place, count):
    """What a name holds for a list."""
    return place << SHIFT | count


def parts(of):
    """(place, count) of a word."""
    return of >> SHIFT, of & COUNT


def array_of(kind):
    """What stands for a name of such a list: a row, whose index is the name's word."""
    item = numbers.MADE[kind]
    return ("array", item, None, 2, True, f"pool_{numbers.STORES[item]}", "made")


def _room(name):
    """The text of the room that the list of a name has, beside what its items take."""
    return f"1 << (({name}_i >> {_ROOM_SHIFT}) & 31)"


class MadeLists:
    """The part of an emitter that emits them."""

    made_names = ()  # that may hold one
    item_kinds = {}  # noqa: RUF012 - of names to which empty lists are assigned

    def pool_parameters(self):
        """The parameters of pools."""
        return [f"pool_{s}" for s in POOLS] if self.made_names else []

    def begin_pools(self, word_number):
        """Notes how much of each pool lists take that names hold at the entry."""
        for k, p in enumerate(self.pool_parameters()):
            self.line(f"{p}_base = int(si[{word_number + k}])")

    def store_list(self, n, env):
        """Carries out an assignment of a new list to a name: the kinds of names then; None: it is
        another assignment.
        """
        if not select.makes_list(n):
            return None
        (target,), v = n.targets, n.value
        if isinstance(v, ast.ListComp):
            return self._comprehended(target.id, v, env)
        if isinstance(v, ast.List) or (isinstance(v, ast.BinOp) and isinstance(v.op, ast.Add)):
            return self._joined(target.id, select.joined(v), env)
        if isinstance(v, ast.BinOp):
            return self._repeated(target.id, v, env)
        if isinstance(v, ast.Call):
            whole = select.copied_whole(v)
            if isinstance(v.func, ast.Name) and (
                v.func.id in self.entry or self.fixed.get(v.func.id) != ("call", "list")
            ):
                raise Unsupported(f"a call of '{v.func.id}'")
            return self._copied(target.id, whole, ast.Slice(), env)
        if not self._is_list(v.value, env):
            return None
        return self._copied(target.id, v.value, v.slice, env)

    def _is_list(self, n, env):
        """Whether a slice of this is a list, as of tuples and arrays it is not."""
        before, level = len(self.lines), self.level
        try:
            array, _ = self._items_of(n, env)
        except Unsupported:
            return False
        finally:
            del self.lines[before:]
            self.level = level
        return array[6] in ("made", "bools", "grows") or (array[6] == "list" and array[4])

    def _may_make(self):
        if not self.checks_now or self._called is not None or not self.made_names:
            raise Unsupported("a list in a function or a strip")

    def _room_for(self, kind, count):
        """The name of the place of a new list of at most so many items."""
        if kind not in numbers.MADE.values():
            raise Unsupported("a list of items of this type")
        store = numbers.STORES[kind]
        p = f"pool_{store}"
        need = self.temporary(f"max({count}, 1)")
        self.check(f"{need} > {_MOST}")
        place, moved = self.temporary(f"{p}_base"), self.temporary("True")
        codes = [numbers.CODES[m] for m, k in numbers.MADE.items() if numbers.STORES[k] == store]
        self.block(f"while {moved}:")
        self.line(f"{moved} = False")
        for name in self.made_names:
            of = " or ".join(f"{name}_t == {c}" for c in codes)
            first, end = f"({name}_i >> {SHIFT})", f"max({name}_i & {COUNT}, {_room(name)})"
            self.block(f"if ({of}) and {first} < {place} + {need} and {first} + {end} > {place}:")
            self._put([f"{place} = {first} + {end}", f"{moved} = True"])
            self.end()
        self.end()
        self.check(f"{place} + {need} > {p}.shape[0]")
        return place

    def _made(self, name, kind, place, count, env):
        (made,) = (m for m, k in numbers.MADE.items() if k == kind)
        self._set(name, Value(f"({place} << {SHIFT}) | {count}", made))
        return {**env, name: frozenset(made)}

    def _item(self, kind, place, index, text):
        self.line(f"pool_{numbers.STORES[kind]}[{place} + {index}] = {text}")

    def _comprehended(self, name, n, env):
        self._may_make()
        before = self.bound
        try:
            g, number = self.renamed(n)
            loop, k = as_loop(g), f"k_r{number}"
            loop.at = f"r{number}"
            over = heads.over(loop)
            args = (self._over_items if over else self._over_range)(loop, over, env, k)
            first, end, step = ("0", *args, "1") if len(args) == 1 else (*args, "1")[:3]
            most = f"max(({end} - {first} + {step} - (1 if {step} > 0 else -1)) // {step}, 0)"
            place, count = f"p_r{number}", self.temporary("0")
            most = self.temporary(most)
            at, level = len(self.lines), self.level
            self.block(f"for {k} in range({', '.join(args)}):")
            self.check("interrupted()")
            for test in g.generators[0].ifs:
                self._put([f"if not ({self.truth(test, env)}):", "    continue"])
            v = self._kept(self.value(g.elt, env))
            self._item(v.kind if v.kind in numbers.STORES else "i", place, count, v.text)
            self.line(f"{count} += 1")
            self.level = level
            # The kind of the items is known after the loop, and room is needed before it.
            inside = self.lines[at:]
            del self.lines[at:]
            self.line(f"{place} = {self._room_for(v.kind, most)}")
            self.lines += inside
        finally:
            self.bound = before
        return self._made(name, v.kind, place, count, env)

    def _repeated(self, name, n, env):
        self._may_make()
        of, times = (n.left, n.right) if isinstance(n.left, ast.List) else (n.right, n.left)
        v = self._kept(self.value(of.elts[0], env))
        count = self.value(times, env)
        if count.kind != "i":
            raise Unsupported("a list times something else than an int")
        count = self.temporary(f"max({count.text}, 0)")
        place = self._room_for(v.kind, count)
        self.temporaries += 1
        t = f"t{self.temporaries}"
        self.block(f"for {t} in range({count}):")
        self._item(v.kind, place, t, v.text)
        self.end()
        return self._made(name, v.kind, place, count, env)

    def _copied(self, name, of, part, env):
        self._may_make()
        if not self._is_list(of, env):
            raise Unsupported("a copy of what is no list of numbers")
        array, at = self._items_of(of, env)
        first, step, count = self._part_of(self.extent(array, at), part, env)
        place = self._room_for(array[1], count)
        self.temporaries += 1
        t = f"t{self.temporaries}"
        self.block(f"for {t} in range({count}):")
        self._item(array[1], place, t, self._at(array, at, first, t, step))
        self.end()
        return self._made(name, array[1], place, count, env)

    def _joined(self, name, parts, env):
        """`[a, b]`, and lists that are joined."""
        self._may_make()
        found, kinds = [], set()  # values, or (array, indices, first, step, count)
        for p in parts:
            if isinstance(p, ast.List):
                values = [self._kept(self.value(x, env)) for x in p.elts]
                found.append(values)
                kinds |= {v.kind for v in values}
                continue
            part = isinstance(p, ast.Subscript)
            of = p.value if part else p
            if not self._is_list(of, env):
                raise Unsupported("a sum with what is no list of numbers")
            array, at = self._items_of(of, env)
            cut = p.slice if part else ast.Slice()
            found.append((array, at, *self._part_of(self.extent(array, at), cut, env)))
            kinds.add(array[1])
        if len(kinds) > 1:
            raise Unsupported("a list of numbers of several types")
        kind = kinds.pop() if kinds else self.item_kinds.get(name, "i")
        counts = [str(len(of)) if isinstance(of, list) else of[-1] for of in found]
        count = self.temporary(" + ".join(counts))
        place, done = self._room_for(kind, count), self.temporary("0")
        for of, more in zip(found, counts):
            if isinstance(of, list):
                for k, v in enumerate(of):
                    self._item(kind, place, f"{done} + {k}", v.text)
            else:
                array, at, first, step, _ = of
                self.temporaries += 1
                t = f"t{self.temporaries}"
                self.block(f"for {t} in range({more}):")
                self._item(kind, place, f"{done} + {t}", self._at(array, at, first, t, step))
                self.end()
            self.line(f"{done} += {more}")
        return self._made(name, kind, place, count, env)

    # --- lists that grow and shrink

    def _new_in_loop(self, name, env):
        """(kind of the items, the word, the count) of the list of a name, which the loop has made:
        how long others are that a program holds is not noted here.
        """
        self._may_make()
        (kind,) = env[name]
        item = numbers.MADE[kind]
        word = self.temporary(f"{name}_i")
        self.check(f"({word} >> {SHIFT}) < pool_{numbers.STORES[item]}_base")
        return item, word, self.temporary(f"{word} & {COUNT}")

    def _put_word(self, kind, old, new):
        """Gives all names of a list its new word."""
        code = next(numbers.CODES[m] for m, k in numbers.MADE.items() if k == kind)
        for n in self.made_names:
            self._put([f"if {n}_t == {code} and {n}_i == {old}:", f"    {n}_i = {new}"])

    def append_to_made(self, name, n, env):
        """`name.append(n)`."""
        item, word, count = self._new_in_loop(name, env)
        v = self._kept(self.value(n, env))
        if v.kind != item:
            if v.kind in numbers.MADE.values() and name not in self.item_kinds:
                if name in select.empty_names(self.loop):
                    self.item_kinds[name] = v.kind
                    raise Again
            raise Unsupported("a list of numbers of several types")
        pool, now = f"pool_{numbers.STORES[item]}", self.temporary(word)
        self.block(f"if {count} >= 1 << (({word} >> {_ROOM_SHIFT}) & 31):")
        size, room = self.temporary("3"), self.temporary("8")
        self._put([f"while {room} < 2 * {count}:", f"    {room} *= 2", f"    {size} += 1"])
        place = self._room_for(item, room)
        self.temporaries += 1
        t = f"t{self.temporaries}"
        self.block(f"for {t} in range({count}):")
        self._item(item, place, t, f"{pool}[({word} >> {SHIFT}) + {t}]")
        self.end()
        self.line(f"{now} = ({place} << {SHIFT}) | ({size} << {_ROOM_SHIFT}) | {count}")
        self.end()
        self._item(item, f"({now} >> {SHIFT})", count, v.text)
        self._put_word(item, word, f"{now} + 1")
        return env

    def pop_from_made(self, name, target, env):
        """`target = name.pop()`; target: None where there is none."""
        item, word, count = self._new_in_loop(name, env)
        self.check(f"{count} == 0")
        array, at = array_of(*env[name]), (word,)
        v = numbers.load(array, self.index(array, at, f"{count} - 1"))
        v = Value(self.temporary(v.text), v.kind)
        self._put_word(item, word, f"{word} - 1")
        if target is None:
            return env
        self._set(target, v)
        return {**env, target: frozenset(v.kind)}
