"""Calls of torchvision's names, as a script that both libraries run: FILE.npz gets the results."""

import os
import sys

import numpy as np
import torch
from PIL import Image
from torchvision import transforms
from torchvision.transforms import functional as TF
from torchvision.utils import make_grid, save_image

random = np.random.RandomState(0)
found = {}


def put(name, x):
    found[f"{name} {len(found)}"] = np.asarray(x.numpy() if isinstance(x, torch.Tensor) else x)


def picture(name, im):
    put(name, np.asarray(im))


a = random.randint(0, 256, size=(11, 9, 3)).astype(np.uint8)
for im in (Image.fromarray(a), Image.fromarray(a[:, :, 0].copy())):
    t = transforms.ToTensor()(im)
    raw = TF.pil_to_tensor(im)
    put("to_tensor", t)
    put("pil_to_tensor", raw)
    put("normalize", transforms.Normalize((0.5,) * t.shape[0], (0.25,) * t.shape[0])(t))
    for size in (6, 14, (5, 20)):
        picture("resize", transforms.Resize(size)(im))
        put("resize", transforms.Resize(size)(t))
        put("resize", transforms.Resize(size, antialias=False)(t))
        for mode in ("BICUBIC", "NEAREST"):
            kind = getattr(transforms.InterpolationMode, mode)
            put("resize", transforms.Resize(size, interpolation=kind)(t))
        put("resize bytes", transforms.Resize(size)(raw))
    put("resize", transforms.Resize(8, max_size=9)(t))
    for size in (5, (6, 4), 13, (7, 20)):
        picture("center_crop", transforms.CenterCrop(size)(im))
        put("center_crop", transforms.CenterCrop(size)(t))
    for flip in (TF.hflip, TF.vflip):
        picture("flip", flip(im))
        put("flip", flip(t))
    for box in ((2, 3, 5, 6), (-2, -3, 10, 20), (20, 25, 3, 3)):
        picture("crop", TF.crop(im, *box))
        put("crop", TF.crop(t, *box))
    for pad in (2, (1, 2), (1, 2, 3, 4)):
        for mode in ("constant", "edge", "reflect"):
            picture("pad", TF.pad(im, pad, padding_mode=mode))
            put("pad", TF.pad(t, pad, padding_mode=mode))
        picture("pad", TF.pad(im, pad, fill=7))
        put("pad", TF.pad(t, pad, fill=0.5))
    if t.shape[0] == 3:
        for count in (1, 3):
            picture("grey", transforms.Grayscale(count)(im))
            put("grey", transforms.Grayscale(count)(t))
            put("grey", transforms.Grayscale(count)(raw))
    for adjust in (TF.adjust_brightness, TF.adjust_contrast, TF.adjust_saturation):
        for factor in (0.5, 1.3):
            picture("adjust", adjust(im, factor))
            put("adjust", adjust(t, factor))
            put("adjust", adjust(raw, factor))
    picture("rotate", TF.rotate(im, 30))
    picture("rotate", TF.rotate(im, 30, expand=True, fill=9))
    picture("to_pil_image", transforms.ToPILImage()(t))
    for dtype in (torch.float64, torch.uint8, torch.int16):
        put("convert", TF.convert_image_dtype(t, dtype))
        put("convert", TF.convert_image_dtype(raw, dtype))
    put("grid", make_grid(torch.stack([t] * 5), nrow=3, padding=1, pad_value=0.5))
    put("grid", make_grid([t, t * 2], normalize=True))
    words = {"normalize": True, "scale_each": True, "value_range": (0.0, 0.5)}
    put("grid", make_grid(torch.stack([t, t * 2]), **words))
file = sys.argv[1] + ".png"
save_image(torch.stack([t] * 5), file, nrow=2)
picture("save_image", Image.open(file))
os.remove(file)
shown = transforms.Compose(
    [
        transforms.Resize(3),
        transforms.ToTensor(),
        transforms.Normalize(0.5, 0.2),
        transforms.RandomCrop(32, padding=4),
        transforms.RandomHorizontalFlip(),
        transforms.CenterCrop(3),
        transforms.Grayscale(),
        transforms.Lambda(abs),
    ]
)
put("shown", np.frombuffer(repr(shown).encode(), np.uint8))
np.savez(sys.argv[1], **found)
