"""vectorize and stencil on Numbus arrays: recorded as steps, which fuse with array expressions."""

import linecache
import random

import numbus as nb
import numpy as np
import pytest
from numbus import stencil, vectorize

R = np.random.default_rng(5)
X = R.uniform(-2, 2, (37, 53))
Y = R.uniform(-2, 2, (37, 53))


def ours(*arrays):
    return [nb.array(a) if isinstance(a, np.ndarray) else a for a in arrays]


def kernels(run):
    """Kernels that a call takes once it has been seen, and its result."""
    run()
    nb.synchronize()
    before = nb.stats()["launches"]
    result = run()
    nb.synchronize()
    return nb.stats()["launches"] - before, result


def same(f, *args):
    """The recorded call gives what the compiled loop over NumPy arrays gives, bit for bit."""
    want = f(*args)
    got = f(*ours(*args))
    assert isinstance(got, nb.ndarray)
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    np.testing.assert_array_equal(np.asarray(got), want)


def branches(x, y):
    if x > y:
        z = x * 2
        if z > 1:
            return z - y
    elif y > 1:
        return -y
    else:
        z = abs(x) // 2
    return z if z < 0.5 else max(z, y)


def helper(x):
    if x < 0:
        return -x
    return x + 1


def calls(x, y):
    return np.sin(helper(x)) * helper(y)


def once(x, y):
    while True:
        if x > 0:
            break
        x = y * 3
        break
    return x + y


def loops(x, y):
    n = 0
    while x < 1:
        x = x + 0.25
        n += 1
    return n * y


def parts(x, y):
    z = complex(x, y) * (x + 1j)
    return z.real - z.imag if abs(z) > 1 else y


def makes_complex(x, y):
    return complex(x, y) * 2 if x > y else 1j


def constant(x, y):
    return 3


def first(x, y):
    return x


def divides(x, y):
    return x // y + x % y


@pytest.mark.parametrize(
    "f", [branches, calls, once, loops, parts, makes_complex, constant, first, divides]
)
def test_the_same_as_the_loop(f):
    u = vectorize(f)
    same(u, X, Y)
    same(u, X.astype("f4"), Y.astype("f4"))
    same(u, X, Y[0])
    same(u, X[:, :1], Y[0])
    same(u, X, 1.25)
    same(u, X.astype("f4"), 2)
    same(u, np.zeros((0, 3)), np.zeros(3))


def test_integers():
    a, b = R.integers(-9, 9, 200), R.integers(-4, 4, 200)
    for t in ("int8", "int32", "int64", "uint8", "float16"):
        for f in (branches, divides, constant):
            same(vectorize(f), a.astype(t), b.astype(t))


def test_complex_arguments():
    z = X + 1j * Y

    @vectorize
    def f(z, w):
        return z * w if z.real > 0 else w.conjugate()

    same(f, z, z[::-1].copy())
    same(f, z, 2 + 1j)
    same(f, z.astype("c8"), z.astype("c8"))


def test_declared_types_convert():
    f = vectorize(["float32(float32, float32)", "float64(float64, float64)"])(branches)
    same(f, X, Y)
    same(f, X.astype("f4"), Y.astype("f4"))
    same(f, R.integers(-3, 3, 50, dtype="i2"), np.float32(1) * np.arange(50, dtype="f4"))
    narrow = vectorize("int32(float64)")(lambda x: x * 10)
    same(narrow, X)


def test_a_new_array_where_the_function_gives_its_argument():
    a, b = ours(X, Y)
    r = vectorize(first)(a, b)
    r += 1
    np.testing.assert_array_equal(np.asarray(a), X)


def test_out_and_where():
    u = vectorize(branches)
    want, a, b = u(X, Y), *ours(X, Y)
    out = nb.zeros(X.shape)
    assert u(a, b, out=out) is out
    np.testing.assert_allclose(np.asarray(out), want, rtol=1e-15)
    u(a, b, out=a)  # its own operand
    np.testing.assert_allclose(np.asarray(a), want, rtol=1e-15)


@pytest.mark.recorded
def test_one_kernel_with_what_is_around_it():
    f, a, b = vectorize(branches), *ours(X, Y)
    count, result = kernels(lambda: (f(a + 1, b) * 2 - f(b, 0.5)).sum())
    assert count == 1
    want = (f(X + 1, Y) * 2 - f(Y, 0.5)).sum()
    np.testing.assert_allclose(float(result), want, rtol=1e-12)


def escape(x, y, n):
    zx = zy = 0.0
    for k in range(n):
        zx, zy = zx * zx - zy * zy + x, 2 * zx * zy + y
        if zx * zx + zy * zy > 4:
            return k
    return n


def test_a_loop_fuses():
    f, a, b = vectorize(escape), *ours(X, Y)
    count, result = kernels(lambda: (f(a * 0.5, b, 20) + 1).sum())
    assert count == 1
    assert int(result) == (f(X * 0.5, Y, 20) + 1).sum()


