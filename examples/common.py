"""What the examples share: options, the array module, timing, saved data and pictures."""

import argparse
import os
import sys
import time

import numpy as np

PALETTES = {  # colours at equal distances, dark to bright
    "heat": [(10, 8, 40), (90, 20, 110), (205, 55, 75), (250, 150, 45), (252, 250, 190)],
    "sea": [(4, 10, 40), (20, 60, 140), (60, 150, 200), (240, 230, 160), (255, 255, 255)],
}
LINES = ((31, 90, 160), (215, 90, 30), (40, 140, 80))


def count(text):
    """A positive whole number, for argparse."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"got {number}; expected at least 1")
    return number


def options(doc, size, unit):
    """A parser with what every example takes; `size` is the default, in `unit`."""
    name = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=count, default=size, help=f"{unit} (default: {size})")
    parser.add_argument("--save", metavar="FILE.npy", help="save the data behind the picture")
    words = "'' for none (default: %(default)s)"
    parser.add_argument("--picture", metavar="FILE.png", default=f"{name}.png", help=words)
    return parser


def array_options(doc, size, unit):
    """The same for an example that runs on any array module."""
    parser = options(doc, size, unit)
    parser.add_argument("--module", choices=("numpy", "cupy"), default="numpy")
    return parser


def array_module(name):
    """NumPy, or CuPy where that is asked for."""
    if name == "cupy":
        import cupy

        return cupy
    return np


def wait(xp):
    """Returns when all work is done: CuPy's calls return before that."""
    if xp is not np:
        xp.cuda.Device().synchronize()


def host(array):
    """The array in the host's memory."""
    return array.get() if hasattr(array, "get") else np.asarray(array)


def stopwatch(function, *arguments, xp=np, repeat=3):
    """The result of the function, the seconds of its first call and of the best one after it."""
    seconds = []
    for _ in range(1 + repeat):
        start = time.perf_counter()
        result = function(*arguments)
        wait(xp)
        seconds.append(time.perf_counter() - start)
    return result, seconds[0], min(seconds[1:])


def timed(what, function, *arguments, xp=np):
    """The result of the function; prints what its first call takes, and the best one after it."""
    result, first, best = stopwatch(function, *arguments, xp=xp)
    print(f"{what}: {1e3 * best:.3f} ms (first call {1e3 * first:.1f} ms)")
    return result


def check(what, found, expected, tolerance):
    """Ends the program with an error where two arrays differ by more than the tolerance."""
    worst = float(np.abs(found - expected).max())
    print(f"{what}: largest difference {worst:.1e}")
    if not worst <= tolerance:
        raise SystemExit(f"{what}: more than {tolerance:.1e}")


def save(chosen, data):
    """Writes the data as .npy where that is asked for."""
    if chosen.save:
        np.save(chosen.save, data)


# ---- pictures ------------------------------------------------------------------------------------
def pillow():
    """The modules Image and ImageDraw; None where Pillow is not installed."""
    try:
        from PIL import Image, ImageDraw
    except ImportError:
        print("no picture: Pillow is not installed (pip install pillow)")
        return None
    return Image, ImageDraw


def colour_map(field, file, palette="heat"):
    """A two-dimensional field as an image of its own size, its least value the darkest."""
    if not file or not pillow():
        return
    Image, _ = pillow()
    low, high = float(field.min()), float(field.max())
    index = ((field - low) * (255 / ((high - low) or 1))).astype(np.uint8)
    image = Image.frombytes("P", (field.shape[1], field.shape[0]), index.tobytes())
    stops = PALETTES[palette]
    table = []
    for k in range(256):
        left, part = divmod(k * (len(stops) - 1) / 255, 1)
        a, b = stops[int(left)], stops[min(int(left) + 1, len(stops) - 1)]
        table += [round(x + (y - x) * part) for x, y in zip(a, b)]
    image.putpalette(table)
    image.save(file, optimize=True)
    print(f"wrote {file}")


def curves(lines, file, size=(640, 320)):
    """Curves over equally spaced positions, on one scale: a dict of names and sequences."""
    if not file or not pillow():
        return
    Image, ImageDraw = pillow()
    lines = {name: [float(v) for v in values] for name, values in lines.items()}
    everything = [v for values in lines.values() for v in values]
    low, high = min(everything), max(everything)
    width, height = size
    image = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(image)
    for (name, values), colour, row in zip(lines.items(), LINES, range(9)):
        across, up = (width - 20) / (len(values) - 1), (height - 40) / ((high - low) or 1)
        positions = [(10 + i * across, height - 10 - (v - low) * up) for i, v in enumerate(values)]
        draw.line(positions, fill=colour, width=2)
        draw.text((12 + 200 * row, 6), name, fill=colour)
    image.quantize(64).save(file, optimize=True)
    print(f"wrote {file}")


def bars(rows, file, unit, width=640):
    """Horizontal bars: (name, [(begin, end), …]) each, from 0 to the largest end."""
    if not file or not pillow():
        return
    Image, ImageDraw = pillow()
    largest = max(end for _, parts in rows for _, end in parts)
    image = Image.new("RGB", (width, 24 * len(rows) + 24), "white")
    draw = ImageDraw.Draw(image)
    scale = (width - 130) / (largest or 1)  # a simulator has no times
    for row, (name, parts) in enumerate(rows):
        draw.text((8, 24 * row + 6), name, fill="black")
        for k, (begin, end) in enumerate(parts):
            box = (110 + begin * scale, 24 * row + 4, 110 + end * scale, 24 * row + 19)
            draw.rectangle(box, fill=LINES[k % len(LINES)])
    draw.text((110, 24 * len(rows) + 6), f"0 to {largest:.3g} {unit}", fill="black")
    image.quantize(16).save(file, optimize=True)
    print(f"wrote {file}")
