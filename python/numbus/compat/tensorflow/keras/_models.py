"""keras.Model and keras.Sequential: layers that are trained."""

import math

import numpy

import numbus as nb

from ....core import trees
from ....core.errors import message
from .. import _ops
from .._compiled import Calls
from .._tensor import GradientTape, Tensor, Variable, as_array, convert
from ..data import Dataset
from . import losses, optimizers
from ._ends import CompileMetrics, Ends
from ._functional import Graph, KerasTensor, tried_shape
from ._layers import Input, InputLayer, Layer, new_name
from ._progress import Progress, table
from .callbacks import History


class _Fitting:
    """What `fit` changes and no step reads: so steps go on being those that were captured."""

    def __init__(self):
        self.history, self.stopped = None, False
        self.calls = {}  # by functions of steps: `Calls`

    def __reduce__(self):
        """A copy of a model begins anew: what was captured is of this one's variables."""
        return _Fitting, ()


class Model(Layer):
    """Layers with `compile`, `fit`, `evaluate`, `predict`. Subclasses define `call`."""

    def __init__(self, inputs=None, outputs=None, name=None, **options):
        if (inputs is None) != (outputs is None):
            raise ValueError(message("keras.Model", "inputs without outputs, or outputs without"
                                     " inputs", "one", "Model(inputs, outputs)"))  # fmt: skip
        graph = None if inputs is None else Graph(inputs, outputs)
        super().__init__(new_name("Functional") if graph and name is None else name, **options)
        self._graph = graph
        self.built = graph is not None
        self.optimizer = self._loss = self._ends = self._factors = None
        self._asked = None, None  # metrics, and those that weights count for
        self._as_python = False
        self._fitting = _Fitting()

    history = property(
        lambda self: self._fitting.history,
        lambda self, value: setattr(self._fitting, "history", value),
    )
    stop_training = property(
        lambda self: self._fitting.stopped,
        lambda self, value: setattr(self._fitting, "stopped", value),
    )

    @property
    def layers(self):
        """The layers, of a model of inputs and outputs from the inputs on."""
        return self._parts() if self._graph is None else list(self._graph.layers)

    def _parts(self):
        if self._graph is None:
            return super()._parts()
        more = [x for x in super()._parts() if not any(x is own for own in self._graph.layers)]
        return [*self._graph.layers, *more]

    def call(self, inputs, training=None):
        """The outputs of a model of inputs and outputs; other models define their own."""
        if self._graph is None:
            return super().call(inputs)
        return self._graph.run(inputs, training)

    def _converted(self, inputs):
        if self._graph is None or isinstance(self._graph.inputs, KerasTensor):
            return super()._converted(inputs)
        if not isinstance(inputs, (list, tuple, dict)):
            inputs = [inputs]
        return trees.transform(super()._converted, inputs)

    def _built_for(self, inputs):
        if self._graph is None:
            super()._built_for(inputs)

    def compute_mask(self, inputs, previous_mask=None):
        """None: what the layers gave carries its own."""
        return None

    def _ends_of(self, name):
        if self._graph is None:
            raise AttributeError(f"The model {self.name} has no defined {name}.")
        return getattr(self._graph, name)

    input = property(lambda self: self._ends_of("inputs"))
    output = property(lambda self: self._ends_of("outputs"))
    inputs = property(lambda self: trees.flatten(self._ends_of("inputs"))[0])
    outputs = property(lambda self: trees.flatten(self._ends_of("outputs"))[0])
    input_shape = property(lambda self: _shapes(self.input))
    output_shape = property(lambda self: _shapes(self.output))

    def get_layer(self, name=None, index=None):
        """A layer by its name or its index. Raises ValueError for others."""
        if index is not None:
            return self.layers[index]
        for layer in self.layers:
            if layer.name == name:
                return layer
        raise ValueError(
            message("get_layer", "no such layer", name, ", ".join(x.name for x in self.layers))
        )

    def compile(self, optimizer="rmsprop", loss=None, metrics=None, loss_weights=None,
                weighted_metrics=None, run_eagerly=False, steps_per_execution=1,
                jit_compile="auto"):  # fmt: skip
        """Chooses the optimizer, the loss and the metrics. How steps are run is not chosen here."""
        for option in (run_eagerly, steps_per_execution, jit_compile):
            if not isinstance(option, (bool, int, str)):
                raise TypeError(message("compile", "not an option", option, "the default"))
        self.optimizer = optimizers.get(optimizer)
        if loss is not None:
            plain = isinstance(loss, (list, tuple, dict))
            self._loss = loss if plain else losses.get(loss)
            self._factors = loss_weights
        if metrics is not None or weighted_metrics is not None:  # else those of an earlier call
            self._asked = metrics, weighted_metrics
        self._ends = None if self._loss is None else Ends(
            self._loss, self._factors, *self._asked, self._output_names()
        )  # fmt: skip
        self._as_python = bool(run_eagerly)
        self._fitting.calls.clear()

    loss = property(lambda self: self._loss)

    def _output_names(self):
        """The layers that give the outputs, or the keys of a dict of them."""
        if self._graph is None:
            return None
        ends = self._graph.outputs
        if isinstance(ends, dict):
            return list(ends)
        return [x.node.layer.name for x in trees.flatten(ends)[0]]

    @property
    def output_names(self):
        """The names of the outputs of a model of inputs and outputs."""
        self._ends_of("outputs")
        return self._output_names()

    @property
    def metrics(self):
        """The means of the loss and of the metrics."""
        if self._ends is None:
            return []
        if self._steps_alone() and any(self._asked):
            return [self._ends.mean, CompileMetrics(self._ends)]
        return [m for _, m in self._ends.all()]

    @property
    def metrics_names(self):
        """Their names."""
        return [m.name for m in self.metrics] if self._steps_alone() else (
            [] if self._ends is None else [name for name, _ in self._ends.all()]
        )  # fmt: skip

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        """The loss that `compile` chose, of labels and outputs."""
        if not isinstance(training, bool):
            raise TypeError(message("compute_loss", "not a bool", training, "True or False"))
        if self._ends is None:
            raise ValueError("You must call `compile()` with a loss before using the model.")
        y_pred = self(x, training=training) if y_pred is None else y_pred
        return self._loss_with_added(y, y_pred, sample_weight)[0]

    def _loss_with_added(self, y, y_pred, weights=None):
        """The loss with what layers and regularizers add to it, and the losses of the outputs."""
        loss, parts = self._ends.loss(y, y_pred, weights)
        for x in self.losses:
            loss = loss + (x if x.ndim == 0 else _ops.reduce_sum(x))
        return loss, parts

    def _reset(self):
        if self._loss is None and self._steps_alone():
            for m in self.metrics:
                m.reset_state()
            return
        if self._loss is None:
            raise ValueError("You must call `compile()` with a loss before using the model.")
        self._ends.reset()

    def _steps_alone(self):
        """Whether a class of the program's says what a step is."""
        return type(self).train_step is not Model.train_step

    def _stepped(self, step, batch):
        """The values that are shown after a step."""
        alone = batch[1] is None and self._steps_alone()
        found = self._called(step)(batch[0] if alone else batch)
        if found is None:
            return self._values
        flat = {}
        for name, v in found.items():
            flat |= v if isinstance(v, dict) else {name: v}
        return lambda: {name: float(convert(v)) for name, v in flat.items()}

    def _called(self, step):
        """What calls a step of training or testing, or makes predictions."""
        if self._as_python:
            return step
        known = self._fitting.calls
        if step.__func__ not in known:
            known[step.__func__] = Calls(step)
        return known[step.__func__]

    def _values(self, prefix=""):
        return {prefix + name: float(m.result().numpy()) for name, m in self._ends.all()}

    def train_step(self, data):
        """One step of training with a batch (x, y), or (x, y, weights of the examples)."""
        x, y, *weights = data
        tape = GradientTape()
        tape._parts = False  # only variables are asked for
        with tape:
            p = self(x, training=True)
            loss, parts = self._loss_with_added(y, p, *weights)
            scaled = self.optimizer.scale_loss(loss)
        variables = self.trainable_variables
        grads = tape.gradient(scaled, variables)
        self.optimizer.apply_gradients(zip(grads, variables, strict=True))
        self._ends.seen(y, p, loss, parts, *weights)

    def test_step(self, data):
        """The loss and the metrics of a batch (x, y), or (x, y, weights of the examples)."""
        x, y, *weights = data
        p = self(x, training=False)
        self._ends.seen(y, p, *self._loss_with_added(y, p, *weights), *weights)

    def fit(self, x=None, y=None, batch_size=None, epochs=1, verbose="auto", callbacks=None,
            validation_split=0.0, validation_data=None, shuffle=True, class_weight=None,
            sample_weight=None, initial_epoch=0, steps_per_epoch=None, validation_steps=None,
            validation_batch_size=None, validation_freq=1):  # fmt: skip
        """Trains for some epochs; returns the `History` of losses and metrics.

        x, y: arrays, or x a `tf.data.Dataset` of batches of pairs, or of (x, y, weights).
        sample_weight: of the examples; class_weight: by the numbers of classes, others have 1.
        """
        if validation_steps is not None:
            raise NotImplementedError(
                message("fit", "validation_steps= is not yet available", validation_steps, "None")
            )
        weights = _weights("fit", x, y, sample_weight, class_weight)
        verbose = 1 if verbose == "auto" else int(verbose)
        size = 32 if batch_size is None else int(batch_size)
        if validation_split:
            x, y = _arrays(x), _arrays(y)
            cut = math.floor(len(x) * (1 - validation_split))
            validation_data = x[cut:], y[cut:]
            x, y = x[:cut], y[:cut]
            if sample_weight is not None:  # those of classes are for training alone
                validation_data = (*validation_data, weights[cut:])
            weights = None if weights is None else weights[:cut]
        batches = _Batches(x, y, size, shuffle, weights)
        history = History()
        followers = [*(callbacks or []), history]
        for c in followers:
            c.set_model(self)
            c.on_train_begin()
        self.stop_training = False
        self.history = history
        kept = None
        for epoch in range(initial_epoch, epochs):
            if verbose and epochs > 1:
                print(f"Epoch {epoch + 1}/{epochs}")
            for c in followers:
                c.on_epoch_begin(epoch)
            self._reset()
            steps = steps_per_epoch or batches.count
            progress, done = Progress(steps, verbose), 0
            if kept is None or steps_per_epoch is None:
                kept = iter(batches)
            for k, batch in enumerate(kept):
                for c in followers:
                    c.on_train_batch_begin(k)
                values = self._stepped(self.train_step, batch)
                done += 1
                progress.update(done, values)
                for c in followers:
                    c.on_train_batch_end(k, None if len(followers) == 1 else values())
                if done == steps or self.stop_training:
                    break
            if not done:
                raise ValueError(message("fit", "no batches", "an empty data set", "examples"))
            logs = values()
            if validation_data is not None and (epoch + 1) % validation_freq == 0:
                pairs = validation_data if isinstance(validation_data, tuple) else (
                    validation_data, None
                )  # fmt: skip
                self._tested(*pairs[:2], validation_batch_size or size, weights=pairs[2:])
                logs |= self._values("val_")
            progress.end(done, logs)
            told = dict(sorted(logs.items(), key=lambda kv: (kv[0].startswith("val_"), kv[0])))
            for c in followers:
                c.on_epoch_end(epoch, told)  # what one adds the next ones see
            if self.stop_training:
                break
        self.optimizer.finalize_variable_values(self.trainable_variables)
        self._forget_added()  # of captured steps: they are not those of the last one
        for c in followers:
            c.on_train_end()
        return history

    def _tested(self, x, y, size, progress=None, weights=()):
        self._reset()
        steps = 0
        weights = _weights("evaluate", x, y, *weights, None) if weights else None
        for batch in _Batches(x, y, size, False, weights):
            self._called(self.test_step)(batch)
            steps += 1
            if progress is not None:
                progress.update(steps, self._values)
        self._forget_added()
        return steps

    def evaluate(self, x=None, y=None, batch_size=None, verbose="auto", sample_weight=None,
                 steps=None, callbacks=None, return_dict=False):  # fmt: skip
        """The loss, and the metrics in a list with it where there are any."""
        if steps is not None or callbacks:
            raise NotImplementedError(
                message("evaluate", "steps= and callbacks= are not yet available", "one", "None")
            )
        size = 32 if batch_size is None else int(batch_size)
        count = _Batches(x, y, size, False).count
        progress = Progress(count, 1 if verbose == "auto" else int(verbose))
        weights = () if sample_weight is None else (sample_weight,)
        done = self._tested(x, y, size, progress, weights)
        values = self._values()
        progress.end(done, values)
        if return_dict:
            return values
        found = [values["loss"], *[v for k, v in values.items() if k != "loss"]]
        return found if len(found) > 1 else found[0]

    def predict(self, x, batch_size=None, verbose="auto", steps=None, callbacks=None):
        """The results for arrays, or for a data set of batches, as an array of NumPy's names."""
        if steps is not None or callbacks:
            raise NotImplementedError(
                message("predict", "steps= and callbacks= are not yet available", "one", "None")
            )
        size = 32 if batch_size is None else int(batch_size)
        batches = _Batches(x, None, size, False)
        progress, parts = Progress(batches.count, 1 if verbose == "auto" else int(verbose)), []
        for batch in batches:
            parts.append(self(batch[0], training=False))
            progress.update(len(parts), dict)
        progress.end(len(parts), {})
        columns = zip(*[trees.flatten(p)[0] for p in parts], strict=True)
        joined = [nb.concatenate([t._value() for t in column]) for column in columns]
        return trees.unflatten(trees.flatten(parts[0])[1], joined)

    def train_on_batch(self, x, y=None, sample_weight=None, class_weight=None,
                       return_dict=False):  # fmt: skip
        """One step; returns the loss, and the metrics in a list with it."""
        weights = _weights("train_on_batch", x, y, sample_weight, class_weight)
        return self._on_batch(self.train_step, x, y, weights, return_dict)

    def test_on_batch(self, x, y=None, sample_weight=None, return_dict=False):
        """The loss of one batch, and the metrics in a list with it."""
        weights = _weights("test_on_batch", x, y, sample_weight, None)
        return self._on_batch(self.test_step, x, y, weights, return_dict)

    def _on_batch(self, step, x, y, weights, as_dict):
        self._reset()
        given = (_tensors(x), None if y is None else _tensors(y))
        values = self._stepped(step, given if weights is None else (*given, _tensors(weights)))()
        self._forget_added()
        found = list(values.values())
        return values if as_dict else found if len(found) > 1 else found[0]

    def predict_on_batch(self, x):
        """The results for one batch."""
        found = self(_tensors(x), training=False)
        return trees.transform(lambda t: nb.array(t.numpy()), found)

    def _rows(self):
        connected = self._graph is not None and not self._graph.is_chain()
        for layer in self.layers:
            shape = getattr(layer, "_shape_after", None)
            known = layer.built or layer.ready
            text = "?" if shape is None else str(tuple(shape))
            count = f"{layer.count_params():,}" if known else "0 (unbuilt)"
            kind = type(layer).__name__
            kind = "Functional" if getattr(layer, "_graph", None) and kind == "Model" else kind
            row = f"{layer.name} ({kind})", text, count
            yield (*row, self._graph.connections(layer)) if connected else row

    def summary(self, line_length=None, positions=None, print_fn=None, expand_nested=False,
                show_trainable=False, layer_range=None):  # fmt: skip
        """Prints the layers, their shapes and numbers of parameters."""
        if any((line_length, positions, expand_nested, show_trainable, layer_range)):
            raise NotImplementedError(
                message("summary", "options but print_fn are not yet available", "one", "None")
            )
        sizes = [sum(v._a.size for v in vs) for vs in (self.trainable_variables,
                                                       self.non_trainable_variables)]  # fmt: skip
        extra = 0
        if self.optimizer is not None and self.optimizer.iterations.number():
            extra = self.optimizer._size()
        totals = [("Total", sum(sizes) + extra), ("Trainable", sizes[0]),
                  ("Non-trainable", sizes[1])]  # fmt: skip
        totals += [("Optimizer", extra)] if extra else []
        text = "\n".join(table(self.name, list(self._rows()), totals))
        (print if print_fn is None else print_fn)(text)

    def save_weights(self, filepath, overwrite=True):
        """Writes the variables to a file: NumPy's format, not Keras's."""
        path = str(filepath)
        if not path.endswith(".npz"):
            raise NotImplementedError(
                message("save_weights", "a format that is not yet available", path, "a .npz file")
            )
        with open(path, "wb" if overwrite else "xb") as file:
            numpy.savez(file, *[numpy.asarray(w) for w in self.get_weights()])

    def load_weights(self, filepath):
        """Reads the variables from such a file."""
        with numpy.load(str(filepath), allow_pickle=False) as found:
            self.set_weights([found[f"arr_{k}"] for k in range(len(found.files))])


