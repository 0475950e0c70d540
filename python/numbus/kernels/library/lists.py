"""The methods of lists."""

import numpy as np

from .._library import known, list_resize


@known("list append")
def append(items, x):
    """One more at the end."""
    n = len(items)
    list_resize(items, n + 1)
    items[n] = x


@known("list extend")
def extend(items, more):
    """All of another sequence at the end."""
    for x in more:
        n = len(items)
        list_resize(items, n + 1)
        items[n] = x


@known("list extend list")
def extend_list(items, more):
    """All of a list, which may be the same one."""
    for i in range(len(more)):
        x = more[i]
        n = len(items)
        list_resize(items, n + 1)
        items[n] = x


@known("list insert")
def insert(items, i, x):
    """Before the item that is there."""
    n = len(items)
    if i < 0:
        i = max(i + n, 0)
    i = min(i, n)
    list_resize(items, n + 1)
    for k in range(n, i, -1):
        items[k] = items[k - 1]
    items[i] = x


@known("list pop")
def pop(items, i=-1):
    """Takes one out."""
    n = len(items)
    if n == 0:
        raise IndexError("pop from empty list")
    if i < 0:
        i += n
    if i < 0 or i >= n:
        raise IndexError("pop index out of range")
    x = items[i]
    for k in range(i + 1, n):
        items[k - 1] = items[k]
    list_resize(items, n - 1)
    return x


def ends(n, start, stop):
    """Where a slice with a step of one begins and ends in n items."""
    low = 0 if start is None else max(start + n, 0) if start < 0 else min(start, n)
    high = n if stop is None else max(stop + n, 0) if stop < 0 else min(stop, n)
    return low, max(low, high)


def indices(n, start, stop, step):
    """The first index of a slice of n items, its step, and how many it has."""
    if step == 0:
        raise ValueError("slice step cannot be zero")
    first = -1 if step < 0 else 0
    last = n - 1 if step < 0 else n
    if start is None:
        low = last if step < 0 else first
    else:
        low = max(start + n, first) if start < 0 else min(start, last)
    if stop is None:
        high = first if step < 0 else last
    else:
        high = max(stop + n, first) if stop < 0 else min(stop, last)
    span = low - high if step < 0 else high - low
    # No longer step is needed, and this one cannot overflow.
    by = max(min(step, n + 1), -n - 1)
    return low, by, (span - 1) // abs(by) + 1 if span > 0 else 0


@known("list slice")
def slice_of(items, start, stop, step):
    """items[start:stop:step], of others than numbers"""
    low, by, count = indices(len(items), start, stop, step)
    return [items[low + k * by] for k in range(count)]


@known("list times")
def times(items, count):
    """items * count, of others than numbers"""
    n = len(items)
    return [items[k] for _ in range(count) for k in range(n)]


@known("list replace")
def replace(items, start, stop, more):
    """items[start:stop] = more"""
    new = [x for x in more]  # which may be the list itself
    n = len(items)
    low, high = ends(n, start, stop)
    shift = len(new) - (high - low)
    if shift > 0:
        list_resize(items, n + shift)
        for k in range(n - 1, high - 1, -1):
            items[k + shift] = items[k]
    elif shift < 0:
        for k in range(high, n):
            items[k + shift] = items[k]
        list_resize(items, n + shift)
    for k in range(len(new)):
        items[low + k] = new[k]


@known("list replace by")
def replace_by(items, start, stop, step, more):
    """items[start:stop:step] = more"""
    if step == 1:
        replace(items, start, stop, more)
        return
    new = [x for x in more]  # which may be the list itself
    low, by, count = indices(len(items), start, stop, step)
    if len(new) != count:
        raise ValueError(
            f"attempt to assign sequence of size {len(new)} to extended slice of size {count}"
        )
    for k in range(count):
        items[low + k * by] = new[k]


@known("list cut by")
def cut_by(items, start, stop, step):
    """del items[start:stop:step]"""
    n = len(items)
    low, by, count = indices(n, start, stop, step)
    if count == 0:
        return
    if by < 0:
        low += (count - 1) * by
        by = -by
    kept = low
    for k in range(low, n):
        if (k - low) % by != 0 or (k - low) // by >= count:
            items[kept] = items[k]
            kept += 1
    list_resize(items, kept)


@known("list cut")
def cut(items, start, stop):
    """del items[start:stop]"""
    n = len(items)
    low, high = ends(n, start, stop)
    for k in range(high, n):
        items[k + low - high] = items[k]
    list_resize(items, n + low - high)


@known("list remove")
def remove(items, x):
    """The first that is equal."""
    pop(items, index(items, x))


