"""[njit] result: got int, want float (0 for 0.0)"""
def f(a0):
    v3 = a0.imag or 0
    return v3

def arguments():
    return (0.0,)