class Sequential(Model):
    """Layers one after another."""

    def __init__(self, layers=None, name=None, trainable=True):
        super().__init__(name=name, trainable=trainable)
        self._chain = []
        for layer in layers or []:
            self.add(layer)

    layers = property(lambda self: [x for x in self._chain if not isinstance(x, InputLayer)])

    def _parts(self):
        return self.layers

    def add(self, layer):
        """One more layer. Where the shape of the input is known, it is built."""
        if isinstance(layer, KerasTensor):
            layer = layer.node.layer
        if not isinstance(layer, Layer):
            if hasattr(layer, "_a") or not callable(layer):
                raise ValueError(
                    "Only instances of `keras.Layer` can be added to a Sequential model. "
                    f"Received: {layer} (of type {type(layer)})"
                )
            from ._layers import Lambda

            layer = Lambda(layer)
        self._chain.append(layer)
        self._graph = None
        shape = None
        if len(self._chain) == 1:
            shape = layer.given_shape
        elif self.built:
            shape = self._after
        if shape is not None:
            self._extend(shape, self._chain[-1:])

    def pop(self):
        """Takes the last layer away."""
        last = self._chain.pop()
        self._graph = None
        self._after = getattr(self._chain[-1], "_shape_after", None) if self._chain else None
        return last

    def _extend(self, shape, chain):
        for layer in chain:
            if not layer.built:
                if isinstance(layer, Sequential):
                    layer._extend(shape, layer._chain)
                elif not isinstance(layer, InputLayer):
                    layer.build(tuple(shape))
                layer.built = True
            after = self._shape_of(layer, tuple(shape))
            if after is None:  # the first call says it, and builds the rest
                return
            layer._shape_after = shape = after
        self._after, self.built = shape, True

    @staticmethod
    def _shape_of(layer, shape):
        if isinstance(layer, Sequential):
            return getattr(layer, "_after", None)
        if layer.has_rule or type(layer).compute_output_shape is not Layer.compute_output_shape:
            found = layer.compute_output_shape(shape)
            if found is not None:
                return found
        try:
            return tried_shape(layer, shape)
        except Exception:  # of the program's own call(), which may need more than zeros
            return None
        finally:
            layer._forget_added()

    def build(self, input_shape=None):
        """Makes the variables of all layers for the shape of an input, batches first."""
        if input_shape is not None:
            self._extend(tuple(input_shape), self._chain)

    output_shape = property(lambda self: self._after)

    def _ends_of(self, name):
        """Those of a model of inputs and outputs of the same layers."""
        if self._graph is None:
            shape = self._chain[0].given_shape if self._chain else None
            if shape is None:
                raise AttributeError(
                    f"The layer {self.name} has never been called and thus has no defined {name}."
                )
            first = self._chain[0]
            begin = x = first.output if isinstance(first, InputLayer) else Input(shape[1:])
            for layer in self.layers:
                x = layer(x)
            self._graph = Graph(begin, x)
        return getattr(self._graph, name)

    def call(self, inputs, training=False):
        x = inputs
        for layer in self._chain:
            x = layer(x, training=training)
        return x


