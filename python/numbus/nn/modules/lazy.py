"""Modules whose number of inputs is known from the first input that they are called with."""

from ...core.errors import message
from ...tensors import Parameter, empty, no_grad
from .convolutions import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from .normalisation import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
)
from .products import Linear


class UninitializedParameter(Parameter):
    """A parameter without a shape yet; a call of its module gives it one."""

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        made = Parameter.__new__(cls, empty((0,), device=device, dtype=dtype), requires_grad)
        return made

    @property
    def shape(self):
        raise RuntimeError(
            message("UninitializedParameter", "no shape yet", "a lazy module that was not called",
                    "a call of it with an input first")
        )  # fmt: skip

    def materialize(self, shape, device=None, dtype=None):
        """Gives it a shape; it is the same object, which optimizers may know."""
        self.__class__ = Parameter
        t = self.dtype if dtype is None else dtype
        self.data = empty(tuple(shape), device=device, dtype=t)

    def __repr__(self):
        return "<UninitializedParameter>"


def is_lazy(t):
    """Whether a parameter has no shape yet."""
    return isinstance(t, UninitializedParameter)


def _becomes(lazy, plain, size_of):
    """Makes of a module a lazy one: `size_of` says the number of inputs of an input."""

    class Made(plain):
        cls_to_become = plain

        def _wait(self, names, device, dtype):
            for name in names:
                if name in self._parameters and self._parameters[name] is not None:
                    del self._parameters[name]
                    self._parameters[name] = UninitializedParameter(device=device, dtype=dtype)
            self.__dict__["_given"] = device, dtype
            self.__dict__["_first"] = self.register_forward_pre_hook(_see)

        def has_uninitialized_params(self):
            return any(is_lazy(p) for p in self._parameters.values())

        def reset_parameters(self):
            if not any(is_lazy(p) for p in self._parameters.values()):
                plain.reset_parameters(self)

        def initialize_parameters(self, *input):
            """Gives the parameters the shapes that fit an input, and their first values."""
            if self.has_uninitialized_params():
                self._make(size_of(self, input[0]))

        def _load_own(self, state, prefix, known, missing, wrong, assign):
            if self.has_uninitialized_params() and prefix + "weight" in state:
                weight = state[prefix + "weight"]
                transposed = getattr(plain, "_transposed", False)
                if issubclass(plain, _NORMS):
                    size = weight.shape[0]
                elif transposed or plain is Linear:
                    size = weight.shape[0 if transposed else 1]
                else:
                    size = weight.shape[1] * self.groups
                self._make(size)
                self._settle()
            return plain._load_own(self, state, prefix, known, missing, wrong, assign)

        def _settle(self):
            self._first.remove()
            del self.__dict__["_first"], self.__dict__["_given"]
            self.__class__ = plain

    Made.__name__ = Made.__qualname__ = lazy
    Made.__module__ = __name__
    Made.__doc__ = f"{plain.__name__} whose number of inputs comes from the first input."
    return Made


def _see(module, args):
    module.initialize_parameters(*args)
    module._settle()


def _last(_module, x):
    return x.shape[-1]


def _channels(module, x):
    batched = module._count + 2
    if x.ndim not in (batched, batched - 1):
        raise RuntimeError(
            message(type(module).__name__, "another number of dimensions", x.ndim,
                    f"{batched - 1} or {batched}")
        )  # fmt: skip
    return x.shape[1 if x.ndim == batched else 0]


_NORMS = (
    BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d,
)  # fmt: skip


class LazyLinear(_becomes("LazyLinear", Linear, _last)):
    """Linear whose in_features is the last extent of the first input."""

    def __init__(self, out_features, bias=True, device=None, dtype=None):
        super().__init__(1, out_features, bias, device, dtype)
        self.in_features = 0
        self._wait(("weight", "bias"), device, dtype)

    def _make(self, size):
        device, dtype = self._given
        self.in_features = size
        self.weight.materialize((self.out_features, size), device, dtype)
        if self.bias is not None:
            self.bias.materialize((self.out_features,), device, dtype)
        Linear.reset_parameters(self)


