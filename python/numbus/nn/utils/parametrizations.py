"""`numbus.nn.utils.parametrizations`, and the older functions of their names that use hooks."""

from ...core.errors import message
from ...tensors import Parameter, cat, eye, linalg, matrix_exp, no_grad, norm
from .. import functional as F
from ..modules.module import Module
from .parametrize import register_parametrization

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def _length(v, dim):
    """The norms over all dimensions but one, with as many dimensions."""
    if dim is None or dim == -1:
        return norm(v)
    return norm(v, 2, tuple(k for k in range(v.ndim) if k != dim % v.ndim), keepdim=True)


class _WeightNorm(Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, weight_g, weight_v):
        return weight_v * (weight_g / _length(weight_v, self.dim))

    def right_inverse(self, weight):
        """The lengths, and the directions with lengths."""
        return _length(weight, self.dim), weight


def weight_norm(module, name="weight", dim=0):
    """Has a weight be a length times a direction (Salimans and Kingma, 2016)."""
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class _Power:
    """The power method's two vectors for the largest singular value."""

    def __init__(self, dim, n_power_iterations, eps):
        if n_power_iterations <= 0:
            raise ValueError(
                message("spectral_norm", "n_power_iterations", n_power_iterations, "above 0")
            )
        self.dim, self.n, self.eps = dim, n_power_iterations, eps

    def matrix(self, weight):
        """The weight as a matrix."""
        if self.dim != 0:
            weight = weight.movedim(self.dim, 0)
        return weight.flatten(1)

    def begin(self, matrix):
        """Random vectors, improved by 15 steps."""
        rows, columns = matrix.shape
        u = F.normalize(matrix.new_empty(rows).normal_(), dim=0, eps=self.eps)
        v = F.normalize(matrix.new_empty(columns).normal_(), dim=0, eps=self.eps)
        return u, v

    def step(self, matrix, u, v, times):
        """Changes both vectors in place."""
        with no_grad():
            for _ in range(times):
                u.copy_(F.normalize(matrix.mv(v), dim=0, eps=self.eps))
                v.copy_(F.normalize(matrix.T.mv(u), dim=0, eps=self.eps))


class _SpectralNorm(Module):
    def __init__(self, weight, n_power_iterations, dim, eps):
        super().__init__()
        self._power = _Power(dim % weight.ndim, n_power_iterations, eps)
        self._line = weight.ndim == 1
        if not self._line:
            matrix = self._power.matrix(weight.detach())
            u, v = self._power.begin(matrix)
            self.register_buffer("_u", u)
            self.register_buffer("_v", v)
            self._power.step(matrix, self._u, self._v, 15)

    def forward(self, weight):
        if self._line:
            return F.normalize(weight, dim=0, eps=self._power.eps)
        matrix = self._power.matrix(weight)
        if self.training:
            self._power.step(matrix.detach(), self._u, self._v, self._power.n)
        u, v = self._u.clone(), self._v.clone()
        return weight / u.dot(matrix.mv(v))

    def right_inverse(self, value):
        """The value: it may have been divided already."""
        return value


class _Orthogonal(Module):
    """A matrix whose columns, or rows if these are fewer, are orthonormal: a base that is
    orthogonal times what is made of the parameter."""

    def __init__(self, way, weight):
        super().__init__()
        self._way = way
        self.register_buffer("base", self._base(weight.detach()))

    def _base(self, weight):
        """An orthogonal matrix that begins with the weight's directions."""
        tall = weight.mT if weight.shape[-2] < weight.shape[-1] else weight
        n, k = tall.shape[-2:]
        if n > k:
            more = tall.new_empty((*tall.shape[:-2], n, n - k)).normal_()
            tall = cat([tall, more], -1)
        q, r = linalg.qr(tall)
        return q * r.diagonal(dim1=-2, dim2=-1).sign().unsqueeze(-2)

    def forward(self, weight):
        wide = weight.shape[-2] < weight.shape[-1]
        x = weight.mT if wide else weight
        n, k = x.shape[-2:]
        unit = eye(n, dtype=x.dtype, device=x.device)
        if self._way == "householder":
            # The product of reflections 1 - 2 v v' / v'v is 1 - V S^-1 V' of a triangular S.
            v = x.tril(-1) + unit[:, :k]
            products = v.mT @ v
            half = 0.5 * products * eye(k, dtype=x.dtype, device=x.device)
            q = unit - v @ linalg.solve(products.triu(1) + half, v.mT)
            # The diagonal says signs only: it has no derivative.
            q = q[..., :k] * x.detach().diagonal(dim1=-2, dim2=-1).sign().unsqueeze(-2)
        else:
            x = x.tril()
            if n > k:
                x = cat([x, x.new_zeros((*x.shape[:-2], n, n - k))], -1)
            a = x - x.mT
            if self._way == "matrix_exp":
                q = matrix_exp(a)
            else:
                q = linalg.solve(unit - 0.5 * a, unit + 0.5 * a)
            q = q[..., :k]
        q = self.base @ q
        return q.mT if wide else q

    def right_inverse(self, weight):
        """Takes the weight's directions as the base; the parameter begins at minus one."""
        with no_grad():
            self.base.copy_(self._base(weight.detach()))
        return -eye(*weight.shape[-2:], dtype=weight.dtype, device=weight.device).expand(
            *weight.shape
        )


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """Has a weight be orthogonal: its rows, or its columns if these are fewer, are orthonormal.

    orthogonal_map: 'matrix_exp' (square weights by default), 'cayley' or 'householder' (others).
    """
    weight = getattr(module, name)
    if weight.ndim < 2:
        raise ValueError(
            message(
                "orthogonal",
                "a weight without rows and columns",
                f"shape {tuple(weight.shape)}",
                "two dimensions or more",
            )
        )
    ways = ("matrix_exp", "cayley", "householder")
    if orthogonal_map is None:
        orthogonal_map = ways[0] if weight.shape[-2] == weight.shape[-1] else ways[2]
    if orthogonal_map not in ways:
        raise ValueError(message("orthogonal", "orthogonal_map", orthogonal_map, ", ".join(ways)))
    if weight.is_complex() or not use_trivialization:
        raise NotImplementedError(
            message("orthogonal", "complex weights and use_trivialization=False are not yet"
                    " available", (weight.dtype, use_trivialization), "real ones and True")
        )  # fmt: skip
    made = _Orthogonal(orthogonal_map, weight)
    return register_parametrization(module, name, made, unsafe=True)


