"""`nb.compile`: steps that are recorded again without their code, what they depend on, and what
leaves them to Python. The device has memory that the host cannot read, as a GPU has.
"""

import gc
import math
import random
import threading
import time
import warnings
import weakref

import numpy as np
import pytest

nb = pytest.importorskip("numbus")
from numbus import _core, nn, optim, tensors  # noqa: E402
from numbus.nn import functional as F  # noqa: E402
from numbus.tensors import no_grad  # noqa: E402
from random_compiled import difference  # noqa: E402

pytestmark = pytest.mark.cpu
CALLS = 6
scale = 2.0


def fenced(a):
    return tensors.from_numpy(np.array(a, dtype="f4")).to("fenced")


def numpy_of(t):
    return t.detach().to("cpu").numpy()


def training(step_of, **settings):
    """A model, its optimizer, and a step of them, plain or compiled."""
    with no_grad():
        rng = np.random.default_rng(3)
        model = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 2))
        for p in model.parameters():
            p.copy_(tensors.from_numpy(rng.standard_normal(tuple(p.shape)).astype("f4")))
        x, y = fenced(rng.standard_normal((6, 5))), fenced(rng.standard_normal((6, 2)))
    model = model.to("fenced")
    optimizer = optim.Adam(model.parameters(), **settings)
    return model, optimizer, step_of(model, optimizer), (x, y)


def usual(model, optimizer):
    def step(x, y):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


# The last three: a library's scratch memory was what a step of the same run had yet to read.
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("seed", [*range(12), 7596, 7601, 7604])
@pytest.mark.filterwarnings("ignore")
def test_sample_of_random_nets(seed, late):
    before = nb.seterr(all="ignore")
    _core.set_late_checks(late)
    try:
        assert difference(seed)[0] is None
    finally:
        _core.set_late_checks(False)
        nb.seterr(**before)


def test_steps_need_no_code():
    _, _, plain, data = training(usual)
    _, _, step, _ = training(usual)
    compiled = nb.compile(step)
    losses = [(plain(*data).item(), compiled(*data).item()) for _ in range(8)]
    assert all(a == b for a, b in losses)
    assert compiled.answers == 5
    assert compiled.reasons == []


def test_arrays_of_functions():
    calls = []

    def f(x, y):
        calls.append(1) if False else None
        return {"sum": (x * y).sum(), "rows": [nb.sin(x), x @ y]}

    compiled = nb.compile(f)
    rng = np.random.default_rng(0)
    with nb.device("fenced"):
        for _ in range(CALLS):
            a, b = rng.standard_normal((2, 4, 4))
            made = compiled(nb.array(a), nb.array(b))
            np.testing.assert_allclose(float(made["sum"]), (a * b).sum(), rtol=1e-12)
            np.testing.assert_allclose((made["rows"][0]).to_numpy(), np.sin(a), rtol=1e-15)
            np.testing.assert_allclose((made["rows"][1]).to_numpy(), a @ b, rtol=1e-12)
    assert compiled.answers == CALLS - 3


def test_other_shapes_and_numbers_are_other_calls():
    compiled = nb.compile(lambda x, n: x * n + 1)
    with nb.device("fenced"):
        for _ in range(CALLS):
            for size in (3, 5):
                for n in (2, 2.5, True):
                    x = nb.arange(float(size))
                    np.testing.assert_array_equal(
                        (compiled(x, n)).to_numpy(), np.arange(float(size)) * n + 1
                    )
    assert compiled.answers == 6 * (CALLS - 3)


def test_a_learning_rate_is_read_anew():
    runs = []
    for compiles in (False, True):
        model, optimizer, step, data = training(usual)
        scheduler = optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
        step = nb.compile(step) if compiles else step
        for _ in range(10):
            step(*data)
            scheduler.step()
        runs.append([numpy_of(p) for p in model.parameters()])
    for a, b in zip(*runs, strict=True):
        np.testing.assert_array_equal(a, b)
    assert step.answers == 7


class Holder:
    factor = 1.0

    def __init__(self):
        self.scale = 1.0
        self.parts = [1.0, 2.0]
        self.table = {"a": 1.0}


