"""Statements of grammar 12: generators as objects, next(), iter() and filter()."""

from __future__ import annotations

from .expressions import Reject
from .kinds import is_array, is_real


class Yielders:
    """Names of generators are hidden from other statements; `yielders` says what each yields."""

    def do_yielder(self):
        r = self.r
        if self.scalar:
            raise Reject
        names = [n for n in self.yielders if n in self.ns]
        if not names or r.random() < 0.3:
            return self.make_yielder()
        name = r.choice(names)
        given = self.yielders[name]
        made, which = self.fresh(), r.random()
        if which < 0.45:
            return self.simple(f"{made} = next({name}, {self.like(given, 1)[0]})")
        if which < 0.55:
            return self.simple(f"{made} = next({name})")
        if which < 0.7:
            start = self.like(given, 1)[0]
            item = self.fresh("i")
            end = r.choice(("", f"if {item} > {self.small()[0]}: break"))
            if end and not is_real(given):
                end = ""
            self.simple(f"{made} = {start}")
            self.emit(f"for {item} in {name}:")
            body = [line for line in (end, f"{made} = {item}") if line]
            for line in body:
                self.lines.append((self.level + 1, line))
            return self.run(f"for {item} in {name}:\n    {made} = {item}\n")
        if which < 0.85:
            return self.simple(f"{made} = [x for x in {name}] + [{self.like(given, 1)[0]}]")
        return self.simple(f"{made} = list({name}) + [{self.like(given, 1)[0]}]")

    def make_yielder(self):
        r = self.r
        name = self.fresh("g")
        if self.generators and r.random() < 0.75:
            target, call, given = self.over_generator("x")
            given = given[target]
        elif r.random() < 0.5:
            text, value = self.array(1, lambda v: v.ndim == 1 and v.size > 0)
            call, given = f"iter({text})", value[0]
        else:
            text, value = self.array(1, lambda v: v.ndim == 1 and v.dtype.kind in "if" and v.size)
            test = r.choice(("x > 0", "x != 1", "x * 2 < 3"))
            made = self.fresh()
            over = f"filter(lambda x: {test}, {text})"
            how = r.choice((f"[x for x in {over}]", f"list({over})"))
            return self.simple(f"{made} = {how} + [{self.like(value[0], 1)[0]}]")
        if is_array(given):
            raise Reject
        self.hidden.add(name)
        self.yielders[name] = given
        self.simple(f"{name} = {call}")
