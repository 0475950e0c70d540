"""heapq: lists as heaps (Williams, 1964), which end in the order that CPython's have.

An item goes down to a leaf along the smaller children, and up again to where it belongs (Floyd's
way), which takes fewer comparisons than to stop on the way down.
"""

from .._library import known, list_resize


def up(heap, first, k):
    """Moves the item at k towards `first` until its parent is no larger."""
    item = heap[k]
    while k > first:
        parent = (k - 1) >> 1
        if not item < heap[parent]:
            break
        heap[k] = heap[parent]
        k = parent
    heap[k] = item


def down(heap, k):
    """Moves the item at k to where it belongs among those below."""
    first, end = k, len(heap)
    item = heap[k]
    child = 2 * k + 1
    while child < end:
        if child + 1 < end and not heap[child] < heap[child + 1]:
            child += 1
        heap[k] = heap[child]
        k = child
        child = 2 * k + 1
    heap[k] = item
    up(heap, first, k)


@known("list heap ify")
def heapify(heap):
    """Makes a heap of a list."""
    for k in range(len(heap) // 2 - 1, -1, -1):
        down(heap, k)


@known("list heap push")
def heappush(heap, item):
    """Puts an item in."""
    n = len(heap)
    list_resize(heap, n + 1)
    heap[n] = item
    up(heap, 0, n)


@known("list heap pop")
def heappop(heap):
    """Takes the smallest item out."""
    n = len(heap) - 1
    if n < 0:
        raise IndexError("index out of range")
    least = heap[0]
    heap[0] = heap[n]
    list_resize(heap, n)
    if n > 0:
        down(heap, 0)
    return least


@known("list heap replace")
def heapreplace(heap, item):
    """Takes the smallest item out, and puts another one in."""
    if len(heap) == 0:
        raise IndexError("index out of range")
    least = heap[0]
    heap[0] = item
    down(heap, 0)
    return least


@known("list heap pushpop")
def heappushpop(heap, item):
    """Puts an item in, and takes the smallest one out."""
    if len(heap) > 0 and heap[0] < item:
        least = heap[0]
        heap[0] = item
        down(heap, 0)
        return least
    return item


@known("heapq.nsmallest")
def nsmallest(n, items, key=None):
    """The n smallest items, in order."""
    if key is None:
        found = sorted(items)
    else:
        found = sorted(items, key=key)
    return [found[k] for k in range(max(0, min(n, len(found))))]


@known("heapq.nlargest")
def nlargest(n, items, key=None):
    """The n largest items, the largest first."""
    if key is None:
        found = sorted(items, reverse=True)
    else:
        found = sorted(items, key=key, reverse=True)
    return [found[k] for k in range(max(0, min(n, len(found))))]
