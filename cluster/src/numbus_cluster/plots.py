"""The pictures: waits by size class, the fan of a forecast, finishing times against speed-up."""

from __future__ import annotations

import matplotlib
import matplotlib.colors
import numpy as np

from .errors import complain
from .text import duration, printable

__all__ = ["fan", "finishing", "save", "waits_by_class"]

# Okabe and Ito's colours, which colour-blind readers can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
TICKS = {
    1: "1 s",
    10: "10 s",
    60: "1 m",
    600: "10 m",
    3600: "1 h",
    36_000: "10 h",
    86_400: "1 d",
    864_000: "10 d",
    8_640_000: "100 d",
}


def figure(width=7.2, height=4.0):
    """(figure, axes) without a display."""
    from matplotlib.figure import Figure

    matplotlib.rcParams.update(
        {
            "svg.hashsalt": "numbus-cluster",
            "font.size": 9,
            "svg.fonttype": "none",
            "text.usetex": False,
        }
    )
    fig = Figure(figsize=(width, height), layout="constrained")
    axes = fig.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    return fig, axes


def label(text, limit=40):
    """A name as matplotlib may draw it: no $ starts a formula."""
    return printable(text, limit).replace("$", r"\$")


def save(fig, name):
    """Writes the picture; its kind is that of the file's name."""
    suffix = name.rpartition(".")[2].lower()
    if suffix not in ("svg", "png", "pdf"):
        raise complain("plot", "no such kind of picture", repr(name), "file.svg, .png or .pdf", 2)
    # The same data give the same file.
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[suffix]
    try:
        fig.savefig(name, dpi=150, metadata=metadata)
    except OSError as error:
        raise complain("plot", f"cannot write {name}", error.strerror, "a writable file") from None


def durations(axis, low, high):
    """A logarithmic axis of seconds with ticks that people read."""
    low, high = max(low, 1.0), max(high, 10.0)
    ticks = [t for t in TICKS if low * 0.5 <= t <= high * 2]
    axis.set_ticks(ticks, [TICKS[t] for t in ticks])
    axis.set_ticks([], minor=True)


def lighter(colour, share):
    """A colour mixed with white, of which it is a share."""
    return tuple(1 - share * (1 - part) for part in matplotlib.colors.to_rgb(colour))


def waits_by_class(table, classes, data):
    """The median wait of each class as a point, from 10 % to 90 % as a line, a colour for each
    partition.
    """
    fig, axes = figure()
    axes.set_yscale("log")
    shown = {name: cells for name, cells in table.items() if any(c.jobs for c in cells)}
    values = []
    for i, (name, cells) in enumerate(shown.items()):
        offset = (i - (len(shown) - 1) / 2) * min(0.18, 0.7 / len(shown))
        xs = [x + offset for x, c in enumerate(cells) if c.jobs]
        # A wait of nothing cannot be drawn on a logarithmic scale: it stands at a second.
        low, mid, high, mean = (
            np.maximum([getattr(c, key) for c in cells if c.jobs], 1.0)
            for key in ("p10", "p50", "p90", "mean")
        )
        colour = COLOURS[i % len(COLOURS)]
        axes.vlines(xs, low, high, color=colour, linewidth=5, alpha=0.35)
        axes.plot(xs, mid, "o", color=colour, markersize=6, label=label(name))
        axes.plot(xs, mean, "_", color=colour, markersize=11, markeredgewidth=1.8)
        values += [*low, *high, *mean]
    axes.set_xticks(range(len(classes.labels)), classes.labels)
    axes.set_xlabel("what the job asks for")
    axes.set_ylabel("wait")
    axes.set_title(
        f"Waits of {data['jobs']:,} jobs: median (dot), mean (dash), 10 % to 90 % (bar)",
        fontsize=9,
        loc="left",
    )
    if values:
        durations(axes.yaxis, min(values), max(values))
        fig.legend(loc="outside lower center", frameon=False, ncols=min(len(shown), 6), fontsize=8)
    return fig


