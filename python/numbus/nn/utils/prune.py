"""`numbus.nn.utils.prune`: parameters of which a mask sets elements to zero."""

import numbers

from ...core.errors import message
from ...tensors import Tensor, cat, no_grad, norm, ones_like, rand, topk

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured",
    "PruningContainer", "RandomStructured", "RandomUnstructured", "custom_from_mask",
    "global_unstructured", "identity", "is_pruned", "l1_unstructured", "ln_structured",
    "random_structured", "random_unstructured", "remove",
]  # fmt: skip


def _checked(amount):
    """The amount: a share from 0 to 1 as a float, or a number of elements as an int."""
    if not isinstance(amount, numbers.Real):
        raise TypeError(message("prune", "amount is not a number", type(amount).__name__,
                                "an int or a float"))  # fmt: skip
    if amount < 0 or (not isinstance(amount, numbers.Integral) and not amount <= 1):
        raise ValueError(
            message("prune", "amount is out of range", amount, "an int from 0 on or a float within"
                    " [0, 1]")
        )  # fmt: skip
    return amount


def _count(amount, size):
    """How many of `size` elements go."""
    if not isinstance(amount, numbers.Integral):
        return round(amount * size)
    if amount > size:
        raise ValueError(message("prune", "amount exceeds the elements that are left", amount,
                                 f"at most {size}"))  # fmt: skip
    return amount


def _without(mask, chosen):
    """A copy of the mask that is zero at these positions of its elements in a row."""
    flat = mask.clone().reshape(-1)
    flat[chosen] = 0
    return flat.reshape(mask.shape)


def _axis(t, dim):
    if t.ndim < 2:
        raise ValueError(
            message("prune", "channels need two dimensions", f"shape {tuple(t.shape)}",
                    "two dimensions or more, or an unstructured method")
        )  # fmt: skip
    if not -t.ndim <= dim < t.ndim:
        raise IndexError(message("prune", "dim is out of range", dim, f"{-t.ndim} to {t.ndim - 1}"))
    return dim % t.ndim


def _channels(mask, dim, kept):
    """The mask, zero in channels other than the kept ones."""
    within = mask.new_zeros(mask.shape[dim])
    within[kept] = 1
    shape = [1] * mask.ndim
    shape[dim] = -1
    return mask * within.reshape(shape)


class BasePruningMethod:
    """A way to choose what goes: `compute_mask(t, default_mask)` and `PRUNING_TYPE`.

    It is a hook of the module, which masks the parameter `name_orig` before each call.
    """

    PRUNING_TYPE = "unstructured"
    _tensor_name = None

    def __call__(self, module, _inputs):
        object.__setattr__(module, self._tensor_name, self.apply_mask(module))

    def compute_mask(self, t, default_mask):
        """The mask of numbers of these importances."""
        raise NotImplementedError(
            message("prune", "no compute_mask", type(self).__name__, "a method of that name")
        )

    def apply_mask(self, module):
        """The parameter times its mask."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(message("prune", "the module is not pruned", None, "apply"))
        mask, original = getattr(module, name + "_mask"), getattr(module, name + "_orig")
        return mask.to(original.dtype) * original

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        """Prunes a parameter, and says how as the method that is its hook from now on."""
        method = cls(*args, **kwargs)
        method._tensor_name = name
        old = _hooks(module, name)
        value = getattr(module, name)
        if not isinstance(value, Tensor) or (not old and name not in module._parameters):
            raise AttributeError(message("prune", "no such parameter", name,
                                         ", ".join(module._parameters)))  # fmt: skip
        scores = value if importance_scores is None else importance_scores
        if tuple(scores.shape) != tuple(value.shape):
            raise ValueError(message("prune", "importance_scores of another shape",
                                     tuple(scores.shape), tuple(value.shape)))  # fmt: skip
        with no_grad():
            if old:
                container = PruningContainer(*[hook for _key, hook in old])
                container.add_pruning_method(method)
                method, default = container, getattr(module, name + "_mask").clone()
            else:
                default = ones_like(value.detach())
            mask = method.compute_mask(scores.detach(), default)
        if tuple(mask.shape) != tuple(value.shape):
            raise ValueError(message("prune", "a mask of another shape", tuple(mask.shape),
                                     tuple(value.shape)))  # fmt: skip
        for key, _hook in old:
            del module._forward_pre_hooks[key]
        if not old:
            del module._parameters[name]
            module.register_parameter(name + "_orig", value)
        module.register_buffer(name + "_mask", mask)
        object.__setattr__(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        """A tensor times the mask that this method gives it."""
        scores = t if importance_scores is None else importance_scores
        if tuple(scores.shape) != tuple(t.shape):
            raise ValueError(message("prune", "importance_scores of another shape",
                                     tuple(scores.shape), tuple(t.shape)))  # fmt: skip
        with no_grad():
            default = ones_like(t.detach()) if default_mask is None else default_mask
            mask = self.compute_mask(scores.detach(), default)
        return t * mask

    def remove(self, module):
        """Makes the masked value the parameter."""
        name = self._tensor_name
        original = module._parameters[name + "_orig"]
        with no_grad():
            original.data = self.apply_mask(module).detach()
        object.__delattr__(module, name)
        delattr(module, name + "_orig")
        delattr(module, name + "_mask")
        module.register_parameter(name, original)


class PruningContainer(BasePruningMethod):
    """Methods that came one after the other, each applied to what the others left."""

    def __init__(self, *args):
        self._pruning_methods = ()
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method):
        """Adds a method for the same parameter."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(message("PruningContainer", "not a pruning method",
                                    type(method).__name__, "a BasePruningMethod"))  # fmt: skip
        if self._pruning_methods and method._tensor_name != self._tensor_name:
            raise ValueError(message("PruningContainer", "a method of another parameter",
                                     method._tensor_name, self._tensor_name))  # fmt: skip
        self._tensor_name = method._tensor_name
        inner = method._pruning_methods if isinstance(method, PruningContainer) else (method,)
        self._pruning_methods += tuple(inner)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, index):
        return self._pruning_methods[index]

    def compute_mask(self, t, default_mask):
        """The mask of the last method, of what the mask so far leaves."""
        method = self._pruning_methods[-1]
        mask = default_mask
        if method.PRUNING_TYPE == "global":
            part = slice(None)
        elif method.PRUNING_TYPE == "unstructured":
            part = mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = _axis(t, method.dim)
            others = tuple(k for k in range(t.ndim) if k != dim)
            part = (*[slice(None)] * dim, (mask.sum(others) != 0).nonzero().reshape(-1))
        else:
            raise ValueError(
                message(
                    "PruningContainer",
                    "unknown PRUNING_TYPE",
                    method.PRUNING_TYPE,
                    "unstructured, structured or global",
                )
            )
        made = mask.clone()
        made[part] = method.compute_mask(t[part], mask[part]).to(mask.dtype)
        return made


