"""Programs of Keras's layers, losses, metrics, optimizers and training, as Keras 3.15 carried them
out on PyTorch; and what random programs do not reach.
"""

import json
import warnings

import keras_calls
import numpy
import pytest
from numbus.compat import tensorflow as tf
from test_fuzz_seeds import FUZZ

pytestmark = pytest.mark.numbus
keras, layers = tf.keras, tf.keras.layers


def test_programs_of_keras():
    lines = (FUZZ / "regressions" / "keras_calls.jsonl").read_text("utf-8").splitlines()
    assert len(lines) > 200
    side = keras_calls.Numbus()
    for line in lines:
        seed, plan, wanted = json.loads(line)
        said = keras_calls.check(side, seed, plan, wanted)
        assert said == "alike", (seed, plan, said)


def numbers(*shape, seed=0):
    return numpy.random.default_rng(seed).normal(size=shape).astype("f4")


def test_sparsemax_is_the_nearest_distribution():
    """By bisection of what is taken from each element; Keras's own sums up too much."""
    x = numbers(50, 5)
    found = keras.activations.sparsemax(x).numpy()
    low, high = x.min(1) - 1, x.max(1)
    for _ in range(60):
        middle = (low + high) / 2
        more = numpy.maximum(x - middle[:, None], 0).sum(1) > 1
        low, high = numpy.where(more, middle, low), numpy.where(more, high, middle)
    numpy.testing.assert_allclose(found, numpy.maximum(x - low[:, None], 0), atol=1e-5)


@pytest.mark.parametrize("kind", ["SpatialDropout1D", "Dropout", "GaussianDropout", "AlphaDropout"])
def test_random_layers_repeat_by_their_seeds(kind):
    x = tf.constant(numpy.ones((50, 20, 30), "f4"))
    one, other = (getattr(layers, kind)(0.3, seed=5) for _ in range(2))
    a, b = one(x, training=True).numpy(), one(x, training=True).numpy()
    assert (a == other(x, training=True).numpy()).all() and (a != b).any()
    assert abs(a.mean() - 1) < 0.1 or kind == "AlphaDropout"
    if kind == "SpatialDropout1D":  # all steps of a channel
        assert (a == a[:, :1]).all() and (a != a[:, :, :1]).any()
    numpy.testing.assert_array_equal(one(x).numpy(), x.numpy())


def test_noise_shape():
    x = tf.constant(numpy.ones((40, 6, 5), "f4"))
    made = layers.Dropout(0.5, noise_shape=(None, 1, None))(x, training=True).numpy()
    assert (made == made[:, :1]).all() and set(numpy.unique(made)) == {0.0, 2.0}


def test_cells_of_a_program():
    class Cell(layers.Layer):
        state_size = 3

        def call(self, inputs, states):
            total = states[0] + inputs
            return total * 2, [total]

    x = numbers(2, 4, 3)
    made = layers.RNN(Cell(), return_sequences=True)(x).numpy()
    numpy.testing.assert_allclose(made, 2 * numpy.cumsum(x, axis=1), rtol=1e-5)
    stacked = layers.RNN([layers.LSTMCell(4), layers.GRUCell(2)], return_state=True)
    assert [tuple(t.shape) for t in stacked(x)[:1]] == [(2, 2)]


