"""Libraries of NVIDIA's that the code for GPUs calls, made of NumPy's functions, so that this code
runs on a CPU's memory in tests.
"""

import contextlib
from unittest import mock

import numpy as np


class Solver:
    """numbus._core with a cuSOLVER made of NumPy's LAPACK, on matrices stored by columns."""

    def __init__(self, core):
        self._core = core

    def __getattr__(self, name):
        return getattr(self._core, name)

    @staticmethod
    def stack(a, *others):
        """For each matrix itself and what belongs to it, as NumPy arrays to write to."""
        whole = [np.asarray(x) for x in (a, *others)]
        for x in whole:
            assert x.flags.c_contiguous and len(x) == len(whole[0]) and x.size
        return zip(whole[0].swapaxes(-1, -2), *whole[1:])

    def linalg(self, name, other, *operands):
        """What the rows of the table of routines give on a GPU."""
        given = [np.asarray(x) for x in operands]
        assert all(x.size and x.dtype.char in "fdFD" for x in given)
        made = getattr(self, "_" + name)(other, *given)
        made = made if isinstance(made, tuple) else (made,)
        return tuple([self._core.from_numpy(np.asarray(x)) for x in made])

    def _lu(self, other, a):
        lu, pivots = np.swapaxes(a, -1, -2).copy(), np.empty(a.shape[:-1], np.int32)
        for at in np.ndindex(a.shape[:-2]):
            x, p = lu[at], pivots[at]
            for k in range(len(x)):
                best = k + np.argmax(abs(x[k:, k]))
                p[k] = best + 1
                x[[k, best]] = x[[best, k]]
                if x[k, k] != 0:
                    x[k + 1 :, k] /= x[k, k]
                    x[k + 1 :, k + 1 :] -= np.outer(x[k + 1 :, k], x[k, k + 1 :])
        return np.swapaxes(lu, -1, -2), pivots

    def _solve(self, unchecked, a, b):
        try:
            x = np.linalg.solve(a, b)
        except np.linalg.LinAlgError:
            if not unchecked:
                raise
            x = np.full(b.shape, np.nan, b.dtype)
            for at in np.ndindex(a.shape[:-2]):
                with contextlib.suppress(np.linalg.LinAlgError):
                    x[at] = np.linalg.solve(a[at], b[at])
        # By columns.
        return np.swapaxes(np.ascontiguousarray(np.swapaxes(x, -1, -2)), -1, -2)

    def _cholesky(self, upper, a):
        keep = np.triu(np.ones(a.shape[-2:])) if upper else np.tril(np.ones(a.shape[-2:]))
        return np.where(keep > 0, np.linalg.cholesky(a, upper=upper), a)

    def _eigvalsh(self, upper, a):
        return np.linalg.eigvalsh(a, "LU"[upper])

    def _eigh(self, upper, a):
        return tuple(np.linalg.eigh(a, "LU"[upper]))

    def _svdvals(self, other, a):
        return np.linalg.svd(a, compute_uv=False)

    def _svd(self, full, a):
        return tuple(np.linalg.svd(a, full_matrices=full))

    def _qr(self, other, a):
        raw, tau = np.linalg.qr(a, "raw")
        return np.swapaxes(raw, -1, -2), tau

    def _qr_q(self, complete, raw, tau):
        m, n = raw.shape[-2:]
        made = np.empty((*raw.shape[:-1], m if complete else min(m, n)), raw.dtype)
        for at in np.ndindex(raw.shape[:-2]):
            q = np.eye(m, dtype=raw.dtype)
            for k, factor in enumerate(tau[at]):
                v = np.r_[np.zeros(k), 1, raw[at][k + 1 :, k]]
                q = q - factor * (q @ v)[:, None] * v.conj()
            made[at] = q[:, : made.shape[-1]]
        return made

    def cusolver_gesvdp(self, a, s, u, v, info):
        exact = True
        for x, values, left, right in self.stack(a, s, u, v):
            one, values[...], two = np.linalg.svd(x, full_matrices=False)
            left[...], right[...] = one.T, two.conj()
            exact &= bool(values[-1] > 1e-8 * values[0])
            x[...] = np.nan
        return exact

    def cusolver_has_geev(self):
        return True

    def cusolver_geev(self, a, w, v, info):
        vectors = np.asarray(a) * 0 if v is None else v
        for x, values, columns in self.stack(a, w, vectors):
            some, right = np.linalg.eig(x)
            if x.dtype.kind == "c":
                values[...], columns[...] = some, right.T
                continue
            values[...] = np.r_[some.real, some.imag]
            columns[...] = right.real.T
            for k in np.flatnonzero(some.imag > 0):
                columns[k + 1] = right[:, k].imag
            x[...] = np.nan


class Transforms:
    """numbus._core with a cuFFT made of NumPy's transforms."""

    def __init__(self, core):
        self._core = core

    def __getattr__(self, name):
        return getattr(self._core, name)

    def fft(self, x, rank, inverse, dtype, last):
        assert 1 <= rank <= 3 and min(x.shape[-rank:]) > 1
        dtype = np.dtype(dtype)
        real = np.asarray(x)
        axes = range(-rank, 0)
        if real.dtype.kind == "f":
            assert not inverse and dtype.char == real.dtype.char.upper()
            result = np.fft.rfftn(real, axes=axes)
            assert result.shape[-1] == last
        elif dtype.kind == "f":
            assert inverse and rank == 1 and dtype.char == real.dtype.char.lower()
            result = np.fft.irfft(real, last, norm="forward")
        else:
            assert dtype == real.dtype and last == real.shape[-1]
            result = (
                np.fft.ifftn(real, axes=axes, norm="forward")
                if inverse
                else np.fft.fftn(real, axes=axes)
            )
        assert result.dtype == dtype
        return self._core.from_numpy(result)


@contextlib.contextmanager
def in_use():
    """Has `numbus.linalg` and `numbus.fft` run as on a GPU, on arrays of the CPU."""
    import numbus as nb
    from numbus import _cusolver

    with contextlib.ExitStack() as stack:
        for module, name, value in (
            (nb.linalg, "_on_gpu", lambda a: True),
            (_cusolver, "_ready", lambda: None),
            (_cusolver, "_POLAR", 3),
            (_cusolver, "_core", Solver(_cusolver._core)),
            (nb.fft, "runs_on_host", lambda a: False),
            (nb.fft, "_core", Transforms(nb.fft._core)),
        ):
            stack.enter_context(mock.patch.object(module, name, value))
        yield
