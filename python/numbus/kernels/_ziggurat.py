"""The tables of NumPy's ziggurats (Marsaglia and Tsang 2000): 256 strips of equal area under the
density of normal, or of exponential numbers.

A word of the stream is an index of a strip and an integer; the integer times the strip's width is
the number, and where the integer is below the strip's limit, the number lies under the density
whatever its height is. The tables follow from where the last strip begins. NumPy's own were once
computed in arithmetic that rounded: what they differ by, in units in the last place, stands here.
"""

import decimal
import functools

import numpy as np

STRIPS = 256
# Where the last strip begins, beyond which is the tail.
NORMAL_TAIL = "3.6541528853610087963519472518"
EXPONENTIAL_TAIL = "7.6971174701310497140446280481"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"  # h is no difference
_DIFFERENCES = {
    ("normal", "float64", "limits"): (
        "mhCXcfgfhhggfhhhhighihgighhhighhhhgihhfhhhhhghhghhhhhhihhhhhghgg"
        "hghgihhhhghihhhhghhhhghhhhhghhhhighhihhhhhhhhhihhghhhhhhhhghihhi"
        "hhghhhhghhhhhhihghghgihhihhhgihhhhhhghiihhhhhgghhiihhhhhihhhhhhi"
        "hihihhhhhhhgihghhhhghgiighhhhihhghhhhhhihhihhhhghhhhhghghhhhihhh"
    ),
    ("normal", "float64", "widths"): (
        "YAAAFHHLLWXYZZZZZYZZYYYXYZZaZZZaZZaaZZbbbccbcbccccbbedddddddedee"
        "eededeedeffeeedeeeeeeefffffgggggffgfffffgfffffeeefffggffffgggggf"
        "ffggffffffffedddeeeefffggggghhhhhgghghggghhhijkkkjjihhhhhhhhghhh"
        "hhhgggggfgffffffggggghggghhhgghhhhhhghhghgggggggghihiiiiiihhhiih"
    ),
    ("normal", "float64", "heights"): (
        "honmmmmlmmmllllllmlmmmmmmlllmmmllmlllmllkkkkklkllklkllmmmmmmmlll"
        "llmlmllllkjkooppnopoponmnmllkkkkmlklllllklllmmnnmmllkklklkjiijjk"
        "kkkkkllkkllkmnoonmmrooomlmlkijhhikkjiiijijhgecaaZcdfghihihjhiiij"
        "jijonmrnttttwuusqopokinpljghljjehijkkjklimknpxuqlgdfbaYacaecbZZj"
    ),
    ("exponential", "float64", "limits"): (
        "fhfhhggffffggghgfgghhggfghhggfghgghfghhggfhghfggghgghgghgggfggfg"
        "ffffgffghfffggfhggfghgggggggghhhghfgghffggffhfggfgggffhggghghggg"
        "hhfgfgghghhggggghgfgggfhhggggfgghggffggfhggggffgggghggghfghggggf"
        "ggghggfggfffhghghgfhgffghfffgggghhgfggggfgghggghgggfggfghhggfgfh"
    ),
}
_FURTHER = {
    ("normal", "float64", "widths"): {1: -130, 2: -40},
    ("exponential", "float32", "widths"): {226: 1},
    ("exponential", "float32", "heights"): {128: -1, 154: 1, 171: -1},
}


def _normal():
    """The density, its inverse, where the last strip begins, and the area of each strip."""
    x = decimal.Decimal(NORMAL_TAIL)

    def density(x):
        return (-x * x / 2).exp()

    # The integral of the tail by its continued fraction (Laplace).
    fraction = decimal.Decimal(0)
    for k in range(300, 0, -1):
        fraction = k / (x + fraction)
    area = x * density(x) + density(x) / (x + fraction)
    return density, lambda y: (-2 * y.ln()).sqrt(), x, area


def _exponential():
    x = decimal.Decimal(EXPONENTIAL_TAIL)

    def density(x):
        return (-x).exp()

    return density, lambda y: -y.ln(), x, (x + 1) * density(x)


def _corrected(key, values):
    """Values with NumPy's differences from them; of floats the steps to the next ones count."""
    letters = _DIFFERENCES.get(key)
    steps = [_LETTERS.index(c) - _LETTERS.index("h") for c in letters] if letters else [0] * STRIPS
    for k, step in _FURTHER.get(key, {}).items():
        steps[k] = step
    words = values.view(f"i{values.itemsize}") + np.array(steps, f"i{values.itemsize}")
    return words.view(values.dtype)


@functools.cache
def tables(kind, dtype):
    """Limits (uint64, of float32 uint32), widths and heights of the strips of `kind`, "normal" or
    "exponential", in that dtype.
    """
    # Of a word what is left beside the sign, the strip's index and bits that are not used.
    bits = 23 if dtype == "float32" else 52 if kind == "normal" else 53
    with decimal.localcontext() as context:
        context.prec = 34
        density, inverse, x, area = _normal() if kind == "normal" else _exponential()
        scale = decimal.Decimal(1 << bits)
        edges, heights = [x], [density(x)]
        while len(edges) < STRIPS - 1:
            x = inverse(area / x + heights[-1])
            edges.append(x)
            heights.append(density(x))
        # The lowest strip, which has the tail, is as wide as a rectangle of its area would be.
        edges.append(area / heights[0])
        heights.append(decimal.Decimal(1))
        edges.reverse()
        heights.reverse()
        inner = [edges[-1], decimal.Decimal(0), *edges[1:]]
        limits = [round(i / e * scale) for i, e in zip(inner, edges, strict=False)]
        made = (
            np.array(limits, "u4" if dtype == "float32" else "u8"),
            np.array([float(e / scale) for e in edges]).astype(dtype),
            np.array([float(h) for h in heights]).astype(dtype),
        )
    names = ("limits", "widths", "heights")
    return tuple(_corrected((kind, dtype, name), v) for name, v in zip(names, made, strict=True))
