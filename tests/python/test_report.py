"""The report of the benchmark in headless Chromium: at both widths, in both themes, without a
complaint of the browser, with every chart drawn.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import browser
import pytest

pytestmark = [
    pytest.mark.numbus,
    pytest.mark.skipif(browser.CHROMIUM is None, reason="chromium is not installed"),
]
ROOT = Path(__file__).resolve().parents[2]
SUITES = ("arrays", "crossover", "mandelbrot", "transfer", "latency")

# What is drawn: of each chart its label, size, and the sizes of bars, points and lines in it.
CHARTS = """[...document.querySelectorAll("figure svg[role=img]")]
  .filter((s) => s.getClientRects().length).map((s) => {
    const boxes = (what) => [...s.querySelectorAll(what)].map((e) => e.getBoundingClientRect());
    return {
      label: s.getAttribute("aria-label"), width: s.getBoundingClientRect().width,
      height: s.getBoundingClientRect().height,
      bars: boxes(".bar").filter((b) => b.width > 0.5 && b.height > 5).length,
      marks: boxes(".mark").filter((b) => b.width > 3).length,
      lines: [...s.querySelectorAll("path.curve")].filter((p) => p.getTotalLength() > 20).length,
      outside: [...s.querySelectorAll("text")].filter((t) => {
        const b = t.getBoundingClientRect();
        return b.left < 0 || b.right > innerWidth;
      }).map((t) => t.textContent),
      unseen: [...s.querySelectorAll(".bar, .mark, path.curve")].filter((e) => {
        const style = getComputedStyle(e);
        return style.fill === "none" && style.stroke === "none";
      }).length,
    };
  })"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The page of a quick run, whose small sizes are taken as they were large: with a roofline."""
    from numbus_bench import page

    folder = tmp_path_factory.mktemp("report")
    command = [sys.executable, "-m", "numbus", "bench", *SUITES, "--quick", "--device", "cpu",
               "--peers", "numpy"]  # fmt: skip
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'python'}{os.pathsep}{ROOT / 'bench' / 'src'}"}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((folder / "report" / "bench.json").read_text())
    found["options"]["quick"] = False
    page.write(found, folder)
    return folder


@pytest.fixture(scope="module")
def chromium():
    with browser.Browser() as opened:
        yield opened


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_page(report, chromium, width, dark):
    chromium.open(report / "index.html", width, dark=dark)
    assert chromium.errors == []
    assert chromium.run("document.documentElement.scrollWidth") == width
    charts = {c["label"].split(".")[0]: c for c in chromium.run(CHARTS)}
    # The first one, arrays, two curves, their parts, Mandelbrot, transfer, latency, roofline.
    assert len(charts) == 9, list(charts)
    for label, chart in charts.items():
        assert 300 < chart["width"] <= min(width, 960) and chart["height"] > 50, label
        assert chart["outside"] == [] and chart["unseen"] == 0, label
    drawn = {label: (c["bars"], c["marks"], c["lines"]) for label, c in charts.items()}
    assert drawn["Array operations"][0] == 8 and drawn["Transfer"][0] == 7
    assert drawn["Mandelbrot engines"][0] == 3
    assert drawn["Speed-up over NumPy, the largest size of each operation"][0] == 9
    (parts,) = (v for k, v in drawn.items() if k.startswith("The parts"))
    assert parts[0] == 6
    assert drawn["Matmul: time over problem size"][1:] == (6, 2)
    assert drawn["Distance matrix: time over problem size"][1:] == (4, 2)
    assert drawn["Latency"][1] == 8
    roof = drawn["Roofline: what is reached of what this machine can do"]
    assert roof[1] == 8 and roof[2] == 2  # slices do no arithmetic


def test_tables_stand_beside_charts(report, chromium):
    chromium.open(report / "index.html", 1280)
    sections = "[...document.querySelectorAll('main section')]"
    assert chromium.run(f"{sections}.length") == len(SUITES) + 2
    assert chromium.run(f"{sections}.every((s) => s.querySelector('table'))")
    rows = "document.querySelectorAll('#arrays tbody tr').length"
    assert chromium.run(rows) == 16
    assert chromium.run("document.querySelectorAll('h1').length") == 1


