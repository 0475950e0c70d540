"""Views of other extents."""

from .._library import known


@known("strides of reshaped")
def strides_of_reshaped(extents, steps, wanted, out):
    """Whether memory of these extents and strides is one of the wanted extents, in C order.

    Its strides go to `out` then. Both have equally many elements, at least one.
    """
    axis = 0
    k = 0
    while axis < len(extents):
        if extents[axis] == 1:
            axis += 1
            continue
        # The fewest axes of each that have equally many elements belong to each other.
        last = axis
        have = extents[axis]
        stop = k + 1
        asked = wanted[k]
        while have != asked:
            if asked < have:
                asked *= wanted[stop]
                stop += 1
                continue
            axis += 1
            if extents[axis] == 1:
                continue
            if steps[last] != steps[axis] * extents[axis]:
                return False
            have *= extents[axis]
            last = axis
        step = steps[last]
        for j in range(stop - 1, k - 1, -1):
            out[j] = step
            step *= wanted[j]
        axis += 1
        k = stop
    return True
