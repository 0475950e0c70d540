"""One suite, the device a parameter: NUMBUS_DEVICE picks it, NumPy is the oracle.

NUMBUS_TEST_MODULE=numpy runs the suite on NumPy itself, to debug the tests without Numbus.
"""

import collections
import importlib
import os
import sys
import zlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "python"))
sys.path.insert(0, str(ROOT / "tests" / "fuzz"))
PACKAGE = Path(os.environ.get("NUMBUS_TEST_PACKAGE", ROOT / "python"))
if any((PACKAGE / "numbus").glob("_core*.so")):
    sys.path.insert(0, str(PACKAGE))
sys.path.insert(0, str(ROOT / "bench" / "src"))

MODULE = os.environ.get("NUMBUS_TEST_MODULE", "numbus")
# The verifier of the kernel IR runs after every pass.
os.environ.setdefault("NUMBUS_VERIFY", "1")
DEVICE = os.environ.setdefault("NUMBUS_DEVICE", "cpu")
# "fenced:64": devices are chosen by cost, and arrays of 64 bytes and more are made on a device
# whose memory code of the host cannot touch, so that most operations meet arrays of both.
PLACEMENT = os.environ.get("NUMBUS_TEST_PLACEMENT", "")
# On a device with memory of its own an array, however small, goes to the host at each request.
SPILLED = bool(os.environ.get("NUMBUS_TEST_SPILLED"))
# On such a device wrong indices are found out when somebody waits for results, as on a GPU.
LATE = bool(os.environ.get("NUMBUS_TEST_LATE"))


def pytest_configure(config):
    config.addinivalue_line("markers", "numbus: needs Numbus itself (not NumPy in its place)")
    config.addinivalue_line("markers", "gpu: needs a GPU")
    config.addinivalue_line("markers", "cpu: tests what only the CPU device does")
    config.addinivalue_line("markers", "long: cases of many seconds, of which shares run a sixth")
    config.addinivalue_line("markers", "recorded: small work is recorded, too, as large work is")


def pytest_collection_modifyitems(config, items):
    """Leaves out most cases of functions with many of them where NUMBUS_TEST_SHARE="K/N" says so:
    those stay whose number, by their name, is K modulo N; of functions with fewer, modulo N / 4
    or N / 16, and of those whose cases are long, modulo 6.
    """
    share = os.environ.get("NUMBUS_TEST_SHARE", "")
    if not share:
        return
    part, parts = (int(x) for x in share.split("/"))
    tiers = ((150, parts), (40, parts // 4), (12, parts // 16))
    functions = collections.Counter((item.path, item.originalname) for item in items)

    def stays(item):
        cases = functions[item.path, item.originalname]
        of = max(next((n for least, n in tiers if cases > least), 1), 1)
        if of == 1 and item.get_closest_marker("long"):
            of = min(parts, 6)
        return zlib.crc32(item.nodeid.encode()) // 3 % of == part % of

    kept = [stays(item) for item in items]
    config.hook.pytest_deselected(items=[i for i, k in zip(items, kept) if not k])
    items[:] = [i for i, k in zip(items, kept) if k]


def pytest_runtest_setup(item):
    if item.get_closest_marker("numbus") and MODULE != "numbus":
        pytest.skip("tests Numbus itself; the module under test is NumPy")
    if item.get_closest_marker("gpu"):
        if not DEVICE.startswith("cuda"):
            pytest.skip(f"needs a GPU; NUMBUS_DEVICE is {DEVICE}")
        if not importlib.import_module("numbus").cuda.is_available():
            pytest.skip("needs a GPU; none is usable here")
    if item.get_closest_marker("cpu") and DEVICE != "cpu":
        pytest.skip(f"about the CPU's memory; NUMBUS_DEVICE is {DEVICE}")
    if MODULE == "numbus":
        # Arrays of tests are small: two of three tests record their work, which users' small arrays
        # are spared (array/at_once.h), by their names; one of these plans nothing (lazy/direct.h).
        recorded = item.get_closest_marker("recorded") is not None
        way = 0 if recorded else zlib.crc32(item.nodeid.encode()) % 3
        core = importlib.import_module("numbus._core")
        core.set_at_once(1024 if way == 1 else 0)
        core.set_without_plan(way)
        if SPILLED:
            core.set_spilling(1, True)
        core.set_late_checks(LATE)
        if LATE:  # launches wait for each other where nobody looks at what each has computed
            importlib.import_module("numbus").seterr(all="ignore")
        if PLACEMENT:
            core.set_placement(PLACEMENT.partition(":")[0], int(PLACEMENT.partition(":")[2]))
        # Where CuPy's names have been imported, or the namespace of the array API standard was
        # asked for, numbers stay generics; that is for their own tests.
        importlib.import_module("numbus.core.array_type").follow_standard(False)
        core.keep_generics("cupy" in item.path.name)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """A test leaves the default device and the placement as it found them."""
    result = yield
    if MODULE == "numbus":
        core = importlib.import_module("numbus._core")
        left = core.placing() and not PLACEMENT and DEVICE != "auto"
        if left:
            core.set_placement("", 0)
            core.set_device(DEVICE)
        assert not left, "the test leaves devices chosen by cost; expected the fixture by_cost"
    return result


@pytest.fixture
def by_cost(core):
    """Has the test choose devices by cost: arrays of `few` bytes are made on the fenced device."""
    yield lambda few: core.set_placement("fenced", few)
    core.set_placement("", 0)
    core.set_device(DEVICE)


@pytest.fixture(scope="session")
def xp():
    return importlib.import_module(MODULE)


@pytest.fixture
def core():
    if MODULE != "numbus":
        pytest.skip("needs numbus._core; the module under test is NumPy")
    return importlib.import_module("numbus._core")


@pytest.fixture(params=["interp", "compiled"])
def mode(request):
    """Runs the test in both back ends."""
    if MODULE != "numbus":
        if request.param != "interp":
            pytest.skip("NumPy has one mode")
        yield request.param
        return
    if request.param == "interp" and DEVICE.startswith("cuda"):
        pytest.skip("the interpreter works on the CPU")
    core = importlib.import_module("numbus._core")
    core.set_mode(request.param)
    yield request.param
    core.set_mode("auto")
