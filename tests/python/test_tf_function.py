"""`tf.function` and `Model.fit`: steps that are recorded again, variables written in place,
and what leaves a function to Python. The device has memory that the host cannot read.
"""

import copy

import numpy
import pytest

nb = pytest.importorskip("numbus")
from numbus.compat import tensorflow as tf  # noqa: E402

keras = tf.keras

pytestmark = pytest.mark.cpu
CALLS = 9


@pytest.fixture
def fenced():
    with nb.device("fenced"):
        yield


def batch(seed=0, n=8):
    rng = numpy.random.default_rng(seed)
    x = rng.normal(size=(n, 6)).astype("f4")
    return tf.constant(x), tf.constant((x.sum(1) > 0).astype("i4"))


OPTIMIZERS = {
    "sgd": lambda: keras.optimizers.SGD(0.1),
    "momentum": lambda: keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True),
    "decay": lambda: keras.optimizers.SGD(0.1, momentum=0.5, weight_decay=0.1, clipvalue=0.05),
    "rmsprop": lambda: keras.optimizers.RMSprop(0.01),
    "centered": lambda: keras.optimizers.RMSprop(0.01, momentum=0.5, centered=True),
    "adam": lambda: keras.optimizers.Adam(0.01),
    "amsgrad": lambda: keras.optimizers.Adam(0.01, amsgrad=True),
    "adamw": lambda: keras.optimizers.AdamW(0.01),
    "adagrad": lambda: keras.optimizers.Adagrad(0.1),
    "schedule": lambda: keras.optimizers.Adam(
        keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)
    ),
}


def training(optimizer="adam", extra=list, wrap=tf.function, persistent=False):
    """(step, model, optimizer, metric): the step is wrapped, or plain."""
    tf.random.set_seed(1)
    layers = [keras.Input((6,)), keras.layers.Dense(5, activation="tanh"), *extra()]
    model = keras.Sequential([*layers, keras.layers.Dense(2)])
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    changes, mean = OPTIMIZERS[optimizer](), keras.metrics.Mean()

    def step(x, y):
        with tf.GradientTape(persistent) as tape:
            loss = loss_of(y, model(x, training=True))
        found = tape.gradient(loss, model.trainable_variables)
        changes.apply_gradients(zip(found, model.trainable_variables, strict=True))
        mean.update_state(loss)
        return {"loss": loss, "mean": mean.result()}

    return wrap(step), model, changes, mean


def plain(step):
    return step


def steps(wrap, between=lambda k, model, changes, mean: None, calls=CALLS, **options):
    """What each of several steps gives, and the weights after them; `between` runs before each."""
    step, model, changes, mean = training(wrap=wrap, **options)
    made = []
    for k in range(calls):
        between(k, model, changes, mean)
        made.append({name: t.numpy() for name, t in step(*batch(k)).items()})
    return made, [numpy.asarray(w) for w in model.get_weights()], step


def compared(between=lambda k, model, changes, mean: None, least=1, **options):
    one, weights, _ = steps(plain, between, **options)
    other, others, step = steps(tf.function, between, **options)
    assert one == other
    for w, v in zip(weights, others, strict=True):
        numpy.testing.assert_array_equal(w, v)
    assert step.compiled.answers >= least, step.compiled.reasons
    return step.compiled


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_give_the_same_bits(fenced, name):
    assert compared(optimizer=name).answers == CALLS - 3


def test_normalisation_and_dropout(fenced):
    layers = keras.layers
    compared(extra=lambda: [layers.BatchNormalization(), layers.LayerNormalization()])
    step, _, _, _ = training(extra=lambda: [layers.Dropout(0.5)])
    x, y = batch()
    losses = {float(step(x, y)["loss"]) for _ in range(CALLS)}
    assert len(losses) == CALLS and step.compiled.answers == CALLS - 3


def _assigned(k, model, changes, mean):
    if k in (4, 6):
        v = model.trainable_variables[0]
        v.assign(v * 0.5)
        model.trainable_variables[1].assign_add(tf.ones((5,)))


def _loaded(k, model, changes, mean):
    if k == 5:
        model.set_weights([w * 0 + 1 for w in model.get_weights()])


