"""A sample of the mutated dumps of fuzz.py, and those that ever failed."""

import fuzz
import numpy as np
import pytest


def test_sample():
    counts = fuzz.run(3000, seed=20260)
    assert sum(dumps for dumps, _, _ in counts.values()) == 3000
    # The mutations leave enough to read and break enough to refuse.
    for dumps, read, refused in counts.values():
        assert read >= 0.02 * dumps and refused >= 0.1 * dumps


@pytest.mark.parametrize(
    "kind, data",
    [
        ("swf", b"2 50 -1 0 8 -1 2048 1e308 7200 4096 5 4 1 -1 1 -1 -1 -1\n"),
        ("swf", b"# 0 10 1 4 -1 -1 4 60 -1 1 3 1 -1 2 -1 -1 -1\n" + fuzz.SWF[1] + b"\n"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_dumps_that_failed_before(kind, data):
    fuzz.feed(kind, data)


@pytest.mark.parametrize("kind", fuzz.CORPORA)
def test_what_is_mutated_can_be_read(kind):
    data = b"\n".join(fuzz.CORPORA[kind]) + b"\n"
    assert fuzz.feed("sacct" if kind == "named" else kind, data) >= 3


def test_every_block_size_reads_the_same():
    """Where a stream is cut makes no difference."""
    from numbus_cluster import sacct_text
    from numbus_cluster.jobs import KINDS, Names

    data = b"\n".join(fuzz.CORPORA["named"] * 3) + b"\n"
    found = []
    for size in (1, 7, 100, 10_000):
        names = {kind: Names() for kind in KINDS}
        blocks = (data[i : i + size] for i in range(0, len(data), size))
        batches = list(sacct_text.read(blocks, "x", names))
        found.append({k: np.concatenate([b[k] for b in batches]).tolist() for k in batches[0]})
    assert len(found[0]["id"]) == 12
    assert all(f == found[0] for f in found)
