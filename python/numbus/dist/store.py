"""A store of keys and values (bytes) in the process of rank 0, by which ranks find each other."""

import socket
import struct
import threading
import time

from ..core.errors import message
from . import sockets


class Server:
    """Answers `set`, `get` (which waits for the key) and `add` at one address."""

    def __init__(self, host, port, secret):
        self._listener = sockets.listen(host, port)
        self.port = self._listener.getsockname()[1]
        self._secret, self._values = secret, {}
        self._changed, self._closed = threading.Condition(), False
        self._open = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock):
        with self._changed:
            self._open.add(sock)
        try:
            sock.settimeout(10)
            sockets.greet(sock, self._secret, server=True)
            sock.settimeout(None)
            while True:
                asked = sockets.receive_sized(sock)
                op, n = asked[:1], struct.unpack("!I", asked[1:5])[0]
                key, value = asked[5 : 5 + n], asked[5 + n :]
                sockets.send_sized(sock, self._answer(op, key, value))
        except (OSError, struct.error, ValueError):
            pass
        finally:
            with self._changed:
                self._open.discard(sock)
            sock.close()

    def _answer(self, op, key, value):
        with self._changed:
            if op == b"s":
                self._values[key] = value
                self._changed.notify_all()
                return b"+"
            if op == b"a":
                total = int(self._values.get(key, b"0")) + int(value)
                self._values[key] = str(total).encode()
                self._changed.notify_all()
                return b"+" + self._values[key]
            if op == b"g":
                known = self._changed.wait_for(
                    lambda: key in self._values or self._closed, float(value)
                )
                if self._closed:  # who asks tries another store
                    raise ConnectionError("the store is closed")
                return b"+" + self._values[key] if known else b"-"
        raise ValueError(op)

    def close(self):
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            sockets_open = list(self._open)
        for sock in (self._listener, *sockets_open):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            sock.close()


class Client:
    """The store as a rank sees it. TimeoutError for keys that nobody sets in time."""

    def __init__(self, host, port, secret, until):
        self._sock = sockets.connect(host, port, secret, until)
        self._until = until

    @property
    def here(self):
        """The address of this machine from which the store is reached."""
        return self._sock.getsockname()[0]

    def _ask(self, op, key, value):
        self._sock.settimeout(max(self._until - time.monotonic(), 0.1) + 5)
        raw = key.encode()
        sockets.send_sized(self._sock, op + struct.pack("!I", len(raw)) + raw + value)
        return sockets.receive_sized(self._sock)

    def set(self, key, value):
        self._ask(b"s", key, value)

    def get(self, key, what):
        left = max(self._until - time.monotonic(), 0.0)
        found = self._ask(b"g", key, repr(left).encode())
        if found[:1] != b"+":
            raise TimeoutError(
                message("init_process_group", f"{what} has not come within the timeout", key,
                        "every rank to call it")
            )  # fmt: skip
        return found[1:]

    def close(self):
        self._sock.close()