def test_loops_in_loops_of_the_program():
    f = vectorize(lambda x, y: x * 0.5 + y)
    g = vectorize(escape)

    def run(x, y):
        for _ in range(20):
            x = f(x, y) + g(x, y, 7) * 0.01
        return x

    count, result = kernels(lambda: run(*ours(X, Y)))
    assert count <= 4  # not 20: the iterations fold
    np.testing.assert_array_equal(np.asarray(result), run(X, Y))


def test_elements_outside_of_a_mask_do_not_loop():
    @vectorize
    def halvings(n):
        k = 0
        while n != 0:  # never for a negative n
            n = n // 2
            k += 1
        return k

    n = np.arange(-50, 50)
    a = nb.array(n)
    m = a >= 0
    a[m] = halvings(a[m])
    want = n.copy()
    want[n >= 0] = halvings(n[n >= 0])
    np.testing.assert_array_equal(np.asarray(a), want)


def test_loops_of_many_arguments_run_on_their_own():
    @vectorize
    def f(a, b, c, d, e):
        while a < 3:
            a += abs(b) + abs(c) + abs(d) + abs(e) + 0.1
        return a

    same(f, X, Y, X, Y, X)


@pytest.mark.recorded
def test_under_a_mask():
    f, a, b = vectorize(branches), *ours(X, Y)

    def run():
        c = a.copy()
        m = c > 0
        c[m] = f(c[m], b[m]) + 1
        return c

    count, result = kernels(run)
    assert count == 1
    want = X.copy()
    want[X > 0] = f(X[X > 0], Y[X > 0]) + 1
    np.testing.assert_array_equal(np.asarray(result), want)


def test_a_mask_and_a_plain_array():
    f = vectorize(divides)
    (a,) = ours(X)
    chosen = X[X > 1]
    other = np.arange(1.0, len(chosen) + 1)
    got = f(a[a > 1], nb.array(other))
    np.testing.assert_array_equal(np.asarray(got), f(chosen, other))


def test_lazy_numbers():
    f, a = vectorize(branches), nb.array(X)
    got = f(a, a.mean())
    np.testing.assert_allclose(np.asarray(got), f(X, X.mean()), rtol=1e-12)


def generated(seed):
    """A function of two numbers with branches, loops, early returns and calls, from a seed."""
    r = random.Random(seed)
    names = ["x", "y"]
    loops = 0

    def expr(depth=0):
        kind = r.random()
        if depth > 2 or kind < 0.35:
            return r.choice([*names, "0.5", "2", "-1.25"])
        if kind < 0.75:
            return f"({expr(depth + 1)} {r.choice('+-*')} {expr(depth + 1)})"
        if kind < 0.9:
            return f"{r.choice(['abs', 'np.floor', 'np.sqrt', 'helper'])}(abs({expr(depth + 1)}))"
        return f"({expr(depth + 1)} if {cond()} else {expr(depth + 1)})"

    def cond():
        text = f"{expr(2)} {r.choice(['<', '>', '<=', '!='])} {expr(2)}"
        return (
            f"{text} {r.choice(['and', 'or'])} {expr(2)} < {expr(2)}" if r.random() < 0.3 else text
        )

    def loop(indent, depth):
        nonlocal loops
        loops += 1
        k = f"k{loops}"
        head = r.choice(
            (
                f"for {k} in range({r.randint(0, 4)}):",
                f"while {k} < {r.randint(0, 4)} and ({cond()}):",
            )
        )
        counts = head.startswith("while")
        lines = [f"{indent}{k} = 0"] * counts + [indent + head]
        inner = indent + "    "
        lines += [f"{inner}{k} += 1"] * counts
        names.append(k)
        if r.random() < 0.6:
            lines += [f"{inner}if {cond()}:", f"{inner}    {r.choice(('break', 'continue'))}"]
        lines += block(inner, depth + 1)
        if r.random() < 0.3:
            lines += [f"{inner}if {cond()}:", f"{inner}    return {expr()} * 1.0"]
        names.remove(k)
        if r.random() < 0.3:
            lines += [f"{indent}else:", *block(inner, depth + 1)]
        return lines

    def block(indent, depth):
        lines = []
        for _ in range(r.choice((1, 2, 3))):
            kind = r.random()
            if depth < 2 and r.random() < 0.25:
                lines += loop(indent, depth)
                continue
            if kind < 0.45 or depth > 2:
                lines.append(f"{indent}{r.choice('xy')} = {expr()} * 1.0")
            elif kind < 0.85:
                lines.append(f"{indent}if {cond()}:")
                lines += block(indent + "    ", depth + 1)
                if r.random() < 0.6:
                    lines.append(f"{indent}else:")
                    lines += block(indent + "    ", depth + 1)
            elif kind < 0.93:
                lines.append(f"{indent}return {expr()} * 1.0")
                break
            else:
                lines.append(f"{indent}while True:")
                lines += block(indent + "    ", depth + 1)
                lines.append(f"{indent}    break")
        return lines

    text = ["def made(x, y):", *block("    ", 0), f"    return {expr()} * 1.0"]
    file = f"<made {seed}>"
    source = "\n".join(text) + "\n"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    space = {"np": np, "helper": helper}
    exec(compile(source, file, "exec"), space)
    return space["made"], source


