"""The name by which pickles of numbers, written before there was numbus.core, ask for theirs."""

from .core.protocols import _rebuild_generic  # noqa: F401
