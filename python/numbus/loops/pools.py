"""The memory of lists that loops make (made_lists.py), and those that their names hold before."""

from . import made_lists, numbers
from .native import _kept, memory

_KINDS = {item: kind for kind, item in numbers.MADE.items()}


class Pools:
    """The pools of one entry of a loop that makes lists."""

    def __init__(self):
        self._tops = dict.fromkeys(made_lists.POOLS, 0)
        self.arrays = [(k, 1) for k in self._tops]  # until copy_lists()
        self._words, self._first = {}, []  # by ids of lists; (list, kind, place, count)
        self._lists = {}  # by kinds and words: lists of Python's

    def tops(self):
        """How many items of each pool lists have that names hold at the entry."""
        return list(self._tops.values())

    def kind(self, value, held):
        """The kind of a name that holds a list before the loop; "o": it is not one of numbers."""
        if id(value) in self._words:
            return self._words[id(value)][0]
        found = held.look_at(value)
        if found is None or len(found[1]) != 1 or id(value) in held.taken:
            return "o"
        item, (count,), _ = found
        place = self._tops[item]
        if place + count > made_lists.ROOM // 2:
            return "o"
        held.taken.add(id(value))
        self._tops[item] += max(count, 1)
        word = made_lists.word(place, count)
        self._words[id(value)] = _KINDS[item], word
        self._first.append((value, item, place, count))
        self._lists[item, word] = value
        return _KINDS[item]

    def word(self, value):
        """What a name holds for one of these lists."""
        return self._words[id(value)][1]

    def copy_lists(self):
        """Takes memory for the pools, and puts these lists there: (list, its items, a copy of them,
        kind) of each.
        """
        self.arrays = [memory(k, made_lists.ROOM) for k in self._tops]
        by_kind = dict(zip(self._tops, self.arrays))
        found = []
        for value, kind, place, count in self._first:
            items = by_kind[kind][place : place + count]
            _kept.read_list(value, items, kind)
            found.append((value, items, b"" if kind == "b" else bytes(items), kind))
        return found

    def list_of(self, kind, word, of):
        """The list of Python's that a word stands for: the same for the same word."""
        if (kind, word) not in self._lists:
            place, count = made_lists.parts(word)
            pool = dict(zip(self._tops, self.arrays))[numbers.STORES[kind]]
            items = pool[place : place + count].tolist()
            self._lists[kind, word] = items if kind in "ifb" else [of(x) for x in items]
        return self._lists[kind, word]
