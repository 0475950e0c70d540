"""torch.func: derivatives of functions of tensors."""

import functools

from ... import _core, tensors
from ...core import trees
from ...core.errors import message
from ...tensors import enable_grad
from ...tensors._tensor import leaves_of
from ...tensors.autograd_functional import along, derivatives, jacobian_by
from .._missing import missing as _missing
from ._more import vmap

__all__ = [
    "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev",
    "jvp", "linearize", "stack_module_state", "vjp", "vmap",
]  # fmt: skip


def _watched(tree):
    leaves, shape = trees.flatten(tree)
    own = [x.clone() if tensors.is_tensor(x) else x for x in leaves]
    for x in own:
        if tensors.is_tensor(x) and not x.requires_grad:
            x.requires_grad_()
    return own, trees.unflatten(shape, own), shape


def _given(tree, own):
    """What is handed out: constants, but where it depends on what is differentiated outside of
    here, on other tensors than those of `own` that require gradients.
    """
    kept = tensors.is_grad_enabled()
    known = {id(x) for x in own}

    def one(x):
        if not tensors.is_tensor(x) or not x.requires_grad:
            return x
        outside = kept and any([
            id(leaf) not in known
            for base in _core.tape_reached_from(x._array)
            for leaf in leaves_of(base)
        ])  # fmt: skip
        return x if outside else x.detach()

    return trees.transform(one, tree)


def _numbers(op, argnums, args):
    """The numbers of the arguments that are differentiated by."""
    numbers = argnums if isinstance(argnums, (tuple, list)) else (argnums,)
    for k in numbers:
        if not isinstance(k, int) or isinstance(k, bool):
            raise RuntimeError(
                message(op, "argnums", type(k).__name__, "a number, or a tuple of numbers")
            )
        if not -len(args) <= k < len(args):
            raise RuntimeError(
                message(op, "no positional argument of this number", k, f"one of {len(args)}")
            )
    if not numbers or len({k % len(args) for k in numbers}) < len(numbers):
        raise RuntimeError(message(op, "argnums", argnums, "different numbers, at least one"))
    return [k % len(args) for k in numbers]


def _floats(op, made):
    """The leaves of a function's value, which have derivatives, and the shape of the tree."""
    outs, shape = trees.flatten(made)
    for y in outs:
        if not tensors.is_tensor(y) or not (y.is_floating_point() or y.is_complex()):
            raise RuntimeError(
                message(op, "a value of the function that has no derivative",
                        f"dtype {y.dtype}" if tensors.is_tensor(y) else type(y).__name__,
                        "tensors of floating-point or complex dtype")
            )  # fmt: skip
    return outs, shape


def _parted(op, made, has_aux):
    """A function's value, and what it gives beside it."""
    if not has_aux:
        return made, None
    if not isinstance(made, tuple) or len(made) != 2:
        raise RuntimeError(
            message(op, "has_aux=True, but the function gives no pair", type(made).__name__,
                    "(value, aux)")
        )  # fmt: skip
    return made


