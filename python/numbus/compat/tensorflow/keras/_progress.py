"""The lines that Keras prints while it trains, and its table of layers."""

import sys
import textwrap
import time

_WIDTHS = (31, 22, 13)
_CONNECTED = (19, 17, 10, 17)  # with the layers that a layer's inputs come from


def _number(value):
    if hasattr(value, "shape"):
        return f"[{' '.join([_number(float(x)) for x in value.reshape(-1)])}]"
    return f"{value:.4f}" if abs(value) > 1e-3 or value == 0 else f"{value:.4e}"


def values_text(values):
    """' - accuracy: 0.5000 - loss: 0.6931' in alphabetical order, those of validation last."""
    keys = sorted(values, key=lambda k: (k.startswith("val_"), k))
    return "".join(f" - {key}: {_number(values[key])}" for key in keys)


def _step_time(seconds):
    if seconds >= 1:
        return f"{seconds:.0f}s/step"
    return f"{seconds * 1e3:.0f}ms/step" if seconds >= 1e-3 else f"{seconds * 1e6:.0f}us/step"


def _whole(seconds):
    seconds = int(seconds)
    if seconds > 3600:
        return f"{seconds // 3600}:{seconds % 3600 // 60:02d}:{seconds % 60:02d}"
    return f"{seconds // 60}:{seconds % 60:02d}" if seconds > 60 else f"{seconds}s"


class Progress:
    """One epoch's line; on a terminal it grows, elsewhere it is written once."""

    def __init__(self, steps, verbose):
        self.steps, self.verbose = steps, verbose
        self.begun = self._shown = time.perf_counter()
        self._live = verbose == 1 and sys.stdout.isatty()

    def update(self, step, values):
        """Shows the state after a step; `values` is a function that reads it."""
        now = time.perf_counter()
        if self._live and now - self._shown > 0.1:
            self._shown = now
            left = 0 if not self.steps else (self.steps - step) * (now - self.begun) / step
            self._write("\r" + self._line(step, left, now, values()))

    def end(self, steps, values):
        """The whole line."""
        now = time.perf_counter()
        if self.verbose == 1:
            start = "\r" if self._live else ""
            self._write(f"{start}{self._line(steps, now - self.begun, now, values)}\n")
        elif self.verbose == 2:
            each = _step_time((now - self.begun) / max(1, steps))
            self._write(f"{steps}/{steps} - {_whole(now - self.begun)} - {each}"
                        f"{values_text(values)}\n")  # fmt: skip

    def _line(self, step, seconds, now, values):
        total = self.steps or step
        done = 20 * step // max(1, total)
        bar, rest = "━" * done, "━" * (20 - done)
        count = f"{step:>{len(str(total))}}/{total if self.steps else 'Unknown'}"
        if self.steps is None:
            bar, rest = "━" * 20, ""
        if self._live:
            bar = f"\033[32m{bar}\033[0m\033[37m{rest}\033[0m"
            count = f"\033[1m{count}\033[0m"
        else:
            bar += rest
        each = _step_time((now - self.begun) / max(1, step))
        return f"{count} {bar} {_whole(seconds)} {each}{values_text(values)}"

    @staticmethod
    def _write(text):
        sys.stdout.write(text)
        sys.stdout.flush()


def _memory(count, size=4):
    n = float(count * size)
    for unit in ("B", "KB", "MB", "GB"):
        if n < 1024 or unit == "GB":
            return f"{n:.2f} {unit}"
        n /= 1024


def _wrapped(text, width):
    return textwrap.wrap(text, width, break_on_hyphens=False) or [""]


def table(name, rows, totals):
    """The lines of Keras's summary: (layer, shape, number of parameters) and pairs of totals."""
    connected = bool(rows) and len(rows[0]) == 4
    widths = [
        max([w, *[len(word) for row in rows for word in row[k].split(" ") if k != 1]])
        for k, w in enumerate(_CONNECTED if connected else _WIDTHS)
    ]

    def rule(left, middle, right, line):
        return left + middle.join(line * (w + 2) for w in widths) + right

    def cells(row, bar):
        parts = [_wrapped(text, w) for text, w in zip(row, widths, strict=True)]
        for k in range(max(map(len, parts))):
            texts = [p[k] if k < len(p) else "" for p in parts]
            signs = "<<><"
            inner = [f"{t:{sign}{w}}" for t, sign, w in zip(texts, signs, widths, strict=False)]
            yield f"{bar} " + f" {bar} ".join(inner) + f" {bar}"

    lines = [f'Model: "{name}"', rule("┏", "┳", "┓", "━")]
    heads = ("Layer (type)", "Output Shape", "Param #", "Connected to")
    lines += cells(heads[: len(widths)], "┃")
    lines.append(rule("┡", "╇", "┩", "━"))
    for k, row in enumerate(rows):
        if k:
            lines.append(rule("├", "┼", "┤", "─"))
        lines += cells(row, "│")
    lines.append(rule("└", "┴", "┘", "─"))
    for label, count in totals:
        lines.append(f" {label} params: {count:,} ({_memory(count)})")
    return lines
