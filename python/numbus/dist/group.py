"""Groups of ranks: how a program joins one, and which are there."""

import datetime
import os
import secrets
import time
import urllib.parse

from .. import _core
from ..core.errors import message
from ..core.libraries import report
from ..tensors import device
from . import sockets
from .mesh import Mesh
from .store import Client, Server

_BACKENDS = ("gloo", "nccl", "cpu:gloo", "cuda:nccl", "cpu:gloo,cuda:nccl", "cuda:nccl,cpu:gloo")
OUTSIDE = object()  # what new_group() gives to ranks that are none of it
_TIMEOUT = datetime.timedelta(minutes=30)


class ProcessGroup:
    """Some ranks: `ranks`, their numbers within all; `rank`, the number of this one within it."""

    def __init__(self, mesh, ranks, number, backend):
        self.mesh, self.ranks, self.number, self.backend = mesh, list(ranks), number, backend
        self.by_nccl = "nccl" in backend  # tensors of GPUs
        self._rank = self.ranks.index(mesh.rank)

    @property
    def rank(self):
        """Of this process within the group."""
        return self._rank

    @property
    def size(self):
        """How many ranks there are."""
        return len(self.ranks)

    def within(self, op, rank):
        """The number within the group of a rank of all. ValueError where it is none of it."""
        if rank not in self.ranks:
            raise ValueError(message(op, "a rank that is not in the group", rank, self.ranks))
        return self.ranks.index(rank)

    def others(self, raw):
        """The same bytes for all but this rank."""
        return {k: raw for k in range(self.size) if k != self.rank}

    def __repr__(self):
        return f"<ProcessGroup {self.number}: rank {self.rank} of {self.size}>"


class _State:
    world = None
    groups = 0
    server = None
    ends = []


def at_end(function):
    """Has a function called when the group of all ranks is left."""
    _State.ends.append(function)


def of(group, op="distributed"):
    """The group of an argument, all ranks for None. ValueError before init_process_group()."""
    if group is OUTSIDE:
        return group
    if _State.world is None:
        raise ValueError(
            message(op, "Default process group has not been initialized", "no group",
                    "a call of init_process_group()")
        )  # fmt: skip
    if group is None:
        return _State.world
    if not isinstance(group, ProcessGroup):
        raise TypeError(message(op, "group", type(group).__name__, "a ProcessGroup"))
    return group


def _number(op, given, name):
    """A number that is given, or of an environment variable."""
    if given >= 0:
        return given
    text = os.environ.get(name)
    if text is None:
        raise ValueError(
            message(op, f"environment variable {name} expected, but not set", "none",
                    "torchrun (python -m numbus.dist.run), or the variable")
        )  # fmt: skip
    return int(text)


def _backend_of(op, name):
    name = str(name).lower()
    if name not in _BACKENDS:
        raise ValueError(message(op, "backend", name, "'gloo' or 'nccl'"))
    return name


