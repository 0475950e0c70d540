"""Names by which packages reach into torch: files of its modules, types of data, older places."""

import math
import subprocess
import sys

import numpy as np
import pytest

nb = pytest.importorskip("numbus")
from numbus import data, nn  # noqa: E402
from numbus import tensors as T  # noqa: E402

pytestmark = pytest.mark.numbus

NAMES = """
from torch import torch as again
import torch.nn.modules.conv
from torch.fx import wrap
from torch.hub import HASH_REGEX, download_url_to_file, get_dir, urlparse
from torch.jit import Final
from torch.jit.annotations import List
from torch.nn.init import _calculate_correct_fan, _calculate_fan_in_and_fan_out
from torch.nn.modules.batchnorm import _BatchNorm, _NormBase
from torch.nn.modules.conv import _ConvNd, _ConvTransposeNd
from torch.nn.modules.loss import _Loss, _WeightedLoss
from torch.nn.modules.utils import _ntuple, _pair
from torch.nn.utils.fusion import fuse_conv_bn_weights
from torch.utils.dlpack import from_dlpack, to_dlpack
import torch
import torch.nn as nn

assert again is torch
assert isinstance(nn.BatchNorm2d(3), _BatchNorm)
assert not isinstance(nn.InstanceNorm2d(3), _BatchNorm)
assert isinstance(nn.InstanceNorm2d(3), _NormBase)
assert isinstance(nn.ConvTranspose2d(1, 1, 1), (_ConvNd, _ConvTransposeNd))
assert isinstance(torch.nn.modules.conv.Conv2d(1, 1, 1), _ConvNd)
assert issubclass(nn.NLLLoss, _WeightedLoss) and issubclass(nn.MSELoss, _Loss)
assert _pair(3) == (3, 3) and _ntuple(3)((1, 2)) == (1, 2)
assert wrap(len) is len
assert _calculate_fan_in_and_fan_out(torch.empty(4, 3, 2, 2)) == (12, 16)
assert _calculate_correct_fan(torch.empty(4, 3), "fan_out") == 4
try:
    download_url_to_file("http://nowhere", "here")
except RuntimeError as error:
    assert "nothing is downloaded" in str(error)
x = torch.arange(3.0)
y = from_dlpack(x)
y[0] = 5
assert x[0] == 5
print("all there")
"""


def test_names(tmp_path):
    (tmp_path / "program.py").write_text(NAMES)
    command = [sys.executable, "-m", "numbus", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "all there\n", done.stderr


def test_types_of_data():
    class Numbers(data.Dataset[int]):
        def __getitem__(self, index):
            return index

        def __len__(self):
            return 4

    class Back(data.Sampler[int]):
        def __iter__(self):
            return iter([3, 1])

    loader: data.DataLoader[int] = data.DataLoader(Numbers(), sampler=Back())
    assert [x.tolist() for x in loader] == [[3], [1]]


def test_normalisation_as_part_of_the_layer_before():
    T.manual_seed(0)
    x = T.randn(2, 3, 6, 6, dtype=T.float64)
    bn = nn.BatchNorm2d(4).double().eval()
    bn.running_mean.normal_()
    bn.running_var.uniform_(0.5, 2.0)
    for layer, transpose in ((nn.Conv2d(3, 4, 3), False), (nn.ConvTranspose2d(3, 4, 2), True)):
        layer = layer.double().eval()
        made = nn.utils.fuse_conv_bn_eval(layer, bn, transpose)
        assert T.allclose(made(x), bn(layer(x)))
    line, norm = nn.Linear(5, 4, bias=False).double().eval(), nn.BatchNorm1d(4).double().eval()
    norm.running_mean.normal_()
    z = T.randn(3, 5, dtype=T.float64)
    assert T.allclose(nn.utils.fuse_linear_bn_eval(line, norm)(z), norm(line(z)))
    with pytest.raises(RuntimeError, match="trained"):
        nn.utils.fuse_conv_bn_eval(nn.Conv2d(3, 4, 3), bn)


def test_matrices_that_fail():
    lines = [[[2.0, 1], [1, 2]], [[1, 2], [2, 4]], [[1, 2], [2, 1]]]
    a = T.tensor(lines, dtype=T.float64, requires_grad=True)
    inverse, info = T.linalg.inv_ex(a)
    assert info.tolist() == [0, 2, 0]
    assert T.allclose(inverse[::2], T.linalg.inv(a[::2]))
    assert T.linalg.solve_ex(a, a[:, :, 0]).info.tolist() == [0, 2, 0]
    found = T.linalg.solve_ex(a, a[:, :, :1]).result
    assert found[0, :, 0].tolist() == pytest.approx([1, 0])
    assert bool(found[1].isnan().all())
    lower, info = T.linalg.cholesky_ex(a)
    assert info.tolist() == [0, 2, 2]
    assert bool(lower[1].isnan().all())
    (lower[0].sum() + inverse[0].sum()).backward()
    assert bool(a.grad[0].isfinite().all())
    assert T.linalg.cholesky_ex(a[0].detach()).info.item() == 0
    for function in (T.linalg.inv_ex, T.linalg.cholesky_ex):
        with pytest.raises(RuntimeError):
            function(a.detach(), check_errors=True)


def test_masks_of_all_elements():
    y = T.arange(12.0).reshape(3, 4).requires_grad_()
    x, m = T.zeros(3, 4), y > 4
    x[m] = y[m] ** 2
    (x * math.pi).sum().backward()
    assert y.grad.tolist() == (2 * math.pi * y * m).tolist()


def test_arrays_beside_tensors():
    t, a = T.tensor([1.0, 4.0, 9.0]), np.array([1.0, 2.0, 3.0])
    assert (t * a).tolist() == [1, 8, 27]
    assert (t * a).dtype is T.float64
    assert (t + a.astype("f4")).dtype is T.float32
    assert (t**a).tolist() == [1, 16, 729]
    assert (t == a).tolist() == [True, False, False]
    assert (a == t).tolist() == [True, False, False]
    assert (t - nb.array(a)).tolist() == [0, 2, 6]
    x = t.clone()
    x += a
    assert x.tolist() == [2, 6, 12]
    with pytest.raises(TypeError):
        a * t
    with pytest.raises(RuntimeError, match="requires a gradient"):
        t.requires_grad_() * a
