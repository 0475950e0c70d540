"""NumPy's errstate is a context variable: tasks of asyncio, and `Context.run`, have one each."""

import asyncio
import contextvars
import threading
import warnings

import numpy as np
import pytest

nb = pytest.importorskip("numbus")

pytestmark = pytest.mark.cpu

WORK = {
    "operator": lambda lib: lib.ones(4) / lib.zeros(4),
    "in place": lambda lib: _divided(lib),
    "ufunc": lambda lib: lib.log(lib.zeros(4)),
    "method": lambda lib: lib.array([np.inf, 1.0, 2.0]).std(),
    "function": lambda lib: lib.std(lib.array([np.inf, 1.0, 2.0])),
    "cast": lambda lib: lib.array([np.nan, 1.0]).astype("i4"),
    "product": lambda lib: lib.full((2, 2), 1e300) @ lib.full((2, 2), 1e300),
    "sum": lambda lib: lib.full(4, 1e308).sum(),
    "power": lambda lib: lib.full(4, 1e300) ** 2,
    "minus": lambda lib: lib.full(4, np.inf) - np.inf,
}


def _divided(lib):
    a = lib.ones(4)
    a /= lib.zeros(4)
    return a


def _stored(lib):
    a = lib.zeros(4, "i4")
    a[1:3] = lib.array([np.nan, 2.0])
    return a


def told(lib, work):
    """The kinds of warnings, or the error."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            np.asarray(work(lib))
        except FloatingPointError as error:
            return "error", str(error).partition(" encountered")[0]
    return sorted({str(w.message).partition(" encountered")[0] for w in found})


def switched(lib, work):
    """The warnings of work that alternates between contexts, each entered from outside."""
    made = [told(lib, work)]
    quiet, strict = contextvars.copy_context(), contextvars.copy_context()
    quiet.run(lambda: np.seterr(all="ignore"))
    made.append(told(lib, work))
    strict.run(lambda: np.seterr(all="raise"))
    made.append(told(lib, work))
    for context in (quiet, strict, quiet):
        made.append(context.run(told, lib, work))
        made.append(told(lib, work))
    with np.errstate(all="ignore"):
        made.append(told(lib, work))
        made.append(strict.run(told, lib, work))
        made.append(told(lib, work))
    made.append(told(lib, work))
    return made


@pytest.mark.parametrize("name", WORK)
def test_contexts(name):
    expected, got = switched(np, WORK[name]), switched(nb, WORK[name])
    assert got == expected


def tasks(lib, work):
    """What two tasks are told, one of which ignores errors while it waits and the other raises."""
    made = []

    async def quiet(mine, other):
        with np.errstate(all="ignore"):
            mine.set()
            await other.wait()
            made.append(told(lib, work))

    async def strict(mine, other):
        await other.wait()
        made.append(told(lib, work))
        with np.errstate(all="raise"):
            made.append(told(lib, work))
            mine.set()
            await asyncio.sleep(0.01)
            made.append(told(lib, work))
        made.append(told(lib, work))

    async def main():
        one, two = asyncio.Event(), asyncio.Event()
        await asyncio.gather(quiet(one, two), strict(two, one))
        made.append(told(lib, work))
        made.append(await asyncio.to_thread(told, lib, work))

    asyncio.run(main())
    made.append(told(lib, work))
    return made


@pytest.mark.parametrize("name", WORK)
def test_tasks(name):
    assert tasks(nb, WORK[name]) == tasks(np, WORK[name])


def test_stores():
    def by_turns(lib):
        quiet = contextvars.copy_context()
        made = [told(lib, _stored)]
        quiet.run(lambda: np.seterr(all="ignore"))
        for _ in range(2):
            made += [told(lib, _stored), quiet.run(told, lib, _stored)]
        return made

    assert by_turns(nb) == by_turns(np)


def test_errstates_that_are_left_in_another_order():
    def gone(lib):
        made, work = [], WORK["operator"]

        def steps():
            with np.errstate(all="ignore"):
                yield
                made.append(told(lib, work))

        first, second = steps(), steps()
        contexts = contextvars.copy_context(), contextvars.copy_context()
        contexts[0].run(next, first)
        contexts[1].run(next, second)
        contexts[0].run(next, first, None)
        made.append(told(lib, work))
        contexts[1].run(next, second, None)
        made.append(told(lib, work))
        return made

    assert gone(nb) == gone(np)


def test_threads_have_their_own():
    def body(lib, made):
        made.append(told(lib, WORK["operator"]))
        np.seterr(all="ignore")
        made.append(told(lib, WORK["operator"]))

    for lib in (np, nb):
        found = []
        thread = threading.Thread(target=body, args=(lib, found))
        thread.start()
        thread.join()
        found.append(told(lib, WORK["operator"]))
        assert found == [["divide by zero"], [], ["divide by zero"]]
