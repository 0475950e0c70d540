"""numbus.data: datasets, samplers, batches, loaders with workers of all kinds, and readers."""

import collections
import gzip
import os
import pickle
import random
import tarfile
import threading
import time

import numpy as np
import pytest

nb = pytest.importorskip("numbus")
from numbus import tensors as T  # noqa: E402
from numbus.data import (  # noqa: E402
    BatchSampler,
    ChainDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    StackDataset,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    default_collate,
    default_convert,
    get_worker_info,
    random_split,
)
from numbus.data.readers import CIFAR10, CIFAR100, MNIST, ImageFolder, read_idx  # noqa: E402

pytestmark = pytest.mark.numbus
KINDS = ["thread", "fork"]


class Squares(Dataset):
    """(k, k²), and what the worker is."""

    def __init__(self, n, bad=None, slow=None):
        self.n, self.bad, self.slow = n, bad, slow

    def __len__(self):
        return self.n

    def __getitem__(self, k):
        if k == self.bad:
            raise KeyError(f"no example {k}")
        if k == self.slow:
            time.sleep(0.3)
        info = get_worker_info()
        return T.tensor([float(k), float(k * k)]), k, -1 if info is None else info.id


class Count(IterableDataset):
    """Numbers, shared among the workers."""

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(first, self.n, step))


class Large(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, k):
        return T.full((300, 200), float(k)), np.full((4,), k, "int16"), "text"


class Dying(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, k):
        if k == 5:
            os._exit(7)
        return k


class Drawing(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, k):
        return random.random(), float(np.random.random()), T.rand(1)


def hailed(number):
    get_worker_info().dataset.n += 2


def refuses(number):
    raise OSError(f"worker {number} cannot begin")


def test_datasets():
    a = TensorDataset(T.arange(5), T.arange(10).reshape(5, 2))
    assert len(a) == 5 and [t.tolist() for t in a[3]] == [3, [6, 7]]
    both = ConcatDataset([range(3), range(10, 14)])
    assert [both[k] for k in range(7)] == [0, 1, 2, 10, 11, 12, 13] and both[-1] == 13
    assert list(ChainDataset([Count(2), Count(3)])) == [0, 1, 0, 1, 2]
    assert StackDataset(range(3), "abc")[1] == (1, "b")
    assert StackDataset(x=range(3), y="abc")[2] == {"x": 2, "y": "c"}
    part = Subset(Squares(9), [4, 2])
    assert (
        len(part) == 2 and part[1][1] == 2 and [x[1] for x in part.__getitems__([1, 0])] == [2, 4]
    )
    with pytest.raises(AssertionError, match="size mismatch between tensors"):
        TensorDataset(T.ones(2), T.ones(3))
    with pytest.raises(IndexError, match="no example of that number"):
        both[7]
    with pytest.raises(NotImplementedError, match="no __getitem__"):
        Dataset()[0]


def test_random_split():
    T.manual_seed(0)
    a, b = random_split(range(10), [7, 3])
    assert sorted([*a, *b]) == list(range(10)) and len(a) == 7
    parts = random_split(range(11), [0.5, 0.3, 0.2])
    assert [len(p) for p in parts] == [6, 3, 2]
    T.manual_seed(0)
    assert list(random_split(range(10), [7, 3])[0]) == list(a)
    with pytest.raises(ValueError, match="does not equal the length"):
        random_split(range(10), [7, 4])


def test_samplers():
    T.manual_seed(1)
    assert list(SequentialSampler("abc")) == [0, 1, 2]
    order = list(RandomSampler(range(50)))
    assert sorted(order) == list(range(50)) and order != sorted(order)
    assert len(list(RandomSampler(range(5), num_samples=12))) == 12
    many = list(RandomSampler(range(5), replacement=True, num_samples=200))
    assert len(many) == 200 and set(many) == set(range(5))
    assert sorted(SubsetRandomSampler([5, 7, 9])) == [5, 7, 9]
    chosen = list(WeightedRandomSampler([0.0, 1.0, 0.0, 3.0], 400))
    assert set(chosen) == {1, 3} and 0.65 < chosen.count(3) / 400 < 0.85
    assert list(BatchSampler(range(5), 2, False)) == [[0, 1], [2, 3], [4]]
    assert list(BatchSampler(range(5), 2, True)) == [[0, 1], [2, 3]]
    for bad in (0, 1.5, True):
        with pytest.raises(ValueError, match="batch_size should be a positive integer"):
            BatchSampler(range(5), bad, False)