@known("list index")
def index(items, x):
    """Where the first one is."""
    for i in range(len(items)):
        if items[i] == x:
            return i
    raise ValueError("list.index(x): x not in list")


@known("list count")
def count(items, x):
    """How many are equal."""
    found = 0
    for i in range(len(items)):
        if items[i] == x:
            found += 1
    return found


@known("list contains")
def contains(items, x):
    """Whether one is equal."""
    for i in range(len(items)):
        if items[i] == x:
            return True
    return False


@known("list clear")
def clear(items):
    """None are left."""
    list_resize(items, 0)


@known("list copy")
def copy(items):
    """A list of its own."""
    return [x for x in items]


@known("list reverse")
def reverse(items):
    """In place."""
    n = len(items)
    for i in range(n // 2):
        x = items[i]
        items[i] = items[n - 1 - i]
        items[n - 1 - i] = x


@known("list sort")
def sort_list(items, reverse=False):
    """In place; numbers only."""
    ordered = np.sort(np.array(items))
    n = len(items)
    for i in range(n):
        items[i] = ordered[n - 1 - i] if reverse else ordered[i]


def order_of(keys, reverse):
    """The indices that sort keys of any kind, equal ones in their order: a merge sort."""
    n = len(keys)
    now = np.arange(n)
    out = np.empty(n, np.int64)
    width = 1
    while width < n:
        for low in range(0, n, 2 * width):
            middle = min(low + width, n)
            high = min(low + 2 * width, n)
            i = low
            k = middle
            for at in range(low, high):
                if i >= middle:
                    later = True
                elif k >= high:
                    later = False
                elif reverse:
                    later = keys[now[i]] < keys[now[k]]
                else:
                    later = keys[now[k]] < keys[now[i]]
                if later:
                    out[at] = now[k]
                    k += 1
                else:
                    out[at] = now[i]
                    i += 1
        now, out = out, now
        width *= 2
    return now


def put_in_order(items, order):
    """The items as these indices say."""
    old = [x for x in items]
    for i in range(len(old)):
        items[i] = old[order[i]]


@known("list sort any")
def sort_any(items, reverse=False):
    """In place, items that have an order."""
    put_in_order(items, order_of(items, bool(reverse)))


@known("list sort by")
def sort_by(items, key, reverse=False):
    """In place, by what a function makes of the items."""
    put_in_order(items, order_of([key(x) for x in items], bool(reverse)))


@known("sorted any")
def sorted_any(items, reverse=False):
    """sorted(items, reverse=…)"""
    new = [x for x in items]
    sort_any(new, reverse)
    return new


@known("sorted by")
def sorted_by(items, key, reverse=False):
    """sorted(items, key=…, reverse=…)"""
    new = [x for x in items]
    put_in_order(new, order_of([key(x) for x in items], bool(reverse)))
    return new


@known("list equal")
def equal(a, b):
    """a == b"""
    if len(a) != len(b):
        return False
    for i in range(len(a)):
        if a[i] != b[i]:
            return False
    return True


@known("list without order")
def without_order(a, b, symbol, or_equal=0):
    """Whether a is less than b, of items that have no order: one of them begins with the other."""
    for i in range(min(len(a), len(b))):
        if a[i] != b[i]:
            raise TypeError(
                f"'{symbol}' not supported between instances of 'complex' and 'complex'"
            )
    return len(a) <= len(b) if or_equal else len(a) < len(b)


@known("list less")
def less(a, b):
    """a < b: the first items that differ decide."""
    for i in range(min(len(a), len(b))):
        if a[i] != b[i]:
            return a[i] < b[i]
    return len(a) < len(b)


@known("list less equal")
def less_equal(a, b):
    """a <= b"""
    for i in range(min(len(a), len(b))):
        if a[i] != b[i]:
            return a[i] <= b[i]
    return len(a) <= len(b)


@known("array of lists")
def array_of_lists(rows):
    """np.array of a list of lists of one length; there is no type for those of none."""
    n = len(rows)
    if n == 0:
        raise ValueError("[array] a list of lists; got an empty one; expected at least one row")
    m = len(rows[0])
    out = np.empty((n, m), np.asarray(rows[0]).dtype)
    for i in range(n):
        row = rows[i]
        if len(row) != m:
            raise ValueError("[array] a list of lists; got rows of different lengths")
        for k in range(m):
            out[i, k] = row[k]
    return out


@known("np.tolist")
def tolist(a):
    """The elements as Python's numbers, in lists."""
    if a.ndim == 0:
        return a.item()
    if a.ndim == 1:
        return [x.item() for x in a]
    return [tolist(a[k]) for k in range(a.shape[0])]
