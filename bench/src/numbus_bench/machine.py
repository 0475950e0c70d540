"""What the machine is: processor, memory, GPU, versions."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

__all__ = ["available_memory", "describe", "processor", "processors"]


def processors():
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processor():
    """The processor's name."""
    try:
        for line in Path("/proc/cpuinfo").read_text().split("\n"):
            if line.startswith("model name"):
                name = line.split(":", 1)[1]
                return " ".join(name.replace("(R)", "").replace("(TM)", "").split())
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory(field):
    try:
        for line in Path("/proc/meminfo").read_text().split("\n"):
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def available_memory():
    """Bytes of memory that are free, as far as the system tells; else None."""
    return _memory("MemAvailable")


def gpu():
    """Name, driver and memory of the first GPU, by nvidia-smi; None without."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total",
             "--format=csv,noheader,nounits"]  # fmt: skip
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=30)
        name, driver, memory = done.stdout.strip().split("\n")[0].split(", ")
        return {"name": name, "driver": driver, "memory_bytes": int(memory) * (1 << 20)}
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None


def describe(with_gpu):
    """The machine, as a dict for JSON."""
    return {
        "processor": processor(),
        "processors": processors(),
        "memory_bytes": _memory("MemTotal"),
        "gpu": gpu() if with_gpu else None,
        "system": platform.platform(terse=True),
        "python": sys.version.split()[0],
    }
