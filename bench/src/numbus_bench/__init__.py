"""The benchmark, `python -m numbus bench`: suites, one process a library, a report as a page.

Nothing is imported here: a library that is measured shares its process with as little as possible.
"""
