"""Programs of the kernel language that once failed stay as tests; the generator is tested, too."""

import os
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from programs import differences, mutants, oracle  # noqa: E402
from programs.check import MODES, Checker  # noqa: E402
from programs.grow import GRAMMAR_VERSION, generate  # noqa: E402

PROGRAMS = TESTS / "programs"
REGRESSIONS = sorted((PROGRAMS / "regressions").glob("*.py"))
ON_GPU = os.environ.get("NUMBUS_DEVICE", "cpu").startswith("cuda")


def seeds():
    found = []
    for line in (PROGRAMS / "failed_seeds.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            version, seed = map(int, line.split()[:2])
            if version == GRAMMAR_VERSION:
                found.append(seed)
    return found


@pytest.fixture(autouse=True)
def faithful():
    yield
    mutants.install("")


@pytest.mark.numbus
@pytest.mark.parametrize("path", REGRESSIONS, ids=[p.stem for p in REGRESSIONS])
def test_minimal_program(path):
    text = path.read_text()
    oracle.expected(text)  # it must have a verdict
    checker = Checker(MODES)
    assert checker.check_text(text) == ""
    assert ON_GPU or checker.verdicts["njit"] == 1, checker.unsupported


@pytest.mark.numbus
@pytest.mark.parametrize("seed", seeds())
def test_seed(seed):
    assert Checker(MODES).check_text(generate(seed).text) == ""


def test_generation_is_deterministic():
    assert [generate(s).text for s in range(12)] == [generate(s).text for s in range(12)]


def test_programs_have_a_verdict():
    """Most run in CPython and hang on no rounding."""
    without = 0
    for seed in range(100):
        try:
            oracle.expected(generate(seed).text)
        except oracle.NoVerdict:
            without += 1
    assert without <= 8


def test_finally_that_raises_hides_no_missing_verdict():
    text = (
        "import numpy as np\n\n\ndef f(a):\n    try:\n"
        "        a[np.array([k for k in range(0)]).size] = 0\n"
        "    finally:\n        raise TypeError('own 1')\n\n\n"
        "def arguments():\n    return (np.ones(2),)\n"
    )
    with pytest.raises(oracle.NoVerdict, match="an empty list has no type"):
        oracle.expected(text)


def test_python_runs_blocks_of_objmode_with_integers_without_end():
    text = (
        "from numbus.kernels import objmode\n\nG = -9223372036854775808\n\n\n"
        "def f():\n    with objmode(v='int64'):\n        v = abs(G) % 3\n"
        "    return v, abs(G) % 3\n\n\n"
        "def arguments():\n    return ()\n"
    )
    assert oracle.expected(text).outcome.value == (2, 1)


def test_what_stands_after_a_decided_return_gives_no_types():
    text = (
        "G = True\n\n\ndef f(a):\n    if G:\n        if a > 2:\n            return (G,)\n"
        "        else:\n            return (False,)\n    return (3,)\n\n\n"
        "def arguments():\n    return (1,)\n"
    )
    assert type(oracle.settled(oracle.instrumented(text)[0], True)[1].value[0]) is bool


def test_a_name_that_may_hold_none_is_compared_by_one_type():
    text = (
        "import numpy as np\n\n\ndef f(a):\n    o = None\n"
        "    if a > 2:\n        o = np.float32(1)\n"
        "    return ~(o == 1), ~(None == np.float32(2))\n\n\n"
        "def arguments():\n    return (1,)\n"
    )
    assert list(map(str, oracle.expected(text).outcome.value)) == ["True", "-1"]


def test_few_differences_are_allowed():
    assert len(differences.ALLOWED) <= 10


@pytest.mark.numbus
@pytest.mark.cpu
@pytest.mark.parametrize("name", [n for n in mutants.MUTANTS if n != "Faithful"])
def test_mutant_is_found(name):
    """A compiler with one rule broken does not survive 2,400 programs, by the broken rule alone."""
    texts = (generate(seed).text for seed in range(2600, 5000))
    found = (
        text
        for text in texts
        if mutants.changes(name, text) and Checker(("njit",), name).check_text(text)
    )
    assert any(Checker(("njit",)).check_text(text) == "" for text in found)
