"""What the examples of training share: options, weights and orders that do not depend on the
library, and pictures of what was learnt.
"""

import common
import numpy as np
import torch

FRAME = {True: (255, 255, 255), False: (220, 40, 30)}


def options(doc, size, unit, epochs):
    """common.options() with the number of epochs, or of steps, and the device."""
    parser = common.options(doc, size, unit)
    words = "(default: %(default)s)"
    parser.add_argument("--epochs", type=common.count, default=epochs, help=words)
    there = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--device", default=there, help=f"cpu or cuda {words}")
    return parser


def start(model, gain=1, seed=0):
    """Gives a model weights that are drawn by NumPy, so that each library begins with the same.

    gain: how much of a mean square a product should keep; 2 makes up for what ReLU takes away.
    """
    random = np.random.RandomState(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.ndim > 1:
                bound = (3 * gain / p[0].numel()) ** 0.5
                drawn = random.uniform(-bound, bound, tuple(p.shape)).astype(np.float32)
                p.copy_(torch.from_numpy(drawn))
            elif "bias" in name:
                p.zero_()
    return model


def order(count, epoch):
    """The numbers below `count` in the random order of that epoch."""
    return np.random.RandomState(100 + epoch).permutation(count).tolist()


def smoothed(values, width):
    """Running means, which begin with shorter ones."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    at = np.arange(1, len(values) + 1)
    low = np.maximum(at - width, 0)
    return (sums[at] - sums[low]) / (at - low)


def answers(pictures, right, file, across=16):
    """Pictures, bytes of (N, H, W) or (N, H, W, 3), side by side, the wrong ones framed in red."""
    if not file or not common.pillow():
        return
    Image, ImageDraw = common.pillow()
    count, height, width = pictures.shape[:3]
    step_y, step_x = height + 4, width + 4
    image = Image.new("RGB", (across * step_x, -(-count // across) * step_y), "white")
    draw = ImageDraw.Draw(image)
    for k in range(count):
        x, y = k % across * step_x, k // across * step_y
        draw.rectangle((x, y, x + step_x - 1, y + step_y - 1), fill=FRAME[bool(right[k])])
        a = common.host(pictures[k])
        image.paste(Image.fromarray(a).convert("RGB"), (x + 2, y + 2))
    image.quantize(128).save(file, optimize=True)
    print(f"wrote {file}")