def _weights(op, x, y, of_examples, of_classes):
    """The weights of the examples as an array of floats; None where none are given."""
    if of_examples is None and of_classes is None:
        return None
    if of_examples is not None and of_classes is not None:
        raise ValueError(
            "You cannot `class_weight` and `sample_weight` at the same time. Received both."
        )
    if isinstance(x, Dataset) or (isinstance(y, (list, tuple, dict)) and not _is_plain(y)):
        raise NotImplementedError(
            message(op, "weights are not yet available for data sets and several outputs",
                    type(x).__name__, "arrays, or a data set of (x, y, weights)")
        )  # fmt: skip
    if of_examples is not None:
        return nb.asarray(_arrays(of_examples)).astype("f4")
    labels = numpy.asarray(convert(y).numpy())
    if labels.ndim > 1:
        labels = labels.argmax(-1) if labels.shape[-1] > 1 else labels[..., 0]
    labels = numpy.rint(labels).astype("i8")
    found = numpy.ones(labels.shape, "f4")
    for number, weight in of_classes.items():
        found[labels == int(number)] = weight
    return nb.asarray(found)


def _is_plain(y):
    return isinstance(y, (list, tuple)) and not hasattr(y[0], "shape")


def _tensors(x):
    return trees.transform(lambda a: Tensor(as_array(a)), _arrays(x))


