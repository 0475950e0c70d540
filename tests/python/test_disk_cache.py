"""Compiled code on disk: used again, and never run where somebody else has touched it."""

import os
import resource
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


def test_damaged_code_is_compiled_again(run):
    # tests/cpp/test_disk_cache.cpp damages files in every other way.
    (file,) = run()
    good = file.read_bytes()
    bad = bytearray(good)
    bad[-100] ^= 1
    file.write_bytes(bytes(bad))
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
    limit = file.stat().st_size  # so little that every store looks at the folder
    file.unlink()
    run(NUMBUS_CACHE_LIMIT=str(limit))
    assert not old.exists()


def test_many_processes_at_once(tmp_path):
    source, folder = tmp_path / "program.py", tmp_path / "cache"
    source.write_text(PROGRAM + "assert core.disk_cache()['problem'] == ''")
    env = {**os.environ, "NUMBUS_CACHE_DIR": str(folder)}
    command = [sys.executable, str(source)]
    several = [subprocess.Popen(command, env=env, stderr=subprocess.PIPE) for _ in range(8)]
    assert [(p.communicate()[1], p.returncode) for p in several] == [(b"", 0)] * 8
    assert sorted(f.suffix for f in folder.iterdir()) == ["", ".o"]


@pytest.mark.parametrize("home", ["missing", "read-only", "full", "of a file"])
def test_no_home_is_no_matter(tmp_path, home):
    source, folder = tmp_path / "program.py", tmp_path / "home"
    source.write_text(PROGRAM + "assert core.disk_cache()['problem'] != ''")
    env = {**os.environ, "HOME": str(folder)}
    for name in "NUMBUS_CACHE_DIR", "XDG_CACHE_HOME":
        env.pop(name, None)
    prepare = None
    if home == "read-only":
        env["HOME"] = "/proc"  # of root, too
    elif home == "full":
        folder.mkdir()

        def prepare():
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    elif home == "of a file":
        folder.write_text("")
    done = subprocess.run(
        [sys.executable, str(source)], env=env, preexec_fn=prepare, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, b"", b"")
    if home == "missing":
        assert not folder.exists()


def test_a_relative_folder_stays_where_it_was(tmp_path):
    source = tmp_path / "program.py"
    source.write_text("import os\n" + PROGRAM.replace("assert", "os.chdir('/')\nassert"))
    env = {**os.environ, "NUMBUS_CACHE_DIR": "cache"}
    check = "import numbus._core as core\ncore.disk_cache()\n"
    source.write_text(check + source.read_text())
    subprocess.run([sys.executable, str(source)], env=env, check=True, cwd=tmp_path)
    assert len(list((tmp_path / "cache").glob("*.o"))) == 1
