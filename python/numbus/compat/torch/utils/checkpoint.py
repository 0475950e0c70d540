"""torch.utils.checkpoint: parts of nets that are run again for their gradients."""

import warnings

from .... import _core
from ....core.errors import message
from ....tensors import Tensor, enable_grad, is_grad_enabled, no_grad
from ....tensors.autograd import Function, grad
from ....tensors.random import default_generator


def get_device_states(*args):
    """The devices of tensors on GPUs, and the states of their random numbers: one state for all."""
    where = sorted({x.device.index or 0 for x in args if isinstance(x, Tensor) and x.is_cuda})
    return where, [default_generator.known() for _ in where]


def set_device_states(devices, states):
    """Has random numbers go on from states that `get_device_states` gave."""
    for _, state in zip(devices, states, strict=True):
        default_generator.set_state(state)


class _Again(Function):
    """A call whose results are known; its arguments, and then what it uses otherwise, follow."""

    @staticmethod
    def forward(ctx, call, made, *given):
        ctx.call, ctx.given = call, given
        return made

    @staticmethod
    def backward(ctx, *grads):
        count = len(ctx.call.args)
        own = []
        for x in ctx.given[:count]:
            if isinstance(x, Tensor):
                needs = x.requires_grad
                x = x.detach()
                if needs:
                    x.requires_grad_()
            own.append(x)
        others = ctx.given[count:]
        made = ctx.call.again(own)
        outputs = made if isinstance(made, tuple) else (made,)
        pairs = [(y, g) for y, g in zip(outputs, grads, strict=True)
                 if isinstance(y, Tensor) and y.requires_grad]  # fmt: skip
        wanted = [x for x in own if isinstance(x, Tensor) and x.requires_grad] + list(others)
        # The hooks of what is used are called by the pass that this is a part of.
        hooks = [(x, x._hooks) for x in others if x._leaf]
        for x, _ in hooks:
            x._hooks = None
        try:
            # What made the other tensors is passed later.
            options = {"retain_graph": True, "allow_unused": True}
            found = [None] * len(wanted)
            if pairs:
                found = grad([y for y, _ in pairs], wanted, [g for _, g in pairs], **options)
        finally:
            for x, known in hooks:
                x._hooks = known
        found = iter(found)
        first = [next(found) if isinstance(x, Tensor) and x.requires_grad else None for x in own]
        return (None, None, *first, *found)


class _Call:
    """A function with its arguments, and the random numbers that it has drawn."""

    def __init__(self, function, args, keywords):
        self.function, self.args, self.keywords = function, args, keywords

    def first(self):
        """What it returns, and the tensors that it has used, as a constant."""
        state, draws = default_generator.present(), default_generator.draws
        with no_grad():
            made, used = _core.with_used_tensors(lambda: self.function(*self.args, **self.keywords))
        self.state = state if default_generator.draws != draws else None
        return made, used

    def again(self, args):
        """What it returns for the arguments, recorded."""
        if self.state is not None:
            now = default_generator.present()
            default_generator.set_state(self.state)
        with enable_grad():
            made = self.function(*args, **self.keywords)
        if self.state is not None:
            default_generator.set_state(now)
        return made


def checkpoint(function, *args, use_reentrant=None, preserve_rng_state=True, **keywords):
    """function(*args), of which only the arguments are kept for the gradient.

    It is run again when the gradient is asked for, with the random numbers of the first time. With
    `use_reentrant=True`, or where that is not said, the result depends on nothing where no argument
    requires a gradient, as in PyTorch.
    """
    if use_reentrant not in (None, True, False):
        raise TypeError(
            message("checkpoint", "use_reentrant is no truth value", use_reentrant, "True or False")
        )
    if not preserve_rng_state:
        raise NotImplementedError(
            message("checkpoint", "preserve_rng_state=False is not yet available", "False", "True")
        )
    if not is_grad_enabled():
        return function(*args, **keywords)
    call = _Call(function, args, keywords)
    if use_reentrant is not False and not any(
        [isinstance(x, Tensor) and x.requires_grad for x in args]
    ):
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2
        )
        return call.first()[0]
    made, used = call.first()
    return _Again.apply(call, made, *args, *used)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **keywords):
    """Modules or functions one after another, in segments that are checkpoints but for the last.

    All but the last have as many of them as each other.
    """
    parts = list(functions)
    if not 1 <= segments <= len(parts):
        raise ValueError(
            message("checkpoint_sequential", "no number of segments", segments,
                    f"1 to {len(parts)}, the number of functions")
        )  # fmt: skip
    size = len(parts) // segments

    def run(some):
        def work(x):
            for part in some:
                x = part(x)
            return x

        return work

    for k in range(segments - 1):
        some = run(parts[k * size : (k + 1) * size])
        input = checkpoint(some, input, use_reentrant=use_reentrant, **keywords)
    return run(parts[(segments - 1) * size :])(input)