def _default_dim(module, dim):
    if dim is not None:
        return dim
    transposed = getattr(module, "_transposed", False)
    return 1 if transposed else 0


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Has a weight be divided by its largest singular value (Miyato et al., 2018)."""
    weight = getattr(module, name)
    made = _SpectralNorm(weight, n_power_iterations, _default_dim(module, dim), eps)
    return register_parametrization(module, name, made)


# The older functions: a hook makes the weight before each call.


def _hooked(module, name):
    known = module.__dict__.setdefault("_weight_hooks", {})
    if name in known:
        raise RuntimeError(
            message("weight_norm", "two hooks for one parameter", name, "one weight_norm or"
                    " spectral_norm")
        )  # fmt: skip
    return known


def _plain(module, name, make):
    """Takes the parameter away and sets what `make` gives before each call."""
    known = _hooked(module, name)
    del module._parameters[name]
    object.__setattr__(module, name, make(module))
    handle = module.register_forward_pre_hook(
        lambda called, _args: object.__setattr__(called, name, make(called))
    )
    known[name] = handle


def _given_back(module, op, name, value, names):
    known = module.__dict__.get("_weight_hooks", {})
    if name not in known:
        raise ValueError(message(op, f"{op[7:]} of no parameter of that name", name, "one that is"))
    known.pop(name).remove()
    object.__delattr__(module, name)
    for each in names:
        delattr(module, each)
    module.register_parameter(name, Parameter(value))
    return module


def hooked_weight_norm(module, name="weight", dim=0):
    """`torch.nn.utils.weight_norm`: parameters `name_g` (lengths) and `name_v` (directions)."""
    weight = getattr(module, name)
    module.register_parameter(name + "_g", Parameter(_length(weight.detach(), dim)))
    module.register_parameter(name + "_v", Parameter(weight.detach().clone()))

    def make(of):
        v = getattr(of, name + "_v")
        return v * (getattr(of, name + "_g") / _length(v, dim))

    _plain(module, name, make)
    return module


def remove_weight_norm(module, name="weight"):
    """Has the weight be a parameter again."""
    value = module.__dict__[name].detach() if name in module.__dict__ else None
    return _given_back(module, "remove_weight_norm", name, value, (name + "_g", name + "_v"))


def hooked_spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """`torch.nn.utils.spectral_norm`: a parameter `name_orig`, buffers `name_u` and `name_v`."""
    weight = getattr(module, name)
    power = _Power(_default_dim(module, dim), n_power_iterations, eps)
    u, v = power.begin(power.matrix(weight.detach()))
    module.register_parameter(name + "_orig", weight)
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)

    def make(of, counts=True):
        w = getattr(of, name + "_orig")
        matrix = power.matrix(w)
        u, v = getattr(of, name + "_u"), getattr(of, name + "_v")
        if of.training and counts:
            with no_grad():
                for _ in range(power.n):
                    v.copy_(F.normalize(matrix.detach().T.mv(u), dim=0, eps=eps))
                    u.copy_(F.normalize(matrix.detach().mv(v), dim=0, eps=eps))
        u, v = u.clone(), v.clone()
        return w / u.dot(matrix.mv(v))

    known = _hooked(module, name)
    del module._parameters[name]
    object.__setattr__(module, name, weight.detach())
    known[name] = module.register_forward_pre_hook(
        lambda called, _args: object.__setattr__(called, name, make(called))
    )
    return module


def remove_spectral_norm(module, name="weight"):
    """Has the weight be a parameter again."""
    w = getattr(module, name + "_orig").detach()
    matrix = w.flatten(1)
    if getattr(module, "_transposed", False):
        matrix = w.movedim(1, 0).flatten(1)
    u, v = getattr(module, name + "_u"), getattr(module, name + "_v")
    value = w / u.dot(matrix.mv(v))
    names = (name + "_orig", name + "_u", name + "_v")
    return _given_back(module, "remove_spectral_norm", name, value, names)
