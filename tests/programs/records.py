"""Statements of grammar 15: arrays of records, their fields, and single records, views of them."""

from __future__ import annotations

import numpy as np

from .expressions import Reject
from .kinds import is_real

FIELDS = ("'n', np.{i}", "'x', np.{f}", "'k', np.int64", "'b', np.bool_", "'z', np.complex128")
INNER = "'p', [('a', np.{i}), ('b', np.{f})]"
ROW = "'v', np.{f}, (2,)"


class Records:
    """Names of arrays of records, and of records, are hidden from other statements."""

    def record_array(self) -> str:
        """The text of an argument."""
        r = self.r
        given = [*r.sample(FIELDS, r.randint(1, 4)), *[t for t in (INNER, ROW) if r.random() < 0.4]]
        r.shuffle(given)
        fields = []
        for text in given:
            whole, real = r.choice(("int8", "int32", "uint16")), r.choice(("float32", "float64"))
            fields.append("(" + text.format(i=whole, f=real) + ")")
        dtype = f"[{', '.join(fields)}]"
        if r.random() < 0.4:
            dtype = f"np.dtype({dtype}, align=True)"
        rows = [tuple(map(self.record_item, given)) for _ in range(r.randint(2, 4))]
        items = ", ".join("(" + ", ".join(row) + ",)" for row in rows)
        text = f"np.array([{items}], dtype={dtype})"
        return text + r.choice(("", "", "", "[::-1]", "[1:]", "[::2]"))

    def record_item(self, field) -> str:
        r = self.r
        number = {"n": str(r.randint(0, 9)), "k": str(r.randint(-9, 9))}
        number |= {"z": f"({r.randint(-3, 3)}+1j)", "x": str(r.randint(-9, 9) / 4)}
        number["b"] = str(r.random() < 0.5)
        if field[1] in number:
            return number[field[1]]
        return f"({r.randint(0, 9)}, {r.randint(-9, 9) / 2})"  # both parts, or both items

    def record_arrays(self):
        return [
            n for n, v in self.ns.items() if isinstance(v, np.ndarray) and v.dtype.names and v.size
        ]

    def records(self):
        return [n for n, v in self.ns.items() if isinstance(v, np.void)]

    def field(self, names=True):
        """The text of a number of a record, and its sample: (owner, key, sample)."""
        r = self.r
        arrays, singles = self.record_arrays(), self.records() if names else []
        if not arrays:
            raise Reject
        if singles and r.random() < 0.4:
            owner = r.choice(singles)
            dtype = self.ns[owner].dtype
        else:
            name = r.choice(arrays)
            dtype, count = self.ns[name].dtype, len(self.ns[name])
            index = r.choice((str(r.randrange(-count, count)), f"{self.small()[0]} % {count}"))
            owner = f"{name}[{index}]"
            whole = r.choice(dtype.names)
            if dtype[whole].names is None and dtype[whole].shape == () and r.random() < 0.4:
                return f"{name}['{whole}']", index, np.ones(1, dtype[whole])[0]
        key = r.choice(dtype.names)
        of = dtype[key]
        if of.names:
            owner, key = f"{owner}['{key}']", r.choice(of.names)
            of = of[key]
        if of.shape:
            return f"{owner}['{key}']", r.choice(("0", "1", "-1")), np.ones(1, of.base)[0]
        return owner, f"'{key}'", np.ones(1, of)[0]

    def value_for(self, sample) -> str:
        """What fits into a field of the type of the sample."""
        if isinstance(sample, np.bool_):
            return self.r.choice(("True", "False", f"({self.small()[0]} > 1)"))
        if isinstance(sample, np.integer):
            return self.small()[0]
        if isinstance(sample, np.complexfloating):
            return f"({self.small()[0]} * 0.5 + 1j)"
        return f"({self.small()[0]} * 0.5 - 1.0)"

    def do_records(self):
        if self.scalar or not self.record_arrays():
            raise Reject
        ways = [self.read_field] * 4 + [self.write_field] * 4 + [self.whole_field] * 3
        ways += [self.copy_record, self.name_record, self.loop_over_records]
        return self.r.choice(ways)()

    def read_field(self):
        owner, key, sample = self.field()
        what = self.r.choice(("{}", "{}", "({} + {}) * 2", "[{}]", "({}, 1)", "-({} + 1)"))
        if isinstance(sample, np.bool_):
            what = self.r.choice(("{}", "not {}", "({}, 2)"))
        self.simple(f"{self.fresh()} = " + what.replace("{}", f"{owner}[{key}]"))

    def write_field(self):
        owner, key, sample = self.field()
        op = self.r.choice(("=", "+=", "-=", "*=")) if not isinstance(sample, np.bool_) else "="
        if isinstance(sample, np.unsignedinteger):
            op = "="
        self.simple(f"{owner}[{key}] {op} {self.value_for(sample)}")

    def whole_field(self):
        """One field of all records is an array."""
        r = self.r
        name = r.choice(self.record_arrays())
        dtype = self.ns[name].dtype
        key = r.choice(dtype.names)
        text, of = f"{name}['{key}']", dtype[key]
        if of.names:
            key = r.choice(of.names)
            text, of = f"{text}['{key}']", of[key]
        which = r.random()
        if which < 0.3 and not isinstance(np.ones(1, of.base)[0], np.bool_):
            value = self.value_for(np.ones(1, of.base)[0])
            return self.simple(r.choice((f"{text}[:] = {value}", f"{text}[1:] = {value}")))
        asked = ("{}", "{} * 2", "{}[::-1]", "{}.copy()", "np.sum({})", "{}.max()", "len({})")
        self.simple(f"{self.fresh()} = {r.choice(asked).format(text)}")

    def copy_record(self):
        name = self.r.choice(self.record_arrays())
        count = len(self.ns[name])
        i, j = self.r.randrange(-count, count), self.small()[0]
        self.simple(f"{name}[{i}] = {name}[{j} % {count}]")

    def name_record(self):
        """A record by itself: what is written to it is written to the array."""
        made = self.fresh("r")
        name = self.r.choice(self.record_arrays())
        self.hidden.add(made)
        if self.r.random() < 0.3:
            return self.simple(f"{made} = {name}[{self.r.choice(('1:', '::-1', ':'))}]")
        self.simple(f"{made} = {name}[{self.small()[0]} % {len(self.ns[name])}]")

    def loop_over_records(self):
        r = self.r
        name = r.choice(self.record_arrays())
        dtype = self.ns[name].dtype
        plain = [k for k in dtype.names if not dtype[k].names and not dtype[k].shape]
        if not plain:
            raise Reject
        key, made, q = r.choice(plain), self.fresh(), self.fresh("q")
        start = self.number(1, is_real)[0] if dtype[key].kind != "c" else "1j"
        self.hidden.add(q)
        each = r.choice((f"for {q} in {name}:", f"for {q} in {name}[::-1]:"))
        self.whole(f"{made} = {start}\n{each}\n    {made} += {q}['{key}']")
