"""docs/cluster.md as a new user follows it: each command in turn, its output as printed there, and
the pictures, which these tests make.

NUMBUS_CLUSTER_WRITE_DOCS=1 writes outputs and pictures anew.
"""

import contextlib
import io
import os
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from conftest import HERE
from numbus_cluster.cli import main

DOCS = HERE.parents[1] / "docs"
PAGE = DOCS / "cluster.md"
WRITE = bool(os.environ.get("NUMBUS_CLUSTER_WRITE_DOCS"))
PICTURES = {
    "waits.svg": "cluster-waits.svg",
    "fan.svg": "cluster-fan.svg",
    "finish.svg": "cluster-finish.svg",
}
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="not in a checkout")


def output(command):
    """What a command of the page prints on both streams; `> file` takes the output."""
    words = shlex.split(command)
    assert words[0] == "numbus-cluster"
    file = None
    if ">" in words:
        words, file = words[: words.index(">")], words[-1]
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
        main(words[1:])
    if file:
        Path(file).write_text(text.getvalue())
        return ""
    return text.getvalue()


def numbers(svg):
    return np.array([float(n) for n in re.findall(r"-?\d+\.\d+", svg)])


def test_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text()

    def run(block):
        lines = []
        for command in re.findall(r"^\$ (.*)$", block[1], re.MULTILINE):
            lines.append(f"$ {command}\n{output(command)}")
        return "```console\n" + "".join(lines) + "```"

    found = re.sub(r"^```console\n(.*?)^```$", run, page, flags=re.MULTILINE | re.DOTALL)
    if WRITE:
        PAGE.write_text(found)
    assert found == PAGE.read_text()
    for made, shown in PICTURES.items():
        file = DOCS / "pictures" / shown
        new = Path(made).read_text()
        if WRITE:
            file.write_text(new)
        old = file.read_text()
        assert re.sub(r"-?\d+\.\d+", "", new) == re.sub(r"-?\d+\.\d+", "", old), file
        np.testing.assert_allclose(numbers(new), numbers(old), atol=0.5)


@pytest.mark.parametrize("name", ["cluster.md", "cluster-promises.md"])
def test_links(name):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", (DOCS / name).read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s#]+)", text):
        assert (DOCS / target).exists(), target
