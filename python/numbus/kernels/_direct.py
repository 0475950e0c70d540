"""Calls of generalised functions whose arguments fit as they are: types, devices and extents.

One compiled function compares the extents and loops; Python only looks at types. Whatever does not
fit (types to be converted, a GPU, mistakes) is left to GUFunc.__call__.
"""

import functools
import math

import numpy

from .._core import ndarray
from ._generate import PYTHON, compiled, make, new_array


def direct_lines(gufunc, axes_of, boxed, repeated):
    """The source of a function of inputs and outputs: False where extents differ, else it loops.

    axes_of: the number of axes of each argument. boxed: which arguments without axes of their own
    are arrays of one element in the user's function. repeated: see Call.
    """
    nin, layout = gufunc.nin, gufunc._all
    split = [n - len(axes) for n, axes in zip(axes_of, layout)]
    rank = max(split[:nin], default=0)
    alone = [boxed[k] and rank == 0 for k in range(gufunc.nargs)]  # outputs are arrays of one
    lines, sizes = [f"def direct({', '.join(f'x{k}' for k in range(gufunc.nargs))}):"], {}

    def same(name, extent):
        if name.isdigit():
            lines.append(f"    if {extent} != {name}: return False")
        elif name not in sizes:
            sizes[name] = extent
        elif sizes[name] != extent:
            lines.append(f"    if {extent} != {sizes[name]}: return False")

    for k, axes in enumerate(layout):
        if alone[k] and k >= nin:
            continue
        names = [f"{rank - split[k] + d} of the loops" for d in range(split[k])]
        for d, name in enumerate([*names, *axes]):
            same("1" if (k, d) in repeated else name, f"x{k}.shape[{d}]")
    for k in range(gufunc.nargs):
        if k >= nin:
            lines.append(f"    if x{k}.size == 0: return True")
        if not boxed[k] or (alone[k] and k >= nin):
            lines.append(f"    y{k} = x{k}")
        else:
            made = f"x{k}[..., None]" if axes_of[k] else f"np.full(1, x{k})"
            lines.append(f"    y{k} = {made}")
    indent = "    "
    for d in range(rank):
        extent = sizes[f"{d} of the loops"]
        lines.append(f"{indent}for i{d} in range({extent}):")
        indent += "    "
    given = []
    for k in range(gufunc.nargs):
        own = [
            "0" if (k, d) in repeated else f"i{rank - split[k] + d}"
            for d in range(0 if alone[k] else split[k])
        ]
        given.append(f"y{k}[{', '.join(own)}]" if own else f"y{k}")
    return [*lines, f"{indent}f({', '.join(given)})", "    return True"]


