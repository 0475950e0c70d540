"""What has to be as it was for a captured call to stand for the next one."""

from ... import _core
from .kinds import ARRAYS, GRADIENT, HOLDS, ITEMS


class Parts:
    """What a module or an optimizer adds: guards, functions that give numbers anew.

    guards : list of (kind, of, name, value)
    renewals : list of callables
    reason : str or None
        Why a step with it cannot be recorded again.
    """

    def __init__(self, guards=(), renewals=(), reason=None):
        self.guards, self.renewals, self.reason = list(guards), list(renewals), reason


def of(watch, capture, tensors, gradients):
    """(guards, renewals) of a captured call, or why there are none."""
    kept = {id(t._array): t for t in tensors if capture.keeps(t)}
    found = {}

    def add(kind, of, name, value):
        found.setdefault((kind, id(of), name), (kind, of, name, value))

    renewals = list(watch.renewals)
    guards = list(watch.guards)
    for part in [make(of_) for of_, make in list(watch.parts.values())]:
        if part.reason is not None:
            return part.reason
        guards += part.guards
        renewals += part.renewals
    for kind, of_, name, value in guards:
        for x in value if kind == ITEMS else (value,):
            # The next call may have another argument, and this one in its place.
            if isinstance(x, ARRAYS) and capture.is_given(x):
                return "an argument is also reached in another way"
            if isinstance(x, _core.TensorBase):
                add(HOLDS, x, None, x._array)
            elif isinstance(x, _core.ndarray):
                add(HOLDS, x, None, None)
        add(kind, of_, name, value)
    for t in tensors:
        if not capture.keeps(t):
            continue
        add(HOLDS, t, None, t._array)
        grad = t._grad
        if grad is not None and id(grad._array) in kept:
            add(GRADIENT, t, None, grad)
        elif gradients.get(id(t), 0) is None and t._leaf:
            add(GRADIENT, t, None, None)
    return list(found.values()), renewals
