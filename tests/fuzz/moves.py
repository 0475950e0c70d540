"""The statements of the fuzzer's grammar: one function per kind, chosen by weight."""

from __future__ import annotations

import re

import numpy as np
from functions import FUNCTIONS
from grammar import COMPARE, REDUCTIONS, Grower, Reject
from program import Stmt


# ---- creation and views --------------------------------------------------------------------------
def create(g: Grower, shape=None, dtype=None) -> str:
    shape = g.main if shape is None and g.chance(0.7) else shape if shape is not None else g.shape()
    dtype = dtype or g.dtype()
    kind = g.r.random()
    lo, hi = g.r.choice(((-2, 2), (-2, 2), (-1, 1), (0, 3), (-9, 10)))
    data = f"rnd({g.r.randrange(100000)}, {shape}, '{dtype}', {lo}, {hi})"
    if kind < 0.72:
        return g.bind("create", f"xp.array({data})")
    if kind < 0.76 and g.features.export:
        n = g.bind("create", data, "n")
        return g.bind("import", f"xp.asarray({n})")
    if kind < 0.82:
        return g.bind("create", f"xp.zeros({shape}, '{dtype}')")
    if kind < 0.86:
        return g.bind("create", f"xp.ones({shape}, '{dtype}')")
    if kind < 0.9:
        return g.bind("create", f"xp.full({shape}, {g.number()}, '{dtype}')")
    if kind < 0.94 and g.names():
        like = g.r.choice(("xp.zeros_like({})", "xp.ones_like({})", "xp.full_like({}, 2)"))
        return g.bind("create", like.format(g.pick()))
    if kind < 0.97 and len(shape) == 1 and dtype in ("int64", "float64", "float32"):
        return g.bind("create", f"xp.arange({shape[0]}, dtype='{dtype}')")
    if len(shape) == 2 and shape[0] == shape[1]:
        return g.bind("create", f"xp.eye({shape[0]}, dtype='{dtype}')")
    return g.bind("create", f"xp.array({data})")


def view(g: Grower):
    g.bind("view", g.view(g.pick()))


def alias(g: Grower):
    name = g.fresh()
    g.emit("alias", f"{name} = {g.pick()}", name, fresh=True)


def delete(g: Grower):
    found = g.names() + g.exports() + g.scalars()
    if len(found) < 3 or g.in_loop:
        raise Reject
    g.emit("del", f"del {g.r.choice(found)}")


def swap(g: Grower):
    p = g.pick()
    x = g.ns[p]
    others = [n for n in g.names(lambda y: y.shape == x.shape and y.dtype == x.dtype) if n != p]
    if not others:
        raise Reject
    q = g.r.choice(others)
    g.emit("swap", f"{p}, {q} = {q}, {p}")


def copy(g: Grower):
    name = g.pick()
    g.bind("copy", g.r.choice((f"{name}.copy()", f"{name}.astype('{g.dtype_for(g.ns[name])}')")))


# ---- elementwise ---------------------------------------------------------------------------------
def some_shape(g: Grower) -> tuple:
    same = g.names(lambda x: x.shape == g.main)
    return g.main if same and g.chance(0.6) else g.ns[g.pick()].shape


def compute(g: Grower):
    g.bind("compute", g.expr(some_shape(g), g.r.choice((1, 1, 2, 2, 3, 4, 6))))


def chain(g: Grower):
    """Temporaries that die: what contraction is for."""
    shape = some_shape(g)
    names = [g.bind("compute", g.expr(shape, 1))]
    for _ in range(g.r.choice((1, 2, 3))):
        other = g.leaf(shape)
        names.append(g.bind("compute", f"{names[-1]} {g.r.choice('+-*')} {other}"))
    if not g.in_loop and g.chance(0.7):
        g.emit("del", f"del {', '.join(names[:-1])}")


def target(g: Grower) -> tuple[str, str, tuple]:
    """(base name, text of a writable place, its shape)."""
    name = g.writable()
    if g.chance(0.4):
        return name, name, g.ns[name].shape
    text = f"{name}[{g.slices(g.ns[name].shape, keep=g.chance(0.7))}]"
    place = g.value(text)
    if place is None:
        raise Reject
    return name, text, np.shape(place)


