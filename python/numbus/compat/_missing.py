"""What a module of CuPy's or Numba's says for names that are not served."""

import sys

from ..core import fallback as _fallback


class MissingName(AttributeError, NotImplementedError):
    """An attribute that Numbus does not serve yet: to programs, one that is not there."""


class MissingImport(ImportError, NotImplementedError):
    """The same, of `from module import name`."""


EXPECTED = "another way to write it (docs/compat.md has what is served)"


def missing(module, name, expected=EXPECTED):
    """Raises for `module.name`, naming the line of the program that asked.

    module: as its users know it, such as 'cupy.cuda'. Raises AttributeError, or ImportError where
    `from module import name` asks: Python would go on to look for a module of that name.
    """
    if name.startswith("_"):
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    file, line = _fallback.caller()
    text = (
        f"[{module}] a name that Numbus does not serve yet; got {module}.{name} at {file}:{line}; "
        f"expected {expected}"
    )
    frame = sys._getframe(2)
    importing = frame.f_code.co_name == "_handle_fromlist" or _imports_from(frame)
    raise (MissingImport if importing else MissingName)(text)


def _imports_from(frame):
    """Whether a frame is at the part of `from module import name` that takes the name."""
    import dis

    return frame.f_lasti >= 0 and frame.f_code.co_code[frame.f_lasti] == dis.opmap["IMPORT_FROM"]


def getter(module, *sources, submodules=(), package=None):
    """A module's `__getattr__`: names of the sources, then its submodules, then the message above.

    sources: modules of Numbus. package: what our own module is called, for its submodules.
    """

    def __getattr__(name):
        if name in submodules:
            import importlib

            return importlib.import_module(f"{package}.{name}")
        if not name.startswith("_"):
            for source in sources:
                value = getattr(source, name, None)
                if value is not None:
                    return value
        return missing(module, name)

    return __getattr__
