"""Pickles that are read by a table of names, so that nothing in them is executed."""

import codecs
import pickle

from .errors import message

_STEPS = dict(pickle._Unpickler.dispatch)
for _step in (
    pickle.INST, pickle.OBJ, pickle.NEWOBJ, pickle.NEWOBJ_EX, pickle.EXT1, pickle.EXT2, pickle.EXT4,
    pickle.NEXT_BUFFER,
):  # fmt: skip
    del _STEPS[_step[0]]


def encoded(text, encoding):
    """What old pickles call to make bytes of a text."""
    if not isinstance(text, str) or encoding != "latin1":
        raise pickle.UnpicklingError(message("load", "an encoding", encoding, "latin1"))
    return codecs.encode(text, "latin1")


class Unpickler(pickle._Unpickler):
    """An unpickler that calls what a table {(module, name): function} holds and nothing else, and
    gives a state only to objects of the types `stateful`, which it has made itself.

    expected: what errors say that such files hold. All errors are pickle.UnpicklingError, but for
    NotImplementedError of the table's functions.
    """

    dispatch = _STEPS

    def __init__(self, file, names, stateful, expected, **keywords):
        super().__init__(file, fix_imports=False, **keywords)
        self._names, self._stateful, self._expected = names, stateful, expected

    def refuse(self, what, got):
        """Raises UnpicklingError."""
        raise pickle.UnpicklingError(
            message("load", f"{what}: nothing in a file is executed", got, self._expected)
        )

    def find_class(self, module, name):
        found = self._names.get((module, name))
        if found is None:
            self.refuse("a file names what is not in the table", f"{module}.{name}")
        return found

    def load_build(self):
        if not isinstance(self.stack[-2], self._stateful):
            self.refuse("a state for what has none", type(self.stack[-2]).__name__)
        super().load_build()

    dispatch[pickle.BUILD[0]] = load_build

    def load(self):
        try:
            return super().load()
        except (pickle.UnpicklingError, NotImplementedError):
            raise
        except Exception as error:  # what steps raise where they meet another object
            text = f"{type(error).__name__}: {error}"
            raise pickle.UnpicklingError(
                message("load", "a damaged file", text, self._expected)
            ) from None
