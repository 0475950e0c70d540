"""cupy.exceptions: NumPy's."""

from numpy.exceptions import *  # noqa: F403

__name__ = "cupy.exceptions"
