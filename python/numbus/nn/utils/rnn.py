"""Sequences of different lengths in one batch: padded, or packed step by step."""

import itertools
from collections import namedtuple

import numpy

from ...core.errors import message
from ...tensors import Tensor, cat, full, stack, tensor

__all__ = [
    "PackedSequence", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence",
    "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip

_Packed = namedtuple("PackedSequence", "data batch_sizes sorted_indices unsorted_indices")


class PackedSequence(_Packed):
    """Sequences of a batch, longest first, without padding.

    data: the elements of step 0 of all sequences, then of step 1 of those that have one, …;
    batch_sizes: how many have each step (int64); sorted_indices, unsorted_indices: the order of the
    sequences and its inverse, None where they were in order.
    """

    __slots__ = ()

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if batch_sizes is None:
            raise ValueError(message("PackedSequence", "batch_sizes", None, "how many a step"))
        if sorted_indices is not None and unsorted_indices is None:
            order = numpy.asarray(sorted_indices.tolist())
            unsorted_indices = tensor(numpy.argsort(order, kind="stable"))
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **keywords):
        """The same with data of another device or dtype."""
        return self._replace(data=self.data.to(*args, **keywords))

    def cuda(self, *args, **keywords):
        """On a GPU."""
        return self._replace(data=self.data.cuda(*args, **keywords))

    def cpu(self):
        """On the CPU."""
        return self._replace(data=self.data.cpu())

    @property
    def is_cuda(self):
        """Whether the data is on a GPU."""
        return self.data.is_cuda


def lengths_of(sizes):
    """The lengths of the sequences, longest first, from how many have each step."""
    sizes = numpy.asarray(sizes)
    return (sizes[None, :] > numpy.arange(sizes[0])[:, None]).sum(axis=1)


def _positions(lengths, batch):
    """Where the packed elements are in a padded line of (steps, batch)."""
    steps = numpy.arange(max(lengths))
    here = numpy.asarray(lengths)[None, :] > steps[:, None]
    t, b = numpy.nonzero(here)
    return t * batch + b, here.sum(axis=1)


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """A PackedSequence of (steps, batch, …), or (batch, steps, …) with batch_first.

    lengths: of the sequences, a list or tensor; enforce_sorted: they have to be in falling order,
    else sequences are sorted. Raises RuntimeError for other orders and for lengths below 1,
    ValueError for lengths that do not fit.
    """
    op = "pack_padded_sequence"
    known = [int(n) for n in (lengths.tolist() if isinstance(lengths, Tensor) else lengths)]
    x = input.transpose(0, 1) if batch_first else input
    steps, batch = x.shape[:2]
    if len(known) != batch or max(known, default=0) > steps:
        raise ValueError(
            message(op, "lengths do not fit", known, f"{batch} lengths of 1 to {steps}")
        )
    if min(known) < 1:
        raise RuntimeError(
            message(op, "length of all samples has to be greater than 0", known, "1 and more")
        )
    order = inverse = None
    if any(a < b for a, b in itertools.pairwise(known)):
        if enforce_sorted:
            raise RuntimeError(
                message(op, "lengths must be sorted in decreasing order", known,
                        "falling lengths, or enforce_sorted=False")
            )  # fmt: skip
    if not enforce_sorted:
        found = numpy.argsort(-numpy.asarray(known), kind="stable")
        order, inverse = tensor(found), tensor(numpy.argsort(found, kind="stable"))
        known = [known[k] for k in found]
        x = x.index_select(1, order.to(x.device))
    at, sizes = _positions(known, batch)
    line = x.reshape(steps * batch, *x.shape[2:])
    data = line.index_select(0, tensor(at).to(line.device))
    return PackedSequence(data, tensor(sizes), order, inverse)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """(padded, lengths): the inverse of pack_padded_sequence().

    total_length: the number of steps, at least the longest sequence's; ValueError for fewer.
    """
    lengths = lengths_of(sequence.batch_sizes.tolist())
    batch, longest = len(lengths), int(lengths[0])
    steps = longest if total_length is None else total_length
    if steps < longest:
        raise ValueError(
            message("pad_packed_sequence", "total_length", steps, f"from {longest} on")
        )
    at, _ = _positions(lengths, batch)
    data = sequence.data
    place = numpy.full(steps * batch, len(at))
    place[at] = numpy.arange(len(at))
    pad = full((1, *data.shape[1:]), padding_value, dtype=data.dtype, device=data.device)
    line = cat([data, pad]).index_select(0, tensor(place).to(data.device))
    x = line.reshape(steps, batch, *data.shape[1:])
    if sequence.unsorted_indices is not None:
        inverse = sequence.unsorted_indices
        x = x.index_select(1, inverse.to(x.device))
        lengths = lengths[numpy.asarray(inverse.tolist())]
    return (x.transpose(0, 1) if batch_first else x), tensor(lengths)


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Tensors (steps, …) of different lengths as one (steps, batch, …), padded at one side.

    ValueError for another side than 'right' and 'left'.
    """
    if padding_side not in ("right", "left"):
        raise ValueError(message("pad_sequence", "padding_side", padding_side, "'right' or 'left'"))
    longest = max(s.shape[0] for s in sequences)
    lines = []
    for s in sequences:
        more = longest - s.shape[0]
        if more:
            pad = full((more, *s.shape[1:]), padding_value, dtype=s.dtype, device=s.device)
            s = cat([s, pad] if padding_side == "right" else [pad, s])
        lines.append(s)
    return stack(lines, dim=0 if batch_first else 1)


def pack_sequence(sequences, enforce_sorted=True):
    """A PackedSequence of a list of tensors (steps, …)."""
    lengths = [s.shape[0] for s in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The tensors (steps, …) of which pad_sequence() made one, by their lengths."""
    x = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [line[: int(n)] for line, n in zip(x, lengths, strict=True)]


def unpack_sequence(packed_sequences):
    """The tensors (steps, …) of which pack_sequence() made one."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
