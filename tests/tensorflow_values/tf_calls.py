"""Expressions that TensorFlow and Numbus's names for it evaluate alike: record.py writes what
TensorFlow gives, `tests/python/test_compat_tensorflow.py` compares.
"""

# ruff: noqa: E501 – one expression a line

SETUP = """
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

def data(*shape, dtype='float32', scale=1.0):
    n = int(np.prod(shape))
    a = (np.arange(1, n + 1) * 37 % 101 / 50.0 - 1.0).reshape(shape) * scale
    return a.astype(dtype)

def x(*shape, dtype='float32'):
    return tf.constant(data(*(shape or (4,)), dtype=dtype))

i = lambda *shape: tf.constant((np.arange(1, 1 + int(np.prod(shape or (4,)))) * 7 % 5 - 2).reshape(shape or (4,)).astype('int32'))

def grad(f, *args):
    args = [tf.Variable(a) for a in args]
    with tf.GradientTape() as tape:
        y = f(*args)
    return dense(tape.gradient(y, args))

def dense(found):
    return [None if g is None else tf.convert_to_tensor(g) for g in found]

def second(f, a):
    v = tf.Variable(a)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = f(v)
        d = inner.gradient(y, v)
    return outer.gradient(d, v)

def taped(persistent):
    a, b, c = tf.constant(2.0), tf.Variable(3.0), tf.Variable(4.0, trainable=False)
    with tf.GradientTape(persistent=persistent) as tape:
        tape.watch(a)
        y = a * a * b * c
    return tape.gradient(y, [a, b, c, {'again': a}])

def within():
    a, b, c = tf.Variable(2.0), tf.Variable(5.0), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(c)
        y = a * a
        w = y * c + 1
        u = tf.reduce_sum(tf.stack([w, y, y]))
        q = b * 2
        k = tf.cast(tf.cast(a, tf.int32), tf.float32) * c
    pairs = [(u, y), (u, w), (u, a), (u, c), (u, b), (q, a), (y, y), (k, a), (k, c), (q, y), (w, u)]
    zero = tape.gradient(u, [a, b], unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return [dense([tape.gradient(t, s)]) for t, s in pairs], dense(zero), dense(tape.gradient([u, q], [a, b]))

def by_parts():
    v = tf.Variable(data(2, 3))
    with tf.GradientTape(persistent=True) as tape:
        y = v * v
        f, r, t, q = y[0], tf.reshape(y, [6]), tf.transpose(y), tf.squeeze(y[:, :1])
        s, e, b = v.value(), tf.expand_dims(y, 0), tf.broadcast_to(y[:1], [2, 3])
        parts, lines = tf.split(y, 3, axis=1), tf.unstack(y)
        z = tf.reduce_sum(f ** 2) + 3 * tf.reduce_sum(r) + tf.reduce_sum(t * 2) + tf.reduce_sum(q * q)
        z += tf.reduce_sum(s * v) + tf.reduce_sum(e * e * e) + tf.reduce_sum(b * 5)
        z += tf.reduce_sum(parts[1] * 7) + tf.reduce_sum(lines[1] * 9) + tf.reduce_sum(y * 11)
    return dense([tape.gradient(z, g) for g in (f, r, t, q, s, e, b, parts[1], lines[1], y, v)])

ids = np.array([[3, 1, 0, 0], [2, 0, 4, 0], [0, 0, 0, 0], [1, 2, 3, 4]])

def weighed(layer):
    for w in layer.weights:
        w.assign(data(*w.shape) * 0.5)
    return layer

def embedded():
    layer = layers.Embedding(5, 3, mask_zero=True)
    layer(ids)
    return weighed(layer)(ids)

def masked(*given):
    y = embedded()
    layer = given[0]
    inputs = [y, *given[1:]] if len(given) > 1 else y
    layer(inputs)
    made = weighed(layer)(inputs)
    mask = getattr(made, '_keras_mask', None)
    return tf.where(tf.math.is_nan(made), -1.0, made), None if mask is None else tf.convert_to_tensor(mask)

def masking():
    a = data(2, 3, 2)
    a[0, 1] = a[1, 2] = -1
    made = layers.Masking(-1.0)(a)
    return made, made._keras_mask

def masked_fit(sequences):
    i = keras.Input((None,), dtype='int64')
    t = layers.Embedding(5, 3, mask_zero=True)(i)
    t = layers.LSTM(4, return_sequences=True)(t) if sequences else layers.Bidirectional(layers.GRU(2))(t)
    model = weighed(keras.Model(i, layers.Dense(5)(t)))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.1), loss, metrics=['accuracy'])
    y = (ids + 1) % 5 if sequences else np.array([0, 3, 1, 2])
    h = model.fit(ids, y, batch_size=2, epochs=3, shuffle=False, verbose=0).history
    return h['loss'], h['accuracy'], model.evaluate(ids, y, verbose=0), model.predict(ids, verbose=0)

class Halved(layers.Layer):
    def __init__(self):
        super().__init__()
        self.supports_masking = True
    def call(self, inputs, mask=None):
        return inputs if mask is None else inputs * tf.cast(mask[..., None], tf.float32) / 2

@tf.custom_gradient
def clipped(a, b):
    return a * b, lambda dy: (tf.clip_by_norm(dy * b, 0.5), tf.zeros_like(b))

def by_own_rule():
    v, w = tf.Variable(data(3)), tf.Variable(data(3) + 2)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(clipped(v * v, w) * 3)
    return y, dense(tape.gradient(y, [v, w]))

def stopped():
    v = tf.Variable(data(3))
    with tf.GradientTape(persistent=True) as tape:
        with tape.stop_recording():
            z = v * v
        y = v * v * z
    return dense([tape.gradient(y, v)])

def by_example():
    v, k = tf.Variable(data(4, 3)), tf.constant(data(3, 2))
    with tf.GradientTape(persistent=True) as tape:
        y = tf.reshape(tf.tanh(v @ k), (4, 2, 1))
    return tape.batch_jacobian(y, v)

class Stepping(keras.Model):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = layers.Dense(2), layers.Dense(6)
        self.seen = keras.metrics.Mean(name='seen')
    @property
    def metrics(self):
        return [self.seen]
    def train_step(self, given):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self.outer(self.inner(given)) - given) ** 2)
        own = self.trainable_weights
        self.optimizer.apply_gradients(zip(tape.gradient(loss, own), own))
        self.seen.update_state(loss)
        return {'seen': self.seen.result()}

def own_steps():
    model = Stepping()
    model.outer(model.inner(data(2, 6)))
    weighed(model.inner), weighed(model.outer)
    model.compile(optimizer=keras.optimizers.Adam(0.01))
    return model.fit(data(24, 6), epochs=3, batch_size=8, shuffle=False, verbose=0).history, list(map(tf.convert_to_tensor, model.inner.weights))

def watched_within():
    a = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(a)
        b = a * 2
        tape.watch(b)
        s = tf.reduce_sum(b * b * a)
    return dense(tape.gradient(s, [a, b]))

def watched_parts():
    a = tf.constant([1.0, 2.0, 3.0])
    part = a[:2]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(a)
        y = tf.reduce_sum(part * part)
        tape.watch(part)
        z = tf.reduce_sum(part * a[1:])
    return dense([tape.gradient(y, a), tape.gradient(z, a), tape.gradient(z, part)])

def read_before():
    v = tf.Variable([1.0, 2.0, 3.0])
    others = [v.value(), tf.convert_to_tensor(v), tf.identity(v), tf.reshape(v, [3])]
    part, found = v[:2], []
    for again in range(2):
        with tf.GradientTape(persistent=True) as tape:
            ys = [tf.reduce_sum(o * o) for o in others] + [tf.reduce_sum(o * v) for o in others]
            ys.append(tf.reduce_sum(part * v[1:]))
            inner = v * 2
        found += [tape.gradient(y, v) for y in ys]
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(inner * v)
        found.append(tape.gradient(y, v))
        v.assign_add([1.0, 1.0, 1.0])
        others.append(v.value())
    return dense(found)

def nested_within():
    v = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as outer:
        with tf.GradientTape() as inner:
            y = v ** 3
        g = inner.gradient(y, v)
        h = g * v
    return dense([outer.gradient(h, g), outer.gradient(h, v), outer.gradient(h, y)])

def stopped():
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.stop_gradient(v * 2) * 3
    return dense([tape.gradient(y, v)])

def hidden_layer():
    first, second = layers.Dense(2, kernel_initializer="ones"), layers.Dense(1, kernel_initializer="ones")
    with tf.GradientTape() as tape:
        inner = first(x(3, 4))
        y = tf.reduce_sum(second(tf.nn.relu(inner)) ** 2)
    return dense([tape.gradient(y, inner)])

def constant(model, scale=0.05):
    for k, w in enumerate(model.weights):
        w.assign(data(*w.shape) * scale + 0.02 * (k + 1))
    return model

def two_ways():
    keras.backend.clear_session()
    first = keras.Input((8,), name='first')
    a = layers.Dense(6, activation='relu')(first)
    b = layers.Dense(6)(a)
    c = layers.Concatenate()([layers.add([a, b]), first])
    return constant(keras.Model(first, layers.Dense(2, name='last')(c), name='two_ways'))

def summary_of(model):
    lines = []
    model.summary(print_fn=lines.append)
    return chr(10).join(lines).rstrip().split(chr(10))

def followed(model, a, b):
    model.compile(keras.optimizers.SGD(0.1), 'mse', metrics=['mae'])
    found = model.fit(a, b, epochs=3, verbose=0, shuffle=False, batch_size=4)
    return found.history['loss'], found.history['mae'], model(a)

def two_inputs(structure):
    keras.backend.clear_session()
    a, b = keras.Input((4,), name='a'), keras.Input((4,), name='b')
    shared = layers.Dense(3, activation='tanh')
    merged = layers.Multiply()([shared(a), shared(b)]) - shared(a) * 0.5
    model = constant(keras.Model({'a': a, 'b': b} if structure is dict else [a, b], layers.Dense(1)(merged)))
    given = {'a': data(8, 4), 'b': data(8, 4)[::-1] * 0.5}
    return followed(model, given if structure is dict else list(given.values()), data(8, 1))

def merged(layer, *shapes):
    inputs = [keras.Input(s) for s in shapes]
    out = layer(inputs)
    return list(out.shape), keras.Model(inputs, out)([x(2, *s) for s in shapes])

def recurrent(*chain, shape=(5, 2)):
    model = constant(keras.Sequential([keras.Input(shape), *chain]), 0.3)
    a = tf.constant(data(3, *shape))
    with tf.GradientTape() as tape:
        tape.watch(a)
        y = model(a)
        loss = tf.reduce_sum(y * y)
    found = tape.gradient(loss, [a, *model.trainable_variables])
    return y, dense(found), model.count_params(), [list(w.shape) for w in model.weights], list(model.output_shape)

def with_states(layer):
    a = keras.Input((4, 2))
    out = layer(a)
    layer.set_weights([data(*w.shape) for w in layer.get_weights()])
    states = [x(3, layer.units) for _ in out[1:]]
    return keras.Model(a, out)(x(3, 4, 2)), layer(x(3, 4, 2), initial_state=states), [list(t.shape) for t in out]

def parts_of_models():
    keras.backend.clear_session()
    model = two_ways()
    inner = keras.Model(model.input, model.layers[1].output)
    chain = constant(keras.Sequential([keras.Input((8,)), layers.Dense(4, activation='relu'), layers.Dense(3)]))
    features = keras.Model(chain.inputs, chain.layers[0].output)
    nested = constant(keras.Model(model.input, layers.Dense(1)(chain(model.input))))
    return inner(x(3, 8)), features(x(3, 8)), nested(x(3, 8)), nested.count_params(), [list(w.shape) for w in nested.weights]

def shapes_of_image(*chain):
    t = keras.Input((8, 8, 3))
    found = []
    for layer in chain:
        t = layer(t)
        found.append(list(t.shape))
    return found

def operators():
    a = keras.Input((4,))
    out = (a * 2 + 1) / 3 - (1 - a) ** 2 + (-a)
    return list(out.shape), keras.Model(a, [out, out[:, 1:3]])(x(3, 4))

def jacobian(f, a):
    a = tf.Variable(a)
    with tf.GradientTape() as tape:
        y = f(a)
    return tape.jacobian(y, a)

def assigned():
    v = tf.Variable([1.0, 2.0])
    before = v.value()
    part = v[:1]
    v.assign_add([1.0, 1.0])
    v.assign_sub([0.5, 0.5])
    return before, part, v.numpy(), (v + 1), v.shape.as_list()

def assigned_in_tape():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
        v.assign(5.0)
        z = y + 2 * v
    return tape.gradient(z, v)

def factors():
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v
    return tape.gradient(y, v, output_gradients=tf.constant([2.0, 3.0]))

def stepped(name, gradients=((0.5, -1.0), (3.0, 0.2), (-0.1, 0.4)), **options):
    o = getattr(keras.optimizers, name)(**options)
    v = tf.Variable([1.0, 2.0])
    for g in gradients:
        o.apply_gradients([(tf.constant(g), v)])
    return v.numpy()

def filled(model, shape):
    model.build((None, *shape))
    model.set_weights([data(*w.shape, scale=0.4) + (1.5 if w.ndim == 1 else 0) for w in model.get_weights()])
    return model

def output(layer, *shape, training=False, ints=False):
    a = (np.abs(data(*shape)) * 3).astype('int32') if ints else data(*shape)
    m = filled(keras.Sequential([layer]), shape[1:])
    with tf.GradientTape() as tape:
        y = m(a, training=training)
        total = tf.reduce_sum(y * y)
    return y.numpy(), dense(tape.gradient(total, m.trainable_variables)) if m.trainable_variables else [], [w for w in m.get_weights()]

def trained(optimizer, loss, metrics=('accuracy',), units=3, activation=None, one_hot=False, **options):
    a = data(40, 6, 6, 1)
    labels = np.arange(40) * 3 % 7 % 3
    y = keras.utils.to_categorical(labels, 3) if one_hot else labels if units > 1 else (labels > 0).astype('float32')
    m = keras.Sequential([layers.Conv2D(4, 3, padding='same', activation='relu'), layers.MaxPooling2D(), layers.BatchNormalization(momentum=0.8), layers.Flatten(), layers.Dense(8, activation='tanh'), layers.Dense(units, activation=activation)])
    filled(m, (6, 6, 1))
    m.compile(optimizer=optimizer, loss=loss, metrics=list(metrics))
    h = m.fit(a, y, epochs=3, batch_size=16, shuffle=False, verbose=0, validation_split=0.2, **options)
    return h.history, m.evaluate(a, y, verbose=0), m.predict(a[:3], verbose=0), m.get_weights()[0]

def stopped():
    m = filled(keras.Sequential([layers.Dense(1)]), (2,))
    m.compile(keras.optimizers.SGD(0.5), 'mse')
    stop = keras.callbacks.EarlyStopping(monitor='loss', patience=2, restore_best_weights=True)
    h = m.fit(data(20, 2), data(20), epochs=12, batch_size=20, shuffle=False, verbose=0, callbacks=[stop])
    return len(h.epoch), h.history, m.get_weights()

def custom_model():
    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden = layers.Dense(5, activation='relu')
            self.out = layers.Dense(2)
        def call(self, a):
            return self.out(self.hidden(a))
    m = Net()
    m(data(1, 3))
    m.set_weights([data(*w.shape, scale=0.4) for w in m.get_weights()])
    m.compile(keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    h = m.fit(data(20, 3), np.arange(20) % 2, epochs=2, shuffle=False, verbose=0)
    return h.history, len(m.trainable_variables)

def custom_loop():
    m = filled(keras.Sequential([layers.Dense(4, activation='relu'), layers.Dense(3)]), (5,))
    loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    o, seen = keras.optimizers.Adam(0.05), keras.metrics.SparseCategoricalAccuracy()
    pairs = tf.data.Dataset.from_tensor_slices((data(30, 5), np.arange(30) % 3)).batch(8)
    @tf.function
    def step(a, y):
        with tf.GradientTape() as tape:
            p = m(a, training=True)
            loss = loss_of(y, p)
        g = tape.gradient(loss, m.trainable_variables)
        o.apply_gradients(zip(g, m.trainable_variables))
        seen.update_state(y, p)
        return loss
    return [float(step(a, y)) for _ in range(2) for a, y in pairs], float(seen.result())

def summary(build=True):
    keras.backend.clear_session()
    m = keras.Sequential([layers.Conv2D(4, 3, activation='relu'), layers.MaxPooling2D(), layers.BatchNormalization(), layers.Flatten(), layers.Dropout(0.2), layers.Dense(3)])
    if build:
        m.build((None, 8, 8, 1))
    lines = []
    m.summary(print_fn=lambda text, **_: lines.append(text))
    return '\\n'.join(lines).strip()
"""

