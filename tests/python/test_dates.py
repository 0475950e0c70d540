"""Business days and isnat, which are array code over days, against NumPy: drawn calendars."""

import random

import numbus as nb
import numpy as np
import pytest
from numbus.core import fallback

ROLLS = """raise nat forward following backward preceding modifiedfollowing modifiedpreceding
    sideways""".split()


def drawn(rng, shape, none=0.1):
    days = np.array([rng.randrange(-40_000, 40_000) for _ in range(int(np.prod(shape)))], "i8")
    near = np.array([rng.randrange(0, 40) for _ in range(days.size)], "i8")
    dates = (near if rng.random() < 0.7 else days).astype("M8[D]").reshape(shape)
    if rng.random() < none and dates.size:
        dates.reshape(-1)[0] = "NaT"
    return dates


def calendar(rng):
    mask = rng.choice(
        ["1111100", "1010101", "0000001", "1111111", "Mon Tue", [1, 0, 0, 1, 1, 0, 0]]
    )
    holidays = drawn(rng, (rng.randrange(0, 12),))
    if rng.random() < 0.3:
        return {"busdaycal": np.busdaycalendar(mask, holidays)}
    return {"weekmask": mask, "holidays": holidays} if rng.random() < 0.8 else {}


def outcome(call, xp):
    try:
        return call(xp)
    except (TypeError, ValueError) as error:
        return type(error)


def compare(call, note):
    before = dict(fallback.state.calls)
    want, got = outcome(call, np), outcome(call, nb)
    assert fallback.state.calls == before, note
    if isinstance(want, type) or isinstance(got, type):
        assert want is got, note
        return
    assert np.asarray(want).dtype == np.asarray(got).dtype, note
    np.testing.assert_array_equal(np.asarray(got), np.asarray(want), err_msg=str(note))


def check(dates, others, how, rng):
    roll = rng.choice(ROLLS)
    by = np.array(rng.randrange(-30, 30)) if rng.random() < 0.5 else rng.randrange(-9, 9)
    note = (dates, others, how, by, roll)
    compare(lambda xp: xp.is_busday(dates, **how), note)
    compare(lambda xp: xp.busday_count(dates, others, **how), note)
    compare(lambda xp: xp.busday_offset(dates, by, roll, **how), note)


@pytest.mark.parametrize("seed", range(8))
def test_business_days(seed):
    rng = random.Random(seed)
    for _ in range(40):
        shape = rng.choice([(), (7,), (3, 4), (0,)])
        check(drawn(rng, shape), drawn(rng, shape), calendar(rng), rng)


def test_arguments():
    day = np.datetime64("2024-02-29")
    for call in (
        lambda xp: xp.is_busday("2024-02-29"),
        lambda xp: xp.is_busday(["2024-03-02", "2024-03-04"]),
        lambda xp: xp.is_busday(np.datetime64("2024-02-29T05")),
        lambda xp: xp.is_busday(day, weekmask="0000000"),
        lambda xp: xp.busday_offset(day, 1.5),
        lambda xp: xp.busday_offset(day, np.array([1.5])),
        lambda xp: xp.busday_offset(day, xp.arange(4)),
        lambda xp: xp.busday_offset(day, 1, out=np.empty((), "M8[D]")),
        lambda xp: xp.busday_count(day, [day, day + 9], out=xp.empty(2, "i8")),
        lambda xp: xp.is_busday([day, day + 2], out=xp.empty(2, bool)),
        lambda xp: xp.is_busday(day, weekmask="1111110", busdaycal=np.busdaycalendar()),
    ):
        compare(call, call.__code__.co_firstlineno)


@pytest.mark.parametrize("t", ["M8[D]", "m8[s]", ">M8[ns]", "f8", "i4"])
def test_isnat(t):
    dates = np.arange(6).astype(t)
    if dates.dtype.kind in "mM":
        dates[::2] = "NaT"
    compare(lambda xp: xp.isnat(dates), t)
    compare(lambda xp: xp.isnat(dates[3]), t)
    compare(lambda xp: xp.isnat(dates, out=xp.zeros(6, bool)), t)
    compare(lambda xp: xp.isnat(xp.arange(3.0)), t)