def test_what_a_step_reads_may_change():
    global scale
    holder, bias = Holder(), 1.0

    def f(x):
        more = sum(holder.parts) + holder.table["a"] * Holder.factor
        return x * holder.scale + bias * scale + more

    compiled = nb.compile(f)

    def check(answered):
        before = compiled.answers
        for _ in range(4):
            x = fenced([1.0, 2.0])
            np.testing.assert_array_equal(numpy_of(compiled(x)), numpy_of(f(x)))
        assert (compiled.answers > before) == answered

    check(True)
    holder.scale = 3.0
    check(True)
    bias = 5.0
    check(True)
    scale = 7.0
    check(True)
    holder.parts[1] = 4.0
    check(True)
    holder.parts.append(1.0)
    check(True)
    holder.table["a"] = 2.0
    check(True)
    Holder.factor = 3.0
    check(True)
    scale = 2.0
    Holder.factor = 1.0


def test_arrays_elsewhere_are_read_as_they_are():
    weights = fenced([1.0, 2.0])
    compiled = nb.compile(lambda x: x * weights)
    for k in range(CALLS):
        with no_grad():
            weights.mul_(2)
        expected = 2.0 ** (k + 1) * np.array([1.0, 2.0])
        np.testing.assert_array_equal(numpy_of(compiled(fenced([1.0, 1.0]))), expected)
    assert compiled.answers == CALLS - 3
    weights = fenced([3.0, 3.0])
    np.testing.assert_array_equal(numpy_of(compiled(fenced([1.0, 1.0]))), [3.0, 3.0])


def test_arrays_elsewhere_are_written():
    total = fenced([0.0, 0.0])

    def add(x):
        total.add_(x)
        return total * 2

    compiled = nb.compile(add)
    for k in range(CALLS):
        made = compiled(fenced([1.0, 2.0]))
        np.testing.assert_array_equal(numpy_of(made), (k + 1) * np.array([2.0, 4.0]))
    assert compiled.answers == CALLS - 3
    np.testing.assert_array_equal(numpy_of(total), CALLS * np.array([1.0, 2.0]))


def test_an_argument_that_is_an_array_elsewhere():
    """Known by two names, it is what is written under the other one."""
    total = fenced([1.0, 2.0])

    def add(x):
        total.mul_(2)
        return total + x

    plain, compiled = fenced([1.0, 2.0]), nb.compile(add)
    for k in range(10):
        if k > 5:
            made, x = compiled(total), plain
        else:
            made, x = compiled(fenced([1.0, 1.0])), fenced([1.0, 1.0])
        plain = plain * 2
        expected = numpy_of(plain) + (numpy_of(plain) if k > 5 else numpy_of(x))
        np.testing.assert_array_equal(numpy_of(made), expected)


def test_gradients_are_as_the_step_leaves_them():
    model, _, step, data = training(usual)
    other, _, plain, _ = training(usual)
    compiled = nb.compile(step)
    for _ in range(CALLS):
        compiled(*data)
        plain(*data)
        for p, q in zip(model.parameters(), other.parameters(), strict=True):
            np.testing.assert_array_equal(numpy_of(p.grad), numpy_of(q.grad))
    kept = model[0].weight.grad
    before = numpy_of(kept).copy()
    compiled(*data)
    assert model[0].weight.grad is not kept
    np.testing.assert_array_equal(numpy_of(kept), before)


def test_gradients_that_add_up():
    def adding(model, optimizer):
        def step(x, y):
            F.mse_loss(model(x), y).backward()

        return step

    model, _, step, data = training(adding)
    other, _, plain, _ = training(adding)
    compiled = nb.compile(step)
    for k in range(10):
        if k == 7:
            for p in (*model.parameters(), *other.parameters()):
                p.grad = None
        compiled(*data)
        plain(*data)
        for p, q in zip(model.parameters(), other.parameters(), strict=True):
            np.testing.assert_array_equal(numpy_of(p.grad), numpy_of(q.grad))


STATE = tensors.get_rng_state()
EFFECTS = {
    "read": (lambda s, x: x * x.sum().item(), "elements are read"),
    "decision": (lambda s, x: x if x.sum() > 0 else -x, "elements are read"),
    "print": (lambda s, x: print(end="") or x * 2, "it calls print"),
    "list": (lambda s, x: s.append(1) or x * 2, "it calls list.append"),
    "clock": (lambda s, x: x * time.time(), "it calls time"),
    "random": (lambda s, x: x * random.random(), "it calls Random.random"),
    "host": (lambda s, x: x + tensors.tensor([1.0, 2.0]).to("fenced"), None),
    "seed": (lambda s, x: x * (tensors.initial_seed() % 7), "elements are read, or work"),
    "state": (lambda s, x: tensors.set_rng_state(STATE) or x * 2, None),
    "draws": (lambda s, x: x + tensors.randint(0, 9, (2,), device="fenced"), None),
    "object": (lambda s, x: (x * 2, object()), "object that is no array"),
    "nothing": (lambda s, x: 1, "nothing is recorded"),
}