class Call:
    """How the function is called with arguments of certain types; `fits` is False where it is not.

    repeated: (input, axis) of the extents of one that stand for the extents of other inputs.
    """

    def __init__(self, gufunc, args, outs, dtypes, boxed, repeated):
        nin, layout = gufunc.nin, gufunc._all
        axes_of = [getattr(a, "ndim", 0) for a in args]
        split = [n - len(axes) for n, axes in zip(axes_of, layout)]
        rank = max(split)
        self.split, self.rank = split, rank
        axes_of += [rank + len(axes) for axes in layout[nin:]]
        self.fits = (
            min(split) >= 0
            and all([isinstance(a, PYTHON) or a.dtype == t for a, t in zip(args, dtypes)])
            and all([o.dtype == t for o, t in zip(outs, dtypes[nin:])])
            and [o.ndim for o in outs] in ([], axes_of[nin:])
        )
        if not self.fits:
            return
        # Numbers, also as arrays without axes, go as numbers of the type.
        self.numbers = [(k, dtypes[k].type) for k in range(nin) if axes_of[k] == 0]
        self.dtypes = dtypes[nin:]
        self.alone = [rank == 0 and not axes for axes in layout[nin:]]
        # Where the extents of outputs come from: (argument, axis), or a number.
        loops, sizes = {}, {}
        for k, axes in enumerate(layout[:nin]):
            for d in range(split[k]):
                if (k, d) not in repeated:
                    loops.setdefault(rank - split[k] + d, (k, d))
            for d, name in enumerate(axes):
                sizes.setdefault(name, int(name) if name.isdigit() else (k, split[k] + d))
        for name in [n for axes in layout[nin:] for n in axes if n.isdigit()]:
            sizes[name] = int(name)
        first = [loops[d] for d in range(rank)]
        self.shapes = [[*first, *(sizes[n] for n in axes)] for axes in layout[nin:]]
        self._source = gufunc, axes_of, boxed, repeated

    @functools.cached_property
    def code(self):
        gufunc = self._source[0]
        lines = direct_lines(*self._source)
        return compiled("direct", lines, gufunc._options, f=gufunc.core, np=numpy)

    def quick(self, args, outs):
        """A Python function of the arguments that calls the code with new outputs, or those given:
        the results, or None where extents do not fit. None where more than that has to be done.
        """
        gufunc = self._source[0]
        if self.rank > 1 or (outs and any(self.alone)):
            return None
        if any([isinstance(args[k], (int, numpy.ndarray, ndarray)) for k, _ in self.numbers]):
            return None
        numbus = any([type(a) is ndarray for a in args])
        given = [f"x{k}" for k in range(gufunc.nargs if outs else gufunc.nin)]
        lines = [f"def quick({', '.join(given)}):"]
        types = {f"t{k}": t for k, t in self.numbers}
        lines += [f"    x{k} = t{k}(x{k})" for k, _ in self.numbers]
        results = given[gufunc.nin :]
        for k, (sources, dtype, alone) in enumerate(zip(self.shapes, self.dtypes, self.alone)):
            if outs:
                break
            shape = [str(s) if type(s) is int else f"x{s[0]}.shape[{s[1]}]" for s in sources]
            shape = "1" if alone else f"({', '.join(shape)},)"
            types[f"d{k}"] = dtype
            made = f"new({shape}, d{k}, True)" if numbus else f"empty({shape}, d{k})"
            lines.append(f"    y{k} = {made}")
            given.append(f"y{k}")
            results.append((f"y{k}.reshape(())" if numbus else f"y{k}[0]") if alone else f"y{k}")
        lines.append(f"    if code({', '.join(given)}):")
        lines.append(f"        return {', '.join(results)}")
        return make("quick", lines, code=self.code, empty=numpy.empty, new=new_array, **types)

    def flat(self, args, outs):
        """The shape of several loops that may be one: all that loops is dense. None otherwise."""
        shape = None
        for a, n in [*zip(args, self.split), *[(o, self.rank) for o in outs]]:
            if n == 0:
                continue
            if n != self.rank or not a.flags.c_contiguous:
                return None
            own = a.shape[:n]
            if shape is not None and own != shape:
                return None
            shape = own
        return shape

    def repeats(self, args):
        """What would have to be repeated for these inputs."""
        own = [(k, d) for k, n in enumerate(self.split) for d in range(n)]
        loops = {(k, d): self.rank - self.split[k] + d for k, d in own}
        longer = {loops[k, d] for k, d in own if args[k].shape[d] != 1}
        return frozenset([x for x in own if loops[x] in longer and args[x[0]].shape[x[1]] == 1])

    def run(self, args, outs, numbus):
        """The results; None where extents do not fit."""
        made = outs or self.outputs(args, numbus)
        given = made
        if outs:
            given = [o.reshape(1) if a else o for o, a in zip(outs, self.alone)]
        if not self.code(*args, *given):
            return None
        if not outs:
            made = [o if not a else o.reshape(()) if numbus else o[0]
                    for o, a in zip(made, self.alone)]  # fmt: skip
        return made[0] if len(made) == 1 else tuple(made)

    def outputs(self, args, numbus):
        """New ones, of extents that the inputs have."""
        made = []
        for sources, dtype, alone in zip(self.shapes, self.dtypes, self.alone):
            shape = (1,) if alone else tuple(
                [s if type(s) is int else args[s[0]].shape[s[1]] for s in sources])  # fmt: skip
            made.append(new_array(shape, dtype, numbus))
        return made