def init_process_group(
    backend=None, init_method=None, timeout=None, world_size=-1, rank=-1, store=None,
    group_name="", pg_options=None, device_id=None,
):  # fmt: skip
    """Joins the ranks of a program.

    Parameters
    ----------
    backend : {"gloo", "nccl", "cpu:gloo,cuda:nccl"}, optional
        "nccl": tensors on GPUs travel by NCCL, in the order of their devices' work; where the
        machine has no GPU, all go by TCP. "gloo": all tensors travel by TCP, through the host's
        memory. Both, the default where there is a GPU: each tensor by its device.
    init_method : str, optional
        "env://" (the default): MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE of the environment;
        "tcp://host:port": rank 0 listens there; "file:///path": ranks of one machine find each
        other by a file that rank 0 writes.
    timeout : timedelta, default 30 minutes
        How long an operation waits for another rank.
    world_size, rank : int, optional
        Instead of the environment's.
    device_id : device, optional
        The rank's GPU, for which 'cuda' then stands. By default the one whose number is the
        environment's LOCAL_RANK, unless torch.cuda.set_device() has chosen another.

    Raises
    ------
    ValueError
        For another backend or method, a second call, missing variables, a rank out of range.
    TimeoutError
        Where ranks do not come in time; it names them.
    RuntimeError
        Where rank 0 cannot listen at the master's address.
    NotImplementedError
        For `store` and `pg_options`.

    Notes
    -----
    Rank 0 listens at the master's address only, other ranks at the one by which they reach it.
    Who connects has to know NUMBUS_DIST_SECRET, where that is set (launchers draw one), and then
    the secret of this group, which the store hands out. Nothing that arrives is executed: objects
    travel without pickles. What is sent is not encrypted.
    """
    op = "init_process_group"
    if _State.world is not None:
        raise ValueError(message(op, "trying to initialize the default process group twice",
                                 "a second call", "destroy_process_group() before"))  # fmt: skip
    if store is not None or pg_options is not None:
        name = "store" if store is not None else "pg_options"
        raise NotImplementedError(message(op, f"{name} is not there yet", name, "init_method"))
    if backend is None:
        backend = "cpu:gloo,cuda:nccl" if _core.may_have_gpu() else "gloo"
    backend = _backend_of(op, backend)
    if not isinstance(group_name, str):
        raise TypeError(message(op, "group_name", type(group_name).__name__, "a str"))
    if isinstance(device_id, int):
        device_id = device("cuda", device_id)
    if device_id is not None and getattr(device_id, "type", None) not in ("cuda", "cpu"):
        raise ValueError(message(op, "device_id", device_id, "a device"))
    if timeout is not None and not isinstance(timeout, datetime.timedelta):
        raise TypeError(message(op, "timeout", type(timeout).__name__, "a datetime.timedelta"))
    seconds = (timeout or _TIMEOUT).total_seconds()
    where = urllib.parse.urlparse(init_method or "env://")
    if where.scheme not in ("env", "tcp", "file"):
        raise ValueError(message(op, "init_method", init_method, "env://, tcp:// or file://"))
    asked = {k: int(v[0]) for k, v in urllib.parse.parse_qs(where.query).items()}
    rank = asked.get("rank", rank) if rank < 0 else rank
    world_size = asked.get("world_size", world_size) if world_size < 0 else world_size
    if where.scheme == "env":
        rank, world_size = _number(op, rank, "RANK"), _number(op, world_size, "WORLD_SIZE")
    if world_size < 1 or not 0 <= rank < world_size:
        raise ValueError(message(op, "rank", f"{rank} of {world_size}", "0 to world_size - 1"))
    if "nccl" in backend and world_size > 1:
        _take_gpu(device_id)
    mesh = Mesh(rank, world_size, seconds)
    if world_size > 1:
        _join(op, mesh, where, time.monotonic() + seconds)
    _State.world = ProcessGroup(mesh, range(world_size), 0, backend)
    _State.groups = 0


def _take_gpu(device_id):
    """Has 'cuda' stand for this rank's GPU: `device_id`, or that of its number on this machine."""
    number = getattr(device_id, "index", None)
    if number is not None:
        _core.set_current_gpu(number)
        return
    local = os.environ.get("LOCAL_RANK", "")
    if not local.isdigit() or _core.current_gpu() != 0 or not _core.may_have_gpu():
        return
    if 0 < int(local) < _core.cuda_count():
        try:
            _core.set_current_gpu(int(local))
        except RuntimeError:
            pass  # the program has used a GPU before; where ranks share it, NCCL's first call says so


def _join(op, mesh, where, until):
    secret = sockets.secret_of_environment()
    if where.scheme == "file":
        return _join_by_file(op, mesh, where.path, until)
    if where.scheme == "tcp":
        host, port = where.hostname, where.port
    else:
        host, port = os.environ.get("MASTER_ADDR"), os.environ.get("MASTER_PORT")
    if not host or not port:
        expected = "MASTER_ADDR and MASTER_PORT" if where.scheme == "env" else "tcp://host:port"
        raise ValueError(message(op, "no address of rank 0", f"{host}:{port}", expected))
    if mesh.rank == 0:
        _State.server = Server(host, int(port), secret)
    _enter(mesh, host, int(port), secret, until)


