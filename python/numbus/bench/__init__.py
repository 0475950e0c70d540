"""Measuring: `python -m numbus bench`, the limits of a machine, what a benchmark is made of.

Nothing is imported here: a library that is measured shares its process with as little as possible.
"""
