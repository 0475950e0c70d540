"""`%load_ext numbus.runner`: sessions of IPython run as `python -m numbus` runs scripts."""

from .compat.notebook import load_ipython_extension, unload_ipython_extension

__all__ = ["load_ipython_extension", "unload_ipython_extension"]
