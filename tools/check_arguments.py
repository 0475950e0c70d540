"""Refuses functions that accept an argument and do not read it: what a caller asks for would be
ignored without a word.

    python tools/check_arguments.py

Looks at the functions of python/numbus and of the benchmark by their syntax trees. Not looked at:
parameters whose name begins with an underscore, functions that only raise or are empty, the
arguments that a protocol hands over (HANDED), those that the registry's adapter reads (annotated
Out), and those named in tools/unread_arguments.txt with the reason why nothing is lost.
"""

import ast
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Each package with what stands before its files' names in REASONS.
PACKAGES = {"": ROOT / "python" / "numbus", "bench/": ROOT / "bench" / "src" / "numbus_bench"}
REASONS = ROOT / "tools" / "unread_arguments.txt"

# Functions whose callers decide what they are given.
HANDED = (
    "__exit__", "__aexit__", "__get__", "__set_name__", "compute_mask", "find_spec", "visit_",
)  # fmt: skip


def parameters(function):
    """Names of the parameters, as the source lists them."""
    a = function.args
    every = [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))]
    return [p.arg for p in every]


def stored(function):
    """Parameters that the registry's adapter reads: it stores results into an `Out`."""
    a = function.args
    every = [*a.posonlyargs, *a.args, *a.kwonlyargs]
    return {
        p.arg
        for p in every
        if isinstance(p.annotation, ast.Name) and p.annotation.id.startswith("Out")
    }


def is_method(function, parents):
    inside = isinstance(parents.get(function), ast.ClassDef)
    static = any(
        isinstance(d, ast.Name) and d.id == "staticmethod" for d in function.decorator_list
    )
    return inside and not static


def only_raises(function):
    """Whether nothing is done with any argument: the body is empty, or one raise."""
    body = [
        s
        for s in function.body
        if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
    ]
    return not body or all(isinstance(s, (ast.Raise, ast.Pass)) for s in body)


def reads(function):
    """Names that the body reads; locals() and its kin read everything."""
    found = set()
    for statement in function.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store):
                found.add(node.id)
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                found.add(node.target.id)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                if node.func.id in ("locals", "vars"):
                    found.add("*")
    return found


def findings(path):
    """(qualified name, parameter, line) of every argument that is accepted and not read."""
    tree = ast.parse(path.read_text("utf-8"))
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for function in ast.walk(tree):
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if function.name.startswith(HANDED) or only_raises(function):
            continue
        names = parameters(function)
        if is_method(function, parents):
            names = names[1:]
        read = reads(function) | stored(function)
        parts, node = [function.name], function
        while node := parents.get(node):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                parts.insert(0, node.name)
        for name in names:
            if not name.startswith("_") and name not in read and "*" not in read:
                yield ".".join(parts), name, function.lineno


def reasons():
    """{(file, function, parameter): reason} of what may stay; raises where a reason is missing."""
    known = {}
    for number, line in enumerate(REASONS.read_text("utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        key, _, reason = line.partition(":: ")
        parts = tuple(key.split())
        if len(parts) != 3 or not reason.strip():
            raise SystemExit(f"{REASONS}:{number}: not 'file function parameter :: reason'")
        known[parts] = reason.strip()
    return known


def main():
    allowed, used, failed = reasons(), set(), False
    for prefix, package in PACKAGES.items():
        for path in sorted(package.rglob("*.py")):
            file = prefix + path.relative_to(package).as_posix()
            for function, name, line in findings(path):
                if (file, function, name) in allowed:
                    used.add((file, function, name))
                    continue
                failed = True
                where = path.relative_to(ROOT).as_posix()
                print(f"{where}:{line}: {function}() does not read '{name}'")
    for key in sorted(set(allowed) - used):
        failed = True
        print(f"{REASONS.relative_to(ROOT)}: {' '.join(key)}: there is no such argument any more")
    if not failed:
        print("check_arguments: fine")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
