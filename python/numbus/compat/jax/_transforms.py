"""grad, vmap, jit and their kin: `numbus.gradients` over JAX's trees and arrays."""

import functools
import inspect

import numbus as nb

from ... import gradients
from ...batches import Leaves, mapped
from ...core import derivatives
from ...core.dtypes import kind_of
from ...core.errors import message
from . import _dtypes
from ._array import Array, as_array, late, made, narrowed
from ._axes import Derivative, any_named, derivatives_inside, named_map
from ._functions import silent
from .tree_util import tree_flatten, tree_leaves, tree_map

_NUMBERS = (bool, int, float, complex)


def is_number(x):
    return isinstance(x, (Array, nb._core.ndarray, nb._core.generic, *_NUMBERS)) or hasattr(
        x, "__array__"
    )


def arrays(tree):
    """The tree with numbers and arrays as arrays of JAX's."""
    return tree_map(lambda x: made(x) if is_number(x) else x, tree)


def refuse(op, **options):
    for name, value in options.items():
        if value:
            raise NotImplementedError(
                message(op, f"{name}= is not yet available", value, "the default")
            )


class _Flat:
    """The arguments that are differentiated by, as one list of arrays, and the way back."""

    def __init__(self, op, argnums, args):
        self.one = isinstance(argnums, int)
        numbers = (argnums,) if self.one else tuple(argnums)
        for k in numbers:
            if not -len(args) <= k < len(args):
                raise ValueError(
                    f"Differentiating with respect to argnums={argnums} requires at least "
                    f"{max(numbers) + 1} positional arguments to be passed by the caller, but got "
                    f"only {len(args)} positional arguments."
                )
        self.numbers = [k % len(args) for k in numbers]
        self.args = args
        self.parts = []
        self.leaves = []
        for k in self.numbers:
            leaves, form = tree_flatten(args[k])
            leaves = [made(x) for x in leaves]
            for x in leaves:
                if kind_of(x.dtype) != "f":
                    raise TypeError(
                        f"{op} requires real-valued inputs (input dtype that is a sub-dtype of "
                        f"np.floating), but got {x.dtype.name}."
                    )
            self.parts.append((form, len(leaves)))
            self.leaves += leaves
        self.weak = [x.weak_type for x in self.leaves]
        self.given = [x._a for x in self.leaves]

    def called(self, function, keywords, leaves):
        """`function` with these arrays in the arguments."""
        args = list(self.args)
        for k, tree in zip(self.numbers, self.trees(leaves, False), strict=True):
            args[k] = tree
        with Derivative():
            return function(*args, **keywords)

    def trees(self, leaves, final=True):
        """The trees of arrays, as a list of one for each argument, or what `grad` returns."""
        rest = iter([Array(as_array(a), w) for a, w in zip(leaves, self.weak, strict=True)])
        found = [form.unflatten([next(rest) for _ in range(n)]) for form, n in self.parts]
        return (found[0] if self.one else tuple(found)) if final else found


def _real_number(value):
    """The value of a function that `grad` takes, as an array of Numbus's."""
    x = made(value) if is_number(value) else value
    if not isinstance(x, Array) or x.ndim:
        got = f"shape: {x.shape}" if isinstance(x, Array) else f"type: {type(value).__name__}"
        raise TypeError(f"Gradient only defined for scalar-output functions. Output had {got}.")
    if kind_of(x.dtype) != "f":
        raise TypeError(
            f"grad requires real-valued outputs (output dtype that is a sub-dtype of np.floating), "
            f"but got {x.dtype.name}."
        )
    return x


def value_and_grad(fun, argnums=0, has_aux=False, holomorphic=False, allow_int=False,
                   reduce_axes=()):  # fmt: skip
    """A function that gives the value of `fun`, a real number, and its gradient by the arguments
    that `argnums` names, trees of floating-point arrays (`numbus.value_and_grad`). With `has_aux`,
    `fun` returns a pair of the value and anything else: ((value, aux), gradient).
    """
    refuse("grad", holomorphic=holomorphic, allow_int=allow_int, reduce_axes=reduce_axes)

    @functools.wraps(fun)
    def wrapper(*args, **keywords):
        flat = _Flat("grad", argnums, args)
        told = []

        def inner(leaves):
            result = flat.called(fun, keywords, leaves)
            value, aux = result if has_aux else (result, None)
            x = _real_number(value)
            told.append((x, aux))
            return x._a

        value, found = silent(gradients.value_and_grad(inner))(flat.given)
        x, aux = told[0]
        out = Array(as_array(value), x.weak_type)
        return ((out, aux) if has_aux else out), flat.trees(found)

    return wrapper