def fan(hours, levels, waits, now, title):
    """The quantiles of the wait by the hour of submission, as bands around the median.

    waits: seconds, a row for each level; infinite where nothing bounds it.
    """
    fig, axes = figure()
    axes.set_yscale("log")
    shown = np.maximum(np.where(np.isfinite(waits), waits, np.nan), 1.0)
    middle = len(levels) // 2
    for i in range(middle):
        share = round(100 * (levels[-1 - i] - levels[i]))
        axes.fill_between(
            hours,
            shown[i],
            shown[-1 - i],
            # Opaque, so that the legend shows the colour that is seen.
            color=lighter(COLOURS[0], 0.22 + 0.25 * i),
            linewidth=0,
            label=f"{share} % of the jobs",
        )
    axes.plot(hours, shown[middle], color=COLOURS[0], linewidth=2, label="half of the jobs")
    axes.set_xlim(hours[0], hours[-1])
    ticks = hours[::3]
    axes.set_xticks(ticks, [f"+{h} h\n{(now // 3600 + h) % 24:02d}:00" for h in ticks])
    axes.set_xlabel("when the job is submitted")
    axes.set_ylabel("wait")
    axes.set_title(f"Waits over the coming hours, {label(title)}", fontsize=9, loc="left")
    if np.isfinite(shown).any():
        durations(axes.yaxis, np.nanmin(shown), np.nanmax(shown))
        axes.legend(frameon=False, fontsize=8, ncols=3, loc="upper left")
        axes.set_ylim(top=np.nanmax(shown) * 2.5)
    else:
        axes.text(12, 1, "no job to learn from", ha="center")
    return fig


def finishing(cpu, gpu_wait, cpu_time, gpu_time):
    """When a job ends on each partition, against the speed-up that a GPU brings.

    cpu: the Choice of the CPU partition; gpu_wait: {partition: seconds}; gpu_time: the expected
    run on a GPU, or None.
    """
    from .advise import needed_speedup

    fig, axes = figure()
    most = max(64.0, 2 * cpu_time / gpu_time if gpu_time else 0)
    speedup = np.geomspace(0.5, most, 300)
    axes.set_xscale("log")
    axes.axhline(cpu.end, color="#000000", linewidth=1.6, label=f"{label(cpu.partition)} (CPU)")
    axes.axhline(cpu.wait, color="#999999", linewidth=1, linestyle=":")
    axes.annotate(
        f"{label(cpu.partition)}: the wait",
        (most, cpu.wait),
        ha="right",
        va="bottom",
        fontsize=8,
        color="#777777",
    )
    top = cpu.end
    for i, (name, wait) in enumerate(sorted(gpu_wait.items())):
        colour = COLOURS[i % len(COLOURS)]
        axes.plot(
            speedup,
            wait + cpu_time / speedup,
            color=colour,
            linewidth=1.8,
            label=f"{label(name)} (GPU)",
        )
        need = needed_speedup(cpu.wait, wait, cpu_time)
        if np.isinf(need):
            axes.axhline(
                wait,
                color=colour,
                linestyle="--",
                linewidth=1.2,
                label=f"stop-loss: {label(name)} never ends first",
            )
        else:
            axes.axvline(
                need,
                color=colour,
                linestyle="--",
                linewidth=1.2,
                label=f"stop-loss: {label(name)} needs a speed-up of {need:.2f}",
            )
        if gpu_time:
            axes.plot(
                [cpu_time / gpu_time],
                [wait + gpu_time],
                "o",
                color=colour,
                markersize=7,
                label=f"this job, {cpu_time / gpu_time:.1f} times",
            )
        top = max(top, wait + cpu_time)
    axes.set_ylim(0, 1.15 * top)
    axes.set_xlim(speedup[0], speedup[-1])
    ticks = [t for t in (0.5, 1, 2, 5, 10, 20, 50, 100, 1000) if t <= most]
    axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
    axes.set_xticks([], minor=True)
    step = next(
        s
        for s in (60, 300, 600, 1800, 3600, 7200, 14400, 43200, 86400, 604800, 1e9)
        if 1.15 * top / s <= 8
    )
    ticks = np.arange(0, 1.15 * top, step)
    axes.set_yticks(ticks, [duration(t).replace(".0 ", " ") if t else "0" for t in ticks])
    axes.set_xlabel("speed-up of a GPU over the CPU")
    axes.set_ylabel("ends after")
    axes.set_title("When half of such jobs have ended", fontsize=9, loc="left")
    fig.legend(loc="outside lower center", frameon=False, ncols=3, fontsize=8)
    return fig
