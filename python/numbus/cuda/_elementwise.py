"""cuda.vectorize and cuda.guvectorize: those of the package, as kernels."""

from ..kernels import _guvectorize, _vectorize

__all__ = ["guvectorize", "vectorize"]


def vectorize(*args, **options):
    """numbus.vectorize with target='cuda'."""
    return _vectorize.vectorize(*args, **{**options, "target": "cuda"})


def guvectorize(*args, **options):
    """numbus.guvectorize with target='cuda'."""
    return _guvectorize.guvectorize(*args, **{**options, "target": "cuda"})
