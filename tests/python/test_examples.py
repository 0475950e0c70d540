"""Every example runs under plain Python and through the runner, with the same data.

What is compared is the data behind each picture. They pass through exp, cos, sums in various
orders, multiply-adds and JPEG decoders, so that bits differ between machines, and a hash of them
would: stored are selected values, means of sixteen sections and, so that moved data are noticed,
means weighted by position, all compared within a tolerance of the data's magnitude.
`python tests/python/test_examples.py` makes the stored file anew, with NumPy and Numba alone.
"""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "pytorch"))
from inputs import load  # noqa: E402
from training_cases import LEARNING, LEARNT, TRAINED_EXAMPLES  # noqa: E402

STORED = Path(__file__).with_name("example_data.json")
EXAMPLES = ROOT / "examples"
pytestmark = [
    pytest.mark.numbus,
    pytest.mark.skipif(not EXAMPLES.is_dir(), reason="not in a checkout"),
]

# Options that make the data, tolerance, whether single values can be compared, and the forms that
# give these data: NumPy's (also through the runner), then those that only the runner is asked for.
CASES = {
    "heat": ("--size 32", 1e-9, True, ["heat", "heat --module cupy", "heat_cuda"]),
    "heat-spots": ("--size 40 --steps 30", 1e-9, True, ["heat", "heat --module cupy"]),
    # A rounding more or less moves a point at the set's boundary by some steps.
    "mandelbrot": (
        "--size 96 --steps 60",
        2e-3,
        False,
        [
            "mandelbrot",
            "mandelbrot --module cupy",
            "mandelbrot_kernel",
            "mandelbrot_kernel --cuda",
            "mandelbrot_cupy",
        ],
    ),
    "julia": (
        "--julia --size 96 --steps 60",
        2e-3,
        False,
        [
            "mandelbrot",
            "mandelbrot --module cupy",
            "mandelbrot_kernel",
            "mandelbrot_kernel --cuda",
            "mandelbrot_cupy",
        ],
    ),
    "distances": (
        "--size 90",
        1e-9,
        True,
        ["distances", "distances --module cupy", "distances_cuda"],
    ),
    "matmul": ("--size 70", 1e-5, True, ["matmul", "matmul --module cupy", "matmul_cuda"]),
    "vectors": ("--size 5000", 1e-9, True, ["vectors", "vectors --module cupy", "vectors_numba"]),
    # Decoders of JPEG and scalers of images may differ by a step of 1/255 here and there.
    "smooth": (
        "--size 60 --passes 3",
        1e-2,
        True,
        ["smooth", "smooth --module cupy", "smooth_stencil"],
    ),
    "maximum": ("--size 8192", 1e-6, True, ["maximum", "maximum --module cupy", "maximum_cuda"]),
    "overlap": ("--size 4096", 1e-9, True, ["overlap", "overlap --module cupy", "overlap_cuda"]),
    "memory": ("--size 5000", 1e-9, True, ["memory", "memory --module cupy", "memory_cuda"]),
}
# Numba's own forms, in its simulator for want of a GPU: a Python thread for each thread.
SIMULATED = {
    "heat-short": ("--size 12 --tolerance 0.1", 1e-9, True, ["heat", "heat_cuda"]),
    "mandelbrot-small": (
        "--size 12 --steps 20",
        2e-3,
        False,
        ["mandelbrot", "mandelbrot_kernel", "mandelbrot_kernel --cuda"],
    ),
    "distances-small": ("--size 12", 1e-9, True, ["distances", "distances_cuda"]),
    "matmul-small": ("--size 10", 1e-5, True, ["matmul", "matmul_cuda"]),
    "vectors-small": ("--size 64", 1e-9, True, ["vectors", "vectors_numba"]),
    "smooth-small": ("--size 16 --passes 1", 1e-2, True, ["smooth", "smooth_stencil"]),
    "maximum-small": ("--size 2048", 1e-6, True, ["maximum", "maximum_cuda"]),
    "overlap-small": ("--size 16", 1e-9, True, ["overlap", "overlap_cuda"]),
    "memory-small": ("--size 16", 1e-9, True, ["memory", "memory_cuda"]),
}


