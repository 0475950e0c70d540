"""Compiled code on disk: used again, and never run where somebody else has touched it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import numpy as np
from numbus import njit
import numbus._core as core

@njit
def f(x):
    return x * 3 + 1

assert f(2) == 7
"""


@pytest.fixture
def run(tmp_path):
    source = tmp_path / "program.py"
    source.write_text(PROGRAM)
    folder = tmp_path / "cache"

    def go(**setting):
        env = {**os.environ, "NUMBUS_CACHE_DIR": str(folder), **setting}
        subprocess.run([sys.executable, str(source)], env=env, check=True)
        return sorted(folder.glob("*.o"))

    return go


def test_files_are_the_owners_alone(run):
    (file,) = run()
    assert file.stat().st_mode & 0o77 == 0
    assert file.parent.stat().st_mode & 0o77 == 0
    assert (file.parent / "secret").stat().st_mode & 0o77 == 0


def test_the_code_is_used_again(run):
    (file,) = run()
    before = file.stat().st_ino
    assert [f.stat().st_ino for f in run()] == [before]


@pytest.mark.parametrize("damage", ["flip", "truncate", "append", "empty"])
def test_damaged_code_is_compiled_again(run, damage):
    (file,) = run()
    good = file.read_bytes()
    bad = bytearray(good)
    bad[-100] ^= 1
    file.write_bytes(
        {"flip": bytes(bad), "truncate": good[:-7], "append": good + b"x", "empty": b""}[damage]
    )
    (file,) = run()
    assert file.read_bytes()[-100] == good[-100]


def test_code_under_another_secret_is_not_run(run):
    (file,) = run()
    inode = file.stat().st_ino
    (file.parent / "secret").unlink()
    (file,) = run()
    assert file.stat().st_ino != inode


def test_the_folder_stays_small(run):
    (file,) = run()
    old = Path(file.parent / "0000000000000000.o")
    old.write_bytes(b"x" * 100_000)
    os.utime(old, (1, 1))
    file.unlink()
    run(NUMBUS_CACHE_LIMIT="50000")
    assert not old.exists()