def test_distributed_sampler():
    parts = [list(DistributedSampler(range(10), 3, rank, shuffle=False)) for rank in range(3)]
    assert parts == [[0, 3, 6, 9], [1, 4, 7, 0], [2, 5, 8, 1]]
    parts = [list(DistributedSampler(range(10), 3, r, False, drop_last=True)) for r in range(3)]
    assert parts == [[0, 3, 6], [1, 4, 7], [2, 5, 8]]
    one, two = (DistributedSampler(range(20), 2, rank, seed=3) for rank in range(2))
    first = [*one, *two]
    assert sorted(first) == list(range(20))
    one.set_epoch(1), two.set_epoch(1)
    assert [*one, *two] != first and sorted([*one, *two]) == list(range(20))
    one.set_epoch(0)
    assert list(one) == first[:10]
    with pytest.raises(ValueError, match="invalid rank"):
        DistributedSampler(range(3), 2, 2)


def test_collate():
    Pair = collections.namedtuple("Pair", "x y")
    found = default_collate([{"a": T.ones(2), "b": (1, 2.0)}, {"a": T.zeros(2), "b": (3, 4.0)}])
    assert found["a"].tolist() == [[1, 1], [0, 0]]
    assert found["b"][0].dtype == T.int64 and found["b"][1].dtype == T.float64
    assert found["b"][1].tolist() == [2, 4]
    pair = default_collate([Pair(np.ones(2, "float32"), "t"), Pair(np.zeros(2, "float32"), "u")])
    assert pair.x.dtype == T.float32 and pair.y == ("t", "u")
    assert default_collate([True, False]).dtype == T.bool
    assert default_collate([np.float32(1), np.float32(2)]).dtype == T.float32
    assert default_collate([nb.ones(2), nb.zeros(2)]).tolist() == [[1, 1], [0, 0]]
    with pytest.raises(RuntimeError, match="should be of equal size"):
        default_collate([(1, 2), (1,)])
    with pytest.raises(TypeError, match="batch must contain tensors"):
        default_collate([object()])
    assert default_convert({"a": np.ones(2), "b": ["x", 3]})["a"].dtype == T.float64


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_loaders_keep_the_order(kind):
    more = {"num_workers": 3, "multiprocessing_context": kind} if kind else {}
    loader = DataLoader(Squares(11, slow=1), 2, **more)
    assert len(loader) == 6
    for _ in range(2):
        found = list(loader)
        assert [b[1].tolist() for b in found] == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10]]
        assert found[2][0].tolist() == [[4, 16], [5, 25]]
        workers = [b[2][0].item() for b in found]
        assert workers == ([0, 1, 2, 0, 1, 2] if kind else [-1] * 6)
    assert len(list(DataLoader(Squares(11), 2, drop_last=True, **more))) == 5
    one = list(DataLoader(Squares(3), None, **more))
    assert [x[1] for x in one] == [0, 1, 2]
    chosen = DataLoader(Squares(9), batch_sampler=[[3, 1], [8]], **more)
    assert [b[1].tolist() for b in chosen] == [[3, 1], [8]] and len(chosen) == 2
    listed = list(DataLoader(Squares(3), 2, collate_fn=len, **more))
    assert listed == [2, 1]


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_iterable_datasets(kind):
    more = {"num_workers": 2, "multiprocessing_context": kind} if kind else {}
    for _ in range(2):
        found = [b.tolist() for b in DataLoader(Count(7), 2, **more)]
        assert found == ([[0, 2], [1, 3], [4, 6], [5]] if kind else [[0, 1], [2, 3], [4, 5], [6]])
    found = [b.tolist() for b in DataLoader(Count(7), 2, drop_last=True, **more)]
    assert found == ([[0, 2], [1, 3], [4, 6]] if kind else [[0, 1], [2, 3], [4, 5]])
    assert sorted(DataLoader(Count(5), None, **more)) == [0, 1, 2, 3, 4]
    with pytest.raises(TypeError):
        len(DataLoader(Count(5)))


