"""The names of tensorflow and keras against values that TensorFlow gave (tests/tensorflow_values),
and scripts that import them.
"""

import pathlib
import subprocess
import sys

import numpy
import pytest
from numbus.compat.rewrite import compile_user

FOLDER = pathlib.Path(__file__).parents[1] / "tensorflow_values"
sys.path[:0] = [str(FOLDER), str(FOLDER.parent)]
import recorded  # noqa: E402
import tf_calls  # noqa: E402

pytestmark = [pytest.mark.numbus]

# What is another result on purpose, or refused (docs/compat.md).
REFUSED = {
    f"grad(lambda a: tf.reduce_sum({name}(a) * x(2, 3)), data(2, 3) * 0.4 + 0.9)": "a derivative "
    "of steps raises with the line; TensorFlow's is None"
    for name in ("tf.round", "tf.floor")
}


def _names():
    names = {"__name__": "__main__"}
    exec(compile_user(tf_calls.SETUP, "<string>"), names)
    return names


def _failures():
    names = _names()
    failures = []
    for call, expected in recorded.read(FOLDER / "tf_calls.txt"):
        got = recorded.evaluated(compile_user(call, "<string>", "eval"), names)
        trains = call.startswith(("trained(", "custom_", "stopped("))
        told = recorded.differs(got, expected, 25 if trains else 1)
        if told and call not in REFUSED:
            failures.append(f"{call}: {told}")
    return failures


def test_calls_give_what_tensorflow_gives():
    """Dtypes, shapes, elements, texts, gradients, layers, optimizers, training, errors' types."""
    with numpy.errstate(all="ignore"):
        failures = _failures()
    assert not failures, "\n".join([f"{len(failures)} differ", *failures[:40]])


MESSAGES = {
    "x().assign(3)": (AttributeError, "assign"),
    "tf.strings": (AttributeError, "tensorflow.strings at"),
    "tf.math.digamma": (AttributeError, "tf.math.digamma"),
    "layers.ConvLSTM2D": (AttributeError, "keras.layers.ConvLSTM2D"),
    "tf.constant('a')": (AttributeError, "strings"),
    "tf.sqrt(i())": (ValueError, "not floating point"),
    "x(2) + x(3)": (ValueError, "Incompatible shapes"),
    "x() + i()": (ValueError, "expected to be a float32 tensor"),
    "tf.matmul(x(2, 3), x(2, 3))": (ValueError, "Matrix size-incompatible"),
    "keras.Model(1, 2)": (ValueError, "must be KerasTensors"),
    "layers.Dense(3, kernel_constraint='what')": (ValueError, "constraint"),
    "layers.Dense(3, gamma_regularizer='l2')": (ValueError, "gamma_regularizer"),
    "layers.Dense(0)": (ValueError, "positive integer"),
    "layers.Conv2D(3, 3)(x(2, 3))": (ValueError, "expected ndim=4"),
    "layers.Dropout(2)": (ValueError, "rate=2"),
    "layers.Activation('what')": (ValueError, "unknown"),
    "keras.optimizers.Adam(clipnorm=1.0, clipvalue=1.0)": (ValueError, "Only one of"),
    "keras.Sequential([3])": (ValueError, "Only instances of `keras.Layer`"),
    "keras.Sequential([layers.Dense(1)]).fit(x(4, 1), x(4))": (ValueError, "compile()"),
    "fitted(class_weight={0: 1}, sample_weight=[1])": (ValueError, "same time"),
    "tf.signal.stft": (AttributeError, "scipy.signal"),
    "keras.applications.ResNet50": (AttributeError, "Sequential"),
    "keras.callbacks.TensorBoard('logs')": (AttributeError, "CSVLogger"),
    "keras.callbacks.ReduceLROnPlateau(factor=2)": (ValueError, "factor >= 1.0"),
    "keras.datasets.mnist.load_data()": (FileNotFoundError, "mnist.npz"),
    "tf.distribute.MirroredStrategy(['GPU:0', 'GPU:1'])": (AttributeError, "one device"),
    "tf.device('/TPU:0')": (ValueError, "unknown device"),
    "tf.GradientTape().watch(i())": (TypeError, "not floating point"),
    "twice()": (RuntimeError, "non-persistent GradientTape"),
    "layers.Softmax()(embedded())": (ValueError, "the mask does not fit"),
    "part()": (NotImplementedError, "by a part or a view of another tensor"),
}


