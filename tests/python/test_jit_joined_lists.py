"""Joins of lists of run time in compiled functions: NumPy is the oracle."""

import os

import numbus as nb
import numpy as np
import pytest

pytestmark = [
    pytest.mark.numbus,
    pytest.mark.skipif(
        os.environ.get("NUMBUS_DEVICE", "cpu").startswith("cuda"), reason="compiled for the host"
    ),
]

OPERANDS = [
    np.arange(3.0),
    np.arange(4, dtype=np.int16).reshape(2, 2),
    np.arange(8).reshape(2, 2, 2)[::-1] * 1j,
    np.arange(6.0).reshape(2, 3).T,
]


def concatenate(a, n):
    return np.concatenate([a * k for k in range(n)])


def concatenate_last(a, n):
    return np.concatenate([a * k for k in range(n)], -1)


def concatenate_flat(a, n):
    return np.concatenate([a * k for k in range(n)], None)


def concatenate_cast(a, n):
    return np.concatenate([a * k for k in range(n)], dtype=np.complex64)


def hstack(a, n):
    return np.hstack([a * k for k in range(n)])


def vstack(a, n):
    return np.vstack([a * k for k in range(n)])


def dstack(a, n):
    return np.dstack([a * k for k in range(n)])


def column_stack(a, n):
    return np.column_stack([a * k for k in range(n)])


def stack(a, n):
    return np.stack([a * k for k in range(n)])


def stack_last(a, n):
    return np.stack([a * k for k in range(n)], axis=-1)


def appended(a, n):
    parts = []
    for k in range(n):
        parts.append(a[: 1 + k % 2] + k)
    return np.concatenate(parts)


def nested(a, n):
    return np.concatenate([np.concatenate([a * k for k in range(n)], -1) for j in range(n)])


def block(a, n):
    return np.block([a * k for k in range(n)])


def block_of_lists(a, n):
    return np.block([[a * k + j for k in range(n)] for j in range(2)])


def block_of_a_list_twice(a, n):
    parts = [a * k for k in range(n)]
    return np.block([parts, parts])


def block_grown(a, n):
    rows = [[a + k] for k in range(n)]
    rows.append([a])
    return np.block(rows)


def block_of_numbers(a, n):
    return np.block([float(k) for k in range(n)])


def uneven(a, n):
    return np.concatenate([a[: 1 + k % 2].T for k in range(n)], 0)


def not_castable(a, n):
    return np.concatenate([a * k for k in range(n)], dtype=np.uint8, casting="safe")


FUNCTIONS = [
    concatenate, concatenate_last, concatenate_flat, concatenate_cast, hstack, vstack, dstack,
    column_stack, stack, stack_last, appended, nested, block, block_of_lists, block_of_a_list_twice,
    block_grown, block_of_numbers, uneven, not_castable,
]  # fmt: skip


def outcome(function, *arguments):
    try:
        made = function(*arguments)
    except (ValueError, TypeError) as error:
        return type(error)
    return made.shape, made.dtype, made.tolist()


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("operand", range(len(OPERANDS)))
def test_as_numpy(function, operand):
    compiled = nb.njit(function)
    for n in (3, 1, 0):
        want = outcome(function, OPERANDS[operand], n)
        assert outcome(compiled, OPERANDS[operand], n) == want, n


def test_a_list_from_outside():
    @nb.njit
    def joined(parts):
        return np.vstack(parts), np.block(parts)

    parts = [np.arange(3.0), np.ones(3)]
    rows, line = joined(parts)
    assert rows.tolist() == np.vstack(parts).tolist()
    assert line.tolist() == np.block(parts).tolist()


def test_parts_are_copied():
    @nb.njit
    def joined(a):
        parts = [a for _ in range(2)]
        made = np.concatenate(parts)
        made[0] = 7
        return made

    a = np.zeros(2)
    assert joined(a).tolist() == [7, 0, 0, 0]
    assert a.tolist() == [0, 0]


@pytest.mark.parametrize("axis", (-4, -3, 2, 3))
def test_an_axis_that_is_none(axis):
    def stacked(n):
        parts = [np.arange(3.0) for i in range(n)]
        return np.stack(parts, axis)

    with pytest.raises(np.exceptions.AxisError, match=f"axis {axis} is out of bounds"):
        nb.njit(stacked)(2)


JOINS = (np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack)


@pytest.mark.parametrize("join", JOINS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("one", ((1, 2), (1.5, 2.5, 3.5)))
def test_lists_of_tuples(join, one):
    def joined(n):
        parts = [one for i in range(n)]
        return join(parts)

    want, made = joined(3), nb.njit(joined)(3)
    assert made.dtype == want.dtype and made.tolist() == want.tolist()