def _slower(k, model, changes, mean):
    if k == 5:
        changes.learning_rate = 0.001
    if k == 7:
        changes.learning_rate.assign(0.5)


def _fixed(k, model, changes, mean):
    model.layers[0].trainable = k not in (4, 5)


def _fresh(k, model, changes, mean):
    if k == 5:
        mean.reset_state()


def _begun_again(k, model, changes, mean):
    if k == 6:
        changes.iterations.assign(0)


def _activated(k, model, changes, mean):
    if k == 5:
        model.layers[0].activation = tf.nn.relu


@pytest.mark.parametrize(
    "between", [_assigned, _loaded, _slower, _fixed, _fresh, _begun_again, _activated]
)
def test_what_changes_between_steps_is_seen(fenced, between):
    compared(between)


def test_views_of_variables_keep_their_elements(fenced):
    kept = []

    def seen(k, model, changes, mean):
        if k == 5:
            v = model.trainable_variables[0]
            kept.append((tf.reshape(v, (-1,)), v.numpy().ravel()))

    compared(seen)
    for view, then in kept:
        numpy.testing.assert_array_equal(view.numpy(), then)


def test_persistent_tapes(fenced):
    compared(persistent=True, least=0)


def test_a_tape_from_outside_is_seen(fenced):
    w = tf.Variable([1.0, 2.0])

    @tf.function
    def square(x):
        return tf.reduce_sum(w * w * x)

    for k in range(6):
        with tf.GradientTape() as tape:
            y = square(tf.constant([1.0, k]))
        numpy.testing.assert_allclose(tape.gradient(y, w).numpy(), [2.0, 4.0 * k])

    tape = tf.GradientTape(persistent=True)

    @tf.function
    def slope(x):
        with tape:
            y = tf.reduce_sum(w * x)
        return tape.gradient(y, w)

    for k in range(6):
        tape._clear()
        numpy.testing.assert_array_equal(slope(tf.constant([1.0, k])).numpy(), [1.0, k])
    assert slope.compiled.answers == 0


def test_python_arguments_and_structures(fenced):
    @tf.function
    def f(pair, n, named=None):
        a, b = pair
        total = a * n + (0 if named is None else named["c"])
        return {"sum": total, "parts": (b + 1, [a]), "n": n, "none": None, "text": "t"}

    for k in range(6):
        for n in (2, 3.0):
            a, b = tf.constant([1.0, k]), tf.constant([k])
            found = f((a, b), n, named={"c": tf.constant(0.5)})
            numpy.testing.assert_array_equal(found["sum"].numpy(), [n + 0.5, k * n + 0.5])
            assert found["parts"][0].numpy() == [k + 1] and isinstance(found["parts"], tuple)
            assert isinstance(found["parts"][1], list) and found["n"].numpy() == n
            assert found["n"].dtype == (tf.int32 if n == 2 else tf.float32)
            assert found["none"] is None and found["text"] == "t"


def test_arrays_become_tensors_and_slices_are_taken(fenced):
    @tf.function
    def f(x):
        assert isinstance(x, tf.Tensor)
        return x * 2.0

    data = tf.constant(numpy.arange(24, dtype="f4").reshape(8, 3))
    for k in range(8):
        numpy.testing.assert_array_equal(f(data[k]).numpy(), data.numpy()[k] * 2)
    assert f.compiled.answers == 5
    assert f(numpy.ones(3, "f4")).numpy().tolist() == [2, 2, 2]


def test_python_runs_each_time_where_it_has_effects(fenced, capsys):
    seen, count = [], [0]

    @tf.function
    def printing(x):
        print("tracing")
        return x + 1.0

    @tf.function
    def appending(x):
        seen.append(1)
        count[0] += 1
        return x + 1.0

    @tf.function
    def branching(x):
        if tf.reduce_sum(x) > 4.0:
            return x * 0.0
        return x

    for k in range(6):
        x = tf.constant([float(k)])
        assert printing(x).numpy() == [k + 1] == appending(x).numpy()
        assert branching(x).numpy() == [k if k <= 4 else 0]
    assert capsys.readouterr().out.count("tracing") == 6 == len(seen) == count[0]
    for f in (printing, appending, branching):
        assert f.compiled.answers == 0 and f.compiled.reasons


rate = 1.0


