"""Messages between the ranks of one program: a connection of each pair, read and written by one
loop that waits for nobody longer than it may.
"""

import secrets
import selectors
import struct
import time
from collections import defaultdict, deque

from ..core.errors import message
from . import sockets
from .encoding import decode, encode

# A frame: 0 for collectives or 1 for single messages, number of the group (or the tag), what is
# being done (a checksum of it), length.
_HEAD = struct.Struct("!BIIQ")
COLLECTIVE, SINGLE = 0, 1


class _Link:
    def __init__(self, sock):
        sock.setblocking(False)
        self.sock, self.out, self.head = sock, deque(), bytearray()
        self.into, self.filled, self.frame = None, 0, None
        self.boxes = defaultdict(deque)  # by kind and group: (checksum, bytes)
        self.closed = False


class Mesh:
    """The connections of a rank. `timeout`: seconds that an operation waits for others."""

    def __init__(self, rank, size, timeout):
        self.rank, self.size, self.timeout = rank, size, timeout
        self.links, self.left = {}, []  # ranks that have left, in that order

    def join(self, store):
        """Connects each pair of ranks; their secret comes from the store."""
        if self.rank == 0:
            store.set("secret", secrets.token_bytes(32))
        secret = store.get("secret", "rank 0")
        listener = sockets.listen(store.here)
        try:
            where = [store.here, listener.getsockname()[1]]
            store.set(f"rank {self.rank}", encode([*where, self.size]))
            for other in range(self.rank):
                host, port, size = decode(store.get(f"rank {other}", f"rank {other}"))
                if size != self.size:
                    raise RuntimeError(
                        message("init_process_group", f"rank {other} knows another world size",
                                size, self.size)
                    )  # fmt: skip
                # Where nobody listens, the store is that of an earlier group, which is closing.
                sock = sockets.connect(host, port, secret, store._until, listens=True)
                sock.sendall(struct.pack("!I", self.rank))
                self.links[other] = _Link(sock)
            while len(self.links) < self.size - 1:
                self._accept(listener, secret, store._until)
        except BaseException:
            self.close()
            raise
        finally:
            listener.close()

    def _accept(self, listener, secret, until):
        missing = [r for r in range(self.size) if r != self.rank and r not in self.links]
        listener.settimeout(max(until - time.monotonic(), 0.01))
        try:
            sock, _ = listener.accept()
        except TimeoutError:
            names = ", ".join(str(r) for r in missing)
            raise TimeoutError(
                message("init_process_group", "not all ranks have come within the timeout",
                        f"none of rank {names}", f"{self.size} ranks")
            ) from None  # fmt: skip
        try:
            sock.settimeout(10)
            sockets.greet(sock, secret, server=True)
            (other,) = struct.unpack("!I", sockets.receive(sock, 4))
            if other not in missing:
                raise ConnectionError(f"rank {other}")
        except OSError:  # a stranger, who is not listened to
            sock.close()
            return
        self.links[other] = _Link(sock)

    def close(self):
        for link in self.links.values():
            link.closed = True
            link.sock.close()

    # ---- the loop ----
    def post(self, rank, kind, group, checksum, raw):
        """Has a message sent as soon as a loop runs."""
        link = self.links[rank]
        link.out.append(memoryview(_HEAD.pack(kind, group, checksum, len(raw))))
        if len(raw):
            link.out.append(memoryview(raw).cast("B"))

    def loop(self, op, needs, flush=()):
        """Sends and receives until all `needs`, a list of functions, are met and what was posted
        for the ranks of `flush` is out.

        needs: each returns None where it is met, else the ranks that it waits for. Raises
        RuntimeError for a rank that has left, TimeoutError at the end of the timeout; both name it.
        """
        until = time.monotonic() + self.timeout
        with selectors.DefaultSelector() as selector:
            watched = {}
            while True:
                waiting = set()
                for need in needs:
                    waiting |= set(need() or ())
                waiting |= {r for r in flush if self.links[r].out}
                if not waiting:
                    return
                for r in sorted(waiting):
                    if self.links[r].closed:
                        self._gone(op, r)
                for r, link in self.links.items():
                    events = 0 if link.closed else selectors.EVENT_READ
                    events |= selectors.EVENT_WRITE if link.out and not link.closed else 0
                    self._watch(selector, watched, r, events)
                left = until - time.monotonic()
                if left <= 0:
                    names = ", ".join(str(r) for r in sorted(waiting))
                    raise TimeoutError(
                        message(op, f"rank {names} did not take part within the timeout",
                                f"{self.timeout:g} s", "all ranks of the group to call it")
                    )  # fmt: skip
                for key, events in selector.select(min(left, 0.2)):
                    link = self.links[key.data]
                    if events & selectors.EVENT_READ:
                        self._read(key.data, link)
                    if events & selectors.EVENT_WRITE and not link.closed:
                        self._write(key.data, link)

    def _watch(self, selector, watched, r, events):
        known = watched.get(r, 0)
        if events == known:
            return
        sock = self.links[r].sock
        if not known:
            selector.register(sock, events, r)
        elif events:
            selector.modify(sock, events, r)
        else:
            selector.unregister(sock)
        watched[r] = events

    def _gone(self, op, r):
        before = [other for other in self.left if other != r]
        also = f" (rank {before[0]} had left before)" if before else ""
        raise RuntimeError(
            message(op, f"rank {r} has left{also}", "its connection is closed",
                    "all ranks of the group to take part")
        )  # fmt: skip

    def _lost(self, r, link):
        link.closed = True
        self.left.append(r)

    def _write(self, r, link):
        try:
            while link.out:
                sent = link.sock.send(link.out[0])
                if sent < len(link.out[0]):
                    link.out[0] = link.out[0][sent:]
                    return
                link.out.popleft()
        except BlockingIOError:
            return
        except OSError:
            self._read(r, link)  # what it sent before it left
            if not link.closed:
                self._lost(r, link)

    def _read(self, r, link):
        try:
            while True:
                if link.frame is None:
                    some = link.sock.recv(_HEAD.size - len(link.head))
                    if not some:
                        return self._lost(r, link)
                    link.head += some
                    if len(link.head) < _HEAD.size:
                        continue
                    link.frame = _HEAD.unpack(link.head)
                    link.head = bytearray()
                    link.into, link.filled = bytearray(link.frame[3]), 0
                kind, group, checksum, n = link.frame
                if link.filled < n:
                    with memoryview(link.into) as view:
                        got = link.sock.recv_into(view[link.filled :])
                    if not got:
                        return self._lost(r, link)
                    link.filled += got
                if link.filled == n:
                    link.boxes[kind, group].append((checksum, link.into))
                    link.frame = link.into = None
        except BlockingIOError:
            return None
        except OSError:
            return self._lost(r, link)

    def exchange(self, op, group, checksum, out, sources):
        """Sends {rank: bytes} and returns {rank: bytes} of the sources, of one collective.

        Raises RuntimeError where a rank is in another operation, or brings another dtype or size.
        """
        for r, raw in out.items():
            self.post(r, COLLECTIVE, group, checksum, raw)

        def need():
            return [r for r in sources if not self.links[r].boxes[COLLECTIVE, group]]

        self.loop(op, [need], out)
        found = {}
        for r in sources:
            theirs, raw = self.links[r].boxes[COLLECTIVE, group].popleft()
            if theirs != checksum:
                raise RuntimeError(
                    message(op, f"rank {r} is in another operation, or brings another dtype or "
                            "size", f"{len(raw)} bytes of it", "the same call in all ranks")
                )  # fmt: skip
            found[r] = raw
        return found
