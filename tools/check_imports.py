"""Refuses import cycles and upward imports among the modules of python/numbus, and import cycles in
the benchmark, a package of its own that numbus does not import.

Every import statement counts, those inside functions too. Importing a name from a package counts as
importing the module that the name is, if it is one; the packages that contain a module are loaded
with it and do not count. Nor do names that a package loads by text when they are asked for.
"""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1] / "python"
BENCH = ROOT.parent / "bench" / "src"

# From the bottom to the top: a module may import those of its own layer and of the layers before it
# in this list. A package's name stands for all modules in it that are not named themselves, but
# each module of the package's own folder has to be named.
LAYERS = [
    # What a script of pure Python begins with under the runner.
    ["numbus._late", "numbus._loops"],
    ["numbus._core"],
    # Plumbing: operands, memory, errors, ufuncs, devices; names that old pickles have.
    ["numbus.core", "numbus._convert", "numbus._protocols"],
    # The functions on arrays, by subject, and what is made of them: NumPy's modules.
    [
        "numbus.functions",
        "numbus._cusolver",
        "numbus._lapack",
        "numbus.fft",
        "numbus.gradients",
        "numbus.batches",
        "numbus.linalg",
        "numbus.random",
        "numbus.testing",
    ],
    # The front doors of kernels, which know each other.
    ["numbus.kernels", "numbus.cuda", "numbus.types"],
    # The routines' kernels for devices, which the core asks for by the package's name.
    ["numbus.primitives"],
    ["numbus._namespace"],
    ["numbus"],
    # PyTorch's tensors, and what is made of them.
    ["numbus.tensors"],
    # Programs of several processes.
    ["numbus.dist"],
    # Nets and what trains them.
    ["numbus.nn", "numbus.optim", "numbus.data"],
    # Loops of scripts, which the runner rewrites.
    ["numbus.loops"],
    ["numbus.compat"],
    ["numbus.measure", "numbus.runner", "numbus.__main__"],
]


def modules(root):
    """{dotted name: (file, whether it is a package)} of everything below `root`."""
    found = {}
    for file in sorted(root.rglob("*.py")):
        parts = file.relative_to(root).with_suffix("").parts
        package = parts[-1] == "__init__"
        found[".".join(parts[:-1] if package else parts)] = file, package
    return found


def imports(name, file, package, known):
    """(module of ours, line) for every import in a file; numbus._core and _loops are extensions."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            home = name.split(".") if package else name.split(".")[:-1]
            home = home[: len(home) - node.level + 1] if node.level else []
            base = ".".join([*home, *filter(None, [node.module])])
            joined = [f"{base}.{alias.name}" for alias in node.names]
            targets = [full if full in known else base for full in joined]
        else:
            continue
        for target in targets:
            while target and target not in known:
                target = target.rpartition(".")[0]
            if target and target != name:
                yield target, node.lineno


def graph_of(root):
    known = modules(root)
    known["numbus._core"] = known["numbus._loops"] = None, False
    return {
        name: dict(imports(name, *where, known)) if where[0] else {}
        for name, where in known.items()
    }


def cycles(graph):
    """Sets of modules that import each other, by Tarjan's algorithm."""
    number, lowest, stack, found = {}, {}, [], []

    def visit(module):
        number[module] = lowest[module] = len(number)
        stack.append(module)
        for target in graph[module]:
            if target not in number:
                visit(target)
                lowest[module] = min(lowest[module], lowest[target])
            elif target in stack:
                lowest[module] = min(lowest[module], number[target])
        if lowest[module] == number[module]:
            group = stack[stack.index(module) :]
            del stack[stack.index(module) :]
            if len(group) > 1:
                found.append(sorted(group))

    for module in graph:
        if module not in number:
            visit(module)
    return found


def layer_of(module):
    """The number of the layer that a module belongs to; None where there is none."""
    while True:
        for number, names in enumerate(LAYERS):
            if module in names:
                return number
        module = module.rpartition(".")[0]
        if "." not in module:
            return None


def cycles_as_text(graph):
    return [f"import cycle among {', '.join(group)}" for group in cycles(graph)]


def check(root):
    graph = graph_of(root)
    problems = cycles_as_text(graph)
    for module, targets in graph.items():
        if layer_of(module) is None:
            problems.append(f"{module}: in no layer of tools/check_imports.py")
            continue
        for target, line in targets.items():
            if layer_of(target) is not None and layer_of(target) > layer_of(module):
                problems.append(f"{module}, line {line}: may not import {target}, a layer above it")
    return problems


def main():
    problems = check(ROOT) + cycles_as_text(graph_of(BENCH))
    print(*(problems or ["check_imports: fine"]), sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
