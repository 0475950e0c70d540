"""The default pools."""


def get_default_memory_pool():
    """The pool of the device's memory."""
    from .cuda import memory

    return memory.default_pool()


def get_default_pinned_memory_pool():
    """The pool of pinned memory of the host."""
    from .cuda import pinned_memory

    return pinned_memory.default_pool()
