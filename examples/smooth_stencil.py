"""Smoothing a photograph by the mean of 3 × 3 points, with a stencil.

python examples/smooth_stencil.py [photo.jpg]                 by Numba
python -m numbus examples/smooth_stencil.py [photo.jpg]
"""

import common
from numba import njit, stencil
from smooth import arguments, photo, show


@stencil
def mean(p):
    """Of a point and its eight neighbours, in one plane of colour."""
    return (
        p[-1, -1] + p[-1, 0] + p[-1, 1]
        + p[0, -1] + p[0, 0] + p[0, 1]
        + p[1, -1] + p[1, 0] + p[1, 1]
    ) / 9.0  # fmt: skip


@njit
def smooth(image, passes):
    """Each point becomes the mean of 3 × 3 points, `passes` times over; the edges stay."""
    result = image.copy()
    for colour in range(image.shape[2]):
        for _ in range(passes):
            p = result[:, :, colour].copy()
            result[1:-1, 1:-1, colour] = mean(p)[1:-1, 1:-1]
    return result


def main():
    chosen = arguments(__doc__, common.options).parse_args()
    before = photo(chosen.photo, chosen.size)
    title = f"{before.shape[1]} × {before.shape[0]}, {chosen.passes} passes"
    show(chosen, before, common.timed(title, smooth, before, chosen.passes))


if __name__ == "__main__":
    main()
