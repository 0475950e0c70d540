"""Writes what TensorFlow gives for the calls in tf_calls.py to tf_calls.txt.

By hand, with a Python that has TensorFlow: `python tests/tensorflow_values/record.py`.
With `--new` only those that are new are evaluated.
"""

import os
import sys
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""
FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(FOLDER))
import recorded  # noqa: E402
import tensorflow as tf  # noqa: E402
import tf_calls  # noqa: E402

warnings.simplefilter("ignore")
NAMES = {}
exec(tf_calls.SETUP, NAMES)
recorded.written(
    os.path.join(FOLDER, "tf_calls.txt"),
    f"TensorFlow {tf.__version__}, Keras {tf.keras.__version__}",
    [("", lambda: NAMES, tf_calls.CALLS)],
)
