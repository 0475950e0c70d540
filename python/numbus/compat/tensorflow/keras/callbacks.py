"""keras.callbacks."""

import csv
import math
import os

import numpy

from ....core.errors import message
from ..._missing import EXPECTED as _EXPECTED
from ..._missing import missing as _missing

__name__ = "keras.callbacks"


class Callback:
    """Methods that `fit`, `evaluate` and `predict` call."""

    params = None

    def set_params(self, params):
        """Tells the numbers of epochs and steps."""
        self.params = params

    def set_model(self, model):
        """Tells the model."""
        self.model = model

    def on_train_begin(self, logs=None):
        """Before the first epoch."""

    def on_train_end(self, logs=None):
        """After the last epoch."""

    def on_epoch_begin(self, epoch, logs=None):
        """Before an epoch."""

    def on_epoch_end(self, epoch, logs=None):
        """After an epoch, with its values."""

    def on_batch_begin(self, batch, logs=None):
        """Before a batch of training."""

    def on_batch_end(self, batch, logs=None):
        """After a batch of training, with the means so far."""

    def on_train_batch_begin(self, batch, logs=None):
        """Before a batch."""
        self.on_batch_begin(batch, logs)

    def on_train_batch_end(self, batch, logs=None):
        """After a batch, with the means so far."""
        self.on_batch_end(batch, logs)


def _moment(name):
    place = "Before" if name.endswith("begin") else "After"
    of_batch = "_batch_" in name

    def of_a_batch(self, batch, logs=None):
        pass

    def of_all(self, logs=None):
        pass

    method = of_a_batch if of_batch else of_all
    method.__name__ = name
    method.__doc__ = f"{place} {'a batch of ' if of_batch else ''}{name.split('_')[1]}."
    return method


for _kind in ("test", "predict"):
    for _when in ("begin", "end", "batch_begin", "batch_end"):
        setattr(Callback, f"on_{_kind}_{_when}", _moment(f"on_{_kind}_{_when}"))


class History(Callback):
    """The values of each epoch: `history`, a dict of lists, and `epoch`."""

    def __init__(self):
        self.history, self.epoch = {}, []

    def on_epoch_end(self, epoch, logs=None):
        """Notes the values."""
        self.epoch.append(epoch)
        for key, value in (logs or {}).items():
            self.history.setdefault(key, []).append(value)


class LambdaCallback(Callback):
    """Functions in the place of methods."""

    def __init__(self, on_epoch_begin=None, on_epoch_end=None, on_train_begin=None,
                 on_train_end=None, on_train_batch_begin=None, on_train_batch_end=None,
                 **others):  # fmt: skip
        given = {"on_epoch_begin": on_epoch_begin, "on_epoch_end": on_epoch_end,
                 "on_train_begin": on_train_begin, "on_train_end": on_train_end,
                 "on_train_batch_begin": on_train_batch_begin,
                 "on_train_batch_end": on_train_batch_end, **others}  # fmt: skip
        for name, function in given.items():
            if function is not None:
                setattr(self, name, function)


class EarlyStopping(Callback):
    """Ends the training when a value has not become better by `min_delta` for `patience` epochs."""

    def __init__(self, monitor="val_loss", min_delta=0, patience=0, verbose=0, mode="auto",
                 baseline=None, restore_best_weights=False, start_from_epoch=0):  # fmt: skip
        if mode not in ("auto", "min", "max"):
            raise ValueError(message("EarlyStopping", "unknown mode", mode, "'auto', 'min', 'max'"))
        self.monitor, self.patience, self.verbose = monitor, patience, verbose
        self._sign = -1 if _is_rising(mode, monitor) else 1
        self.min_delta, self.baseline = abs(min_delta), baseline
        self.restore_best_weights, self.start_from_epoch = restore_best_weights, start_from_epoch

    def on_train_begin(self, _logs=None):
        """Begins anew."""
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best = math.inf if self.baseline is None else self.baseline * self._sign
        self.best_weights = None

    def on_epoch_end(self, epoch, logs=None):
        """Looks at the value. Raises ValueError where it is not among those of the epoch."""
        if self.monitor not in (logs or {}):
            raise ValueError(
                message("EarlyStopping", "no such value", self.monitor, ", ".join(logs or {}))
            )
        if epoch < self.start_from_epoch:
            return
        now = logs[self.monitor] * self._sign
        if self.restore_best_weights and self.best_weights is None:
            self.best_weights, self.best_epoch = self.model.get_weights(), epoch
        self.wait += 1
        if now < self.best - self.min_delta:
            self.best, self.best_epoch, self.wait = now, epoch, 0
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
        elif self.wait >= self.patience and epoch > 0:
            self.stopped_epoch = epoch
            self.model.stop_training = True
            if self.verbose:
                print(f"Epoch {epoch + 1}: early stopping")

    def on_train_end(self, _logs=None):
        """Brings the best weights back, if asked for."""
        if self.restore_best_weights and self.best_weights is not None:
            self.model.set_weights(self.best_weights)


class LearningRateScheduler(Callback):
    """Sets the learning rate of each epoch by a function of its number and the present rate."""

    def __init__(self, schedule, verbose=0):
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch, _logs=None):
        """Sets the rate."""
        optimizer = self.model.optimizer
        rate = float(optimizer.learning_rate.numpy())
        try:
            rate = self.schedule(epoch, rate)
        except TypeError:  # a function of the epoch alone
            rate = self.schedule(epoch)
        optimizer.learning_rate = rate
        if self.verbose:
            print(f"\nEpoch {epoch + 1}: LearningRateScheduler setting learning rate to {rate}.")

    def on_epoch_end(self, _epoch, logs=None):
        """Adds the rate to the values."""
        logs["learning_rate"] = float(self.model.optimizer.learning_rate.numpy())


