"""What the arguments of registered functions are drawn from in test_registry.py, beyond what their
annotations tell: by function and parameter, made of the first array and its axis.
"""

import numpy as np
from registry_values import (
    ABSENT,
    alike,
    along,
    aweights,
    bin_weights,
    bins,
    choices,
    extent,
    finite,
    fractions,
    fweights,
    insertions,
    limits,
    masks,
    one_layer,
    own_weights,
    point_bins,
    point_limits,
    positions,
    ranks,
    sections,
    some_axes,
    stacked,
    trimmable,
    values,
    vectors,
    weights,
)

SAMPLES = {
    ("np.take", "indices"): positions,
    ("np.take_along_axis", "indices"): along,
    ("np.repeat", "repeats"): lambda a, axis: [
        0,
        2,
        True,
        -1,
        [2],
        np.arange(a.shape[axis] if a.ndim else 1),
        np.arange(a.size),
        np.ones(a.size, bool),
        1.5,
        [1, -1],
        np.int8(3),
        [],
        [[1]],
    ],
    ("np.roll", "shift"): lambda a, axis: [
        0,
        1,
        -2,
        50,
        np.int8(1),
        (1, 2),
        [1],
        True,
        1.5,
        (1, -1),
    ],
    ("np.roll", "axis"): lambda a, axis: [
        *(ABSENT, None, 0.5, 0, -1, (0, 1), (0, 0), a.ndim, [0], ()),
    ],
    ("np.diag", "k"): lambda a, axis: [ABSENT, 0, 1, -2, 9],
    **{
        (f"np.{name}", "offset"): lambda a, axis: [ABSENT, 0, 1, -2, 9]
        for name in ("diagonal", "trace")
    },
    ("np.select", "condlist"): lambda a, axis: [
        [a > 0, a > 1],
        [a > 0],
        [],
        [a, a],
        [True, a > 1],
        [a != 0, False],
    ],
    ("np.select", "choicelist"): choices,
    ("np.select", "default"): lambda a, axis: [ABSENT, 7, 2.5, a, np.int8(1)],
    **{
        (f"np.{name}", key): lambda a, axis: [ABSENT, ABSENT, 0, 1, -1, 2, 5]
        for name in ("diagonal", "trace")
        for key in ("axis1", "axis2")
    },
    **{
        (f"np.{name}", "indices_or_sections"): sections
        for name in "split array_split hsplit vsplit dsplit".split()
    },
    ("np.unwrap", "discont"): lambda a, axis: [ABSENT, None, 1, 4.5],
    ("np.rot90", "axes"): lambda a, axis: [ABSENT, (0, 1), (1, 0), (-1, 0), (0, 0), (0,), (1, 3)],
    ("np.rot90", "k"): lambda a, axis: [ABSENT, 0, 2, 3, -1, 5, np.int8(2)],
    ("np.expand_dims", "axis"): lambda a, axis: [0, -1, 1, (0, 2), [0, -1], (0, 0), 9, a.ndim],
    ("np.dstack", "tup"): stacked,
    ("np.vstack", "tup"): stacked,
    ("np.hstack", "tup"): stacked,
    ("np.column_stack", "tup"): stacked,
    **{
        (f"np.{name}", "casting"): lambda a, axis: [ABSENT] * 6 + ["same_kind", "unsafe", "no"]
        for name in ("vstack", "hstack")
    },
    ("np.append", "values"): lambda a, axis: [1, 2.5, a, a[:1], [[1, 2]], a.T],
    ("np.diagflat", "k"): lambda a, axis: [ABSENT, 1, -2, 9],
    ("np.extract", "condition"): lambda a, axis: [a != 0, a, np.ravel(a) == 1],
    ("np.outer", "b"): lambda a, axis: [a, [1, 2], 3, 0.5, a[:0], np.float32(2)],
    ("np.cross", "a"): vectors,
    ("np.cross", "b"): vectors,
    **{
        ("np.cross", name): lambda a, axis: [ABSENT, ABSENT, ABSENT, -1, 0, 1, 3]
        for name in ("axisa", "axisb", "axisc", "axis")
    },
    **{
        (f"np.{name}", argument): lambda a, axis: [
            a.ravel(),
            a.ravel()[:3],
            a.ravel()[::2],
            a,
            [1, 2.5],
            np.array([3, -1, 0, 2], np.int8),
            [],
            4,
        ]
        for name in ("convolve", "correlate")
        for argument in ("a", "v")
    },
    **{
        (f"np.{name}", "mode"): lambda a, axis: [ABSENT, "full", "same", "valid", 0, 1, 2, "no"]
        for name in ("convolve", "correlate")
    },
    ("np.ravel_multi_index", "multi_index"): lambda a, axis: [
        (1, 2),
        ([1, 2], [0, 3]),
        (np.array([[2], [0]], np.uint8), np.arange(4)),
        np.array([[1, 2], [0, 3]]),
        (-1, 5),
        (1, 9),
        (1.0, 2),
        (1,),
        (np.zeros(0, int), np.zeros(0, np.int8)),
        ([], []),
    ],
    ("np.ravel_multi_index", "dims"): lambda a, axis: [
        (3, 4),
        [3, 4],
        (1000, 7),
        (3, 0),
        5,
        (2.5, 1),
    ],
    ("np.ravel_multi_index", "mode"): lambda a, axis: [
        ABSENT,
        ABSENT,
        "raise",
        "wrap",
        "clip",
        ("wrap", "clip"),
        ("raise",),
        "no",
    ],
    ("np.unravel_index", "indices"): lambda a, axis: [
        5,
        0,
        np.arange(12),
        np.array([[11, 3]], np.uint16),
        [-1],
        [99],
        2.5,
        [],
        [True, False],
        np.zeros(0, int),
    ],
    ("np.unravel_index", "shape"): lambda a, axis: [(3, 4), [3, 4], (2, 3, 2), (), 20, (0, 3)],
    ("np.logspace", "start"): lambda a, axis: [0, -1.5, np.float64(0.5), [0, 1], 1j],
    ("np.logspace", "stop"): lambda a, axis: [1, 2.5, True, [[2, 1], [0, 3]]],
    ("np.logspace", "num"): lambda a, axis: [ABSENT, 5, 1, 0, -1],
    ("np.logspace", "base"): lambda a, axis: [ABSENT, 2, np.float32(3), [2.0, 3.0]],
    ("np.logspace", "axis"): lambda a, axis: [ABSENT, ABSENT, 0, -1],
    ("np.geomspace", "start"): lambda a, axis: [1, -0.5, np.float32(2), [1, 4], 1j, 0],
    ("np.geomspace", "stop"): lambda a, axis: [1000, -8.5, True, [[2, 1], [9, 3]], -1],
    ("np.geomspace", "num"): lambda a, axis: [ABSENT, 5, 1, 0, -1],
    ("np.geomspace", "axis"): lambda a, axis: [ABSENT, ABSENT, 0, -1],
    ("np.gradient", "edge_order"): lambda a, axis: [ABSENT, ABSENT, 1, 2, 3],
    ("np.resize", "new_shape"): lambda a, axis: [
        7,
        (2, 3),
        (1, 30),
        0,
        (2, 0),
        -1,
        (),
        np.int8(4),
        2.5,
    ],
    **{
        (f"np.nan{name}", "axis"): some_axes
        for name in "sum prod max min mean var std argmax argmin".split()
    },
    **{
        (f"np.nan{name}", "initial"): lambda a, axis: [ABSENT, ABSENT, ABSENT, 1, 2.5]
        for name in "sum prod max min".split()
    },
    **{
        (f"np.nan{name}", "where"): lambda a, axis: [ABSENT, ABSENT, True, a != 0, [True]]
        for name in "sum prod max min mean var std".split()
    },
    # In NumPy float16 stays what it is where the result is to be another type.
    **{(f"np.nan{name}", "dtype"): lambda a, axis: [ABSENT] for name in ("var", "std")},
    **{
        (f"np.nan{name}", "ddof"): lambda a, axis: [ABSENT, 0, 1, 2.5, 9] for name in ("var", "std")
    },
    ("np.compress", "condition"): lambda a, axis: [
        [True, False],
        [1, 0, 2],
        np.arange(a.shape[axis] if a.ndim else 1) % 2 == 0,
        [],
        [[True]],
        [True] * 40,
    ],
    ("np.put", "ind"): lambda a, axis: [
        0,
        -1,
        a.size,
        [0, 0],
        [],
        [[0], [-1]],
        np.int8(0),
        0.5,
        [True],
    ],
    ("np.put", "v"): values,
    ("np.putmask", "mask"): masks,
    ("np.putmask", "values"): values,
    ("np.place", "mask"): masks,
    ("np.place", "vals"): values,
    ("np.put_along_axis", "indices"): along,
    ("np.put_along_axis", "values"): lambda a, axis: [1, 2.5, True, np.float32(-1), [7]],
    ("np.copyto", "src"): values,
    ("np.rollaxis", "start"): lambda a, axis: [ABSENT, 0, 1, -1, a.ndim, a.ndim + 1],
    **{
        (f"np.{name}", first): lambda a, axis: [a]
        for name, first in (
            ("put", "a"),
            ("putmask", "a"),
            ("place", "arr"),
            ("put_along_axis", "arr"),
            ("copyto", "dst"),
        )
    },
    # What complex infinities times numbers are hangs on the library.
    ("np.vdot", "b"): lambda a, axis: [
        a if finite(a) else np.zeros(a.shape),
        *([a.T, 2, np.arange(a.size) + 1j] if finite(a) else [np.ones(a.shape, np.int8)]),
    ],
    ("np.inner", "b"): lambda a, axis: [
        a,
        a[..., 0] if a.ndim and a.shape[-1] else a,
        a[:1] if a.ndim else 1,
        np.ones((4, 3)),
        np.arange(6),
        2,
    ],
    ("np.tensordot", "b"): lambda a, axis: [
        a,
        a.T,
        a[..., 0] if a.ndim and a.shape[-1] else a,
        np.ones((4, 3)),
        np.ones((3, 2, 4), np.float32),
        np.arange(6),
        2,
    ],
    ("np.tensordot", "axes"): lambda a, axis: [
        ABSENT,
        0,
        1,
        ((0,), (0,)),
        ([-1], [0]),
        2,
        (0, 1),
        ((0, 1), (0, 1)),
    ],
    ("np.put", "mode"): lambda a, axis: [ABSENT, "raise", "wrap", "clip", "no"],
    ("np.put_along_axis", "axis"): lambda a, axis: [axis, axis, -1, None],
    ("np.copyto", "casting"): lambda a, axis: [ABSENT, ABSENT, "no", "safe", "same_kind", "unsafe"],
    ("np.copyto", "where"): lambda a, axis: [ABSENT, True, a != 0, a > 1, [True], False],
    ("np.squeeze", "axis"): lambda a, axis: [ABSENT, ABSENT, None, 0, -1, (0,), (0, -1), ()],
    ("np.cumulative_sum", "axis"): lambda a, axis: [axis, ABSENT, None, 0, -1],
    ("np.cumulative_prod", "axis"): lambda a, axis: [axis, ABSENT, None, 0, -1],
    ("np.choose", "a"): lambda a, axis: [
        0,
        1,
        [0, 1, 1],
        np.array([[2], [0]], np.uint8),
        [-1, 0],
        [5, 1],
        [True, False],
        [0.5],
        [],
    ],
    ("np.choose", "choices"): lambda a, axis: [
        [1, 2, 3],
        ([1, 2, 3], [4.5, 5, 6]),
        np.arange(9).reshape(3, 3),
        [a[:1], a[:1], a[:1]],
        [],
        [7],
        [np.arange(3), np.float32(2), 1j],
    ],
    ("np.choose", "mode"): lambda a, axis: [ABSENT, "raise", "wrap", "clip", "no"],
    ("np.unwrap", "period"): lambda a, axis: [ABSENT, ABSENT, 4, 5, 2.5],
    ("np.insert", "obj"): insertions,
    ("np.insert", "values"): lambda a, axis: [
        1,
        2,
        [1, 0],
        np.array([1.5]),
        0,
        a[:1] if a.ndim else a,
    ],
    ("np.unpackbits", "count"): lambda a, axis: [ABSENT, None, 3, 100, -3, 0, -1000][
        : None if a.size else 2
    ],
    ("np.trim_zeros", "filt"): trimmable,
    ("np.trim_zeros", "trim"): lambda a, axis: [ABSENT, "f", "b", "bf", "x"],
    ("np.trim_zeros", "axis"): lambda a, axis: [ABSENT, ABSENT, None, 0, -1, (0,)],
    ("np.mask_indices", "n"): lambda a, axis: [0, 1, 4, np.int8(3), 2.5],
    ("np.mask_indices", "mask_func"): lambda a, axis: [np.triu, np.tril],
    ("np.mask_indices", "k"): lambda a, axis: [ABSENT, 0, 1, -1],
    ("np.poly", "seq_of_zeros"): lambda a, axis: [
        [],
        [1, 2],
        [1j, -1j],
        [1 + 1j, 2],
        [[2, 1], [1, 3]],
        np.zeros((2, 3)),
        np.array([1, 2], np.float32),
        [True, False],
        np.array([0.5], np.float16),
        [-1, 0.5, 0, 2],
    ],
    ("np.roots", "p"): lambda a, axis: [
        [],
        [1, -3, 2],
        [0, 0, 1, 2, 0, 0],
        [1, 0, 1],
        [0, 0],
        [1j, 2],
        [3],
        [[1, 2], [3, 4]],
        np.array([1, -3, 2], np.float32),
        np.array([2, -5, 2], np.int8),
    ],
    ("np.polydiv", "u"): lambda a, axis: [
        [1, -3, 2],
        [2.0, 5, 1, 4],
        [1, 2j, 3],
        3,
        np.array([1, 4, 3], np.float32),
    ],
    ("np.polydiv", "v"): lambda a, axis: [
        [1, -1],
        [2, 1, 4],
        [1j, 2],
        2,
        [1, 2, 3, 4, 5],
        np.array([2, 1], np.int8),
    ],
    ("np.polymul", "a1"): lambda a, axis: [a, a.ravel(), [0, 0, 1, 2], 3, [0], a[:0], [True, True]],
    ("np.polymul", "a2"): lambda a, axis: [
        a.ravel()[:3],
        [0, 2, 1],
        0,
        [1j, 2],
        [True, False, True],
    ],
    ("np.polyfit", "x"): lambda a, axis: [
        np.arange(6.0),
        np.linspace(-1, 1, 6).astype(np.float32),
        [0, 1, 2, 3, 4, 6],
        np.ones((2, 3)),
        [],
    ],
    ("np.polyfit", "y"): lambda a, axis: [
        [1, 2, 0, 4, 1, 3],
        np.arange(12.0).reshape(6, 2) % 5,
        [1, 2],
        [1j, 2, 3, 0, 1, 2],
    ],
    ("np.polyfit", "deg"): lambda a, axis: [1, 2, 0, 3, -1, np.int8(2)],
    ("np.polyfit", "rcond"): lambda a, axis: [ABSENT, None, 1e-9],
    ("np.polyfit", "w"): lambda a, axis: [ABSENT, None, [1, 2, 3, 1, 1, 2], [1, 2]],
    ("np.polyfit", "cov"): lambda a, axis: [ABSENT, ABSENT, False, True, "unscaled"],
    ("np.histogram", "bins"): bins,
    ("np.histogram", "range"): limits,
    ("np.histogram", "weights"): bin_weights,
    ("np.histogram_bin_edges", "bins"): bins,
    ("np.histogram_bin_edges", "range"): limits,
    ("np.histogram_bin_edges", "weights"): bin_weights,
    ("np.histogram2d", "y"): lambda a, axis: [a[::-1].copy(), (a * 2).astype(a.dtype), a[1:]],
    ("np.histogram2d", "bins"): point_bins,
    ("np.histogram2d", "range"): point_limits,
    ("np.histogram2d", "weights"): bin_weights,
    ("np.real_if_close", "tol"): lambda a, axis: [ABSENT, 1000, 1, 1e30],
    ("np.histogramdd", "sample"): lambda a, axis: (
        [
            np.nan_to_num(a.real.astype(np.float32), posinf=2, neginf=-2).reshape(-1, d)
            for d in (1, 2)
            if a.size % d == 0
        ]
        + [[[0.5, 2, 1], [1, 2, 0.25]], np.arange(5), (np.arange(4), np.arange(4.0))]
    ),
    ("np.histogramdd", "bins"): lambda a, axis: [ABSENT, 4, [3, 2], ([0.0, 1.0], 3), 0, [2], 2.5],
    ("np.histogramdd", "range"): lambda a, axis: [
        ABSENT,
        None,
        ((0, 5), (-1, 1.5)),
        ((0, 5), None),
        ((3, 1), (0, 1)),
        ((-1, 3),),
    ],
    ("np.histogramdd", "weights"): lambda a, axis: [ABSENT, np.linspace(0, 1, 4), np.arange(5)],
    ("np.unique", "axis"): lambda a, axis: [ABSENT, ABSENT, None, 0, -1, a.ndim],
    **{
        (f"np.{name}", "ar2"): lambda a, axis: [
            a[::-1].copy() if a.ndim else a,
            [1, 2, 2, -1],
            np.array([0.0, 1, np.nan, 1]),
            [],
            a.T,
            np.array([True]),
        ]
        for name in ("union1d", "intersect1d", "setxor1d", "setdiff1d")
    },
    **{
        (f"np.{name}", "assume_unique"): lambda a, axis: [ABSENT, False]
        for name in ("intersect1d", "setxor1d", "setdiff1d")
    },
    ("np.isin", "test_elements"): lambda a, axis: [
        a,
        [1, 2, 5],
        [],
        [0.5, np.nan],
        np.int8(1),
        a.T,
    ],
    ("np.isin", "assume_unique"): lambda a, axis: [ABSENT, False],
    ("np.isin", "kind"): lambda a, axis: [ABSENT, None, "sort", "table", "hash"],
    ("np.digitize", "bins"): lambda a, axis: [
        [-1, 0, 2],
        [2.5, 0.5, -1],
        [0, 0, 1],
        [1, 2, 1],
        [],
        [3],
        [1, 1],
        [2, 2, 0],
        [0, 1, np.nan],
        np.array([-3, 0, 3], np.int8),
        np.array([[1, 2]]),
        np.array([2.0, 1.0], np.float32),
        [1j],
    ],
    ("np.interp", "x"): lambda a, axis: [a, 0.5, 1, a.T, [0.5, -7, np.nan], 3 + 1j],
    ("np.interp", "xp"): lambda a, axis: [
        np.array([-1.5, 0, 0.5]),
        np.array([0, 1, 1], np.int32),
        [-1, 0, 2],
        np.array([-1e300, 0, 3]),
        np.array([[0, 1, 2]]),
        np.array([1.0, 2.0]),
    ],
    ("np.interp", "fp"): lambda a, axis: [
        np.array([1.0, -2, 0.5]),
        np.array([0, np.inf, np.inf]),
        [3, 2, 5],
        np.array([1j, 2, 3 - 1j]),
        np.array([1, 2, 4], np.float32),
        np.array([-np.inf, np.nan, 1]),
        np.array([1.0, 5]),
    ],
    ("np.interp", "left"): lambda a, axis: [ABSENT, None, -5.5, 2, 1j],
    ("np.interp", "right"): lambda a, axis: [ABSENT, None, 7, np.float32(0.5)],
    ("np.interp", "period"): lambda a, axis: [ABSENT, None, 2, 1.25, -3, 0],
    ("np.partition", "kth"): lambda a, axis: ranks(extent(a, axis)),
    ("np.argpartition", "kth"): lambda a, axis: ranks(extent(a, axis)),
    ("np.bincount", "weights"): lambda a, axis: (
        [ABSENT, np.linspace(-1, 2, a.size), [1.0, 2.0]] if a.size else [ABSENT]
    ),
    ("np.bincount", "minlength"): lambda a, axis: [ABSENT, 0, 3, 20, -1],
    ("np.searchsorted", "v"): lambda a, axis: [1, 0.5, a, a.T, [1, 2, -1]],
    # Of arrays with fields, which ours never are.
    **{
        (f"np.{name}", "order"): lambda a, axis: [ABSENT, ABSENT, ABSENT, None]
        for name in ("sort", "argsort", "partition", "argpartition")
    },
    # NumPy has it not: test_array_api.py.
    **{(name, "descending"): lambda a, axis: [ABSENT] for name in ("np.sort", "np.argsort")},
    ("np.searchsorted", "sorter"): lambda a, axis: [ABSENT, np.argsort(a), [0]],
    ("np.lexsort", "keys"): lambda a, axis: (
        [[a], [a, a[::-1]], a, [a.T, np.sort(a.T)]] if a.ndim else [a, [a], [a, a]]
    ),
    ("np.lexsort", "axis"): lambda a, axis: [ABSENT, 0, -1],
    ("np.tri", "N"): lambda a, axis: [0, 1, 4, -2, np.int8(3), True, 2.5],
    ("np.tri", "M"): lambda a, axis: [ABSENT, None, 3, 0, 6, -1, 1.5],
    **{
        (f"np.{name}", "k"): lambda a, axis: [ABSENT, 0, 1, -2, 9, 0.0, -1.5, 0.25, np.int8(1)]
        for name in "tri tril triu tril_indices triu_indices "
        "tril_indices_from triu_indices_from".split()
    },
    **{
        (f"np.{name}", "n"): lambda a, axis: [0, 1, 4, -2, np.int8(3)]
        for name in ("tril_indices", "triu_indices", "diag_indices")
    },
    **{
        (f"np.{name}", "m"): lambda a, axis: [ABSENT, None, 3, 0, 6, -1]
        for name in ("tril_indices", "triu_indices")
    },
    ("np.tile", "reps"): lambda a, axis: [
        0,
        1,
        3,
        np.int8(2),
        -1 if a.size else 2,
        2.5,
        (),
        (2,),
        (2, 1, 3),
        [2, 2],
        (1, 0, 2, 1),
        np.array([2, 1]),
    ],
    ("np.kron", "b"): lambda a, axis: [a, [1, 2], 3, np.eye(2), np.ones((2, 1, 3), np.int16), a.T],
    ("np.pad", "pad_width"): lambda a, axis: [
        0,
        2,
        np.int8(1),
        -1,
        1.5,
        (3, 1),
        (2,),
        ((1, 0),) * max(a.ndim, 1),
        ((2,),),
        [[0, 9]],
        {0: 2, -1: (0, 5)},
        ((1, 2), (3, 0), (0, 1)),
    ],
    ("np.pad", "mode"): lambda a, axis: [
        ABSENT,
        "constant",
        "edge",
        "reflect",
        "symmetric",
        "wrap",
        "edge",
        "reflect",
        "symmetric",
        "wrap",
        "linear_ramp",
        "maximum",
        "mean",
        "median",
        "minimum",
        "no such mode",
    ],
    ("np.pad", "end_values"): lambda a, axis: [ABSENT] * 8 + [3, (1, 2.5), ((1, 0),)],
    ("np.pad", "stat_length"): lambda a, axis: [ABSENT] * 8 + [0, 1, (2, 3), ((1, 9),)],
    ("np.pad", "constant_values"): lambda a, axis: [ABSENT, ABSENT, 3, (1, 2), ((1, 0),), 2.5],
    ("np.pad", "reflect_type"): lambda a, axis: [ABSENT, ABSENT, ABSENT, "even", "odd"],
    **{
        (f"np.{name}", "b"): lambda a, axis: [
            a,
            a + a.dtype.type(0 if a.dtype.kind in "b" else 1),
            np.nan_to_num(a.real.astype(np.float64), posinf=5, neginf=-7) * (1 + 5e-6),
            a[:1],
            1,
            0.5,
            np.float32(2),
            np.inf,
            True,
        ]
        for name in ("isclose", "allclose")
    },
    **{
        (f"np.{name}", tolerance): lambda a, axis: [ABSENT, 0, 0.5, np.float32(0.25)]
        for name in ("isclose", "allclose")
        for tolerance in ("rtol", "atol")
    },
    ("np.array_equiv", "a2"): lambda a, axis: [a, a[:1], a.tolist(), 1, a.T, np.ones((2, 1, 1))],
    ("np.nan_to_num", "nan"): lambda a, axis: [ABSENT, 7, 2.5, np.float32(3)],
    ("np.nan_to_num", "posinf"): lambda a, axis: [ABSENT, None, 5, np.inf],
    ("np.nan_to_num", "neginf"): lambda a, axis: [ABSENT, None, -4.5, np.nan],
    **{
        (f"np.{name}", "M"): lambda a, axis: [0, 1, 2, 7, 12.0, 5.5, -3, np.int8(4), True]
        for name in "hanning hamming blackman bartlett kaiser".split()
    },
    ("np.kaiser", "beta"): lambda a, axis: [0, 2.5, 14, np.float32(1.5)],
    ("np.fill_diagonal", "a"): lambda a, axis: [
        a,
        np.zeros((7, 3)),
        np.zeros((2, 5), np.int32),
        np.zeros((3, 3, 3)),
        np.zeros((3, 2, 3)),
    ],
    ("np.fill_diagonal", "val"): lambda a, axis: [
        7,
        2.5,
        np.int8(3),
        [1, 2],
        np.arange(6.0),
        np.arange(1, 5).reshape(2, 2),
    ],
    ("np.diag_indices", "ndim"): lambda a, axis: [ABSENT, 1, 3, 0, -1],
    **{
        (f"np.{name}", "a2"): lambda a, axis: [a, a[1:], [0, 0, 2], 1.5, [0], np.arange(4.0)]
        for name in ("polyadd", "polysub")
    },
    ("np.polyder", "m"): lambda a, axis: [ABSENT, 1, 3, 2, 0, -1],
    ("np.polyval", "x"): lambda a, axis: [a, a.T, 2, 0.5, np.float32(2), [1, 2], 1j],
    ("np.vander", "N"): lambda a, axis: [ABSENT, None, 3, 1, 0, 6],
    ("np.polyint", "m"): lambda a, axis: [ABSENT, 1, 3, 2, 0, -1],
    ("np.polyint", "k"): lambda a, axis: [ABSENT, None, 2, 1.5j, [3, 1, 2], np.float32(0.5), [4]],
    ("np.diff", "n"): lambda a, axis: [ABSENT, 0, 1, 2, 3, -1],
    ("np.diff", "prepend"): lambda a, axis: [ABSENT, 2, one_layer(a, axis)],
    ("np.diff", "append"): lambda a, axis: [ABSENT, 1, one_layer(a, axis)],
    ("np.ediff1d", "to_end"): lambda a, axis: [ABSENT, 3, np.array([1, 2], a.dtype), 2.5],
    ("np.ediff1d", "to_begin"): lambda a, axis: [ABSENT, 1, np.array([[1, 0]], a.dtype)],
    ("np.trapezoid", "x"): lambda a, axis: [ABSENT, None, np.linspace(0, 2, extent(a, axis)), a],
    ("np.trapezoid", "dx"): lambda a, axis: [ABSENT, 2, 0.5],
    ("np.cov", "y"): alike,
    ("np.cov", "ddof"): lambda a, axis: [ABSENT, None, 0, 1, 2.0, 0.5],
    ("np.cov", "fweights"): fweights,
    ("np.cov", "aweights"): aweights,
    ("np.cov", "dtype"): lambda a, axis: [
        ABSENT,
        None,
        "complex128" if a.dtype.kind == "c" else "float32",
    ],
    ("np.corrcoef", "y"): alike,
    ("np.corrcoef", "dtype"): lambda a, axis: [
        ABSENT,
        None,
        "complex128" if a.dtype.kind == "c" else "float32",
    ],
    ("np.quantile", "q"): fractions(1),
    ("np.percentile", "q"): fractions(100),
    ("np.nanquantile", "q"): fractions(1, 1),
    ("np.nanpercentile", "q"): fractions(100, 1),
    ("np.quantile", "weights"): weights,
    ("np.percentile", "weights"): weights,
    ("np.nanquantile", "weights"): own_weights,
    ("np.nanpercentile", "weights"): own_weights,
    # What a ufunc leaves out holds anything; words are those of its own call.
    ("np.divmod", "out"): lambda a, axis: [ABSENT, (None, None), (None,), None],
    ("np.divmod", "where"): lambda a, axis: [ABSENT, True],
    ("np.divmod", "casting"): lambda a, axis: [ABSENT, "same_kind", "safe", "unsafe"],
    ("np.divmod", "order"): lambda a, axis: [ABSENT, "K", "C"],
    ("np.divmod", "subok"): lambda a, axis: [ABSENT, True, False],
}
# By parameter, of functions that have no values of their own; `where` also of no array.
COMMON = {
    "order": lambda a, axis: [ABSENT, "C", "F", "A", "K"],
    "casting": lambda a, axis: [ABSENT] * 4 + ["same_kind", "unsafe", "safe", "no", "no such"],
    "where": lambda a, axis: [ABSENT, ABSENT, True, a != 0, a[:1] > 1 if a.ndim else a > 1, [True]],
    "initial": lambda a, axis: [ABSENT, ABSENT, ABSENT, 1, 2.5, None],
    "dtype": lambda a, axis: [ABSENT] * 3 + [np.float32, "float64", "int8", "int64", "complex64"],
    "ddof": lambda a, axis: [ABSENT, 0, 1, 2.5, 9],
    "correction": lambda a, axis: [ABSENT, ABSENT, 1],
    "subok": lambda a, axis: [ABSENT, True, False],
    "mode": lambda a, axis: [ABSENT, "raise", "wrap", "clip", "no"],
    "shape": lambda a, axis: [ABSENT, ABSENT, None, (2, 3), 4, (), (0, 2)],
    "num": lambda a, axis: [ABSENT, 5, 1, 0, -1],
}
