"""Runs the calls of tensor_calls.py with PyTorch and writes what it finds beside this file.

python tests/pytorch/record_tensors.py     with a Python that has PyTorch (2.11 was used)
"""

import gzip
import json
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import tensor_calls

found = [[*case, tensor_calls.run(torch, *case)] for case in tensor_calls.cases()]
text = json.dumps({"torch": torch.__version__.split("+")[0], "calls": found})
path = pathlib.Path(__file__).with_name("tensor_calls.json.gz")
path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
print(f"{len(found)} calls, {path.stat().st_size} bytes")
