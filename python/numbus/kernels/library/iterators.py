"""iter() and filter(): generators over what loops take."""

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
