"""Hooks: functions that are called before or after something, until their handle removes them."""

import itertools

from ..core.errors import message
from ..tensors import Tensor, is_grad_enabled, zeros_like
from ..tensors._tensor import fitting
from ..tensors.autograd import Function

_count = itertools.count()


class Handle:
    """What removes a hook again."""

    def __init__(self, hooks, hook, first=False):
        self._hooks, self.id = hooks, next(_count)
        hooks[self.id] = hook
        if first:
            hooks.move_to_end(self.id, last=False)

    def remove(self):
        """The hook is not called any more."""
        self._hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.remove()


class _Passed(Function):
    """Tensors as they are, whose derivatives a function is shown and may change."""

    @staticmethod
    def forward(ctx, change, *tensors):
        ctx.change = change
        ctx.set_materialize_grads(False)
        return tensors

    @staticmethod
    def backward(ctx, *grads):
        return (None, *ctx.change(grads))


class Backward:
    """The hooks of one call of a module that are told gradients.

    The inputs are passed on, so that their gradients are those by way of this call.
    """

    def __init__(self, module, before, after):
        self.module = module
        self.before, self.after = list(before.values()), list(after.values())
        self.args, self.inputs_at, self.grad_outputs = (), (), None

    def inputs(self, args):
        self.args = args
        made, self.inputs_at = _passed(args, self._in)
        return made

    def outputs(self, result):
        # As PyTorch does, this passes lists and dicts on without looking for tensors in them.
        if not isinstance(result, (tuple, Tensor)):
            return result
        every = result if isinstance(result, tuple) else (result,)
        self.out_count = len(every)
        made, self.outputs_at = _passed(every, self._out)
        if isinstance(result, Tensor):
            return made[0]
        return type(result)(*made) if hasattr(result, "_fields") else made

    def _out(self, grads):
        given = _at(self.outputs_at, grads, self.out_count)
        self.grad_outputs = self._changed("grad_output", self.before, given)
        if not self.inputs_at:
            nothing = (None,) * len(self.args)
            made = self._changed("grad_input", self.after, nothing, self.grad_outputs)
            if any(g is not None for g in made):
                raise RuntimeError(
                    message("register_full_backward_hook", "no input requires a gradient",
                            "a hook that returned one", "None")
                )  # fmt: skip
        return _taken(self.outputs_at, given, self.grad_outputs)

    def _in(self, grads):
        if self.grad_outputs is None:  # no gradient came by way of an output that is looked at
            return grads
        given = list(_at(self.inputs_at, grads, len(self.args)))
        for k, x in enumerate(self.args):
            if isinstance(x, Tensor) and not x.requires_grad:
                given[k] = zeros_like(x)
        given = tuple(given)
        made = self._changed("grad_input", self.after, given, self.grad_outputs)
        return _taken(self.inputs_at, given, made)

    def _changed(self, name, hooks, given, *more):
        """What hooks make of gradients, one hook after another."""
        for hook in hooks:
            made = hook(self.module, given, *more)
            if made is None:
                continue
            if len(made) != len(given):
                raise RuntimeError(
                    message("backward hook", f"returned an invalid number of {name}", len(made),
                            len(given))
                )  # fmt: skip
            given = tuple(made)
        return given


def _passed(values, change):
    """Values with the tensors among them that require a gradient passed on, and where those are."""
    at = [k for k, x in enumerate(values) if isinstance(x, Tensor) and x.requires_grad]
    made = list(values)
    if at and is_grad_enabled():
        for k, x in zip(at, _Passed.apply(change, *[values[k] for k in at]), strict=True):
            made[k] = x
    return tuple(made), at


def _at(places, grads, count):
    known = dict(zip(places, grads, strict=True))
    return tuple([known.get(k) for k in range(count)])


def _taken(places, given, made):
    """The gradients at these places after hooks have been called, which must fit as before."""
    return [
        made[k] if made[k] is given[k] else fitting("backward hook", made[k], given[k])
        for k in places
    ]
