"""Files: .npy and .npz without pickles, and NumPy's text and raw formats, as library calls."""

import numpy

from ..core.fallback import make
from ..core.host import Views
from ..core.operands import library, wrap

__all__ = [
    "fromfile",
    "fromregex",
    "fromstring",
    "genfromtxt",
    "load",
    "loadtxt",
    "save",
    "savetxt",
    "savez",
    "savez_compressed",
]


class Archive:
    """The arrays of an .npz file by name, read when asked for; a context manager as NumPy's
    NpzFile.
    """

    def __init__(self, real):
        self._real = real
        self.files = real.files

    def __getitem__(self, name):
        return wrap(self._real[name], Views())

    def __getattr__(self, name):
        return getattr(self._real, name)

    def __iter__(self):
        return iter(self.files)

    def __len__(self):
        return len(self.files)

    def __contains__(self, name):
        return name in self._real

    def keys(self):
        """The names of the arrays."""
        return self._real.keys()

    def values(self):
        """The arrays, one at a time."""
        return (self[name] for name in self.files)

    def items(self):
        """Pairs of name and array, one at a time."""
        return ((name, self[name]) for name in self.files)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._real.close()

    def __repr__(self):
        return repr(self._real)


def load(file, mmap_mode=None, allow_pickle=False, **kwargs):
    """The array of an .npy file or the Archive of an .npz file. Never unpickles (ValueError if
    asked to).
    """
    if allow_pickle:
        raise ValueError("[load] pickled objects run code; got allow_pickle=True; expected False")
    result = numpy.load(file, mmap_mode=mmap_mode, allow_pickle=False, **kwargs)
    if isinstance(result, numpy.lib.npyio.NpzFile):
        return Archive(result)
    return result if mmap_mode else wrap(result, Views())


def save(file, arr, allow_pickle=False):
    """Writes an array as .npy. allow_pickle: objects, too, as pickles; ValueError otherwise."""
    library(numpy.save, (file, arr), {"allow_pickle": allow_pickle})


def savez(file, *args, allow_pickle=False, **kwds):
    """Writes arrays by position (arr_0, …) and name as an uncompressed .npz; see save()."""
    library(numpy.savez, (file, *args), {**kwds, "allow_pickle": allow_pickle})


def savez_compressed(file, *args, allow_pickle=False, **kwds):
    """Writes arrays by position (arr_0, …) and name as a compressed .npz; see save()."""
    library(numpy.savez_compressed, (file, *args), {**kwds, "allow_pickle": allow_pickle})


fromfile = make("numpy.fromfile", numpy.fromfile, counted=False)
fromregex = make("numpy.fromregex", numpy.fromregex, counted=False)
fromstring = make("numpy.fromstring", numpy.fromstring, counted=False)
genfromtxt = make("numpy.genfromtxt", numpy.genfromtxt, counted=False)
loadtxt = make("numpy.loadtxt", numpy.loadtxt, counted=False)
savetxt = make("numpy.savetxt", numpy.savetxt, counted=False)
