"""nb.benchmark and %nbtime: what they time, count, print and refuse."""

import random
import re
import statistics
import subprocess
import sys
import time
import types

import numbus as nb
import pytest
from numbus.measure import timer

pytestmark = pytest.mark.numbus


@pytest.mark.recorded
def test_result_and_text(capsys):
    x = nb.ones(200_000)
    calls = []

    def chain(a, factor=1.0):
        calls.append(factor)
        return nb.sin(a) * factor + a

    t = nb.benchmark(chain, x, factor=2.0)
    assert len(calls) > t.samples >= 7 and set(calls) == {2.0}
    assert 0 < t.low <= t.median <= t.high < t.first + t.high and t.precision >= 0
    assert t.launches == 1 and t.bytes_moved == 16 * 200_000 and t.fallbacks == 0
    assert t.bandwidth == t.bytes_moved / t.median
    text = str(t)
    assert capsys.readouterr().out == text + "\n"
    for word in (
        "chain",
        "a call",
        "first call",
        "compiling",
        "kernels",
        "transfers",
        "B/s",
        "rate",
    ):
        assert word in text
    assert re.fullmatch(r"<\S*chain: [\d.]+ \S+ ± [\d.]+ %>", repr(t))


def test_recorded_work_is_timed():
    """A call only records; its time has the work in it."""
    x = nb.ones(4_000_000)
    t = timer.measure(lambda: nb.sqrt(nb.exp(nb.sin(x))), budget=0.2)
    nb.synchronize()
    start = time.perf_counter()
    pending = nb.sqrt(nb.exp(nb.sin(x)))
    recording = time.perf_counter() - start
    del pending
    nb.synchronize()
    assert t.median > 3 * recording


def test_sleep_is_the_rest():
    t = timer.measure(time.sleep, (0.01,), budget=0.1)
    assert 0.01 <= t.median < 0.1 and t.name == "sleep"
    assert t.launches == 0 and t.bytes_moved == 0


def test_compilation_is_apart():
    """A function that compiles in its first two calls: neither is among the samples."""
    shape = {"calls": 0}

    def grows():
        shape["calls"] += 1
        x = nb.ones(64)
        for _ in range(40 + min(shape["calls"], 2)):
            x = x * 1.5 + shape["calls"] * 0.0
        return x

    t = timer.measure(grows, budget=0.1)
    assert shape["calls"] >= t.samples + 2
    assert t.first > 0 and t.compile is not None


def test_counters(monkeypatch):
    """All counters there: times and rates follow from them."""
    state = dict.fromkeys([name for name, _ in timer.COUNTED.values()], 0)
    monkeypatch.setattr(timer._inspect, "stats", lambda: dict(state))

    def call():
        state["compile_ns"] += 5_000_000 if state["launches"] == 0 else 0
        state["launches"] += 2
        state["kernel_ns"] += 1_000_000
        state["transfer_ns"] += 500_000
        state["bytes_moved"] += 3_000_000
        state["flops"] += 7_000_000
        state["bytes_to_device"] += 2000
        state["bytes_to_host"] += 8
        state["fallbacks"] += 3
        time.sleep(0.003)

    t = timer.measure(call, budget=0.05)
    assert t.compile == pytest.approx(5e-3) and t.kernel == pytest.approx(1e-3)
    assert t.transfer == pytest.approx(5e-4) and t.rest == pytest.approx(t.median - 1.5e-3)
    assert (t.launches, t.bytes_moved, t.flops) == (2, 3_000_000, 7_000_000)
    assert t.flop_rate == 7_000_000 / t.median
    assert "2 kB to the device, 8 B back" in str(t) and "7 Mflop" in str(t)
    assert "3 calls of NumPy" in str(t)


def test_counters_that_are_missing(monkeypatch):
    monkeypatch.setattr(timer._inspect, "stats", lambda: {"launches": 0, "fallbacks": 0})
    t = timer.measure(lambda: None, budget=0.01)
    assert t.kernel is t.flops is t.rest is t.flop_rate is None
    assert str(t).count("not counted") >= 6


def test_counters_set_back():
    """A function that resets the counters: no negative counts."""

    def resets():
        nb.ones(10)
        nb._core.reset_stats()

    t = timer.measure(resets, budget=0.01)
    assert t.launches is None or t.launches >= 0