def _enter(mesh, host, port, secret, until):
    """Joins by the store there; once more where a store of an earlier group is just closing."""
    while True:
        store = None
        try:
            store = Client(host, port, secret, until)
            mesh.join(store)
            return
        except (TimeoutError, sockets.Refused):
            _close_server()
            raise
        except ConnectionError as error:
            if mesh.rank == 0:
                _close_server()
                raise
            if time.monotonic() > until:
                raise TimeoutError(
                    message("init_process_group", f"no connection within the timeout ({error})",
                            f"{host}:{port}", "all ranks to stay until they are connected")
                ) from None  # fmt: skip
            mesh.links.clear()
            time.sleep(0.05)
        finally:
            if store is not None and mesh.rank != 0:
                store.close()


def _join_by_file(op, mesh, path, until):
    """The address and the secret are in a file that only its owner reads."""
    if mesh.rank == 0:
        secret = secrets.token_hex(32)
        _State.server = Server("127.0.0.1", 0, secret.encode())
        own = f"{path}.{secrets.token_hex(4)}"
        with open(os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(f"{_State.server.port} {secret}\n")
        os.replace(own, path)
        return _enter(mesh, "127.0.0.1", _State.server.port, secret.encode(), until)
    wrong = None
    while time.monotonic() < until:
        try:
            with open(path) as file:
                port, secret = file.read().split()
            soon = min(until, time.monotonic() + 1)  # the file may be one of an earlier program
            store = Client("127.0.0.1", int(port), secret.encode(), soon)
        except (OSError, ValueError) as error:
            wrong = error
            time.sleep(0.05)
            continue
        store._until = until
        try:
            return mesh.join(store)
        finally:
            store.close()
    raise TimeoutError(message(op, f"rank 0 has not come within the timeout ({wrong})", path,
                               "a file that rank 0 writes"))  # fmt: skip


def _close_server():
    if _State.server is not None:
        _State.server.close()
        _State.server = None


def is_available():
    """True."""
    return True


def is_initialized():
    """Whether init_process_group() has been called, and destroy_process_group() not since."""
    return _State.world is not None


def is_torchelastic_launched():
    """Whether a launcher of ranks started the process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def is_gloo_available():
    """True: messages by TCP."""
    return True


def is_nccl_available():
    """Whether NCCL is installed."""
    return report("nccl")[0] is not None


def get_rank(group=None):
    """The number of this process within all ranks or a group; -1 where it is none of it."""
    g = of(group)
    return -1 if g is OUTSIDE else g.rank


def get_world_size(group=None):
    """How many ranks there are; -1 where this process is none of the group."""
    g = of(group)
    return -1 if g is OUTSIDE else g.size


def get_backend(group=None):
    """The name that init_process_group() was given."""
    g = of(group)
    return _State.world.backend if g is OUTSIDE else g.backend


def get_process_group_ranks(group=None):
    """The numbers of a group's ranks within all."""
    return list(of(group).ranks)


def new_group(ranks=None, timeout=None, backend=None, pg_options=None):
    """A group of some ranks, of all by default. All ranks call it, in the same order.

    NotImplementedError for a timeout of its own, and for pg_options.
    """
    op, world = "new_group", of(None)
    backend = world.backend if backend is None else _backend_of(op, backend)
    if timeout is not None or pg_options is not None:
        raise NotImplementedError(
            message(op, "a group with settings of its own is not there yet",
                    f"timeout={timeout}, pg_options={pg_options}",
                    "those of init_process_group()")
        )  # fmt: skip
    ranks = list(world.ranks) if ranks is None else sorted(ranks)
    if len(set(ranks)) != len(ranks) or not set(ranks) <= set(world.ranks) or not ranks:
        raise ValueError(message(op, "ranks", ranks, f"some of 0 to {world.size - 1}, each once"))
    _State.groups += 1
    if world.rank not in ranks:
        return OUTSIDE
    return ProcessGroup(world.mesh, ranks, _State.groups, backend)


def destroy_process_group(group=None):
    """Leaves the group; of all ranks, closes the connections. ValueError where there is none."""
    g = of(group)
    if g is OUTSIDE or g is not _State.world:
        return
    mesh = g.mesh
    try:
        for end in _State.ends:
            end()
        pending = [r for r, link in mesh.links.items() if link.out and not link.closed]
        if pending:
            mesh.loop("destroy_process_group", [], pending)
    finally:
        mesh.close()
        _close_server()
        _State.world = None