@pytest.mark.parametrize("kind", KINDS)
def test_errors_of_workers(kind):
    loader = DataLoader(Squares(8, bad=5), 2, num_workers=2, multiprocessing_context=kind)
    batches = iter(loader)
    assert [next(batches)[1].tolist() for _ in range(2)] == [[0, 1], [2, 3]]
    with pytest.raises(KeyError) as error:
        next(batches)
    text = str(error.value)
    where = "thread" if kind == "thread" else "process"
    assert f"Caught KeyError in DataLoader worker {where} 0." in text
    assert 'raise KeyError(f"no example {k}")' in text and "no example 5" in text
    assert next(batches)[1].tolist() == [6, 7]
    loader = DataLoader(
        Squares(4), num_workers=1, multiprocessing_context=kind, worker_init_fn=refuses
    )
    with pytest.raises(OSError, match="worker 0 cannot begin"):
        next(iter(loader))


def test_processes_that_end():
    loader = DataLoader(Dying(), 2, num_workers=2)
    with pytest.raises(RuntimeError, match="exited unexpectedly; got exit code 7"):
        list(loader)


@pytest.mark.parametrize("kind", KINDS)
def test_large_batches_and_what_stays_of_them(kind):
    loader = DataLoader(Large(), 2, num_workers=2, multiprocessing_context=kind)
    found = list(loader)
    for k, (x, y, text) in enumerate(found):
        assert x[:, 5, 7].tolist() == [2 * k, 2 * k + 1] == y[:, 3].tolist()
        assert y.dtype == T.int16 and text == ("text", "text")
        x += 1  # it is the receiver's own
        assert (x.mean(dim=(1, 2)) - 1).tolist() == [2 * k, 2 * k + 1]


def test_random_numbers_of_processes_repeat():
    def run(seed):
        mixed = T.random.Generator().manual_seed(seed) if hasattr(T, "random") else None
        loader = DataLoader(Drawing(), 2, num_workers=2, generator=mixed)
        return [[x.reshape(-1).tolist() for x in b] for b in loader]

    one = run(3)
    assert one == run(3) != run(4)
    flat = [x for b in one for part in b for x in part]
    assert len(set(flat)) == len(flat)  # workers draw different numbers


def test_spawned_workers():
    """Which take a second each to begin: all in one."""
    loader = DataLoader(
        Squares(9, bad=5), 2, num_workers=2, multiprocessing_context="spawn",
        persistent_workers=True,
    )  # fmt: skip
    for _ in range(2):
        batches = iter(loader)
        assert [next(batches)[1].tolist() for _ in range(2)] == [[0, 1], [2, 3]]
        with pytest.raises(KeyError, match="Caught KeyError in DataLoader worker process 0"):
            next(batches)
        assert [b[1].tolist() for b in batches] == [[6, 7], [8]]
    loader._kept._stop()


@pytest.mark.parametrize("kind", KINDS)
def test_persistent_workers(kind):
    loader = DataLoader(
        Squares(6), 2, num_workers=2, multiprocessing_context=kind, persistent_workers=True,
        prefetch_factor=3, worker_init_fn=hailed,
    )  # fmt: skip
    first = iter(loader)
    workers = first._workers
    assert next(first)[1].tolist() == [0, 1]
    for _ in range(3):  # the first epoch is left before its end
        assert [b[1].tolist() for b in loader] == [[0, 1], [2, 3], [4, 5]]
    assert iter(loader)._workers == workers
    loader._kept._stop()


