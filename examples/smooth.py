"""Smoothing a photograph by the mean of 3 × 3 points, with slices.

python examples/smooth.py [photo.jpg] [--module cupy]
python -m numbus examples/smooth.py [photo.jpg] [--module cupy]

Without a file it takes the portrait of Grace Hopper (public domain) that comes with matplotlib.
"""

import common
import numpy as np


def photo(file, size):
    """The image as float64 in [0, 1], of shape (height, width, 3), at most `size` wide."""
    try:
        from PIL import Image
    except ImportError:
        raise SystemExit("Pillow is not installed (pip install pillow)") from None
    if file is None:
        try:
            from matplotlib.cbook import get_sample_data
        except ImportError:
            raise SystemExit("name a photograph, or install matplotlib for one") from None
        file = get_sample_data("grace_hopper.jpg", asfileobj=False)
    try:
        image = Image.open(file).convert("RGB")
    except OSError as error:
        raise SystemExit(f"cannot read the photograph {file!r}: {error}") from None
    width = min(size, image.width)
    image = image.resize((width, image.height * width // image.width))
    return np.asarray(image) / 255.0


def smooth(p, passes):
    """Each point becomes the mean of 3 × 3 points, `passes` times over; the edges stay."""
    for _ in range(passes):
        q = p.copy()
        q[1:-1, 1:-1] = (
            p[:-2, :-2] + p[:-2, 1:-1] + p[:-2, 2:]
            + p[1:-1, :-2] + p[1:-1, 1:-1] + p[1:-1, 2:]
            + p[2:, :-2] + p[2:, 1:-1] + p[2:, 2:]
        ) / 9.0  # fmt: skip
        p = q
    return p


def arguments(doc, options):
    """The options of both forms of this example."""
    parser = options(doc, 512, "largest width in points")
    parser.add_argument("photo", nargs="?", help="an image file (default: matplotlib's sample)")
    parser.add_argument("--passes", type=int, default=8, help="(default: %(default)s)")
    return parser


def show(chosen, before, after):
    """Saves the smoothed image and draws both side by side."""
    common.save(chosen, after)
    if not chosen.picture or not common.pillow():
        return
    Image, _ = common.pillow()
    both = np.concatenate([before, after], axis=1)
    pixels = np.rint(both * 255).astype(np.uint8)
    Image.frombytes("RGB", (both.shape[1], both.shape[0]), pixels.tobytes()).save(chosen.picture)
    print(f"wrote {chosen.picture}")


def main():
    chosen = arguments(__doc__, common.array_options).parse_args()
    xp = common.array_module(chosen.module)
    before = photo(chosen.photo, chosen.size)
    p = xp.asarray(before)
    title = f"{before.shape[1]} × {before.shape[0]}, {chosen.passes} passes"
    show(chosen, before, common.host(common.timed(title, smooth, p, chosen.passes, xp=xp)))


if __name__ == "__main__":
    main()
