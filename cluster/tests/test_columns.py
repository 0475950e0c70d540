"""Columns of texts are what Python makes of each text; hashes that agree do no harm."""

import fuzz
import numpy as np
import pytest
from numbus_cluster import columns, fields, sacct_text
from numbus_cluster.columns import WIDEST, Bad, Cached, Texts
from numbus_cluster.errors import Problem
from numbus_cluster.jobs import KINDS, Names

STRANGE = [
    "",
    "a",
    "12345678",
    "123456789",
    "é" * 5,
    "x" * WIDEST,
    "x" * (WIDEST + 1),
    "|",
    "\u202e",
]


def some(number, seed=1):
    """Texts of every length, many of them several times."""
    rng = np.random.default_rng(seed)
    few = [
        "".join(chr(c) for c in rng.integers(32, 127, length)) for length in range(2 * WIDEST)
    ] + STRANGE
    return [few[i] for i in rng.integers(0, len(few), number)]


def test_texts_are_what_they_were():
    values = some(3000)
    texts = Texts.of(values)
    assert [texts[i] for i in range(len(texts))] == values
    rows = np.arange(0, 3000, 7)
    assert [texts.take(rows)[i] for i in range(len(rows))] == [values[i] for i in rows]
    for value, words in zip(values, texts.words()):
        assert words.tobytes().rstrip(b"\0") == value.encode()[:WIDEST]


def test_digits_are_pythons():
    values = ["0", "007", "123456789", "1234567890", "", "-1", "1.", "٣", "12a", " 1", "9" * 12]
    for most in (1, 9, 10):
        found, fine = Texts.of(values).digits(most)
        for value, number, mask in zip(values, found.tolist(), fine.tolist()):
            right = value.isascii() and value.isdigit() and len(value) <= most
            assert mask == right and number == (int(value) if right else 0)


@pytest.mark.parametrize("bits", [1, 4, 15])
def test_looking_up_agrees_with_the_function(bits, monkeypatch):
    """With two slots nearly each text meets another's."""
    monkeypatch.setattr(columns, "SLOTS", bits)
    cached = Cached(lambda text: (len(text), hash(text) % 1000))
    for seed in range(5):
        values = some(2000, seed)
        found = cached.all(values, "a text", np.int64).tolist()
        assert found == [[len(v), hash(v) % 1000] for v in values]


def test_equal_hashes_do_no_harm(monkeypatch):
    monkeypatch.setattr(columns, "MIXERS", np.zeros_like(columns.MIXERS))
    cached = Cached(str)
    values = some(2000)
    assert cached.all(values, "a text", object).tolist() == values


def test_what_is_remembered_is_bounded(monkeypatch):
    monkeypatch.setattr(columns, "MOST", 50)
    cached = Cached(int)
    for start in range(0, 2000, 40):
        values = [str(i) for i in range(start, start + 40)]
        assert cached.all(values, "a number").tolist() == list(range(start, start + 40))
        assert len(cached) <= 90


def test_the_first_bad_text_is_named():
    cached = Cached(int)
    cached.all(["1", "2"], "a number")
    with pytest.raises(Bad) as bad:
        cached.all(["1", "2", "x", "2", "y"], "a number")
    assert (bad.value.index, bad.value.value) == (2, "x")
    assert cached.all([], "a number").tolist() == []


def test_job_numbers_of_arrays():
    """Those that are read together agree with those that the expression reads one by one."""
    values = [
        "7",
        "12_3",
        "12_",
        "_3",
        "12_3_4",
        "1234567890",
        "4294967295",
        "5_123456789",
        "6_[1-4]",
    ]
    for value in [*values, "8+2", "9.batch", "10_2.0", "11_x", "", "12345678_9"]:
        found = fields.JOB.fullmatch(value)
        if found is None:
            with pytest.raises(Bad):
                fields.job_ids(["1", value])
            continue
        number, task, component, _, step = (c.tolist()[1] for c in fields.job_ids(["1", value]))
        assert number == int(found[1])
        assert task == (int(found[2]) if found[2] else -2 if found[3] is not None else -1)
        assert component == int(found[4] or -1) and step == bool(found[5])


def test_both_ways_to_read_lines_agree(monkeypatch):
    """Lines that are even are read together, others one by one: with the same result."""

    def outcome(data):
        names, left = {kind: Names() for kind in KINDS}, sacct_text.Left()
        try:
            batches = [
                {name: column.tolist() for name, column in batch.items()}
                for batch in sacct_text.read([data], "x", names, left)
            ]
        except Problem as problem:
            return str(problem)
        return batches, {kind: names[kind].texts for kind in KINDS}, left.lines()

    together = 0
    even = sacct_text._Reader.even
    for number in range(1500):
        rng = fuzz.random.Random(number)
        data = fuzz.mutated(rng, fuzz.CORPORA[rng.choice(("sacct", "named"))])
        first = outcome(data)
        monkeypatch.setattr(sacct_text._Reader, "even", lambda self, data: None)
        second = outcome(data)
        monkeypatch.setattr(sacct_text._Reader, "even", even)
        assert first == second, data
        together += isinstance(first, tuple)
    assert together > 100