def test_stable_and_not(monkeypatch):
    steady = iter([0.001] * 5 + [0.001, 0.00101] * 5000)
    assert measured(monkeypatch, steady).stable
    noisy = random.Random(1)
    t = measured(monkeypatch, iter(lambda: noisy.choice((0.001, 0.1)), None))
    assert not t.stable and "not stable" in str(t)


def measured(monkeypatch, durations):
    """measure() under a clock of its own, on which calls take the given times."""
    now = [0.0]
    monkeypatch.setattr(timer, "time", types.SimpleNamespace(perf_counter=lambda: now[0]))

    def call():
        now[0] += next(durations)

    return timer.measure(call, budget=2.0)


def test_interval_of_the_median():
    """It holds the true median about as often as it says, 95 of 100 times."""
    draw = random.Random(3)
    hits = 0
    for _ in range(400):
        samples = [draw.expovariate(1.0) for _ in range(64)]
        ordered = sorted(samples)
        median, half = timer.median_of(samples)
        assert median == statistics.median(samples)
        low, high = ordered[24], ordered[40]
        assert half == pytest.approx((high - low) / 2)
        hits += low <= 0.6931 <= high
    assert 370 <= hits <= 398


@pytest.mark.parametrize("value, text", [
    (0.0, "0 s"), (3e-9, "3 ns"), (1.5e-6, "1.5 µs"), (0.0123, "12.3 ms"), (61.0, "61 s"),
    (None, "not counted"),
])  # fmt: skip
def test_seconds(value, text):
    assert timer.seconds(value) == text


@pytest.mark.parametrize("value, text", [
    (0, "0 B"), (0.5, "0.5 B"), (999, "999 B"), (1000, "1 kB"), (4.2e12, "4.2 TB"),
    (None, "not counted"),
])  # fmt: skip
def test_amount(value, text):
    assert timer.amount(value, "B") == text


def test_mistakes():
    with pytest.raises(TypeError, match=r"\[benchmark\] not a function; got int; expected"):
        nb.benchmark(3)
    with pytest.raises(ZeroDivisionError):
        nb.benchmark(lambda: 1 / 0)
    with pytest.raises(TypeError):
        nb.benchmark(lambda a: a)


# ---- %nbtime -------------------------------------------------------------------------------------
class Shell:
    """What the extension needs of IPython's shell."""

    def __init__(self):
        self.user_ns, self.magics = {"nb": nb}, {}

    def register_magic_function(self, function, magic_kind, magic_name):
        assert magic_kind == "line_cell"
        self.magics[magic_name] = function


@pytest.fixture
def magic():
    shell = Shell()
    nb.load_ipython_extension(shell)
    return shell, shell.magics["nbtime"]


@pytest.mark.recorded
def test_line_magic(magic, capsys):
    shell, nbtime = magic
    shell.user_ns["x"] = nb.ones(1000)
    t = nbtime("x + 1")
    assert t.name == "x + 1" and t.launches == 1 and "x + 1: " in capsys.readouterr().out


def test_cell_magic(magic, capsys):
    shell, nbtime = magic
    t = nbtime("count = [0]", "count[0] += 1\ny = nb.ones(10) + count[0]\n")
    assert shell.user_ns["count"][0] > t.samples
    assert t.name == "count[0] += 1 …" and capsys.readouterr().out.startswith("count[0] += 1 …: ")
    assert float(shell.user_ns["y"][0]) == 1 + shell.user_ns["count"][0]


def test_magic_mistakes(magic):
    _, nbtime = magic
    with pytest.raises(ValueError, match="nothing to time"):
        nbtime("  ")
    with pytest.raises(SyntaxError):
        nbtime("x +")
    with pytest.raises(NameError):
        nbtime("no_such_name + 1")


def test_ipython(tmp_path):
    pytest.importorskip("IPython")
    script = "%load_ext numbus\nimport numbus as nb\nx = nb.ones(9)\n%nbtime x * 2\n"
    (tmp_path / "s.ipy").write_text(script)
    command = [sys.executable, "-m", "IPython", "--no-banner", str(tmp_path / "s.ipy")]
    out = subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
    assert "x * 2: " in out and "a call" in out
