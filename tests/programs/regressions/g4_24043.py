"""[cuda] CompileError: [jit] (int, int) has no method 'pop'; want no error"""
KERNEL = True
import numpy as np


def f(a0, a1, a2):
    v6, *v7 = (a2, a1, 0)
    for i9, i10 in zip(a0, a0):
        if 1.0 + 0j:
            continue
        v7.pop(0)

def arguments():
    return (np.array([0, 0, 0], dtype=np.uint32), 0, 0)