def test_workers_end_with_the_loop():
    before = threading.active_count()
    next(iter(DataLoader(Squares(100), 2, num_workers=3, multiprocessing_context="thread")))
    for _ in range(100):
        if threading.active_count() == before:
            break
        time.sleep(0.02)
    assert threading.active_count() == before
    iterator = iter(DataLoader(Squares(100), 2, num_workers=2))
    next(iterator)
    processes = [w._process for w in iterator._workers]
    del iterator
    assert all(p.exitcode is not None for p in processes)


def test_timeout_pinning_and_shuffling():
    slow = DataLoader(Squares(4, slow=2), 2, num_workers=1, timeout=0.1, pin_memory=True)
    with pytest.raises(RuntimeError, match=r"a batch has not come in time"):
        list(slow)
    T.manual_seed(5)
    loader = DataLoader(TensorDataset(T.arange(40)), 8, shuffle=True, pin_memory=True)
    first, second = ([x.tolist() for (x,) in loader] for _ in range(2))
    assert sorted(np.concatenate(first)) == list(range(40)) and first != second
    T.manual_seed(5)
    assert [x.tolist() for (x,) in loader] == first


@pytest.mark.parametrize(
    "words, text",
    [
        ({"shuffle": True, "sampler": [0]}, "mutually exclusive with shuffle"),
        ({"batch_sampler": [[0]], "batch_size": 2}, "batch_sampler is mutually exclusive"),
        ({"batch_size": None, "drop_last": True}, "drop_last without batches"),
        ({"num_workers": -1}, "num_workers is negative"),
        ({"timeout": -1}, "timeout is negative"),
        ({"prefetch_factor": 2}, "prefetch_factor needs workers"),
        ({"persistent_workers": True}, "persistent_workers needs workers"),
        ({"num_workers": 1, "prefetch_factor": 0}, "prefetch_factor; got 0"),
        ({"batch_size": 0}, "positive integer"),
    ],
)
def test_arguments_that_exclude_each_other(words, text):
    with pytest.raises(ValueError, match=text):
        DataLoader(range(4), **words)
    with pytest.raises(ValueError, match="has an order of its own"):
        DataLoader(Count(3), shuffle=True)
    with pytest.raises(ValueError, match="multiprocessing_context"):
        iter(DataLoader(range(4), num_workers=1, multiprocessing_context="x"))


# Readers.


def idx(a):
    kinds = {"uint8": 8, "int8": 9, "int16": 11, "int32": 12, "float32": 13, "float64": 14}
    head = bytes([0, 0, kinds[a.dtype.name], a.ndim])
    head += b"".join(n.to_bytes(4, "big") for n in a.shape)
    return head + a.astype(a.dtype.newbyteorder(">")).tobytes()


@pytest.mark.parametrize("kind", "uint8 int8 int16 int32 float32 float64".split())
def test_read_idx(kind, tmp_path):
    a = np.arange(24).reshape(2, 3, 4).astype(kind)
    (tmp_path / "x").write_bytes(idx(a))
    (tmp_path / "x.gz").write_bytes(gzip.compress(idx(a)))
    for name in ("x", "x.gz"):
        found = read_idx(tmp_path / name)
        assert found.dtype == a.dtype and (found == a).all()
    for bad, text in (
        (idx(a)[:-1], "another length"), (idx(a) + b"x", "another length"),
        (b"\1" + idx(a)[1:], "not in the idx format"), (b"", "not in the idx format"),
        (idx(a)[:7], "another length"),
    ):  # fmt: skip
        (tmp_path / "y").write_bytes(bad)
        with pytest.raises(ValueError, match=text):
            read_idx(tmp_path / "y")


