"""The class Module: parameters, buffers and modules in it by name, hooks, saving and loading."""

import copy
import itertools
from collections import OrderedDict, namedtuple

from ... import _core
from ...core.compiling import ITEMS, Parts, flat, observe
from ...core.errors import message
from ...tensors import Buffer, Parameter, Tensor, no_grad
from ...tensors import dtype as dtype_type
from ...tensors._errors import retyped
from ..hooks import Backward, Handle

_Keys = namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])


class IncompatibleKeys(_Keys):
    """What `load_state_dict` found missing, and what it found beyond the module's names."""

    __slots__ = ()

    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()


class Module:
    """The base of layers and nets: define `__init__`, which calls the base's first, and `forward`.

    Parameters, modules and registered buffers that are set as attributes are found by
    `parameters()`, `to()`, `state_dict()` and their kin.
    """

    training: bool
    _version = 1

    def __init__(self):
        set_plain = super().__setattr__
        set_plain("training", True)
        for name in (
            "_parameters", "_buffers", "_modules", "_forward_pre_hooks", "_forward_hooks",
            "_backward_hooks", "_backward_pre_hooks", "_state_dict_hooks",
            "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks", "_state_dict_pre_hooks",
        ):  # fmt: skip
            set_plain(name, OrderedDict())
        set_plain("_non_persistent_buffers_set", set())

    def forward(self, *input, **keywords):
        """What a call of the module does; each module defines its own."""
        raise NotImplementedError(
            message(type(self).__name__, 'Module is missing the required "forward" function',
                    "none", "a method forward")
        )  # fmt: skip

    # Attributes.

    def __getattr__(self, name):
        fields = self.__dict__
        for kind in ("_parameters", "_buffers", "_modules"):
            found = fields.get(kind)
            if found is not None and name in found:
                return found[name]
        if "_parameters" not in fields and name in ("_parameters", "_buffers", "_modules"):
            raise AttributeError(
                message(type(self).__name__, "cannot assign module before Module.__init__() call",
                        name, "super().__init__() first")
            )  # fmt: skip
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name, value):
        fields = self.__dict__
        if isinstance(value, Parameter):
            self._begun(name)
            _removed(name, fields, self._buffers, self._modules)
            self.register_parameter(name, value)
            return
        if isinstance(value, Buffer):
            self._begun(name)
            _removed(name, fields, self._parameters, self._modules)
            self.register_buffer(name, value, value.persistent)
            return
        if isinstance(value, Module):
            self._begun(name)
            _removed(name, fields, self._parameters, self._buffers)
            self._modules[name] = value
            _find_quickly(type(self), name)
            return
        for kind, what in (("_parameters", Parameter), ("_modules", Module), ("_buffers", Tensor)):
            found = fields.get(kind)
            if found is not None and name in found:
                if value is not None and not isinstance(value, what):
                    wrong = f"cannot assign a {type(value).__name__} as {kind[1:-1]} {name!r}"
                    raise TypeError(
                        message(type(self).__name__, wrong, type(value).__name__,
                                f"a {what.__name__} or None")
                    )  # fmt: skip
                found[name] = value
                return
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        for kind in (self._parameters, self._buffers, self._modules):
            if name in kind:
                del kind[name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self):
        names = [*super().__dir__(), *self._parameters, *self._buffers, *self._modules]
        return sorted({name for name in names if not name[:1].isdigit()})

    def _begun(self, name):
        if "_parameters" not in self.__dict__:
            raise AttributeError(
                message(type(self).__name__, f"cannot assign {name!r} before Module.__init__()",
                        "no call of it", "super().__init__() first")
            )  # fmt: skip

    def _free(self, name, known):
        self._begun(name)
        if not isinstance(name, str):
            raise TypeError(message("register", "name is no text", type(name).__name__, "a str"))
        if "." in name or name == "":
            raise KeyError(message("register", "name is empty or has a dot", repr(name), "neither"))
        if hasattr(self, name) and name not in known:
            raise KeyError(message("register", "attribute exists already", repr(name), "another"))

    def register_parameter(self, name, param):
        """Adds a parameter of that name, or None for one that is not there.

        Raises KeyError for names that are taken or have a dot, TypeError for what is no Parameter.
        """
        self._free(name, self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                message("register_parameter", f"{name!r} is no parameter", type(param).__name__,
                        "a Parameter or None")
            )  # fmt: skip
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                message("register_parameter", f"{name!r} is the result of an operation",
                        "a non-leaf tensor", "a Parameter of its own")
            )  # fmt: skip
        self._parameters[name] = param
        _find_quickly(type(self), name)

    def register_buffer(self, name, tensor, persistent=True):
        """Adds a tensor that is saved and moved with the module and gets no gradient.

        persistent: whether it is in `state_dict()`. Errors as for `register_parameter`.
        """
        self._free(name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                message("register_buffer", f"{name!r} is no tensor", type(tensor).__name__,
                        "a Tensor or None")
            )  # fmt: skip
        self._buffers[name] = tensor
        _find_quickly(type(self), name)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name, module):
        """Adds a module of that name, or None. Errors as for `register_parameter`."""
        self._free(name, self._modules)
        if module is not None and not isinstance(module, Module):
            raise TypeError(
                message("add_module", f"{name!r} is no module", type(module).__name__,
                        "a Module or None")
            )  # fmt: skip
        self._modules[name] = module

    register_module = add_module

    def get_submodule(self, target):
        """The module of that name, with dots between the names of modules in modules."""
        found = self
        for name in target.split(".") if target else ():
            found = found._modules.get(name)
            if found is None:
                raise AttributeError(
                    message("get_submodule", "no module of that name", target, "one that there is")
                )
        return found

    def get_parameter(self, target):
        """The parameter of that name, with dots."""
        return self._by_name("_parameters", target)

    def get_buffer(self, target):
        """The buffer of that name, with dots."""
        return self._by_name("_buffers", target)

    def _by_name(self, kind, target):
        path, _, name = target.rpartition(".")
        found = getattr(self.get_submodule(path), kind).get(name)
        if found is None:
            raise AttributeError(
                message(f"get_{kind[1:-1]}", "none of that name", target, "one that there is")
            )
        return found

    # What a module consists of.

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """(name, module) of this one and all within, each once."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                inner = prefix + ("." if prefix else "") + name
                yield from module.named_modules(memo, inner, remove_duplicate)

    def modules(self, remove_duplicate=True):
        """This module and all within, each once unless `remove_duplicate` is False."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_children(self):
        """(name, module) of those directly within, each once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self):
        """The modules directly within, each once."""
        for _, module in self.named_children():
            yield module

    def _named(self, kind, prefix, recurse, remove_duplicate):
        seen = set()
        if recurse:
            modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        else:
            modules = [(prefix, self)]
        for path, module in modules:
            for name, x in getattr(module, kind).items():
                if x is None or id(x) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(x))
                yield path + ("." if path else "") + name, x

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """(name, parameter) of this module and, if `recurse`, of those within, each once."""
        yield from self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True):
        """The parameters of this module and, if `recurse`, of those within, each once."""
        for _, p in self.named_parameters(recurse=recurse):
            yield p

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """(name, buffer) of this module and, if `recurse`, of those within, each once."""
        yield from self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        """The buffers of this module and, if `recurse`, of those within, each once."""
        for _, b in self.named_buffers(recurse=recurse):
            yield b

    # Changes of all that is in it.

    def apply(self, fn):
        """Calls `fn(module)` for all modules within and then this one; returns this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def compile(
        self, *, fullgraph=False, dynamic=None, backend="inductor", mode=None, options=None
    ):
        """Nothing is left to compile: what calls record is fused and compiled anyway."""

    def train(self, mode=True):
        """Sets `training` of this module and all within; returns this one."""
        if not isinstance(mode, bool):
            raise ValueError(message("train", "mode is no bool", mode, "True or False"))
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        """`train(False)`."""
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Has the gradients by all parameters found, or no longer; returns the module."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Sets the gradients of all parameters to None, or to 0."""
        with no_grad():
            for p in self.parameters():
                if p.grad is not None:
                    p.grad = None if set_to_none else p.grad.detach() * 0

    def _apply(self, fn, recurse=True):
        if recurse:
            for module in self.children():
                module._apply(fn)
        with no_grad():
            for p in self._parameters.values():
                if p is None:
                    continue
                changed = fn(p.detach())
                if changed._array is not p._array:
                    p.data = changed
                if p.grad is not None:
                    p.grad = fn(p.grad)
            for name, b in self._buffers.items():
                if b is not None:
                    self._buffers[name] = fn(b)
        return self

    def to(self, *args, device=None, dtype=None, non_blocking=False, memory_format=None):
        """Moves parameters and buffers to a device, those of floats to a dtype, those of four and
        five axes to an order in memory, in place; returns the module. `to(device)`, `to(dtype)`,
        `to(device, dtype)`, `to(tensor)`.

        Raises TypeError for a dtype that is not floating point.
        """
        for x in args:
            if isinstance(x, Tensor):
                device, dtype = x.device, x.dtype
            elif isinstance(x, dtype_type):
                dtype = x
            elif isinstance(x, bool):
                non_blocking = x
            elif x is not None:
                device = x
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                message("to", "modules take floating-point dtypes only", dtype, "a float dtype")
            )

        def convert(t):
            floats = dtype is not None and (t.is_floating_point() or t.is_complex())
            ordered = {"memory_format": memory_format} if t.dim() in (4, 5) else {}
            chosen = dtype if floats else None
            return t.to(device=device, dtype=chosen, non_blocking=non_blocking, **ordered)

        return self._apply(convert)

    def cpu(self):
        """Moves parameters and buffers to the CPU."""
        return self.to("cpu")

    def cuda(self, device=None):
        """Moves parameters and buffers to a GPU."""
        if device is None or isinstance(device, int):
            device = "cuda" if device is None else f"cuda:{device}"
        return self.to(device)

    def type(self, dst_type):
        """Converts all parameters and buffers."""
        return self._apply(lambda t: t.to(dst_type))

    def float(self):
        """Converts those of floats to float32."""
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self):
        """Converts those of floats to float64."""
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self):
        """Converts those of floats to float16."""
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self):
        """Converts those of floats to bfloat16."""
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def __deepcopy__(self, memo):
        made = object.__new__(type(self))
        memo[id(self)] = made
        made.__dict__.update({k: copy.deepcopy(v, memo) for k, v in self.__dict__.items()})
        return made

    # Calls.

    def __call__(self, *args, **keywords):
        try:
            fields = self.__dict__
            if not (
                self._forward_pre_hooks
                or fields["_forward_hooks"]
                or fields["_backward_hooks"]
                or fields["_backward_pre_hooks"]
            ):
                return self.forward(*args, **keywords)
            return self._call_with_hooks(args, keywords)
        except Exception as error:
            other = _retyped(error)
            _tell_layer(error if other is None else other, self)
            if other is None:
                raise
            raise other from other.__cause__

    def _call_with_hooks(self, args, keywords):
        for hook, takes_keywords in list(self._forward_pre_hooks.values()):
            if takes_keywords:
                changed = hook(self, args, keywords)
                if changed is not None:
                    if not isinstance(changed, tuple) or len(changed) != 2:
                        raise RuntimeError(
                            message("register_forward_pre_hook", "not arguments and keywords",
                                    type(changed).__name__, "None or a tuple of both")
                        )  # fmt: skip
                    args, keywords = changed
            else:
                changed = hook(self, args)
                if changed is not None:
                    args = changed if isinstance(changed, tuple) else (changed,)
        backward = None
        if self._backward_hooks or self._backward_pre_hooks:
            backward = Backward(self, self._backward_pre_hooks, self._backward_hooks)
            args = backward.inputs(args)
        result, done = None, set()
        try:
            result = self.forward(*args, **keywords)
            for key, (hook, takes_keywords, _) in list(self._forward_hooks.items()):
                done.add(key)
                more = (keywords,) if takes_keywords else ()
                changed = hook(self, args, *more, result)
                result = result if changed is None else changed
        except Exception:
            for key, (hook, takes_keywords, always) in list(self._forward_hooks.items()):
                if always and key not in done:
                    more = (keywords,) if takes_keywords else ()
                    hook(self, args, *more, result)
            raise
        return result if backward is None else backward.outputs(result)

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Has `hook(module, args)` called before each call, `hook(module, args, kwargs)` with
        `with_kwargs`; what it returns takes the arguments' place. Returns a handle with `remove()`.
        """
        return Handle(self._forward_pre_hooks, (hook, with_kwargs), prepend)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """Has `hook(module, args, output)` called after each call, with `with_kwargs`
        `hook(module, args, kwargs, output)`; what it returns takes the output's place.

        always_call: also where the call raises. Returns a handle with `remove()`.
        """
        return Handle(self._forward_hooks, (hook, with_kwargs, always_call), prepend)

    def register_full_backward_hook(self, hook, prepend=False):
        """Has `hook(module, grad_input, grad_output)` called when the gradients by the inputs are
        known; what it returns, one for each input, takes their place.

        Returns a handle with `remove()`.
        """
        return Handle(self._backward_hooks, hook, prepend)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """Has `hook(module, grad_output)` called when the gradients by the outputs are known; what
        it returns, one for each output, takes their place. Returns a handle with `remove()`.
        """
        return Handle(self._backward_pre_hooks, hook, prepend)

    def register_state_dict_pre_hook(self, hook):
        """Has `hook(module, prefix, keep_vars)` called before `state_dict()`."""
        return Handle(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook):
        """Has `hook(module, state_dict, prefix, local_metadata)` called by `state_dict()`, which
        raises RuntimeError where the hook returns something.
        """

        def called(*args):
            made = hook(*args)
            if made is not None:
                raise RuntimeError(
                    message("state_dict", "a hook has a result", type(made).__name__, "None")
                )

        return Handle(self._state_dict_hooks, called)

    def register_load_state_dict_pre_hook(self, hook):
        """Has `hook(module, state_dict, prefix, local_metadata, strict, missing_keys,
        unexpected_keys, error_msgs)` called before this module is loaded.
        """
        return Handle(self._load_state_dict_pre_hooks, hook)

    def register_load_state_dict_post_hook(self, hook):
        """Has `hook(module, incompatible_keys)` called after this module is loaded."""
        return Handle(self._load_state_dict_post_hooks, hook)

    def _register_state_dict_hook(self, hook):  # older names of these
        return Handle(self._state_dict_hooks, hook)

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        called = hook if with_module else lambda _module, *rest: hook(*rest)
        return Handle(self._load_state_dict_pre_hooks, called)

    # Saving and loading.

    def state_dict(self, *, destination=None, prefix="", keep_vars=False):
        """All parameters and persistent buffers by name; they are shared, not copied.

        keep_vars: the parameters themselves instead of tensors without gradients.
        """
        for hook in list(self._state_dict_pre_hooks.values()):
            hook(self, prefix, keep_vars)
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for hook in list(self._state_dict_hooks.values()):
            made = hook(self, destination, prefix, metadata)
            destination = destination if made is None else made
        return destination

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        """Adds what this module saves itself: classes of programs may have their own."""
        for name, x in self._saved():
            if x is not None:
                destination[prefix + name] = x if keep_vars else x.detach()
        if type(self).get_extra_state is not Module.get_extra_state:
            destination[prefix + _EXTRA] = self.get_extra_state()

    def get_extra_state(self):
        """What `state_dict()` is to hold besides: for classes of programs, beside
        `set_extra_state`.
        """
        raise RuntimeError(_no_extra_state("get_extra_state"))

    def set_extra_state(self, state):
        """Takes what `get_extra_state` gave: for classes of programs."""
        raise RuntimeError(_no_extra_state("set_extra_state", state))

    def _saved(self):
        buffers = (
            (name, b)
            for name, b in self._buffers.items()
            if name not in self._non_persistent_buffers_set
        )
        return itertools.chain(self._parameters.items(), buffers)

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copies what `state_dict()` gave into the parameters and buffers.

        Parameters
        ----------
        state_dict : dict
        strict : bool, default True
            Whether names that are missing or unexpected are an error.
        assign : bool, default False
            The tensors take the parameters' places instead of being copied.

        Returns
        -------
        (missing_keys, unexpected_keys)

        Raises
        ------
        RuntimeError
            With all names that are missing or unexpected, and all sizes that differ.
        """
        if not hasattr(state_dict, "items"):
            raise TypeError(
                message("load_state_dict", "no dict", type(state_dict).__name__, "a dict")
            )
        missing, wrong = [], []
        known = set()
        state = _State(state_dict)
        state.known, state.reached = known, set()
        metadata = getattr(state_dict, "_metadata", None) or {}
        unexpected = []
        for path, module in self.named_modules(remove_duplicate=False):
            prefix = path + "." if path else ""
            local = dict(metadata.get(path, {}))
            if assign:
                local["assign_to_params_buffers"] = assign
            # Whether names that are missing are an error is decided below.
            given = (prefix, local, True, missing, unexpected, wrong)
            module._load_from_state_dict(state, *given)
            if prefix not in state.reached:  # a class of a program's that loads by itself
                known.update([key for key in state if key.startswith(prefix)])
        more = [key for key in state if key not in known]
        unexpected += self._in_order(more) if len(more) > 1 else more
        for _, module in self.named_modules():
            for hook in list(module._load_state_dict_post_hooks.values()):
                hook(module, IncompatibleKeys(missing, unexpected))
        if strict and missing:
            wrong.insert(0, f"Missing key(s) in state_dict: {_quoted(missing)}. ")
        if strict and unexpected:
            wrong.insert(0, f"Unexpected key(s) in state_dict: {_quoted(unexpected)}. ")
        if wrong:
            lines = "\n\t".join(wrong)
            raise RuntimeError(
                f"[load_state_dict] Error(s) in loading state_dict for {type(self).__name__}:"
                f"\n\t{lines}"
            )
        return IncompatibleKeys(missing, unexpected)

    def _in_order(self, keys):
        """Names that no tensor has in the order of the modules that they would be of."""
        places = {path: k for k, (path, _) in enumerate(self.named_modules(remove_duplicate=False))}

        def place(key):
            while key and key not in places:
                key = key.rpartition(".")[0]
            return places[key]

        return sorted(keys, key=lambda key: place(key.rpartition(".")[0]))

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        """Loads what this module has itself: classes of programs may have their own."""
        given = (state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys)
        for hook in list(self._load_state_dict_pre_hooks.values()):
            hook(self, *given, error_msgs)
        self._complete(state_dict, prefix, local_metadata.get("version"))
        known = getattr(state_dict, "known", set())
        getattr(state_dict, "reached", set()).add(prefix)
        assign = local_metadata.get("assign_to_params_buffers", False)
        self._load_own(state_dict, prefix, known, missing_keys, error_msgs, assign)
        if type(self).set_extra_state is not Module.set_extra_state:
            key = prefix + _EXTRA
            known.add(key)
            if key in state_dict:
                self.set_extra_state(state_dict[key])
            else:
                missing_keys.append(key)

    def _complete(self, state, prefix, version):
        """Adds what a state of an older version of the class has not; None: of the oldest."""

    def _load_own(self, state, prefix, known, missing, wrong, assign):
        for name, x in self._saved():
            key = prefix + name
            if x is None:
                continue
            known.add(key)
            if key not in state:
                missing.append(key)
                continue
            given = state[key]
            if not isinstance(given, Tensor):
                wrong.append(
                    f"While copying the parameter named {key!r}, expected a tensor, got "
                    f"{type(given).__name__}."
                )
                continue
            if tuple(given.shape) != tuple(x.shape):
                wrong.append(
                    f"size mismatch for {key}: copying a param with shape "
                    f"{tuple(given.shape)} from checkpoint, the shape in current model is "
                    f"{tuple(x.shape)}."
                )
                continue
            if assign:
                if name in self._parameters:
                    given = Parameter(given.detach(), x.requires_grad)
                kept = self._parameters if name in self._parameters else self._buffers
                kept[name] = given
            else:
                with no_grad():
                    x.copy_(given)

    # How it is shown.

    def extra_repr(self):
        """What is shown of a module besides the modules within."""
        return ""

    def _get_name(self):
        return type(self).__name__

    def __repr__(self):
        extra = self.extra_repr()
        lines = [
            f"({name}): " + repr(module).replace("\n", "\n  ")
            for name, module in self._modules.items()
        ]
        if not lines:
            return f"{self._get_name()}({_indented(extra)})"
        first = extra.split("\n") if extra else []
        return self._get_name() + "(\n  " + "\n  ".join([*first, *lines]) + "\n)"


