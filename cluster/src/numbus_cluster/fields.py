"""What Slurm writes into single columns, as numbers: times, limits, memory, TRES, job numbers."""

from __future__ import annotations

import re

import numpy as np

from .columns import Bad, Texts

__all__ = [
    "UNKNOWN",
    "UNLIMITED",
    "count",
    "job_ids",
    "limit",
    "memory",
    "moments",
    "tres",
]

UNLIMITED = 2**31 - 1  # a time limit in seconds
UNKNOWN = ("", "Unknown", "None", "N/A", "NONE", "NULL")
FAR = 2**32 - 1  # seconds since 1970 that a column of times can hold
# As Slurm's parse_time.c: minutes, minutes:seconds, hours:minutes:seconds, days-hours[:…].
LIMIT = re.compile(r"(?:(\d{1,5})-)?(\d{1,9})(?::(\d{1,2}))?(?::(\d{1,2}))?(?:\.\d+)?", re.ASCII)
MEMORY = re.compile(r"(\d{1,15}(?:\.\d{1,6})?)([KMGTPE]?)B?([nc]?)", re.ASCII)
JOB = re.compile(
    r"(\d{1,10})(?:_(?:(\d{1,9})|\[([\d,:%-]*)(?:\.\.\.)?\]))?(?:\+(\d{1,3}))?(\.[ -~]*)?", re.ASCII
)
COUNT = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)([KMG]?)", re.ASCII)
MEGABYTES = {"K": 2**-10, "": 1.0, "M": 1.0, "G": 2.0**10, "T": 2.0**20, "P": 2.0**30, "E": 2.0**40}
PER = {"": 0, "n": 1, "c": 2}
THOUSANDS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}
TIME = "a time such as 2024-03-01T12:00:00 (SLURM_TIME_FORMAT=standard)"
# Where "2024-03-01T12:00:00" has its signs; the rest are digits.
SIGNS = {4: ord("-"), 7: ord("-"), 10: ord("T"), 13: ord(":"), 16: ord(":")}
DIGITS = [i for i in range(19) if i not in SIGNS]


def moments(values):
    """Seconds since 1970 as uint32, 0 where unknown. Raises Bad."""
    texts = Texts.of(values)
    whole = texts.length == 19
    if whole.all():
        return dates(texts)
    out = np.zeros(len(texts), np.uint32)
    for some, function in ((whole, dates), (~whole, others)):
        rows = np.flatnonzero(some)
        try:
            out[rows] = function(texts.take(rows))
        except Bad as bad:
            raise Bad(rows[bad.index], bad.value, bad.expected) from None
    return out


def dates(texts):
    """Of texts with 19 bytes each."""
    chars, text = texts.chars(19), texts.fixed(19)
    good = ((chars[:, DIGITS] - np.uint8(48)) < 10).all(axis=1)
    for i, sign in SIGNS.items():
        good &= chars[:, i] == sign
    if not good.all():
        index = np.argmin(good)
        raise Bad(index, texts[index], TIME)
    try:
        seconds = text.astype("M8[s]").astype(np.int64)
    except ValueError:
        for index, one in enumerate(text):
            try:
                np.datetime64(one.decode(), "s")
            except ValueError:
                raise Bad(index, texts[index], TIME) from None
        raise
    far = (seconds < 0) | (seconds > FAR)
    if far.any():
        index = np.argmax(far)
        raise Bad(index, texts[index], "a time from 1970 to 2106")
    return seconds.astype(np.uint32)


def others(texts):
    """Of texts of any other length: SLURM_TIME_FORMAT=%s, or a time that is unknown."""
    # Eleven digits are later than the year 2286.
    seconds, fine = texts.digits(10)
    for index in np.flatnonzero(~fine | (seconds > FAR)).tolist():
        if texts[index] not in UNKNOWN:
            raise Bad(index, texts[index], TIME)
    return seconds


