"""Programs that once failed stay as tests; the fuzzer itself is tested on NumPy and on mutants."""

import os
from pathlib import Path

import pytest
from check import Broken, Checker, reference
from grammar import ALL, FIRST, GRAMMAR_VERSION, Features, generate
from mutants import MUTANTS
from program import compile_text

FUZZ = Path(__file__).resolve().parents[1] / "fuzz"
ON_GPU = os.environ.get("NUMBUS_DEVICE", "cpu") != "cpu"
MODES = ["eager", "compiled", "auto", "small", "mixed", "unplanned", "null", "resized"]
if not ON_GPU:
    MODES.insert(1, "interp")  # it works on the CPU
REGRESSIONS = sorted((FUZZ / "regressions").glob("*.txt"))


def seeds():
    found = []
    for line in (FUZZ / "failed_seeds.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            version, dtypes, seed = line.split()[:3]
            if int(version) == GRAMMAR_VERSION:
                found.append((dtypes, int(seed)))
    return found


@pytest.mark.numbus
@pytest.mark.parametrize("path", REGRESSIONS, ids=[p.stem for p in REGRESSIONS])
def test_minimal_program(path):
    text = path.read_text()
    if ON_GPU and ("np.asarray(" in text or "xp.asarray(" in text):
        pytest.skip("shares memory with NumPy, which is about the CPU")
    reference(compile_text(text))  # it must have a verdict
    assert Checker(MODES, strict=True).check_text(text) == ""


@pytest.mark.numbus
@pytest.mark.parametrize(("dtypes", "seed"), seeds())
def test_seed(dtypes, seed):
    features = Features(dtypes={"first": FIRST, "all": ALL}.get(dtypes) or tuple(dtypes.split(",")))
    assert Checker(MODES).check_text(generate(seed, features).text) == ""


@pytest.mark.numbus
def test_some_programs():
    checker = Checker(MODES)
    for seed in range(10_000_000, 10_000_060):
        assert checker.check_text(generate(seed).text) == "", f"seed {seed}"


def test_generation_is_deterministic():
    assert [generate(s).text for s in range(20)] == [generate(s).text for s in range(20)]


def test_programs_have_a_verdict():
    """Generated programs run in NumPy and hang on no rounding that one shadow shows; a few do on
    what only several show."""
    broken = 0
    for seed in range(150):
        for features in (Features(), Features(dtypes=ALL)):
            try:
                reference(compile_text(generate(seed, features).text))
            except Broken as e:
                assert "tie" in str(e) or "control flow" in str(e), seed
                broken += 1
    assert broken <= 6


def test_control_is_clean():
    checker = Checker(["auto"], "Faithful")
    for seed in range(200):
        assert checker.check_text(generate(seed).text) == "", f"seed {seed}"


@pytest.mark.parametrize("name", [n for n in MUTANTS if n != "Faithful"])
def test_mutant_is_found(name):
    """A library with one deliberate mistake does not survive 400 programs."""
    checker = Checker(["auto"], name)
    assert any(checker.check_text(generate(seed).text) for seed in range(400))


@pytest.mark.parametrize(
    "open_text, text",
    [
        # Elements beside the asked rank of a partition are in no promised order.
        ("b = xp.partition(a > 0, 2, 0)", "b = xp.partition(a > 0, 2, 0)[2:3]"),
        ("b = xp.partition(a > 0.5, 2, None)[1:4]", "b = xp.partition(a > 0.5, 2, None)[2:3]"),
        ("b = xp.partition(a > 0.5, -1)[:7]", "b = xp.partition(a > 0.5, -1)[-1:]"),
        # What uint64 cannot hold of a complex number's real part is the machine's to say.
        ("a = xp.array(rnd(3, (9,), 'uint64', 0, 9))\na[:] = 1j - 1.0 - a", "b = 1j - 1.0 - a"),
    ],
)
def test_what_is_open_has_no_verdict(open_text, text):
    first = "a = xp.array(rnd(5, (9,), 'float64', -2, 2))\n"
    reference(compile_text(first + text))
    with pytest.raises(Broken):
        reference(compile_text(first + open_text))
