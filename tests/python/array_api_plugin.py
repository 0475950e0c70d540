"""A plugin of pytest's that has the installed tests of SciPy and scikit-learn take Numbus for their
array library:

    SCIPY_ARRAY_API=1 PYTHONPATH=tests/python .venv/bin/python -m pytest -p array_api_plugin
        -m array_api_backends --pyargs scipy.stats

For scikit-learn `-k array_api --pyargs sklearn.metrics`, where that is installed.
"""

import os
import sys

os.environ["SCIPY_ARRAY_API"] = "1"

import numbus
import pytest


def _for_scipy():
    import scipy.conftest as theirs

    theirs.xp_known_backends.add("numbus")
    mark = pytest.mark.array_api_backends
    body = theirs.xp._get_wrapped_function()
    theirs.xp = pytest.fixture(params=[pytest.param(numbus, id="numbus", marks=mark)])(body)


def _for_sklearn():
    from sklearn.utils import _array_api

    _array_api.yield_namespaces = lambda include_numpy_namespaces=True: iter(["numbus"])


if any(word.startswith("sklearn") for word in sys.argv):
    _for_sklearn()
else:
    _for_scipy()
