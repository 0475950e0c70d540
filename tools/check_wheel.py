"""Checks built wheels: glibc floor, exported symbols, needed libraries, size; what is in which."""

import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

GLIBC_FLOOR = (2, 34)
LIBGCC_FLOOR = (4, 3)
SIZE_LIMIT_MB = 60
LIBRARIES = "_core", "_loops"
# glibc and the unwinder; everything else is linked statically or loaded at run time.
MAY_NEED = {
    "libgcc_s.so.1",
    "libc.so.6",
    "libm.so.6",
    "libdl.so.2",
    "libpthread.so.0",
    "librt.so.1",
    "ld-linux-x86-64.so.2",
}


def run(*command) -> list[str]:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def check_library(library: Path) -> tuple[list[str], str]:
    """Problems of one shared library, and a line about it."""
    problems, exported, newest, newest_symbol = [], set(), (0,), ""
    for line in run("objdump", "-T", library):
        version = re.search(r"\(?(GLIBC|GCC)_([\d.]+)\)?\s+(\S+)$", line)
        if version:
            library_name, text, symbol = version.groups()
            number = tuple(map(int, text.split(".")))
            if number > (GLIBC_FLOOR if library_name == "GLIBC" else LIBGCC_FLOOR):
                problems.append(f"{symbol} needs {library_name} {text}")
            if library_name == "GLIBC" and number > newest:
                newest, newest_symbol = number, symbol
        elif "*UND*" not in line and re.match(r"[0-9a-f]{8}", line):
            exported.add(line.split()[-1])
    name = library.name.partition(".")[0]
    # The core's library has a second module (python/numbus/loops/native.py).
    expected = {f"PyInit_{n}" for n in ([name, "_kept"] if name == "_core" else [name])}
    if exported != expected:
        wrong = sorted(exported ^ expected)
        problems.append(f"exports {', '.join(wrong[:5])} ({len(wrong)} differences)")
    needed = {
        m[1]
        for line in run("readelf", "-d", library)
        if (m := re.search(r"NEEDED.*\[(.*)\]", line))
    }
    if needed - MAY_NEED:
        problems.append(f"needs {', '.join(sorted(needed - MAY_NEED))}")
    if any(".symtab" in line for line in run("readelf", "-SW", library)):
        problems.append("is not stripped")
    glibc = ".".join(map(str, newest))
    size = library.stat().st_size / 1e6
    line = f"{library.name}: {size:.1f} MB, glibc {glibc} ({newest_symbol})"
    return problems, f"{line}, needs {' '.join(sorted(needed))}"


def check_wheel(wheel: Path) -> list[str]:
    problems = []
    size = wheel.stat().st_size / 1e6
    print(f"{wheel.name}: {size:.1f} MB")
    if size > SIZE_LIMIT_MB:
        problems.append(f"is larger than {SIZE_LIMIT_MB} MB")
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        names = [n for n in archive.namelist() if n.endswith(".so")]
        packages = {n.split("/")[0] for n in archive.namelist() if ".dist-info/" not in n}
        if packages != {wheel.name.split("-")[0]}:
            problems.append(f"holds the packages {', '.join(sorted(packages))}")
        if wheel.name.endswith("-none-any.whl"):  # Python only
            return problems
        for stub in ("py.typed", "__init__.pyi", "linalg.pyi", "cuda/__init__.pyi"):
            if f"numbus/{stub}" not in archive.namelist():
                problems.append(f"lacks numbus/{stub}")
        if sorted(Path(n).name.partition(".")[0] for n in names) != sorted(LIBRARIES):
            problems.append(f"holds {len(names)} shared libraries: {names}")
        for name in names:
            found, line = check_library(Path(archive.extract(name, folder)))
            print(f"  {line}")
            problems += [f"{name} {p}" for p in found]
    return problems


def main() -> int:
    wheels = [Path(a) for a in sys.argv[1:]] or sorted(Path("dist").glob("*.whl"))
    if not wheels:
        print("check_wheel: no wheel given and none in dist/")
        return 1
    failed = False
    for wheel in wheels:
        for problem in check_wheel(wheel):
            failed = True
            print(f"  WRONG: {problem}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