def grad(fun, argnums=0, has_aux=False, holomorphic=False, allow_int=False, reduce_axes=()):
    """A function that gives the gradient of `fun`: `value_and_grad` without the value."""
    both = value_and_grad(fun, argnums, has_aux, holomorphic, allow_int, reduce_axes)

    @functools.wraps(fun)
    def wrapper(*args, **keywords):
        value, found = both(*args, **keywords)
        return (found, value[1]) if has_aux else found

    return wrapper


def _jacobian(fun, argnums=0, has_aux=False, holomorphic=False, allow_int=False):
    """A function that gives the Jacobian of `fun`: for each leaf of its value, a tree like the
    argument of arrays with the axes of the value first.
    """
    refuse("jacobian", holomorphic=holomorphic, allow_int=allow_int)

    @functools.wraps(fun)
    def wrapper(*args, **keywords):
        flat = _Flat("jacobian", argnums, args)
        told = []

        def inner(leaves):
            result = flat.called(fun, keywords, leaves)
            value, aux = result if has_aux else (result, None)
            outs, form = tree_flatten(arrays(value))
            told.append((form, aux))
            return [x._a for x in outs]

        rows = silent(gradients.jacobian(inner))(flat.given)
        form, aux = told[0]
        found = form.unflatten([flat.trees(row) for row in rows])
        return (found, aux) if has_aux else found

    return wrapper


jacrev = jacfwd = jacobian = _jacobian


def hessian(fun, argnums=0, has_aux=False, holomorphic=False):
    """A function that gives the second derivatives of `fun`, a function to a real number."""
    if has_aux:
        refuse("hessian", has_aux=has_aux)
    return _jacobian(_jacobian(fun, argnums, False, holomorphic), argnums)


def vjp(fun, *primals, has_aux=False):
    """The value of `fun` and a function from a tree like it to the derivatives of the sum of their
    products by each argument: a tuple.
    """
    flat = _Flat("vjp", tuple(range(len(primals))), primals)
    told = []

    def inner(*leaves):
        result = flat.called(fun, {}, leaves)
        value, aux = result if has_aux else (result, None)
        outs, form = tree_flatten(arrays(value))
        told.append((outs, form, aux))
        return [x._a for x in outs]

    values, pull = gradients.vjp(inner, *flat.given)
    outs, form, aux = told[0]
    value = form.unflatten([
        Array(as_array(a), x.weak_type) for a, x in zip(values, outs, strict=True)
    ])  # fmt: skip

    def pulled(cotangents):
        given = [made(x) for x in form.flatten_up_to(cotangents)]
        for g, x in zip(given, outs, strict=True):
            if g.shape != x.shape or g.dtype != x.dtype:
                raise ValueError(
                    message("vjp", "a cotangent of another shape or dtype than the value",
                            (g.shape, str(g.dtype)), (x.shape, str(x.dtype)))
                )  # fmt: skip
        return flat.trees(silent(pull)([g._a for g in given]))

    return (value, pulled, aux) if has_aux else (value, pulled)


def jvp(fun, primals, tangents, has_aux=False):
    """The value of `fun` and its derivative along `tangents`; `primals` and `tangents` are tuples
    of equal trees.
    """
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise TypeError("primal and tangent arguments to jax.jvp must be tuples or lists")
    flat = _Flat("jvp", tuple(range(len(primals))), primals)
    along = _Flat("jvp", tuple(range(len(tangents))), tangents)
    if [f for f, _ in flat.parts] != [f for f, _ in along.parts]:
        raise TypeError("primal and tangent arguments to jax.jvp must have the same tree structure")
    told = []

    def inner(*leaves):
        with Derivative():  # a second one: it is differentiated along the tangents
            result = flat.called(fun, {}, leaves)
        value, aux = result if has_aux else (result, None)
        outs, form = tree_flatten(arrays(value))
        told.append((outs, form, aux))
        return [x._a for x in outs]

    values, found = silent(gradients.jvp)(inner, tuple(flat.given), tuple(along.given))
    outs, form, aux = told[0]
    pair = tuple([
        form.unflatten([Array(as_array(a), x.weak_type) for a, x in zip(part, outs, strict=True)])
        for part in (values, found)
    ])  # fmt: skip
    return (*pair, aux) if has_aux else pair


