"""`python -m numbus info`: devices, versions and libraries."""

import platform
import sys

import numpy

from .. import __version__, _core


def text():
    """The report as lines of text."""
    lines = [
        f"numbus {__version__}",
        f"python {sys.version.split()[0]}, numpy {numpy.__version__}, {platform.platform()}",
    ]
    lines += _entries(_core.device_info(), "")
    return "\n".join(lines)


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
