"""Statements of grammar 11: sets of integers or strings, whose order nothing depends on."""

from __future__ import annotations

from .expressions import Reject


def is_set(value) -> bool:
    return isinstance(value, set)


class Sets:
    """Sets are hidden from all other statements, which could ask for their order."""

    def a_set(self, kind=None):
        names = [n for n, v in self.ns.items() if is_set(v) and v]
        names = [n for n in names if kind is None or type(next(iter(self.ns[n]))) is kind]
        if not names:
            raise Reject
        name = self.r.choice(names)
        return name, self.ns[name]

    def set_item(self, kind):
        if kind is str:
            return self.string(1)[0] if self.r.random() < 0.5 else f"str({self.small()[0]})"
        if self.r.random() < 0.2:
            return self.number(1, lambda v: type(v) is int)[0]
        return f"({self.small()[0]} - {self.r.randint(0, 2)})"

    def do_set(self):
        r = self.r
        if self.scalar:
            raise Reject
        if r.random() < 0.35 or not any(is_set(v) and v for v in self.ns.values()):
            return self.make_set()
        name, sample = self.a_set()
        kind = type(next(iter(sample)))
        item = self.set_item(kind)
        which = r.random()
        if which < 0.3:
            other = self.a_set(kind)[0]
            return self.simple_set(
                r.choice((
                    f"{name}.add({item})", f"{name}.discard({item})", f"{name}.remove({item})",
                    f"{name}.update({other})", f"{name} |= {other}", f"{name} &= {other}",
                    f"{name} -= {{{item}}}", f"{name} ^= {other}", f"{name} = {name} | {{{item}}}",
                ))
            )  # fmt: skip
        made = self.fresh()
        if which < 0.45:
            return self.simple(f"{made} = {item} {r.choice(('in', 'not in'))} {name}")
        if which < 0.6:
            other = self.a_set(kind)[0]
            op = r.choice(("==", "!=", "<", "<=", ">", ">="))
            return self.simple(f"{made} = {name} {op} {other}")
        if which < 0.7:
            other = self.a_set(kind)[0]
            return self.simple(f"{made} = len({name} {r.choice('|&-^')} {other})")
        if which < 0.8 and kind is int:
            return self.simple(f"{made} = {r.choice(('sum', 'len', 'min', 'max'))}({name})")
        if which < 0.9:
            return self.simple(f"{made} = sorted({name})")
        if kind is int:
            total, x = self.fresh(), self.fresh("i")
            self.simple(f"{total} = 0")
            self.emit(f"for {x} in {name}:")
            self.lines.append((self.level + 1, f"{total} += {x} * {r.randint(1, 3)}"))
            return self.run(f"for {x} in {name}:\n    {total} += {x}\ndel {x}")
        return self.simple(f"{made} = len([x for x in {name} if len(x) > {self.small()[0]}])")

    def make_set(self):
        r = self.r
        name = self.fresh("s")
        kind = str if self.wordy and r.random() < 0.4 else int
        items = [self.set_item(kind) for _ in range(r.randint(1, 3))]
        texts = [f"{{{', '.join(items)}}}", f"set([{', '.join(items)}])"]
        if kind is int:
            over = self.fresh("i")
            texts += [f"{{{over} % 3 + {items[0]} for {over} in range({self.small()[0]} + 1)}}"]
        self.simple_set(f"{name} = {r.choice(texts)}", name)

    def simple_set(self, text, name=None):
        if name is not None:
            self.hidden.add(name)
        before = {n: set(v) for n, v in self.ns.items() if is_set(v)}
        self.run(text)
        if any(is_set(v) and not v for v in self.ns.values()):
            self.ns.update(before)
            raise Reject  # its items have no type on the samples
        self.emit(text)
