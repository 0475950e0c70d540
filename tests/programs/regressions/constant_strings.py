"""What follows from strings that are constants, in expressions and messages."""


def f(a0, n):
    v1 = "abc"
    v2 = v1[0] + v1[::-1] + "é" * 2
    v3 = (len(v2), v2 < v1, "cba" in v2, v2[-1] == "é", v1 == a0)
    if n > 2:
        raise ValueError("own {0} {" + v2[1:3] + "}")
    return v3, len(f"{v1}-{v2}"), n


def arguments():
    return (0.5, 3)
