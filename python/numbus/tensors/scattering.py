"""Derivatives of products and extremes that elements are scattered into."""

import functools

import numbus as nb

from .indexing import gather, store_at

_OP = "scatter_reduce"


def _added(shape, dtype, dim, index, values):
    """Values added to zeros at indices along a dimension."""
    made = nb.zeros(shape, dtype)
    store_at(_OP, made, dim, index, lambda x, k: nb.add.at(x, k, values))
    return made


def _own(a, dim, index, include_self):
    """Where the elements of `a` themselves take part."""
    if include_self:
        return nb.ones(a.shape, bool)
    made = nb.ones(a.shape, bool)
    store_at(_OP, made, dim, index, lambda x, k: x.__setitem__(k, False))
    return made


def reduced(change, reduce, a, dim, index, src, include_self):
    """What `change(a, src)` makes of a copy of `a`, with the derivative by `a` and `src`: that of
    an extreme goes to all that are equal to it in equal parts.
    """

    @functools.partial(nb.custom_gradient, repeats=True)
    def scatter_reduce(a, src):
        made = a.copy()
        change(made, src)

        def pull(g):
            own = _own(a, dim, index, include_self)
            zero = g.dtype.type(0)
            if reduce == "prod":
                return _by_factors(g, own, zero)
            chosen = src == gather.on_arrays(made, dim, index)
            kept = own & (a == made)
            count = _added(a.shape, g.dtype, dim, index, chosen.astype(g.dtype))
            share = g / nb.maximum(count + kept.astype(g.dtype), 1)
            by_src = nb.where(chosen, gather.on_arrays(share, dim, index), zero)
            return nb.where(kept, share, zero), by_src

        def _by_factors(g, own, zero):
            one = g.dtype.type(1)
            none, mine = src == 0, own & (a == 0)
            zeros = _added(a.shape, g.dtype, dim, index, none.astype(g.dtype))
            zeros = zeros + mine.astype(g.dtype)
            rest = nb.where(own & ~mine, a, one)  # the product of all that are not 0
            change(rest, nb.where(none, one, src))
            size = g * rest

            def slope(x, size, zeros):
                safe = nb.where(x == 0, one, x)
                few = nb.where(zeros == 0, size / safe, zero)
                return nb.where(x == 0, nb.where(zeros == 1, size, zero), few)

            by_src = slope(
                src, gather.on_arrays(size, dim, index), gather.on_arrays(zeros, dim, index)
            )
            return nb.where(own, slope(a, size, zeros), zero), by_src

        return made, pull

    return scatter_reduce(a, src)
