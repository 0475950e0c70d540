"""Collectives of GPUs by NCCL: tensors stay on their devices, and calls are queued with the
devices' work. A thread watches for ranks that have left, which NCCL itself would wait for.
"""

import atexit
import os
import select
import socket
import threading
import time

from .. import _core
from ..core.dtypes import kind_of
from ..core.errors import message
from ..core.libraries import offer
from ..functions.creation import empty
from ..tensors import Tensor
from . import group as _group
from .encoding import encode
from .exchange import exchange, objects, sum_of

_FOLDS = {"SUM": 0, "PRODUCT": 1, "MAX": 2, "MIN": 3, "AVG": 4}
_WIDER = {"int16": "int32", "uint16": "uint32"}  # numbers that NCCL has not
_links = []  # all that are open


# ---- which tensors ----
def _on_gpu(a):
    """The name of the GPU that an array lies on; None: on the host, or where it is best."""
    name = a._device
    gpu = name.startswith("cuda") or (name == "fenced" and "NUMBUS_NCCL" in os.environ)
    if not gpu or (_core.placing() and not _core.is_pinned(a)):
        return None
    return name


def _on_host_by_name(a):
    """Whether the program has put an array on the host, where it has a GPU."""
    if _core.placing():
        return _core.is_pinned(a)
    return _core.get_device() not in ("cpu", "null")


def link(op, g, *tensors, mixed=False):
    """What joins the GPUs of these tensors; None: they travel by TCP.

    mixed: so do tensors of several devices. ValueError for these otherwise, and for one on the host
    where the group is NCCL's.
    """
    place = place_of(op, g, *tensors, mixed=mixed)
    return place and (opened(g, place) or _open(op, g, place))


def place_of(op, g, *tensors, mixed=False):
    """The device of tensors that NCCL takes; None: they travel by TCP."""
    if g.size == 1 or not g.by_nccl:
        return None
    places = set()
    for t in tensors:
        if not isinstance(t, Tensor):
            raise TypeError(message(op, "no tensor", type(t).__name__, "a Tensor"))
        places.add(_on_gpu(t._array))
    if len(places) != 1:
        if mixed:
            return None
        raise ValueError(message(op, "tensors on several devices", sorted(map(str, places)), "one"))
    place = places.pop()
    if place is None:
        if g.backend == "nccl" and _on_host_by_name(tensors[0]._array):
            raise ValueError(
                message(op, "a tensor on the CPU in a group of NCCL's", tensors[0].device,
                        "a tensor on the GPU, or the backend 'cpu:gloo,cuda:nccl' or 'gloo'")
            )  # fmt: skip
    return place


def opened(g, place):
    """The link of a group and a device, where there is one already."""
    return next((x for x in _links if x.group is g and x.device == place), None)