@pytest.mark.parametrize("name", EFFECTS)
def test_what_is_left_to_python(name):
    body, reason = EFFECTS[name]
    seen = []

    def step(x):
        seen_before = len(seen)
        made = body(seen, x)
        return made, seen_before - len(seen)

    compiled = nb.compile(step)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(8):
            compiled(fenced([1.0, 2.0]))
    assert compiled.answers == 0
    assert len(told) == 1 and told[0].category is nb.CompileWarning
    assert told[0].filename == __file__
    if reason is not None:
        assert any(reason in r for r in compiled.reasons)
        assert reason in str(told[0].message)
    if name == "list":
        assert len(seen) == 8


DRAWS = {
    "dropout": lambda x: F.dropout(x, 0.5),
    "dropout in place": lambda x: F.dropout(x * 1, 0.5, inplace=True),
    "dropout2d": lambda x: F.dropout2d(x.reshape(3, 5, 10, 20), 0.5),
    "alpha_dropout": lambda x: F.alpha_dropout(x, 0.5, training=True),
    "rand": lambda x: x * tensors.rand(30, 100, device="fenced"),
    "rand_like": lambda x: x + tensors.rand_like(x, dtype=tensors.float64),
    "randn_like": lambda x: x + tensors.randn_like(x) + tensors.randn_like(x),
    "normal_": lambda x: (x * 0).normal_(1, 2),
    "uniform_": lambda x: (x * 1).uniform_(2, 3),
    "bernoulli": lambda x: tensors.bernoulli(x / 4),
    "generator": lambda x: tensors.rand(7, generator=apart, device="fenced"),
}
apart = tensors.Generator()


@pytest.mark.parametrize("name", DRAWS)
def test_random_numbers_are_drawn_anew(name):
    x = tensors.ones(30, 100, device="fenced")
    compiled, runs = nb.compile(lambda x: DRAWS[name](x)), []
    for step in (compiled, DRAWS[name]):
        tensors.manual_seed(3)
        apart.manual_seed(4)
        made = [numpy_of(step(x)) for _ in range(8)]
        kept, other = tensors.get_rng_state(), apart.get_state()
        made += [numpy_of(step(x)) for _ in range(2)]
        tensors.set_rng_state(kept)
        apart.set_state(other)
        made += [numpy_of(step(x)) for _ in range(2)]
        tensors.manual_seed(3)
        apart.manual_seed(4)
        runs.append([*made, numpy_of(step(x))])
    assert compiled.answers == 10, compiled.reasons
    for a, b in zip(*runs, strict=True):
        np.testing.assert_array_equal(a, b)
    made = runs[0]
    assert not any(np.array_equal(made[0], other) for other in made[1:-1])
    np.testing.assert_array_equal(made[0], made[-1])
    np.testing.assert_array_equal(made[8:10], made[10:12])


def test_streams_of_a_device_are_philox_with_a_state_there():
    generator = tensors.Generator().manual_seed(5)
    drawn = [tensors.rand(n, generator=generator, device="fenced", dtype=t)
             for n, t in ((5, tensors.float32), (9, tensors.float64))]  # fmt: skip
    words = np.random.SeedSequence(5, spawn_key=(1,)).generate_state(3, np.uint64)
    # NumPy counts up before it makes a block: of 8 float32 or of 4 float64.
    for blocks, t, made in ((0, "f4", drawn[0]), (1, "f8", drawn[1])):
        counter = (blocks - 1) % 2**256
        expected = np.random.Generator(np.random.Philox(key=words[:2], counter=counter))
        np.testing.assert_array_equal(numpy_of(made), expected.random(len(made), dtype=t))
    assert generator.known()["devices"]["fenced"][2:6] == [4, 0, 0, 0]
    host = tensors.rand(5, generator=tensors.Generator().manual_seed(5))
    assert not np.array_equal(numpy_of(host), numpy_of(drawn[0]))


