"""Runs the command line in the test's own process, with a cache of its own."""

from __future__ import annotations

import io
import json
import os
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest
from numbus_cluster import trace
from numbus_cluster.cli import main

HERE = Path(__file__).parent
HEADER = "JobID|Partition|User|Submit|Eligible|Start|End|State|ReqCPUS|ReqMem|Timelimit|AllocTRES"

# A job that the sample's partition gpu ends first.
LARGE_JOB = "-p medium,gpu --cpus 8 --time 6:00:00 --speedup 12".split()


@dataclass
class Result:
    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBUS_CLUSTER_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def cluster():
    """cluster("table", "--dump", file) -> Result."""

    def call(*arguments):
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = main([os.fspath(a) for a in arguments])
        return Result(code, out.getvalue(), err.getvalue())

    return call


@pytest.fixture
def answer(cluster):
    """answer("table", "--dump", file) -> what the command says as JSON; it must succeed."""

    def call(*arguments):
        found = cluster(*arguments, "--format", "json")
        assert found.code == 0, found.err
        return json.loads(found.out)

    return call


@pytest.fixture
def dump(tmp_path):
    """dump(lines…) -> a file of these lines after the usual header."""

    def write(*lines, header=HEADER, name="dump.txt"):
        file = tmp_path / name
        file.write_bytes("".join(f"{line}\n" for line in (header, *lines)).encode())
        return file

    return write


def job(
    number=1,
    partition="medium",
    submit="2024-03-01T12:00:00",
    start="2024-03-01T12:10:00",
    user="ada",
    eligible=None,
    end="2024-03-01T13:00:00",
    state="COMPLETED",
    cpus=4,
    mem="8G",
    limit="02:00:00",
    tres="cpu=4,mem=8G,node=1",
):
    """A line of a dump."""
    return "|".join(
        map(
            str,
            (
                number,
                partition,
                user,
                submit,
                eligible or submit,
                start,
                end,
                state,
                cpus,
                mem,
                limit,
                tres,
            ),
        )
    )


@pytest.fixture(scope="session")
def sample(tmp_path_factory):
    """A made-up cluster's dump of 20,000 jobs, and its Trace."""
    file = tmp_path_factory.mktemp("sample") / "sample.txt"
    made = trace.generate(20_000, seed=1)
    with open(file, "w") as stream:
        trace.write_sacct(made, stream)
    return file, made
