"""A name that is read before anything was assigned to it: CPython's error, and its line."""

import numpy as np
import pytest
import unassigned
from numbus import cuda, guvectorize, njit, prange, vectorize

pytestmark = pytest.mark.numbus


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_random_functions(first):
    for seed in range(first, first + 10):
        found, _, text = unassigned.differences(seed)
        assert not found, (seed, text, found)


TEXTS = {
    "the target of a loop": "for i in range(n): pass\nreturn i",
    "what a loop assigns": "for i in range(n): z = i\nreturn z",
    "one side": "if n > 2: z = n\nreturn z",
    "in place": "if n > 2: z = 1\nz += n\nreturn z",
    "while": "k = 0\nwhile k < n:\n  z = k\n  k += 1\nreturn z",
    "a loop that break leaves": "while True:\n  if n: break\n  z = 1\n  break\nreturn z",
    "continue": "for i in range(3):\n  if n > i: continue\n  z = i\nreturn z",
    "else of a loop": "for i in range(n):\n  if i == 2: break\nelse:\n  z = 1\nreturn z",
    "before a later one": "if n: return q + 1\nq = 2\nreturn q",
    "del": "z = n\nif n: del z\nreturn z",
    "del twice": "z = n\ndel z\nif n: del z\nreturn n",
    "an array": "if n > 1: z = np.ones(n)\nreturn z.sum()",
    "an element": "if n > 1: z = np.ones(3)\nz[0] = 2\nreturn z[0]",
    "a list": "if n > 1: z = [n]\nz.append(2)\nreturn len(z)",
    "a text": "if n > 1: z = 'ab'\nreturn z + 'c'",
    "a dict": "if n > 1: z = {1: n}\nz[2] = 3\nreturn len(z)",
    "a tuple": "if n > 1: z = (n, 2.5)\nreturn z[1]",
    "unpacked": "if n > 1: y, z = n, 2.5\nreturn y + z",
    "None": "if n > 1: z = None\nreturn z is None",
    "None or a number": "for i in range(n):\n  z = None\n  if i > 1: z = i\nreturn z",
    "a function": "if n > 1:\n  def g(x): return x + 1\nreturn g(n)",
    "a free name": "def g(): return z\nif n > 1: z = n\nreturn g()",
    "a lambda's": "g = lambda x: x + z\nif n > 1: z = n\nreturn g(n)",
    "not the outer one": "x = 5\ndef g():\n  t = 0\n  for i in range(n):\n    if i > 0: t += x\n"
    "    x = i\n  if n == 3: del x\n  return t + x\nreturn g()",
    "in a comprehension": "if n > 1: z = n\nreturn sum([z for _ in range(2)])",
    "in a generator": "if n > 1: z = n\nreturn sum(z for _ in range(2))",
    "over it": "if n > 1: z = [n, 2]\nreturn sum([v for v in z])",
    "walrus in a comprehension": "w = [(z := v) for v in range(n)]\nreturn z",
    "walrus of an outer name": "z = 7.5\nw = [(z := z + v) for v in range(n)]\nreturn z",
    "and": "t = n > 1 and (z := n) > 2\nreturn z",
    "a chain": "t = 1 < n < (z := 5) < 9\nreturn z",
    "try": "try:\n  if n < 2: raise ValueError\n  z = 1\nexcept ValueError:\n  pass\nreturn z",
    "caught": "try:\n  if n > 1: z = 1\n  return z\nexcept UnboundLocalError as e:\n  return -1",
    "caught as NameError": "try:\n  if n > 1: z = 1\n  return z\nexcept NameError:\n  return -2",
    "its text": "try:\n  if n > 1: z = 1\n  t = z\nexcept NameError as e:\n  return str(e)\n"
    "return 'ok'",
    "finally": "try:\n  if n > 1: z = 1\nfinally:\n  n += z\nreturn n",
    "after a finally": "for i in range(2):\n  try:\n    if n: break\n    z = 1\n"
    "  finally:\n    y = 2\nreturn y + z",
    "printed": "if n > 1: z = 1\nprint(z)\nreturn 0",
    "in an f-string": "if n > 1: z = 1\nreturn f'{z}'",
    "a slice": "a = np.arange(5)\nif n > 1: z = 1\nreturn a[z:].sum()",
    "a handler's loop": "for i in range(n):\n  try:\n    1 // (i - 1)\n"
    "  except ZeroDivisionError:\n    z = i\nreturn z",
}


def written(text, name):
    lines = "\n".join("    " + line for line in text.split("\n"))
    return unassigned.function(f"def f(n):\n{lines}\n", name)


