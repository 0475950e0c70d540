"""Training in DistributedDataParallel: one process, then two, which agree on their weights."""

import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def work(rank, count, port):
    os.environ.update(MASTER_ADDR="localhost", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=count)
    torch.manual_seed(rank)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(6, 4), nn.ReLU(), nn.Linear(4, 2)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(torch.randn(8, 6)), torch.ones(8, 2)).backward()
        optimizer.step()
    first = next(iter(model.parameters())).detach().clone()
    total = first.clone()
    dist.all_reduce(total)
    assert torch.allclose(total, count * first)
    if rank == 0:
        torch.save(model.state_dict(), f"weights{count}.pt")
    dist.barrier()
    model.load_state_dict(torch.load(f"weights{count}.pt", map_location="cpu"))
    dist.destroy_process_group()


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 29517
    for count in (1, 2):
        mp.spawn(work, args=(count, port + count), nprocs=count, join=True)
    print("done")