class _Called:
    """A call of a function, whose value can be differentiated by some of its arguments."""

    def __init__(self, op, func, argnums, args, keywords, has_aux):
        given, self.known = list(args), []
        self.single = not isinstance(argnums, (tuple, list))
        for k in _numbers(op, argnums, args):
            own, given[k], shape = _watched(args[k])
            self.known.append((own, shape))
        self.flat = [x for own, _ in self.known for x in own]
        self.value, self.aux = _parted(op, func(*given, **keywords), has_aux)

    def of_arguments(self, found):
        """What was found for each leaf, as the arguments are built."""
        rest = iter(found)
        parts = [trees.unflatten(shape, [next(rest) for _ in own]) for own, shape in self.known]
        return parts[0] if self.single else tuple(parts)

    def given(self, tree):
        return _given(tree, self.flat)


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that gives the gradient and the value of `func`, whose value is one number."""

    @functools.wraps(func)
    def wrapper(*args, **keywords):
        with enable_grad():
            call = _Called("grad", func, argnums, args, keywords, has_aux)
            y = call.value
            if not tensors.is_tensor(y) or y.ndim != 0:
                raise RuntimeError(
                    message("grad", "the function's value is no scalar tensor",
                            getattr(y, "shape", type(y).__name__), "shape []")
                )  # fmt: skip
            one = tensors.ones_like(y)
            found = call.of_arguments(derivatives("grad", [y], call.flat, [one], True, False))
        return call.given((found, (y, call.aux) if has_aux else y))

    return wrapper


def grad(func, argnums=0, has_aux=False):
    """A function that gives the gradient of `func`, whose value is one number."""
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args, **keywords):
        found, value = both(*args, **keywords)
        return (found, value[1]) if has_aux else found

    return wrapper


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    """A function that gives the Jacobian of each tensor of `func`'s value by each tensor of the
    arguments: the shape of the first, then that of the second.

    `chunk_size` and `_preallocate_and_copy` say how PyTorch finds it; the result is the same.
    """
    if chunk_size is not None and not chunk_size > 0:
        raise ValueError(message("jacrev", "chunk_size", chunk_size, "1 and more"))

    @functools.wraps(func)
    def wrapper(*args):
        with enable_grad():
            call = _Called("jacrev", func, argnums, args, {}, has_aux)
            outs, shape = _floats("jacrev", call.value)
            if any(x.is_complex() for x in (*call.flat, *outs)):
                raise RuntimeError(
                    message("jacrev", "not available of complex tensors", "a complex dtype",
                            "real arguments and values")
                )  # fmt: skip
            blocks = [
                call.of_arguments(jacobian_by("jacrev", y, call.flat, create_graph=True))
                for y in outs
            ]
        found = trees.unflatten(shape, blocks)
        return call.given((found, call.aux) if has_aux else found)

    return wrapper


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """`jacrev`: the Jacobian does not depend on how it is found.

    `randomness` says how PyTorch draws random numbers in `func`; here they are drawn once.
    """
    if randomness not in ("error", "same", "different"):
        raise RuntimeError(
            message("jacfwd", "randomness", randomness, "'error', 'same' or 'different'")
        )
    return jacrev(func, argnums, has_aux=has_aux)


def hessian(func, argnums=0):
    """A function that gives the second derivatives of `func`."""
    return jacrev(jacrev(func, argnums), argnums)


def _alike(op, what, given, outs, shape):
    """The leaves of a tree that has the tensors' shapes and is built as they are."""
    leaves, found = trees.flatten(given)
    if not _same(found, shape) or [
        tuple(x.shape) if tensors.is_tensor(x) else None for x in leaves
    ] != [tuple(y.shape) for y in outs]:
        raise RuntimeError(
            message(op, f"{what} of another structure", [getattr(x, "shape", x) for x in leaves],
                    [tuple(y.shape) for y in outs])
        )  # fmt: skip
    return leaves


def _same(a, b):
    """Whether shapes of trees are alike, whatever their leaves are."""
    if not a or not b:
        return a == b
    if a[0] is not b[0] or len(a[2]) != len(b[2]):
        return False
    if a[0] is dict:
        return a[2].keys() == b[2].keys() and all(_same(a[2][k], b[2][k]) for k in a[2])
    return type(a[1]) is type(b[1]) and all(map(_same, a[2], b[2]))


def vjp(func, *primals, has_aux=False):
    """The value of `func` and a function from a tree like it to derivatives of the products, one
    for each of `primals`; with `has_aux`, what the function gives beside its value, too.
    """
    with enable_grad():
        call = _Called("vjp", func, tuple(range(len(primals))), primals, {}, has_aux)
        outs, shape = _floats("vjp", call.value)

    def pull(cotangents):
        seeds = _alike("vjp", "cotangents", cotangents, outs, shape)
        with enable_grad():
            found = derivatives("vjp", outs, call.flat, seeds, True, False)
        return call.given(call.of_arguments(found))

    value = call.given(call.value)
    return (value, pull, call.given(call.aux)) if has_aux else (value, pull)


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """The value of `func`, and its derivative along `tangents`; with `has_aux`, what the function
    gives beside its value, too.
    """
    if not isinstance(primals, tuple) or not isinstance(tangents, tuple) or not primals:
        raise RuntimeError(
            message("jvp", "primals and tangents", (type(primals).__name__,
                    type(tangents).__name__), "tuples that are not empty")
        )  # fmt: skip
    call, along_these, outs = _directional("jvp", func, primals, has_aux)
    if strict and not all(y.requires_grad for y in outs):
        raise RuntimeError(
            message("jvp", "a value that does not depend on the primals", "strict=True",
                    "values that do")
        )  # fmt: skip
    found = along_these(tangents)
    value = call.given(call.value)
    return (value, found, call.given(call.aux)) if has_aux else (value, found)


