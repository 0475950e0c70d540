"""Ranks as processes of this machine: spawn(), under the names of torch.multiprocessing."""

import multiprocessing
import multiprocessing.connection
import signal
import sys
import traceback

from ..core.errors import message


class ProcessException(Exception):
    """A process has failed: `error_index`, its number, and `pid`."""

    def __init__(self, text, error_index, pid):
        super().__init__(text)
        self.error_index, self.pid = error_index, pid


class ProcessRaisedException(ProcessException):
    """The function raised: the message has the traceback."""


class ProcessExitedException(ProcessException):
    """The process ended by a signal or an exit code."""

    def __init__(self, text, error_index, pid, exit_code, signal_name=None):
        super().__init__(text, error_index, pid)
        self.exit_code, self.signal_name = exit_code, signal_name


def _begin(fn, k, args, connection):
    try:
        fn(k, *args)
    except KeyboardInterrupt:
        pass  # the parent says it
    except Exception:
        connection.send_bytes(traceback.format_exc().encode("utf-8", "replace"))
        sys.exit(1)


class ProcessContext:
    """Processes that were started: `join()`, `pids()`, `processes`."""

    def __init__(self, processes, connections):
        self.processes, self._connections = processes, connections

    def pids(self):
        """Their ids."""
        return [int(p.pid) for p in self.processes]

    def join(self, timeout=None, grace_period=None):
        """Whether all have ended within `timeout` seconds; raises where one has failed.

        Others are then terminated, after `grace_period` seconds in which they may end.
        """
        sentinels = {p.sentinel: k for k, p in enumerate(self.processes) if p.is_alive()}
        if sentinels:
            multiprocessing.connection.wait(list(sentinels), timeout)
        failed = next((k for k, p in enumerate(self.processes) if p.exitcode), None)
        if failed is None:
            return all(p.exitcode == 0 for p in self.processes)
        for p in self.processes:
            if grace_period:
                p.join(grace_period)
            if p.is_alive():
                p.terminate()
        for p in self.processes:
            p.join()
        raise self._failure(failed)

    def _failure(self, k):
        process, connection = self.processes[k], self._connections[k]
        try:
            text = connection.recv_bytes().decode() if connection.poll() else None
        except EOFError:
            text = None
        if text is not None:
            said = f"\n\n-- Process {k} terminated with the following error:\n{text}"
            return ProcessRaisedException(said, k, process.pid)
        code = process.exitcode
        name = signal.Signals(-code).name if code < 0 else None
        how = f"signal {name}" if name else f"exit code {code}"
        said = message("spawn", f"process {k} terminated", how, "exit code 0")
        return ProcessExitedException(said, k, process.pid, code, name)


def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Starts `nprocs` processes of `fn(number, *args)`; see spawn()."""
    context = multiprocessing.get_context(start_method)
    processes, connections = [], []
    for k in range(nprocs):
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=_begin, args=(fn, k, args, there), daemon=daemon)
        process.start()
        there.close()
        processes.append(process)
        connections.append(here)
    made = ProcessContext(processes, connections)
    if not join:
        return made
    while not made.join():
        pass
    return None


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Starts processes of `fn(number, *args)`, and waits for them.

    Parameters
    ----------
    fn : function of a module, or of the script
    args : tuple
    nprocs : int, default 1
    join : bool, default True
        Else a ProcessContext is returned at once.
    daemon : bool, default False
    start_method : {"spawn", "fork", "forkserver"}

    Raises
    ------
    ProcessRaisedException
        With the traceback of the first process that failed; the others are terminated.
    ProcessExitedException
        Where one ended by a signal.
    """
    return start_processes(fn, args, nprocs, join, daemon, start_method)