@pytest.mark.parametrize("call", MESSAGES)
def test_message(call, monkeypatch, tmp_path):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    names = _names()
    program = """
def fitted(**options):
    m = keras.Sequential([layers.Dense(1)])
    m.compile("sgd", "mse")
    m.fit(data(4, 2), data(4), verbose=0, **options)

def twice():
    v = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = v * v
    tape.gradient(y, v), tape.gradient(y, v)

def part():
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v
        z = tf.reduce_sum(y * y[:1])
    first = y[:1]  # what no tape has seen
    return tape.gradient(z, first)
"""
    exec(compile_user(program, "<string>"), names)
    kind, text = MESSAGES[call]
    with pytest.raises(kind) as found:
        eval(compile_user(call, "<string>", "eval"), names)
    assert text in str(found.value)


def test_a_tape_does_not_see_what_was_done_before_it():
    names = _names()
    program = """
v = tf.Variable(3.0)
with tf.GradientTape() as first:
    y = v * v
with tf.GradientTape() as second:
    z = y * 2
seen = first.gradient(y, v), second.gradient(z, v)
"""
    exec(compile_user(program, "<string>"), names)
    assert float(names["seen"][0]) == 6 and names["seen"][1] is None


def test_mnist_from_a_local_file(monkeypatch, tmp_path):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    (tmp_path / "datasets").mkdir()
    given = {f"{a}_{b}": numpy.arange(4, dtype="u1") for a in "xy" for b in ("train", "test")}
    numpy.savez(tmp_path / "datasets" / "mnist.npz", **given)
    (x, _), (_, y) = _names()["keras"].datasets.mnist.load_data()
    assert x.tolist() == y.tolist() == [0, 1, 2, 3]


FIT = """
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, models

print("GPUs:", len(tf.config.list_physical_devices("GPU")) >= 0)
tf.random.set_seed(0)
rng = np.random.default_rng(0)
shapes = rng.random((10, 14, 14)) > 0.5
y_train = np.arange(600) % 10
x_train = (shapes[y_train] * 200 + rng.random((600, 14, 14)) * 55).astype("uint8")
x_train = x_train.reshape((600, 14, 14, 1)).astype("float32") / 255

strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = models.Sequential([
        layers.Conv2D(8, (3, 3), activation="relu", input_shape=(14, 14, 1)),
        layers.MaxPooling2D((2, 2)),
        layers.Flatten(),
        layers.Dropout(0.2),
        layers.Dense(32, activation="relu"),
        layers.Dense(10),
    ])
    model.compile(
        optimizer="adam",
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
model.summary()
history = model.fit(x_train, y_train, epochs=4, validation_split=0.1)
loss, accuracy = model.evaluate(x_train, y_train, verbose=2)
probability = tf.nn.softmax(model.predict(x_train[:5]))
assert probability.shape == (5, 10)
assert accuracy > 0.95 and len(history.history["val_loss"]) == 4

w, b = tf.Variable(5.0), tf.Variable(0.0)
x = tf.random.normal(shape=(200,))
y = 3.0 * x + 2.0


@tf.function
def train(rate):
    with tf.GradientTape() as t:
        current = tf.reduce_mean(tf.square(y - (w * x + b)))
    dw, db = t.gradient(current, [w, b])
    w.assign_sub(rate * dw)
    b.assign_sub(rate * db)
    return current


for epoch in range(60):
    train(0.1)
print(f"W = {w.numpy():1.2f}, b = {b.numpy():1.2f}")
"""


