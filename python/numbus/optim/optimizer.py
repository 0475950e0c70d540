"""What optimizers share: groups of parameters, their state, and saving both."""

import copy
import functools
from collections import OrderedDict, defaultdict

from .. import _core
from ..core.compiling import ITEM, ITEMS, TRUTH, Parts, flat, observe, renew
from ..core.dtypes import kind_of
from ..core.errors import message
from ..tensors import Tensor, enable_grad, no_grad


class _Required:
    def __repr__(self):
        return "<required parameter>"


required = _Required()


class Optimizer:
    """The base of optimizers: `param_groups`, `state`, `zero_grad`, `state_dict`.

    Parameters
    ----------
    params : iterable
        Tensors that `backward()` finds gradients of, or pairs (name, tensor), or dicts with such
        under the key "params" and other keys that take the place of `defaults`.
    defaults : dict
        What applies where a group says nothing.

    Raises
    ------
    TypeError
        For one tensor instead of several, and for what is no tensor.
    ValueError
        For no parameters, results of operations, and parameters in two groups.

    Notes
    -----
    A subclass defines `_update(group, p, g, state)`, which changes the array `p` in place.
    """

    # Settings that a formula's numbers are made of: they may change between compiled steps.
    _renewed = frozenset()

    def __init__(self, params, defaults):
        self.defaults = defaults
        self.state = defaultdict(dict)
        self.param_groups = []
        self._before, self._after = OrderedDict(), OrderedDict()
        if isinstance(params, Tensor):
            raise TypeError(
                message(self._name(), "one tensor instead of several", "a Tensor",
                        "an iterable of tensors or dicts")
            )  # fmt: skip
        groups = list(params)
        if not groups:
            raise ValueError(message(self._name(), "empty parameter list", "none", "parameters"))
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _name(self):
        return type(self).__name__

    def add_param_group(self, param_group):
        """Adds a dict with parameters under "params" to the groups."""
        if not isinstance(param_group, dict):
            raise TypeError(
                message("add_param_group", "no dict", type(param_group).__name__, "a dict")
            )
        group = dict(param_group)
        params = group["params"]
        if isinstance(params, (set, frozenset)):
            raise TypeError(
                message("add_param_group", "parameters without an order", "a set", "a list")
            )
        params = [params] if isinstance(params, Tensor) else list(params)
        if params and isinstance(params[0], tuple):
            group["param_names"] = [name for name, _ in params]
            params = [p for _, p in params]
        known = {id(p) for other in self.param_groups for p in other["params"]}
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError(
                    message(self._name(), "a parameter is no tensor", type(p).__name__, "tensors")
                )
            if not p.is_leaf:
                raise ValueError(
                    message(self._name(), "can't optimize a non-leaf Tensor",
                            f"the result of an operation, shape {tuple(p.shape)}",
                            "tensors that requires_grad was set of")
                )  # fmt: skip
            if id(p) in known:
                raise ValueError(
                    message(self._name(), "some parameters appear in more than one parameter group",
                            f"shape {tuple(p.shape)}", "each once")
                )  # fmt: skip
            known.add(id(p))
        if any(("param_names" in other) != ("param_names" in group) for other in self.param_groups):
            raise ValueError(
                message("add_param_group", "names for some of the groups only",
                        "with names" if "param_names" in group else "without names",
                        "names for all parameters, or for none")
            )  # fmt: skip
        group["params"] = params
        for key, value in self.defaults.items():
            if value is required and key not in group:
                raise ValueError(
                    message(self._name(), f"a parameter group without {key}", "none", "a value")
                )
            group.setdefault(key, value)
        self.param_groups.append(group)

    def zero_grad(self, set_to_none=True):
        """Sets the gradients of all parameters to None, or to 0.

        Work that is pending is carried out (on a GPU: queued): each step of a training loop is a
        window of its own then, which a GPU can replay.
        """
        known = [p for group in self.param_groups for p in group["params"] if p.grad is not None]
        if set_to_none:
            for p in known:
                p.grad = None
            if known:
                _core.flush("optimizer.zero_grad()")
            return
        with _core.no_grad_block():
            for p in known:
                p.grad = p.grad.detach()
                p.grad._array[...] = 0

    def step(self, closure=None):
        """Changes the parameters by their gradients; those without one stay.

        closure: a function that finds the gradients anew and returns the loss, which is returned.
        """
        if self._before:
            closure = self._call_before(closure)
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        state = self.state
        with _core.no_grad_block():
            for group in self.param_groups:
                given = []
                for p in group["params"]:
                    g = p.grad
                    if g is not None:
                        given.append((p._array, g._array, state[p]))
                self._update_all(group, given)
                if not self._renewed and _core.capturing_step():
                    renew(functools.partial(_count, [s for _, _, s in given if "step" in s]))
        if self._after:
            self._call_after(closure)
        return loss

    def _call_before(self, closure):
        """Calls the hooks of before a step, which may give other arguments; returns the closure."""
        args, keywords = _arguments(self, closure), {}
        for hook in list(self._before.values()):
            changed = hook(self, args, keywords)
            if changed is None:
                continue
            if not isinstance(changed, tuple) or len(changed) != 2:
                raise RuntimeError(
                    message("step", "a hook gives other than arguments and keywords", changed,
                            "None, or a tuple and a dict")
                )  # fmt: skip
            args, keywords = changed
        return keywords.get("closure", args[1] if len(args) > 1 else None)

    def _call_after(self, closure):
        for hook in list(self._after.values()):
            hook(self, _arguments(self, closure), {})

    def _update_all(self, group, given):
        for p, g, state in given:
            self._update(group, p, g, state)

    def _update(self, group, p, g, state):
        raise NotImplementedError(
            message(self._name(), "an optimizer without a step", "no _update", "one")
        )

    def register_step_pre_hook(self, hook):
        """Has `hook(optimizer, args, kwargs)` called before each step; returns a handle with
        `remove()`. args begin with the optimizer; what the hook returns but None takes the place of
        (args, kwargs).
        """
        return Handle(self._before, hook)

    def register_step_post_hook(self, hook):
        """The same after each step."""
        return Handle(self._after, hook)

    def state_dict(self):
        """`{"state": {number: …}, "param_groups": […]}`: tensors are shared, parameters are named
        by their numbers.
        """
        numbers, groups = {}, []
        for group in self.param_groups:
            packed = {key: value for key, value in group.items() if key != "params"}
            for p in group["params"]:
                numbers.setdefault(id(p), len(numbers))
            packed["params"] = [numbers[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {numbers[id(p)]: dict(kept) for p, kept in self.state.items() if id(p) in numbers}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict):
        """Takes over what `state_dict()` gave, converted to the parameters' dtypes and devices.

        Raises ValueError for other numbers of groups, or of parameters in one.
        """
        groups, saved = self.param_groups, state_dict["param_groups"]
        if len(groups) != len(saved):
            raise ValueError(
                message("load_state_dict", "loaded state dict has a different number of parameter "
                        "groups", len(saved), len(groups))
            )  # fmt: skip
        for k, (group, other) in enumerate(zip(groups, saved, strict=True)):
            if len(group["params"]) != len(other["params"]):
                raise ValueError(
                    message("load_state_dict", f"loaded state dict contains a parameter group that "
                            f"doesn't match the size of optimizer's group {k}",
                            len(other["params"]), len(group["params"]))
                )  # fmt: skip
        by_number = {}
        for group, other in zip(groups, saved, strict=True):
            by_number.update(zip(other["params"], group["params"], strict=True))
        state = defaultdict(dict)
        for number, kept in state_dict["state"].items():
            if number in by_number:
                p = by_number[number]
                state[p] = {key: _converted(key, value, p) for key, value in kept.items()}
        self.state = state
        for group, other in zip(groups, saved, strict=True):
            params = group["params"]
            group.clear()
            group.update({key: copy.deepcopy(v) for key, v in other.items() if key != "params"})
            group["params"] = params

    def __repr__(self):
        text = self._name() + " ("
        for k, group in enumerate(self.param_groups):
            text += f"\nParameter Group {k}\n"
            for key in sorted(group):
                if key != "params":
                    text += f"    {key}: {group[key]}\n"
        return text + ")"


def _arguments(optimizer, closure):
    """The arguments of a step, as hooks get them."""
    return (optimizer,) if closure is None else (optimizer, closure)


class Handle:
    """What removes a hook again."""

    def __init__(self, hooks, hook, first=False):
        self._hooks = hooks
        hooks[id(self)] = hook
        if first:
            hooks.move_to_end(id(self), last=False)

    def remove(self):
        self._hooks.pop(id(self), None)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.remove()


def _converted(key, value, p):
    """A saved value as a state of the parameter `p` has it: an array of its own."""
    if key == "step":
        return float(value.item() if isinstance(value, Tensor) else value)
    if not isinstance(value, Tensor):
        return copy.deepcopy(value)
    with no_grad():
        made = value.detach().clone()
        if kind_of(p._array.dtype) in "fc":
            made = made.to(p.dtype)
        return made.to(p.device)


def check(op, **numbers):
    """Refuses numbers that are negative; ValueError names the first one."""
    for name, value in numbers.items():
        wrong = name.replace("_", " ")
        if isinstance(value, Tensor) and value.numel() != 1:
            raise ValueError(message(op, f"{wrong} of several elements", value.shape, "one"))
        if not 0.0 <= float(value):
            raise ValueError(message(op, f"invalid {wrong}", value, f"{name} >= 0"))


def check_betas(op, betas):
    for k, beta in enumerate(betas):
        if not 0.0 <= float(beta) < 1.0:
            raise ValueError(
                message(op, f"invalid beta parameter at index {k}", beta, "0 <= beta < 1")
            )


def check_ways(op, lr, foreach, fused, capturable=False):
    """Refuses two ways of steps at once, and a rate that lists of tensors do not take: a step is
    the same either way, but what PyTorch refuses is a slip of the program's.
    """
    if isinstance(lr, Tensor) and foreach and not capturable:
        raise ValueError(
            message(op, "lr as a Tensor with foreach=True", "capturable=False", "a number, or"
                    " capturable=True")
        )  # fmt: skip
    if foreach and fused:
        raise RuntimeError(message(op, "fused and foreach at once", "both True", "one of them"))


def not_differentiable(op, differentiable):
    if differentiable:
        raise NotImplementedError(
            message(op, "steps are not yet differentiable", "differentiable=True", "False")
        )


def number(x):
    """A learning rate or the like as a number of Python's."""
    return float(x.item()) if isinstance(x, Tensor) else x


def prepared(group, p, g):
    """The gradient with its sign, and the weight decay that is part of it."""
    if group["maximize"]:
        g = -g
    decay = group["weight_decay"]
    return g + p * decay if decay and not group.get("decoupled_weight_decay") else g


def _count(states):
    """What a step without a formula does in Python: it has no numbers that depend on it."""
    for state in states:
        state["step"] += 1
    return ()


def _parts(self):
    """What a captured step of a program depends on."""
    fields = self.__dict__
    found = [(ITEM, fields, k, fields[k]) for k in ("param_groups", "state", "_before", "_after")]
    for hooks in (self._before, self._after):
        found.append((ITEMS, hooks, None, flat(hooks)))
    found.append((ITEMS, self.param_groups, None, flat(self.param_groups)))
    for group in self.param_groups:
        found.append((ITEMS, group["params"], None, flat(group["params"])))
        for key, value in group.items():
            renewed = key in self._renewed
            if renewed and isinstance(value, Tensor):
                return Parts(reason=f"{key} of the optimizer is a tensor, whose element is read")
            found.append((TRUTH, group, key, bool(value)) if renewed else (ITEM, group, key, value))
    for p, state in self.state.items():
        found.append((ITEM, self.state, p, state))
        for key, value in state.items():
            if isinstance(value, Tensor):
                found.append((ITEM, state, key, value))
            elif key != "step" and not self._renewed:
                return Parts(reason=f"{self._name()} changes {key}, a number, in Python")
    return Parts(found)


observe(Optimizer, Optimizer.step, _parts)
