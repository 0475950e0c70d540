"""torch.compile of functions and modules, in each of the ways to ask for it."""

import torch


def wave(x, y):
    return torch.sin(x) + torch.cos(y)


@torch.compile
def decorated(x, y):
    return wave(x, y)


class Line(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(100, 10)

    def forward(self, x):
        return torch.relu(self.inner(x))


x = torch.randn(10, 100)
assert torch.equal(torch.compile(wave)(x, x), decorated(x, x))
module = Line()
plain = module(x)
module.compile()
assert torch.equal(module(x), plain)
fast = torch.compile(module, mode="reduce-overhead", fullgraph=True)
torch.compiler.reset()
print(fast(x).shape)
