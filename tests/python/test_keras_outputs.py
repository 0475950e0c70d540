"""Models of several outputs, and steps of one's own with the losses and metrics of `compile`."""

import numpy
import pytest

nb = pytest.importorskip("numbus")
from numbus.compat import tensorflow as tf  # noqa: E402

keras, layers = tf.keras, tf.keras.layers
pytestmark = [pytest.mark.numbus]
RNG = numpy.random.default_rng(5)
X = RNG.normal(size=(40, 4)).astype("f4")
A = X.sum(1, keepdims=True) + 1
B = (X[:, 0] > 0).astype("i4")
LOGITS = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def model(named=False):
    tf.random.set_seed(7)
    inputs = keras.Input((4,))
    inner = layers.Dense(6, activation="tanh")(inputs)
    a, b = layers.Dense(1, name="a")(inner), layers.Dense(2, name="b")(inner)
    return keras.Model(inputs, {"a": a, "b": b} if named else [a, b])


def by_hand(of, factors, steps):
    """The same training, written out: the last losses and the weights."""
    changes = keras.optimizers.SGD(0.1)
    for _ in range(steps):
        with tf.GradientTape() as tape:
            p = of(X)
            p = [p["a"], p["b"]] if isinstance(p, dict) else p
            first = tf.reduce_mean((p[0] - A) ** 2)
            second = LOGITS(B, p[1])
            total = first * factors[0] + second * factors[1]
        v = of.trainable_variables
        changes.apply_gradients(zip(tape.gradient(total, v), v, strict=True))
    return [float(t) for t in (total, first, second)], of.get_weights()


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("device", ["cpu", "fenced"])
@pytest.mark.parametrize("weights", [None, [0.5, 2.0], {"a": 0.5, "b": 2.0}])
def test_training(named, device, weights):
    with nb.device(device):
        of = model(named)
        metrics = {"b": ["accuracy"], "a": "mae"}
        of.compile(keras.optimizers.SGD(0.1), {"a": "mse", "b": LOGITS}, metrics,
                   loss_weights=weights)  # fmt: skip
        y = {"a": A, "b": B} if named or weights is None else [A, B]
        history = of.fit(X, y, batch_size=40, epochs=6, shuffle=False, verbose=0).history
        losses, kept = by_hand(model(named), [0.5, 2.0] if weights else [1.0, 1.0], 6)
        for name, value in zip(("loss", "a_loss", "b_loss"), losses, strict=True):
            numpy.testing.assert_allclose(history[name][-1], value, rtol=1e-5)
        for w, v in zip(of.get_weights(), kept, strict=True):
            numpy.testing.assert_allclose(numpy.asarray(w), numpy.asarray(v), rtol=1e-4, atol=1e-6)
        p = of.predict(X, batch_size=16, verbose=0)
        p = [numpy.asarray(t) for t in (p.values() if named else p)]
        assert p[0].shape == (40, 1) and p[1].shape == (40, 2)
        found = of.evaluate(X, y, batch_size=16, verbose=0, return_dict=True)
        assert set(found) == {"loss", "a_loss", "b_loss", "a_mae", "b_accuracy"}
        numpy.testing.assert_allclose(found["a_mae"], abs(p[0] - A).mean(), rtol=1e-5)
        numpy.testing.assert_allclose(found["b_accuracy"], (p[1].argmax(1) == B).mean(), rtol=1e-5)
        numpy.testing.assert_allclose(found["a_loss"], ((p[0] - A) ** 2).mean(), rtol=1e-5)
        assert of.output_names == ["a", "b"]


def test_one_loss_for_all_and_none_for_some():
    of = model()
    of.compile("sgd", "mse")
    both = of.evaluate(X, [A, numpy.stack([B, B], 1).astype("f4")], verbose=0)
    p = [numpy.asarray(t) for t in of.predict(X, verbose=0)]
    parts = [((p[0] - A) ** 2).mean(), ((p[1] - B[:, None]) ** 2).mean()]
    numpy.testing.assert_allclose(both, [sum(parts), *parts], rtol=1e-5)
    of.compile("sgd", {"a": "mse"})
    found = of.evaluate(X, {"a": A}, verbose=0)
    numpy.testing.assert_allclose(found, [parts[0]] * 2, rtol=1e-5)


@pytest.mark.parametrize(
    "options, y, text",
    [
        ({"loss": ["mse"]}, [A, B], "an entry for each output"),
        ({"loss": {"c": "mse"}}, [A, B], "there are none of"),
        ({"loss": "mse", "metrics": ["mae"]}, [A, B], "metrics= has not an entry"),
        ({"loss": "mse"}, [A], "y= has not an entry"),
        ({"loss": "mse"}, [A, B[:7]], "cardinality"),
    ],
)
def test_what_does_not_fit(options, y, text):
    of = model()
    of.compile("sgd", **options)
    with pytest.raises(ValueError, match=text):
        of.fit(X, y, verbose=0)


class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.inner = layers.Dense(1)

    def call(self, x):
        return self.inner(x)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            p = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=p)
        found = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(found, self.trainable_variables)
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, p)
        return {m.name: m.result() for m in self.metrics}


@pytest.mark.parametrize("device", ["cpu", "fenced"])
def test_steps_of_ones_own(device):
    with nb.device(device):
        histories = []
        for kind in (Own, None):
            tf.random.set_seed(2)
            of = Own() if kind else keras.Sequential([layers.Dense(1)])
            of.compile("adam", "mse", ["mae"])
            histories.append(of.fit(X, A, batch_size=8, epochs=3, shuffle=False, verbose=0).history)
        assert set(histories[0]) == {"loss", "mae"}
        for name in ("loss", "mae"):
            numpy.testing.assert_allclose(histories[0][name], histories[1][name], rtol=1e-5)
