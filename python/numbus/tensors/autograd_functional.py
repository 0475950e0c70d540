"""`torch.autograd.functional`: Jacobians, Hessians and products with them of functions of tensors.

Results are constants unless `create_graph` is set.
"""

from ..core.errors import message
from ._mode import enable_grad
from ._tensor import Tensor
from .autograd import grad
from .creation import zeros, zeros_like

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def _tuple(x):
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def _checked(op, values, what):
    for x in values:
        if not isinstance(x, Tensor):
            raise TypeError(
                message(op, f"{what} are not tensors", type(x).__name__, "a Tensor, or a tuple")
            )
    return values


def _begin(op, inputs, create_graph):
    """Tensors that derivatives can be taken by, apart from those that were given."""
    given = _checked(op, _tuple(inputs), "the inputs")
    if create_graph:
        return tuple([x.view_as(x) if x.requires_grad else x.detach().requires_grad_()
                      for x in given])  # fmt: skip
    return tuple([x.detach().clone().requires_grad_() for x in given])


def _done(x, create_graph):
    return x if create_graph else x.detach()


def _call(op, func, inputs, strict):
    made = func(*inputs)
    outputs = _checked(op, _tuple(made), "the values of the function")
    if strict and not all(y.requires_grad for y in outputs):
        raise RuntimeError(
            message(op, "an output that does not depend on the inputs", "strict=True",
                    "outputs that do")
        )  # fmt: skip
    return outputs, isinstance(made, (tuple, list))


def derivatives(op, outputs, inputs, seeds, create_graph, strict):
    some = [(y, s) for y, s in zip(outputs, seeds, strict=True) if y.requires_grad]
    if not some:
        return [zeros_like(x) for x in inputs]
    found = grad(
        [y for y, _ in some], list(inputs), [s for _, s in some], retain_graph=True,
        create_graph=create_graph, allow_unused=True,
    )  # fmt: skip
    if strict and any(g is None for g in found):
        raise RuntimeError(
            message(op, "an input that the outputs do not depend on", "strict=True", "inputs that"
                    " are used")
        )  # fmt: skip
    return [zeros_like(x) if g is None else g for g, x in zip(found, inputs, strict=True)]


def _not_forward(op, strategy):
    if strategy not in ("reverse-mode", "forward-mode"):
        raise ValueError(
            message(op, "unknown strategy", strategy, "'reverse-mode' or 'forward-mode'")
        )


def jacobian_by(op, y, given, create_graph, strict=False):
    """The Jacobian of one output by each of some tensors, a row after the other."""
    from .shapes import stack

    rows = [[] for _ in given]
    for k in range(y.numel() if y.requires_grad else 0):
        seed = zeros_like(y).reshape(-1)
        seed[k] = 1
        found = derivatives(op, [y], given, [seed.reshape(y.shape)], create_graph, strict)
        for row, g in zip(rows, found, strict=True):
            row.append(g)
    return [
        stack(row).reshape(*y.shape, *x.shape) if row
        else zeros(*y.shape, *x.shape, dtype=x.dtype, device=x.device)
        for row, x in zip(rows, given, strict=True)
    ]  # fmt: skip


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False,
             strategy="reverse-mode"):  # fmt: skip
    """The Jacobian of each output by each input: their shapes one after the other.

    `vectorize` and `strategy` say how PyTorch finds it; the result is the same.
    """
    _not_forward("jacobian", strategy)
    if vectorize and strict:
        raise RuntimeError(message("jacobian", "strict with vectorize", True, "one of them"))
    with enable_grad():
        given = _begin("jacobian", inputs, create_graph)
        outputs, several = _call("jacobian", func, given, strict)
        table = []
        for y in outputs:
            blocks = jacobian_by("jacobian", y, given, create_graph, strict)
            table.append(tuple([_done(block, create_graph) for block in blocks]))
    if not isinstance(inputs, (tuple, list)):
        table = [line[0] for line in table]
    return tuple(table) if several else table[0]


