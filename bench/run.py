"""The benchmarks, peers beside Numbus in the same run.

    python bench/run.py                          every workload on the default device
    python bench/run.py heat std --peers numpy,numba --json out.json
    python bench/run.py --device cuda            peers: CuPy, PyTorch, JAX, Numba CUDA
    python bench/run.py --quick                  small sizes: a test of the benchmarks themselves

Each library runs in a process of its own. Time is a median; in brackets the quartiles. Limit: the
fraction of what the machine could do (copy bandwidth, BLAS rate), measured in the same run.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import common  # noqa: E402

NAMES = "chain chain_sum sincos std smooth heat mandelbrot distance sum scalar record startup"


def find(names: list[str], quick: bool):
    """(module, workload or None) for each name; a module without `workloads` measures itself."""
    for name in names:
        module = importlib.import_module("heat" if name == "heat256" else name)
        if not hasattr(module, "workloads"):
            yield name, module, None
            continue
        for workload in module.workloads(quick):
            if name in (workload.name, module.__name__):
                yield workload.name, module, workload


def worker(args) -> int:
    """Run one library on one workload in this process; the result is the last line of output."""
    for name, module, workload in find([args.worker[0]], args.quick):
        if name != args.worker[0]:
            continue
        if workload is None:
            out = module.measure(args.worker[1], args.quick)
        else:
            seconds = 0.2 if args.quick else args.seconds
            out = common.run_library(workload, args.worker[1], args.reference, seconds)
        print("\n" + json.dumps(out), flush=True)
    return 0


def call(args, name: str, library: str, reference: str) -> dict:
    command = [sys.executable, __file__, "--worker", name, library, "--reference", reference]
    command += ["--device", args.device, "--seconds", str(args.seconds)]
    command += ["--quick"] if args.quick else []
    env = {**os.environ, "NUMBUS_BENCH_DEVICE": args.device}
    env.update(OMP_WAIT_POLICY="passive", XLA_PYTHON_CLIENT_PREALLOCATE="false")
    if args.device != "default":
        env["NUMBUS_DEVICE"] = args.device
        env["JAX_PLATFORMS"] = "cuda" if args.device.startswith("cuda") else "cpu"
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env=env, timeout=args.timeout
        )
    except subprocess.TimeoutExpired:
        return {"error": f"more than {args.timeout:.0f} s"}
    lines = done.stdout.strip().split("\n")
    try:
        return json.loads(lines[-1])
    except ValueError:
        last = (done.stderr.strip().split("\n") or ["?"])[-1]
        if "ModuleNotFoundError" in last or "ImportError" in last:
            return {"skipped": last.split("Error: ")[-1]}
        return {"error": f"status {done.returncode}: {last}"}


def seconds(t: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if t * factor >= 1:
            return f"{t * factor:.3g} {unit}"
    return f"{t * 1e9:.3g} ns"


def verdict(workload, ours: float, times: dict, device: str) -> list[str]:
    """How the targets of the issue are met."""
    out = []
    if device.startswith("cuda"):
        if workload.gpu_ms:
            met = (
                "met"
                if ours * 1e3 <= workload.gpu_ms
                else f"missed by {ours * 1e3 / workload.gpu_ms:.2f}×"
            )
            out.append(f"target ≤ {workload.gpu_ms} ms: {met}")
        return out
    for peer, factor in workload.cpu:
        theirs = times.get(peer)
        if peer == "best":
            theirs = min(times.values(), default=None)
        if theirs is None:
            continue
        ratio = theirs / ours
        met = "met" if ratio >= factor else f"missed by {factor / ratio:.2f}×"
        out.append(f"target ≥ {factor:g}× {peer}: {ratio:.2f}×, {met}")
    return out


def show(name, workload, found: dict, limits: dict, args) -> dict:
    """Print one workload; returns what goes into the JSON."""
    least = common.shortest(workload, limits)
    print(f"\n{workload.title}   [moves {workload.bytes / 1e6:.0f} MB, {workload.flops:.2g} flops"
          + (f", limit {seconds(least)}]" if least else "]"))  # fmt: skip
    ours = found.get("numbus", {}).get("median")
    times = {k: v["median"] for k, v in found.items() if k != "numbus" and "median" in v}
    for library, r in found.items():
        if "median" not in r:
            reason = r.get("error") or r.get("wrong") or f"skipped: {r.get('skipped')}"
            print(f"  {library:14} {reason}")
            continue
        line = (
            f"  {library:14} {seconds(r['median']):>9}  [{seconds(r['low'])}, {seconds(r['high'])}]"
        )
        if ours and library != "numbus":
            line += f"  {r['median'] / ours:6.2f}× Numbus"
        if least:
            line += f"  {100 * least / r['median']:5.1f} % of the limit"
        if "ulp" in r:
            line += f"  {r['ulp']:.1f} ULP"
        print(line)
    verdicts = verdict(workload, ours, times, args.device) if ours else []
    for v in verdicts:
        print(f"  {v}")
    sys.stdout.flush()
    return {"title": workload.title, "bytes": workload.bytes, "flops": workload.flops,
            "limit": least, "libraries": found, "targets": verdicts}  # fmt: skip


def show_micro(name, module, found: dict) -> dict:
    print(f"\n{name}: {module.__doc__.splitlines()[0]}")
    rows = next((list(r) for r in found.values() if "error" not in r and "skipped" not in r), [])
    verdicts = []
    for library, r in found.items():
        if "error" in r or "skipped" in r:
            print(f"  {library:10} {r.get('error') or r.get('skipped')}")
    good = {k: r for k, r in found.items() if "error" not in r and "skipped" not in r}
    for row in rows:
        values = "  ".join(f"{k} {r[row]:.3g} {module.UNIT}" for k, r in good.items() if row in r)
        line = f"  {row:30} {values}"
        if row in module.TARGETS and "numbus" in good:
            kind, limit = module.TARGETS[row]
            ours = good["numbus"][row]
            if kind.startswith("times"):
                ours /= good["numpy"][row]
            met = "met" if ours <= limit else f"missed by {ours / limit:.2f}×"
            line += f"   target {limit:g} {kind}: {met}"
            verdicts.append(f"{row}: {ours:.3g}, target {limit:g} {kind}: {met}")
        print(line)
    sys.stdout.flush()
    return {"libraries": found, "targets": verdicts, "unit": module.UNIT}


def machine() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
        name = next(l.split(": ")[1] for l in text.split("\n") if l.startswith("model name"))
    except (OSError, StopIteration):
        name = platform.processor()
    return f"{name}, {len(os.sched_getaffinity(0))} cores"


def gpu_name() -> str:
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(query, capture_output=True, text=True).stdout.strip().split("\n")[0]
    except OSError:
        return "no GPU"


def markdown(report: dict) -> str:
    """The table of a run for docs/performance.md."""
    limits = report["limits"]
    lines = [f"{report['date']}, {report['machine']}, device {report['device']}"]
    if limits:
        lines[0] += f"; copy {limits['copy'] / 1e9:.1f} GB/s, read {limits['read'] / 1e9:.1f} GB/s"
    lines += ["", "| workload | Numbus | of the limit | peers | target |", "|---|---|---|---|---|"]
    for entry in report["workloads"].values():
        found = {k: v for k, v in entry["libraries"].items() if "median" in v}
        if "title" not in entry or "numbus" not in found:
            continue
        ours = found["numbus"]["median"]
        share = f"{100 * entry['limit'] / ours:.0f} %" if entry["limit"] else ""
        peers = ", ".join(
            f"{k} {seconds(v['median'])} ({v['median'] / ours:.2f}×)"
            for k, v in found.items()
            if k != "numbus"
        )
        row = [entry["title"], seconds(ours), share, peers, "; ".join(entry["targets"])]
        lines.append("| " + " | ".join(row) + " |")
    lines += ["", "| host cost | Numbus | beside it | target |", "|---|---|---|---|"]
    for entry in report["workloads"].values():
        ours = entry["libraries"].get("numbus", {})
        if "title" in entry or "error" in ours or "skipped" in ours:
            continue
        unit = entry["unit"]
        for row, value in ours.items():
            others = ", ".join(
                f"{k} {v[row]:.3g} {unit}"
                for k, v in entry["libraries"].items()
                if k != "numbus" and row in v
            )
            target = next((t.split(", ", 1)[1] for t in entry["targets"] if t.startswith(row)), "")
            lines.append(f"| {row} | {value:.3g} {unit} | {others} | {target} |")
    return "\n".join(lines) + "\n"


def main(argv=None) -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("names", nargs="*", default=None, help=f"of: {NAMES}")
    p.add_argument("--device", default=os.environ.get("NUMBUS_DEVICE", "cpu"))
    p.add_argument("--peers", help="names with commas; default: all of the device")
    p.add_argument("--json", help="also write the results here")
    p.add_argument("--markdown", help="also write the table here")
    p.add_argument("--quick", action="store_true")
    p.add_argument("--seconds", type=float, default=1.5, help="time for the samples of one library")
    p.add_argument("--timeout", type=float, default=600.0)
    p.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    p.add_argument("--reference", help=argparse.SUPPRESS)
    args = p.parse_args(argv)
    os.environ["NUMBUS_BENCH_DEVICE"] = args.device
    if args.worker:
        return worker(args)
    gpu = args.device.startswith("cuda")
    peers = args.peers.split(",") if args.peers else common.GPU_PEERS if gpu else common.CPU_PEERS
    limits = common.machine_limits(args.device, args.quick)
    where = f"{machine()}; {gpu_name()}" if gpu else machine()
    report = {
        "date": datetime.date.today().isoformat(),
        "machine": where,
        "device": args.device,
        "limits": limits,
        "quick": args.quick,
        "workloads": {},
    }
    print(f"{report['date']}  {where}")
    if limits:
        print(f"copy {limits['copy'] / 1e9:.1f} GB/s, read {limits['read'] / 1e9:.1f} GB/s, "
              f"BLAS {limits['blas'] / 1e9:.0f} GFLOP/s")  # fmt: skip
    for name, module, workload in find(args.names or NAMES.split(), args.quick):
        with tempfile.TemporaryDirectory() as folder:
            reference = str(Path(folder) / "numpy.npz")
            if workload is None:
                known = [x for x in module.PEERS if x in ("numpy", "numbus") or x in peers]
                found = {x: call(args, name, x, reference) for x in known}
                report["workloads"][name] = show_micro(name, module, found)
                continue
            order = ["numpy", "numbus"] + [x for x in peers if x not in ("numpy", "numbus")]
            known = [x for x in order if x in ("numpy", "numbus", "cupy") or x in workload.programs]
            found = {x: call(args, name, x, reference) for x in known}
            report["workloads"][name] = show(name, workload, found, limits, args)
    if args.json:
        Path(args.json).write_text(json.dumps(report, indent=1) + "\n")
    if args.markdown:
        Path(args.markdown).write_text(markdown(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