def linearize(fun, *primals, has_aux=False):
    """The value of `fun` and a function of tangents that gives the derivative along them."""
    if has_aux:
        value, aux = fun(*primals)
        return value, lambda *tangents: jvp(fun, primals, tangents, True)[1], aux
    value = arrays(fun(*primals))
    return value, lambda *tangents: jvp(fun, primals, tangents)[1]


def vmap(fun, in_axes=0, out_axes=0, axis_name=None, axis_size=None, spmd_axis_name=None,
         sum_match=False):  # fmt: skip
    """A function of arrays with one axis more: `numbus.vmap`. `in_axes` and `out_axes` are ints,
    None, or trees of these. `axis_name` is what `lax.psum` and its kin call the axis.
    """
    refuse("vmap", spmd_axis_name=spmd_axis_name, sum_match=sum_match)
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)

    @functools.wraps(fun)
    def wrapper(*args, **keywords):
        if isinstance(in_axes, tuple) and len(in_axes) != len(args):
            raise ValueError(
                "vmap in_axes must be an int, None, or a tuple of entries corresponding to the "
                f"positional arguments passed to the function, but got {len(in_axes)=}, "
                f"{len(args)=}"
            )
        leaves, form = tree_flatten((args, keywords))
        axes = _spread(in_axes, args) + [0] * len(tree_leaves(keywords))
        leaves = [x if hasattr(x, "_key_array") else made(x) for x in leaves]

        def call(part):
            given, named = form.unflatten(part)
            return fun(*given, **named)

        def outs(leaves, build):
            return _spread(out_axes, build(leaves))

        if axis_name is None and not any_named():
            return mapped(call, leaves, axes, outs, _Leaves(), axis_size)
        return named_map(call, leaves, axes, outs, _Leaves(), axis_size, axis_name)

    return wrapper


def _spread(axes, tree):
    """An axis for each leaf of a tree, from a tree of axes that may end above the leaves."""
    found = []

    def walk(axis, part):
        if axis is None or isinstance(axis, int):
            found.extend([axis] * len(tree_leaves(part)))
            return
        if isinstance(axis, dict):
            for key in sorted(part):
                walk(axis[key], part[key])
            return
        parts = list(part) if isinstance(part, (list, tuple)) else [part]
        if len(axis) != len(parts):
            raise ValueError(
                message("vmap", "axes of another form than the values", axes, f"{len(parts)} parts")
            )
        for one, item in zip(axis, parts, strict=True):
            walk(one, item)

    walk(axes, tree)
    return found


class _Leaves(Leaves):
    def split(self, result):
        leaves, form = tree_flatten(arrays(result))
        return leaves, form.unflatten

    def raw(self, leaf):
        return leaf._a if isinstance(leaf, Array) else getattr(leaf, "_key_array", None)

    def like(self, leaf, array):
        if isinstance(leaf, Array):
            return Array(as_array(array), leaf.weak_type)
        return type(leaf)(array)

    def part(self, leaf, axis, k):
        array = self.raw(leaf)
        return self.like(leaf, array[(slice(None),) * axis + (k,)])

    def stacked(self, column, axis):
        return _stacked(column, axis)


def _stacked(same, axis):
    first = same[0]
    if hasattr(first, "_key_array"):
        return type(first)(nb.stack([x._key_array for x in same], axis=axis))
    found = late.numpy.stack(list(same), axis=axis)
    found.weak_type = all(x.weak_type for x in same)
    return found


def pmap(fun, axis_name=None, **options):
    """`vmap` on the one device."""
    axes = {key: options.pop(key) for key in ("in_axes", "out_axes") if key in options}
    for name in ("devices", "backend", "static_broadcasted_argnums", "donate_argnums"):
        if options.get(name) in (None, ()):
            options.pop(name, None)
    refuse("pmap", **options)
    return vmap(fun, axis_name=axis_name, **axes)


