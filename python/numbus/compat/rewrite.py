"""The rewriting of imports, and of `type(x)`, in the source of a user's own module, and its
compilation.
"""

import ast
import re

from .. import _late, loops

# What a user's module gets for the modules it names.
REPLACED = {
    "numpy": "numbus",
    "cupy": "numbus.compat.cupy",
    "cupyx": "numbus.compat.cupyx",
    "numba": "numbus.compat.numba",
    "torch": "numbus.compat.torch",
    "torchvision": "numbus.compat.torchvision",
    "jax": "numbus.compat.jax",
    "tensorflow": "numbus.compat.tensorflow",
    "keras": "numbus.compat.tensorflow.keras",
    "time": "numbus.compat.clock",
    "timeit": "numbus.compat.timing",
    "importlib": "numbus.compat.importing",
}
_WHOLE = (
    "numpy", "cupy", "cupyx", "numba", "torch", "torchvision", "jax", "keras", "tensorflow",
)  # fmt: skip
_OF_ARRAYS = re.compile(rf"\b(import|from)\s+(numbus|{'|'.join(_WHOLE)})\b".encode())
OF_DISTRIBUTIONS = (
    "bernoulli", "beta", "binomial", "categorical", "cauchy", "chi2", "dirichlet", "distribution",
    "exponential", "fishersnedecor", "gamma", "geometric", "gumbel", "half_cauchy", "half_normal",
    "independent", "inverse_gamma", "kl", "kumaraswamy", "laplace", "log_normal", "logistic_normal",
    "lowrank_multivariate_normal", "mixture_same_family", "multinomial",
    "multivariate_normal", "negative_binomial", "normal", "one_hot_categorical", "pareto",
    "poisson", "relaxed_bernoulli", "relaxed_categorical", "studentT", "transformed_distribution",
    "transforms", "uniform", "von_mises", "weibull",
)  # fmt: skip
# Packages whose submodules follow, the longest name first. numba.cuda is numbus.cuda, but for what
# scripts reach into of its driver.
_PACKAGES = {
    "numba.cuda.cudadrv": "numbus.compat.numba_driver",
    "numba.cuda": "numbus.cuda",
    "torch.autograd.functional": "numbus.tensors.autograd_functional",
    "torch.autograd.function": "numbus.tensors.autograd",
    "torch.autograd.grad_mode": "numbus.tensors._mode",
    "torch.autograd.profiler": "numbus.compat.torch.profiler",
    "torch.autograd.variable": "numbus.tensors.autograd",
    "torch.cuda.amp": "numbus.compat.torch._cuda_amp",
    "torch.nn.parallel.distributed": "numbus.nn.parallel",
    "torch.nn.utils.clip_grad": "numbus.nn.utils.clipping",
    "torch.functional": "numbus.compat.torch",
    "torch.nn.common_types": "numbus.compat.torch.types",
    "torch.nn.utils.convert_parameters": "numbus.nn.utils.vectors",
    "torch.nn.utils.spectral_norm": "numbus.nn.utils",
    "torch.nn.utils.stateless": "numbus.compat.torch.func",
    "torch.nn.utils.weight_norm": "numbus.nn.utils",
    "torch.nn": "numbus.nn",
    # PyTorch has a module for each optimizer.
    **{
        f"torch.optim.{name}": "numbus.optim"
        for name in (
            "adadelta",
            "adagrad",
            "adam",
            "adamax",
            "adamw",
            "asgd",
            "lbfgs",
            "nadam",
            "radam",
            "rmsprop",
            "rprop",
            "sgd",
        )
    },
    "torch.optim": "numbus.optim",
    "torch.serialization": "numbus.nn.serialization",
    "torch.utils.data._utils.collate": "numbus.data.collate",
    "torch.utils.data.dataloader": "numbus.data",
    "torch.utils.data.dataset": "numbus.data",
    "torch.utils.data.sampler": "numbus.data",
    "torch.utils.data": "numbus.data",
    "torch.autograd": "numbus.tensors.autograd",
    "torch.linalg": "numbus.tensors.linalg",
    # PyTorch has a module for each distribution.
    **dict.fromkeys(
        [f"torch.distributions.{name}" for name in OF_DISTRIBUTIONS],
        "numbus.compat.torch.distributions",
    ),
    **{name: REPLACED[name] for name in _WHOLE},
}


