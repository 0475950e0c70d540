"""C's arithmetic and control flow in ElementwiseKernel, against a compiler of C++."""

import ctypes
import random
import shutil
import subprocess

import numbus.compat.cupy as cp
import numpy as np
import pytest
from numbus.compat.cupy import ElementwiseKernel

pytestmark = pytest.mark.numbus
RNG = np.random.default_rng(11)

C_TYPES = {
    "int8": "signed char", "uint8": "unsigned char", "int16": "short", "uint16": "unsigned short",
    "int32": "int", "uint32": "unsigned int", "int64": "long long", "uint64": "unsigned long long",
    "float64": "double",
}  # fmt: skip


def expression(r, depth):
    """A random expression of whole numbers a, b, c without undefined behaviour."""
    if depth == 0:
        return r.choice(["a", "b", "c", "7", "300u", "(-3)", "1LL", "65535", "2ull"])

    def part():
        return expression(r, depth - 1)

    kind = r.randrange(9)
    if kind < 3:
        return f"({part()} {r.choice('+ - * & | ^'.split())} {part()})"
    if kind == 3:
        return f"({part()} {r.choice('/%')} (({part()} & 15) + 1))"
    if kind == 4:
        return f"({part()} {r.choice(['<<', '>>'])} ({part()} & 7))"
    if kind == 5:
        return f"({part()} {r.choice(['<', '<=', '==', '!=', '>', '>='])} {part()})"
    if kind == 6:
        return f"({part()} ? {part()} : {part()})"
    if kind == 7:
        return f"({r.choice(['-', '~', '!', '+'])}{part()})"
    return f"(({r.choice(list(C_TYPES.values())[:-1])}){part()})"


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_whole_numbers_as_c_has_them(tmp_path):
    """Random expressions over all widths: the same bits as a C compiler's."""
    r = random.Random(5)
    names = [n for n in C_TYPES if n != "float64"]
    cases, source = [], []
    for k in range(40):
        types = [r.choice(names) for _ in range(4)]
        text = expression(r, 3)
        op = r.choice(["=", "+=", "-=", "^=", "="])
        body = f"z = c; z {op} {text};"
        cases.append((types, body))
        args = ", ".join(f"{C_TYPES[t]} *p{n}" for t, n in zip(types, "abcz"))
        load = " ".join(f"{C_TYPES[t]} {n} = p{n}[i];" for t, n in zip(types, "abcz"))
        source.append(f"void f{k}(int n, {args}) {{ for (int i = 0; i < n; ++i) "
                      f"{{ {load} {body} pz[i] = z; }} }}")  # fmt: skip
    (tmp_path / "c.c").write_text("\n".join(source))
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-fwrapv", "-w", "-o", tmp_path / "c.so",
                    tmp_path / "c.c"], check=True)  # fmt: skip
    library = ctypes.CDLL(str(tmp_path / "c.so"))
    n = 64
    for k, (types, body) in enumerate(cases):
        arrays = [
            np.frombuffer(RNG.bytes(8 * n), t)[:n].copy() >> np.dtype(t).type(k % 3 * 3)
            for t in types
        ]
        ours = [cp.asarray(a) for a in arrays]
        getattr(library, f"f{k}")(n, *[a.ctypes.data_as(ctypes.c_void_p) for a in arrays])
        kernel = ElementwiseKernel(
            ", ".join(f"{t} {v}" for t, v in zip(types, "abc")), f"{types[3]} z", body, f"c{k}"
        )
        got = kernel(*ours[:3]).get()
        np.testing.assert_array_equal(got, arrays[3], err_msg=f"{types} {body}")


class Statements:
    """Random statements over whole numbers a, b, c and variables p, q, z, loops bounded."""

    def __init__(self, r):
        self.r, self.loops = r, 0

    def value(self, depth=2):
        r = self.r
        if depth == 0 or r.random() < 0.2:
            return r.choice(["a", "b", "c", "p", "q", "z", "w[p & 3]", "w[(q + 1) & 3]", "5", "-2"])
        a, b = self.value(depth - 1), self.value(depth - 1)
        return r.choice([
            f"({a} + {b})", f"({a} * {b})", f"({a} - {b})", f"({a} ^ {b})", f"(int)({a})",
            f"({a} / (({b} & 7) + 1))",
            f"({a} % (({b} & 7) + 1))", f"({a} < {b} ? {b} : {a})", f"({a} > 0 && {b} < 9)",
            f"({a} == 1 || {b} != 2)", f"twist({a}, {b})",
        ])  # fmt: skip

    def quiet(self):
        """An expression that changes nothing."""
        while True:
            text = self.value()
            if not any(s in text for s in ("++", "--", "+=", "^=", "mix")):
                return text

    def simple(self):
        """An expression that changes at most one variable, and is no more than that."""
        if self.r.random() < 0.15:
            return self.r.choice(["(p++)", "(--q)", "(p += 3)", "(q ^= a)", "mix(&p, b)"])
        return self.quiet()

    def many(self, depth):
        return " ".join(self.one(depth) for _ in range(self.r.randint(1, 3)))

    def one(self, depth):
        r, v = self.r, self.simple
        kind = r.randrange(10 if depth else 4)
        if kind == 0:
            position, op = r.choice(["p", "q", "z", "w[p & 3]"]), r.choice(["=", "+=", "-=", "^="])
            # Compilers differ in when they read the index.
            return f"{position} {op} {self.quiet() if position[0] == 'w' else v()};"
        if kind == 1:
            return r.choice(
                ["p++;", "--q;", "w[1]--;", "++w[q & 3];", "p = mix(&q, p);", "swap(p, q);"]
            )
        if kind == 2:
            return f"if ({v()}) {{ int o = {v()}; int p = o * 2; z += p + o; }} else z ^= q;"
        if kind == 3:
            return f"{{ short t = {v()}; unsigned char u = t + q; z += t - u; }}"
        if kind == 4:
            return f"if ({self.quiet()} > {self.quiet()}) {{ {self.many(depth - 1)} }}"
        if kind == 5:
            return f"if ({v()}) {{ {self.many(depth - 1)} }} else {{ {self.many(depth - 1)} }}"
        if kind == 9:
            labels = r.sample(["case 0:", "case 1: case 3:", "case 2:", "default:"], 3)
            ends = ["break;", "", "if (q > 9) break;"]
            cases = [f"{x} {{ {self.many(depth - 1)} }} {r.choice(ends)}" for x in labels]
            return f"switch ({v()} & 3) {{ {' '.join(cases)} }}"
        self.loops += 1
        k, n = f"k{self.loops}", r.randint(1, 5)
        leave = f"if ({v()} > {r.randint(0, 40)}) {r.choice(['break', 'continue'])};"
        body = f"{self.many(depth - 1)} {leave} {self.many(depth - 1)}"
        if kind == 6:
            return f"for (int {k} = 0; {k} < {n}; ++{k}) {{ {body} p += {k}; }}"
        if kind == 7:
            return f"int {k} = {n}; while ({k}-- > 0) {{ {body} }}"
        return f"int {k} = 0; do {{ {body} }} while (++{k} < {n});"


