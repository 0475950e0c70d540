"""Measuring: what a call takes (`nb.benchmark`), what a device can do at most, when a GPU pays.

Nothing is imported here: scripts that measure nothing should not pay for it.
"""
