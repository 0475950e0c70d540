"""keras.Model and keras.Sequential: layers that are trained."""

import warnings

import numpy

import numbus as nb

from ....core import trees
from ....core.errors import message
from .. import _ops
from .._compiled import Calls
from .._tensor import GradientTape, Variable, convert
from . import losses, optimizers
from ._batches import Batches, Epochs, is_due, shapes, split, tensors, weights_of
from ._ends import CompileMetrics, Ends
from ._functional import Graph, KerasTensor, tried_shape
from ._layers import Input, InputLayer, Layer, new_name
from ._layers import _takes as takes
from ._progress import Progress, table
from .callbacks import Callback, History


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
        if graph and not self._trainable:
            self.trainable = False  # of its layers, too
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
    input_shape = property(lambda self: shapes(self.input))
    output_shape = property(lambda self: shapes(self.output))

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
            plain = isinstance(loss, (list, tuple, dict)) or losses.by_shapes(loss)
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
        y_pred = self(x, **self._how(training)) if y_pred is None else y_pred
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
        return lambda: {name: _plain(v) for name, v in flat.items()}

    def _called(self, step):
        """What calls a step of training or testing, or makes predictions."""
        if self._as_python:
            return step
        known = self._fitting.calls
        if step.__func__ not in known:
            known[step.__func__] = Calls(step)
        return known[step.__func__]

    def _values(self, prefix=""):
        return {prefix + name: _plain(m.result()) for name, m in self._ends.all()}

    def _how(self, training):
        """What a call is given, which takes `training` or does not."""
        return {"training": training} if takes(self.call, "training") else {}

    def train_step(self, data):
        """One step of training with a batch (x, y), or (x, y, weights of the examples)."""
        x, y, *weights = data
        tape = GradientTape()
        tape._parts = False  # only variables are asked for
        with tape:
            p = self(x, **self._how(True))
            loss, parts = self._loss_with_added(y, p, *weights)
            scaled = self.optimizer.scale_loss(loss)
        variables = self.trainable_variables
        if variables:
            grads = tape.gradient(scaled, variables)
            self.optimizer.apply_gradients(zip(grads, variables, strict=True))
        else:
            warnings.warn("The model does not have any trainable weights.", stacklevel=2)
        self._ends.seen(y, p, loss, parts, *weights)

    def test_step(self, data):
        """The loss and the metrics of a batch (x, y), or (x, y, weights of the examples)."""
        x, y, *weights = data
        p = self(x, **self._how(False))
        self._ends.seen(y, p, *self._loss_with_added(y, p, *weights), *weights)

    def fit(self, x=None, y=None, batch_size=None, epochs=1, verbose="auto", callbacks=None,
            validation_split=0.0, validation_data=None, shuffle=True, class_weight=None,
            sample_weight=None, initial_epoch=0, steps_per_epoch=None, validation_steps=None,
            validation_batch_size=None, validation_freq=1):  # fmt: skip
        """Trains for some epochs; returns the `History` of losses and metrics.

        x, y: arrays, or x a `tf.data.Dataset` of batches of pairs, or of (x, y, weights).
        sample_weight: of the examples; class_weight: by the numbers of classes, others have 1.
        """
        weights = weights_of("fit", x, y, sample_weight, class_weight)
        verbose = 1 if verbose == "auto" else int(verbose)
        size = 32 if batch_size is None else int(batch_size)
        if validation_split:
            (x, y, weights), (*last, others) = split((x, y, weights), validation_split)
            # Weights of classes are for training alone.
            validation_data = (*last, others) if sample_weight is not None else tuple(last)
        batches = Batches(x, y, size, shuffle, weights, class_weight)
        kept = Epochs(batches, steps_per_epoch)
        tests = None
        if validation_data is not None:
            pairs = validation_data if isinstance(validation_data, (tuple, list)) else (
                validation_data, None
            )  # fmt: skip
            tests = self._tests(*pairs[:2], validation_batch_size or size, validation_steps,
                                *pairs[2:])  # fmt: skip
        history = History()
        followers = [*(callbacks or []), history]
        steps = steps_per_epoch or batches.count
        for c in followers:
            c.set_params({"verbose": verbose, "epochs": epochs, "steps": steps})
            c.set_model(self)
            c.on_train_begin()
        self.stop_training = False
        self.history = history
        for epoch in range(initial_epoch, epochs):
            if verbose and epochs > 1:
                print(f"Epoch {epoch + 1}/{epochs}")
            for c in followers:
                c.on_epoch_begin(epoch)
            self._reset()
            progress, done = Progress(steps, verbose), 0
            for k, batch in enumerate(kept):
                for c in followers:
                    c.on_train_batch_begin(k)
                values = self._stepped(self.train_step, batch)
                done += 1
                progress.update(done, values)
                for c in followers:
                    c.on_train_batch_end(k, None if len(followers) == 1 else values())
                if self.stop_training:
                    break
            if not done:
                raise ValueError(message("fit", "no batches", "an empty data set", "examples"))
            logs = values()
            if tests is not None and is_due(epoch + 1, validation_freq):
                self._tested(tests, followers=followers)
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

    @staticmethod
    def _tests(x, y, size, steps=None, weights=None):
        weights = None if weights is None else weights_of("evaluate", x, y, weights, None)
        return Epochs(Batches(x, y, size, False, weights), steps)

    def _tested(self, tests, progress=None, followers=()):
        self._reset()
        tests.begin()
        steps = 0
        for c in followers:
            c.on_test_begin()
        for batch in tests:
            for c in followers:
                c.on_test_batch_begin(steps)
            self._called(self.test_step)(batch)
            if progress is not None:
                progress.update(steps + 1, self._values)
            for c in followers:
                plain = type(c).on_test_batch_end is Callback.on_test_batch_end
                c.on_test_batch_end(steps, None if plain else self._values())
            steps += 1
        for c in followers:
            c.on_test_end(self._values())
        self._forget_added()
        return steps

    def _joined_by(self, callbacks, steps, verbose):
        """Callbacks that have been told the model."""
        for c in callbacks or []:
            c.set_params({"verbose": verbose, "epochs": 1, "steps": steps})
            c.set_model(self)
        return list(callbacks or [])

    def evaluate(self, x=None, y=None, batch_size=None, verbose="auto", sample_weight=None,
                 steps=None, callbacks=None, return_dict=False):  # fmt: skip
        """The loss, and the metrics in a list with it where there are any."""
        size = 32 if batch_size is None else int(batch_size)
        tests = self._tests(x, y, size, steps, sample_weight)
        verbose, count = 1 if verbose == "auto" else int(verbose), steps or tests.batches.count
        progress = Progress(count, verbose)
        done = self._tested(tests, progress, self._joined_by(callbacks, count, verbose))
        values = self._values()
        progress.end(done, values)
        if return_dict:
            return values
        found = [values["loss"], *[v for k, v in values.items() if k != "loss"]]
        return found if len(found) > 1 else found[0]

    def predict_step(self, data):
        """The results for a batch (x, ), or for x alone."""
        return self(data[0] if isinstance(data, tuple) else data, **self._how(False))

    def predict(self, x, batch_size=None, verbose="auto", steps=None, callbacks=None):
        """The results for arrays, or for a data set of batches, as an array of NumPy's names."""
        size = 32 if batch_size is None else int(batch_size)
        batches = Batches(x, None, size, False)
        verbose, count = 1 if verbose == "auto" else int(verbose), steps or batches.count
        progress, parts = Progress(count, verbose), []
        followers = self._joined_by(callbacks, count, verbose)
        for c in followers:
            c.on_predict_begin()
        for batch in Epochs(batches, steps):
            for c in followers:
                c.on_predict_batch_begin(len(parts))
            parts.append(self.predict_step((batch[0],)))
            progress.update(len(parts), dict)
            for c in followers:
                c.on_predict_batch_end(len(parts) - 1, {"outputs": parts[-1]})
        progress.end(len(parts), {})
        for c in followers:
            c.on_predict_end()
        columns = zip(*[trees.flatten(p)[0] for p in parts], strict=True)
        joined = [nb.concatenate([t._value() for t in column]) for column in columns]
        return trees.unflatten(trees.flatten(parts[0])[1], joined)

    def train_on_batch(self, x, y=None, sample_weight=None, class_weight=None,
                       return_dict=False):  # fmt: skip
        """One step; returns the loss, and the metrics in a list with it."""
        weights = weights_of("train_on_batch", x, y, sample_weight, class_weight)
        return self._on_batch(self.train_step, x, y, weights, return_dict)

    def test_on_batch(self, x, y=None, sample_weight=None, return_dict=False):
        """The loss of one batch, and the metrics in a list with it."""
        weights = weights_of("test_on_batch", x, y, sample_weight, None)
        return self._on_batch(self.test_step, x, y, weights, return_dict)

    def _on_batch(self, step, x, y, weights, as_dict):
        self._reset()
        given = (tensors(x), None if y is None else tensors(y))
        values = self._stepped(step, given if weights is None else (*given, tensors(weights)))()
        self._forget_added()
        found = list(values.values())
        return values if as_dict else found if len(found) > 1 else found[0]

    def predict_on_batch(self, x):
        """The results for one batch."""
        found = self(tensors(x), **self._how(False))
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


def _plain(value):
    """A number, or an array where a metric has several."""
    a = convert(value).numpy()
    return float(a) if a.size == 1 else a


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

    def call(self, inputs, training=None):
        x = inputs
        for layer in self._chain:
            x = layer(x) if training is None else layer(x, training=training)
        return x


__all__ = ["Model", "Sequential", "Variable"]
