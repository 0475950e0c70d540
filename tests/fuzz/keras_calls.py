"""Random layers, losses, metrics, optimizers and trained nets of Keras, by Keras and by Numbus.

    KERAS_BACKEND=torch python tests/fuzz/keras_calls.py grow --first 0 --count 1000 --file k.jsonl
    python tests/fuzz/keras_calls.py check --file k.jsonl

`grow` needs Keras 3 on PyTorch and writes down what it gives: outputs, gradients, weights after a
call or after training, histories. `check` prints what Numbus gives otherwise. All is in float32
from the same data and weights. Printed with `--all` only: what one of the two refuses.
"""

import random
import warnings

import keras_texts
import numpy
from beside_torch import close, main, refusals, tried

TOLERANCE = 2e-4


def data(rng, shape, kind):
    """An array of numbers of a kind, which may have a count after a colon."""
    kind, _, count = kind.partition(":")
    if kind == "index":
        return rng.integers(0, int(count), shape).astype("int32")
    if kind == "onehot":
        return numpy.eye(int(count), dtype="float32")[rng.integers(0, int(count), shape)]
    if kind in ("bool", "mask"):
        made = rng.random(shape) < 0.7
        if kind == "mask":  # a step of each example counts
            made[..., 0] = True
        return made
    if kind == "steps":  # some steps are zeros
        return (rng.normal(size=shape) * (rng.random(shape[:-1]) < 0.7)[..., None]).astype("f4")
    if kind == "shares":  # whose sum is one
        made = rng.uniform(0.1, 1, shape)
        return (made / made.sum(-1, keepdims=True)).astype("float32")
    if kind == "bit":
        return (rng.random(shape) < 0.5).astype("float32")
    drawn = {
        "any": rng.normal, "positive": lambda size: rng.uniform(0.3, 2, size),
        "part": lambda size: rng.uniform(0.05, 0.95, size),
        "sign": lambda size: numpy.sign(rng.normal(size=size)),
    }[kind](size=shape)  # fmt: skip
    return drawn.astype("float32")


class Keras:
    """What the programs need beside Keras's names, where Keras runs on PyTorch."""

    def __init__(self):
        import keras
        import torch

        self.keras, self.torch, self.tensor = keras, torch, keras.ops.convert_to_tensor
        self.mean = keras.ops.mean

    def numbers(self, x):
        return numpy.asarray(self.keras.ops.convert_to_numpy(x), dtype="float64")

    def gradients(self, function, inputs, variables):
        """The value of a function of tensors, and its gradients; None: no number depends on it."""
        inputs = [x.requires_grad_() if x.dtype.is_floating_point else x for x in inputs]
        given = [x for x in inputs if x.requires_grad]
        made = function(*inputs)
        asked = [*given, *[v.value for v in variables()]]
        found = [None] * len(asked)
        if made.requires_grad and asked:
            found = self.torch.autograd.grad(made, asked, allow_unused=True)
        return [None if g is None else self.numbers(g.detach()) for g in found]


class Numbus:
    """The same of Numbus."""

    def __init__(self):
        from numbus.compat import tensorflow

        self.tf, self.keras = tensorflow, tensorflow.keras
        self.tensor, self.mean = tensorflow.constant, tensorflow.reduce_mean

    def numbers(self, x):
        return numpy.asarray(self.tf.convert_to_tensor(x).numpy(), dtype="float64")

    def gradients(self, function, inputs, variables):
        given = [x for x in inputs if x.dtype.is_floating]
        with self.tf.GradientTape() as tape:
            for x in given:
                tape.watch(x)
            made = function(*inputs)
        found = tape.gradient(made, [*given, *variables()])
        return [None if g is None else self.numbers(g) for g in found]


def listed(side, x):
    """Tensors as shapes and elements."""
    if isinstance(x, dict):
        return [[name, listed(side, x[name])] for name in sorted(x)]
    if isinstance(x, (list, tuple)):
        return [listed(side, y) for y in x]
    if x is None or isinstance(x, (str, bool, int, float)):
        return x
    a = x if isinstance(x, numpy.ndarray) else side.numbers(x)
    return [list(a.shape), digits(a)]