def _identity(device):
    """What tells GPUs apart, of all machines."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            boot = file.read().strip()
    except OSError:
        boot = ""
    if not device.startswith("cuda"):
        return f"{socket.gethostname()} {boot} process {os.getpid()}"
    number = device.partition(":")[2] or "0"
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    if visible != [""] and int(number) < len(visible):
        number = visible[int(number)].strip()
    return f"{socket.gethostname()} {boot} GPU {number}"


def _open(op, g, device):
    """Joins the ranks of a group, all of which are here: none waits for one that cannot."""
    problem, drawn = None, b""
    try:
        offer("nccl")
        _core.require_library("nccl")
        drawn = _core.nccl_id() if g.rank == 0 else b""
    except RuntimeError as error:
        problem = str(error)
    mine = {"gpu": _identity(device), "device": device, "id": drawn, "problem": problem}
    every = objects(g, "nccl", encode(mine))
    if problem is not None:
        raise RuntimeError(problem)
    for k, other in enumerate(every):
        if other["problem"] is not None:
            raise RuntimeError(
                message(op, f"rank {g.ranks[k]} cannot use NCCL", other["problem"],
                        "NCCL in all ranks, or the backend 'gloo'")
            )  # fmt: skip
        same = next((j for j in range(k) if every[j]["gpu"] == other["gpu"]), None)
        if same is not None:
            raise RuntimeError(
                message(op, f"ranks {g.ranks[same]} and {g.ranks[k]} share a GPU",
                        f"{other['device']} of {other['gpu'].split()[0]}",
                        "a GPU for each rank, as by torch.cuda.set_device(local_rank) before all "
                        "else, or the backend 'gloo'")
            )  # fmt: skip
    made = Link(g, device, _core.Communicator(device, g.size, g.rank, every[0]["id"]))
    _links.append(made)
    return made


# ---- collectives ----
class Link:
    """A group's end on one device. Arrays are written in the order of the device's work."""

    def __init__(self, group, device, end):
        self.group, self.device, self.failed = group, device, None
        self._end, self._known, self._outbox, self._gone = end, set(), [], {}

    def _same(self, op, *about):
        """RuntimeError where ranks are in different calls: asked once for each kind of call."""
        self.check()
        if (op, *about) in self._known:
            return
        g, checksum = self.group, sum_of("nccl", op, *about)
        exchange(g, op, checksum, dict.fromkeys(range(g.size), b""), range(g.size))
        self._known.add((op, *about))

    def check(self):
        """RuntimeError where a rank was lost."""
        if self.failed is not None:
            raise RuntimeError(self.failed)

    def _begin(self):
        self.flush()
        _watch.look()

    def all_reduce(self, op, a, fold, aside=False, checked=True):
        """The folded elements of all ranks, in a's memory where that is contiguous: what is
        returned. aside: beside the device's other work. checked: once it is known that no index
        was wrong in what led to them; else they hold NaN where a floating-point element was asked
        for at a wrong index.
        """
        self._same(op, a.dtype.str, a.size, fold)
        work, back = _foldable(op, a, fold)
        self._begin()
        self._end.all_reduce(op, work, _FOLDS[_fold_of(a, fold)], aside, checked)
        return back(work)

    def reduce(self, op, a, fold, root):
        """all_reduce() for rank `root` of the group; None in others."""
        self._same(op, a.dtype.str, a.size, fold, root)
        work, back = _foldable(op, _copied(a), fold)  # others' elements may be overwritten
        self._begin()
        self._end.reduce(op, work, _FOLDS[_fold_of(a, fold)], root)
        return back(work) if self.group.rank == root else None

    def reduce_scatter(self, op, a, fold):
        """This rank's part of the folded elements of all ranks; `a`: a first axis of ranks."""
        self._same(op, a.dtype.str, a.size, fold)
        work, back = _foldable(op, a, fold)
        part = empty(tuple(work.shape[1:]), work.dtype, device=self.device)
        self._begin()
        self._end.reduce_scatter(op, work, part, _FOLDS[_fold_of(a, fold)])
        return back(part)

    def broadcast(self, op, a, root):
        """The elements of rank `root` of the group."""
        self._same(op, a.dtype.str, a.size, root)
        work = _dense(a)
        self._begin()
        self._end.broadcast(op, work, root)
        return work

    def all_gather(self, op, a):
        """The elements of all ranks, along a new first axis."""
        self._same(op, a.dtype.str, a.size)
        whole = empty((self.group.size, *a.shape), a.dtype, device=self.device)
        self._begin()
        self._end.all_gather(op, _dense(a), whole)
        return whole

    def scatter(self, op, parts, like, root):
        """This rank's array of those that rank `root` has."""
        self._same(op, like.dtype.str, like.size, root)
        got, here = _copied(like), self.group.rank
        if here == root:
            sent = [(True, _dense(p), k) for k, p in enumerate(parts) if k != root]
            self._messages(op, sent)
            return parts[root]
        self._messages(op, [(False, got, root)])
        return got

    def gather(self, op, a, root):
        """The arrays of all ranks, for rank `root`; None for others."""
        self._same(op, a.dtype.str, a.size, root)
        if self.group.rank != root:
            self._messages(op, [(True, _dense(a), root)])
            return None
        found = [a if k == root else _copied(a) for k in range(self.group.size)]
        self._messages(op, [(False, x, k) for k, x in enumerate(found) if k != root])
        return found

    def all_to_all(self, op, sent, like):
        """What each rank sends to this one, of the shapes of `like`."""
        here = self.group.rank
        self._same(op, sent[0].dtype.str)
        found = [sent[here] if k == here else _copied(x) for k, x in enumerate(like)]
        pairs = [(True, _dense(x), k) for k, x in enumerate(sent) if k != here]
        pairs += [(False, x, k) for k, x in enumerate(found) if k != here]
        self._messages(op, pairs)
        return found

    # ---- single messages: those that wait to be sent go with the next call ----
    def post(self, a, peer):
        """Has an array's elements of now sent with the next call of the group."""
        self.check()
        self._outbox.append((True, _copied(a), peer))

    def receive(self, op, a, peer):
        """What rank `peer` of the group sends, and what waits to be sent."""
        self.check()
        work = _copied(a)
        self._messages(op, [(False, work, peer)])
        return work

    def flush(self):
        """Sends what waits for it."""
        if self._outbox:
            self._messages("send", [])

    def _messages(self, op, messages):
        self.check()
        sent, self._outbox = self._outbox, []
        messages = [(s, a, k) for s, a, k in (*sent, *messages) if a.size]
        _watch.look()
        if messages:
            self._end.exchange(op, messages)

    # ---- its end ----
    def is_idle(self):
        """Whether all that was queued has ended."""
        return not self._end.oldest()[0]

    def look(self):
        """Whether work is under way; where it cannot end, it is ended, and this says so."""
        if self.failed is not None:
            return False
        op, seconds = self._end.oldest()
        if not op:
            return False
        why = self._end.failure() or self._lost(op)
        if not why and seconds > self.group.mesh.timeout:
            why = message(op, "did not end within the timeout", f"{seconds:.0f} s",
                          "all ranks of the group to call it")  # fmt: skip
        if why:
            self.failed = why
            _core.distrust(self.device, why)
            self._end.abort(why)
        return not why

    def _lost(self, op):
        """A message where a rank has left and what is under way has had a second to end."""
        mesh, now = self.group.mesh, time.monotonic()
        for r in self.group.ranks:
            if r != mesh.rank and (mesh.links[r].closed or _is_closed(mesh.links[r].sock)):
                if now - self._gone.setdefault(r, now) > 1:
                    return message(op, f"rank {r} has left", "its connection is closed",
                                   "all ranks of the group to take part")  # fmt: skip
        return ""

    def close(self):
        """After what is under way. RuntimeError where that cannot end."""
        if self.failed is None:
            self.flush()
            _watch.look()
            while not self.is_idle() and self.failed is None:
                time.sleep(0.001)
        if self in _links:
            _links.remove(self)
        if self.failed is not None:
            _core.distrust(self.device, "")
            raise RuntimeError(self.failed)
        self._end.destroy()


