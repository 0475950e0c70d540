"""Writes what JAX gives for the calls in jax_calls.py to jax_calls.txt.

By hand, with a Python that has JAX: `JAX_PLATFORMS=cpu python tests/jax_values/record.py`.
With `--new` only those that are new are evaluated.
"""

import os
import sys
import warnings

os.environ.setdefault("JAX_PLATFORMS", "cpu")
FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(FOLDER))
import jax  # noqa: E402
import jax_calls  # noqa: E402
import recorded  # noqa: E402

warnings.simplefilter("ignore")
NAMES = {}


def names(x64):
    """What the calls see, with 64-bit types or without."""
    if jax.config.jax_enable_x64 != x64 or not NAMES:
        jax.config.update("jax_enable_x64", x64)
        NAMES.clear()
        exec(jax_calls.SETUP, NAMES)
    return NAMES


recorded.written(
    os.path.join(FOLDER, "jax_calls.txt"),
    f"JAX {jax.__version__}",
    [
        ("", lambda: names(False), jax_calls.CALLS),
        ("x64 ", lambda: names(True), jax_calls.X64),
    ],
)