def digits(a):
    """Elements in a list, of as many digits as float32 has."""
    return [float(f"{x:.8g}") for x in numpy.asarray(a, dtype="float64").reshape(-1)]


def fill(layer, rng):
    """Sets weights that do not depend on how they began; variances are positive."""
    given = []
    for v in layer.weights:
        drawn = rng.normal(size=tuple(v.shape)) * 0.5
        positive = v.name.partition(":")[0] in ("gamma", "moving_variance", "scale")
        given.append((abs(drawn) + 0.5 if positive else drawn).astype("f4"))
    layer.set_weights(given)


def call_of_layer(side, plan, scope, rng):
    """Outputs, gradients by inputs and weights, the weights after it, added losses, shapes."""
    arrays = scope["a"][: len(scope["a"]) - plan["hidden"]]  # others are masks
    inputs = [side.tensor(x) for x in arrays]
    layer = eval(plan["text"], scope)
    keywords = {k: eval(text, scope) for k, text in plan["keywords"].items()}
    joined = plan["joined"]

    def called(*xs):
        return layer(list(xs), **keywords) if joined else layer(*xs, **keywords)

    called(*inputs)
    fill(layer, rng)
    if "stateful=True" in plan["text"]:
        layer.reset_state()
    kept, places = [], numpy.random.default_rng(rng.integers(1 << 30))

    def total(*xs):
        made = called(*xs)
        kept.append(made)
        flat = list(made) if isinstance(made, (list, tuple)) else [made]
        parts = []
        for x in flat:
            weights = places.normal(size=tuple(x.shape)).astype("f4")
            parts.append(side.keras.ops.sum(x * side.tensor(weights)) if hasattr(side, "torch")
                         else side.tf.reduce_sum(x * weights))  # fmt: skip
        return sum([*parts[1:], *layer.losses], parts[0])

    found = side.gradients(total, inputs, lambda: layer.trainable_variables)
    shapes = [[None, *x.shape[1:]] for x in arrays]
    after = plan["rule"] and layer.compute_output_shape(
        [tuple(s) for s in shapes] if joined else tuple(shapes[0])
    )
    made = kept[0]
    return [
        listed(side, made), [listed(side, g) for g in found],
        [[list(w.shape), digits(w)] for w in map(numpy.asarray, layer.get_weights())],
        [len(layer.trainable_variables), layer.count_params()],
        after and sizes(after),
    ]  # fmt: skip


def sizes(shapes):
    """Shapes as lists of numbers and None."""
    if isinstance(shapes, (list, tuple)):
        return [sizes(s) for s in shapes]
    return None if shapes is None else int(shapes)


def loss(side, plan, scope, _rng):
    of = eval(plan["text"], scope)
    y, p, *weights = [side.tensor(x) for x in scope["a"]]
    kept = []

    def total(given):
        made = of(y, given, *weights)
        kept.append(made)
        return side.keras.ops.sum(made) if hasattr(side, "torch") else side.tf.reduce_sum(made)

    return [*[listed(side, g) for g in side.gradients(total, [p], list)], listed(side, kept[0])]


def metric(side, plan, scope, _rng):
    of = eval(plan["text"], scope)
    seen = []
    a = scope["a"]
    for k in range(0, len(a), plan["each"]):
        of.update_state(*[side.tensor(x) for x in a[k : k + plan["each"]]])
        seen.append(listed(side, of.result()))
    of.reset_state()
    of.update_state(*[side.tensor(x) for x in a[: plan["each"]]])
    return [of.name, *seen, listed(side, of.result())]


