"""The code in the documentation runs, its pictures are those that the code draws, its links lead
somewhere.
"""

import importlib.util
import linecache
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
pytestmark = [
    pytest.mark.numbus,
    pytest.mark.skipif(not DOCS.is_dir(), reason="not in a checkout"),
]
PAGES = (
    "docs/kernels.md",
    "docs/from-numba.md",
    "docs/advise.md",
    "docs/gradients.md",
    "examples/README.md",
)


def blocks(page):
    """(line number, text) of each block of Python."""
    text = (ROOT / page).read_text()
    for match in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield text.count("\n", 0, match.start(1)) + 1, match[1]


@pytest.mark.parametrize(
    "page", ["docs/kernels.md", "docs/from-numba.md", "docs/advise.md", "docs/gradients.md"]
)
def test_code(page):
    """A page's blocks, one after the other, in one namespace."""
    names = {"__name__": "page"}
    found = list(blocks(page))
    assert found
    for line, block in found:
        # Kernels are compiled from their source: the block is a file of its own, in memory.
        name = f"<{page}:{line}>"
        linecache.cache[name] = (len(block), None, block.splitlines(True), name)
        exec(compile(block, name, "exec"), names)


def test_kernels_shows_all():
    assert len(list(blocks("docs/kernels.md"))) >= 12


@pytest.mark.parametrize("page", PAGES)
def test_links(page):
    text = re.sub(r"```.*?```|`[^`\n]*`", "", (ROOT / page).read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http:", "https:")):
            continue
        file, _, anchor = target.partition("#")
        linked = (ROOT / page).parent / file if file else ROOT / page
        assert linked.exists(), target
        if anchor:
            heads = re.findall(r"^#+ (.*)$", linked.read_text(), re.MULTILINE)
            assert anchor in [re.sub(r"[^\w -]", "", h).lower().replace(" ", "-") for h in heads]


def test_diagrams_are_drawn_by_the_code():
    spec = importlib.util.spec_from_file_location("draw", ROOT / "tools" / "draw_pictures.py")
    draw = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(draw)
    for diagram in draw.DIAGRAMS:
        file = DOCS / "pictures" / f"{diagram.__name__}.svg"
        assert file.read_text() == str(diagram()), f"{file}: run tools/draw_pictures.py"
    for name in draw.EXAMPLES:
        assert (DOCS / "pictures" / f"{name}.png").stat().st_size < 150_000
