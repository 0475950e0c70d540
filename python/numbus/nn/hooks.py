"""Hooks: functions that are called before or after something, until their handle removes them."""

import itertools

from ..core.errors import message
from ..tensors import Tensor

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


class Backward:
    """The hooks of one call of a module that are told gradients.

    The inputs are copied, so that their gradients are those by way of this call.
    """

    def __init__(self, module, before, after):
        self.module = module
        self.before, self.after = list(before.values()), list(after.values())
        self.copies, self.count = {}, 0
        self.found, self.found_out = {}, {}

    def inputs(self, args):
        self.count = len(args)
        given = list(args)
        for k, x in enumerate(args):
            if isinstance(x, Tensor) and x.requires_grad:
                given[k] = self.copies[k] = x.clone()
        return tuple(given)

    def outputs(self, result):
        every = result if isinstance(result, (tuple, list)) else (result,)
        watched = [k for k, y in enumerate(every) if isinstance(y, Tensor) and y.requires_grad]
        self.out_count = len(every)
        for k in watched:
            every[k].register_hook(lambda g, k=k: self._out(k, g, len(watched)))
        for k, x in self.copies.items():
            x.register_hook(lambda g, k=k: self._in(k, g))
        return result

    def _listed(self, found, count):
        return tuple(found.get(k) for k in range(count))

    def _out(self, k, g, expected):
        changed = self._changed(self.before, (self._listed({k: g}, self.out_count),), k, expected)
        self.found_out[k] = g if changed is None else changed
        if not self.copies and len(self.found_out) == expected:
            outputs = self._listed(self.found_out, self.out_count)
            for hook in self.after:
                hook(self.module, (None,) * self.count, outputs)
        return changed

    def _in(self, k, g):
        self.found[k] = g
        if len(self.found) < len(self.copies):
            return None
        outputs = self._listed(self.found_out, self.out_count)
        inputs = self._listed(self.found, self.count)
        return self._changed(self.after, (inputs, outputs), k, len(self.copies))

    def _changed(self, hooks, args, k, count):
        """What hooks return in place of one gradient."""
        changed = None
        for hook in hooks:
            made = hook(self.module, *args)
            if made is None:
                continue
            if count > 1:
                raise NotImplementedError(
                    message("register_full_backward_hook", "a hook that changes gradients of "
                            "several tensors is not there yet", f"{count} tensors", "one")
                )  # fmt: skip
            changed = made[k] if isinstance(made, (tuple, list)) else made
            args = (self._listed({k: changed}, len(args[0])), *args[1:])
        return changed