def _is_rising(mode, monitor):
    """Whether larger values are better."""
    return mode == "max" or (mode == "auto" and monitor.endswith(("acc", "accuracy", "auc")))


class ReduceLROnPlateau(Callback):
    """Multiplies the learning rate by `factor` when a value has not become better by `min_delta`
    for `patience` epochs, those of a `cooldown` after it not counted.
    """

    def __init__(self, monitor="val_loss", factor=0.1, patience=10, verbose=0, mode="auto",
                 min_delta=1e-4, cooldown=0, min_lr=0.0):  # fmt: skip
        if factor >= 1.0:
            raise ValueError(
                f"ReduceLROnPlateau does not support a factor >= 1.0. Got factor={factor}"
            )
        self.monitor, self.factor, self.patience, self.verbose = monitor, factor, patience, verbose
        self._sign = -1 if _is_rising(mode, monitor) else 1
        self.min_delta, self.cooldown, self.min_lr = min_delta, cooldown, min_lr
        self._reset()

    def _reset(self):
        self.best, self.wait, self.cooldown_counter = math.inf, 0, 0

    def on_train_begin(self, _logs=None):
        """Begins anew."""
        self._reset()

    def on_epoch_end(self, epoch, logs=None):
        """Looks at the value. Raises ValueError where it is not among those of the epoch."""
        optimizer = self.model.optimizer
        old = float(optimizer.learning_rate.numpy())
        logs["learning_rate"] = old
        now = _value("ReduceLROnPlateau", self.monitor, logs) * self._sign
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.wait = 0
        if now < self.best - self.min_delta:
            self.best, self.wait = now, 0
        elif self.cooldown_counter <= 0:
            self.wait += 1
            if self.wait >= self.patience and old > float(numpy.float32(self.min_lr)):
                rate = max(old * self.factor, self.min_lr)
                optimizer.learning_rate = rate
                if self.verbose:
                    print(f"\nEpoch {epoch + 1}: ReduceLROnPlateau reducing learning rate to"
                          f" {rate}.")  # fmt: skip
                self.cooldown_counter, self.wait = self.cooldown, 0


def _value(op, monitor, logs):
    if monitor not in (logs or {}):
        raise ValueError(message(op, "no such value", monitor, ", ".join(logs or {})))
    return logs[monitor]


class ModelCheckpoint(Callback):
    """Writes the weights after each epoch, or with `save_best_only` where a value is the best."""

    def __init__(self, filepath, monitor="val_loss", verbose=0, save_best_only=False,
                 save_weights_only=False, mode="auto", save_freq="epoch",
                 initial_value_threshold=None):  # fmt: skip
        if not save_weights_only or save_freq != "epoch":
            raise NotImplementedError(
                message("ModelCheckpoint", "whole models, and files within epochs, are not yet"
                        " available", f"save_weights_only={save_weights_only}, {save_freq!r}",
                        "save_weights_only=True and a .npz file")
            )  # fmt: skip
        self.filepath, self.monitor, self.verbose = os.fspath(filepath), monitor, verbose
        self.save_best_only = save_best_only
        self._sign = -1 if _is_rising(mode, monitor) else 1
        given = initial_value_threshold
        self.best = math.inf * self._sign if given is None else given

    def on_epoch_end(self, epoch, logs=None):
        """Writes the file, whose name may have {epoch} and the names of values."""
        path = self.filepath.format(epoch=epoch + 1, **logs)
        if self.save_best_only:
            now = _value("ModelCheckpoint", self.monitor, logs)
            if not now * self._sign < self.best * self._sign:
                if self.verbose:
                    print(f"\nEpoch {epoch + 1}: {self.monitor} did not improve from"
                          f" {self.best:.5f}")  # fmt: skip
                return
            if self.verbose:
                print(f"\nEpoch {epoch + 1}: {self.monitor} improved from {self.best:.5f} to"
                      f" {now:.5f}, saving model to {path}")  # fmt: skip
            self.best = now
        elif self.verbose:
            print(f"\nEpoch {epoch + 1}: saving model to {path}")
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        self.model.save_weights(path)


class CSVLogger(Callback):
    """Writes the values of each epoch to a file, a line each."""

    def __init__(self, filename, separator=",", append=False):
        self.filename, self.sep, self.append = os.fspath(filename), separator, append

    def on_train_begin(self, _logs=None):
        """Opens the file."""
        known = self.append and os.path.exists(self.filename) and os.path.getsize(self.filename)
        self._file = open(self.filename, "a" if self.append else "w", newline="")
        self._writer, self._with_names = csv.writer(self._file, delimiter=self.sep), not known

    def on_epoch_end(self, epoch, logs=None):
        """Writes a line."""
        names = sorted(logs)
        if self._with_names:
            self._writer.writerow(["epoch", *names])
            self._with_names = False
        self._writer.writerow([epoch, *[logs[name] for name in names]])
        self._file.flush()

    def on_train_end(self, _logs=None):
        """Closes the file."""
        self._file.close()


class TerminateOnNaN(Callback):
    """Ends the training when the loss is NaN or infinite, after the batch."""

    def on_train_batch_end(self, batch, logs=None):
        """Looks at the loss."""
        loss = (logs or {}).get("loss")
        if loss is not None and not math.isfinite(loss):
            print(f"Batch {batch}: Invalid loss, terminating training")
            self.model.stop_training = True


_INSTEAD = {
    "TensorBoard": "CSVLogger, or History",
    "BackupAndRestore": "ModelCheckpoint",
    "RemoteMonitor": "LambdaCallback",
}


def __getattr__(name):
    return _missing("keras.callbacks", name, _INSTEAD.get(name, _EXPECTED))