def test_a_custom_metric_and_schedule():
    class Largest(keras.metrics.Metric):
        def __init__(self):
            super().__init__("largest")
            self.most = self.add_weight(name="most", initializer="zeros")

        def update_state(self, y_true, y_pred, sample_weight=None):
            self.most.assign(tf.maximum(self.most, tf.reduce_max(y_pred)))

        def result(self):
            return self.most

    class Rate(keras.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            return 0.1 / (tf.cast(step, tf.float32) + 1.0)

    model = keras.Sequential([keras.Input((2,)), layers.Dense(1)])
    model.compile(keras.optimizers.SGD(Rate()), "mse", [Largest()])
    model.fit(numbers(6, 2), numbers(6, 1), verbose=0, epochs=2, batch_size=3)
    assert float(model.optimizer.learning_rate) == pytest.approx(0.1 / 5)
    largest = model.evaluate(numbers(6, 2), numbers(6, 1), verbose=0)[1]
    assert largest == pytest.approx(max(0, model.predict(numbers(6, 2), verbose=0).max()))


def test_batches_by_numbers_generators_and_callbacks():
    x, y = numbers(6, 2), numbers(6, 1)

    class Batches(keras.utils.PyDataset):
        def __len__(self):
            return 3

        def __getitem__(self, k):
            return x[2 * k : 2 * k + 2], y[2 * k : 2 * k + 2]

    class Seen(keras.callbacks.Callback):
        def __init__(self):
            self.seen = []

        def __getattribute__(self, name):
            if name.startswith("on_"):
                self.seen.append(name)
            return super().__getattribute__(name)

    def fitted(*data, **options):
        model = keras.Sequential([keras.Input((2,)), layers.Dense(1, kernel_initializer="ones")])
        model.compile("sgd", "mse")
        return model.fit(*data, verbose=0, shuffle=False, **options).history, model

    wanted = fitted(x, y, batch_size=2, epochs=2)[0]
    assert fitted(Batches(), epochs=2)[0] == wanted

    def again():
        while True:
            for k in range(3):
                yield Batches()[k]

    assert fitted(again(), epochs=2, steps_per_epoch=3)[0] == wanted
    seen = Seen()
    fitted(x, y, batch_size=3, validation_data=(x, y), callbacks=[seen])
    assert seen.seen.count("on_test_batch_end") == 2 and "on_test_begin" in seen.seen
    assert seen.params == {"verbose": 0, "epochs": 1, "steps": 2}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        fitted(x, y, epochs=2, callbacks=[keras.callbacks.EarlyStopping()])
    assert any("val_loss" in str(w.message) for w in said)


def test_normalization_of_data():
    x = numbers(100, 3) * [1, 2, 3] + [3, 2, 1]
    layer = layers.Normalization()
    layer.adapt(x)
    made = layer(x).numpy()
    numpy.testing.assert_allclose([made.mean(0), made.std(0)], [[0] * 3, [1] * 3], atol=1e-5)
    back = layers.Normalization(mean=x.mean(0), variance=x.var(0), invert=True)
    numpy.testing.assert_allclose(back(made).numpy(), x, atol=1e-4)


def test_rates_that_are_functions_and_variables_without_decay():
    v, w = tf.Variable([1.0], name="kernel"), tf.Variable([1.0], name="bias")
    optimizer = keras.optimizers.SGD(lambda: 0.5, weight_decay=0.2)
    optimizer.exclude_from_weight_decay(var_names=["bias"])
    optimizer.apply_gradients([(tf.constant([0.0]), v), (tf.constant([1.0]), w)])
    assert v.numpy() == pytest.approx(0.9) and w.numpy() == pytest.approx(0.5)


def test_frozen_layers_within_others():
    """Neither their weights nor the moving means of their normalisations change, at any depth."""
    base = keras.Sequential(
        [keras.Input((3,)), layers.Dense(2), layers.BatchNormalization(), layers.Dense(2)]
    )
    model = keras.Sequential([keras.Sequential([base]), layers.Dense(1)])
    model.build((None, 3))

    def changed():
        model.compile("sgd", "mse")
        before = [numpy.array(w) for w in model.get_weights()]
        model.fit(numbers(8, 3), numbers(8, 1), verbose=0)
        now = [numpy.array(w) for w in model.get_weights()]
        return [bool((a != b).any()) for a, b in zip(before, now, strict=True)]

    assert changed() == [True] * 10
    base.layers[0].trainable = False
    assert changed() == [False] * 2 + [True] * 8 and len(model.trainable_weights) == 6
    base.trainable = False
    assert changed() == [False] * 8 + [True] * 2 and len(model.non_trainable_weights) == 8
    assert not base.layers[1].trainable
    base.trainable = True  # which thaws all of its layers
    assert len(model.trainable_weights) == 8 and base.layers[0].trainable
    model.trainable = False
    with pytest.warns(UserWarning, match="any trainable weights"):
        assert not any(changed())
    late = layers.Dense(2, trainable=False)
    late(numbers(2, 3))
    assert late.trainable_weights == [] and len(late.non_trainable_weights) == 2


def test_layers_within_others_know_of_training():
    """A layer that a layer without `training` calls goes by the outermost call that said it."""

    class Block(layers.Layer):
        def __init__(self):
            super().__init__()
            self.drop = layers.Dropout(0.5)

        def call(self, x):
            return self.drop(x)

    x = tf.constant(numpy.ones((4, 50), "f4"))
    model = keras.Sequential([keras.Input((50,)), Block()])
    assert (model(x, training=True).numpy() == 0).any() and (model(x).numpy() == 1).all()
    given = keras.Input((50,))
    graph = keras.Model(given, Block()(given))
    assert (graph(x, training=True).numpy() == 0).any() and (graph(x).numpy() == 1).all()
    assert (Block()(x, training=True).numpy() == 0).any() and (Block()(x).numpy() == 1).all()


@pytest.mark.parametrize("classes, one_hot", [(1, False), (3, False), (3, True)])
def test_cross_entropy_by_the_shapes(classes, one_hot):
    names = {1: "binary_", 3: "categorical_" if one_hot else "sparse_categorical_"}
    y = numpy.arange(6) % max(classes, 2)
    y = numpy.eye(3, dtype="f4")[y] if one_hot else y
    seen = []
    for name in ("crossentropy", names[classes] + "crossentropy"):
        last = layers.Dense(classes, "sigmoid" if classes == 1 else "softmax",
                            kernel_initializer=keras.initializers.Constant(0.3))  # fmt: skip
        model = keras.Sequential([keras.Input((2,)), last])
        model.compile("sgd", name)
        seen.append(model.fit(numbers(6, 2), y, verbose=0, shuffle=False).history)
    assert seen[0] == seen[1]
