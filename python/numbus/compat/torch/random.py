"""torch.random."""

import contextlib

from ...tensors.random import (  # noqa: F401
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from .._missing import missing as _missing


@contextlib.contextmanager
def fork_rng(devices=None, enabled=True, device_type="cuda"):
    """A block, or a function, after which the random numbers go on as before it.

    devices, device_type: those of all devices do, whichever are named.
    """
    if not enabled:
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)


def __getattr__(name):
    return _missing("torch.random", name)
