"""`importlib` and `__import__` as a user's module sees them: names that stand for Numbus are
replaced.
"""

import builtins
import importlib as _real
import importlib.util
import types
from importlib import *  # noqa: F403

from .rewrite import REPLACED, replacement


def __getattr__(name):
    return getattr(_real, name)


def import_module(name, package=None):
    """importlib.import_module with the served names replaced."""
    return _real.import_module(replacement(name) or name, package)


def import_(name, globals=None, locals=None, fromlist=(), level=0):
    """`__import__` with the served names replaced."""
    new = replacement(name) if not level else None
    if new is None:
        return builtins.__import__(name, globals, locals, fromlist, level)
    module = _real.import_module(new)
    return module if fromlist else _real.import_module(REPLACED[name.partition(".")[0]])


class _Util(types.ModuleType):
    """`importlib.util`, whose find_spec knows the names that stand for Numbus."""

    def __getattr__(self, name):
        return getattr(_real.util, name)

    @staticmethod
    def find_spec(name, package=None):
        """importlib.util.find_spec with the served names replaced."""
        return _real.util.find_spec(replacement(name) or name, package)


util = _Util("importlib.util")
