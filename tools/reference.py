#!/usr/bin/env python3
"""Makes a site (build/site) of the API reference and of docs/, with mkdocs; `make docs` calls it.

What a page says of a name is what the type stubs say (tools/stubs.py), whether compiled functions
have it, and other libraries' names for it.
"""

import inspect
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import stubs
from stubs import ROOT, _core, numbus, numpy, registry

PAGES = ROOT / "build/reference"
MODULES = ("linalg", "fft", "random", "cuda")
CONFIG = """site_name: Numbus
docs_dir: {pages}
site_dir: {site}
use_directory_urls: false
theme: {{name: readthedocs, highlightjs: false}}
plugins: [search]
validation: {{links: {{not_found: ignore, unrecognized_links: ignore, anchors: ignore}}}}
nav:
  - Numbus: index.md
  - Reference:
{reference}
  - Guides:
{guides}
"""


def notes(name, value):
    """What is to be said beside signature and text."""
    row = registry.ROWS.get(f"np.{name}")
    said = []
    if isinstance(value, _core.ufunc) or (row is not None and row.compiled):
        said.append("In compiled functions, too.")
    if row is not None and len(row.names) > 1:
        said.append("Also: " + ", ".join(f"`{other}`" for other in row.names[1:]) + ".")
    return " ".join(said)


def section(name, value):
    """One name: heading, signature, text."""
    if isinstance(value, _core.ufunc):
        operands = {1: "x, /", 2: "x1, x2, /", 3: "x1, x2, x3, /"}[value.nin]
        shown = f"{name}({operands}, out=None, *, where=True, casting='same_kind', dtype=None)"
    else:
        try:
            shown = f"{name}({stubs.parameters(inspect.signature(value))})"
        except (TypeError, ValueError):
            shown = f"{name}(…)"
    text = inspect.cleandoc(value.__doc__ or "")
    if getattr(value, "counted", None) is not None and hasattr(value, "__wrapped__"):
        text = f"NumPy's `{name}`, on the host."
    more = notes(name, value)
    return f"### {name}\n\n```python\n{shown}\n```\n\n{text}\n\n{more}\n\n"


def page(title, names, module):
    made = f"# {title}\n\n"
    for name in sorted(names):
        if name.startswith("_") or not hasattr(module, name):
            continue
        value = getattr(module, name)
        if callable(value) and not isinstance(value, type):
            made += section(name, value)
    return made


def write():
    """The pages; returns the configuration of mkdocs."""
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES)
    shutil.copy(ROOT / "README.md", PAGES / "index.md")
    (PAGES / "api").mkdir()
    found, left = {}, {n for n in dir(numbus) if not n.startswith("_")} - stubs._HIDDEN
    operations = {name for name in left if isinstance(getattr(numbus, name, None), _core.ufunc)}
    found["operations"] = page("Functions of elements", operations, numbus)
    left -= operations
    homes = [(module.__name__.rpartition(".")[2], module) for module in numbus._functions.SUBJECTS]
    for subject, module in homes:
        own = {n for n in module.__all__ if n in left}
        own |= {
            known.removeprefix("np.")
            for known, row in registry.ROWS.items()
            if row.body.__module__ == module.__name__ and known.startswith("np.")
        } & left
        left -= own
        if own:
            found[subject] = page(subject.replace("_", " ").capitalize(), own, numbus)
    found["numpy"] = page("Everything else", left, numbus)
    methods = {n for n in dir(_core.ndarray) if not n.startswith("_")}
    found["ndarray"] = page("Methods of arrays", methods, _core.ndarray)
    for name in MODULES:
        module = getattr(numbus, name)
        known = getattr(getattr(numpy, name, None), "__all__", dir(module))
        found[name] = page(f"numbus.{name}", [n for n in known if n != "test"], module)
    for name, text in found.items():
        (PAGES / "api" / f"{name}.md").write_text(text)
    guides = sorted(p.name for p in (ROOT / "docs").glob("*.md") if not p.name.startswith("plan"))
    config = ROOT / "build/mkdocs.yml"
    config.write_text(
        CONFIG.format(
            pages=PAGES,
            site=ROOT / "build/site",
            reference="\n".join(f"      - {name}: api/{name}.md" for name in found),
            guides="\n".join(f"      - {name.removesuffix('.md')}: {name}" for name in guides),
        )
    )
    return config


def main():
    (ROOT / "build").mkdir(exist_ok=True)
    config = write()
    command = [sys.executable, "-m", "mkdocs", "build", "-q", "-f", str(config)]
    sys.exit(subprocess.run(command).returncode)


if __name__ == "__main__":
    main()
