"""Kernels for GPUs, with numba.cuda's names; without a GPU they run on the CPU.

The device is NUMBUS_DEVICE, else a GPU where there is one, else the CPU. Who makes a kernel, a
stream or an array by this module names the GPU for new arrays, too, where devices are chosen by
cost otherwise. NUMBA_ENABLE_CUDASIM=1 chooses the CPU.
"""

import os as _os

from ..kernels import types
from . import (
    _host,
    _host_memory,
    _kernels,
    _link,
    _more,
    _names,
    _streams,
    _vectors,
    fp16,
    libdevice,
    random,
)
from . import _reduce as reduction
from ._elementwise import guvectorize, vectorize
from ._host import *  # noqa: F403
from ._host_memory import *  # noqa: F403
from ._kernels import *  # noqa: F403
from ._link import *  # noqa: F403
from ._memory import (
    device_count,
    is_available,
    memory_stats,
    reason,
    reset_peak,
    set_limit,
    trim,
    used_bytes,
)
from ._more import *  # noqa: F403
from ._names import *  # noqa: F403
from ._reduce import Reduce, reduce
from ._streams import *  # noqa: F403
from ._vectors import *  # noqa: F403

if _os.environ.get("NUMBA_ENABLE_CUDASIM") == "1":
    from .. import _core as _c

    _c.set_device("cpu")

__all__ = [
    "Reduce",
    "device_count",
    "fp16",
    "guvectorize",
    "is_available",
    "libdevice",
    "memory_stats",
    "random",
    "reason",
    "reduce",
    "reduction",
    "reset_peak",
    "set_limit",
    "trim",
    "types",
    "used_bytes",
    "vectorize",
    *_host.__all__,
    *_host_memory.__all__,
    *_kernels.__all__,
    *_link.__all__,
    *_more.__all__,
    *_names.__all__,
    *_streams.__all__,
    *_vectors.__all__,
]