def steps(side, plan, scope, rng):
    """What an optimizer makes of variables by given gradients."""
    of = eval(plan["text"], scope)
    begin = [rng.normal(size=s).astype("f4") for s in plan["shapes"]]
    variable = side.keras.Variable if hasattr(side, "torch") else side.tf.Variable
    variables = [variable(x) for x in begin]
    seen = []
    for k in range(plan["steps"]):
        grads = [side.tensor(rng.normal(size=s).astype("f4") * 2) for s in plan["shapes"]]
        if plan["some"] and k == 1:
            grads[0] = None
        of.apply_gradients(zip(grads, variables))
        seen.append([float(side.numbers(of.learning_rate)), int(side.numbers(of.iterations))])
        seen.append([listed(side, v) for v in variables])
    return seen


def value(side, _plan, scope, _rng):
    scope["a"] = [side.tensor(x) for x in scope["a"]]
    return listed(side, eval(_plan["text"], scope))


def spread(side, plan, scope, _rng):
    """Of random numbers the shape and roughly the mean and the deviation."""
    side.keras.utils.set_random_seed(3)
    made = side.numbers(eval(plan["text"], scope)(tuple(plan["shape"])))
    if plan["exact"]:
        return listed(side, made)
    ways = [float(numpy.quantile(made, q)) for q in (0.05, 0.3, 0.7, 0.95)]
    return [list(made.shape), *[w / float(made.std()) for w in ways], float(made.std())]


def trained(side, plan, scope, rng):
    """Histories of fit, what evaluate and predict give, and the weights at the end."""
    exec(plan["text"], scope)
    model = scope["model"]
    fill(model, rng)
    seen = []
    for text in plan["calls"]:
        found = eval(text, scope)
        seen.append(listed(side, getattr(found, "history", found)))
    weights = [numpy.asarray(w) for w in model.get_weights()]
    return [seen, [[list(w.shape), digits(w)] for w in weights]]


KINDS = {
    "layer": call_of_layer, "loss": loss, "metric": metric, "steps": steps, "value": value,
    "spread": spread, "fit": trained,
}  # fmt: skip


def run(side, plan, seed):
    rng = numpy.random.default_rng(seed)
    arrays = [data(rng, shape, kind) for shape, kind in plan["operands"]]
    k = side.keras
    k.backend.clear_session()  # names begin anew
    scope = {"keras": k, "layers": k.layers, "losses": k.losses, "metrics": k.metrics,
             "optimizers": k.optimizers, "schedules": k.optimizers.schedules, "a": arrays,
             "callbacks": k.callbacks, "tensor": side.tensor, "numpy": numpy,
             "keras_mean": side.mean, "__name__": "__main__"}  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return KINDS[plan["kind"]](side, plan, scope, rng)


def check(side, seed, plan, wanted):
    """What the two have in common, or in what they differ."""
    found = tried(run, side, plan, seed)
    if refused := refusals(wanted, found):
        said = {"refused": found, "lenient": wanted}.get(refused)
        return refused if said is None else f"{refused}: {said}"
    tolerance = 2e-3 if plan["kind"] in ("fit", "steps") else TOLERANCE
    tolerance = 0.15 if plan["kind"] == "spread" else tolerance
    if close(plain(wanted), plain(found), tolerance):
        return "alike"
    return f"differs: {where(plain(wanted), plain(found), tolerance)}"


def plain(x):
    """Integers as floats, which may be either."""
    if isinstance(x, list):
        return [plain(y) for y in x]
    return float(x) if isinstance(x, int) and not isinstance(x, bool) else x


def where(a, b, tolerance, at=""):
    """The first place at which two lists differ."""
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for k, (x, y) in enumerate(zip(a, b)):
            if not close(x, y, tolerance):
                return where(x, y, tolerance, f"{at}[{k}]")
    return f"{at}: {str(b)[:90]} for {str(a)[:90]}"


def line(side, seed, args):
    plan = keras_texts.grow(random.Random(seed), args.only)
    return plan, tried(run, side, plan, seed)


if __name__ == "__main__":
    raise SystemExit(
        main(__doc__, line, check, ("alike", "both refuse", "lenient"), sides=(Keras, Numbus),
             only=list(KINDS))
    )  # fmt: skip
