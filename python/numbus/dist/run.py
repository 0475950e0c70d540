"""Starts the ranks of a script on this machine, as torchrun does:
python -m numbus.dist.run --nproc_per_node 2 script.py [arguments …]
"""

import argparse
import os
import secrets
import signal
import socket
import subprocess
import sys
import time


def _options():
    parser = argparse.ArgumentParser(prog="python -m numbus.dist.run", description=__doc__)

    def add(name, **words):
        both = {f"--{name}", f"--{name.replace('_', '-')}"}
        parser.add_argument(*sorted(both), dest=name, **words)

    add("nproc_per_node", default="1", help="ranks on this machine; 'cpu': one a core")
    add("nnodes", default="1", help="machines, each of which calls this")
    add("node_rank", type=int, default=0, help="the number of this machine")
    add("master_addr", default="127.0.0.1", help="an address of the machine of rank 0")
    add("master_port", type=int, default=None, help="default: a free one (29500 of several nodes)")
    add("standalone", action="store_true", help="one machine, a free port")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    return parser


def _free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def main(arguments=None):
    """The command line; returns the exit code, that of the first rank that failed."""
    parser = _options()
    args = parser.parse_args(arguments)
    if not args.nnodes.isdigit() or int(args.nnodes) < 1:
        parser.error(f"nnodes: got {args.nnodes}; expected a number (ranges are not there yet)")
    nodes = int(args.nnodes)
    each = args.nproc_per_node
    count = os.cpu_count() if each in ("cpu", "auto") else int(each) if each.isdigit() else 0
    if count < 1:
        parser.error(f"nproc_per_node: got {each}; expected a number, 'cpu' or 'auto'")
    if not 0 <= args.node_rank < nodes:
        parser.error(f"node_rank: got {args.node_rank}; expected 0 to {nodes - 1}")
    port = args.master_port
    if port is None or args.standalone:
        port = _free_port() if nodes == 1 else 29500
    common = {
        "MASTER_ADDR": args.master_addr, "MASTER_PORT": str(port),
        "WORLD_SIZE": str(count * nodes), "LOCAL_WORLD_SIZE": str(count),
        "GROUP_RANK": str(args.node_rank), "TORCHELASTIC_RUN_ID": "numbus",
        "NUMBUS_DIST_SECRET": os.environ.get("NUMBUS_DIST_SECRET")
        or (secrets.token_hex(32) if nodes == 1 else ""),
    }  # fmt: skip
    if count > 1 and "NUMBUS_NUM_THREADS" not in os.environ:
        common["NUMBUS_NUM_THREADS"] = str(max((os.cpu_count() or 1) // count, 1))
    processes = []
    for k in range(count):
        own = {"RANK": str(args.node_rank * count + k), "LOCAL_RANK": str(k)}
        command = [sys.executable, "-m", "numbus", args.script, *args.arguments]
        processes.append(subprocess.Popen(command, env={**os.environ, **common, **own}))
    return _wait(processes)


def _wait(processes):
    try:
        while any(p.poll() is None for p in processes):
            failed = next((k for k, p in enumerate(processes) if p.poll()), None)
            if failed is not None:
                time.sleep(0.5)  # others may say by themselves what they miss
                return _stopped(processes, failed)
            time.sleep(0.02)
    except KeyboardInterrupt:
        _stopped(processes, 0)
        return 130
    failed = next((k for k, p in enumerate(processes) if p.returncode), None)
    return 0 if failed is None else _stopped(processes, failed)


def _stopped(processes, failed):
    for p in processes:
        if p.poll() is None:
            p.send_signal(signal.SIGTERM)
    for p in processes:
        try:
            p.wait(10)
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()
    code = processes[failed].returncode or 0
    print(f"[run] local rank {failed} failed; got exit code {code}; expected 0", file=sys.stderr)
    return code if 0 < code < 256 else 1


if __name__ == "__main__":
    sys.exit(main())
