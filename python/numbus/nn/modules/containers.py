"""Modules of modules: one after the other, in a list, by name; parameters likewise."""

import operator
from collections import OrderedDict
from itertools import islice

from ...core.errors import message
from ...tensors import Parameter, Tensor
from .module import Module


def _at(op, index, count):
    k = operator.index(index)
    if not -count <= k < count:
        raise IndexError(message(op, f"index {k} is out of range", k, f"{-count} to {count - 1}"))
    return k % count


class _Numbered(Module):
    """What Sequential and ModuleList share: modules whose names are their numbers."""

    def _keep(self, modules):
        self._modules = OrderedDict((str(k), m) for k, m in enumerate(modules))

    def _key(self, index):
        return next(islice(self._modules, _at(type(self).__name__, index, len(self)), None))

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __setitem__(self, index, module):
        setattr(self, self._key(index), module)

    def __delitem__(self, index):
        keys = list(self._modules)
        for key in keys[index] if isinstance(index, slice) else [self._key(index)]:
            del self._modules[key]
        self._keep(self._modules.values())

    def __contains__(self, module):
        return any(m is module for m in self)

    def append(self, module):
        """Adds a module at the end; returns this one."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules):
        """Adds modules at the end; returns this one."""
        for m in modules:
            self.append(m)
        return self

    def insert(self, index, module):
        """Adds a module before the one of that index."""
        every = list(self)
        every.insert(index, module)
        self._keep([])
        self.extend(every)
        return self

    def pop(self, index):
        """Removes the module of that index and returns it."""
        found = self[index]
        del self[index]
        return found

    def __dir__(self):
        return [name for name in super().__dir__() if not name.isdigit()]


class Sequential(_Numbered):
    """Modules that are called one after the other: `Sequential(a, b)`, or of an OrderedDict of
    names and modules.
    """

    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            self.extend(args)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._key(index)]

    def __delitem__(self, index):
        names = list(self._modules)
        numbered = all(name.isdigit() for name in names)
        for name in names[index] if isinstance(index, slice) else [self._key(index)]:
            del self._modules[name]
        if numbered:
            self._keep(self._modules.values())

    def __add__(self, other):
        return Sequential(*self, *other)

    def __iadd__(self, other):
        return self.extend(other)

    def __mul__(self, other):
        if not isinstance(other, int):
            return NotImplemented
        if other <= 0:
            raise ValueError(message("Sequential", "no positive number of times", other, "1"))
        return Sequential(*[m for _ in range(other) for m in self])

    __rmul__ = __mul__

    def __imul__(self, other):
        more = self * other
        return self.extend(list(more)[len(self) :])

    def forward(self, input):
        for module in self._modules.values():
            input = module(input)
        return input


class ModuleList(_Numbered):
    """A list of modules, which are found as attributes are."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])
        return self._modules[self._key(index)]

    def __add__(self, other):
        return type(self)([*self, *other])

    def __iadd__(self, modules):
        return self.extend(modules)

    def __repr__(self):
        """Runs of equal modules are shown once, with their numbers."""
        shown = [repr(m) for m in self]
        if not shown:
            return self._get_name() + "()"
        lines, k = [], 0
        while k < len(shown):
            end = k
            while end + 1 < len(shown) and shown[end + 1] == shown[k]:
                end += 1
            name = f"({k})" if end == k else f"({k}-{end})"
            times = "" if end == k else f"{end - k + 1} x "
            lines.append(f"{name}: {times}" + shown[k].replace("\n", "\n  "))
            k = end + 1
        return self._get_name() + "(\n  " + "\n  ".join(lines) + "\n)"


class ModuleDict(Module):
    """Modules by name, which are found as attributes are."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def clear(self):
        """Removes all."""
        self._modules.clear()

    def pop(self, key):
        """Removes the module of that name and returns it."""
        return self._modules.pop(key)

    def keys(self):
        """The names."""
        return self._modules.keys()

    def items(self):
        """(name, module) of all."""
        return self._modules.items()

    def values(self):
        """The modules."""
        return self._modules.values()

    def update(self, modules):
        """Adds modules, of a dict or of pairs."""
        for key, module in modules.items() if hasattr(modules, "items") else modules:
            self[key] = module


def _as_parameter(x):
    return Parameter(x) if isinstance(x, Tensor) and not isinstance(x, Parameter) else x


class ParameterList(Module):
    """A list of parameters, which are found as attributes are; tensors become parameters."""

    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)([self[k] for k in range(*index.indices(len(self)))])
        return getattr(self, str(_at("ParameterList", index, len(self))))

    def __setitem__(self, index, value):
        setattr(self, str(_at("ParameterList", index, len(self))), _as_parameter(value))

    def __len__(self):
        return self._size

    def __iter__(self):
        return iter([self[k] for k in range(len(self))])

    def __iadd__(self, values):
        return self.extend(values)

    def append(self, value):
        """Adds one at the end; returns the list."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values):
        """Adds several at the end; returns the list."""
        for value in values:
            self.append(value)
        return self

    def extra_repr(self):
        return _described([(str(k), p) for k, p in enumerate(self)], lambda p: p.dtype)

    def __repr__(self):
        text = self.extra_repr()
        return f"{self._get_name()}({_lines(text)})"


class ParameterDict(Module):
    """Parameters by name, which are found as attributes are; tensors become parameters."""

    def __init__(self, parameters=None):
        super().__init__()
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key):
        return self._parameters[str(key)]

    def __setitem__(self, key, value):
        setattr(self, str(key), _as_parameter(value))

    def __delitem__(self, key):
        del self._parameters[str(key)]

    def __len__(self):
        return len(self._parameters)

    def __iter__(self):
        return iter(self._parameters)

    def __contains__(self, key):
        return str(key) in self._parameters

    def keys(self):
        """The names."""
        return self._parameters.keys()

    def items(self):
        """(name, parameter) of all."""
        return self._parameters.items()

    def values(self):
        """The parameters."""
        return self._parameters.values()

    def update(self, parameters):
        """Adds parameters, of a dict or of pairs."""
        for key, value in parameters.items() if hasattr(parameters, "items") else parameters:
            self[key] = value

    def extra_repr(self):
        return _described(self.items(), lambda p: p.type())

    def __repr__(self):
        return f"{self._get_name()}({_lines(self.extra_repr())})"


def _lines(text):
    # As PyTorch: one line stays one, of several each is moved in.
    return "\n  " + text.replace("\n", "\n  ") + "\n" if "\n" in text else text


def _described(items, kind_of):
    def shown(name, p):
        if not isinstance(p, Tensor):
            return f"  ({name}): Object of type: {type(p).__name__}"
        kind = "Parameter" if isinstance(p, Parameter) else "Tensor"
        sizes = "x".join(map(str, p.shape))
        return f"  ({name}): {kind} containing: [{kind_of(p)} of size {sizes}]"

    return "\n".join([shown(name, p) for name, p in items])