def test_variables_of_python_are_read_anew(fenced):
    global rate

    @tf.function
    def f(x):
        return x * rate

    for k in range(8):
        rate = 1.0 if k < 5 else 3.0
        assert f(tf.constant([2.0])).numpy() == [2 * rate]
    assert f.compiled.answers


def test_variables_change_inside_and_nested_functions(fenced):
    v, w = tf.Variable([1.0, 2.0]), tf.Variable(0, dtype=tf.int32)

    @tf.function
    def inner(x):
        v.assign_add(x)
        return v * 2.0

    @tf.function
    def outer(x):
        w.assign_add(1)
        y = inner(x)
        v.assign(v * 0.5)
        return y, tf.identity(v), v

    then = numpy.array([1.0, 2.0], "f4")
    kept = []
    for k in range(CALLS):
        y, after, same = outer(tf.constant([1.0, float(k)]))
        then = then + numpy.array([1.0, k], "f4")
        numpy.testing.assert_array_equal(y.numpy(), then * 2)
        then = then * numpy.float32(0.5)
        kept.append((after, same, then))
    for after, same, then in kept:  # which later assignments leave as they are
        numpy.testing.assert_array_equal(after.numpy(), then)
        numpy.testing.assert_array_equal(same.numpy(), then)
    assert int(w) == CALLS and outer.compiled.answers == CALLS - 3


def test_fit_is_compiled_and_gives_the_same(fenced):
    rng = numpy.random.default_rng(2)
    x = rng.normal(size=(96, 6)).astype("f4")
    y = (x.sum(1) > 0).astype("i4")
    found = []
    for eager in (True, False):
        tf.random.set_seed(3)
        layers = [keras.Input((6,)), keras.layers.Dense(4, activation="relu"),
                  keras.layers.BatchNormalization(), keras.layers.Dense(2)]  # fmt: skip
        model = keras.Sequential(layers)
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile("adam", loss, ["accuracy"], run_eagerly=eager)
        history = model.fit(x, y, batch_size=16, epochs=3, validation_data=(x, y), verbose=0)
        found.append((history.history, [w.tolist() for w in model.get_weights()]))
        answers = [c.compiled.answers for c in model._fitting.calls.values()]
        model.fit(x, y, batch_size=16, epochs=2, verbose=0)
    assert found[0] == found[1]
    assert answers == [15, 15]
    assert model._fitting.calls[type(model).train_step].compiled.answers == 15 + 12


def test_results_of_functions_keep_what_variables_were():
    """Each function of the table with a variable: `assign` changes nothing that it gave."""
    names = [n for n in dir(tf) if not n.startswith("_") and callable(getattr(tf, n))]
    names += [f"{m}.{n}" for m in ("math", "nn", "linalg") for n in dir(getattr(tf, m))
              if not n.startswith("_")]  # fmt: skip
    seen, wrong = 0, []
    more = {"reshape": [(3, 2)], "cast": ["float32"], "slice": [(0, 0), (1, 2)], "split": [2],
            "gather": [[0]], "expand_dims": [0], "broadcast_to": [(2, 3)], "unstack": [],
            "tile": [(1, 1)], "clip_by_value": [0.0, 9.0]}  # fmt: skip
    for name in names:
        f = tf
        for part in name.split("."):
            f = getattr(f, part)
        if isinstance(f, type) or name in ("print", "function", "py_function"):
            continue
        v = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        try:
            made = f(v, *more.get(name.split(".")[-1], []))
        except Exception:
            continue
        leaves = [x for x in (made if isinstance(made, (list, tuple)) else [made])
                  if isinstance(x, tf.Tensor) and x is not v]  # fmt: skip
        then = [x.numpy().copy() for x in leaves]
        v.assign(v * 0.0 - 7.0)
        v.assign_add(tf.ones((2, 3)))
        seen += len(leaves)
        wrong += [name for x, a in zip(leaves, then, strict=True)
                  if not numpy.array_equal(x.numpy(), a, equal_nan=True)]  # fmt: skip
    assert not wrong and seen > 50
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    made = [v[0], v.value(), v.read_value(), v.numpy(), numpy.asarray(v), v[:, ::-1], next(iter(v))]
    then = [numpy.array(x) for x in made]
    v.assign(v[::-1])
    for x, a in zip(made, then, strict=True):
        numpy.testing.assert_array_equal(numpy.asarray(x), a)
    numpy.testing.assert_array_equal(v.numpy(), [[3, 4], [1, 2]])
    v.assign(tf.transpose(v))
    numpy.testing.assert_array_equal(v.numpy(), [[3, 1], [4, 2]])