def _is_closed(sock):
    """Whether the other end has closed a connection, read or not."""
    poll = select.poll()
    try:
        poll.register(sock, select.POLLRDHUP)
        return bool(poll.poll(0))
    except (OSError, ValueError):
        return True


def settle(g):
    """Waits for what a group has queued."""
    for one in _links:
        if one.group is g:
            one.flush()
            while one.failed is None and not one.is_idle():
                time.sleep(0.0001)
            one.check()


def close_all():
    """Ends all links; raises what the first lost one has to say."""
    first = None
    for one in list(_links):
        try:
            one.close()
        except RuntimeError as error:
            first = first or error
    if first is not None:
        raise first


_group.at_end(close_all)


@atexit.register
def _at_exit():
    """Lets other ranks have what is under way, for as long as that may take."""
    until = time.monotonic() + 5
    for one in _links:
        try:
            one.flush()
            while one.failed is None and not one.is_idle() and time.monotonic() < until:
                time.sleep(0.001)
        except RuntimeError:
            pass  # it was told, or nobody asked


class _Watch:
    """The thread that looks at what is under way."""

    def __init__(self):
        self._wake, self._thread = threading.Event(), None

    def look(self):
        """From now on, until all is done."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="numbus nccl", daemon=True)
            self._thread.start()
        if not self._wake.is_set():
            self._wake.set()

    def _run(self):
        while True:
            self._wake.wait()
            self._wake.clear()
            quiet = 0  # a call may just be about to begin
            while quiet < 5:
                time.sleep(0.1)
                busy = [one.look() for one in list(_links)]
                quiet = 0 if any(busy) else quiet + 1


_watch = _Watch()


# ---- arrays ----
def _dense(a):
    return a if a.flags.c_contiguous else _copied(a)


def _copied(a):
    return a.copy()


def _fold_of(a, fold):
    if a.dtype == bool:
        return {"BOR": "MAX", "BAND": "MIN"}.get(fold, fold)
    return fold


def _foldable(op, a, fold):
    """The array as NCCL folds it, and what makes of its result an array of the same dtype."""
    fold = _fold_of(a, fold)
    if fold not in _FOLDS:
        raise ValueError(
            message(op, "NCCL does not combine bits", f"ReduceOp.{fold} of {a.dtype}",
                    "another operation, or the backend 'gloo'")
        )  # fmt: skip
    kind = kind_of(a.dtype)
    if fold == "AVG" and kind not in "fc":
        raise ValueError(message(op, "the mean of integers", a.dtype, "floats, or ReduceOp.SUM"))
    if kind == "c":
        if fold not in ("SUM", "AVG"):
            raise TypeError(
                message(op, "NCCL does not multiply complex numbers", a.dtype,
                        "real numbers, or the backend 'gloo'")
            )  # fmt: skip
        real, dense = "f4" if a.dtype == "complex64" else "f8", _dense(a)
        lead = dense.shape[:1] if op.startswith("reduce_scatter") else ()
        pairs = dense.reshape((*lead, -1)).view(real)
        rest = tuple(a.shape[len(lead) :])
        return pairs, lambda x: x.view(a.dtype).reshape((*lead, *rest) if x is pairs else rest)
    wide = _WIDER.get(str(a.dtype))
    if wide is not None:
        return _dense(a.astype(wide)), lambda x: x.astype(a.dtype)
    if not _core.nccl_takes(a.dtype):
        raise TypeError(message(op, "NCCL has no such numbers", a.dtype, "integers or floats"))
    return _dense(a), lambda x: x
