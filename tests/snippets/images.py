"""Images as arrays: filters, colours, histograms, masks."""

import numpy as np

rng = np.random.default_rng(3)
height, width = 24, 32
y, x = np.mgrid[0:height, 0:width]
image = np.zeros((height, width, 3), dtype=np.uint8)
image[..., 0] = (x * 255) // (width - 1)
image[..., 1] = (y * 255) // (height - 1)
image[(x - 16) ** 2 + (y - 12) ** 2 < 36] = [10, 200, 250]
image[2:5, 2:9, :] = 255

print("-- facts")
print(image.shape, image.dtype, image.min(), image.max(), image.mean(axis=(0, 1)))
print(image[12, 16], image[::8, ::8, 0])

print("-- grey levels")
grey = image @ np.array([0.2989, 0.5870, 0.1140])
print(grey.dtype, grey.shape, grey[0, :4], grey.round(1)[10, 10:14])
grey8 = np.clip(np.rint(grey), 0, 255).astype(np.uint8)
print(grey8.sum(), grey8[3], 255 - grey8[0, :5])

print("-- flips, crops, thumbnails")
print(np.flipud(grey8)[0, :6], np.fliplr(grey8)[0, :6], np.rot90(grey8).shape)
print(np.rot90(grey8, 3)[0, :6], grey8[4:-4, 6:-6].shape, np.roll(grey8, 3, axis=1)[0, :6])
small = grey8.reshape(height // 4, 4, width // 4, 4).mean(axis=(1, 3))
print(small)
print(np.repeat(np.repeat(small[:2, :2], 2, axis=0), 2, axis=1))

print("-- brighter, with and without wrapping")
print((grey8 + 100)[0, -4:], (grey8 + np.uint8(200))[0, :4])
print(np.where(grey8 > 155, 255, grey8 + 100)[0, -4:])
print(np.minimum(grey8.astype(int) + 100, 255).astype(np.uint8)[3, :8])

print("-- thresholds and levels")
mask = grey > grey.mean()
print(mask.sum(), mask.mean(), np.count_nonzero(~mask), grey[mask].min())
print(np.digitize(grey8[12], [64, 128, 192]))
print(np.select([grey8 < 64, grey8 < 128], [0, 100], default=250)[12])

print("-- histogram equalisation")
counts, edges = np.histogram(grey8, bins=16, range=(0, 256))
print(counts, edges[:4])
table = np.bincount(grey8.ravel(), minlength=256).cumsum()
table = (table - table.min()) * 255 // (table.max() - table.min())
print(table[::32], table.astype(np.uint8)[grey8][12])

print("-- convolution by shifted sums")
kernel = np.array([[-1, -1, -1], [-1, 8, -1], [-1, -1, -1]])
edge = np.pad(grey8.astype(int), 1, mode="edge")
found = np.zeros_like(grey8, dtype=int)
for dy in range(3):
    for dx in range(3):
        found += kernel[dy, dx] * edge[dy : dy + height, dx : dx + width]
print(found[6:9, 9:20], np.abs(found).max())

print("-- Sobel gradients and directions")
gx = grey[1:-1, 2:] - grey[1:-1, :-2]
gy = grey[2:, 1:-1] - grey[:-2, 1:-1]
size = np.hypot(gx, gy)
print(size.max().round(6), np.unravel_index(size.argmax(), size.shape))
print(np.degrees(np.arctan2(gy, gx))[5, 8:12].round(4))

print("-- Gaussian blur, separable")
t = np.arange(-3, 4)
g = np.exp(-0.5 * (t / 1.2) ** 2)
g /= g.sum()
rows = np.apply_along_axis(lambda line: np.convolve(line, g, mode="same"), 1, grey)
both = np.apply_along_axis(np.convolve, 0, rows, g, "same")
print(g, both[12, 14:18].round(8))

print("-- noise, median filter, error")
noisy = grey8.copy()
noisy[rng.random(noisy.shape) < 0.05] = 255
windows = np.lib.stride_tricks.sliding_window_view(noisy, (3, 3))
clean = np.median(windows, axis=(2, 3))
print(noisy.sum(), clean.dtype, clean.sum())
mse = np.mean((clean - grey8[1:-1, 1:-1]) ** 2)
print(mse, 10 * np.log10(255**2 / mse))

print("-- blending, channels, stacks")
other = image[:, ::-1]
print((0.25 * image + 0.75 * other).astype(np.uint8)[5, 5])
r, gr, b = np.moveaxis(image, -1, 0)
print(r.shape, gr.sum(), np.dstack([b, gr, r])[12, 16], np.stack([r, b]).max(axis=0)[0, :4])
print(np.concatenate([grey8, grey8[::-1]], axis=1).shape, np.vstack((grey8, grey8)).shape)
palette = np.array([[0, 0, 0], [255, 0, 0], [0, 255, 0], [0, 0, 255]], dtype=np.uint8)
print(palette[(grey8 // 64)][12, :3], np.unique(grey8 // 64))

print("-- bounding box, centre of mass, runs")
rows_with, columns_with = np.where(mask.any(axis=1))[0], np.where(mask.any(axis=0))[0]
print(rows_with[[0, -1]], columns_with[[0, -1]])
print((grey * y).sum() / grey.sum(), np.average(x, weights=grey))
line = np.diff(np.concatenate(([0], mask[12].astype(np.int8), [0])))
print(np.flatnonzero(line == 1), np.flatnonzero(line == -1))