FLOATS = (
    "tf.exp tf.math.log1p tf.sqrt tf.sin tf.cos tf.tanh tf.sigmoid tf.nn.relu tf.nn.relu6 tf.nn.elu "
    "tf.nn.selu tf.nn.silu tf.nn.softplus tf.nn.softmax tf.nn.log_softmax tf.nn.leaky_relu tf.nn.gelu "
    "tf.abs tf.negative tf.square tf.sign tf.round tf.math.reciprocal tf.math.rsqrt tf.floor tf.math.erf"
).split()
BOTH = (
    "tf.add tf.subtract tf.multiply tf.divide tf.math.floordiv tf.maximum tf.minimum tf.equal tf.less "
    "tf.greater_equal tf.math.squared_difference"
).split()
REDUCE = "sum mean max min prod all any std variance logsumexp".split()


def _generated():
    for f in FLOATS:
        for kind in ("float32", "float64"):
            yield f"{f}(tf.abs(x(2, 3, dtype='{kind}')))"
        yield f"grad(lambda a: tf.reduce_sum({f}(a) * x(2, 3)), data(2, 3) * 0.4 + 0.9)"
    for f in BOTH:
        yield f"{f}(x(2, 3), x(3))"
        yield f"{f}(i(4), 2)"
        yield f"{f}(x(4), 2)"
    for f in REDUCE:
        name = f"tf.math.reduce_{f}"
        a = "x(2, 3) > 0" if f in ("all", "any") else "x(2, 3)"
        yield f"{name}({a})"
        yield f"{name}({a}, axis=1, keepdims=True)"
        if f in ("sum", "mean", "max", "min", "prod"):
            yield f"{name}(i(2, 3), 0)"
    for op in ("+", "-", "*", "/", "//", "%", "**", "<", "=="):
        for a, b in (("x()", "2"), ("2", "x()"), ("i()", "3"), ("x()", "np.array([1.0, 2, 3, 4])"),
                     ("np.array([1.0, 2, 3, 4])", "x()"), ("x()", "x()"), ("i()", "(i() * i() + 1)"),
                     ("x()", "0.5")):  # fmt: skip
            if op == "**" and "x()" in a + b:
                a, b = a.replace("x()", "abs(x())"), b.replace("x()", "abs(x())")
            yield f"{a} {op} {b}"


