"""torch.func: derivatives of functions of tensors."""

import functools

from ... import _core, tensors
from ...core import trees
from ...core.errors import message
from ...tensors import autograd, autograd_functional, enable_grad
from ...tensors._tensor import leaves_of
from .._missing import missing as _missing
from ._more import vmap

__all__ = [
    "functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp",
    "stack_module_state", "vjp", "vmap",
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


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that gives the gradient and the value of `func`, whose value is one number."""

    @functools.wraps(func)
    def wrapper(*args, **keywords):
        numbers = argnums if isinstance(argnums, (tuple, list)) else (argnums,)
        given = list(args)
        known = []
        result = differentiated(given, known, numbers, args, keywords)
        return _given(result, [x for own, _ in known for x in own])

    def differentiated(given, known, numbers, args, keywords):
        with enable_grad():
            for k in numbers:
                own, given[k], shape = _watched(args[k])
                known.append((own, shape))
            made = func(*given, **keywords)
            value, aux = made if has_aux else (made, None)
            if not tensors.is_tensor(value) or value.ndim != 0:
                raise RuntimeError(
                    message("grad", "the function's value is no scalar tensor",
                            getattr(value, "shape", type(value).__name__), "shape []")
                )  # fmt: skip
            flat = [x for own, _ in known for x in own]
            found = iter(
                autograd.grad(value, flat, create_graph=True, materialize_grads=True)
                if value.requires_grad
                else [tensors.zeros_like(x) for x in flat]
            )
            parts = [trees.unflatten(shape, [next(found) for _ in own]) for own, shape in known]
        result = tuple(parts) if isinstance(argnums, (tuple, list)) else parts[0]
        return (result, (value, aux)) if has_aux else (result, value)

    return wrapper


def grad(func, argnums=0, has_aux=False):
    """A function that gives the gradient of `func`, whose value is one number."""
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args, **keywords):
        found, value = both(*args, **keywords)
        return (found, value[1]) if has_aux else found

    return wrapper


def jacrev(func, argnums=0):
    """A function that gives the Jacobian of `func`, a function from a tensor to a tensor."""

    @functools.wraps(func)
    def wrapper(*args):
        given = list(args)
        with enable_grad():
            own, given[argnums], _ = _watched(args[argnums])
            value = func(*given)
            line = value.reshape(-1)
            rows = [
                autograd.grad(line[k], own, create_graph=True, materialize_grads=True)[0]
                for k in range(line.numel())
            ]
            found = tensors.stack(rows).reshape(*value.shape, *own[0].shape)
        return _given(found, own)

    return wrapper


def vjp(func, *primals):
    """The value of `func` and a function from a tensor like it to derivatives of the products."""
    with enable_grad():
        known = [_watched(x) for x in primals]
        value = func(*[tree for _, tree, _ in known])
    flat = [x for own, _, _ in known for x in own]

    def pull(cotangent):
        found = autograd.grad(
            value, flat, cotangent, retain_graph=True, create_graph=True, materialize_grads=True
        )
        return _given(tuple(found), flat)

    return _given(value, flat), pull


def jacfwd(func, argnums=0):
    """`jacrev`: the Jacobian does not depend on how it is found."""
    return jacrev(func, argnums)


def hessian(func, argnums=0):
    """A function that gives the second derivatives of `func`."""
    return jacrev(jacrev(func, argnums), argnums)


def jvp(func, primals, tangents):
    """The value of `func`, and its derivative along `tangents`."""
    if len(primals) != len(tangents):
        raise RuntimeError(
            message("jvp", "not a tangent for each primal", len(tangents), len(primals))
        )
    with enable_grad():
        known = [_watched(x) for x in primals]
        value = func(*[tree for _, tree, _ in known])
        ins = [x for own, _, _ in known for x in own]
        along = [t for tree in tangents for t in trees.flatten(tree)[0]]
        outs, shape = trees.flatten(value)
        found = autograd_functional._along("jvp", outs, ins, along, True, False)
    return _given(value, ins), _given(trees.unflatten(shape, found), ins)


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


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None):
    """A call of a module with other tensors as its parameters and buffers, by their names."""
    given = parameter_and_buffer_dicts
    dicts = given if isinstance(given, (tuple, list)) else (given,)
    chosen = {name: value for d in dicts for name, value in d.items()}
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    before = []
    for name, value in chosen.items():
        path, _, last = name.rpartition(".")
        owner = module.get_submodule(path)
        table = owner._parameters if last in owner._parameters else owner._buffers
        if last not in table:
            raise KeyError(message("functional_call", "no such parameter", name, "a name of it"))
        before.append((table, last, table[last]))
        table[last] = value
    try:
        return module(*args, **({} if kwargs is None else kwargs))
    finally:
        for table, last, value in before:
            table[last] = value


def __getattr__(name):
    return _missing("torch.func", name)
