"""Equations of tensors and products of several matrices, expanded where they are called."""

import numpy as np
from numpy.linalg import LinAlgError

from ...functions.names import is_known
from .._library import expanded, known, not_yet
from .products import count
from .stacks import inv, solve


@known("np.linalg.tensorinv")
@expanded
def tensorinv(a, ind=2):
    """The inverse of `a` as a map from its last axes to its first `ind` ones."""
    x = np.asarray(a)
    if not is_known(ind):
        not_yet("np.linalg.tensorinv with an ind= of run time", "a number in the call")
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    first, last = x.shape[:ind], x.shape[ind:]
    return inv(x.reshape((count(last), count(first)))).reshape(last + first)


@known("np.linalg.tensorsolve")
@expanded
def tensorsolve(a, b, axes=None):
    """x with tensordot(a, x, x.ndim) == b; `axes` of `a` are moved to its end first."""
    x, y = np.asarray(a), np.asarray(b)
    if axes is not None:
        for axis in axes:
            if axis < 0 or axis >= x.ndim:
                raise ValueError("list.remove(x): x not in list")
        return tensorsolve(x.transpose(rest(x.ndim, axes) + tuple(axes)), y)
    shape = x.shape[y.ndim - x.ndim :]
    points = count(shape)
    if x.size != points * points:
        raise LinAlgError(
            "Input arrays must satisfy the requirement             prod(a.shape[b.ndim:]) == "
            "prod(a.shape[:b.ndim])"
        )
    return solve(x.reshape((points, points)), y.ravel()).reshape(shape)


@expanded
def rest(ndim, axes):
    """The axes that are not named."""
    if ndim == 0:
        return ()
    others = rest(ndim - 1, axes)
    return others if ndim - 1 in axes else others + (ndim - 1,)


@known("np.linalg.multi_dot")
@expanded
def multi_dot(arrays, *, out=None):
    """The product of up to four matrices, of which the first and the last may be vectors, in the
    order that takes the fewest multiplications.
    """
    if out is not None:
        not_yet("np.linalg.multi_dot with out=", "out[...] = result")
    if not isinstance(arrays, (tuple, list)):
        not_yet("np.linalg.multi_dot of what is no tuple", "a tuple of arrays")
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    if len(arrays) == 2:
        return np.dot(arrays[0], arrays[1])
    if len(arrays) > 4:
        not_yet("np.linalg.multi_dot of more than four matrices", "products of two")
    given = tuple([np.asarray(each) for each in arrays])
    first, last = given[0], given[-1]
    left = first.reshape((1, first.shape[0])) if first.ndim == 1 else first
    right = last.reshape((last.shape[0], 1)) if last.ndim == 1 else last
    matrices = (left, *given[1:-1], right)
    for each in matrices:
        if each.ndim != 2:
            raise LinAlgError(f"{each.ndim}-dimensional array given. Array must be two-dimensional")
    extents = np.array([each.shape[0] for each in matrices] + [right.shape[1]])
    result = chain(matrices, 0, cheapest(extents))
    if first.ndim == 1 and last.ndim == 1:
        return result[0, 0]
    return result.ravel() if first.ndim == 1 or last.ndim == 1 else result


def cheapest(extents):
    """Where to split the product of the matrices i to j, at [i, j]: the least sum of
    multiplications for each range from those of shorter ones.
    """
    n = extents.shape[0] - 1
    cost, split = np.zeros((n, n)), np.zeros((n, n), np.int64)
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i, j] = np.inf
            for k in range(i, j):
                steps = float(extents[i]) * extents[k + 1] * extents[j + 1]
                total = cost[i, k] + cost[k + 1, j] + steps
                if total < cost[i, j]:
                    cost[i, j], split[i, j] = total, k
    return split


@expanded
def chain(matrices, first, split):
    """Their product; the first is number `first` of all."""
    n = len(matrices)
    if n == 1:
        return matrices[0]
    if n == 2:
        return np.dot(matrices[0], matrices[1])
    if split[first, first + n - 1] == first:
        return np.dot(matrices[0], chain(matrices[1:], first + 1, split))
    if n == 4 and split[first, first + 3] == first + 1:
        return np.dot(chain(matrices[:2], first, split), chain(matrices[2:], first + 2, split))
    return np.dot(chain(matrices[:-1], first, split), matrices[-1])