def test_tapes_know_what_variables_were():
    v, c, x = tf.Variable([1.0, 2.0]), tf.Variable([5.0, 6.0], trainable=False), tf.constant([3.0])
    with tf.GradientTape(persistent=True) as tape:
        y = v * v * c
        c.assign([0.0, 0.0])
        z = v * c
    v.assign([100.0, 100.0])
    numpy.testing.assert_array_equal(tape.gradient(y, v).numpy(), [10, 24])
    numpy.testing.assert_array_equal(tape.gradient(z, v).numpy(), [0, 0])
    with tf.GradientTape() as tape:
        y = v * 2.0
        v.assign_add([1.0, 1.0])
        y = y + v * 3.0
        v.assign_sub([1.0, 1.0])
    numpy.testing.assert_array_equal(tape.gradient(y, v).numpy(), [5, 5])
    assert tape.watched_variables() == (v,)
    with pytest.raises(RuntimeError, match="non-persistent"):
        tape.gradient(y, v)
    changes = keras.optimizers.SGD(1.0)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v * v * x)
        changes.apply_gradients([(tf.constant([1.0, 1.0]), v)])
        y = y + tf.reduce_sum(v)
    numpy.testing.assert_array_equal(tape.gradient(y, v).numpy(), [601, 601])


def test_assignments_are_in_place_where_nothing_else_shows_them():
    v = tf.Variable(numpy.ones(100, "f4"))
    place = v._place
    v.assign(v * 2.0)
    v.assign_add(v)
    keras.optimizers.Adam(0.1).apply_gradients([(v * 1.0, v)])
    assert v._place == place
    view = v[:3]
    v.assign_sub(v)
    assert v._place != place and view.numpy()[0] != 0 == v.numpy()[0]
    assert not v._is_lent()


def test_gradients_of_another_shape_are_refused():
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(ValueError, match="another shape"):
        keras.optimizers.SGD().apply_gradients([(tf.constant([1.0]), v)])


def test_variables_are_made_in_the_first_call():
    @tf.function
    def each(x):
        return tf.Variable(x) + 1.0

    each(1.0)
    with pytest.raises(ValueError, match="created on the first call"):
        each(1.0)
    kept = []

    @tf.function
    def once(x):
        if not kept:
            kept.append(tf.Variable(2.0))
        return kept[0] * x

    assert float(once(tf.constant(3.0))) == 6 == float(once(tf.constant(3.0)))


@pytest.mark.parametrize("device", ["cpu", "fenced"])
def test_copies_of_models_go_on_by_themselves(device):
    with nb.device(device):
        tf.random.set_seed(4)
        model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(2)])
        model.compile("adam", "mse")
        x, y = numpy.ones((40, 6), "f4"), numpy.zeros((40, 2), "f4")
        model.fit(x, y, batch_size=8, epochs=2, verbose=0)
        other = copy.deepcopy(model)
        before = model.get_weights()[0].tolist()
        other.fit(x, y, batch_size=8, epochs=2, verbose=0)
        assert model.get_weights()[0].tolist() == before
        model.fit(x, y, batch_size=8, epochs=2, verbose=0)
        for w, v in zip(model.get_weights(), other.get_weights(), strict=True):
            assert w.tolist() == v.tolist()


def test_rates_and_steps_are_tensors():
    changes, v = keras.optimizers.Adam(0.5), tf.Variable(1.0)
    for _ in range(3):
        changes.apply_gradients([(tf.constant(1.0), v)])
    assert int(changes.iterations) == 3 and float(changes.learning_rate) == 0.5
    assert (changes.iterations + tf.constant(1, "int64")).numpy() == 4
    assert (changes.learning_rate * 2.0).numpy() == 1.0
    changes.learning_rate = tf.constant(0.25)
    changes.iterations.assign_add(2)
    assert float(changes.learning_rate) == 0.25 and changes.iterations.numpy() == 5