@pytest.mark.parametrize("seed", range(40))
def test_generated_functions(seed):
    f, source = generated(seed)
    u = vectorize(f)
    a, b = X[:9, :11].copy(), Y[:9, :11].copy()
    with np.errstate(all="ignore"):
        want = u(a, b)
        result = u(*ours(a, b))
        assert isinstance(result, nb.ndarray)
        np.testing.assert_array_equal(np.asarray(result), want, err_msg=source)
        # Under a mask, after and before other operations.
        want = np.where(a > b, u(a + 1, b) * 2, a)
        c, d = ours(a, b)
        c[c > d] = u(c[c > d] + 1, d[c > d]) * 2
        np.testing.assert_array_equal(np.asarray(c), want, err_msg=source)


def smooth(a):
    return (
        a[-1, -1]
        + a[-1, 0]
        + a[-1, 1]
        + a[0, -1]
        + a[0, 0]
        + a[0, 1]
        + a[1, -1]
        + a[1, 0]
        + a[1, 1]
    ) / 9


def upwind(a, b, w):
    return a[0, 0] - w * (a[0, 1] - a[0, 0]) if b[1, 0] > 0 else a[0, -2] * w


@pytest.mark.parametrize("cval", [None, 2.5])
def test_stencils(cval):
    options = {} if cval is None else {"cval": cval}
    for f, args in (
        (stencil(smooth, **options), (X,)),
        (stencil(upwind, **options), (X, Y, 0.25)),
        (stencil(lambda a: a[0, 0] * 2, **options), (X,)),
    ):
        same(f, *args)
        same(f, *[a.T if isinstance(a, np.ndarray) else a for a in args])
        same(f, *[a.astype("f4") if isinstance(a, np.ndarray) else a for a in args])
        small = [a[:2, :2].copy() if isinstance(a, np.ndarray) else a for a in args]
        same(f, *small)
        want, out = np.ones(X.shape), nb.ones(X.shape)
        f(*args, out=want)
        f(*ours(*args), out=out)
        np.testing.assert_array_equal(np.asarray(out), want)


def test_a_stencil_over_its_own_input():
    f, a, want = stencil(smooth), nb.array(X), X.copy()
    f(want, out=want)
    f(a, out=a)
    np.testing.assert_array_equal(np.asarray(a), want)


@pytest.mark.recorded
def test_a_stencil_fuses():
    f, a = stencil(smooth), nb.array(X)
    count, result = kernels(lambda: f(a * 2) - a)
    assert count <= 2  # what is read at other positions is computed first
    np.testing.assert_allclose(np.asarray(result), f(X * 2) - X, rtol=1e-13)
    count, result = kernels(lambda: (f(a) - a).sum())
    assert count == 1
    np.testing.assert_allclose(float(result), (f(X) - X).sum(), rtol=1e-10)


def test_a_stencil_of_computed_indices_is_its_own_kernel():
    @stencil(neighborhood=((-3, 0),))
    def mean(a):
        total = 0.0
        for i in range(-3, 1):
            total += a[i]
        return total / 4

    np.testing.assert_allclose(np.asarray(mean(nb.array(X[0]))), mean(X[0]), rtol=1e-15)


def test_a_stencil_tells_what_is_wrong():
    f = stencil(upwind)
    with pytest.raises(ValueError, match=r"array b is smaller than a"):
        f(nb.array(X), nb.array(Y[:5]), 1.0)


def test_numbers_are_rounded_at_each_conversion():
    def through_float32(x, s):
        return x * np.float64(np.float32(s))

    for f in (vectorize(through_float32), vectorize(["f8(f8, f8)"])(through_float32)):
        same(f, X, 0.1)
        same(f, X, np.float64(0.1))
        same(f, X, 2**25 + 1)

    def as_it_is(x, s):
        return np.float64(s) * x

    same(vectorize(["f8(f8, f4)"])(as_it_is), X, 0.1)

    def into_complex(x, s):
        return x * np.complex64(s)

    same(vectorize(into_complex), X, 0.1)


def test_numbers_beyond_int64():
    def add(x, y):
        return x + y

    for t in ("u8", "i8", "f8"):
        same(vectorize(add), np.arange(4, dtype=t), 2**63 + 2)