OTHERS = """
tf.constant(3)
tf.constant([1.5, 2])
tf.constant(np.arange(3.0))
tf.constant([1, 2, 3, 4], shape=(2, 2))
tf.constant(1, shape=(2, 2), dtype=tf.float64)
tf.constant(True)
tf.zeros((2, 3))
tf.ones([2], tf.int32)
tf.zeros_like(i())
tf.ones_like(x(), dtype=tf.int32)
tf.fill([2, 2], 3.0)
tf.eye(2)
tf.eye(2, 3)
tf.range(5)
tf.range(1, 10, 3)
tf.range(0.0, 1.0, 0.25)
tf.linspace(0.0, 1.0, 5)
tf.cast(x(), tf.int32)
tf.cast(i(), 'float64')
tf.reshape(x(), [2, -1])
tf.transpose(x(2, 3))
tf.transpose(x(2, 3, 4), [2, 0, 1])
tf.squeeze(x(1, 3, 1))
tf.expand_dims(x(), -1)
tf.concat([x(2, 3), x(1, 3)], 0)
tf.concat([[1.0], [2.0]], axis=0)
tf.stack([x(), x()], axis=1)
tf.stack([1, 2])
tf.unstack(x(2, 3))
tf.split(x(4), 2)
tf.split(x(5), [2, 3])
tf.tile(x(2), [3])
tf.reverse(x(4), [0])
tf.gather(x(4, 2), [2, 0])
tf.gather(x(2, 4), [[1], [3]], axis=1)
tf.boolean_mask(x(), x() > 0)
tf.where(x() > 0)
tf.where(x() > 0, x(), 0.0)
tf.clip_by_value(x(), -0.5, 0.5)
tf.argmax(x(3, 4))
tf.argmax(x(3, 4), axis=1)
tf.argmin(x(3, 4), 1, output_type=tf.int32)
tf.shape(x(2, 3))
tf.size(x(2, 3))
tf.rank(x(2, 3))
tf.broadcast_to(x(3), [2, 3])
tf.matmul(x(2, 3), x(3, 2))
tf.matmul(x(2, 3), x(2, 3), transpose_b=True)
tf.matmul(x(2, 2, 3), x(2, 3, 2))
x(2, 3) @ x(3, 2)
tf.tensordot(x(2, 3), x(3, 2), 1)
tf.einsum('ij,jk->ik', x(2, 3), x(3, 2))
tf.norm(x(2, 3))
tf.linalg.inv(x(2, 2))
tf.linalg.det(x(2, 2))
tf.linalg.diag(x(3))
tf.one_hot([0, 2, 5], 4)
tf.one_hot([[0], [1]], 2, axis=0)
tf.one_hot([1], 2, on_value=5, off_value=1)
tf.cumsum(x())
tf.sort(x())
tf.sort(x(), direction='DESCENDING')
tf.add_n([x(), x(), x()])
tf.pow(abs(x()), 2.5)
tf.math.l2_normalize(x(2, 3), axis=1)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 0], logits=x(2, 3))
tf.nn.softmax_cross_entropy_with_logits(labels=[[0.0, 1.0, 0.0]], logits=x(1, 3))
tf.nn.sigmoid_cross_entropy_with_logits(labels=[0.0, 1.0, 1.0, 0.0], logits=x() * 3)
tf.nn.conv2d(x(2, 5, 5, 2), x(3, 3, 2, 4), 1, 'SAME')
tf.nn.conv2d(x(2, 6, 6, 2), x(3, 3, 2, 4), [1, 2, 2, 1], 'SAME')
tf.nn.conv2d(x(2, 6, 6, 2), x(3, 3, 2, 4), 2, 'VALID')
tf.nn.max_pool2d(x(1, 5, 5, 2), 2, 2, 'SAME')
tf.nn.max_pool2d(x(1, 5, 5, 2), 3, 2, 'VALID')
tf.nn.avg_pool2d(x(1, 5, 5, 2), 2, 2, 'SAME')
tf.nn.moments(x(2, 3), [0])
tf.nn.embedding_lookup(x(4, 2), [1, 3])
tf.nn.bias_add(x(2, 3), x(3))
x()[1]
x(3, 4)[1:, ::2]
x(3, 4)[..., tf.newaxis, 1]
x(3)[-1]
x(3)[7]
len(x())
float(x()[0])
x(2, 3).shape.as_list()
x(2, 3).shape == (2, 3)
str(x())
repr(i(2, 2))
repr(tf.Variable([1, 2], name='w'))
repr(tf.TensorSpec([None, 2], tf.float32))
str(x().dtype)
x() + i()
i() * 2.5
tf.constant([1.5], dtype=tf.int32)
tf.sqrt(i())
x(2) + x(3)
tf.matmul(x(2, 3), x(2, 3))
tf.matmul(x(2), x(2))
tf.reshape(x(), [3])
hash(x())
tf.Variable(1.0).assign([1.0, 2.0])
tf.concat([x(), i()], 0)
grad(lambda a: a * a, 3.0)
grad(lambda a: tf.cast(a, tf.int32), 3.0)
grad(lambda a, b: tf.reduce_sum(a @ b), data(2, 3), data(3, 2))
grad(lambda a, b: a * 2, 1.0, 2.0)
grad(lambda a: a * a, data(3))
grad(lambda a: tf.stop_gradient(a) * a, 3.0)
grad(lambda a: tf.reduce_sum(tf.where(a > 0, a * a, a)), data(5))
grad(lambda a: tf.reduce_sum(tf.gather(a, [0, 0, 2]) ** 2), data(5))
grad(lambda a: tf.reduce_sum(tf.nn.conv2d(a, x(3, 3, 2, 4), 2, 'SAME') ** 2), data(2, 5, 5, 2))
grad(lambda a: tf.reduce_sum(tf.nn.conv2d(x(2, 5, 5, 2), a, 1, 'SAME') ** 2), data(3, 3, 2, 4))
grad(lambda a: tf.reduce_sum(tf.nn.max_pool2d(a, 2, 2, 'SAME') ** 2), data(1, 5, 5, 2))
grad(lambda a: tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 0], logits=a)), data(2, 3))
grad(lambda a: tf.reduce_sum(tf.clip_by_value(a, -0.5, 0.5) * a), data(5))
grad(lambda a: tf.math.reduce_std(a), data(5))
grad(lambda a: tf.reduce_sum(tf.reshape(a, [3, 2]) @ tf.transpose(tf.reshape(a, [3, 2]))), data(6))
grad(lambda a: tf.reduce_sum(tf.concat([a, a * 2], 0) * x(8)), data(4))
second(lambda a: a ** 3, 3.0)
second(lambda a: tf.sin(a) * a, 0.7)
taped(True)
taped(False)
within()
watched_within()
by_parts()
by_own_rule()
stopped()
by_example()
own_steps()
tf.clip_by_norm(x(2, 3), 0.5), tf.clip_by_norm(x(2, 3), 9.0, axes=[1]), tf.clip_by_norm(x(2, 3) * 0, 1.0)
tf.clip_by_global_norm([x(3), None, x(2, 2)], 1.0)[0][2], tf.clip_by_global_norm([x(3), x(2, 2)], 99.0)[1], tf.linalg.global_norm([x(3)])
tf.cond(tf.constant(True), lambda: x(2), lambda: x(3)), tf.cond(tf.reduce_sum(x(2)) > 9, lambda: x(2), lambda: x(3))
tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, a * 2), [tf.constant(0), x(2)])
tf.while_loop(lambda i: i < 5, lambda i: [i + 1], [tf.constant(0)], maximum_iterations=3)
tf.map_fn(lambda a: a * 2 + 1, x(3, 2)), tf.map_fn(lambda p: p[0] * p[1], (x(3, 2), x(3, 2)), fn_output_signature=tf.float32)
tf.scan(lambda a, b: a + b, x(4, 2)), tf.scan(lambda a, b: a * b, x(4), initializer=2.0, reverse=True)
tf.math.segment_sum(x(4, 2), [0, 0, 2, 2]), tf.math.unsorted_segment_sum(x(4), [1, 0, 1, -1], 3)
tf.math.segment_sum(x(3), [1, 0, 1])
tf.sequence_mask([1, 3], 4), tf.sequence_mask([[1], [2]]), tf.sequence_mask(2, 3, dtype=tf.float32)
tf.gather_nd(x(3, 2), [[0, 1], [2, 0]]), tf.gather_nd(x(3, 2), [[2]]), tf.gather_nd(x(3, 2), [[0, 0, 0]])
tf.scatter_nd([[1], [1]], x(2, 2), [3, 2]), tf.tensor_scatter_nd_update(x(4), [[1], [3]], [5.0, 6.0])
tf.tensor_scatter_nd_add(x(2, 2), [[1, 1], [1, 1]], [5.0, 6.0]), tf.tensor_scatter_nd_sub(x(2, 2), [[1]], [[5.0, 6.0]])
grad(lambda a: tf.reduce_sum(tf.gather_nd(a, [[1], [1]]) ** 2) + tf.reduce_sum(tf.scatter_nd([[0], [2]], a, [3, 2]) ** 3), data(2, 2))
grad(lambda a: tf.reduce_sum(tf.math.unsorted_segment_sum(a, [1, 0, 1], 2) ** 2) + tf.reduce_sum(tf.map_fn(tf.sin, a)), data(3, 2))
grad(lambda a: tf.reduce_sum(tf.math.top_k(a, 2)[0] ** 2) + tf.reduce_sum(tf.cumsum(a, exclusive=True, reverse=True) ** 2), data(4))
tf.pad(x(1, 2), [[1, 0], [0, 1]], constant_values=9.0), tf.pad(x(3), [[2, 1]], 'REFLECT'), tf.pad(x(3), [[2, 1]], 'symmetric')
tf.repeat(x(2), 2), tf.repeat(x(2), [1, 2]), tf.repeat(x(2, 2), 2, axis=1), tf.repeat(x(2, 2), [0, 2], axis=0)
tf.argsort(x(5)), tf.argsort([2, 1, 2, 3], direction='DESCENDING'), tf.math.top_k([2, 3, 2, 3], 3), tf.math.top_k(x(2, 3))[1]
tf.meshgrid(x(2), x(3)), tf.meshgrid(x(2), x(3), indexing='ij'), tf.ensure_shape(x(2, 3), (None, 3)), tf.linalg.l2_normalize(x(3))
tf.ensure_shape(x(2, 3), (3, 3))
tf.cumsum(x(3), exclusive=True), tf.cumsum(x(2, 3), axis=1, reverse=True), tf.cumsum(i(2, 3), axis=-1, exclusive=True, reverse=True)
masking()
masked_fit(True)
masked_fit(False)
masked(layers.LSTM(3))
masked(layers.GRU(3, return_sequences=True))
masked(layers.SimpleRNN(2, return_sequences=True, zero_output_for_mask=True))
masked(layers.Bidirectional(layers.LSTM(2, return_sequences=True)))
masked(layers.Bidirectional(layers.GRU(2)))
masked(layers.GlobalAveragePooling1D())
masked(layers.Dense(2))
masked(layers.LayerNormalization())
masked(layers.BatchNormalization())
masked(layers.TimeDistributed(layers.Dense(2)))
masked(layers.Dropout(0.5))
masked(layers.Activation('relu'))
masked(layers.Flatten())
masked(layers.Add(), x(4, 4, 3))
masked(layers.Add(), embedded())
masked(layers.Concatenate(), embedded())
masked(layers.Concatenate(), x(4, 4, 2))
masked(layers.Concatenate(axis=1), embedded())
masked(Halved())
embedded()._keras_mask
layers.Softmax()(x(2, 3), mask=tf.constant([True, False, True]))
layers.Softmax()(x(2, 3), mask=tf.constant([[True, False, True], [False] * 3]))
watched_parts()
read_before()
nested_within()
stopped()
hidden_layer()
recurrent(layers.SimpleRNN(3))
recurrent(layers.SimpleRNN(3, activation='relu', use_bias=False, return_sequences=True))
recurrent(layers.LSTM(3))
recurrent(layers.LSTM(3, return_sequences=True), layers.LSTM(2, go_backwards=True))
recurrent(layers.LSTM(3, recurrent_activation='relu', activation='sigmoid'))
recurrent(layers.GRU(3))
recurrent(layers.GRU(3, reset_after=False, return_sequences=True), layers.GRU(2, use_bias=False))
recurrent(layers.Bidirectional(layers.LSTM(3)))
recurrent(layers.Bidirectional(layers.GRU(3, return_sequences=True), merge_mode='sum'))
recurrent(layers.Bidirectional(layers.SimpleRNN(3, return_sequences=True), merge_mode='mul'), layers.TimeDistributed(layers.Dense(2)))
with_states(layers.LSTM(3, return_state=True))
with_states(layers.GRU(3, return_state=True, return_sequences=True))
list(layers.LSTM(3)(x(2, 4, 2)).shape)
(lambda w: tf.round(tf.abs(tf.linalg.matmul(w, w, transpose_a=True)) * 1000))(keras.initializers.get("orthogonal")((4, 3)))
[w.numpy().tolist() for w in (lambda l: (l.build((None, 4, 2)), l.weights[2:])[1])(layers.LSTM(2))]
summary_of(two_ways())
followed(two_ways(), data(8, 8), data(8, 2))
two_inputs(list)
two_inputs(dict)
merged(layers.Add(), (3,), (3,), (3,))
merged(layers.Subtract(), (3, 2), (3, 2))
merged(layers.Average(), (3,), (3,))
merged(layers.Maximum(), (3,), (3,))
merged(layers.Minimum(), (3,), (1,))
merged(layers.Concatenate(axis=1), (3, 2), (4, 2))
merged(layers.Dot(axes=1), (3,), (3,))
merged(layers.Dot(axes=2), (3, 4), (2, 4))
merged(layers.Dot(axes=1, normalize=True), (3,), (3,))
parts_of_models()
shapes_of_image(layers.Conv2D(4, 3, padding='same'), layers.BatchNormalization(), layers.ReLU(), layers.MaxPooling2D(), layers.Lambda(lambda t: t[:, :2]), layers.Dropout(0.5), layers.Flatten(), layers.Reshape((4, -1)))
operators()
jacobian(lambda a: a * a, data(3))
jacobian(lambda a: tf.stack([a[0] * a[1], a[1]]), data(2))
assigned()
assigned_in_tape()
factors()
tf.function(lambda a: a + 1)(x())
tf.function(lambda a: a + 1, input_signature=[tf.TensorSpec([None], tf.float32)])(x())
tf.function(lambda a: a + 1, input_signature=[tf.TensorSpec([None], tf.float32)])(x(2, 2))
tf.function(lambda a: a + 1, input_signature=[tf.TensorSpec([None], tf.float32)])(i())
list(tf.data.Dataset.range(3))
list(tf.data.Dataset.from_tensor_slices((data(5), np.arange(5))).batch(2))
list(tf.data.Dataset.from_tensor_slices({'a': data(3)}).map(lambda d: d['a'] * 2))
list(tf.data.Dataset.from_tensor_slices(data(5)).batch(2, drop_remainder=True))
list(tf.data.Dataset.range(5).filter(lambda a: a % 2 == 0).repeat(2).take(5).skip(1))
list(tf.data.Dataset.range(4).map(lambda a: (a, a * a)).batch(2).prefetch(tf.data.AUTOTUNE))
list(tf.data.Dataset.zip((tf.data.Dataset.range(2), tf.data.Dataset.range(5))))
sorted(int(a) for a in tf.data.Dataset.range(20).shuffle(5))
len(tf.data.Dataset.range(10).shuffle(3).batch(3))
keras.utils.to_categorical([0, 2, 1])
keras.utils.to_categorical([[0], [2]], 4)
keras.losses.MeanSquaredError()(data(3, 2), data(3, 2) * 2)
keras.losses.MeanAbsoluteError()(data(3, 2), data(3, 2) * 2)
keras.losses.Huber()(data(3, 2), data(3, 2) * 4)
keras.losses.BinaryCrossentropy()(np.array([[1.0], [0.0]]), np.array([[0.3], [0.0]]))
keras.losses.BinaryCrossentropy(from_logits=True)(np.array([[1.0], [0.0]]), np.array([[0.3], [-2.0]]))
keras.losses.BinaryCrossentropy(label_smoothing=0.1)(np.array([[1.0], [0.0]]), np.array([[0.3], [0.2]]))
keras.losses.CategoricalCrossentropy()(np.array([[0.0, 1.0]]), np.array([[0.3, 0.9]]))
keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1)(np.array([[0.0, 1.0]]), np.array([[0.3, 0.9]]))
keras.losses.SparseCategoricalCrossentropy()(np.array([1, 0]), np.array([[0.1, 0.9], [0.0, 1.0]]))
keras.losses.SparseCategoricalCrossentropy(from_logits=True)(np.array([1, 0]), data(2, 3))
keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction='none')(np.array([1, 0]), data(2, 3))
stepped('SGD', learning_rate=0.1)
stepped('SGD', learning_rate=0.1, momentum=0.9)
stepped('SGD', learning_rate=0.1, momentum=0.9, nesterov=True)
stepped('RMSprop', learning_rate=0.1)
stepped('RMSprop', learning_rate=0.1, momentum=0.9, centered=True)
stepped('Adam', learning_rate=0.1)
stepped('Adam', learning_rate=0.1, amsgrad=True)
stepped('Adam', learning_rate=0.1, clipvalue=0.3)
stepped('AdamW', learning_rate=0.1)
stepped('Adagrad', learning_rate=0.1)
stepped('SGD', learning_rate=keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5))
output(layers.Dense(3, activation='softmax'), 4, 5)
output(layers.Dense(3, use_bias=False), 2, 4, 5)
output(layers.Conv2D(3, 3), 2, 5, 5, 2)
output(layers.Conv2D(3, (3, 2), strides=2, padding='same', activation='relu'), 2, 5, 6, 2)
output(layers.Conv2D(4, 3, dilation_rate=2), 2, 6, 6, 2)
output(layers.Conv2D(4, 3, groups=2), 2, 6, 6, 2)
output(layers.MaxPooling2D(), 2, 5, 5, 2)
output(layers.MaxPooling2D(3, strides=1, padding='same'), 2, 5, 5, 2)
output(layers.AveragePooling2D(2, padding='same'), 2, 5, 5, 2)
output(layers.GlobalAveragePooling2D(), 2, 5, 5, 2)
output(layers.BatchNormalization(), 4, 3)
output(layers.BatchNormalization(), 4, 3, training=True)
output(layers.BatchNormalization(momentum=0.5), 2, 3, 3, 2, training=True)
output(layers.LayerNormalization(), 4, 3)
output(layers.Flatten(), 2, 3, 2)
output(layers.Reshape((3, -1)), 2, 6)
output(layers.Dropout(0.5), 2, 6)
output(layers.Activation('tanh'), 2, 6)
output(layers.ReLU(), 2, 6)
output(layers.LeakyReLU(), 2, 6)
output(layers.Softmax(), 2, 6)
output(layers.Rescaling(1.0 / 255), 2, 6)
output(layers.Embedding(4, 3), 2, 5, ints=True)
trained('adam', keras.losses.SparseCategoricalCrossentropy(from_logits=True))
trained('sgd', 'sparse_categorical_crossentropy', activation='softmax')
trained('rmsprop', 'categorical_crossentropy', activation='softmax', one_hot=True)
trained(keras.optimizers.Adam(0.01), 'binary_crossentropy', units=1, activation='sigmoid')
trained('adam', 'mse', ('mae',), units=1)
stopped()
custom_model()
custom_loop()
summary()
summary(False)
tf.config.list_physical_devices('CPU')[0].device_type
tf.distribute.MirroredStrategy().num_replicas_in_sync
[layers.Dense(2).name.rstrip('_0123456789'), layers.MaxPooling2D().name.rstrip('_0123456789')]
""".strip().splitlines()

CALLS = [*_generated(), *OTHERS]
