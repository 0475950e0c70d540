"""torch.utils.checkpoint: parts of nets that are run again for their gradients."""

import contextlib
import warnings

from .... import _core
from ....core import trees
from ....core.errors import message
from ....tensors import Tensor, enable_grad, is_grad_enabled, no_grad
from ....tensors.autocasting import autocast, get_autocast_dtype, is_autocast_enabled
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


@contextlib.contextmanager
def _standing(tensors, others):
    """A block in which tensors have the memory of others, and what these depend on."""
    before = [(x._array, x._constant) for x in tensors]
    for x, y in zip(tensors, others, strict=True):
        if x is not y:
            x._array, x._constant = y._array, y._constant
    try:
        yield
    finally:
        for x, y, (array, constant) in zip(tensors, others, before, strict=True):
            if x is not y:
                x._array, x._constant = array, constant


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
        # Other results stand for leaves, as what made them is passed later.
        others = [x if x._leaf else x.detach().requires_grad_() for x in ctx.given[count:]]
        with _standing(ctx.given[count:], others):
            outputs = ctx.call.again(own)
        pairs = [(y, g) for y, g in zip(outputs, grads, strict=True)
                 if isinstance(y, Tensor) and y.requires_grad and g is not None]  # fmt: skip
        wanted = [x for x in own if isinstance(x, Tensor) and x.requires_grad] + others
        # The hooks of what is used are called by the pass that this is a part of.
        hooks = [(x, x._hooks) for x in others if x._leaf]
        for x, _ in hooks:
            x._hooks = None
        try:
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
    """A function with its arguments, the random numbers that it has drawn, and how functions cast
    operands around it.
    """

    def __init__(self, function, args, keywords):
        self.function, self.args, self.keywords = function, args, keywords
        self.casts = [
            (where, is_autocast_enabled(where), get_autocast_dtype(where))
            for where in ("cpu", "cuda")
        ]

    def first(self):
        """The leaves of what it returns, the tree that they are of, and the tensors that it has
        used; as constants.
        """
        state, draws = default_generator.present(), default_generator.draws
        with no_grad():
            made, used = _core.with_used_tensors(lambda: self.function(*self.args, **self.keywords))
            leaves, tree = trees.flatten(made)
            # A tensor from elsewhere is a result of its own, which depends on it.
            own = [x.requires_grad if isinstance(x, Tensor) else False for x in leaves]
            used += [x for x, is_used in zip(leaves, own, strict=True) if is_used]
            leaves = [x.detach() if is_used else x for x, is_used in zip(leaves, own, strict=True)]
        self.state = state if default_generator.draws != draws else None
        return tuple(leaves), tree, list({id(x): x for x in used}.values())

    def again(self, args):
        """The leaves of what it returns for the arguments, recorded."""
        with contextlib.ExitStack() as around:
            if self.state is not None:
                around.callback(default_generator.set_state, default_generator.present())
                default_generator.set_state(self.state)
            for where, enabled, dtype in self.casts:
                around.enter_context(autocast(where, dtype, enabled))
            around.enter_context(enable_grad())
            return trees.flatten(self.function(*args, **self.keywords))[0]


def checkpoint(
    function,
    *args,
    use_reentrant=None,
    context_fn=None,
    determinism_check="default",
    debug=False,
    early_stop=True,
    preserve_rng_state=True,
    **keywords,
):
    """function(*args), of which only the arguments are kept for the gradient.

    It is run again when the gradient is asked for, with the random numbers of the first time. With
    `use_reentrant=True`, or where that is not said, the result depends on nothing where no argument
    requires a gradient, as in PyTorch.
    """
    if use_reentrant not in (None, True, False):
        raise TypeError(
            message("checkpoint", "use_reentrant is no truth value", use_reentrant, "True or False")
        )
    for name, value, known in (
        ("context_fn", context_fn, (None,)), ("debug", debug, (False,)),
        ("determinism_check", determinism_check, ("default", "none")),
        ("early_stop", early_stop, (True, False)),  # which tells what is run, not what is found
    ):  # fmt: skip
        if value not in known:
            raise NotImplementedError(
                message("checkpoint", f"{name} is not yet available", value, repr(known[0]))
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
        made, tree, _ = call.first()
        return trees.unflatten(tree, list(made))
    made, tree, used = call.first()
    return trees.unflatten(tree, list(_Again.apply(call, made, *args, *used)))


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
