"""Nets that are trained for some steps; the loss of each step is recorded."""

import numpy as np
from inputs import seeded

STEPS = 20
CASES = {
    "mlp": ("Sequential(Linear(6, 8), ReLU(), Linear(8, 3))", (16, 6), 3, "SGD",
            {"lr": 0.2, "momentum": 0.9, "nesterov": True}),
    "cnn": ("Sequential(Conv2d(1, 4, 3), BatchNorm2d(4), ReLU(), MaxPool2d(2), Conv2d(4, 6, 3), "
            "ReLU(), AdaptiveAvgPool2d(1), Flatten(), Linear(6, 4))", (8, 1, 10, 10), 4, "Adam",
            {"lr": 0.02}),
    "norms": ("Sequential(Linear(6, 8), LayerNorm(8), GELU(), Linear(8, 8), GroupNorm(2, 8), "
              "SiLU(), Linear(8, 3))", (16, 6), 3, "AdamW", {"lr": 0.05}),
    "transformer": ("Sequential(TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), "
                    "Flatten(), Linear(40, 3))", (6, 5, 8), 3, "RMSprop", {"lr": 0.003}),
}  # fmt: skip

# Programs in examples/ whose losses are recorded, with options for a few steps.
TRAINED_EXAMPLES = {
    "mnist_cnn": "--size 320 --epochs 2",
    "cifar_cnn": "--size 320 --epochs 2",
    "char_lstm": "--size 24 --epochs 6",
    "transformer": "--size 32 --epochs 12",
}
# One that learns for 100 steps, with PyTorch's threads and dtypes.
LEARNING = ("mnist_cnn", "--size 6400 --epochs 1")
LEARNT = ((1, "float32"), (2, "float32"), (1, "float64"))


def data(name, batch):
    """(input, classes) of a batch."""
    _, shape, classes, _, _ = CASES[name]
    random = seeded(f"{name} batch {batch % 4}")
    return random.normal(size=shape), random.randint(0, classes, size=shape[0]).astype(np.int64)


def weight(name, key, shape):
    return seeded(f"{name} {key}").normal(size=shape) * 0.4
