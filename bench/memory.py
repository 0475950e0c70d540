"""Memory of a GPU shared with PyTorch, and arrays that are larger than it together.

    python bench/memory.py                                  8 arrays of 1 GB, limit 4 GB
    python bench/memory.py --arrays 6 --gb 32 --limit 0     without a limit: of a card of 141 GB

Prints what was measured; ends with an error where a value is wrong or PyTorch gets no memory.
"""

import argparse
import time

import numbus as nb

GB = 10**9


def stats(device):
    return {k: v / GB for k, v in nb.cuda.memory_stats(device).items()}


def neighbour(device):
    """PyTorch asks for 90 % of the card a second after an array of half of it was deleted."""
    total = nb.cuda.memory_stats(device)["limit"]
    x = nb.ones(total // 8, dtype="float32") * 2  # 4 bytes each
    nb.cuda.synchronize()
    print(f"an array of {x.nbytes / GB:.1f} GB of a card of {total / GB:.1f} GB")
    del x
    pooled = stats(device)["pooled_bytes"]
    time.sleep(1.2)
    after = stats(device)["pooled_bytes"]
    print(f"idle at the del: {pooled:.2f} GB; 1.2 s later: {after:.2f} GB")
    assert after * GB <= max(256 << 20, total // 16), "the pool keeps more than a tenth"
    try:
        import torch
    except ImportError:
        print("no PyTorch here")
        return
    wanted = total // 10 * 9
    start = time.perf_counter()
    t = torch.empty(wanted, dtype=torch.uint8, device=device)
    torch.cuda.synchronize()
    print(f"PyTorch got {t.numel() / GB:.1f} GB in {time.perf_counter() - start:.3f} s")
    del t
    torch.cuda.empty_cache()


def spilling(device, count, each, limit):
    """Replaces each array by twice itself and one, which needs room for its result."""
    nb.cuda.set_limit(int(limit * GB), device)
    n = int(each * GB) // 4
    before = nb.stats()
    start = time.perf_counter()
    arrays = [nb.full(n, float(k), dtype="float32") for k in range(count)]
    values = [float(k) for k in range(count)]
    nb.cuda.synchronize()
    took = time.perf_counter() - start
    print(f"{count} arrays of {each} GB, limit {limit} GB: made in {took:.2f} s")
    for iteration in range(3):
        start = time.perf_counter()
        for k in range(count):
            arrays[k] = arrays[k] * 2 + 1
            values[k] = values[k] * 2 + 1
            nb.cuda.synchronize()
        took = time.perf_counter() - start
        s = stats(device)
        there, away = s["used_bytes"], s["spilled_bytes"]
        print(f"iteration {iteration}: {took:.2f} s; {there:.2f} GB there, {away:.2f} GB away")
    for a in arrays:  # one window of all
        a += 1
    for a, value in zip(arrays, values, strict=True):
        assert float(a.min()) == float(a.max()) == value + 1
    now = nb.stats()
    moved = (now["spilled_bytes"] - before["spilled_bytes"]) / GB
    print(f"values are right; {now['spills'] - before['spills']} spills, {moved:.1f} GB, "
          f"{now['brought_back'] - before['brought_back']} brought back")  # fmt: skip
    try:
        nb.cuda.synchronize()
        float(nb.ones(nb.cuda.memory_stats(device)["limit"] // 4 + n, dtype="float32")[0])
    except MemoryError as e:
        print(e)
    nb.cuda.set_limit(0, device)
    del arrays, a
    nb.cuda.trim(device)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--arrays", type=int, default=8)
    p.add_argument("--gb", type=float, default=1)
    p.add_argument("--limit", type=float, default=4, help="GB; 0: the card's memory")
    p.add_argument("--device", default="cuda:0")
    p.add_argument("--no-torch", action="store_true", help="only the arrays")
    a = p.parse_args()
    with nb.device(a.device):
        if not a.no_torch:
            neighbour(a.device)
        spilling(a.device, a.arrays, a.gb, a.limit)


if __name__ == "__main__":
    main()
