"""torch.fft: the discrete Fourier transforms of tensors."""

from ... import fft as _fft
from ...core.errors import message as _message
from ...tensors import _dtypes
from ...tensors._arrays import floating as _floating
from ...tensors._functions import tensor_function as _tensor_function
from ...tensors.creation import finished as _finished
from .._missing import missing as _missing

_NORMS = (None, "backward", "forward", "ortho")


def _checked(op, norm):
    if norm not in _NORMS:
        raise RuntimeError(_message(op, "unknown norm", norm, "'backward', 'forward' or 'ortho'"))
    return norm


def _single(op):
    function = getattr(_fft, op)

    def body(input, n=None, dim=-1, norm=None):
        return function(_floating(input), n, dim, _checked(op, norm))

    body.__name__ = body.__qualname__ = op
    body.__doc__ = f"`numbus.fft.{op}` along a dimension."
    return _tensor_function(body)


def _several(op, usual):
    function = getattr(_fft, op)

    def body(input, s=None, dim=usual, norm=None):
        input = _floating(input)
        dim = (dim,) if isinstance(dim, int) else dim
        s = (s,) if isinstance(s, int) else s
        if s is not None and dim is None:
            dim = tuple(range(-len(s), 0))
        if s is not None:
            axes = dim
            halves = op.startswith("ir")
            s = tuple([
                input.shape[d] if k == -1 and not (halves and j == len(s) - 1) else
                2 * (input.shape[d] - 1) if k == -1 else k
                for j, (k, d) in enumerate(zip(s, axes, strict=True))
            ])  # fmt: skip
        return function(input, s, dim, _checked(op, norm))

    body.__name__ = body.__qualname__ = op
    body.__doc__ = f"`numbus.fft.{op}` along dimensions."
    return _tensor_function(body)


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    globals()[_name] = _single(_name)
for _name in ("fft2", "ifft2", "rfft2", "irfft2"):
    globals()[_name] = _several(_name, (-2, -1))
for _name in ("fftn", "ifftn", "rfftn", "irfftn"):
    globals()[_name] = _several(_name, None)


@_tensor_function
def fftshift(input, dim=None):
    """The zero frequency in the middle."""
    return _fft.fftshift(input, dim)


@_tensor_function
def ifftshift(input, dim=None):
    """What `fftshift` did, undone."""
    return _fft.ifftshift(input, dim)


def _frequencies(op):
    function = getattr(_fft, op)

    def made(n, d=1.0, *, dtype=None, device=None, requires_grad=False):
        t = _dtypes.default_float() if dtype is None else _dtypes.to_numpy(dtype)
        return _finished(function(n, d).astype(t), device, requires_grad)

    made.__name__ = made.__qualname__ = op
    made.__doc__ = f"The frequencies of `{'rfft' if op[0] == 'r' else 'fft'}`."
    return made


fftfreq, rfftfreq = _frequencies("fftfreq"), _frequencies("rfftfreq")


def __getattr__(name):
    return _missing("torch.fft", name)