def checkpoint(fun=None, *, prevent_cse=True, policy=None, static_argnums=()):
    """A function that keeps only its arguments for its derivative, and runs again to find it;
    whatever a `policy` would keep.
    """
    if policy is not None and not callable(policy):
        raise TypeError(message("checkpoint", "policy= is no function", policy, "None"))
    if fun is None:
        return functools.partial(checkpoint, prevent_cse=prevent_cse, policy=policy,
                                 static_argnums=static_argnums)  # fmt: skip
    static = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)

    @functools.wraps(fun)
    def wrapper(*args, **keywords):
        if static:
            kept = {k % len(args): args[k % len(args)] for k in static}

            def rest_of(*rest, **named):
                left = iter(rest)
                return fun(*[kept[k] if k in kept else next(left) for k in range(len(args))],
                           **named)  # fmt: skip

            rest = [x for k, x in enumerate(args) if k not in kept]
            return checkpoint(rest_of, policy=policy)(*rest, **keywords)
        if derivatives_inside() > 1:  # whose derivative is differentiated: what is kept is needed
            return fun(*args, **keywords)
        flat = [x for x in tree_leaves((args, keywords)) if isinstance(x, Array)]
        if any(kind_of(x.dtype) not in "fc" for x in flat):
            return fun(*args, **keywords)
        leaves, form = tree_flatten(args)
        told = []

        def inner(*given):
            tree = form.unflatten([Array(as_array(a)) for a in given])
            outs, out_form = tree_flatten(arrays(fun(*tree, **keywords)))
            told.append(out_form)
            return [x._a for x in outs]

        found = gradients.checkpoint(inner)(*[made(x)._a for x in leaves])
        return told[0].unflatten([Array(as_array(a)) for a in found])

    return wrapper


remat = checkpoint


def _numbers_of(nondiff_argnums):
    one = isinstance(nondiff_argnums, int)
    return (nondiff_argnums,) if one else tuple(nondiff_argnums)


def _positional(function, args, keywords):
    """The arguments by their positions, also those that are named or left at their defaults."""
    if not keywords:
        return args
    bound = inspect.signature(function).bind(*args, **keywords)
    bound.apply_defaults()
    if bound.kwargs:
        raise TypeError(
            message("custom_vjp", "arguments that can only be named", sorted(bound.kwargs),
                    "positional ones")
        )  # fmt: skip
    return bound.args


def _without(numbers, args, forward, backward, function):
    """The arguments without those of these numbers, and functions of the rest: `backward` takes
    them first.
    """
    kept = {k % len(args): args[k % len(args)] for k in numbers}

    def of_rest(f):
        def called(*rest):
            left = iter(rest)
            return f(*[kept[k] if k in kept else next(left) for k in range(len(args))])

        return called

    fixed = [kept[k] for k in sorted(kept)]
    rest = [x for k, x in enumerate(args) if k not in kept]
    return rest, (of_rest(forward), functools.partial(backward, *fixed), of_rest(function))


class custom_vjp:
    """A function with a derivative of its own: `f.defvjp(forward, backward)`."""

    def __init__(self, fun, nondiff_argnums=(), nondiff_argnames=()):
        refuse("custom_vjp", nondiff_argnames=nondiff_argnames)
        functools.update_wrapper(self, fun)
        self._fixed = _numbers_of(nondiff_argnums)
        self._function, self._forward, self._backward = fun, None, None

    def __get__(self, owner, kind=None):
        return self if owner is None else functools.partial(self, owner)

    def defvjp(self, fwd, bwd, symbolic_zeros=False, optimize_remat=False):
        """`fwd` returns the value and what `bwd(rest, g)` needs for the tuple of derivatives; `bwd`
        has the arguments of `nondiff_argnums` first.
        """
        refuse("defvjp", symbolic_zeros=symbolic_zeros, optimize_remat=optimize_remat)
        self._forward, self._backward = fwd, bwd

    def __call__(self, *args, **keywords):
        args = _positional(self._function, args, keywords)
        if self._fixed and self._backward is not None:
            args, (forward, backward, function) = _without(
                self._fixed, args, self._forward, self._backward, self._function
            )
            rest = custom_vjp(function)
            rest.defvjp(forward, backward)
            return rest(*args)
        if self._backward is None:
            raise AttributeError(
                message("custom_vjp", "no derivative has been defined", self.__name__, "defvjp")
            )
        leaves, form = tree_flatten(args)
        if not derivatives.watched([x._a for x in leaves if isinstance(x, Array)]):
            return self._function(*args)  # the function itself, as `fwd` may call this object
        told = []

        def inner(*given):
            tree = form.unflatten([Array(as_array(a)) for a in given])
            value, rest = self._forward(*tree)
            outs, out_form = tree_flatten(arrays(value))
            told.append(out_form)

            def pull(seeds):
                g = out_form.unflatten([Array(as_array(a)) for a in seeds])
                found = self._backward(rest, g)
                return tuple([
                    nb.zeros(x.shape, x.dtype) if d is None else narrowed(made(d)._a)
                    for d, x in zip(_matched(found, args), leaves, strict=True)
                ])  # fmt: skip

            return [x._a for x in outs], pull

        leaves = [made(x) for x in leaves]
        found = gradients.custom_gradient(inner, repeats=True)(*[x._a for x in leaves])
        return told[0].unflatten([Array(as_array(a)) for a in found])


