"""What Slurm writes into single columns, as numbers: times, limits, memory, TRES, job numbers."""

from __future__ import annotations

import re

import numpy as np

__all__ = [
    "UNKNOWN",
    "UNLIMITED",
    "Bad",
    "Cached",
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
    r"(\d{1,10})(?:_(?:(\d{1,9})|\[([\d,:%-]*)(?:\.\.\.)?\]))?(?:\+(\d{1,3}))?(\..*)?", re.ASCII
)
COUNT = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)([KMG]?)", re.ASCII)
MEGABYTES = {"K": 2**-10, "": 1.0, "M": 1.0, "G": 2.0**10, "T": 2.0**20, "P": 2.0**30, "E": 2.0**40}
PER = {"": 0, "n": 1, "c": 2}
THOUSANDS = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3}


class Bad(ValueError):
    """A value that means nothing; index: its row among the values given."""

    def __init__(self, index, value, expected):
        super().__init__(f"{value!r}, expected {expected}")
        self.index, self.value, self.expected = int(index), value, expected


class Cached(dict):
    """A function of one text, remembered as an index into `values`: columns repeat few texts."""

    def __init__(self, function):
        super().__init__()
        self.function, self.values = function, []

    def __missing__(self, text):
        value = self.function(text)
        self[text] = index = len(self.values)
        self.values.append(value)
        return index

    def all(self, texts, expected, kind=np.float64):
        """An array of the function of each text, a row each where it returns several numbers.
        Raises Bad for the first text that it refuses.
        """
        if len(self) > 100_000:  # a hostile dump repeats nothing
            self.clear()
            self.values.clear()
        try:
            codes = list(map(self.__getitem__, texts))
        except ValueError:
            for index, text in enumerate(texts):
                try:
                    self[text]
                except ValueError:
                    raise Bad(index, text, expected) from None
            raise
        return np.array(self.values, kind)[codes]


def _bytes(values):
    """(the texts as an array of bytes, as a table of characters); Bad where one is not ASCII."""
    try:
        array = np.array(values, dtype="S")
    except UnicodeEncodeError:
        index = next(i for i, v in enumerate(values) if not v.isascii())
        raise Bad(index, values[index], "ASCII characters") from None
    width = array.dtype.itemsize
    return array, array.view(np.uint8).reshape(len(array), width)


TIME = "a time such as 2024-03-01T12:00:00 (SLURM_TIME_FORMAT=standard)"
# Where "2024-03-01T12:00:00" has its signs; the rest are digits.
SIGNS = {4: ord("-"), 7: ord("-"), 10: ord("T"), 13: ord(":"), 16: ord(":")}
DIGITS = [i for i in range(19) if i not in SIGNS]


def moments(values):
    """Seconds since 1970 as uint32, 0 where unknown. Raises Bad."""
    out = np.zeros(len(values), np.uint32)
    if not len(values):
        return out
    if set(map(len, values)) == {19}:
        # One text is encoded in a tenth of the time that as many short ones take.
        data = "".join(values).encode("ascii", "replace")
        array = np.frombuffer(data, "S19")
        chars = array.view(np.uint8).reshape(len(values), 19)
    else:
        array, chars = _bytes(values)
    width = chars.shape[1]
    rows = np.arange(len(values))
    if width == 19:
        whole = chars[:, 18] != 0
    else:
        whole = np.zeros(len(values), bool)
        if width > 19:
            whole = (chars[:, 18] != 0) & (chars[:, 19] == 0)
    if whole.all():
        known, text = chars[:, :19], array.astype("S19", copy=False)
    else:
        for i in rows[~whole]:
            if values[i] not in UNKNOWN:
                # SLURM_TIME_FORMAT=%s; eleven digits are later than the year 2286.
                if not re.fullmatch(r"\d{1,10}", values[i], re.ASCII) or int(values[i]) > FAR:
                    raise Bad(i, values[i], TIME)
                out[i] = int(values[i])
        rows = rows[whole]
        if not len(rows):
            return out
        known, text = chars[whole, :19], array[whole].astype("S19")
    good = ((known[:, DIGITS] - np.uint8(48)) < 10).all(axis=1)
    for i, sign in SIGNS.items():
        good &= known[:, i] == sign
    if not good.all():
        index = rows[np.argmin(good)]
        raise Bad(index, values[index], TIME)
    try:
        seconds = text.astype("M8[s]").astype(np.int64)
    except ValueError:
        for index, one in zip(rows, text):
            try:
                np.datetime64(one.decode(), "s")
            except ValueError:
                raise Bad(index, values[index], TIME) from None
        raise
    far = (seconds < 0) | (seconds > FAR)
    if far.any():
        index = rows[np.argmax(far)]
        raise Bad(index, values[index], "a time from 1970 to 2106")
    out[rows] = seconds
    return out


def job_ids(values):
    """(number, task, component, tasks, is it a step) of each job number, as arrays.

    task: -1 without an array, -2 for the tasks of an array that are still pending together, whose
    number is `tasks`; component: of a heterogeneous job, else -1. Raises Bad.
    """
    n = len(values)
    number, task = np.zeros(n, np.uint32), np.full(n, -1, np.int32)
    component, tasks, step = np.full(n, -1, np.int16), np.ones(n, np.int32), np.zeros(n, bool)
    if not n:
        return number, task, component, tasks, step
    array, chars = _bytes(values)
    plain = (((chars - np.uint8(48)) < 10) | (chars == 0)).all(axis=1)
    plain &= (chars[:, 0] != 0) & ((chars != 0).sum(axis=1) < 10)
    number[plain] = array[plain].astype("S10").astype(np.int64)
    for i in np.flatnonzero(~plain):
        found = JOB.fullmatch(values[i])
        if not found or int(found[1]) > FAR:
            raise Bad(i, values[i], "a job number such as 1234, 1234_5, 1234_[6-9] or 1234+1")
        number[i] = int(found[1])
        if found[2]:
            task[i] = min(int(found[2]), 2**31 - 1)
        elif found[3] is not None:
            task[i], tasks[i] = -2, array_size(found[3])
        if found[4]:
            component[i] = int(found[4])
        step[i] = bool(found[5])
    return number, task, component, tasks, step


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