def job_ids(values):
    """(number, task, component, tasks, is it a step) of each job number, as arrays.

    task: -1 without an array, -2 for the tasks of an array that are still pending together, whose
    number is `tasks`; component: of a heterogeneous job, else -1. Raises Bad.
    """
    texts = Texts.of(values)
    n = len(texts)
    task, tasks = np.full(n, -1, np.int32), np.ones(n, np.int32)
    component, step = np.full(n, -1, np.int16), np.zeros(n, bool)
    number, plain = texts.digits(9)
    rest = np.flatnonzero(~plain)
    if len(rest):  # the tasks of arrays, 1234_5
        parts = texts.take(rest)
        head = (parts.chars(10) == ord("_")).argmax(axis=1)
        first, fine = Texts(parts.data, parts.start, head).digits(9)
        tail = np.maximum(parts.length - head - 1, 0)
        second, also = Texts(parts.data, parts.start + head + 1, tail).digits(9)
        fine &= also & (parts.length > head)
        number[rest[fine]], task[rest[fine]] = first[fine], second[fine]
        rest = rest[~fine]
    for i in rest.tolist():
        text = texts[i]
        found = JOB.fullmatch(text)
        if not found or int(found[1]) > FAR:
            raise Bad(i, text, "a job number such as 1234, 1234_5, 1234_[6-9] or 1234+1")
        number[i] = int(found[1])
        if found[2]:
            task[i] = int(found[2])
        elif found[3] is not None:
            task[i], tasks[i] = -2, array_size(found[3])
        if found[4]:
            component[i] = int(found[4])
        step[i] = bool(found[5])
    return number.astype(np.uint32), task, component, tasks, step


def array_size(text):
    """The number of tasks in '0-9:3,20%2'; 1 where it says nothing."""
    total = 0
    for part in text.partition("%")[0].split(","):
        found = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?", part, re.ASCII)
        if found:
            first, last = int(found[1]), int(found[2] or found[1])
            total += max(0, (last - first) // max(1, int(found[3] or 1)) + 1)
    return min(max(total, 1), 2**22)


def limit(text):
    """Seconds of a time limit, UNLIMITED where it has none, -1 where it is unknown."""
    if text in UNKNOWN or text == "Partition_Limit":
        return -1
    if text.upper() in ("UNLIMITED", "INFINITE"):
        return UNLIMITED
    found = LIMIT.fullmatch(text)
    if not found:
        raise ValueError(text)
    days, first, second, third = found[1], int(found[2]), int(found[3] or 0), int(found[4] or 0)
    if days is not None:
        seconds = 86400 * int(days) + 3600 * first + 60 * second + third
    elif found[4] is not None:
        seconds = 3600 * first + 60 * second + third
    else:
        seconds = 60 * first + second
    return min(seconds, UNLIMITED - 1)


def memory(text):
    """(megabytes, 1 where they are per node, 2 per CPU, 0 in all); (0, 0) where not stated."""
    if text in UNKNOWN or text == "?":
        return 0.0, 0
    found = MEMORY.fullmatch(text)
    if not found:
        raise ValueError(text)
    return float(found[1]) * MEGABYTES[found[2]], PER[found[3]]


def tres(text):
    """(GPUs, megabytes or 0, CPUs or 0, nodes or 0) of 'cpu=4,mem=16G,node=1,gres/gpu:a100=2'."""
    gpus = typed = cpus = nodes = 0
    megabytes = 0.0
    for part in text.split(","):
        name, _, value = part.partition("=")
        if name == "mem":
            megabytes = memory(value)[0]
        elif name in ("cpu", "node", "gres/gpu") or name.startswith("gres/gpu:"):
            number = count(value)
            if name == "cpu":
                cpus = number
            elif name == "node":
                nodes = number
            elif name == "gres/gpu":
                gpus = number
            else:
                typed += number
    # With several types of GPU Slurm prints their sum too, unless AccountingStorageTRES lacks it.
    return min(gpus or typed, 2**15 - 1), megabytes, cpus, nodes


def count(text):
    """A number of things, '12' or '1.5K' (Slurm counts in 1024s); 0 where it is unknown."""
    if text in UNKNOWN:
        return 0
    found = COUNT.fullmatch(text)
    if not found:
        raise ValueError(text)
    return min(int(float(found[1]) * THOUSANDS[found[2]]), 2**31 - 1)
