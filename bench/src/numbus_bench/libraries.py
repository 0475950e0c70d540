"""The libraries that are measured: how data comes in and out, how work is waited for."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass

import numpy as np

__all__ = ["PEERS", "Engine", "Library", "engines", "installed"]

# name: (how it is written, its devices, what pip calls it)
PEERS = {
    "numpy": ("NumPy", ("cpu",), "numpy"),
    "numexpr": ("numexpr", ("cpu",), "numexpr"),
    "numba": ("Numba", ("cpu", "cuda"), "numba"),
    "jax": ("JAX", ("cpu", "cuda"), "jax"),
    "torch": ("PyTorch", ("cpu", "cuda"), "torch"),
    "cupy": ("CuPy", ("cuda",), "cupy-cuda13x"),
}


@dataclass(frozen=True)
class Engine:
    """A library on a device: one column of the results."""

    library: str
    device: str

    @property
    def id(self):
        return f"{self.library}:{self.device}"

    @property
    def label(self):
        title, devices, _ = PEERS.get(self.library, ("Numbus", ("cpu", "cuda"), ""))
        if len(devices) == 1:
            return title
        return f"{title} {'GPU' if self.device == 'cuda' else 'CPU'}"

    @property
    def program(self):
        """The name under which a case keeps its program for this engine."""
        return "numba.cuda" if self.id == "numba:cuda" else self.library


def installed(name):
    """Whether a library can be found; it is not imported for that."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def engines(devices, peers):
    """Numbus on each device, and the peers on those of them that they can use."""
    found = [Engine("numbus", device) for device in devices]
    for name in peers:
        found += [Engine(name, device) for device in PEERS[name][1] if device in devices]
    return found


class Library:
    """One library in this process, imported now. `name` may have a variant: 'torch.compile'."""

    def __init__(self, name, device="cpu"):
        self.name = name
        self.gpu = device.startswith("cuda")
        self.sync = lambda: None
        self.free = lambda: None
        self.array = np.asarray
        self.programs = {}
        self.module = importlib.import_module(name.split(".")[0])
        self.xp = self.module
        getattr(self, "_" + name.split(".")[0], lambda: None)()

    def _numexpr(self):
        self.xp = np

    def _numbus(self):
        self.array, self.sync = self.xp.array, self.xp.synchronize
        self.free = lambda: self.xp.cuda.trim(str(self.xp.device()))

    def _cupy(self):
        self.array, self.sync = self.xp.asarray, self.xp.cuda.Device().synchronize
        self.free = self.xp.get_default_memory_pool().free_all_blocks

    def _torch(self):
        where = "cuda" if self.gpu else "cpu"
        if self.gpu:
            if not self.xp.cuda.is_available():
                raise RuntimeError("this PyTorch cannot use the GPU")
            self.sync, self.free = self.xp.cuda.synchronize, self.xp.cuda.empty_cache
        self.array = lambda x: self.xp.as_tensor(x, device=where)

    def _jax(self):
        self.module.config.update("jax_enable_x64", True)
        # Products of float32 are products of float32, as the others' are.
        self.module.config.update("jax_default_matmul_precision", "highest")
        if self.gpu and self.module.default_backend() != "gpu":
            raise RuntimeError("this JAX cannot use the GPU")
        self.xp = importlib.import_module("jax.numpy")
        self.array = self.xp.asarray

    def _numba(self):
        if self.gpu or self.name == "numba.cuda":
            np.row_stack = np.vstack  # Numba's CUDA target is older than NumPy 2.5
            cuda = importlib.import_module("numba.cuda")
            self.array, self.sync, self.xp = cuda.to_device, cuda.synchronize, cuda

    def program(self, case):
        """f(**inputs) for a case; None where there is none for this library."""
        device = "cuda" if self.gpu else "cpu"
        build = case.programs.get(f"{self.name}:{device}") or case.programs.get(self.name)
        if build is not None:
            if build not in self.programs:
                self.programs[build] = build()
            return self.programs[build]
        if case.code is None or self.name not in ("numpy", "numbus", "cupy"):
            return None
        return lambda **inputs: case.code(self.xp, **inputs)

    def put(self, inputs):
        """The inputs with every array on the device."""
        return {k: self.array(v) if isinstance(v, np.ndarray) else v for k, v in inputs.items()}

    def waits(self):
        """Whether results may come later than calls return."""
        return self.name not in ("numpy", "numexpr", "numba")

    def wait(self, result=None):
        """Waits for all work, and for this result."""
        parts = result if isinstance(result, (tuple, list)) else (result,)
        for part in parts:
            if hasattr(part, "block_until_ready"):
                part.block_until_ready()
        self.sync()
        return result

    def host(self, x):
        """A result as a NumPy array."""
        if self.name == "cupy":
            return self.xp.asnumpy(x)
        if hasattr(x, "detach"):
            return x.detach().cpu().numpy()
        if hasattr(x, "copy_to_host") and not isinstance(x, np.ndarray):
            return x.copy_to_host()
        return np.asarray(x)

    def version(self):
        return getattr(self.module, "__version__", "?")
