"""Regularizers, added losses, weights of examples and callbacks beside Keras 3.15's figures."""

import numbus.compat.tensorflow as tf
import numpy
import pytest
from numbus.compat.tensorflow import keras

layers, callbacks = keras.layers, keras.callbacks
pytestmark = [pytest.mark.numbus]


def drawn(*shape, seed=0):
    return numpy.sin(numpy.arange(numpy.prod(shape)) * 1.7 + seed).reshape(shape).astype("f4")


X, Y = drawn(16, 6), drawn(16, 2, seed=1)


class Added(layers.Layer):
    """A layer that adds a loss, with a weight of its own."""

    def build(self, shape):
        self.w = self.add_weight(shape=(shape[-1],), initializer="ones", regularizer="l2", name="w")

    def call(self, x):
        self.add_loss(0.1 * tf.reduce_sum(x * x))
        return x[:, :4] * self.w[:4]


def trained(*chain, x=X, y=Y, loss="mse", **options):
    m = keras.Sequential([keras.Input(x.shape[1:]), *chain])
    m(x[:2])
    m.set_weights([drawn(*w.shape, seed=k) / 2 for k, w in enumerate(m.get_weights())])
    m.compile(optimizer=keras.optimizers.SGD(0.05), loss=loss)
    found = m.fit(x, y, batch_size=8, epochs=2, shuffle=False, verbose=0, **options)
    size = sum(abs(numpy.asarray(w)).sum() for w in m.get_weights())
    return m, found.history["loss"], float(size)


T, I, K = drawn(16, 5, 3), drawn(16, 6, 6, 2), numpy.arange(64).reshape(16, 4) % 10
R = keras.regularizers
CASES = {
    "dense": lambda: trained(
        layers.Dense(4, activation="relu", kernel_regularizer=R.l2(0.01), bias_regularizer="l1"),
        layers.Dense(2, kernel_regularizer=R.L1L2(0.01, 0.02)),
    ),
    "activity": lambda: trained(
        layers.Dense(4, activity_regularizer=R.L1(0.1)), layers.Dense(2, activity_regularizer="l2")
    ),
    "orthogonal": lambda: trained(
        layers.Dense(4, kernel_regularizer=R.OrthogonalRegularizer(0.3)),
        layers.LayerNormalization(gamma_regularizer="l2"),
        layers.Dense(2, kernel_regularizer=R.OrthogonalRegularizer(0.3, "columns")),
    ),
    "lstm": lambda: trained(
        layers.Bidirectional(layers.LSTM(1, kernel_regularizer="l2", recurrent_regularizer="l1")),
        x=T,
    ),
    "conv": lambda: trained(
        layers.Conv2D(3, 3, kernel_regularizer="l2", bias_regularizer="l1"),
        layers.DepthwiseConv2D(2, depthwise_regularizer="l2"),
        layers.SeparableConv2D(2, 2, depthwise_regularizer="l1", pointwise_regularizer="l2"),
        layers.GlobalAveragePooling2D(), x=I,
    ),
    "embedding": lambda: trained(
        layers.Embedding(10, 2, embeddings_regularizer="l2"), layers.GlobalAveragePooling1D(), x=K
    ),
    "added": lambda: trained(Added(), layers.Dense(2)),
    "weights": lambda: trained(layers.Dense(2), sample_weight=numpy.arange(16) / 8),
    "classes": lambda: trained(
        layers.Dense(3, activation="softmax"), y=numpy.arange(16) % 3,
        loss="sparse_categorical_crossentropy", class_weight={0: 0.5, 2: 3.0},
    ),
}  # fmt: skip
EXPECTED = {
    "dense": [0.733435, 0.694253, 12.0338],
    "activity": [0.702909, 0.673209, 12.1988],
    "orthogonal": [1.33053, 0.939054, 13.7058],
    "lstm": [0.578872, 0.577846, 12.5092],
    "conv": [0.726318, 0.702646, 29.1974],
    "embedding": [0.526376, 0.52604, 6.25283],
    "added": [3.06342, 3.03681, 4.64181],
    "weights": [0.59638, 0.555683, 4.01829],
    "classes": [2.52636, 2.36188, 6.14288],
}


