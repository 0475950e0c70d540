"""torch.utils.checkpoint: parts of nets that are run again for their gradients."""

from ....core.errors import message
from ....tensors import Tensor, enable_grad
from ....tensors.autograd import Function, backward
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
    @staticmethod
    def forward(ctx, run, *args):
        ctx.run, ctx.args = run, args
        state, draws = default_generator.present(), default_generator.draws
        made = run(*args)
        ctx.state = state if default_generator.draws != draws else None
        return made

    @staticmethod
    def backward(ctx, *grads):
        own = []
        for x in ctx.args:
            if isinstance(x, Tensor):
                needs = x.requires_grad
                x = x.detach()
                if needs:
                    x.requires_grad_()
            own.append(x)
        if ctx.state is not None:
            now = default_generator.present()
            default_generator.set_state(ctx.state)
        with enable_grad():
            made = ctx.run(*own)
        if ctx.state is not None:
            default_generator.set_state(now)
        outputs = made if isinstance(made, tuple) else (made,)
        pairs = [(y, g) for y, g in zip(outputs, grads, strict=True) if y.requires_grad]
        backward([y for y, _ in pairs], [g for _, g in pairs])
        return (None, *[x.grad if isinstance(x, Tensor) else None for x in own])


def checkpoint(function, *args, use_reentrant=None, preserve_rng_state=True, **keywords):
    """function(*args), of which only the arguments are kept for the gradient.

    It is run again when the gradient is asked for, with the random numbers of the first time.
    """
    if use_reentrant not in (None, True, False):  # both of PyTorch's ways give the same here
        raise TypeError(
            message("checkpoint", "use_reentrant is no truth value", use_reentrant, "True or False")
        )
    if not preserve_rng_state:
        raise NotImplementedError(
            message("checkpoint", "preserve_rng_state=False is not yet available", "False", "True")
        )
    return _Again.apply(lambda *given: function(*given, **keywords), *args)


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