def stores(kind):
    holder, log, names = Holder(), {"n": 0}, [0]

    def attribute(x):
        holder.scale = holder.scale + 1
        return x * 2

    def item(x):
        log["n"] += 1
        return x * 2

    def variable(x):
        nonlocal names
        names = [names[0] + 1]
        return x * 2

    def globally(x):
        global scale
        scale += 0
        return x * 2

    return {"attribute": attribute, "item": item, "variable": variable, "global": globally}[kind]


@pytest.mark.parametrize("kind", ["attribute", "item", "variable", "global"])
@pytest.mark.filterwarnings("ignore")
def test_functions_that_change_objects_are_left_to_python(kind):
    f = stores(kind)
    compiled = nb.compile(f)
    for _ in range(8):
        compiled(fenced([1.0]))
    assert compiled.answers == 0
    assert any("changes" in r or "stores" in r for r in compiled.reasons)
    assert all(__file__ in r for r in compiled.reasons)


def test_a_list_of_its_own_is_no_effect():
    def f(x):
        parts = []
        for k in range(3):
            parts.append(x * math.sqrt(k + 1))
        return tensors.stack(parts)

    compiled = nb.compile(f)
    for _ in range(CALLS):
        np.testing.assert_array_equal(numpy_of(compiled(fenced([1.0]))), numpy_of(f(fenced([1.0]))))
    assert compiled.answers == CALLS - 3


def test_results_that_can_be_differentiated():
    w = fenced([1.0, 2.0]).requires_grad_()
    compiled = nb.compile(lambda x: (x * w).sum())
    for _ in range(5):
        w.grad = None
        compiled(fenced([3.0, 4.0])).backward()
        np.testing.assert_array_equal(numpy_of(w.grad), [3.0, 4.0])
    assert compiled.answers == 2


