"""Softmax over many classes, seldom ones in clusters of their own (Grave et al., 2017)."""

from collections import namedtuple

from ...core.errors import message
from ...tensors import cat, int64, zeros
from .. import functional as F
from .containers import ModuleList, Sequential
from .module import Module
from .products import Linear

Output = namedtuple("ASMoutput", "output loss")
Output.__doc__ = "The logarithm of each target's chance, and the mean of their negatives."


class AdaptiveLogSoftmaxWithLoss(Module):
    """Logarithms of chances of classes that are sorted by how frequent they are.

    The classes up to the first of `cutoffs` have an output of their own each; the following
    clusters share one each, by which a smaller product of in_features / div_value^k numbers tells
    their classes apart. ValueError for cutoffs that are not rising numbers below n_classes.
    """

    def __init__(
        self,
        in_features,
        n_classes,
        cutoffs,
        div_value=4.0,
        head_bias=False,
        device=None,
        dtype=None,
    ):
        super().__init__()
        op, cutoffs = type(self).__name__, list(cutoffs)
        rising = all(a < b for a, b in zip([0, *cutoffs], [*cutoffs, n_classes]))
        if not cutoffs or not rising or any(int(c) != c for c in cutoffs):
            raise ValueError(
                message(op, "cutoffs", cutoffs, f"rising integers from 1 to {n_classes - 1}")
            )
        where = {"device": device, "dtype": dtype}
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size, self.n_clusters = self.cutoffs[0], len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, **where)
        self.tail = ModuleList()
        for k, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            inner = int(in_features // div_value ** (k + 1))
            self.tail.append(
                Sequential(
                    Linear(in_features, inner, bias=False, **where),
                    Linear(inner, high - low, bias=False, **where),
                )
            )

    def reset_parameters(self):
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def _parts(self):
        """(cluster, its first class, its last class + 1, its module)."""
        return [
            (k, *self.cutoffs[k : k + 2], self.tail[k]) for k in range(self.n_clusters)
        ]  # fmt: skip

    def forward(self, input, target):
        op = type(self).__name__
        alone = input.dim() == 1
        if alone:
            input, target = input[None], target[None]
        if target.dim() != 1 or input.dim() != 2 or input.shape[0] != target.shape[0]:
            raise RuntimeError(
                message(op, "input and target do not fit", f"{tuple(input.shape)} and "
                        f"{tuple(target.shape)}", "(N, in_features) and (N)")
            )  # fmt: skip
        if target.numel() and not 0 <= int(target.min()) <= int(target.max()) < self.n_classes:
            raise RuntimeError(
                message(op, "target values", f"{int(target.min())} to {int(target.max())}",
                        f"0 to {self.n_classes - 1}")
            )  # fmt: skip
        near = target < self.shortlist_size
        chosen, output = target.where(near, 0), zeros(len(target), dtype=input.dtype).to(input)
        for k, low, high, module in self._parts():
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            logs = F.log_softmax(module(input.index_select(0, rows)), 1)
            own = (target.index_select(0, rows) - low).unsqueeze(1)
            output = output.index_copy(0, rows, logs.gather(1, own).squeeze(1))
            chosen = chosen.index_fill(0, rows, self.shortlist_size + k)
        head = F.log_softmax(self.head(input), 1)
        output = output + head.gather(1, chosen.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return Output(output[0] if alone else output, loss)

    def log_prob(self, input):
        """Logarithms of the chances of all classes, (N, n_classes)."""
        head = F.log_softmax(self.head(input), 1)
        parts = [head[:, : self.shortlist_size]]
        for k, _, _, module in self._parts():
            shared = head[:, self.shortlist_size + k].unsqueeze(1)
            parts.append(F.log_softmax(module(input), 1) + shared)
        return cat(parts, 1)

    def predict(self, input):
        """The most likely class of each row."""
        found = self.head(input).argmax(1)
        unsure = found >= self.shortlist_size
        if not bool(unsure.any()):
            return found
        rows = unsure.nonzero().squeeze(1)
        best = self.log_prob(input.index_select(0, rows)).argmax(1)
        return found.index_copy(0, rows, best.to(int64))
