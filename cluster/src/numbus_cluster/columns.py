"""Columns of texts as bytes of one buffer: they are looked up together, not one by one."""

from __future__ import annotations

import numpy as np

__all__ = ["PAD", "Bad", "Cached", "Texts"]

WIDEST = 128  # bytes; a longer text is looked up by itself
PAD = bytes(WIDEST)  # follows the last text of a buffer
# KEEP[n] has ones in the first n bytes of a word.
KEEP = np.where(np.arange(8) < np.arange(9)[:, None], 255, 0).astype(np.uint8).view(np.uint64)[:, 0]
SLOTS = 15  # bits of the number of a slot
# Odd numbers without a pattern, one for each word.
MIXERS = np.random.Generator(np.random.PCG64(0x243F6A8885A308D3)).integers(
    0, 2**64, WIDEST // 8, np.uint64
) | np.uint64(1)
TENS = np.append(10 ** np.arange(11), 0)  # TENS[-1]: what is no part of the number counts nothing
MOST = 100_000  # texts that are remembered
MOST_TEXT = 1 << 22  # characters of them


class Bad(ValueError):
    """A value that means nothing; index: its row among the values given."""

    def __init__(self, index, value, expected):
        super().__init__(f"{value!r}, expected {expected}")
        self.index, self.value, self.expected = int(index), value, expected


class Texts:
    """Texts in UTF-8. data: bytes without zeros that end with PAD; start and length: an array each,
    of the first byte of each text and the number of its bytes.
    """

    def __init__(self, data, start, length):
        self.data, self.start, self.length = data, start, length

    @classmethod
    def of(cls, values):
        """From any texts; Texts are returned as they are."""
        if isinstance(values, cls):
            return values
        data = "".join(values)
        if data.isascii():
            data, length = data.encode(), list(map(len, values))
        else:
            parts = [value.encode(errors="replace") for value in values]
            data, length = b"".join(parts), list(map(len, parts))
        length = np.array(length, np.intp)
        return cls(data.replace(b"\0", b"\xff") + PAD, np.cumsum(length) - length, length)

    def __len__(self):
        return len(self.start)

    def __getitem__(self, index):
        begin = int(self.start[index])
        return self.data[begin : begin + int(self.length[index])].decode(errors="replace")

    def take(self, rows):
        """Some of them."""
        return Texts(self.data, self.start[rows], self.length[rows])

    def chars(self, width):
        """The `width` bytes from the start of each text on, as a table, whatever they belong to."""
        return self._window(f"V{width}").view(np.uint8).reshape(len(self), width)

    def fixed(self, width):
        """The same as an array of bytes; of texts that have as many."""
        return self._window(f"S{width}")

    def words(self):
        """A table of 64-bit words, with zeros after the end of each text, cut at WIDEST bytes."""
        if not len(self):
            return np.zeros((0, 1), np.uint64)
        width = max(1, -(-min(int(self.length.max()), WIDEST) // 8))
        out = self._window(f"V{8 * width}").view(np.uint64).reshape(len(self), width)
        for k in range(int(self.length.min()) // 8, width):
            out[:, k] &= KEEP[np.clip(self.length - 8 * k, 0, 8)]
        return out

    def digits(self, most):
        """(numbers as int64, a mask of the texts that are 1 to `most` digits); 0 for the others."""
        fine = (self.length > 0) & (self.length <= most)
        if not fine.any():
            return np.zeros(len(self), np.int64), fine
        width = min(int(self.length.max()), most)
        digits = self.chars(width) - np.uint8(48)
        after = self.length[:, None] - np.arange(1, width + 1)  # digits that follow this one
        fine &= ((digits < 10) | (after < 0)).all(axis=1)
        return (digits * TENS[np.clip(after, -1, most)]).sum(axis=1) * fine, fine

    def _window(self, kind):
        """The items of a type that begin where the texts begin."""
        size = len(self.data) - np.dtype(kind).itemsize + 1
        return np.ndarray((size,), kind, self.data, strides=(1,))[self.start]


class Cached(dict):
    """A function of one text, remembered as an index into `values`: columns repeat few texts.

    Beside the dict stands a table with one slot for each value of a hash, in which many texts are
    found at once: all their bytes are compared, so that equal hashes do no harm.
    """

    def __init__(self, function):
        super().__init__()
        self.function = function
        self.forget()

    def forget(self):
        self.clear()
        self.held = 0  # characters
        self.values, self.array = [], None
        self.codes = np.full(1 << SLOTS, -1, np.int32)
        self.keys = np.zeros((1, 1 << SLOTS), np.uint64)  # a row for each word of a text

    def __missing__(self, text):
        value = self.function(text)
        self[text] = index = len(self.values)
        self.held += len(text)
        self.values.append(value)
        return index

    def all(self, texts, expected, kind=np.float64):
        """An array of the function of each text, a row each where it returns several numbers.
        Raises Bad for the first text that it refuses.
        """
        texts = Texts.of(texts)
        if len(self) > MOST or self.held > MOST_TEXT:  # a hostile dump repeats nothing
            self.forget()
        codes = self.find(texts, expected)
        known = 0 if self.array is None else len(self.array)
        if known < len(self.values):
            new = np.array(self.values[known:], kind)
            self.array = np.concatenate([self.array, new]) if known else new
        elif self.array is None:
            return np.zeros(0, kind)
        return self.array[codes]

    def find(self, texts, expected):
        """The index of each text in `values`."""
        words = texts.words()
        slots = self.slots(words)
        codes = self.codes[slots]
        hit = (codes >= 0) & (texts.length <= WIDEST)
        for k in range(len(self.keys)):
            key = self.keys[k][slots]
            hit &= key == words[:, k] if k < words.shape[1] else key == 0
        if words.shape[1] > len(self.keys):
            hit &= (words[:, len(self.keys) :] == 0).all(axis=1)
        missed = np.flatnonzero(~hit)
        for row in missed.tolist():
            text = texts[row]
            try:
                codes[row] = self[text]
            except ValueError:
                raise Bad(row, text, expected) from None
        if len(missed):
            self.remember(texts, words, slots, codes, missed)
        return codes

    def slots(self, words):
        total = words[:, 0] * MIXERS[0]
        for k in range(1, words.shape[1]):
            total += words[:, k] * MIXERS[k]
        return (total >> np.uint64(64 - SLOTS)).astype(np.intp)

    def remember(self, texts, words, slots, codes, rows):
        """Puts texts into the slots that are free."""
        more = words.shape[1] - len(self.keys)
        if more > 0:
            self.keys = np.concatenate([self.keys, np.zeros((more, 1 << SLOTS), np.uint64)])
        rows = rows[(self.codes[slots[rows]] < 0) & (texts.length[rows] <= WIDEST)]
        if not len(rows):
            return
        # Of several texts for one slot the first is kept, whole.
        taken, first = np.unique(slots[rows], return_index=True)
        rows = rows[first]
        self.codes[taken] = codes[rows]
        self.keys[: words.shape[1], taken] = words[rows].T