def in_place(g: Grower):
    name, text, shape = target(g)
    dtype = g.ns[name].dtype
    ops = {"b": "&|^", "i": "+-*&|^", "u": "+-*&|^"}.get(dtype.kind, "+-*+-*/")
    op = g.r.choice(ops)
    value = g.expr(shape, g.r.choice((0, 1, 1, 2)))
    if op == "/":
        value = f"(xp.absolute({value}) + 0.75)"
    g.change("in place", f"{text} {op}= {value}", name, [f"{text} {op} {value}"])


def assign(g: Grower):
    name, text, shape = target(g)
    if text == name:
        text = f"{name}[...]"
    value = g.expr(shape, g.r.choice((0, 0, 1, 2)))
    if np.result_type(g.probe(value)).kind == "c" and g.ns[name].dtype.kind != "c":
        value = f"({value}).real"
    g.change("assign", f"{text} = {value}", name, [value])


def ufunc_out(g: Grower):
    name = g.writable()
    shape = g.ns[name].shape
    a, b = g.expr(shape, 1), g.expr(shape, 1)
    where = f", where={g.condition(shape)}" if g.chance(0.4) else ""
    if where and any(shares(g, name, other) for other in re.findall(r"\b[a-z]+\d+\b", a + b)):
        # NumPy copies such a target, in the loop's type, and back: what is not to be written, too.
        where = ""
    if g.chance(0.6):
        call = f"xp.{g.r.choice(('add', 'subtract', 'multiply', 'minimum', 'maximum'))}({a}, {b}"
    else:
        op = g.r.choice(
            [u for u in ("sin", "sqrt", "exp", "negative", "absolute") if g.features.has(u)]
        )
        call = f"xp.{op}({'xp.absolute(' + a + ')' if op == 'sqrt' else a}"
    bound = f"{g.fresh()} = " if g.chance(0.2) and not g.in_loop else ""
    g.change("out=", f"{bound}{call}, out={name}{where})", name, [call + ")"])


def shares(g: Grower, x: str, y: str) -> bool:
    return y in g.ns and np.may_share_memory(g.ns[x], g.ns[y])


