"""`numbus.nn.utils.parametrize`: parameters that are functions of others, made anew at each use."""

import contextlib
import copy

from ...core.errors import message
from ...tensors import Parameter, Tensor, no_grad
from ..modules.containers import ModuleDict, ModuleList

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization",
    "remove_parametrizations",
]  # fmt: skip

_cache = {"blocks": 0, "made": {}}


@contextlib.contextmanager
def cached():
    """A block in which a parameter that is made of others is made once."""
    _cache["blocks"] += 1
    try:
        yield
    finally:
        _cache["blocks"] -= 1
        if _cache["blocks"] == 0:
            _cache["made"] = {}


class ParametrizationList(ModuleList):
    """The functions that make a parameter, one after the other, and what they make it of."""

    def __init__(self, modules, original, unsafe=False):
        super().__init__(modules)
        self.unsafe = unsafe
        made = original
        with no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    made = module.right_inverse(made)
        self.is_tensor = isinstance(made, Tensor)
        every = [made] if self.is_tensor else list(made)
        self.ntensors = len(every)
        for k, t in enumerate(every):
            name = "original" if self.is_tensor else f"original{k}"
            if self.is_tensor and isinstance(original, Parameter):
                # The same parameter, which optimizers may know.
                if t is not original:
                    with no_grad():
                        original.data = t.detach()
                t = original
            if isinstance(original, Parameter):
                kept = t if isinstance(t, Parameter) else Parameter(t, original.requires_grad)
                self.register_parameter(name, kept)
            else:
                self.register_buffer(name, t)

    def forward(self):
        """The parameter."""
        first, *rest = list(self)
        if self.is_tensor:
            made = first(self.original)
        else:
            made = first(*[getattr(self, f"original{k}") for k in range(self.ntensors)])
        for module in rest:
            made = module(made)
        return made


def is_parametrized(module, tensor_name=None):
    """Whether a parameter, or any, of a module is made of others."""
    known = module._modules.get("parametrizations")
    if not isinstance(known, ModuleDict):
        return False
    return len(known) > 0 if tensor_name is None else tensor_name in known


def _property(name):
    def get(self):
        known = self._modules["parametrizations"][name]
        if not _cache["blocks"]:
            return known()
        key = id(self), name
        if key not in _cache["made"]:
            _cache["made"][key] = known()
        return _cache["made"][key]

    def put(self, value):
        known = self._modules["parametrizations"][name]
        with no_grad():
            made = value
            for module in reversed(list(known)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        message("parametrize", f"{name} cannot be assigned", type(module).__name__,
                                "a method right_inverse")
                    )  # fmt: skip
                made = module.right_inverse(made)
            every = [made] if known.is_tensor else list(made)
            for k, t in enumerate(every):
                target = known.original if known.is_tensor else getattr(known, f"original{k}")
                target.data = t.detach()

    return property(get, put)


def _class_of(module):
    """A class of the module's own, for its properties."""
    cls = type(module)
    if "_is_parametrized" in vars(cls):
        return cls

    def deepcopy(self, memo):
        if id(self) in memo:
            return memo[id(self)]
        made = self.__new__(type(self))
        memo[id(self)] = made
        made.__dict__ = copy.deepcopy(self.__dict__, memo)
        return made

    def unpicklable(self):
        raise RuntimeError(
            message("parametrize", "modules with parametrizations are not pickled", cls.__name__,
                    "state_dict()")
        )  # fmt: skip

    fields = {"_is_parametrized": True, "__deepcopy__": deepcopy, "__getstate__": unpicklable}
    made = type("Parametrized" + cls.__name__, (cls,), fields)

    # Modules set and get attributes themselves: properties come first.
    def setattr_(self, name, value):
        if isinstance(getattr(type(self), name, None), property):
            object.__setattr__(self, name, value)
        else:
            cls.__setattr__(self, name, value)

    made.__setattr__ = setattr_
    module.__class__ = made
    return made


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """Has a parameter or buffer of a module be what a module makes of it.

    A second one is applied to what the first makes. The module's `right_inverse`, if it has one,
    says what the parameter is made of at first; it may give several tensors. Raises ValueError for
    other shapes and dtypes, unless `unsafe`.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        known = module._modules["parametrizations"][tensor_name]
        if hasattr(parametrization, "right_inverse"):
            with no_grad():
                made = parametrization.right_inverse(known())
            if not isinstance(made, Tensor):
                raise ValueError(
                    message("register_parametrization", "right_inverse of a second one gives"
                            " several tensors", type(made).__name__, "one")
                )  # fmt: skip
            known.append(parametrization)
            setattr(module, tensor_name, parametrization(made))
        else:
            known.append(parametrization)
        return module
    given = module._parameters.get(tensor_name, module._buffers.get(tensor_name))
    if given is None:
        raise ValueError(
            message("register_parametrization", "no such parameter or buffer", tensor_name,
                    ", ".join([*module._parameters, *module._buffers]))
        )  # fmt: skip
    shape, dtype = tuple(given.shape), given.dtype
    made = ParametrizationList([parametrization], given, unsafe)
    if not unsafe:
        with no_grad():
            value = made()
        if tuple(value.shape) != shape or value.dtype != dtype:
            raise ValueError(
                message("register_parametrization", "another shape or dtype",
                        f"{tuple(value.shape)}, {value.dtype}", f"{shape}, {dtype}")
            )  # fmt: skip
    module._parameters.pop(tensor_name, None)
    module._buffers.pop(tensor_name, None)
    cls = _class_of(module)
    if "parametrizations" not in module._modules:
        module._modules["parametrizations"] = ModuleDict()
    module._modules["parametrizations"][tensor_name] = made
    setattr(cls, tensor_name, _property(tensor_name))
    return module


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Has a parameter be one of its own again, with the present value or the original one."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(
            message("remove_parametrizations", "not parametrized", tensor_name, "one that is")
        )
    every = module._modules["parametrizations"]
    known = every[tensor_name]
    if leave_parametrized:
        with no_grad():
            value = known()
        if known.is_tensor and isinstance(known.original, Parameter):
            original = known.original
            original.data = value.detach()
        else:
            original = Parameter(value) if known._parameters else value
    elif known.is_tensor:
        original = known.original
    else:
        raise ValueError(
            message("remove_parametrizations", "the original is several tensors", tensor_name,
                    "leave_parametrized=True")
        )  # fmt: skip
    delattr(type(module), tensor_name)
    del every[tensor_name]
    if len(every) == 0:
        del module._modules["parametrizations"]
        module.__class__ = type(module).__bases__[0]
    if isinstance(original, Parameter):
        module.register_parameter(tensor_name, original)
    else:
        module.register_buffer(tensor_name, original)
    return module
