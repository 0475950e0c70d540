"""A function called for each index of an axis: what `vmap` of PyTorch's and JAX's names does."""

from ..core.errors import message


def mapped(call, leaves, axes, joined, part, count=None):
    """`joined` of the list of what `call` gives for each index.

    leaves: what is mapped; axes: the axis of each, or None where it is handed on whole.
    call: takes a list like `leaves`. part: `part(leaf, axis, index)` gives a leaf of one index.
    count: how many there have to be. Raises ValueError where the lengths differ, or are not known.
    """
    pairs = list(zip(leaves, axes, strict=True))
    for leaf, axis in pairs:
        if axis is not None and not -len(leaf.shape) <= axis < len(leaf.shape):
            raise ValueError(
                message("vmap", "no such axis", f"axis {axis} of shape {tuple(leaf.shape)}",
                        f"an axis below {len(leaf.shape)}, or None")
            )  # fmt: skip
    sizes = {leaf.shape[axis] for leaf, axis in pairs if axis is not None}
    if count is not None:
        sizes.add(count)
    if len(sizes) != 1:
        raise ValueError(
            message("vmap", "sizes of the mapped axes differ", sorted(sizes), "one size")
        )
    (n,) = sizes
    if n == 0:
        raise NotImplementedError(
            message("vmap", "an axis without elements is not yet available", 0, "one or more")
        )

    def of(leaf, axis, k):
        if axis is None:
            return leaf
        return part(leaf, axis % len(leaf.shape), k)

    return joined([call([of(leaf, axis, k) for leaf, axis in pairs]) for k in range(n)])
