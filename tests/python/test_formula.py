"""Formulas of optimizers: their steps are joined to few instructions, with the bits of NumPy's
operations one by one.
"""

import operator

import numbus as nb
import numpy as np
import pytest
from numbus import _core, optim, tensors
from numbus.optim.formula import Formula, maximum_into, square_root

ARRAYS, NUMBERS = 4, 5
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


def random_program(rng):
    """A list of (kind, operation, operands) over arrays, numbers and earlier results."""
    steps, results = [], 0
    for _ in range(rng.integers(1, 16)):

        def operand(results=results):
            kind = rng.choice(["array", "number", "result"] if results else ["array", "number"])
            most = {"array": ARRAYS, "number": NUMBERS, "result": results}[kind]
            return kind, int(rng.integers(most))

        def not_number():
            kind = operand()
            while kind[0] == "number":
                kind = operand()
            return kind

        form = rng.choice(["binary", "unary", "in place", "maximum"], p=[0.45, 0.15, 0.3, 0.1])
        if form == "binary":
            steps.append(("binary", rng.choice(list("+-*/")), not_number(), operand()))
            results += 1
        elif form == "unary":
            steps.append(("unary", rng.choice(["neg", "sqrt"]), not_number(), None))
            results += 1
        elif form == "in place":
            steps.append(("in place", rng.choice(list("+-*")), ("array", int(rng.integers(ARRAYS))),
                          operand()))  # fmt: skip
        else:
            steps.append(("maximum", None, ("array", int(rng.integers(ARRAYS))), not_number()))
    return steps


def run(steps, arrays, numbers, root, largest_into):
    """Carries the steps out on what has Python's operators; arrays are changed in place."""
    arrays, results = list(arrays), []

    def of(operand):
        kind, at = operand
        return {"array": arrays, "number": numbers, "result": results}[kind][at]

    for form, op, x, y in steps:
        if form == "unary":
            results.append(-of(x) if op == "neg" else root(of(x)))
        elif form == "binary":
            a, b = of(x), of(y)
            results.append(OPERATORS[op](a, b))
        elif form == "in place":
            a, b = of(x), of(y)
            if op == "+":
                a += b
            elif op == "-":
                a -= b
            else:
                a *= b
        else:
            largest_into(of(x), of(y))


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
@pytest.mark.parametrize("first", range(0, 200, 50))
def test_joined_steps(dtype, first):
    for seed in range(first, first + 50):
        rng = np.random.default_rng(seed)
        steps = random_program(rng)
        start = [rng.uniform(0.1, 3, (7, 3)).astype(dtype) for _ in range(ARRAYS)]
        numbers = [float(x) for x in rng.uniform(0.1, 2, NUMBERS)]
        expected = [a.copy() for a in start]
        # Results of + and the like are new: NumPy's operators never give an operand itself.
        with np.errstate(all="ignore"):
            run(steps, expected, numbers, np.sqrt, lambda a, x: np.maximum(a, x, out=a))
        formula = Formula(
            lambda *given, steps=steps: run(
                steps, given[:ARRAYS], given[ARRAYS:], square_root, maximum_into
            ),
            ARRAYS,
            NUMBERS,
        )
        for _ in range(3):  # recorded, then by the recipe
            found = [nb.array(a) for a in start]
            formula([tuple(found)], lambda n=numbers: [n])
            for a, b in zip(expected, found, strict=True):
                np.testing.assert_array_equal(a, b, err_msg=f"seed {seed}")


def test_operands_of_unlike_types():
    """Arrays of several types and shapes are changed by one operation after the other."""
    formula = Formula(lambda p, g, size: _in_place(p, g * size), 2, 1)
    p, g = np.arange(6.0).reshape(2, 3), np.arange(3, dtype="f4")
    for _ in range(3):
        a, b = nb.array(p), nb.array(g)
        formula([(a, b)], lambda: [[0.5]])
        np.testing.assert_array_equal(a, p - g * np.float32(0.5))


@pytest.mark.parametrize("parts", [False, True])
def test_arrays_in_one_memory(parts):
    """As by one operation after the other, where what is changed is read under another name."""

    def step(p, g, size):
        p *= size
        p -= g * size

    formula = Formula(step, 2, 1)
    for _ in range(3):
        whole, expected = nb.array(np.arange(8.0)), np.arange(8.0)
        p, g = (whole[:6], whole[2:]) if parts else (whole, whole)
        a, b = (expected[:6], expected[2:]) if parts else (expected, expected)
        a *= 0.5
        a -= b * 0.5
        formula([(p, g)], lambda: [[0.5]])
        np.testing.assert_array_equal(whole, expected)


def _in_place(p, x):
    p -= x


def test_few_instructions():
    """Adam's thirteen operations are four instructions, those of the other optimizers fewer too."""
    w = tensors.ones(1000).requires_grad_()
    adam = optim.Adam([w], lr=0.1)
    for _ in range(3):
        w.grad = tensors.ones(1000) * 0.5
        nb.synchronize()
        before = _core.stats()["instructions"]
        adam.step()
        made = _core.stats()["instructions"] - before
        nb.synchronize()
    assert made <= 4
