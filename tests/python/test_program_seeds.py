"""Programs of the kernel language that once failed stay as tests; the generator is tested, too."""

import os
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from programs import differences, mutants, oracle  # noqa: E402
from programs.check import MODES, Checker  # noqa: E402
from programs.grow import FORMATS_FROM, GRAMMAR_VERSION, RECORDS_FROM, UNSET_FROM, generate  # noqa: E402

PROGRAMS = TESTS / "programs"
REGRESSIONS = sorted((PROGRAMS / "regressions").glob("*.py"))
ON_GPU = os.environ.get("NUMBUS_DEVICE", "cpu").startswith("cuda")


def seeds():
    found = []
    for line in (PROGRAMS / "failed_seeds.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            version, seed = map(int, line.split()[:2])
            before = {14: RECORDS_FROM, 15: UNSET_FROM, 16: FORMATS_FROM}.get(version, 0)
            if version == GRAMMAR_VERSION or seed < before:
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


def value_of(*lines, head="import numpy as np\n", arguments=""):
    """What the oracle says that a function of these lines gives, or how it ends."""
    body = "\n".join(f"    {line}" for line in lines)
    taken = ", ".join(f"a{k}" for k in range(arguments.count(",")))
    text = f"{head}\n\ndef f({taken}):\n{body}\n\n\ndef arguments():\n    return ({arguments})\n"
    found = oracle.expected(text).outcome
    return found.error or found.value


OBJMODE = "import numpy as np\nfrom numbus.kernels import objmode\n\nG = -9223372036854775808\n"


def test_python_runs_blocks_of_objmode_with_integers_without_end():
    lines = "with objmode(v='int64'):", "    v = abs(G) % 3", "return v, abs(G) % 3"
    assert value_of(*lines, head=OBJMODE) == (2, 1)


def test_names_of_objmode_have_the_types_that_are_declared():
    lines = "with objmode(v='boolean'):", "    v = 4 > 1", "for i in range(0):", "    v -= 2"
    assert type(value_of(*lines, "return v", head=OBJMODE)) is int


def test_what_stands_after_a_decided_return_gives_no_types():
    text = (
        "G = True\n\n\ndef f(a):\n    if G:\n        if a > 2:\n            return (G,)\n"
        "        else:\n            return (False,)\n    return (3,)\n\n\n"
        "def arguments():\n    return (1,)\n"
    )
    assert type(oracle.settled(oracle.instrumented(text)[0], True)[1].value[0]) is bool


def test_a_name_that_may_hold_none_is_compared_by_one_type():
    lines = "o = None", "if a0 > 2:", "    o = np.float32(1)"
    found = value_of(*lines, "return ~(o == 1), ~(None == np.float32(2))", arguments="1,")
    assert list(map(str, found)) == ["True", "-1"]


def test_the_default_of_a_key_has_the_type_of_the_values():
    lines = "d = {1: 2.5}", "e = {1: 2}", "return d.get(3, 4), e.get(1, 0.5), e.pop(1, 2), d.get(1)"
    assert list(map(repr, value_of(*lines))) == ["4.0", "2.0", "2", "2.5"]


@pytest.mark.parametrize("call", ["sorted([1j])", "max([2j])", "min((3j, 1j))"])
def test_complex_numbers_have_no_order_one_alone_neither(call):
    with pytest.raises(oracle.NoVerdict, match="TypeError"):
        value_of(f"return {call}")


@pytest.mark.parametrize("call", ["np.minimum(0.0, 1j)", "np.fmax(np.array([1j]), 0.5)"])
def test_zeros_of_complex_numbers_have_signs_too(call):
    assert value_of("try:", f"    return {call}.size", *HANDLED[1:]) == 1


HANDLED = "    return 1", "except Exception:", "    return 2"


@pytest.mark.parametrize(
    "line, words",
    [
        ("    sum([1.0 for k in range(0)])", "the sum of nothing"),
        ("    np.ones(2, np.int64)[0] = np.inf", "invalid value"),
        ("    f()", "too deep"),
    ],
)
def test_a_handler_takes_nothing_that_is_no_error_of_the_program(line, words):
    with pytest.raises(oracle.NoVerdict, match=words):
        value_of("try:", line, *HANDLED)


@pytest.mark.parametrize("change", ["d.update([(2, 1)])\nd.pop(2, 3)", "d[2] = 1; del d[2]"])
def test_a_dict_that_is_given_other_keys_meanwhile_has_no_verdict(change):
    with pytest.raises(oracle.NoVerdict, match="other keys"):
        value_of("d = {0: 1}", "for k in d:", *(f"    {c}" for c in change.split("\n")))


def test_messages_are_compared_by_what_comes_out():
    text = (
        "import numpy as np\n\n\ndef f(a):\n    raise {}\n\n\n"
        "def arguments():\n    return (np.int64(4),)\n"
    )
    want = oracle.expected(text.format("ValueError('own 1', a)"))
    assert not oracle.difference(want, oracle.Outcome(None, ValueError("own 1", 4), (4,)))
    assert oracle.difference(want, oracle.Outcome(None, ValueError("own 1", 5), (4,)))
    with pytest.raises(oracle.NoVerdict, match="hangs on rounding"):
        oracle.expected(text.format("KeyError(f'own {np.sin(a)}')"))


def test_few_differences_are_allowed():
    assert len(differences.ALLOWED) <= 10


@pytest.mark.long
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
