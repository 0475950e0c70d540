"""Refuses upward includes, include cycles, Python, stray device tests and calls of passes."""

import re
import sys
from pathlib import Path

# What each folder may include besides itself; src/README.md explains the same table.
CORE = ["base", "ops", "ir"]
ALLOWED = {
    "base": [],
    "ops": ["base"],
    "ir": ["base", "ops"],
    "passes": CORE,
    "frontend": CORE,
    "interp": CORE,
    "device": ["base"],
    "vendor": ["base", "device"],
    "compile": [*CORE, "passes", "device"],
    "launch": [*CORE, "passes", "frontend", "compile", "device"],
    "routines": [*CORE, "passes", "frontend", "compile", "device", "launch"],
    "lazy": [*CORE, "passes", "compile", "device", "interp", "routines", "vendor"],
    "array": [
        *CORE,
        "passes",
        "frontend",
        "compile",
        "device",
        "interp",
        "routines",
        "vendor",
        "lazy",
    ],
    "program": [*CORE, "passes", "device", "lazy", "array"],
}
# Others ask a device for capabilities (device.h: host_readable, runs_ptx, …), never for its kind.
KNOWS_DEVICES = {"device", "vendor", "compile"}
# What passes/ offers to others: the list of all passes, and what builds steps for them.
OPEN_PASSES = {"passes/pipeline.h", "passes/expand.h", "passes/expand_complex.h"}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
DEVICE_TEST = re.compile(
    r"\bDeviceKind\b|\bis_cuda\b|^\s*#\s*(?:el)?if.*CUDA"
    r"|\bkind\(\)\s*[!=]=(?!\s*(?:Error)?Kind::)"
)
PYTHON = re.compile(r"^(Python\.h|nanobind/|pybind11/)")
# LLVM comes from the system, so its headers stand in <>; anything else that starts so is ours.
LLVM = re.compile(r"^llvm(-c)?/")


def device_tests(file: Path, lines: list[str]) -> list[str]:
    """Generic code asks what a device can do: another device must not need edits there."""
    allowed = ", ".join(sorted(KNOWS_DEVICES))
    return [
        f"{file}:{number}: device test outside {allowed}; ask for a capability (device/device.h)"
        for number, line in enumerate(lines, 1)
        if DEVICE_TEST.search(line)
    ]


def passes_called(file: Path, lines: list[str]) -> list[str]:
    """passes/pipeline.cpp lists every pass, and nothing calls one from elsewhere."""
    found = []
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        name = match[2] if match else ""
        if name.startswith("passes/") and name not in OPEN_PASSES:
            found.append(f"{file}:{number}: {name}: passes are run by passes/pipeline.h")
    return found


def check_bindings(root: Path) -> list[str]:
    problems = []
    for file in sorted(p for p in root.rglob("*") if p.suffix in {".h", ".cpp"}):
        lines = file.read_text().splitlines()
        problems += device_tests(file, lines) + passes_called(file, lines)
    return problems


def check(root: Path) -> list[str]:
    files = sorted(p for p in root.rglob("*") if p.suffix in {".h", ".cpp", ".def", ".inc"})
    known = set(files)
    problems = []
    graph = {}
    for file in files:
        parts = file.relative_to(root).parts
        folder = parts[0] if len(parts) > 1 else None
        if folder not in ALLOWED:
            problems.append(f"{file}: folder not in the table of tools/check_includes.py")
            continue
        graph[file] = []
        lines = file.read_text().splitlines()
        if folder not in KNOWS_DEVICES:
            problems += device_tests(file, lines)
        if folder != "passes":
            problems += passes_called(file, lines)
        for number, line in enumerate(lines, 1):
            where = f"{file}:{number}"
            match = INCLUDE.match(line)
            if not match:
                continue
            quote, name = match.groups()
            if PYTHON.match(name):
                problems.append(f"{where}: {name}: src/ knows no Python")
            if LLVM.match(name) and folder != "compile":
                problems.append(f"{where}: {name}: LLVM belongs to compile/")
            if quote == "<":
                continue
            target = next((p for p in (root / name, file.parent / name) if p in known), None)
            if target is None:
                problems.append(f"{where}: {name}: no such file below {root}")
                continue
            graph[file].append(target)
            other = target.relative_to(root).parts[0]
            if other != folder and other not in ALLOWED[folder]:
                problems.append(f"{where}: {folder}/ may not include {other}/")
    return problems + [f"include cycle: {' -> '.join(map(str, c))}" for c in cycles(graph)]


def cycles(graph: dict[Path, list[Path]]) -> list[list[Path]]:
    """One cycle per edge that closes one, by depth-first search."""
    found, finished, path = [], set(), []

    def visit(file):
        if file in path:
            found.append([*path[path.index(file) :], file])
        elif file not in finished:
            path.append(file)
            for target in graph.get(file, []):
                visit(target)
            path.pop()
            finished.add(file)

    for file in graph:
        visit(file)
    return found


def main() -> int:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent
    problems = check(root / "src") + check_bindings(root / "bindings")
    print("\n".join(problems) if problems else "check_includes: fine")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