def _convolution(name, plain):
    class Lazy(_becomes(name, plain, _channels)):
        def __init__(self, out_channels, kernel_size, *args, **keywords):
            # With as many channels as groups it is made; the real number comes later.
            before = 2 if not plain._transposed else 3  # stride, padding (, output_padding)
            place = before + 1 if not plain._transposed else before
            groups = keywords.get("groups", args[place] if len(args) > place else 1)
            plain.__init__(self, groups, out_channels, kernel_size, *args, **keywords)
            self.in_channels = 0
            weight = self._parameters["weight"]
            self._wait(("weight", "bias"), keywords.get("device"), weight.dtype)

        def _make(self, size):
            device, dtype = self._given
            if size % self.groups:
                raise ValueError(
                    message(name, "groups do not divide in_channels", f"{self.groups}, {size}",
                            "a divisor")
                )  # fmt: skip
            self.in_channels = size
            first, second = self.out_channels, size // self.groups
            if plain._transposed:
                first, second = size, self.out_channels // self.groups
            shape = (first, second, *self.kernel_size)
            self.weight.materialize(shape, device, dtype)
            if self.bias is not None:
                self.bias.materialize((self.out_channels,), device, dtype)
            plain.reset_parameters(self)

    Lazy.__name__ = Lazy.__qualname__ = name
    Lazy.__module__ = __name__
    Lazy.__doc__ = f"{plain.__name__} whose in_channels is that of the first input."
    return Lazy


LazyConv1d, LazyConv2d = _convolution("LazyConv1d", Conv1d), _convolution("LazyConv2d", Conv2d)
LazyConv3d = _convolution("LazyConv3d", Conv3d)
LazyConvTranspose1d = _convolution("LazyConvTranspose1d", ConvTranspose1d)
LazyConvTranspose2d = _convolution("LazyConvTranspose2d", ConvTranspose2d)
LazyConvTranspose3d = _convolution("LazyConvTranspose3d", ConvTranspose3d)


def _norm(name, plain):
    class Lazy(_becomes(name, plain, lambda _module, x: x.shape[1])):
        def __init__(
            self, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None,
            dtype=None,
        ):  # fmt: skip
            plain.__init__(
                self, 1, eps, momentum, affine, track_running_stats, device=device, dtype=dtype
            )
            self.num_features = 0
            self._wait(("weight", "bias"), device, dtype)

        def has_uninitialized_params(self):
            return "_given" in self.__dict__ and self.num_features == 0

        def _make(self, size):
            device, dtype = self._given
            made = plain(
                size, self.eps, self.momentum, self._parameters.get("weight") is not None,
                self.track_running_stats, device=device, dtype=dtype,
            )  # fmt: skip
            self.num_features = size
            self._buffers.update(made._buffers)
            for name, fresh in made._parameters.items():
                if fresh is not None:
                    self._parameters[name].materialize((size,), device, dtype)
                    with no_grad():
                        self._parameters[name].copy_(fresh)

    Lazy.__name__ = Lazy.__qualname__ = name
    Lazy.__module__ = __name__
    Lazy.__doc__ = f"{plain.__name__} whose num_features is that of the first input."
    return Lazy


LazyBatchNorm1d = _norm("LazyBatchNorm1d", BatchNorm1d)
LazyBatchNorm2d = _norm("LazyBatchNorm2d", BatchNorm2d)
LazyBatchNorm3d = _norm("LazyBatchNorm3d", BatchNorm3d)
LazyInstanceNorm1d = _norm("LazyInstanceNorm1d", InstanceNorm1d)
LazyInstanceNorm2d = _norm("LazyInstanceNorm2d", InstanceNorm2d)
LazyInstanceNorm3d = _norm("LazyInstanceNorm3d", InstanceNorm3d)
