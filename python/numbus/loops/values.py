"""What stands for a number in the code of a hot loop."""

# Python's complex numbers, and their absolute values, which no name may hold (complexes.py).
COMPLEX, NEAR = "c", "A"
LARGEST = "1.7976931348623157e+308"


class Value:
    """The text of a number in the kernel language, and its kind. open: whether it may be no finite
    number, of which NumPy would warn, and it has not been asked yet.
    """

    __slots__ = ("kind", "open", "text")

    def __init__(self, text, kind, is_open=False):
        self.text, self.kind, self.open = text, kind, is_open


class Unsupported(Exception):
    """What is left to CPython: in words."""