@pytest.mark.parametrize("name", CASES)
def test_training(name):
    _, losses, size = CASES[name]()
    numpy.testing.assert_allclose([*losses, size], EXPECTED[name], rtol=2e-4)


def test_losses_of_a_model():
    m, _, _ = trained(Added(), layers.Dense(2, kernel_regularizer="l2"))
    assert len(m.losses) == 2  # those of steps that were replayed are not kept
    x = tf.constant(X[:2])
    m(x)
    assert len(m.losses) == 3
    assert float(m.losses[0]) == pytest.approx(0.1 * float((X[:2] ** 2).sum()), rel=1e-5)
    m.layers[1].trainable = False
    assert len(m.losses) == 2


def test_layers_without_a_rule_say_their_shape():
    m = keras.Sequential([keras.Input((6,)), layers.Lambda(lambda x: x[:, :2]), layers.Dense(3)])
    assert m.layers[-1].kernel.shape == (2, 3) and m.output_shape == (None, 3)


RATES = {
    (("patience", 1), ("min_delta", 0.05)): [0.1, 0.1, 0.1, 0.1, 0.01, 0.001],
    (("patience", 1), ("min_delta", 0.5), ("factor", 0.5), ("cooldown", 2)):
        [0.1, 0.1, 0.1, 0.05, 0.05, 0.025],
    (("patience", 1), ("min_delta", 9.0), ("min_lr", 0.02)): [0.1, 0.1, 0.02, 0.02, 0.02, 0.02],
}  # fmt: skip


@pytest.mark.parametrize("options", RATES)
def test_rates_on_plateaus(options):
    c = callbacks.ReduceLROnPlateau("loss", **dict(options))
    c.set_model(keras.Sequential([layers.Dense(1)]))
    c.model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse")
    c.on_train_begin()
    rates = []
    for epoch, loss in enumerate([3.0, 2.0, 1.5, 1.48, 1.47, 1.46]):
        logs = {"loss": loss}
        c.on_epoch_end(epoch, logs)
        rates.append(logs["learning_rate"])
    assert rates == pytest.approx(RATES[options])


def test_files_of_epochs(tmp_path):
    followers = [
        callbacks.CSVLogger(tmp_path / "log.csv"),
        callbacks.ModelCheckpoint(tmp_path / "w{epoch:02d}.npz", monitor="loss",
                                  save_best_only=True, save_weights_only=True),
        callbacks.TerminateOnNaN(),
    ]  # fmt: skip
    m, losses, _ = trained(layers.Dense(2), callbacks=followers)
    lines = (tmp_path / "log.csv").read_text().splitlines()
    assert lines[0] == "epoch,loss" and lines[1] == f"0,{losses[0]}" and len(lines) == 3
    before = m.get_weights()
    m.load_weights(tmp_path / "w02.npz")
    numpy.testing.assert_array_equal(numpy.asarray(before[0]), numpy.asarray(m.get_weights()[0]))


def test_one_batch():
    m, _, _ = trained(layers.Dense(2))
    whole = m.test_on_batch(X, Y)
    assert m.test_on_batch(X, Y, sample_weight=numpy.full(16, 2.0)) == pytest.approx(2 * whole)
    assert m.train_on_batch(X, Y, return_dict=True) == {"loss": pytest.approx(whole)}


UPDATES = {
    "keras.optimizers.Adamax(0.1)": [0.93146, 0.549052, 0.51593],
    "keras.optimizers.Nadam(0.1, weight_decay=0.01)": [0.952599, 0.63227, 0.567203],
    "keras.optimizers.Adadelta(0.1, epsilon=0.001)": [1.03235, 0.912549, 0.822821],
}


@pytest.mark.parametrize("update", UPDATES)
def test_optimizers(update):
    m = keras.Sequential([keras.Input((6,)), layers.Dense(2)])
    m.set_weights([drawn(*w.shape, seed=k) for k, w in enumerate(m.get_weights())])
    m.compile(eval(update), "mse")
    found = m.fit(X, Y, batch_size=4, epochs=3, shuffle=False, verbose=0)
    assert found.history["loss"] == pytest.approx(UPDATES[update], rel=1e-4)