def test_tables_scroll_within_the_page(report, chromium):
    """Wide tables do not make the page wider than a phone."""
    chromium.open(report / "index.html", 390)
    chromium.run("document.querySelectorAll('details').forEach((d) => d.open = true)")
    assert chromium.run("document.documentElement.scrollWidth") == 390
    assert chromium.run("document.querySelector('#arrays .scroll').scrollWidth") > 390


def luminance(colour):
    """Relative luminance of 'rgb(r, g, b)', by WCAG."""
    parts = [int(x) / 255 for x in re.findall(r"\d+", colour)[:3]]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


COLOUR = """(name) => { const e = document.createElement("i"); e.style.color = `var(--${name})`;
  document.body.append(e); const c = getComputedStyle(e).color; e.remove(); return c; }"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_contrast(report, chromium, dark):
    chromium.open(report / "index.html", 1280, dark=dark)
    colour = {name: chromium.run(f"({COLOUR})('{name}')") for name in
              "paper ink quiet accent cpu gpu numpy numexpr numba jax torch cupy good bad on part0 "
              "part1 part2".split()}  # fmt: skip
    assert (luminance(colour["paper"]) < 0.1) == dark
    for name in ("ink", "quiet", "accent", "good", "bad", "cpu", "numpy"):
        assert contrast(colour[name], colour["paper"]) >= 4.5, name
    for name in ("gpu", "numexpr", "numba", "jax", "torch", "cupy"):
        assert contrast(colour[name], colour["paper"]) >= 3.9, name
    for name in ("part0", "part1", "part2"):
        assert contrast(colour[name], colour["on"]) >= 4.5, name


def test_theme_switch(report, chromium):
    chromium.open(report / "index.html", 1280, dark=False)
    background = "getComputedStyle(document.body).backgroundColor"
    chromium.run("document.querySelector('.theme [value=auto]').click()")
    light = chromium.run(background)
    chromium.run("document.querySelector('.theme [value=dark]').click()")
    dark = chromium.run(background)
    assert luminance(dark) < 0.1 < luminance(light)
    assert chromium.run("document.querySelector('[aria-pressed=true]').value") == "dark"
    chromium.open(report / "index.html", 1280, dark=True)
    chromium.run("document.querySelector('.theme [value=light]').click()")
    assert chromium.run(background) == light
    chromium.run("document.querySelector('.theme [value=auto]').click()")
    assert chromium.run(background) == dark


def test_marks_tell_their_values(report, chromium):
    chromium.open(report / "index.html", 1280)
    chromium.run("""document.querySelector("#arrays .wide .bar").dispatchEvent(
        new PointerEvent("pointerover", {bubbles: true}))""")
    text = chromium.run("document.querySelector('.tip').textContent")
    assert re.fullmatch(r"sum, 0.3 MB. Numbus CPU: [\d.]+ µs, [\d.]+× NumPy", text)
    assert not chromium.run("document.querySelector('.tip').hidden")


def test_the_picture_stands_alone(report, chromium):
    """speedup.svg needs no page around it, and follows the theme."""
    grounds = []
    for dark in (False, True):
        chromium.open(report / "speedup.svg", 1280, dark=dark)
        assert chromium.errors == []
        assert chromium.run("document.querySelectorAll('.bar').length") == 9 + 1  # the legend's
        grounds.append(chromium.run("getComputedStyle(document.documentElement).backgroundColor"))
    assert luminance(grounds[1]) < 0.1 < luminance(grounds[0])


def test_the_browser_reports_errors(tmp_path, chromium):
    """What the tests above rely on."""
    (tmp_path / "bad.html").write_text("<script>console.error('x'); nosuch()</script>")
    chromium.open(tmp_path / "bad.html")
    assert len(chromium.errors) == 2