@pytest.mark.parametrize("name", list(TEXTS))
def test_one_function(name, capsys):
    compiled = njit(written(TEXTS[name], name))
    for n in range(5):
        want = unassigned.outcome(written(TEXTS[name], name), n)
        assert unassigned.outcome(compiled, n) == want, n


def test_memory_is_given_back():
    """What a name held is released once, also where the function ends with the error."""

    @njit
    def f(n):
        if n > 1:
            z = np.ones(1000)
        y = [np.zeros(1000)]
        return z.sum() + y[0][0]

    for _ in range(2000):
        with pytest.raises(UnboundLocalError):
            f(0)
        assert f(2) == 1000


def test_in_a_loop_over_a_generator():
    def g(n):
        for k in range(n):
            if k > 0:
                z = k
                yield z
        if n > 5:
            yield z

    def f(n):
        t = 0
        for v in g(n):
            t += v
            last = v
        return t, last

    for n in (0, 1, 2, 3, 6, 7):
        compiled = njit(f)
        try:
            want = f(n)
        except UnboundLocalError as error:
            with pytest.raises(UnboundLocalError, match=str(error)):
                compiled(n)
        else:
            assert compiled(n) == want


@njit
def yields(n):
    for _ in range(n):
        z = 1
    yield 5
    yield z


def test_a_generator_object():
    g = yields(0)
    assert next(g) == 5
    with pytest.raises(UnboundLocalError, match="'z'"):
        next(g)
    assert list(yields(2)) == [5, 1]


def test_recursion_of_a_local_function():
    @njit
    def f(n):
        def g(k):
            return z if k == 0 else g(k - 1)

        if n > 1:
            z = n
        return g(n)

    assert f(3) == 3
    with pytest.raises(NotImplementedError, match="'z'"):
        f(1)


def test_prange():
    @njit(parallel=True)
    def outside(n, out):
        if n > 2:
            z = n
        for i in prange(len(out)):
            out[i] = z
        return 0

    @njit(parallel=True)
    def inside(n, out):
        for i in prange(len(out)):
            if i >= n:
                z = i
            out[i] = z
        return 0

    @njit(parallel=True)
    def added(n):
        if n > 2:
            s = 0.5
        for i in prange(n):
            s += i
        return s

    out = np.zeros(100)
    outside(3, out)
    assert (out == 3).all()
    with pytest.raises(UnboundLocalError, match="'z'"):
        outside(2, out)
    outside(2, out[:0])
    inside(0, out)
    assert (out == np.arange(100)).all()
    # CPython would read what an iteration before has left there, or raise.
    with pytest.raises(NotImplementedError, match="'z', which an iteration"):
        inside(3, out)
    assert added(5) == 10.5
    for n in (0, 1, 2):
        with pytest.raises(UnboundLocalError, match="'s'"):
            added(n)


def test_kernel():
    @cuda.jit
    def k(x, n):
        i = cuda.grid(1)
        if i < n:
            z = i
        if i < x.size:
            x[i] = z

    x = np.zeros(64)
    k[1, 64](x, 64)
    cuda.synchronize()
    assert (x == np.arange(64)).all()
    with pytest.raises(UnboundLocalError, match="'z'") as raised:
        k[1, 64](x, 63)
        cuda.synchronize()
    assert "63" in "".join(raised.value.__notes__)


def test_kernel_with_a_barrier():
    @cuda.jit
    def k(x, n):
        i = cuda.threadIdx.x
        part = cuda.shared.array(32, np.float64)
        if i < n:
            z = x[i] * 2
        part[i] = x[i]
        cuda.syncthreads()
        x[i] = z + part[31 - i]

    x = np.arange(32.0)
    k[1, 32](x, 32)
    cuda.synchronize()
    assert (x == np.arange(32) * 2 + np.arange(32)[::-1]).all()
    with pytest.raises(UnboundLocalError, match="'z'"):
        k[1, 32](x, 20)
        cuda.synchronize()


def test_functions_of_elements():
    @vectorize
    def v(x):
        if x > 0:
            z = x
        return z

    assert v(np.array([1.0, 2.0])).tolist() == [1, 2]
    with pytest.raises(UnboundLocalError, match="'z'"):
        np.asarray(v(np.array([1.0, -2.0])))

    @guvectorize(["void(float64[:], float64[:])"], "(n)->()")
    def g(x, out):
        for v in x:
            z = v
        out[0] = z

    assert g(np.array([[1.0, 2.0]])).tolist() == [2]
    with pytest.raises(UnboundLocalError, match="'z'"):
        g(np.zeros((1, 0)))
