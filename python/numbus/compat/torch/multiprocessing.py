"""torch.multiprocessing: Python's multiprocessing, and spawn()."""

import multiprocessing as _processes
from multiprocessing import *  # noqa: F403

from ...dist.processes import (  # noqa: F401
    ProcessContext,
    ProcessException,
    ProcessExitedException,
    ProcessRaisedException,
    spawn,
    start_processes,
)
from .._missing import missing as _missing


def __getattr__(name):
    found = getattr(_processes, name, None)
    return found if found is not None else _missing("torch.multiprocessing", name)