def overlap(g: Grower):
    """Both sides of an assignment in one array, shifted, reversed or transposed."""
    name = g.writable(lambda x: x.ndim >= 1 and max(x.shape) >= 3)
    x = g.ns[name]
    axis = g.r.choice([i for i, n in enumerate(x.shape) if n >= 3])
    n = x.shape[axis]
    d = g.r.choice((1, 1, 1, 2, n // 2 or 1))
    pairs = [
        (f"{d}:", f":{-d}"),
        (f":{-d}", f"{d}:"),
        (f":{-d}", f":{d - 1 or ''}:-1" if d > 1 else f"{d}:"),
        (":", "::-1"),
        ("::2", f":{(n + 1) // 2}"),
        (f":{(n + 1) // 2}", "::2"),
        (f":{n // 2}", f":{n - n // 2 - 1 if n - n // 2 - 1 >= 0 else ''}:-1"),
    ]
    left, right = g.r.choice(pairs)
    lead = ":, " * axis
    to, source = f"{name}[{lead}{left}]", f"{name}[{lead}{right}]"
    if x.ndim == 2 and x.shape[0] == x.shape[1] and g.chance(0.3):
        to, source = f"{name}[...]", f"{name}.T"
    if g.chance(0.5):
        op, value = "=", source
        if g.chance(0.4):
            value = f"{source} {g.r.choice('+-')} {to}" if x.dtype != bool else f"{source} ^ {to}"
    elif x.dtype == bool:
        op, value = "^=", source
    else:
        op, value = g.r.choice(("+=", "-=", "*=")), source
    if op == "*=" and g.in_loop:
        op = "-="
    if g.chance(0.15) and op == "=" and x.dtype != bool:
        text = f"xp.add({to}, {source}, out={to})"
        return g.change("overlap", text, name, [f"{to} + {source}"])
    return g.change(
        "overlap", f"{to} {op} {value}", name, [f"{to} + {source}" if x.dtype != bool else source]
    )


# ---- stencils and boxes --------------------------------------------------------------------------
def box(ndim: int, shift=None) -> str:
    shift = shift or (0,) * ndim
    return ", ".join({-1: ":-2", 0: "1:-1", 1: "2:"}[s] for s in shift)


def neighbours(g: Grower, p: str, ndim: int, count: int) -> list[str]:
    out = []
    for _ in range(count):
        shift = [0] * ndim
        shift[g.r.randrange(ndim)] = g.r.choice((-1, 1))
        if g.chance(0.2):
            shift[g.r.randrange(ndim)] = g.r.choice((-1, 1))
        out.append(f"{p}[{box(ndim, shift)}]")
    return out


def grid(g: Grower) -> str:
    return g.writable(lambda x: 1 <= x.ndim <= 3 and min(x.shape) >= 3 and x.dtype.kind in "fc")


def stencil(g: Grower):
    p = grid(g)
    x = g.ns[p]
    n, c = x.ndim, box(x.ndim)
    terms = neighbours(g, p, n, g.r.choice((2, 3, 4, 8)))
    body = f"{g.r.choice((0.25, 0.125, 0.2))} * ({' + '.join(terms)})"
    others = [m for m in g.names(lambda y: y.shape == x.shape and y.dtype == x.dtype) if m != p]
    if others and g.chance(0.4):
        body += f" - 0.1 * {g.r.choice(others)}[{c}]"
    if g.chance(0.3):
        body = f"{p}[{c}] + 0.1 * ({body})"
    kind = g.r.random()
    if kind < 0.35:
        q = g.bind("stencil", f"{p}.copy()")
        g.change("stencil", f"{q}[{c}] = {body}", q, [body])
        if g.chance(0.5):
            d = g.bind("stencil", f"{q} - {p}")
            if g.chance(0.6):
                norm = (
                    f"xp.linalg.norm({d})"
                    if g.chance(0.4)
                    else f"xp.{g.r.choice(('sum', 'max'))}(abs({d}))"
                )
                g.bind("norm", norm, "s")
        if g.chance(0.6):
            g.emit("swap", f"{p}, {q} = {q}, {p}")
    elif kind < 0.7:
        g.change("stencil", f"{p}[{c}] = {body}", p, [body])
    elif kind < 0.85:
        g.change("stencil", f"{p}[{c}] += 0.1 * ({body})", p, [body])
    else:
        g.bind("stencil", body)


def boxes(g: Grower):
    """Writes into parts of one array: the same box, other boxes, boxes of other sizes."""
    p = g.writable(lambda x: x.ndim >= 1 and min(x.shape) >= 3 and x.dtype.kind in "fciu")
    x = g.ns[p]
    for _ in range(g.r.choice((2, 2, 3))):
        place = f"{p}[{g.slices(x.shape, keep=True)}]"
        shape = np.shape(g.value(place))
        value = g.expr(shape, g.r.choice((0, 1)))
        if np.result_type(g.probe(value)).kind not in ("iub" if x.dtype.kind in "iu" else "iubfc"):
            raise Reject
        if (
            g.probe(value) is not None
            and x.dtype.kind == "f"
            and np.result_type(g.probe(value)).kind == "c"
        ):
            raise Reject
        g.change(
            "boxes",
            f"{place} {g.r.choice(('=', '=', '+='))} {value}",
            p,
            [value, f"{place} + {value}"],
        )


# ---- masks ---------------------------------------------------------------------------------------
def masks(g: Grower):
    """Several operations under one mask."""
    c = g.writable(lambda x: x.ndim >= 1)
    x = g.ns[c]
    if x.ndim >= 2 and g.chance(0.08):
        m = g.bind("mask", f"{c}[{', '.join([':'] + ['0'] * (x.ndim - 1))}] != 0", "m")
    else:
        m = g.bind("mask", g.condition(x.shape), "m")
        if m in g.ns and g.chance(0.1):
            g.emit("mask", f"{m} = ~{m}", m)
    same = g.names(lambda y: y.shape == x.shape)
    # NumPy reads a mask as it writes: with a target in the same memory its result is order's.
    writable = [
        n
        for n in same
        if g.ns[n].flags.writeable
        and 0 not in g.ns[n].strides
        and not np.may_share_memory(g.ns[n], g.ns[m])
    ]
    if not writable and np.may_share_memory(g.ns[c], g.ns[m]):
        raise Reject
    for _ in range(g.r.choice((1, 2, 3, 4))):
        mask_step(g, m, x, same, writable or [c])


def mask_step(g: Grower, m, x, same, writable):
    r = g.r
    c, d = r.choice(writable), r.choice(same)
    kind = r.random()
    f = "0.5" if g.ns[c].dtype.kind in "fc" else "1"
    if g.ns[c].dtype == bool or (g.ns[d].dtype.kind > g.ns[c].dtype.kind and kind < 0.45):
        d = c
    if kind < 0.1:
        g.bind("compress", f"{d}[{m}]", "x")
    elif kind < 0.24:
        op = "^" if g.ns[c].dtype == bool else r.choice("+-*")
        value = r.choice((f"{c}[{m}] {op} {d}[{m}]", f"{d}[{m}]", f"{c}[{m}] {op} {f}"))
        if g.ns[c].dtype.kind in "fc" and r.random() < 0.4:
            value = f"{c}[{m}]**2 * 0.25 + {d}[{m}]"
        g.change("masked", f"{c}[{m}] = {value}", c, [value])
    elif kind < 0.34:
        op = "^=" if g.ns[c].dtype == bool else r.choice(("+=", "-=", "*="))
        value = "True" if op == "^=" else r.choice((f, f"{d}[{m}]"))
        g.change(
            "masked", f"{c}[{m}] {op} {value}", c, [f"{c}[{m}] + {value}" if op != "^=" else m]
        )
    elif kind < 0.42:
        g.change("masked", f"{c}[{r.choice(('', '~'))}{m}] = {r.choice(('0', '1', f))}", c, [m])
    elif kind < 0.52:
        y = g.bind("compress", f"{d}[{m}]", "x")
        if g.ns[y].dtype != bool:
            g.emit("compress", f"{y} *= 2", y)
        if not g.in_loop and r.random() < 0.3:
            g.emit("del", f"del {y}")
    elif kind < 0.64:
        value = f"{d}[{m}]" if r.random() < 0.7 else f"({d}[{m}] * {c}[{m}])"
        g.bind(
            "mask sum",
            f"{value}.{r.choice(('sum', 'sum', 'mean', 'max', 'min', 'any', 'std'))}()",
            "s",
        )
    elif kind < 0.7:
        g.emit("len", f"obs(len({d}[{m}]))")
    elif kind < 0.75:
        g.emit("shape", f"obs({d}[{m}].shape)")
    elif kind < 0.82:
        change = r.choice((f"{m}[...] = {g.condition(x.shape)}", f"{m} &= {g.condition(x.shape)}",
                           f"{m}[:1] = True", f"{m} = {m}.copy()"))  # fmt: skip
        g.emit("mask changed", change, m)
    elif kind < 0.88:
        xs = [n for n in g.names(lambda y: y.ndim == 1) if n[0] == "x"]
        count = int(g.ns[m].sum())
        xs = [n for n in xs if len(g.ns[n]) == count and g.ns[n].dtype == g.ns[c].dtype]
        if not xs:
            raise Reject
        g.change("masked", f"{c}[{m}] = {r.choice(xs)}", c, [m])
    elif kind < 0.92:
        g.bind("compress", f"{d}[{m}][::{r.choice((2, -1))}]", "x")
    elif kind < 0.96:
        g.bind("compute", f"xp.where({m}, {c}, {d})")
    else:
        where = f"{c} > {g.threshold(g.ns[c])}"
        values = ["0"]
        if g.ns[c].dtype != bool:  # the mask written down again
            values += [f"{d}[{where}]", f"{c}[{where}] - {d}[{where}]"]
        g.change("masked", f"{c}[{where}] = {r.choice(values)}", c, [f"{c} > 0.1"])


# ---- reductions and scalars ----------------------------------------------------------------------
def reduce(g: Grower):
    name = g.pick()
    x = g.ns[name]
    op = g.r.choice(REDUCTIONS)
    value = name if g.chance(0.5) else g.expr(x.shape, 1)
    args = []
    if x.ndim and g.chance(0.5):
        if op.startswith("arg") or g.chance(0.7):
            args.append(f"axis={g.r.randrange(-x.ndim, x.ndim)}")
        else:
            axes = g.r.sample(range(x.ndim), g.r.randrange(1, x.ndim + 1))
            args.append(f"axis={tuple(axes)}")
    if g.chance(0.2):
        args.append("keepdims=True")
    if op in ("sum", "prod", "mean") and g.chance(0.12):
        args.append(f"dtype='{g.r.choice(('float64', 'float32', 'int64'))}'")
    if op in ("sum", "mean", "any", "all") and x.ndim and g.chance(0.15):
        args.append(f"where={g.condition(x.shape)}")
    if op in ("std", "var") and g.chance(0.2):
        args.append("ddof=1")
    if op == "prod" and not orderless(g.probe(value)):
        op = "sum"
    if g.chance(0.06) and op == "sum":
        return g.bind("norm", f"xp.linalg.norm({name})", "s")
    if value == name and g.chance(0.5) and op != "count_nonzero":
        return g.bind("reduce", f"{name}.{op}({', '.join(args)})", "s")
    return g.bind("reduce", f"xp.{op}({', '.join([value] + args)})", "s")


def orderless(x) -> bool:
    """Whether a product stays within the type's range in whatever order it is taken."""
    size = np.abs(np.asarray(x)).astype(np.float64).ravel()
    size = size[size > 0]
    with np.errstate(all="ignore"):
        bounds = np.prod(np.maximum(size, 1)), np.prod(np.minimum(size, 1))
    return size.size <= 64 and bounds[0] < 1e30 and bounds[1] > 1e-30


def cumulative(g: Grower):
    """Running sums, products and extremes of views, also into arrays they are computed from."""
    r = g.r
    name = g.pick(lambda x: x.ndim >= 1)
    value = (
        name if g.chance(0.5) else g.view(name) if g.chance(0.7) else g.expr(g.ns[name].shape, 1)
    )
    x = g.value(value)
    if np.ndim(x) == 0:
        raise Reject
    axis = f"axis={r.randrange(-x.ndim, x.ndim)}"
    kind = r.random()
    if kind < 0.35:
        where = axis if x.ndim > 1 and g.chance(0.9) else ""
        kinds = [f"xp.cumsum({value}, {where})", f"({value}).cumsum({where})"]
        if x.shape and max(x.shape) <= 64:
            kinds.append(f"xp.cumprod(({value}) * 0.75, {where})")
        text = r.choice(kinds)
        if g.chance(0.15) and x.dtype.kind != "c":
            text = text[:-1] + f", dtype='{r.choice(('float64', 'float32', 'int64'))}')"
        return g.bind("cumulative", text)
    ops = "maximum minimum logical_and logical_or add subtract".split()
    ops += ["bitwise_xor", "bitwise_or"] if x.dtype.kind in "biu" else ["fmax", "fmin"]
    ops = [o for o in ops if g.features.has(o) and (o != "subtract" or x.dtype != bool)]
    op = r.choice(ops)
    if kind < 0.7:
        return g.bind("cumulative", f"xp.{op}.accumulate({value}, {axis})")
    name = g.writable(lambda y: y.ndim >= 1 and y.dtype != bool)
    x = g.ns[name]
    axis = r.randrange(x.ndim)
    if kind < 0.85:
        source = r.choice([name] + g.names(lambda y: y.shape == x.shape))
        if x.dtype.kind in "iu" and not np.isfinite(g.ns[source]).all():
            raise Reject  # a NaN as an integer is nobody's promise
        text = f"xp.cumsum({source}, axis={axis}"
        return g.change("cumulative", f"{text}, out={name})", name, [text + ")"])
    # The result one place further than what it is computed from.
    lead = ":, " * axis
    text = f"xp.add.accumulate({name}[{lead}:-1], axis={axis}"
    return g.change("cumulative", f"{text}, out={name}[{lead}1:])", name, [text + ")"])


def ordered(g: Grower):
    """Sorts, orders and ranks of views, also in place; equal elements keep their order."""
    r = g.r
    if g.chance(0.25):
        name = g.writable(lambda y: y.ndim >= 1)
        axis = r.randrange(-g.ns[name].ndim, g.ns[name].ndim)
        how = f"axis={axis}, kind='stable'"
        return g.change("ordered", f"{name}.sort({how})", name, [f"xp.sort({name}, {how})"])
    name = g.pick(lambda x: x.ndim >= 1)
    value = (
        name if g.chance(0.4) else g.view(name) if g.chance(0.6) else g.expr(g.ns[name].shape, 1)
    )
    x = g.value(value)
    if np.ndim(x) == 0:
        raise Reject
    axis = r.choice(("None", "-1", str(r.randrange(x.ndim))))
    if g.chance(0.3) and x.size:
        # Whether 0.0 or -0.0 comes first is nobody's promise.
        k = r.randrange(x.size if axis == "None" else x.shape[int(axis)])
        lead = "" if axis == "None" else ":, " * (int(axis) % x.ndim)
        text = f"xp.partition(xp.absolute({value}), {k}, {axis})[{lead}{k}:{k + 1}]"
        return g.bind("ordered", text)
    op = r.choice(("sort", "sort", "argsort"))
    return g.bind("ordered", f"xp.{op}({value}, {axis}, kind='stable')")


def scalar(g: Grower):
    """Arithmetic on scalars, fed back into arrays."""
    found = g.scalars()
    if not found:
        return reduce(g)
    s = g.r.choice(found)
    kind = g.r.random()
    if kind < 0.35:
        return g.bind("scalar", f"{s} {g.r.choice('+-*')} {g.r.choice([g.number()] + found)}", "s")
    if kind < 0.45:
        t = g.fresh("s")
        g.emit("scalar", f"{t} = {s}", t, fresh=True)
        return g.emit("scalar", f"{s} {g.r.choice(('+=', '-=', '*='))} {g.number()}", s)
    if kind < 0.6:
        x = g.ns[s]
        if x.dtype.kind in "fc":
            return g.bind("scalar", f"xp.sqrt(xp.absolute({s}))", "s")
        return g.bind("scalar", f"{s} {g.r.choice(COMPARE)} {g.r.choice((0, 1, 2))}", "s")
    if kind < 0.75:
        how = {"f": "float", "c": "complex", "b": "bool"}.get(g.ns[s].dtype.kind, "int")
        if how != "float" or not np.isnan(g.ns[s]):
            return g.emit("read", f"obs({how}({s}))")
    name = g.pick()
    return g.bind("compute", f"{name} {g.r.choice('+-*')} {s}")


def element(g: Grower):
    name = g.pick(lambda x: x.size > 0)
    x = g.ns[name]
    index = ", ".join(str(g.r.randrange(-n, n)) for n in x.shape) or "()"
    kind = g.r.random()
    if kind < 0.4:
        return g.emit("read", f"obs({name}[{index}])")
    if kind < 0.6:
        return g.bind("element", f"{name}[{index}]", "s")
    if not x.flags.writeable or x.dtype.kind == "b":
        raise Reject
    value = g.number() if x.dtype.kind in "fc" else str(g.r.randrange(5))
    return g.emit("element", f"{name}[{index}] {g.r.choice(('=', '=', '+='))} {value}", name)


# ---- the outside world ---------------------------------------------------------------------------
def observe(g: Grower):
    g.emit("read", f"obs({g.r.choice(g.names() + g.scalars())})")


def flush(g: Grower):
    g.emit("flush", "flush()")


def export(g: Grower):
    """Somebody else's pointer to our storage, written from either side."""
    if not g.features.export:
        raise Reject
    found = g.exports()
    if not found or g.chance(0.4):
        if g.in_loop:
            raise Reject
        return g.bind("export", f"np.asarray({g.pick()})", "n")
    n = g.r.choice(found)
    x = g.ns[n]
    if not x.flags.writeable or x.dtype == bool or 0 in x.strides:
        raise Reject
    value = g.number() if x.dtype.kind in "fc" else str(g.r.randrange(1, 4))
    place = n if g.chance(0.5) or x.ndim == 0 else f"{n}[{g.slices(x.shape, keep=True)}]"
    op = g.r.choice(("+=", "-=", "="))
    if op == "=":
        place = f"{n}[...]" if place == n else place
    return g.emit("export", f"{place} {op} {value}", n)


def nan(g: Grower):
    if not g.nan:
        raise Reject
    name = g.writable(lambda x: x.ndim and x.dtype.kind in "fc")
    c = g.condition(g.ns[name].shape)
    if g.chance(0.5):
        return g.emit("nan", f"{name}[{c}] = xp.nan", name)
    return g.bind("nan", f"xp.where({c}, {name}, xp.nan)")


def error(g: Grower):
    """A call that must raise, and must leave everything as it was."""
    if not g.features.errors:
        raise Reject
    name = g.pick()
    x = g.ns[name]
    kind = g.r.random()
    if kind < 0.3:
        call = f"{name} {g.r.choice('+*<')} {g.pick(lambda y: y.shape != x.shape)}"
    elif kind < 0.5 and x.ndim:
        call = f"{name}[{', '.join([':'] * (x.ndim - 1) + [str(g.r.choice((x.shape[-1], 5000)))])}]"
    elif kind < 0.6:
        call = f"{name}[{', '.join(['0'] * (x.ndim + 1))}]"
    elif kind < 0.75:
        call = f"{name}.reshape({x.size + 1}, 3)"
    elif kind < 0.85:
        call = f"xp.add({name}, 1.5, out={g.pick(lambda y: y.dtype.kind in 'biu')})"
    else:
        call = f"xp.sum({name}, axis={x.ndim + g.r.choice((0, 2))})"
    expr = f"err(lambda: {call})"
    if g.value(expr) in (None, "no error"):
        raise Reject
    g.emit("error", f"obs({expr})")


def functions(g: Grower):
    """Functions of numbers, with branches and loops, over arrays and what a mask holds of them."""
    r = g.r
    fits = "f4" if g.chance(0.3) else "f8"
    name = g.pick(lambda x: x.ndim >= 1 and x.dtype == fits and 0 < x.size <= 400)
    x = g.ns[name]
    others = [
        n
        for n in g.names(lambda y: y.dtype == x.dtype)
        if np.broadcast_shapes(g.ns[n].shape, x.shape) == x.shape
    ]
    call = f"fn.{r.choice(FUNCTIONS).__name__}"
    y = r.choice((*others, "0.5", "-0.75"))
    kind = r.random()
    if kind < 0.4:
        argument = r.choice((name, f"{name} + {y}", f"0.5 * {name}"))
        tail = r.choice(("", " + 1", f" - {name}", f" * {y}"))
        return g.bind("function", f"{call}({argument}, {y}){tail}")
    if kind < 0.55:
        axis = f", axis={r.randrange(x.ndim)}" if g.chance(0.4) else ""
        return g.bind("function", f"xp.max({call}({name}, {y}){axis})", "a" if axis else "s")
    target = g.writable(lambda z: z.shape == x.shape and z.dtype == x.dtype)
    if kind < 0.75:
        value = f"{call}({target}, {y})"
        return g.change("function", f"{target}[...] = {value}", target, [value])
    m = g.bind("mask", g.condition(x.shape), "m")
    if np.may_share_memory(g.ns[target], g.ns[m]):
        raise Reject
    y = r.choice(("0.5", "-0.75", f"{name}[{m}]"))
    value = f"{call}({target}[{m}], {y})"
    g.change("function", f"{target}[{m}] = {value}", target, [value])


LOOP_BODY = (stencil, stencil, masks, masks, in_place, compute, overlap, assign, reduce, boxes)
LOOP_BODY += (ufunc_out, element, flush, swap, cumulative, functions, ordered)


def loop(g: Grower):
    """The same body two to five times."""

    def body():
        for _ in range(g.r.choice((1, 1, 2, 3))):
            attempt(g, g.r.choice(LOOP_BODY))

    repeated(g, body, g.r.choice((2, 2, 3, 3, 4, 5)))


def turns(g: Grower):
    """A body that keeps to itself element by element, many times: it folds into one kernel."""
    x = g.writable(lambda a: a.dtype.kind in "fc" and a.size > 0)
    shape = g.ns[x].shape
    same = g.names(lambda a: a.shape == shape and a.dtype.kind in "fc")
    y, z = g.r.choice(same), g.r.choice(same)
    t, m, n = g.fresh(), g.fresh(), g.fresh()
    limit = f"{abs(g.r.uniform(0.3, 1.5)):.4f}"
    steps = {
        f"{x} = {x} * 0.5 + {y} * 0.25": 3,
        f"{x} *= 0.75": 2,
        f"{x}[...] = {x} * 0.5 - {y} * 0.125": 2,
        f"{x} = xp.tanh({x} + {z})": 2,
        f"{t} = xp.sin({x})\n{x} = {t} * 0.5 + {y} * 0.5": 2,
        f"{t} = {x}\n{x} = {x} * 0.25 + {y} * 0.25\n{x} = {x} - {t} * 0.125": 2,
        f"{x}, {y} = {y}, {x} * 0.5": 1,
        f"{m} = xp.absolute({x}) < {limit}\n{x}[{m}] = {x}[{m}] ** 2 * 0.5 + {y}[{m}]": 4,
        f"{m} = xp.absolute({x}) > {limit}\n{x}[{m}] *= 0.5\n{n}[{m}] += 1": 4,
        f"{x} = xp.where(xp.absolute({x}) < {limit}, {x} * 1.25, {x} * 0.5)": 1,
        f"{n} += 1\n{x} += {n} * 0.001": 1,
    }

    def body():
        for text in g.r.choices(list(steps), list(steps.values()), k=g.r.choice((1, 2, 2, 3, 4))):
            g.emit("turn", text, x)

    g.emit("create", f"{n} = xp.zeros({shape}, 'int64')", n, fresh=True)
    repeated(g, body, g.r.choice((3, 5, 8, 13, 20, 40, 90)))


def repeated(g: Grower, fill, times: int):
    """A loop around the statements that `fill` emits."""
    if g.in_loop:
        raise Reject
    g.in_loop, g.into, body = True, [], None
    try:
        fill()
        body = g.into
    finally:
        g.in_loop, g.into = False, g.stmts
    if not body or g.dead:
        raise Reject
    text = "\n".join(line for stmt in body for line in stmt.lines())
    code = compile(text, "<loop>", "exec")
    try:
        for _ in range(times - 1):
            exec(code, g.ns)
            exec(code, g.shadow)
            if not all(map(g.fine, g.names() + g.scalars())):
                g.dead = True
                raise Reject
    except Reject:
        raise
    except Exception as e:
        g.dead = True
        raise Reject from e
    g.stmts.append(Stmt("loop", "", body, times))


def indices(g: Grower):
    """Reading and writing through integer arrays, pending or not, beside slices."""
    a = g.writable(lambda x: x.ndim >= 1 and x.size > 0) if g.chance(0.5) else g.pick(np.ndim)
    x = g.ns[a]
    if 0 in x.shape:
        raise Reject
    shape = g.r.choice(((3,), (7,), (40,), (1,), (2, 5), (4, 1)))
    axes = g.r.sample(range(x.ndim), min(x.ndim, g.r.choice((1, 1, 2))))
    parts = []
    for axis, n in enumerate(x.shape):
        if axis not in axes:
            parts.append(g.r.choice((":", ":", "::-1", "1:", f"{n - 1}")))
            continue
        i = g.bind("index", f"xp.array(rnd({g.r.randrange(9999)}, {shape}, 'int64', {-n}, {n}))")
        parts.append(g.r.choice((i, i, f"({i} % {n})", f"({i} // 2)")))
    if g.chance(0.15) and len(axes) < 3:
        parts.insert(g.r.randrange(len(parts) + 1), "None")
    place = f"{a}[{', '.join(parts)}]"
    if a not in g.names(lambda y: y.flags.writeable and 0 not in y.strides) or g.chance(0.6):
        return g.bind("gather", g.r.choice((place, f"({place} * 2)", f"xp.sin({place})")))
    if g.ns[a].dtype == bool:
        value = "True"
    else:
        value = g.r.choice(("1", "0.5", f"{place} + 1", f"{a}[{', '.join(reversed(parts))}]"))
    if g.ns[a].dtype.kind in "iub" and value == "0.5":
        value = "2"
    g.change("scatter", f"{place} = {value}", a, [value])


MOVES = {
    create: 5, view: 8, alias: 2, delete: 5, swap: 2, copy: 2, compute: 16, chain: 4, in_place: 9,
    assign: 6, ufunc_out: 5, overlap: 6, stencil: 5, boxes: 3, masks: 8, reduce: 8, scalar: 6,
    element: 4, observe: 2, flush: 3, export: 4, nan: 5, error: 2, loop: 6,
    turns: 3, indices: 6, cumulative: 6, functions: 5, ordered: 5,
}  # fmt: skip
KINDS, WEIGHTS = list(MOVES), list(MOVES.values())


def attempt(g: Grower, move) -> bool:
    try:
        move(g)
        return True
    except (Reject, TypeError, ValueError, IndexError, KeyError, ZeroDivisionError, SyntaxError):
        g.rejected += 1
        return False


def grow(g: Grower):
    """The whole program: some arrays, then statements by weight."""
    for _ in range(g.r.choice((2, 3, 3, 4))):
        attempt(g, lambda g: create(g, g.main))
    if g.chance(0.5) and g.main:
        tail = g.main[-1:] if g.chance(0.6) else tuple(g.r.choice((1, n)) for n in g.main)
        attempt(g, lambda g: create(g, tail))
    length = max(9, int(g.r.gauss(g.features.statements, g.features.statements / 3)))
    attempts = 0
    while len(g.stmts) < length and not g.dead and attempts < 4 * length:
        attempts += 1
        attempt(g, g.r.choices(KINDS, WEIGHTS)[0])
