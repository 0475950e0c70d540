"""Signals, time series, text data and files."""

import io

import numpy as np

rng = np.random.default_rng(5)

print("-- files in memory")
text = io.StringIO("# a comment\n1,2.5,3\n4,,6\n7,8.25,9\n")
table = np.genfromtxt(text, delimiter=",")
print(table, np.nansum(table, axis=0))
print(
    np.loadtxt(io.StringIO("1 2\n3 4"), dtype=int),
    np.loadtxt(io.StringIO("a 1\nb 2"), dtype={"names": ("k", "v"), "formats": ("U1", "i4")}),
)
out = io.StringIO()
np.savetxt(out, np.arange(6).reshape(2, 3) / 4, fmt="%.3f", delimiter=";", header="x;y;z")
print(out.getvalue())
store = io.BytesIO()
np.save(store, table)
store.seek(0)
print(np.load(store)[2])
pack = io.BytesIO()
np.savez(pack, first=np.arange(3), second=np.eye(2))
pack.seek(0)
loaded = np.load(pack)
print(sorted(loaded.files), loaded["second"], loaded["first"].sum())

print("-- smoothing, peaks, zero crossings")
t = np.linspace(0, 4 * np.pi, 80)
wave = np.sin(t) + 0.3 * np.sin(5 * t)
smooth = np.convolve(wave, np.hamming(9) / np.hamming(9).sum(), "same")
peaks = np.where((smooth[1:-1] > smooth[:-2]) & (smooth[1:-1] > smooth[2:]))[0] + 1
print(peaks, smooth[peaks].round(8), np.where(np.diff(np.signbit(smooth)))[0])
envelope = np.maximum.accumulate(np.abs(wave))
print(envelope[::16].round(8), np.unwrap(np.angle(np.exp(1j * t)))[::20].round(8))

print("-- autocorrelation and lags")
noise = rng.normal(size=64)
centred = noise - noise.mean()
auto = np.correlate(centred, centred, mode="full")[centred.size - 1 :]
print((auto / auto[0])[:4].round(8), np.argmax(np.correlate(np.roll(noise, 3), noise, "full")) - 63)
matrix = np.array([noise[i : 60 + i] for i in range(3)]).T
print(matrix.shape, matrix[:2])

print("-- filters by recursion")
y = np.zeros_like(wave)
for n in range(1, wave.size):
    y[n] = 0.8 * y[n - 1] + 0.2 * wave[n]
print(y[::16].round(10), y.var().round(12))
total = np.cumsum(np.insert(wave, 0, 0))
print(((total[5:] - total[:-5]) / 5)[:3])

print("-- windows and spectrograms")
frames = np.lib.stride_tricks.sliding_window_view(wave, 16)[::8]
power = np.abs(np.fft.rfft(frames * np.hanning(16), axis=1)) ** 2
print(frames.shape, power.shape, power.argmax(axis=1), (10 * np.log10(power[0] + 1e-12)).round(4))
print(np.bartlett(5), np.blackman(4).round(12), np.kaiser(4, 5.0).round(12))

print("-- resampling, interpolation, gaps")
coarse = np.interp(np.linspace(0, 1, 7), np.linspace(0, 1, wave.size), wave)
gaps = coarse.copy()
gaps[[2, 4]] = np.nan
good = ~np.isnan(gaps)
gaps[~good] = np.interp(np.flatnonzero(~good), np.flatnonzero(good), gaps[good])
print(
    coarse.round(8),
    gaps.round(8),
    wave[::10].round(4),
    wave.reshape(-1, 4).mean(axis=1)[:4].round(8),
)

print("-- run lengths, first and last, streaks")
bits = np.array([1, 1, 0, 0, 0, 1, 0, 1, 1, 1])
change = np.flatnonzero(np.diff(bits)) + 1
edges = np.concatenate(([0], change, [bits.size]))
print(
    np.diff(edges),
    bits[edges[:-1]],
    np.argmax(bits == 0),
    bits.size - 1 - np.argmax(bits[::-1] == 0),
)
print(
    [len(part) for part in np.split(bits, change)], np.maximum.reduceat(np.arange(10), edges[:-1])
)

print("-- words and characters")
words = np.array(["delta", "alpha", "charlie", "bravo", "alpha"])
print(
    np.sort(words),
    np.unique(words, return_counts=True),
    words[words == "alpha"].size,
    np.char.upper(words),
    np.char.str_len(words),
)
letters = np.frombuffer(b"hello world", dtype=np.uint8)
codes, counts = np.unique(letters, return_counts=True)
print(dict(zip(map(chr, codes), counts.tolist())), chr(codes[counts.argmax()]))
shifted = np.where(letters == 32, 32, (letters - 97 + 13) % 26 + 97).astype(np.uint8)
print(
    shifted.tobytes().decode(),
    np.char.add("n", np.arange(3).astype(str)),
    np.char.find(words, "a"),
    np.strings.replace(words, "a", "A"),
)

print("-- times")
hours = np.array(["2024-05-01T00", "2024-05-01T06", "2024-05-02T12"], dtype="datetime64[h]")
print(
    np.diff(hours),
    hours + np.timedelta64(90, "m"),
    (hours[-1] - hours[0]) / np.timedelta64(1, "D"),
    hours.astype("datetime64[D]"),
    np.sort(hours)[::-1],
)
days = hours.astype("datetime64[D]").astype(int)
print(
    days,
    (days - days[0]),
    np.isnat(np.array(["NaT", "2024-01-01"], dtype="M8[D]")),
    hours.max(),
    hours.min(),
)

print("-- sequences")
fib = np.array([1, 1])
for _ in range(10):
    fib = np.append(fib, fib[-2:].sum())
print(fib, fib[1:] / fib[:-1])
sieve = np.ones(50, dtype=bool)
sieve[:2] = False
for n in range(2, 8):
    if sieve[n]:
        sieve[n * n :: n] = False
print(
    np.flatnonzero(sieve),
    np.gcd(12, [8, 9, 10]),
    np.lcm.reduce([2, 3, 4]),
    np.cumsum(1 / np.arange(1, 6)),
)
collatz, steps = 27, 0
while collatz != 1:
    collatz = np.where(collatz % 2, 3 * collatz + 1, collatz // 2)
    steps += 1
print(
    steps,
    collatz,
    np.base_repr(255, 16),
    np.binary_repr(10, 8),
    np.array([int(d) for d in str(2**40)]).sum(),
)
triangle = np.array([[1]])
row = np.array([1])
for _ in range(5):
    row = np.convolve(row, [1, 1])
    print(row)