def test_models_keep_what_calls_say():
    from numbus.compat.tensorflow import keras

    layers = keras.layers
    start = keras.Input((1000,))
    model = keras.Model(start, layers.Dropout(0.5)(start, training=True))
    dropped = (model(numpy.ones((1, 1000), "f4")).numpy() == 0).sum()
    assert 400 < dropped < 600
    grown = keras.Sequential([keras.Input((3,)), layers.Dense(2)])
    assert grown.output.shape == (None, 2)
    grown.add(layers.Dense(5))
    assert grown.output.shape == (None, 5)
    assert keras.Model(grown.input, grown.output)(numpy.ones((1, 3), "f4")).shape == (1, 5)
    grown.pop()
    assert grown.output.shape == (None, 2)


def test_programs_of_tutorials(tmp_path):
    """A script in an empty folder: Keras's fit with its lines, and a regression by a tape."""
    file = tmp_path / "program.py"
    file.write_text(FIT)
    found = subprocess.run(
        [sys.executable, "-m", "numbus", str(file)], capture_output=True, text=True, cwd=tmp_path,
        check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr[-2000:]
    lines = found.stdout.splitlines()
    assert 'Model: "sequential"' in lines and "Epoch 4/4" in lines
    assert lines[-1] == "W = 3.00, b = 2.00"
    shown = [line for line in lines if line.startswith("17/17 ━━━━━━━━━━━━━━━━━━━━ ")]
    assert len(shown) == 4 and " - accuracy: " in shown[0] and " - val_loss: " in shown[0]


@pytest.mark.parametrize("kind", ["SimpleRNN", "LSTM", "GRU"])
def test_masks_of_recurrent_layers(kind):
    """A masked step changes neither the states nor the output; zeros before the first one."""
    tf, keras = _names()["tf"], _names()["keras"]
    x = tf.constant(numpy.random.default_rng(0).normal(size=(3, 5, 4)).astype("f4"))
    on = numpy.array([[1, 1, 1, 0, 0], [0, 1, 0, 1, 1], [0, 0, 0, 0, 0]], bool)
    layer = getattr(keras.layers, kind)(3, return_sequences=True, return_state=True)
    output, *states = layer(x, mask=tf.constant(on))
    assert isinstance(layer(x), tuple)
    for n in range(3):
        kept = numpy.asarray(x)[n : n + 1, on[n]]
        if not kept.size:
            assert not output.numpy()[n].any() and not states[0].numpy()[n].any()
            continue
        short, *last = layer(tf.constant(kept))
        assert numpy.allclose(output.numpy()[n][on[n]], short.numpy()[0], atol=1e-6)
        for a, b in zip(states, last, strict=True):
            assert numpy.allclose(a.numpy()[n], b.numpy()[0], atol=1e-6)
    assert numpy.array_equal(output.numpy()[0, 3], output.numpy()[0, 2])
    with pytest.raises(ValueError, match="mask does not fit"):
        layer(x, mask=tf.constant(on[:2]))


def test_layouts_of_convolutions():
    from numbus.compat import tensorflow as tf

    line, plane = tf.ones((1, 5, 2)), tf.ones((1, 5, 5, 2))
    assert tf.nn.conv1d(line, tf.ones((3, 2, 4)), 1, "VALID").shape == (1, 3, 4)
    assert tf.nn.conv2d(plane, tf.ones((3, 3, 2, 4)), 1, "VALID").shape == (1, 3, 3, 4)
    for layout in ("NHWC", "NCW"):
        with pytest.raises(NotImplementedError, match="expected 'NWC'"):
            tf.nn.conv1d(line, tf.ones((3, 2, 4)), 1, "VALID", layout)
    with pytest.raises(NotImplementedError, match="expected 'NHWC'"):
        tf.nn.conv2d(plane, tf.ones((3, 3, 2, 4)), 1, "VALID", "NCHW")
