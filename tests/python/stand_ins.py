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

    def cusolver_getrf(self, a, pivots, info):
        assert np.asarray(pivots).dtype == np.asarray(info).dtype == np.int32
        for x, p, i in self.stack(a, pivots, np.asarray(info)[:, None]):
            i[:] = 0
            for k in range(len(x)):
                best = k + np.argmax(abs(x[k:, k]))
                p[k] = best + 1
                x[[k, best]] = x[[best, k]]
                if x[k, k] == 0:
                    i[:] = i[0] or k + 1
                    continue
                x[k + 1 :, k] /= x[k, k]
                x[k + 1 :, k + 1 :] -= np.outer(x[k + 1 :, k], x[k, k + 1 :])

    def cusolver_getrs(self, a, pivots, b, info, transposed):
        with np.errstate(all="ignore"):
            for x, p, y in self.stack(a, pivots, b):
                n = len(x)
                lower, upper, order = np.tril(x, -1) + np.eye(n), np.triu(x), list(range(n))
                for k, other in enumerate(p - 1):
                    order[k], order[other] = order[other], order[k]
                # Rows of the matrix in that order are lower @ upper.
                whole = np.empty_like(x)
                whole[order] = lower @ upper
                matrix = whole.T if transposed else whole
                try:
                    y[...] = np.linalg.solve(matrix, y.T).T
                except np.linalg.LinAlgError:
                    y[...] = np.nan

    def cusolver_potrf(self, a, info, upper):
        for x, i in self.stack(a, np.asarray(info)[:, None]):
            try:
                whole = np.linalg.cholesky(x, upper=upper)
                keep = np.triu(np.ones(x.shape)) if upper else np.tril(np.ones(x.shape))
                x[keep > 0] = whole[keep > 0]
                i[:] = 0
            except np.linalg.LinAlgError:
                i[:] = 1

    def cusolver_geqrf(self, a, tau, info):
        assert np.asarray(a).shape[0] == np.asarray(info).shape[0]
        for x, t in self.stack(a, tau):
            raw, t[...] = np.linalg.qr(x, "raw")
            x[...] = raw.T

    def cusolver_orgqr(self, a, tau, info):
        for x, t in self.stack(a, tau):
            m, n = x.shape
            q = np.eye(m, dtype=x.dtype)
            for k, factor in enumerate(t):
                v = np.r_[np.zeros(k), 1, x[k + 1 :, k]]
                q = q - factor * (q @ v)[:, None] * v.conj()
            x[...] = q[:, :n]

    def cusolver_gesvd(self, a, s, u, vt, info):
        m, n = np.asarray(a).shape[:0:-1]
        assert m >= n
        if u is None:
            for x, values in self.stack(a, s):
                values[...] = np.linalg.svd(x, compute_uv=False)
            return
        full = np.asarray(u).shape[1] == m
        for x, values, left, right in self.stack(a, s, u, vt):
            one, values[...], two = np.linalg.svd(x, full_matrices=full)
            left[...], right[...] = one.T, two.T
            x[...] = np.nan

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

    def cusolver_syevd(self, a, w, info, vectors, upper):
        for x, values in self.stack(a, w):
            values[...], v = np.linalg.eigh(x, "U" if upper else "L")
            x[...] = v if vectors else np.nan


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
