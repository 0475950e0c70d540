"""[njit] CompileError: [jit] cannot choose between (int, int) and (int, int); want no error"""
def f(a1):
    v9 = [(0, 0), (0, a1)]
    d10 = dict(zip(range(0), v9))
    t = ((1, 2.5), (a1, 3.5))
    return v9[a1 % 2], t[a1 % 2], d10

def arguments():
    return (3,)