_EXTRA = "_extra_state"


def _no_extra_state(op, *given):
    return message(op, "the class has none of its own", given, "a class that has get_extra_state()"
                   " and set_extra_state()")  # fmt: skip


class _State(OrderedDict):
    """A state that is being loaded, the names that modules have, and the modules asked for them."""


def _find_quickly(kind, name):
    """Has modules of a class find their own parameter, buffer or module of that name by an
    attribute of the class, in a tenth of the time that `__getattr__` takes.

    The tables of the module stay all that is known of it: where they do not have the name, the
    attribute is none. Names that the class has for something else are left alone.
    """
    if kind is Module or not name.isidentifier() or len(kind.__dict__) > _MOST_NAMES:
        return
    if not any(name in c.__dict__ for c in kind.__mro__):
        setattr(kind, name, _core.ModuleAttribute(name, kind))


_core.set_module_getattr(Module.__getattr__)
_MOST_NAMES = 256  # that are made up as a program runs, in a class


def _indented(extra):
    return extra if "\n" not in extra else "\n  " + extra.replace("\n", "\n  ") + "\n"


def _addindent(s_, numSpaces):
    """A text whose lines after the first are moved to the right, for `__repr__`s of programs."""
    return s_.replace("\n", "\n" + " " * numSpaces)


