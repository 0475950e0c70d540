"""iter(), filter(), enumerate() and zip(): generators over what loops take."""

from .._library import known


@known("iter")
def iterated(items):
    """The items, one after the other."""
    yield from items


@known("filter")
def filtered(function, items):
    """The items of which the function says that they are true."""
    for item in items:
        if function(item):
            yield item


@known("filter none")
def true_items(items):
    """The items that are true."""
    for item in items:
        if item:
            yield item


@known("enumerate a generator")
def numbered(items, start):
    """Each item with its number."""
    number = start
    for item in items:
        yield number, item
        number += 1


# Items are taken as CPython takes them: a later one not where an earlier one has ended.


@known("zip 1")
def zip_of_one(a):
    """Each item as a tuple."""
    for x in a:
        yield (x,)


@known("zip 2")
def zip_of_two(a, b):
    """Items of both, until one has ended."""
    second = iter(b)
    for x in a:
        for y in second:
            yield x, y
            break
        else:
            return


@known("zip 3")
def zip_of_three(a, b, c):
    """Items of all, until one has ended."""
    third = iter(c)
    for x, y in zip_of_two(a, b):
        for z in third:
            yield x, y, z
            break
        else:
            return


@known("zip 4")
def zip_of_four(a, b, c, d):
    """Items of all, until one has ended."""
    fourth = iter(d)
    for x, y, z in zip_of_three(a, b, c):
        for w in fourth:
            yield x, y, z, w
            break
        else:
            return