def replacement(name):
    """The module to import instead of `name`, or None where it stays."""
    for package, ours in _PACKAGES.items():
        if name == package or name.startswith(package + "."):
            return ours + name[len(package) :]
    return REPLACED.get(name)


def original(name):
    """The name under which users know one of our modules, such as 'cupy.cuda', or None."""
    found = [
        (-len(ours), len(package), package + name[len(ours) :])
        for package, ours in _PACKAGES.items()
        if package != "numpy" and (name == ours or name.startswith(ours + "."))
    ]
    return min(found)[2] if found else None


class Rewriter(ast.NodeTransformer):
    """Replaces imports, and calls of `type` with one argument, one for one; every new node carries
    the position of the old one.
    """

    def visit_Import(self, node):
        statements = []
        for alias in node.names:
            new = replacement(alias.name) or alias.name
            package = alias.name.partition(".")[0]
            if alias.asname or package not in REPLACED:
                statements.append(ast.Import([ast.alias(new, alias.asname)]))
                continue
            if "." in alias.name:
                # `import numpy.linalg` binds `numpy`: load the submodule, then bind the package.
                statements.append(ast.Import([ast.alias(new, "__numbus_module")]))
                statements.append(ast.Delete([ast.Name("__numbus_module", ast.Del())]))
            statements.append(ast.Import([ast.alias(REPLACED[package], package)]))
        return [self._located(statement, node) for statement in statements]

    def visit_ImportFrom(self, node):
        new = None if node.level or node.module is None else replacement(node.module)
        if new is None:
            return node
        return self._located(ast.ImportFrom(new, node.names, 0), node)

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "__import__":
            module = ast.Name("__import__", ast.Load())
            maker = ast.Call(module, [ast.Constant("numbus.compat.importing")], [])
            level = ast.Attribute(
                ast.Attribute(maker, "compat", ast.Load()), "importing", ast.Load()
            )
            node.func = self._located(ast.Attribute(level, "import_", ast.Load()), node)
        elif isinstance(node.func, ast.Name) and node.func.id == "type":
            # Whatever the name stands for there is called with the argument (compat/kinds.py).
            if len(node.args) == 1 and not node.keywords and type(node.args[0]) is not ast.Starred:
                node.args = [node.func, node.args[0]]
                node.func = self._located(ast.Name("__numbus_type__", ast.Load()), node.func)
        return node

    @staticmethod
    def _located(new, old):
        return ast.fix_missing_locations(ast.copy_location(new, old))


def _as_bytes(source):
    return source if isinstance(source, bytes) else source.encode("utf-8", "replace")


def _mentions(source):
    """Whether the text names anything to replace; most modules of a program do not."""
    text = _as_bytes(source)
    if any(name.encode() in text for name in (*REPLACED, "__import__")):
        return True
    return re.search(rb"\btype\s*\(", text) is not None


def _load_early(source):
    """Loads what a module of this source is likely to call, as `import numpy` loads it, and not in
    the middle of its first call.
    """
    if b"numpy" not in source:
        return
    if b"linalg" in source:
        from .. import linalg  # noqa: F401
    if b"fft" in source:
        from .. import fft  # noqa: F401
    if any(word in source for word in (b"@", b"dot(", b"matmul(", b"linalg")):
        from ..core import libraries

        libraries.offer("blas")


def compile_user(source, file, mode="exec"):
    """The code of a user's module or snippet: imports and `type(x)` rewritten, lines kept."""
    if _OF_ARRAYS.search(_as_bytes(source)):
        _late.load()  # as `import numbus` does elsewhere
    compiles_loops = mode == "exec" and loops.is_enabled() and loops.may_have_loops(source)
    mentions = _mentions(source)
    if not mentions and not compiles_loops:
        return compile(source, file, mode, dont_inherit=True)
    tree = ast.parse(source, file, mode)
    if mentions:
        _load_early(_as_bytes(source))
        tree = Rewriter().visit(tree)
    code = compile(tree, file, mode, dont_inherit=True)
    return loops.compiled(tree, source, file, code) if compiles_loops else code


def rewrite_text(source):
    """A snippet of code as text, with its imports rewritten."""
    return ast.unparse(Rewriter().visit(ast.parse(source)))