def _directional(op, func, primals, has_aux):
    """A call, what gives its derivative along tangents, and the leaves of its value."""
    with enable_grad():
        call = _Called(op, func, tuple(range(len(primals))), primals, {}, has_aux)
        outs, shape = _floats(op, call.value)

    def along_these(tangents):
        like, given = trees.flatten(primals)
        leaves = _alike(op, "tangents", tangents, like, given)
        with enable_grad():
            found = along(op, outs, call.flat, leaves, True, False)
        return call.given(trees.unflatten(shape, found))

    return call, along_these, outs


def linearize(func, *primals):
    """The value of `func`, and the function from tangents to its derivative along them there."""
    call, along_these, _ = _directional("linearize", func, primals, False)
    return call.given(call.value), lambda *tangents: along_these(tangents)


def functionalize(func, *, remove="mutations"):
    """`func`: what it writes in place is a new value for derivatives in any case."""
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            message("functionalize", "remove", remove, "'mutations' or 'mutations_and_views'")
        )
    return func


def stack_module_state(models):
    """The parameters and the buffers of modules alike, by name, each stacked along dimension 0."""
    models = list(models)
    if not models or len({type(m) for m in models}) > 1:
        raise RuntimeError(
            message("stack_module_state", "not modules of one class",
                    [type(m).__name__ for m in models], "one class")
        )  # fmt: skip
    params = {}
    for name, p in models[0].named_parameters():
        every = [m.get_parameter(name).detach() for m in models]
        params[name] = tensors.stack(every).requires_grad_(p.requires_grad)
    buffers = {
        name: tensors.stack([m.get_buffer(name) for m in models])
        for name, _ in models[0].named_buffers()
    }
    return params, buffers


def functional_call(
    module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False
):
    """A call of a module with other tensors as its parameters and buffers, by their names.

    tie_weights: a tensor that the module has under several names is replaced under all of them.
    strict: raises RuntimeError where names are missing, or the module has not all of them.
    """
    given = parameter_and_buffer_dicts
    dicts = given if isinstance(given, (tuple, list)) else (given,)
    chosen = {name: value for d in dicts for name, value in d.items()}
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    own = {
        name: value
        for named in (module.named_parameters, module.named_buffers)
        for name, value in named(remove_duplicate=False)
    }
    known = chosen
    if tie_weights:
        chosen = _tied(own, chosen)
    if strict:
        missing = sorted(set(own) - set(chosen))
        unexpected = sorted(set(known) - set(own))
        if missing or unexpected:
            raise RuntimeError(
                message("functional_call", "names are missing or not the module's",
                        f"missing {missing}, unexpected {unexpected}", "those of the module")
            )  # fmt: skip
    before = []
    try:
        for name, value in chosen.items():
            path, _, last = name.rpartition(".")
            owner = module.get_submodule(path)
            table = owner._parameters if last in owner._parameters else owner._buffers
            if last not in table:
                raise KeyError(
                    message("functional_call", "no such parameter", name, "a name of it")
                )
            before.append((table, last, table[last]))
            table[last] = value
        return module(*args, **({} if kwargs is None else kwargs))
    finally:
        for table, last, value in reversed(before):
            table[last] = value


def _tied(own, chosen):
    """The tensors that were chosen, under all names that the module has for the same tensor."""
    names = {}
    for name, value in own.items():
        names.setdefault(id(value), []).append(name)
    made = dict(chosen)
    for some in names.values():
        values = [chosen[name] for name in some if name in chosen]
        if len(some) == 1 or not values:
            continue
        if any([value is not values[0] for value in values]):
            raise ValueError(
                message("functional_call", "different values for one tensor", some,
                        "one value, or tie_weights=False")
            )  # fmt: skip
        made.update(dict.fromkeys(some, values[0]))
    return made


def __getattr__(name):
    return _missing("torch.func", name)
