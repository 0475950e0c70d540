"""The spectral norm of an infinite matrix, by the power method, with lists of floats."""

import math


def element(i, j):
    return 1.0 / ((i + j) * (i + j + 1) // 2 + i + 1)


def multiply(u, v, n):
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += element(i, j) * u[j]
        v[i] = total


def multiply_transposed(u, v, n):
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += element(j, i) * u[j]
        v[i] = total


def main(n):
    u, v, t = [1.0] * n, [0.0] * n, [0.0] * n
    for _ in range(10):
        multiply(u, t, n)
        multiply_transposed(t, v, n)
        multiply(v, t, n)
        multiply_transposed(t, u, n)
    uv = vv = 0.0
    for i in range(n):
        uv += u[i] * v[i]
        vv += v[i] * v[i]
    return math.sqrt(uv / vv)


print(f"{main(700):.9f}")
