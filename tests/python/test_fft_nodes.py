"""Fourier transforms on a CPU as nodes of the plan: NumPy's bits and layout, warnings, threads."""

import warnings

import numpy as np
import pytest
from conftest import DEVICE
from test_libraries import run

ONE_AXIS = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
SEVERAL_AXES = ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"]


@pytest.fixture(autouse=True)
def _on_a_cpu():
    if DEVICE not in ("cpu", "fenced"):
        pytest.skip("cuFFT has bits of its own")


def lay(x, how):
    if how == "F":
        return np.asfortranarray(x)
    if how == "swapped":
        return x.swapaxes(0, -1)
    return x[..., ::-1] if how == "reversed" else x[::2] if how == "spread" else x


def drawn(rng):
    """An operand, a function's name and keywords."""
    axes = int(rng.integers(1, 4))
    shape = tuple(rng.integers(1, [0, 9000, 130, 24][axes], axes).tolist())
    dtype = str(rng.choice(list("fdFDbiB")))
    x = rng.standard_normal(shape) * 10
    if dtype in "FD":
        x = x + 1j * rng.standard_normal(shape)
    x = lay(x.astype(dtype), str(rng.choice(["C", "F", "swapped", "reversed", "spread"])))
    keywords = {}
    norm = rng.choice(["", "ortho", "forward", "backward"])
    if norm:
        keywords["norm"] = str(norm)
    names = ONE_AXIS + SEVERAL_AXES if axes > 1 else ONE_AXIS + SEVERAL_AXES[:4]
    name = str(rng.choice(names))
    if name in ONE_AXIS:
        if rng.integers(2):
            keywords["axis"] = int(rng.integers(-axes, axes))
        if rng.integers(3) == 0:
            keywords["n"] = int(rng.integers(1, 300))
    elif rng.integers(2):
        some = int(rng.integers(1, axes + 1))
        keywords["axes"] = tuple(rng.permutation(axes)[:some].tolist())
        if rng.integers(3) == 0:
            keywords["s"] = tuple(rng.integers(1, 20, some).tolist())
    return x, name, keywords


@pytest.mark.parametrize("seed", range(60))
def test_numpys_bits(xp, seed):
    rng = np.random.default_rng(seed)
    for _ in range(10):
        x, name, keywords = drawn(rng)
        try:
            expected = getattr(np.fft, name)(x, **keywords)
        except (TypeError, ValueError) as error:
            with pytest.raises(type(error)):
                getattr(xp.fft, name)(xp.asarray(x), **keywords)
            continue
        operand = xp.asarray(x)
        got = getattr(xp.fft, name)(operand + 0 if rng.integers(2) else operand, **keywords)
        assert got.dtype == expected.dtype and got.shape == expected.shape
        assert np.asarray(got).tobytes() == expected.tobytes(), (name, x.dtype, x.shape, keywords)
        if min(expected.shape) > 1:  # an axis of one element may have any stride
            assert got.strides == expected.strides, (name, x.strides, keywords)


@pytest.mark.numbus
def test_nothing_is_flushed():
    text = run(
        "import numpy as np, numbus as nb\n"
        "from numbus import _core\n"
        "x = nb.ones((300, 200)) + 0\n"
        "_core.synchronize()\n"
        "_core.reset_stats()\n"
        "y = nb.fft.ifft2(nb.fft.fft2(x * 2, norm='ortho'), norm='ortho').real + 1\n"
        "print(_core.stats()['flushes'])\n"
        "print(np.allclose(np.asarray(y), 3))",
        NUMBUS_DEVICE="cpu",
    )
    assert text.split() == ["0", "True"]


@pytest.mark.numbus
def test_the_number_of_threads_says_nothing():
    code = (
        "import hashlib, numpy as np, numbus as nb\n"
        "x = nb.asarray(np.random.default_rng(1).standard_normal((37, 60, 50)))\n"
        "h = hashlib.sha256()\n"
        "for axis in range(3):\n"
        "    for t in 'fd':\n"
        "        h.update(np.asarray(nb.fft.fft(x.astype(t), axis=axis)).tobytes())\n"
        "        h.update(np.asarray(nb.fft.rfft(x.astype(t), axis=axis)).tobytes())\n"
        "print(h.hexdigest())"
    )
    answers = {run(code, NUMBUS_NUM_THREADS=str(n)).strip() for n in (1, 2, 5)}
    assert len(answers) == 1


def kinds(messages):
    return {m.split(" encountered")[0] for m in messages}


def told(library, name, x, **keywords):
    x = library.asarray(x) + 0
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        np.asarray(getattr(library.fft, name)(x, **keywords))
    return {str(w.message) for w in seen}


@pytest.mark.parametrize("name", [n for n in ONE_AXIS + SEVERAL_AXES])
@pytest.mark.parametrize("dtype", ["f", "d"])
@pytest.mark.parametrize("value", [np.inf, np.nan, "huge", 1.0])
def test_warnings(xp, name, dtype, value):
    if DEVICE != "cpu":
        pytest.skip("warnings are those of a CPU")
    x = np.ones((200, 250), dtype)
    x[3, 4] = np.finfo(dtype).max if value == "huge" else value
    x[3, 7] = x[3, 4]
    expected, got = told(np, name, x), told(xp, name, x)
    # What does not fit into float32 is told of the cast there, of the transform here.
    same = {w.replace("in cast", "in " + name[: name.index("fft") + 3]) for w in expected}
    assert kinds(got) == kinds(same)
    if value is np.inf and dtype == "d":
        assert got == expected


def test_errors_are_those_of_where_it_was_called(xp):
    if DEVICE != "cpu":
        pytest.skip("warnings are those of a CPU")
    x = xp.ones((200, 250)) * np.inf
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        y = xp.fft.fft(x)  # this line
        with np.errstate(all="ignore"):
            np.asarray(y)
    lines = {w.filename.rsplit("/", 1)[-1] for w in seen if "in fft" in str(w.message)}
    assert lines == {"test_fft_nodes.py"}