def run(folder, form, options, runner):
    """The data and the output of an example, run in a process of its own in an empty folder."""
    script, *more = form.split()
    start = ["-m", "numbus", "--strict"] if runner else []
    data, picture = Path(folder) / "data.npy", Path(folder) / "picture.png"
    command = [sys.executable, *start, str(EXAMPLES / f"{script}.py"), *more, *options.split()]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "OPENBLAS_NUM_THREADS": "1"}
    if not runner:
        env["NUMBA_ENABLE_CUDASIM"] = "1"
    done = subprocess.run(
        [*command, "--save", str(data), "--picture", str(picture)],
        capture_output=True,
        text=True,
        env=env,
        cwd=folder,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    if importlib.util.find_spec("PIL"):
        from PIL import Image

        image = Image.open(picture)
        assert image.format == "PNG" and min(image.size) >= 10
        assert len(image.convert("RGB").getcolors(1 << 24)) > 1, "a picture of one colour"
    assert sorted(os.listdir(folder)) == ["data.npy", "picture.png"], "files left behind"
    return np.load(data), done.stdout


def summary(data):
    """What is stored of an array."""
    flat = data.astype(np.float64).ravel()
    sections = np.array_split(flat, 16)
    positions = np.linspace(0, flat.size - 1, 24).astype(int)
    waves = [np.mean(flat * np.cos(k * np.arange(flat.size) / flat.size)) for k in (1, 7, 31)]
    return {
        "shape": list(data.shape),
        "magnitude": float(np.sqrt(np.mean(flat**2))),
        "sections": [float(s.mean()) for s in sections],
        "waves": [float(w) for w in waves],
        "values": [float(v) for v in flat[positions]],
    }


def compare(name, data, tolerance, single):
    """Fails where the data are not those that are stored."""
    want, got = json.loads(STORED.read_text())[name], summary(data)
    assert got["shape"] == want["shape"]
    near = tolerance * want["magnitude"]
    assert near > 0, "no data"
    for part in ("sections", "waves") + (("values",) if single else ()):
        np.testing.assert_allclose(got[part], want[part], rtol=0, atol=near, err_msg=part)


def served(name):
    """Whether the runner has a package for the one of that name."""
    from numbus.compat.rewrite import replacement

    package = replacement(name) and importlib.util.find_spec(replacement(name))
    return bool(package and package.origin)


def needs(form, runner):
    """Skips what cannot run here."""
    script = form.split()[0]
    if runner and "cupy" in form and not served("cupy"):
        pytest.skip("the runner does not serve cupy yet")
    if runner and kernels_of(script) and not served("numba"):
        pytest.skip("the runner does not serve numba yet")
    if not runner and kernels_of(script):
        pytest.importorskip("numba")
    if script.startswith("smooth"):
        pytest.importorskip("PIL")
        pytest.importorskip("matplotlib")


def kernels_of(script):
    """The line that imports Numba, or nothing."""
    text = (EXAMPLES / f"{script}.py").read_text()
    return next((line for line in text.splitlines() if line.startswith("from numba import")), "")


def forms(cases, runner):
    """(name, form) of all cases, as pytest parameters."""
    return [
        pytest.param(name, form, id=f"{name}-{form.replace(' ', '')}")
        for name, (_, _, _, all_forms) in cases.items()
        for form in all_forms
        if runner or "--module" not in form
    ]


@pytest.mark.parametrize("name, form", forms(CASES, True))
def test_through_the_runner(tmp_path, name, form):
    """Without a fallback to NumPy: --strict makes one an error."""
    options, tolerance, single, _ = CASES[name]
    needs(form, True)
    compare(name, run(tmp_path, form, options, True)[0], tolerance, single)


@pytest.mark.parametrize("name", CASES)
def test_plain_numpy(tmp_path, name):
    options, tolerance, single, (form, *_) = CASES[name]
    needs(form, False)
    compare(name, run(tmp_path, form, options, False)[0], tolerance, single)


@pytest.mark.parametrize("name, form", forms(SIMULATED, False))
def test_plain_numba(tmp_path, name, form):
    options, tolerance, single, _ = SIMULATED[name]
    needs(form, False)
    compare(name, run(tmp_path, form, options, False)[0], tolerance, single)


@pytest.mark.parametrize("name", TRAINED_EXAMPLES)
def test_nets_learn_as_with_pytorch(tmp_path, name):
    """The losses of the first steps are PyTorch's, with the same weights and order."""
    pytest.importorskip("PIL")
    losses, words = run(tmp_path, name, TRAINED_EXAMPLES[name], True)
    np.testing.assert_allclose(losses, load("examples.npz")[name], rtol=2e-4)
    assert "right: " in words


def test_a_net_learns_what_it_learns_with_pytorch(tmp_path):
    """100 steps: losses within three times PyTorch's own deviation up to that step (between one and
    two threads, and from float64), and digits recognised as well as there.
    """
    pytest.importorskip("PIL")
    losses, words = run(tmp_path, *LEARNING, True)
    stored = load("examples.npz")
    one, two, exact = (stored[f"learning {dtype} {threads}"] for threads, dtype in LEARNT)
    own = np.maximum(np.abs(one - two), np.abs(one - exact))
    allowed = 3 * np.maximum.accumulate(own) + 1e-6
    assert losses.shape == one.shape == (100,)
    assert (np.abs(losses - one) <= allowed).all(), np.max(np.abs(losses - one) / allowed)
    right = float(words.split("right: ")[1].split()[0])
    there = [float(stored[f"right {dtype} {threads}"]) for threads, dtype in LEARNT]
    assert right >= min(there) - 0.3, (right, there)


def test_wrong_data_are_noticed():
    """The comparison itself: moved, scaled and slightly wrong data fail."""
    stored = json.loads(STORED.read_text())["distances"]
    with tempfile.TemporaryDirectory() as folder:
        data, _ = run(folder, "distances", CASES["distances"][0], False)
    assert summary(data)["shape"] == stored["shape"]
    wrong = data.copy()
    wrong[40:, 50] += 1e-5
    for bad in (data[::-1], data * (1 + 1e-6), wrong):
        with pytest.raises(AssertionError):
            compare("distances", bad, 1e-9, True)


@pytest.mark.parametrize("options, says", [
    ("smooth no_such.jpg", "no_such.jpg"),
    ("smooth " + __file__, "cannot read the photograph"),
    ("heat --size many", "--size"),
    ("heat --size 0", "--size"),
    ("matmul --module numby", "--module"),
])  # fmt: skip
def test_mistakes(tmp_path, options, says):
    script, *more = options.split()
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{script}.py"), *more],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode != 0 and says in done.stderr and "Traceback" not in done.stderr


def main():
    """Writes the stored file."""
    stored = {}
    for name, (options, _, _, (form, *_)) in {**CASES, **SIMULATED}.items():
        with tempfile.TemporaryDirectory() as folder:
            stored[name] = summary(run(folder, form, options, False)[0])
    STORED.write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
