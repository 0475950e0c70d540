"""Which loops of a module have left code on disk: a file for each module in the folder of compiled
code, with numbers of the loops' texts. It is read before anything of the core is loaded.

It only tells how early a loop is looked at. What is in it is computed from the source alone, so
that a file that is missing, or says something else than is true, changes nothing else.
"""

import _imp
import os
import sys

_MOST = 1 << 16  # bytes of a file


def _begun():
    """The folder in which the program begins."""
    try:
        return os.getcwd()
    except OSError:  # it is gone
        return "/"


_HOME = _begun()


def _folder():
    """Where compiled code is kept, as src/compile/disk_cache.cpp has it; None: nowhere."""
    of = os.environ.get
    if of("NUMBUS_CACHE") == "0":
        return None
    given, shared, home = of("NUMBUS_CACHE_DIR"), of("XDG_CACHE_HOME", ""), of("HOME")
    if given:
        return os.path.join(_HOME, given)
    if shared.startswith("/"):
        return shared + "/numbus"
    return home + "/.cache/numbus" if home else None


def number_of(text):
    """What a text is known by."""
    return _imp.source_hash(1, text.encode("utf-8", "surrogatepass")).hex()


def _path(file):
    """The file of a module; its name is one of compiled code's, which goes when room is short.
    None: code that stands in no file, or nowhere to keep it.
    """
    folder = _folder() if os.path.isabs(file) else None
    return folder and os.path.join(folder, f"{number_of('marks of ' + file)}.o")


def _head():
    """What tells versions apart, whose code is not the same."""
    from .. import _loops

    return f"loops {sys.hexversion} {os.stat(_loops.__file__).st_mtime_ns}"


def noted(file):
    """The numbers of loops in a module that have code on disk."""
    path = _path(file)
    if not path:
        return frozenset()
    try:
        opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (OSError, ValueError):
        return frozenset()
    try:
        text = os.read(opened, _MOST).decode("ascii", "replace")
    except OSError:
        return frozenset()
    finally:
        os.close(opened)
    head, *numbers = text.split("\n")
    return frozenset(numbers) if head == _head() else frozenset()


def note(file, text):
    """Notes that a loop of a module has code on disk."""
    path = _path(file)
    known = noted(file)
    number = number_of(text)
    if not path or number in known or len(known) * 17 > _MOST // 2:
        return
    aside = f"{path}.{os.urandom(8).hex()}.tmp"
    try:
        opened = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.write(opened, "\n".join((_head(), *sorted(known), number)).encode())
        finally:
            os.close(opened)
        try:
            os.replace(aside, path)
        except OSError:
            os.unlink(aside)
    except (OSError, ValueError):  # a folder that is not there, or cannot be written
        return