def _shapes(symbols):
    return trees.transform(lambda x: x.shape, symbols)


class _Batches:
    """Pairs (x, y) of a data set, or of arrays that are cut into batches, shuffled or not."""

    def __init__(self, x, y, size, shuffle, weights=None):
        self._weights = weights
        self._data = x if isinstance(x, Dataset) else None
        if self._data is None and hasattr(x, "__next__"):
            raise NotImplementedError(
                message("fit", "generators are not yet available", type(x).__name__,
                        "arrays, or tf.data.Dataset.from_generator")
            )  # fmt: skip
        if self._data is not None:
            if y is not None:
                raise ValueError("`y` should not be passed when `x` is a data set.")
            n = self._data._count
            self.count = None if n in (None, float("inf")) else n
            return
        self._x, self._y, self._size, self._shuffle = _arrays(x), _arrays(y), size, shuffle
        n = len(trees.flatten(self._x)[0][0])
        sizes = [len(a) for a in trees.flatten(self._y)[0]]
        sizes += [] if weights is None else [len(weights)]
        if any([m != n for m in sizes]):
            raise ValueError(
                f"Data cardinality is ambiguous. Make sure all arrays contain the same number of "
                f"samples. 'x' sizes: {n}, 'y' sizes: {', '.join(map(str, sizes))}"
            )
        self._n, self.count = n, -(-n // size)

    def __iter__(self):
        if self._data is not None:
            for item in self._data:
                item = item if isinstance(item, tuple) else (item, None)
                if len(item) not in (2, 3):
                    raise NotImplementedError(
                        message("fit", "batches are no pairs", len(item), "(x, y), or with weights")
                    )
                yield item
            return
        order = None
        if self._shuffle:
            order = nb.argsort(as_array(_ops.drawn("random", (self._n,), None)))
        for k in range(0, self._n, self._size):
            part = slice(k, k + self._size)
            part = part if order is None else order[part]
            given = (self._x, self._y)
            given += () if self._weights is None else (self._weights,)
            yield trees.transform(lambda a: Tensor(as_array(a[part])), given)  # noqa: B023


def _arrays(x):
    """Arrays of Numbus's, float64 as float32, which is the type of layers; also in dicts and lists
    of arrays."""
    if x is None:
        return None
    if isinstance(x, dict):
        return {key: _arrays(a) for key, a in x.items()}
    if isinstance(x, (list, tuple)) and x and hasattr(x[0], "shape") and len(x[0].shape):
        return [_arrays(a) for a in x]
    a = convert(x)._value()
    return a.astype("f4") if a.dtype == numpy.float64 else a


__all__ = ["Model", "Sequential", "Variable"]