class custom_jvp:
    """A function with a derivative of its own: `f.defjvp(rule)`, whose `rule(primals, tangents)`
    gives the value and its change, which is linear in the tangents.
    """

    def __init__(self, fun, nondiff_argnums=(), nondiff_argnames=()):
        refuse("custom_jvp", nondiff_argnames=nondiff_argnames)
        functools.update_wrapper(self, fun)
        self._fixed = _numbers_of(nondiff_argnums)
        self._function, self._rule = fun, None
        self._by_rule = custom_vjp(fun)
        self._by_rule.defvjp(lambda *args: (fun(*args), args), self._pulled)

    def defjvp(self, jvp, symbolic_zeros=False):
        """Sets the rule."""
        if symbolic_zeros:
            refuse("defjvp", symbolic_zeros=symbolic_zeros)
        self._rule = jvp
        return jvp

    def defjvps(self, *jvps):
        """Sets a rule for each argument, `rule(tangent, value, *args)`, or None for no change."""

        def rule(primals, tangents):
            value = self(*primals)
            pairs = zip(jvps, tangents, strict=True)
            parts = [f(t, value, *primals) for f, t in pairs if f is not None]
            return value, functools.reduce(lambda a, b: tree_map(lambda x, y: x + y, a, b), parts)

        self.defjvp(rule)

    def __get__(self, owner, kind=None):
        return self if owner is None else functools.partial(self, owner)

    def __call__(self, *args, **keywords):
        args = _positional(self._function, args, keywords)
        if self._fixed and self._rule is not None:
            args, (_, rule, function) = _without(
                self._fixed, args, self._rule, self._rule, self._function
            )
            rest = custom_jvp(function)
            rest.defjvp(rule)
            return rest(*args)
        if self._rule is None:
            raise AttributeError(
                message("custom_jvp", "no derivative has been defined", self.__name__, "defjvp")
            )
        return self._by_rule(*args)

    def _pulled(self, args, g):
        floats = [
            k for k, x in enumerate(args)
            if all([kind_of(made(leaf).dtype) == "f" for leaf in tree_leaves(x)])
        ]  # fmt: skip
        zeros = [tree_map(lambda leaf: Array(nb.zeros_like(made(leaf)._a)), x) for x in args]

        def change(*chosen):
            tangents = list(zeros)
            for k, t in zip(floats, chosen, strict=True):
                tangents[k] = t
            found = tree_leaves(self._rule(tuple(args), tuple(tangents))[1])
            pairs = zip(found, tree_leaves(g), strict=True)
            return Array(as_array(sum([nb.sum(made(a)._a * made(b)._a) for a, b in pairs])))

        chosen = [zeros[k] for k in floats]
        found = grad(change, argnums=tuple(range(len(floats))))(*chosen) if floats else ()
        by = dict(zip(floats, found, strict=True))
        return tuple([by.get(k) for k in range(len(args))])


def _matched(found, args):
    """Derivatives of a backward pass for each leaf of the arguments; None is none for all."""
    if not isinstance(found, tuple) or len(found) != len(args):
        raise TypeError(
            message("custom_vjp", "not a tuple of a derivative for each argument",
                    type(found).__name__, f"a tuple of {len(args)}")
        )  # fmt: skip
    flat = []
    for d, x in zip(found, args, strict=True):
        form = tree_flatten(x)[1]
        flat += [None] * form.num_leaves if d is None else form.flatten_up_to(d)
    return flat


def eval_shape(fun, *args, **keywords):
    """The shapes and dtypes of what `fun` returns; it is called for that, on zeros."""
    zeros = tree_map(lambda x: late.numpy.zeros(x.shape, x.dtype) if hasattr(x, "shape") else x,
                     (args, keywords))  # fmt: skip
    return tree_map(
        lambda x: ShapeDtypeStruct(x.shape, x.dtype), arrays(fun(*zeros[0], **zeros[1]))
    )


class ShapeDtypeStruct:
    """A shape and a dtype."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = tuple(shape), _dtypes.canonical(dtype)
        self.ndim, self.size = len(self.shape), 1
        for n in self.shape:
            self.size *= n

    def __eq__(self, other):
        return isinstance(other, ShapeDtypeStruct) and (self.shape, self.dtype) == (
            other.shape,
            other.dtype,
        )

    def __hash__(self):
        return hash((self.shape, self.dtype))

    def __repr__(self):
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name})"
