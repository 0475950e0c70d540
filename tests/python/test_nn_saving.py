"""Tensors in files: PyTorch's archives, one of which it wrote itself, and safetensors."""

import collections
import io
import json
import os
import pickle
import random
import zipfile

import numpy as np
import pytest
from nn_check import close

nb = pytest.importorskip("numbus")
from inputs import FOLDER  # noqa: E402
from inputs import load as recorded  # noqa: E402
from numbus import nn, optim  # noqa: E402
from numbus import tensors as T  # noqa: E402
from numbus.nn import serialization as saving  # noqa: E402
from numbus.nn.serialization import safetensors  # noqa: E402

pytestmark = pytest.mark.numbus
KINDS = "bool uint8 int8 int16 int32 int64 float16 float32 float64".split()


def drawn(kind, shape):
    r = np.random.default_rng(3)
    return T.tensor((r.normal(size=shape) * 5).astype(kind))


def same(a, b):
    assert a.dtype == b.dtype and tuple(a.shape) == tuple(b.shape)
    assert np.asarray(a.detach()._array).tobytes() == np.asarray(b.detach()._array).tobytes()


def test_an_archive_of_pytorchs():
    found = saving.load(FOLDER / "archive.pt")
    expected = recorded("archive.npz")
    assert list(found["net"]) == list(expected)
    for key, a in expected.items():
        close(found["net"][key], a, 0, key)
    assert found["epoch"] == 3 and found["number"] == 2.5 and found["none"] is None
    assert found["list"] == [1, (2.5, "text")] and found["dtype"] == T.float16
    assert tuple(found["size"]) == (3, 4) and isinstance(found["size"], T.Size)
    assert found["view"].tolist() == np.arange(12.0).reshape(3, 4).T[1:].tolist()
    assert isinstance(found["parameter"], nn.Parameter) and not found["whole"].requires_grad
    assert found["half"].dtype == T.float16 and tuple(found["empty"].shape) == (0, 2)
    assert complex(found["complex"].item()) == 1 + 2j
    found["whole"][0, 1] = 50.0  # the view shares its memory
    assert found["view"][0, 0].item() == 50.0 and found["parameter"][0, 1].item() == 1.0
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    net.load_state_dict(found["net"])
    optimizer = optim.SGD(net.parameters(), lr=0.5)
    optimizer.load_state_dict(found["optimizer"])
    assert optimizer.param_groups[0]["momentum"] == 0.9
    assert tuple(optimizer.state[net[0].weight]["momentum_buffer"].shape) == (4, 3)


def test_what_is_saved_is_loaded(tmp_path):
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    optimizer = optim.Adam(net.parameters(), amsgrad=True)
    net(T.randn(5, 3)).sum().backward()
    optimizer.step()
    given = {
        "net": net.state_dict(), "optimizer": optimizer.state_dict(), "loss": 0.25, "text": "ö\n",
        "large": 1 << 70, "all": [None, True, (1, 2), {"x": {3}}, b"bytes", 2j], "f": T.float64,
        "shape": net[0].weight.shape, "where": net[0].weight.device, "number": T.tensor(2.5),
        "parameter": nn.Parameter(T.ones(2)), "turned": T.arange(6).reshape(2, 3).T,
        "order": collections.OrderedDict(b=1, a=2),
        **{kind: drawn(kind, (2, 3)) for kind in KINDS},
    }  # fmt: skip
    for target in (tmp_path / "x.pt", io.BytesIO()):
        saving.save(given, target)
        found = saving.load(target)
        assert list(found) == list(given)
        for key in ("loss", "text", "large", "all", "f", "shape", "where", "order"):
            assert found[key] == given[key] and type(found[key]) is type(given[key])
        for key in ("number", "turned", "parameter", *KINDS):
            same(found[key], given[key])
        assert found["parameter"].requires_grad
        for key, t in given["net"].items():
            same(found["net"][key], t)
        other = optim.Adam(net.parameters(), amsgrad=True)
        other.load_state_dict(found["optimizer"])
        assert other.state_dict()["state"][1]["step"] == 1


def test_archives_are_not_executed(tmp_path):
    ran = tmp_path / "ran"

    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(ran),)

    evil = pickle.dumps({"x": Evil()}, 2)
    for text in (
        evil, pickle.dumps(collections.deque("aab"), 2), pickle.dumps(np.ones(2), 2),
        pickle.dumps(print, 4), b"cbuiltins\neval\n(S'1+1'\ntR.", b"ctorch\nload\n.",
        b"ccollections\nOrderedDict\n(tR}X\x01\x00\x00\x00xcposix\nsystem\nsb.",
    ):  # fmt: skip
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("x/data.pkl", text)
        for weights_only in (True, False):
            with pytest.raises(pickle.UnpicklingError, match="nothing in a file is executed"):
                saving.load(file, weights_only=weights_only)
    assert not ran.exists()
    for bad in (b"", b"no archive", evil):
        with pytest.raises(ValueError, match="file is no zip archive"):
            saving.load(io.BytesIO(bad))
    with pytest.raises(pickle.PicklingError, match=r"\[save\] what a file cannot hold; got Linear"):
        saving.save(nn.Linear(1, 1), io.BytesIO())
    with pytest.raises(NotImplementedError, match="map_location"):
        saving.load(FOLDER / "archive.pt", map_location=lambda s, l: s)