class Identity(BasePruningMethod):
    """Nothing goes, but the parameter has a mask."""

    def compute_mask(self, t, default_mask):
        """The mask as it is."""
        return default_mask


class RandomUnstructured(BasePruningMethod):
    """Elements go at random."""

    def __init__(self, amount):
        self.amount = _checked(amount)

    def _order(self, t):
        return rand(t.numel(), device=t.device)

    def compute_mask(self, t, default_mask):
        """The mask without the elements that come first."""
        count = _count(self.amount, t.numel())
        if count == 0:
            return default_mask.clone()
        return _without(default_mask, topk(self._order(t), count, largest=False).indices)


class L1Unstructured(RandomUnstructured):
    """The elements of the least magnitudes go."""

    def _order(self, t):
        return t.abs().reshape(-1)


class RandomStructured(BasePruningMethod):
    """Channels along a dimension go at random."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount, dim=-1):
        self.amount, self.dim = _checked(amount), dim

    def _order(self, t, dim):
        return rand(t.shape[dim], device=t.device)

    def compute_mask(self, t, default_mask):
        """The mask without the channels that come first."""
        dim = _axis(t, self.dim)
        size = t.shape[dim]
        count = _count(self.amount, size)
        if count == 0:
            return default_mask.clone()
        kept = topk(self._order(t, dim), size - count).indices
        return _channels(default_mask, dim, kept)


class LnStructured(RandomStructured):
    """The channels of the least norms go."""

    def __init__(self, amount, n, dim=-1):
        super().__init__(amount, dim)
        self.n = n

    def _order(self, t, dim):
        return norm(t, self.n, tuple(k for k in range(t.ndim) if k != dim))


class CustomFromMask(BasePruningMethod):
    """A mask that is given."""

    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        """What both masks keep."""
        return default_mask * self.mask.to(default_mask.device).to(default_mask.dtype)


def _hooks(module, name):
    """The keys and methods of a module's parameter."""
    return [
        (key, hook)
        for key, (hook, _keywords) in module._forward_pre_hooks.items()
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
    ]


def identity(module, name):
    """Gives a parameter a mask of ones."""
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    """Sets elements to zero at random."""
    RandomUnstructured.apply(module, name, amount=amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    """Sets the elements of the least magnitudes to zero."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    """Sets channels along a dimension to zero at random."""
    RandomStructured.apply(module, name, amount=amount, dim=dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    """Sets the channels of the least norms of order `n` along a dimension to zero."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module, name, mask):
    """Sets to zero where a mask is zero."""
    CustomFromMask.apply(module, name, mask=mask)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    """Applies an unstructured method to the elements of several parameters, all in a row.

    parameters: pairs of a module and a parameter's name.
    """
    pairs = list(parameters)
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(message("global_unstructured", "a method of channels",
                                method.PRUNING_TYPE, "an unstructured method"))  # fmt: skip
    method._tensor_name = "all"
    given = importance_scores or {}
    values = [getattr(module, name) for module, name in pairs]
    with no_grad():
        scores = [given.get(p, v).detach().reshape(-1) for p, v in zip(pairs, values, strict=True)]
        old = [getattr(m, n + "_mask", None) for m, n in pairs]
        masks = [
            ones_like(v.detach()).reshape(-1) if mask is None else mask.reshape(-1)
            for mask, v in zip(old, values, strict=True)
        ]
        made = PruningContainer(method).compute_mask(cat(scores), cat(masks))
    first = 0
    for (module, name), value in zip(pairs, values, strict=True):
        size = value.numel()
        custom_from_mask(module, name, made[first : first + size].reshape(value.shape))
        first += size


def remove(module, name):
    """Makes the masked value of a parameter the parameter; the zeros stay."""
    for key, hook in _hooks(module, name):
        del module._forward_pre_hooks[key]
        hook.remove(module)
        return module
    raise ValueError(message("prune.remove", "the parameter is not pruned", name, "a pruned one"))


def is_pruned(module):
    """Whether a parameter of the module, or of one within, is pruned."""
    return any(
        isinstance(hook, BasePruningMethod)
        for each in module.modules()
        for hook, _keywords in each._forward_pre_hooks.values()
    )