def _quoted(keys):
    return ", ".join([f'"{key}"' for key in keys])


def _removed(name, *kinds):
    for kind in kinds:
        kind.pop(name, None)


def _retyped(error):
    """An error that a layer of ours raised itself, as those of functions of tensors are."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or not trace.tb_frame.f_globals.get("__name__", "").startswith(_LAYERS):
        return None
    return retyped(error)


_LAYERS = "numbus.nn."


def _tell_layer(error, module):
    """Adds a note to an error that was raised by a module's call: its name within the modules that
    called it, and what it is.
    """
    known = getattr(error, "_numbus_layer", None)
    if known is None:
        inner, path, note, what = module, "", None, repr(module).split("\n")[0]
    else:
        inner, path, note, what = known
        name = next((n for n, m in module.named_modules() if m is inner), "")
        path = ".".join([part for part in (name, path) if part])
    told = f"in layer {path!r}: {what}" if path else f"in layer {what}"
    try:
        notes = getattr(error, "__notes__", [])
        if note in notes:
            notes.remove(note)
        error.add_note(told)
        error._numbus_layer = (module, path, told, what)
    except AttributeError:  # an error that takes no attributes stays as it is
        return


def _parts(self):
    """What a captured step of a program depends on: settings, parameters, modules, hooks."""
    fields = self.__dict__
    tables = [fields, *(f for f in fields.values() if isinstance(f, dict))]
    return Parts([(ITEMS, table, None, flat(table)) for table in tables])


observe(Module, Module.__call__, _parts)
