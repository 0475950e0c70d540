"""Connections between ranks: both ends prove that they know a secret before anything is read."""

import hashlib
import hmac
import os
import secrets
import socket
import struct
import time

from ..core.errors import message

_NONCE = 16


class Refused(ConnectionError):
    """The other end does not know the secret."""


def secret_of_environment():
    """What ranks have to know: NUMBUS_DIST_SECRET, which launchers draw; empty where not set."""
    return os.environ.get("NUMBUS_DIST_SECRET", "").encode()


def proof(secret, nonce, who):
    return hmac.new(b"numbus" + secret, nonce + who, hashlib.sha256).digest()


def receive(sock, n):
    """Exactly n bytes. ConnectionError where the other end closes before."""
    parts = bytearray()
    while len(parts) < n:
        some = sock.recv(min(n - len(parts), 1 << 20))
        if not some:
            raise ConnectionError("the other end has closed the connection")
        parts += some
    return bytes(parts)


def greet(sock, secret, server):
    """Both ends show that they know the secret, which does not travel. Refused otherwise."""
    mine = secrets.token_bytes(_NONCE)
    sock.sendall(mine)
    theirs = receive(sock, _NONCE)
    who = (b"server", b"client") if server else (b"client", b"server")
    if server:  # a stranger learns nothing before it has shown its own
        if not hmac.compare_digest(receive(sock, 32), proof(secret, mine, who[1])):
            raise Refused("another secret")
        sock.sendall(proof(secret, theirs, who[0]))
        return
    sock.sendall(proof(secret, theirs, who[0]))
    try:
        answer = receive(sock, 32)
    except ConnectionError:  # as a server does that knows another one
        raise Refused("closed after the greeting") from None
    if not hmac.compare_digest(answer, proof(secret, mine, who[1])):
        raise Refused("another secret")


def listen(host, port=0):
    """A socket that listens at one address of this machine, and at no other."""
    info = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    sock = socket.socket(info[0], info[1])
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(info[4])
        sock.listen(128)
    except OSError as error:
        sock.close()
        raise RuntimeError(
            message("init_process_group", f"cannot listen at the master's address ({error})",
                    f"{host}:{port}", "a free port at an address of rank 0's machine")
        ) from None  # fmt: skip
    return sock


def connect(host, port, secret, until, listens=False):
    """A greeted connection; tries again until the time is over.

    listens: the other end has said that it does, so that nobody there is a ConnectionRefusedError.
    """
    wrong = None
    while True:
        left = until - time.monotonic()
        if left <= 0:
            if isinstance(wrong, Refused):
                raise Refused(
                    message("init_process_group", "the other end knows another secret",
                            f"{host}:{port}", "the same NUMBUS_DIST_SECRET for all ranks")
                )  # fmt: skip
            raise TimeoutError(
                message("init_process_group", f"no connection within the timeout ({wrong})",
                        f"{host}:{port}", "a rank that listens there")
            )  # fmt: skip
        try:
            sock = socket.create_connection((host, port), timeout=min(left, 10))
        except OSError as error:
            if listens and isinstance(error, ConnectionRefusedError):
                raise
            wrong = error
            time.sleep(min(0.05, left))
            continue
        try:
            greet(sock, secret, server=False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return sock
        except OSError as error:
            sock.close()
            wrong = error
            time.sleep(min(0.05, left))


def send_sized(sock, raw):
    sock.sendall(struct.pack("!I", len(raw)) + raw)


def receive_sized(sock, most=1 << 26):
    (n,) = struct.unpack("!I", receive(sock, 4))
    if n > most:
        raise ConnectionError(f"a message of {n} bytes")
    return receive(sock, n)