def test_the_host_works_by_python():
    compiled = nb.compile(lambda x: x * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(5):
            np.testing.assert_array_equal((compiled(nb.arange(3.0))).to_numpy(), [0, 2, 4])
    assert compiled.answers == 0


def test_derivatives_pass_through():
    compiled = nb.compile(lambda x: (x * x).sum())
    with nb.device("fenced"):
        x = nb.array([1.0, 2.0])
        for _ in range(4):
            compiled(x)
        np.testing.assert_array_equal((nb.grad(compiled)(x)).to_numpy(), [2.0, 4.0])


def test_methods_and_keywords():
    class Model:
        def __init__(self, factor):
            self.factor = factor

        @nb.compile
        def apply(self, x, *, add=0.0):
            """Scales."""
            return x * self.factor + add

    one, two = Model(2.0), Model(3.0)
    for _ in range(CALLS):
        for model in (one, two):
            made = numpy_of(model.apply(fenced([1.0]), add=1.0))
            np.testing.assert_array_equal(made, [model.factor + 1])
    assert Model.apply.answers == 2 * (CALLS - 3)
    assert Model.apply.__doc__ == "Scales."


def test_errors_come_as_they_do_without_it():
    compiled = nb.compile(lambda x, y: x + y)
    for _ in range(CALLS):
        compiled(fenced([1.0, 2.0]), fenced([1.0, 2.0]))
    with pytest.raises(ValueError, match="broadcast"):
        compiled(fenced([1.0, 2.0]), fenced([1.0, 2.0, 3.0]))
    with pytest.raises(TypeError):
        compiled(fenced([1.0]))
    with pytest.raises(TypeError, match="compile"):
        nb.compile(3)


def test_an_error_inside_leaves_it_usable():
    state = {"fails": True}

    def f(x):
        if state["fails"]:
            raise KeyError("first")
        return x * 2

    compiled = nb.compile(f)
    for _ in range(4):
        with pytest.raises(KeyError):
            compiled(fenced([1.0]))
    state["fails"] = False
    for _ in range(CALLS):
        np.testing.assert_array_equal(numpy_of(compiled(fenced([1.0]))), [2.0])
    assert compiled.answers > 0


def test_what_it_holds_is_collected():
    model, _, step, data = training(usual)
    compiled = nb.compile(step)
    for _ in range(CALLS):
        compiled(*data)
    known = weakref.ref(model)
    del model, step, compiled
    gc.collect()
    assert known() is None


def test_batches_are_not_kept():
    compiled = nb.compile(lambda x: x * 2)
    for _ in range(CALLS):
        x = fenced([1.0])
        compiled(x)
    known = weakref.ref(x)
    del x
    gc.collect()
    assert known() is None


def test_threads_compile_steps_of_their_own():
    """Optimizers' numbers, of another learning rate in each, are those of the thread's step."""
    found = [None] * 4

    def train(k, compiles):
        model, _, step, data = training(usual, lr=10.0 ** -(k + 1))
        step = nb.compile(step) if compiles else step
        losses = [step(*data).item() for _ in range(12)]
        return losses, [numpy_of(p) for p in model.parameters()]

    def work(k):
        found[k] = train(k, True)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for k in range(4):
        losses, weights = train(k, False)
        assert found[k][0] == losses
        for a, b in zip(found[k][1], weights, strict=True):
            np.testing.assert_array_equal(a, b)


class Slotted:
    __slots__ = ("scale",)


def test_what_a_variable_is_a_name_of():
    """Attributes of what hangs on an argument, read by a name of the function's own, and slots."""

    class Model:
        def __init__(self):
            self.inner, self.slotted = type("Inner", (), {})(), Slotted()
            self.inner.scale = self.slotted.scale = 2.0

        def step(self, x):
            inner, slotted = self.inner, self.slotted
            alone = self.inner
            return x * inner.scale * alone.scale * slotted.scale

    model = Model()
    compiled = nb.compile(model.step)
    x = nb.ones(3).to_device("fenced")
    for scale in (2.0, 3.0):
        model.inner.scale = scale
        for slot in (2.0, 0.0, -0.0):
            model.slotted.scale = slot
            for _ in range(4):
                made = np.asarray(compiled(x).to_device("cpu"))
                assert np.array_equal(made, np.full(3, scale * scale * slot))
                assert np.array_equal(np.signbit(made), [np.signbit(slot)] * 3)


def test_an_argument_that_is_reached_in_another_way():
    w, v = (nb.array([k, 2.0 * k, 3.0]).to_device("fenced") for k in (1.0, 10.0))
    compiled = nb.compile(lambda x: x + w * 2)
    for _ in range(4):
        compiled(w)
    for _ in range(3):
        assert np.asarray(compiled(v).to_device("cpu")).tolist() == [12, 24, 9]


def test_settings_of_new_tensors_are_part_of_the_key():
    compiled = nb.compile(lambda x: tensors.ones(3) * 3 + x)
    with nb.device("fenced"):
        x = tensors.ones(3)
        try:
            for dtype in (tensors.float32, tensors.float64, tensors.float32):
                tensors.set_default_dtype(dtype)
                for _ in range(4):
                    assert compiled(x).dtype == dtype
        finally:
            tensors.set_default_dtype(tensors.float32)
    assert compiled.answers


def test_calls_that_are_never_alike_are_left_to_python():
    x = nb.ones(3).to_device("fenced")
    compiled = nb.compile(lambda x, k: x * k)
    with pytest.warns(nb.core.compiling.CompileWarning, match="another at each call"):
        for k in range(1100):
            assert float(compiled(x, float(k))[0]) == k
    assert len(compiled._calls) < 1000


def test_circles_on_the_tape_do_not_stop_steps():
    """Work in place on parts of an array keeps itself alive on the tape after its tensors."""
    a = tensors.from_numpy(np.eye(3) + 1).requires_grad_()
    b = a * 2
    b[1:] = b[1:] / b[:1, :1]
    b[2:] = b[2:] - b[1:2] * b[2:, :1]
    del a, b
    gc.collect()
    assert _core.tape_keeps()
    x = fenced(np.ones((5, 4), "f4"))

    @nb.compile
    def step():
        return x * 2 + 1

    results = [numpy_of(step()) for _ in range(6)]
    assert step.answers == 3 and all((r == 3).all() for r in results)


def test_garbage_on_the_tape_does_not_stop_steps():
    """Tensors in circles of Python's objects stay on the tape until they are collected."""
    b = (tensors.from_numpy(np.eye(3)).requires_grad_() * 2).exp()
    circle = [b]
    circle.append(circle)
    x = fenced(np.ones((5, 4), "f4"))

    @nb.compile
    def step():
        return x * 2 + 1

    for _ in range(6):
        step()
    assert step.answers == 0
    del b, circle
    results = [numpy_of(step()) for _ in range(6)]
    assert step.answers >= 2 and all((r == 3).all() for r in results)
