"""NUMBUS_PRINT: windows, groups and the IR after each pass, on stderr."""

import os
import re
import subprocess
import sys

ARRAYS = """
import numbus as nb
x = nb.arange(4000.0)
r = (x * 2 + 1).sum()
y = nb.ones(5000) + 1
print(float(r), float(y[3]))
"""
FUNCTION = """
from numbus import njit
import numbus as nb

@njit
def total(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] // 1.0
    return s

print(total(nb.ones(10)))
total.inspect_types()
"""


def run(text, stages, tmp_path, **settings):
    """What a program prints to stdout and stderr."""
    script = tmp_path / "script.py"
    script.write_text(text)
    settings = {"NUMBUS_PRINT": stages, "NUMBUS_CACHE": "0", "NUMBUS_DEVICE": "cpu"} | settings
    done = subprocess.run(
        [sys.executable, script],
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout, done.stderr


def stages(text):
    """(title, text) of each stage."""
    found = re.split(r"^((?:window|groups|after)\b.*):\n", text, flags=re.MULTILINE)
    assert found[0] == ""
    return list(zip(found[1::2], found[2::2], strict=True))


def test_nothing_is_printed_unless_asked_for(tmp_path):
    assert run(ARRAYS, "", tmp_path) == (f"{4000 * 4000.0} 2.0\n", "")


def test_groups_show_what_is_fused_and_what_has_no_memory(tmp_path):
    out, err = run(ARRAYS, "window,groups", tmp_path)
    assert out == f"{4000 * 4000.0} 2.0\n"
    window, groups = stages(err)[:2]
    assert window[0].startswith("window, flushed by ")
    assert groups[0] == "groups"
    lines = window[1].splitlines()
    number = {
        name: next(n for n, line in enumerate(lines) if f" {name} " in line)
        for name in ("index", "multiply", "sum")
    }
    # Each group's instructions by their numbers in the window: every one of these in one group.
    blocks = re.findall(r"^group (\d+): (.*)\n((?:  .*\n)*)", groups[1], flags=re.MULTILINE)
    members = [[int(n) for n in re.findall(r"^  %(\d+):", b[2], re.MULTILINE)] for b in blocks]
    assert sorted(n for m in members for n in m) == list(range(len(lines)))
    first = next(n for n, m in enumerate(members) if number["sum"] in m)
    assert {number["index"], number["multiply"]} < set(members[first])
    assert blocks[first][1] == "shape (4000), reduces axis 0"
    # The ones are of another shape, so they are of another group.
    assert len(blocks) > 1 and all("(4000)" not in b[1] for n, b in enumerate(blocks) if n != first)
    # x is held, x * 2 and x * 2 + 1 are not.
    assert groups[1].count("32000 bytes") == 3
    assert len(re.findall(r"^s\d+: 32000 .*, without memory$", groups[1], re.MULTILINE)) == 2


def test_passes_are_printed_in_order_and_the_last_is_what_is_compiled(tmp_path):
    out, err = run(FUNCTION, "passes", tmp_path)
    found = stages(err)
    module = [(t, text) for t, text in found if "function total(" in text]
    assert [t.removeprefix("after ") for t, _ in module][:4] == [
        "front end",
        "expand",
        "simplify_indices",
        "decide_bounds",
    ]
    texts = [text for _, text in module]
    assert out.startswith("10.0\n") and texts[3].strip() in out  # inspect_types()
    assert texts[0].startswith("function total(int64, int64, int64, int64) -> float64\n")
    assert "= floor_divide " in texts[0] and "= floor_divide " not in texts[1]
    # The checks of indices are dropped by the last pass, as the loop's range shows.
    assert texts[2].count("= branch ") > texts[3].count("= branch ")


def test_kernels_are_printed_before_and_after_lowering(tmp_path):
    _, err = run("import numbus as nb; float(nb.expm1(nb.ones(9)).sum())", "passes", tmp_path)
    titles = [t.removeprefix("after ") for t, _ in stages(err)]
    assert titles[:2] == ["kernel builder", "expand_late"]


def test_a_stage_that_is_none_is_told(tmp_path):
    out, err = run(ARRAYS, "groups,kernels", tmp_path)
    assert out == f"{4000 * 4000.0} 2.0\n"
    first, rest = err.split("\n", 1)
    assert first == (
        "[NUMBUS_PRINT] there is no such stage; got kernels; expected window, groups or passes, "
        "with commas between them"
    )
    assert stages(rest)[0][0] == "groups"