def test_mnist(tmp_path):
    pytest.importorskip("PIL")
    r = np.random.default_rng(0)
    pictures = r.integers(0, 256, (5, 28, 28)).astype("uint8")
    classes = np.array([3, 1, 4, 1, 5], "uint8")
    with pytest.raises(RuntimeError) as error:
        MNIST(tmp_path, download=True)
    text = str(error.value)
    assert "nothing is downloaded" in text and "MNIST/raw" in text
    assert "train-images-idx3-ubyte" in text
    raw = tmp_path / "MNIST" / "raw"
    raw.mkdir(parents=True)
    (raw / "train-images-idx3-ubyte").write_bytes(idx(pictures))
    (raw / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(classes)))
    data = MNIST(tmp_path, download=True, transform=np.asarray, target_transform=lambda k: k * 10)
    assert len(data) == 5 and (data[2][0] == pictures[2]).all() and data[2][1] == 40
    assert data.data.tolist() == pictures.tolist() and data.targets.dtype == T.int64
    assert MNIST(tmp_path)[0][0].size == (28, 28) and data.class_to_idx["7 - seven"] == 7
    assert repr(MNIST(tmp_path)).startswith("Dataset MNIST\n    Number of datapoints: 5")
    x, y = next(iter(DataLoader(data, 5, num_workers=2)))
    assert x.tolist() == pictures.tolist() and y.tolist() == [30, 10, 40, 10, 50]


def cifar_files(folder, python):
    """The five files and the one for tests, three pictures each; their pictures and classes."""
    r, found = np.random.default_rng(1), []
    for name in [*(f"data_batch_{k}" for k in range(1, 6)), "test_batch"]:
        rows = r.integers(0, 256, (3, 3072)).astype("uint8")
        labels = r.integers(0, 10, 3).tolist()
        found.append((rows.reshape(3, 3, 32, 32).transpose(0, 2, 3, 1), labels))
        if python:
            text = pickle.dumps({b"data": rows, b"labels": labels, b"batch_label": b"x"}, 2)
            (folder / name).write_bytes(text)
        else:
            lines = [bytes([k]) + row.tobytes() for k, row in zip(labels, rows)]
            (folder / f"{name}.bin").write_bytes(b"".join(lines))
    return found


@pytest.mark.parametrize("form", ["python", "binary", "archive"])
def test_cifar(form, tmp_path):
    pytest.importorskip("PIL")
    names = "airplane automobile bird cat deer dog frog horse ship truck".split()
    python = form != "binary"
    folder = tmp_path / ("cifar-10-batches-py" if python else "cifar-10-batches-bin")
    folder.mkdir()
    found = cifar_files(folder, python)
    if python:
        (folder / "batches.meta").write_bytes(pickle.dumps({"label_names": names}, 2))
    else:
        (folder / "batches.meta.txt").write_text("\n".join(names) + "\n\n")
    if form == "archive":
        with tarfile.open(tmp_path / "cifar-10-python.tar.gz", "w:gz") as archive:
            archive.add(folder, folder.name)
        for file in folder.iterdir():
            file.unlink()
    train, test = CIFAR10(tmp_path), CIFAR10(tmp_path, train=False, transform=np.asarray)
    assert len(train) == 15 and train.classes == names and train.class_to_idx["cat"] == 3
    assert (train.data == np.concatenate([p for p, _ in found[:5]])).all()
    assert train.targets == [k for _, labels in found[:5] for k in labels]
    assert train[4][0].size == (32, 32) and (test[1][0] == found[5][0][1]).all()


def test_cifar_pickles_are_not_executed(tmp_path):
    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()

    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "ran"),)

    for made in ({"data": Evil()}, {"data": np.array([print], object), "labels": []}):
        for k in range(1, 6):
            (folder / f"data_batch_{k}").write_bytes(pickle.dumps(made, 2))
        with pytest.raises(pickle.UnpicklingError):
            CIFAR10(tmp_path)
    assert not (tmp_path / "ran").exists()
    with pytest.raises(RuntimeError, match="nothing is downloaded"):
        CIFAR10(tmp_path / "elsewhere", download=True)


def test_cifar_100(tmp_path):
    folder = tmp_path / "cifar-100-binary"
    folder.mkdir()
    rows = np.random.default_rng(2).integers(0, 256, (4, 3072)).astype("uint8")
    lines = [bytes([k, 10 * k]) + row.tobytes() for k, row in enumerate(rows)]
    (folder / "train.bin").write_bytes(b"".join(lines))
    data = CIFAR100(tmp_path)
    assert data.targets == [0, 10, 20, 30] and data.classes[3] == "3"
    (folder / "train.bin").write_bytes(b"".join(lines)[:-1])
    with pytest.raises(ValueError, match="another length"):
        CIFAR100(tmp_path)