PREAMBLE = """
__device__ int twist(int x, int y) { if (x > y) return x * 3 - y; int s = 0;
    for (int k = 0; k < 3; k++) { if (s > 50) break; s += y ^ k; } return s; }
__device__ int mix(int *x, int y) { *x = *x * 5 + y; if (y < 0) return -1; return *x >> 1; }
__device__ void swap(int &x, int &y) { int t = x; x = y; y = t; }
"""


@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")
def test_control_flow_as_c_has_it(tmp_path):
    """Random statements: loops, breaks, scopes, side effects; the same bits as a compiler's."""
    r = random.Random(8)
    head = "int p = a, q = b; int w[4] = {1, 2, 3};"
    bodies = [f"{head} z = c; {Statements(r).many(2)} z += p * 7 + q + w[0] + w[3];"
              for _ in range(20)]  # fmt: skip
    source = [PREAMBLE.replace("__device__", "static")]
    for k, body in enumerate(bodies):
        source.append(f'extern "C" void f{k}(int n, int *pa, int *pb, int *pc, int *pz) {{ '
                      f"for (int i = 0; i < n; ++i) {{ int a = pa[i], b = pb[i], c = pc[i], z = 0; "
                      f"{body} pz[i] = z; }} }}")  # fmt: skip
    (tmp_path / "c.cc").write_text("\n".join(source))
    subprocess.run(["c++", "-shared", "-fPIC", "-O1", "-fwrapv", "-w", "-o", tmp_path / "c.so",
                    tmp_path / "c.cc"], check=True)  # fmt: skip
    library = ctypes.CDLL(str(tmp_path / "c.so"))
    arrays = [RNG.integers(-20, 20, 200).astype("i4") for _ in range(4)]
    ours = [cp.asarray(a) for a in arrays[:3]]
    for k, body in enumerate(bodies):
        getattr(library, f"f{k}")(200, *[a.ctypes.data_as(ctypes.c_void_p) for a in arrays])
        kernel = ElementwiseKernel(
            "int32 a, int32 b, int32 c", "int32 z", body, f"c{k}", preamble=PREAMBLE
        )
        np.testing.assert_array_equal(kernel(*ours).get(), arrays[3], err_msg=body)


DIVISIONS = [(7, 2, 3, 1), (-7, 2, -3, -1), (7, -2, -3, 1), (-7, -2, 3, -1)]


@pytest.mark.parametrize(("a", "b", "quotient", "rest"), DIVISIONS)
def test_division_goes_towards_zero(a, b, quotient, rest):
    kernel = ElementwiseKernel("int32 a, int32 b", "int32 q, int32 r", "q = a / b; r = a % b;")
    q, r = kernel(cp.asarray([a], "i4"), b)
    assert (int(q[0]), int(r[0])) == (quotient, rest)


def test_types_of_numbers():
    """A double literal widens, one with an f does not; unsigned numbers wrap."""
    x = cp.asarray(np.array([0.1], "f4"))
    wide = ElementwiseKernel("float32 x", "float64 y", "y = x * 0.1")(x)
    assert float(wide[0]) == float(np.float64(np.float32(0.1)) * 0.1)
    thin = ElementwiseKernel("float32 x", "float64 y", "y = x * 0.1f")(x)
    assert float(thin[0]) == float(np.float32(0.1) * np.float32(0.1))
    u = cp.zeros(1, "u4")
    third = ElementwiseKernel("float32 x", "float64 y", "float q = 0.1f; y = x + q + 1.0f / 3.0f")
    single = np.float32
    want = single(0.1) + single(0.1) + single(1) / single(3)
    np.testing.assert_allclose(float(third(x)[0]), float(want), rtol=1e-7)
    assert float(ElementwiseKernel("T x", "float64 y", "y = 0.1f")(x)[0]) == float(single(0.1))
    assert int(ElementwiseKernel("T x", "int64 y", "y = 65536 * 65537")(x)[0]) == 65536
    assert int(ElementwiseKernel("uint32 x", "uint64 y", "y = x - 1")(u)[0]) == 2**32 - 1
    assert int(ElementwiseKernel("uint8 x", "int32 y", "y = x - 1")(cp.zeros(1, "u1"))[0]) == -1
    assert int(ElementwiseKernel("int32 x", "int32 y", "y = x < 1u")(cp.full(1, -1, "i4"))[0]) == 0
