"""`python -m numbus info`: devices, versions and libraries."""

import platform
import sys

import numpy

from .. import __version__, _core
from ..core import libraries as _libraries


def text():
    """The report as lines of text."""
    lines = [
        f"numbus {__version__}",
        f"python {sys.version.split()[0]}, numpy {numpy.__version__}, {platform.platform()}",
    ]
    try:
        lines += _entries(_core.device_info(), "")
    except RuntimeError as error:  # NUMBUS_DEVICE names a GPU that cannot be used
        lines.append(f"default: {error}")
    lines += _core.cuda_info().splitlines()
    cache = _core.disk_cache()
    lines.append(
        f"compiled code is kept in {cache['directory']}, {cache['limit'] >> 20} MiB at most"
        if not cache["problem"]
        else f"compiled code is not kept: {cache['directory']} {cache['problem']}".replace(
            ":  ", ": "
        )
    )
    for name in _libraries.NAMES:
        lines += _library(name)
    return "\n".join(lines)


def _library(name):
    found, tried = _libraries.report(name)
    lines = [f"{name}: tried {path}: {outcome}" for path, outcome in tried]
    return [*lines, f"{name}: {found or 'not found'}"]


def _entries(table, indent):
    lines = []
    for name, value in table.items():
        if isinstance(value, dict):
            lines.append(f"{indent}{name}:")
            lines += _entries(value, indent + "  ")
        elif isinstance(value, (list, tuple)):
            lines.append(f"{indent}{name}:")
            lines += [f"{indent}  {item}" for item in value]
        else:
            lines.append(f"{indent}{name}: {value}")
    return lines