class Direct:
    """Called with inputs and outputs, or none of these: the results, or None where all is left to
    be done.
    """

    def __init__(self, gufunc):
        self._gufunc, self._calls = gufunc, {}
        self.quick = {}  # by what _core.kinds() says of the arguments; None: there is none

    def remember(self, kinds, args, outs):
        """Has calls with arguments of these kinds answered by a function that does no more than
        they need.
        """
        call = self._calls.get(self._key(args, outs)[0])
        if len(self.quick) < 64:
            self.quick[kinds] = call.quick(args, outs) if call and call.fits else None

    @staticmethod
    def _key(args, outs):
        key, numbus = [], False
        for a in args:
            kind = type(a)
            if kind is ndarray:
                if a._device != "cpu":
                    return None, False
                numbus = True
                key += a.dtype, a.ndim
            elif kind is numpy.ndarray:
                key += a.dtype, a.ndim
            else:
                key.append(kind)
        for o in outs:
            if type(o) is ndarray and o._device != "cpu":
                return None, False
            key += type(o), o.dtype, o.ndim
        return tuple(key), numbus

    def __call__(self, args, outs):
        key, numbus = self._key(args, outs)
        if key is None:
            return None
        call = self._calls.get(key) or self._make(key, args, outs)
        if call is None or not call.fits:
            return None
        if call.numbers:
            args = list(args)
            try:
                for k, t in call.numbers:
                    a = args[k]
                    args[k] = t(numpy.asarray(a) if isinstance(a, (ndarray, numpy.ndarray)) else a)
            except OverflowError:  # GUFunc says what does not fit
                return None
        if call.rank > 1 and (shape := call.flat(args, outs)):
            return self._in_one_loop(call, args, outs, shape)
        found = call.run(args, outs, numbus)
        if found is None and (repeated := call.repeats(args)):
            key = *key, repeated
            call = self._calls.get(key) or self._make(key, args, outs, repeated)
            found = call.run(args, outs, numbus)
        return found

    def _in_one_loop(self, call, args, outs, shape):
        """The same with one loop for several, whose code serves any number of them."""
        n, size = call.rank, math.prod(shape)
        args = [a.reshape(size, *a.shape[n:]) if own else a for a, own in zip(args, call.split)]
        found = self(args, [o.reshape(size, *o.shape[n:]) for o in outs])
        if found is None:
            return None
        made = outs or [f.reshape(*shape, *f.shape[1:])
                        for f in (found if isinstance(found, tuple) else (found,))]  # fmt: skip
        return made[0] if len(made) == 1 else tuple(made)

    def _make(self, key, args, outs, repeated=frozenset()):
        """The Call for arguments like these; None where others like these may fare otherwise."""
        g = self._gufunc
        numbers = [a for a in args if isinstance(a, PYTHON)]
        plain = (numpy.ndarray, ndarray)
        if not all([type(o) in plain for o in outs]):
            return None
        if not all([type(a) in plain or isinstance(a, (numpy.generic, *PYTHON)) for a in args]):
            return None
        if not g._loops:
            if not outs:
                return None
            args = [numpy.asarray(type(a)(0)) if isinstance(a, PYTHON) else a for a in args]
            dtypes = tuple([a.dtype for a in (*args, *outs)])
            boxed = tuple([not axes and k >= g.nin for k, axes in enumerate(g._all)])
        else:
            # Which loop an integer takes may depend on its value.
            if len(g._loops) > 1 and any([type(a) is int for a in numbers]):
                return None
            try:
                dtypes, boxed = g._choose([a if isinstance(a, PYTHON) else a.dtype for a in args])
            except TypeError:
                return None
        call = self._calls[key] = Call(g, args, outs, dtypes, boxed, repeated)
        return call
