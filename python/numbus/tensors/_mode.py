"""Whether what tensors do is recorded for gradients: a setting of each thread."""

import functools

from .. import _core


def is_grad_enabled():
    """Whether operations on tensors that require gradients are recorded."""
    return _core.is_grad_enabled()


class _Switch:
    """A context and a decorator that sets the mode."""

    enabled = True

    def __init__(self):
        self._before = []

    def __enter__(self):
        if self.enabled:
            before = _core.set_grad_enabled(True)
        else:
            before = _core.no_grad_block()
            before.__enter__()
        self._before.append((self.enabled, before))
        return self

    def __exit__(self, *error):
        enabled, before = self._before.pop()
        if enabled:
            _core.set_grad_enabled(before)
        else:
            before.__exit__(*error)

    def __call__(self, function):
        @functools.wraps(function)
        def wrapper(*args, **keywords):
            with type(self)():
                return function(*args, **keywords)

        return wrapper


class no_grad(_Switch):
    """`with no_grad():` what is done inside is not recorded; also a decorator.

    What other operations keep for their gradients is copied before it is overwritten inside.
    """

    enabled = False

    def __new__(cls, function=None):
        made = super().__new__(cls)
        if function is None:
            return made
        made.__init__()
        return made(function)


class inference_mode(_Switch):
    """`with inference_mode():` is `no_grad`; `inference_mode(False)` leaves the mode as it is."""

    def __init__(self, mode=True):
        super().__init__()
        self.enabled = not mode and _core.is_grad_enabled()
        self._mode = mode

    def __call__(self, function):
        @functools.wraps(function)
        def wrapper(*args, **keywords):
            with inference_mode(self._mode):
                return function(*args, **keywords)

        return wrapper


class enable_grad(_Switch):
    """`with enable_grad():` what is done inside is recorded, also within `no_grad`."""


class set_grad_enabled:
    """Sets the mode from here on; as a context, until its end."""

    def __init__(self, mode):
        self._mode = bool(mode)
        self._before = _core.set_grad_enabled(self._mode)

    def __enter__(self):
        _core.set_grad_enabled(self._mode)
        return self

    def __exit__(self, *error):
        _core.set_grad_enabled(self._before)

    def __call__(self, function):
        _core.set_grad_enabled(self._before)
        mode = self._mode

        @functools.wraps(function)
        def wrapper(*args, **keywords):
            with set_grad_enabled(mode):
                return function(*args, **keywords)

        return wrapper
