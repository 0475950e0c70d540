"""cuda.vectorize and cuda.guvectorize: those of the package, as kernels."""

from .. import kernels

__all__ = ["guvectorize", "vectorize"]


def vectorize(*args, **options):
    """numbus.vectorize with target='cuda'."""
    return kernels.vectorize(*args, **{**options, "target": "cuda"})


def guvectorize(*args, **options):
    """numbus.guvectorize with target='cuda'."""
    return kernels.guvectorize(*args, **{**options, "target": "cuda"})
