"""Notebooks: `%load_ext numbus.runner` in a session, and `python -m numbus notebook.ipynb`."""

import importlib
import os
import sys

import numpy

from .. import _core, loops
from ..core.errors import message
from . import runner
from .rewrite import Rewriter

_PICTURES = "module://matplotlib_inline.backend_inline"


def load_ipython_extension(shell, runs=False):
    """From the next cell on, imports of the session are those of `python -m numbus`.

    Names that stand for NumPy's module already stand for Numbus then; `%nbtime` times statements.
    runs: it is `python -m numbus notebook.ipynb`, which has options of its own.
    """
    runner.install()
    if loops.is_enabled() or (not runs and loops.are_wanted()):
        loops.install()
        loops.rewrite_cells(shell)
    if not any(isinstance(one, Rewriter) for one in shell.ast_transformers):
        shell.ast_transformers.append(Rewriter())
    package = sys.modules["numbus"]
    for name, value in list(shell.user_ns.items()):
        if value is numpy and not name.startswith("_"):
            shell.user_ns[name] = package
    importlib.import_module("numbus.measure.timer").load_ipython_extension(shell)


def unload_ipython_extension(shell):
    """Cells import NumPy itself again; names that stand for Numbus go on doing so."""
    shell.ast_transformers[:] = [x for x in shell.ast_transformers if not isinstance(x, Rewriter)]


def _needed(module, package):
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != module.partition(".")[0]:
            raise
        raise ModuleNotFoundError(
            message("notebook", "a package is missing", f"no {module}", f"`pip install {package}`"),
            name=module,
        ) from None


def run(file, output=None):
    """Runs the code cells of a notebook in order; returns the exit code, 1 after a cell that fails,
    which is the last one to run.

    output: the file that the notebook is written to, with what the cells show, pictures too; None:
    they print, and nothing is written. Raises ModuleNotFoundError without nbformat or IPython,
    ValueError for a file that is no notebook.
    """
    nbformat = _needed("nbformat", "nbformat")
    _needed("IPython", "ipython")
    from IPython.utils.capture import capture_output

    try:
        book = nbformat.read(file, as_version=4)
    except (nbformat.reader.NotJSONError, nbformat.ValidationError, KeyError) as error:
        text = str(error).split("\n")[0]
        raise ValueError(message("notebook", "not a notebook", text, "a .ipynb file")) from None
    if output is not None:
        os.environ.setdefault("MPLBACKEND", _PICTURES)
    shell, values, errors = _shell(output is not None)
    load_ipython_extension(shell, runs=True)
    code = 0
    for cell in book.cells:
        if cell.cell_type != "code" or not cell.source.strip():
            continue
        if output is None:
            result = shell.run_cell(cell.source, store_history=True)
        else:
            with capture_output() as shown:
                result = shell.run_cell(cell.source, store_history=True)
            sys.stdout.write(shown.stdout)
            sys.stderr.write(shown.stderr)
            cell.execution_count = shell.execution_count - 1
            cell.outputs = _outputs(nbformat.v4, shown, values, errors, cell.execution_count)
            values.clear()
        _core.synchronize()
        if not result.success:
            code = 1
            break
    if output is not None:
        nbformat.write(book, output)
    return code


def _shell(keeps):
    """IPython's shell, and the lists of what its cells result in and raise. keeps: results are put
    there, not printed.
    """
    from IPython.core.displayhook import DisplayHook
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    values, errors = [], []

    class Hook(DisplayHook):
        def write_output_prompt(self):
            if not keeps:
                super().write_output_prompt()

        def write_format_data(self, format_dict, md_dict=None):
            if keeps:
                values.append((format_dict, md_dict or {}))
            else:
                super().write_format_data(format_dict, md_dict)

    class Shell(InteractiveShell):
        displayhook_class = Hook

        def _showtraceback(self, etype, evalue, stb):
            errors.append((etype.__name__, str(evalue), list(stb)))
            print("\n".join(stb), file=sys.__stderr__)

    settings = Config()
    settings.HistoryManager.enabled = False
    settings.InteractiveShell.colors = "nocolor"
    settings.InteractiveShell.xmode = "Plain"
    return Shell.instance(config=settings), values, errors


def _outputs(v4, shown, values, errors, count):
    """What a cell has shown, as a notebook stores it."""
    made = []
    for name in ("stdout", "stderr"):
        if text := getattr(shown, name):
            made.append(v4.new_output("stream", name=name, text=text))
    for one in shown.outputs:
        data = {kind: _stored(value) for kind, value in one.data.items()}
        made.append(v4.new_output("display_data", data=data, metadata=one.metadata or {}))
    for data, metadata in values:
        result = {"data": data, "metadata": metadata, "execution_count": count}
        made.append(v4.new_output("execute_result", **result))
    for name, text, lines in errors:
        made.append(v4.new_output("error", ename=name, evalue=text, traceback=lines))
    return made


def _stored(value):
    if not isinstance(value, bytes):
        return value
    import base64

    return base64.b64encode(value).decode()