def test_damaged_archives():
    """Bytes changed at random raise, or give tensors within their elements; nothing crashes."""
    raw = (FOLDER / "archive.pt").read_bytes()
    with zipfile.ZipFile(FOLDER / "archive.pt") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = next(n for n in parts if n.endswith("data.pkl"))
    r, kinds = random.Random(4), set()
    for _ in range(400):
        text = bytearray(parts[name])
        for _ in range(r.randint(1, 3)):
            text[r.randrange(len(text))] = r.randrange(256)
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for other, data in parts.items():
                archive.writestr(other, bytes(text) if other == name else data)
        try:
            found = saving.load(file)
            for t in found["net"].values() if isinstance(found, dict) and "net" in found else ():
                t.sum().item() if isinstance(t, T.Tensor) else None
        except Exception as error:
            kinds.add(type(error).__name__)
    assert "UnpicklingError" in kinds and "SystemError" not in kinds
    with pytest.raises((ValueError, zipfile.BadZipFile)):
        saving.load(io.BytesIO(raw[: len(raw) // 2]))


def test_safetensors(tmp_path):
    given = {kind: drawn(kind, (3, 5)) for kind in KINDS}
    given |= {"number": T.tensor(1.5), "empty": T.zeros(0, 3), "ö": T.arange(6).reshape(2, 3).T}
    safetensors.save_file(given, tmp_path / "x.safetensors", {"key": "value"})
    found = safetensors.load_file(tmp_path / "x.safetensors")
    assert set(found) == set(given)
    for key, t in given.items():
        same(found[key], t)
    assert safetensors.load_metadata(tmp_path / "x.safetensors") == {"key": "value"}
    again = safetensors.load(safetensors.save(given))
    for key, t in given.items():
        same(again[key], t)
    with pytest.raises(TypeError, match="'x' is no tensor"):
        safetensors.save({"x": 3})
    with pytest.raises(TypeError, match="metadata"):
        safetensors.save(given, {"x": 3})


def test_the_format_itself():
    """A file written by hand, by the format's description."""
    header = b'{"a":{"dtype":"I16","shape":[2],"data_offsets":[0,4]},"__metadata__":{"x":"y"}}  '
    raw = len(header).to_bytes(8, "little") + header + b"\x01\x00\xff\xff"
    found = safetensors.load(raw)
    assert found["a"].tolist() == [1, -1] and found["a"].dtype == T.int16
    made = safetensors.save({"a": found["a"]}, {"x": "y"})
    n = int.from_bytes(made[:8], "little")
    assert n % 8 == 0 and made[8 + n :] == raw[-4:]
    assert json.loads(made[8 : 8 + n]) == json.loads(header)


def entry(dtype="F32", shape=(2,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


@pytest.mark.parametrize(
    "header, elements, text",
    [
        ({"a": entry()}, 4, "offsets of 'a'"),
        ({"a": entry()}, 12, "elements that no name has"),
        ({"a": entry(offsets=(4, 12))}, 12, "offsets of 'a'"),
        ({"a": entry(), "b": entry(offsets=(4, 12))}, 12, "offsets of 'b'"),
        ({"a": entry(shape=(3,))}, 8, "offsets of 'a'"),
        ({"a": entry(shape=(-2,))}, 8, "shape of 'a'"),
        ({"a": entry(dtype="F128")}, 8, "dtype of 'a'"),
        ({"a": entry(offsets=(0,))}, 8, "data_offsets of 'a'"),
        ({"a": 3}, 8, "data_offsets of 'a'"),
        ([1], 0, "header is no object"),
        (b"{", 0, "header is no JSON"),
        (b'{"a":{},"a":{}}', 0, "a name stands twice"),
    ],
)
def test_wrong_safetensors(header, elements, text):
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    raw = len(raw).to_bytes(8, "little") + raw + bytes(elements)
    with pytest.raises(ValueError, match=f"not in the safetensors format: {text}"):
        safetensors.load(raw)
    for short in (b"", b"123", (1 << 40).to_bytes(8, "little") + b"{}"):
        with pytest.raises(ValueError, match=r"too short|longer than the file"):
            safetensors.load(short)
