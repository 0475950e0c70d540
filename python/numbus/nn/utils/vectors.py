"""Parameters as one vector."""

from ...core.errors import message
from ...tensors import cat, no_grad


def parameters_to_vector(parameters):
    """All elements of the parameters as one line."""
    return cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    """Stores a line of elements in parameters, in their order. ValueError for another number."""
    at, every = 0, list(parameters)
    total = sum(p.numel() for p in every)
    if vec.numel() != total:
        raise ValueError(message("vector_to_parameters", "elements", vec.numel(), total))
    with no_grad():
        for p in every:
            p.copy_(vec[at : at + p.numel()].reshape(tuple(p.shape)))
            at += p.numel()