def _scalar(op, outputs):
    if len(outputs) != 1 or outputs[0].numel() != 1:
        raise RuntimeError(
            message(op, "the value of the function is no single number",
                    [tuple(y.shape) for y in outputs], "one element")
        )  # fmt: skip
    return outputs[0]


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False,
            outer_jacobian_strategy="reverse-mode"):  # fmt: skip
    """The second derivatives of a function whose value is one number, by each pair of inputs."""
    single = not isinstance(inputs, (tuple, list))

    def slopes(*given):
        outputs, _ = _call("hessian", func, given, strict)
        y = _scalar("hessian", outputs)
        found = derivatives("hessian", [y], given, [y.detach() * 0 + 1], True, strict)
        return found[0] if single else tuple(found)

    return jacobian(slopes, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)


def _directions(op, v, values, what):
    if v is None:
        if len(values) != 1 or values[0].numel() != 1:
            raise RuntimeError(
                message(op, f"no v for {what} of several numbers",
                        [tuple(x.shape) for x in values], "a tensor of that shape")
            )  # fmt: skip
        return (values[0].detach() * 0 + 1,)
    found = _checked(op, _tuple(v), "v")
    if [tuple(a.shape) for a in found] != [tuple(b.shape) for b in values]:
        raise RuntimeError(
            message(op, "v of another shape", [tuple(a.shape) for a in found],
                    [tuple(b.shape) for b in values])
        )  # fmt: skip
    return found


def _packed(found, like, create_graph):
    made = tuple([_done(x, create_graph) for x in found])
    return made if isinstance(like, (tuple, list)) else made[0]


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """The value, and the product of `v` and the Jacobian."""
    with enable_grad():
        given = _begin("vjp", inputs, create_graph)
        outputs, several = _call("vjp", func, given, strict)
        seeds = _directions("vjp", v, outputs, "outputs")
        found = derivatives("vjp", outputs, given, seeds, create_graph, strict)
    value = tuple([_done(y, create_graph) for y in outputs])
    return value if several else value[0], _packed(found, inputs, create_graph)


def along(op, outputs, given, directions, create_graph, strict):
    """The derivatives of outputs along directions: of vector times Jacobian by the vector."""
    seeds = [zeros_like(y).requires_grad_() for y in outputs]
    back = derivatives(op, outputs, given, seeds, True, strict)
    some = [(b, d) for b, d in zip(back, directions, strict=True) if b.requires_grad]
    if not some:
        return [zeros_like(y) for y in outputs]
    found = grad(
        [b for b, _ in some], seeds, [d for _, d in some], create_graph=create_graph,
        allow_unused=True, retain_graph=True,
    )  # fmt: skip
    return [zeros_like(y) if g is None else g for g, y in zip(found, outputs, strict=True)]


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """The value, and the product of the Jacobian and `v`."""
    with enable_grad():
        given = _begin("jvp", inputs, create_graph)
        directions = _directions("jvp", v, given, "inputs")
        outputs, several = _call("jvp", func, given, strict)
        found = along("jvp", outputs, given, directions, create_graph, strict)
    value = tuple([_done(y, create_graph) for y in outputs])
    made = tuple([_done(x, create_graph) for x in found])
    return (value, made) if several else (value[0], made[0])


def _second(op, func, inputs, v, create_graph, strict):
    """The Hessian, which is symmetric, times `v`."""
    with enable_grad():
        given = _begin(op, inputs, create_graph)
        directions = _directions(op, v, given, "inputs")
        outputs, _ = _call(op, func, given, strict)
        y = _scalar(op, outputs)
        slopes = derivatives(op, [y], given, [y.detach() * 0 + 1], True, strict)
        found = derivatives(op, slopes, given, directions, create_graph, strict)
    return _done(y, create_graph), _packed(found, inputs, create_graph)


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """The value, and the product of `v` and the Hessian."""
    return _second("vhp", func, inputs, v, create_graph, strict)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """The value, and the product of the Hessian and `v`."""
    return _second("hvp", func, inputs, v, create_graph, strict)
