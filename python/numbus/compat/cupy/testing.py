"""cupy.testing: NumPy's assertions on the values of arrays."""

from numbus import testing as _testing

from .._missing import getter

__name__ = "cupy.testing"
__path__ = []  # so that Python asks us what `from … import` does not find
__getattr__ = getter(__name__, _testing)


def assert_array_list_equal(xlist, ylist, err_msg="", verbose=True):
    """Raises AssertionError unless two sequences hold equal arrays."""
    if len(xlist) != len(ylist):
        raise AssertionError(
            f"[assert_array_list_equal] lengths differ; got {len(xlist)}; expected {len(ylist)}"
        )
    for x, y in zip(xlist, ylist):
        _testing.assert_array_equal(x, y, err_msg=err_msg, verbose=verbose)