def test_image_folder(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    for name, count in (("dogs", 2), ("cats", 3)):
        (tmp_path / name / "more").mkdir(parents=True)
        for k in range(count):
            path = tmp_path / name / ("more" if k else ".") / f"{k}.png"
            Image.fromarray(np.full((4, 6, 3), 10 * k + len(name), "uint8")).save(path)
        (tmp_path / name / "notes.txt").write_text("no picture")
    data = ImageFolder(tmp_path, transform=np.asarray)
    assert data.classes == ["cats", "dogs"] and data.targets == [0, 0, 0, 1, 1]
    assert data.class_to_idx == {"cats": 0, "dogs": 1} and len(data.imgs) == 5
    assert data[1][0].shape == (4, 6, 3) and data[1][0][0, 0, 0] == 14
    for kind in KINDS:
        loader = DataLoader(data, 5, num_workers=2, multiprocessing_context=kind)
        assert next(iter(loader))[1].tolist() == [0, 0, 0, 1, 1]
    (tmp_path / "birds").mkdir()
    with pytest.raises(FileNotFoundError, match="Found no valid file for the classes birds"):
        ImageFolder(tmp_path)
    assert len(ImageFolder(tmp_path, allow_empty=True)) == 5
    with pytest.raises(FileNotFoundError, match="any class folder"):
        ImageFolder(tmp_path / "nowhere")


def test_collating_mixed_kinds():
    import collections

    assert default_collate([1, 2.5]).tolist() == [1, 2.5]
    assert default_collate([True, 2]).tolist() == [1, 2]
    assert default_collate([1, T.tensor([3])]).tolist() == [1, 3]
    for batch in ([1, "a"], [T.tensor([1]), 1], [1, None]):
        with pytest.raises(TypeError):
            default_collate(batch)
    with pytest.raises(ValueError, match="64 bits"):
        default_collate([2**70, 1])
    numbers, words = default_collate([(1, "a"), (2, "b")])
    assert numbers.tolist() == [1, 2] and words == ("a", "b")
    made = default_collate([collections.defaultdict(int, a=k) for k in range(2)])
    assert type(made) is collections.defaultdict and made["a"].tolist() == [0, 1]


def test_rows_that_are_copied_at_once():
    """What a batch of a TensorDataset is made of, and what is asked for as usual instead."""
    from numbus import _core

    with nb.device("cpu"):
        x = np.random.default_rng(0).standard_normal((9, 2, 3))
        many = [x, x.astype("f2"), np.arange(9), x[:, 0] > 0, x[2:][:7], np.arange(9) * 1j]
        arrays = [nb.asarray(a) for a in many]
        for numbers in [3, 0, 3, 6], [6]:
            found = _core.rows(arrays, numbers)
            for a, got in zip(many, found, strict=True):
                assert got.dtype == a.dtype and np.array_equal(np.asarray(got), a[numbers])
        for numbers in [], [7], [-1], [2**70], [True], [1.0], [np.int64(1)]:
            assert _core.rows(arrays, numbers) is None
        pending = nb.asarray(x) + 1
        for other in pending, nb.asarray(x)[:, :1], nb.asarray(x.T), nb.asarray(2.0):
            assert _core.rows([arrays[0], other], [0]) is None
        assert np.asarray(pending)[0, 0, 0] == x[0, 0, 0] + 1
        seen = []
        nb.grad(lambda a: (seen.append(_core.rows([a], [0])), a.sum())[1])(nb.asarray(x))
        assert seen == [None]
        leaf = T.tensor(x, requires_grad=True)
        TensorDataset(leaf).batch([1, 1])[0].sum().backward()
        assert leaf.grad[:, 0, 0].tolist() == [0, 2] + 7 * [0]
        with pytest.raises(IndexError):
            TensorDataset(leaf.detach()).batch([9])[0].sum().item()
