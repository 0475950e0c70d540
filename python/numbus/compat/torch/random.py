"""torch.random."""

from ...tensors.random import (  # noqa: F401
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from .._missing import missing as _missing


def __getattr__(name):
    return _missing("torch.random", name)
