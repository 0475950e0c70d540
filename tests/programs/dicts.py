"""Statements and expressions of grammar 6: dicts."""

from __future__ import annotations

from .differences import wrapped
from .expressions import Reject
from .kinds import is_array, kind_of

KEYS = ("int", "int", "int", "pair", "float", "bool", "str", "str")
VALUES = ("int", "int", "float", "float", "bool", "float64", "tuple", "array", "list")


def is_dict(value) -> bool:
    return isinstance(value, dict)


class Dicts:
    # ---- keys and values -------------------------------------------------------------------------
    def dict_key(self, sample):
        """The text of a key of a sample's kind, mostly one of few."""
        n = self.small()[0]
        if isinstance(sample, tuple):
            return f"({n}, {self.small()[0]} % 2)"
        if isinstance(sample, str):
            return self.string(1)[0] if self.r.random() < 0.5 else f"str({n})"
        if isinstance(sample, bool):
            return self.condition_of_numbers()
        if isinstance(sample, float):
            return f"({n} * 0.5)" if self.r.random() < 0.8 else self.r.choice(("-0.0", "1.5"))
        if self.r.random() < 0.1:
            return self.number(1, lambda v: type(v) is int)[0]
        return f"({n} - 1)" if self.r.random() < 0.3 else n

    def condition_of_numbers(self):
        return f"({self.small()[0]} {self.r.choice(('<', '==', '>='))} {self.small()[0]})"

    def dict_value(self, which):
        """The text of a value of a kind by name, and a sample."""
        if which == "tuple":
            first = self.number(1, lambda v: type(v) is int)
            second = self.number(1, lambda v: type(v) is float)
            return f"({first[0]}, {second[0]})"
        if which == "array":
            return self.array(1, lambda v: kind_of(v) == ("array", "float64", 1))[0]
        if which == "list":
            return f"[{self.number(1, lambda v: type(v) is int)[0]}, {self.small()[0]}]"
        kind = {"float64": "np.float64"}.get(which, which)
        return self.number(1, lambda v: kind_of(v) == kind)[0]

    def value_like(self, sample):
        if isinstance(sample, tuple):
            return self.dict_value("tuple")
        if isinstance(sample, list):
            return self.dict_value("list")
        return self.like(sample, 1)[0]

    def a_dict(self, filled=True, free=False):
        """A name of a dict."""
        names = self.names(lambda v: is_dict(v) and (v or not filled))
        names = [n for n in names if not free or n not in self.fixed]
        if not names:
            raise Reject
        name = self.r.choice(names)
        return name, self.ns[name]

    def entry(self, d):
        key, value = next(iter(d.items()))
        return key, wrapped(value)

    # ---- statements ------------------------------------------------------------------------------
    def do_dict(self):
        if self.scalar:
            raise Reject
        if self.r.random() < 0.45:
            return self.make_dict()
        name, d = self.a_dict(free=True)
        key, value = self.entry(d)
        k, v = self.dict_key(key), self.value_like(value)
        r = self.r
        ways = [f"{name}[{k}] = {v}"] * 6
        ways += [f"{name}.pop({k}, {v})", f"{name}.setdefault({k}, {v})", f"del {name}[{k}]",
                 f"{name}.update({{{k}: {v}}})", f"{name} |= {{{k}: {v}}}", f"{name}.pop({k})",
                 f"{name}.update([({k}, {v})])"]  # fmt: skip
        if type(value) in (int, float):
            ways += [f"{name}[{k}] = {name}.get({k}, {value!r}) {r.choice('+-')} {v}"] * 3
            ways += [f"{name}[{k}] {r.choice('+-*')}= {v}"] * 2
        if isinstance(value, list):
            ways += [f"{name}[{k}].append({self.small()[0]})", f"{name}[{k}] += [1]"] * 2
            ways += [f"{name}.setdefault({k}, []).append({self.small()[0]})"] * 2
        if is_array(value):
            ways += [f"{name}[{k}] += 1.5"] * 2
        if r.random() < 0.06:
            ways = [f"{name}.clear()", f"{name}.popitem()"]
        if not self.loops and self.level == 1 and r.random() < 0.1:
            other = self.fresh()
            return self.simple(f"{other} = {name}{r.choice(('', '.copy()', f' | {name}'))}")
        text = r.choice(ways)
        try:
            self.change(name, text)
        except Reject:
            if r.random() < 0.9:
                raise
            # Mostly a key that is not there: the program ends with a KeyError.
            if "del " in text or "pop(" in text:
                self.emit(text)
        return None

    def make_dict(self):
        r = self.r
        name = self.fresh("d")
        which = r.choice(VALUES)
        key = {"int": 1, "pair": (1, 0), "float": 0.5, "bool": True, "str": "1"}[r.choice(KEYS)]
        way = r.random()
        if way < 0.45:
            entries = [
                f"{self.dict_key(key)}: {self.dict_value(which)}" for _ in range(r.randint(1, 4))
            ]
            return self.simple(f"{name} = {{{', '.join(entries)}}}")
        if way < 0.65:
            i = self.fresh("k")
            self.ns[i] = 1
            try:
                k = {int: i, tuple: f"({i}, {i} % 2)", float: f"{i} * 0.5", bool: f"{i} > 1",
                     str: f"str({i})"}  # fmt: skip
                text, value = k[type(key)], self.dict_value(which)
            finally:
                del self.ns[i]
            test = f" if {self.condition(1)[0]}" if r.random() < 0.3 else ""
            over = self.small()[0]
            return self.simple(f"{name} = {{{text}: {value} for {i} in range({over}){test}}}")
        if way < 0.8:
            l = self.list(1)
            pairs = r.choice(
                ("zip(range(len({0})), {0})", "enumerate({0})", "list(enumerate({0}))")
            )
            return self.simple(f"{name} = dict({pairs.format(l[0])})")
        # Counting, or collecting, from nothing.
        i = self.fresh("i")
        a = self.variable(lambda v: is_array(v) and v.ndim == 1 and v.dtype == "int64" and v.size)
        if r.random() < 0.5:
            first = r.choice((0, 0.5))
            body = [f"    {name}[{i} % 3] = {name}.get({i} % 3, {first}) + 1"]
        else:
            body = [f"    if {i} not in {name}:", f"        {name}[{i}] = []"]
            body.append(f"    {name}[{i}].append({self.small()[0]})")
        lines = [f"{name} = {{}}", f"for {i} in {a[0]}:", *body]
        self.run("\n".join(lines))
        self.ns.pop(i, None)
        for line in lines:
            self.emit(line)
        return None

    def over_dict(self, target: str):
        """A loop over a dict, which mostly stays as it is meanwhile."""
        name, d = self.a_dict()
        key, value = self.entry(d)
        if self.r.random() < 0.9:
            self.fixed.add(name)
        which = self.r.random()
        if which < 0.4:
            return target, name, {target: key}
        if which < 0.55:
            return target, f"{name}.values()", {target: value}
        other = self.fresh("i")
        if which < 0.9:
            return f"{target}, {other}", f"{name}.items()", {target: key, other: value}
        return f"{target}, {other}", f"enumerate({name})", {target: 0, other: key}

    # ---- expressions -----------------------------------------------------------------------------
    def number_dict(self, depth):
        if self.scalar:
            raise Reject
        name, d = self.a_dict()
        r = self.r
        key, value = self.entry(d)
        k = self.dict_key(key)
        ways = [f"len({name})", f"({k} in {name})", f"({k} not in {name}.keys())"]
        if type(value) in (bool, int, float):
            ways += [f"{name}.get({k}, {value!r})"] * 4 + [f"{name}[{k}]"] * 4
        if type(value) is int:
            ways += [f"sum({name}.values())", f"max({name}.values())", f"min({name}.values())"]
        if not isinstance(key, (tuple, str)):
            ways += [f"max({name})", f"sorted({name})[0]", f"list({name})[-1]"]
        if isinstance(value, (tuple, list)):
            ways += [f"{name}[{k}][{r.randrange(2)}]"] * 3
        if is_array(value):
            ways += [f"{name}[{k}].sum()", f"{name}[{k}].size"]
        if not is_array(value) and not isinstance(value, list):
            ways += [f"({name} == {self.a_dict()[0]})"]
        return self.evaluate(r.choice(ways).replace("{", "{{").replace("}", "}}"))


__all__ = ["Dicts", "is_dict"]
