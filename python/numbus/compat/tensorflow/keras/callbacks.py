"""keras.callbacks."""

import csv
import math
import os
import warnings

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


class _Monitor(Callback):
    """What looks at one value of each epoch, of which more or less is better."""

    def __init__(self, monitor, mode, min_delta=0.0):
        if mode not in ("auto", "min", "max"):
            warnings.warn(f"{type(self).__name__} mode '{mode}' is unknown, fallback to auto mode.",
                          stacklevel=3)  # fmt: skip
            mode = "auto"
        self.monitor, self.mode, self.min_delta = monitor, mode, abs(min_delta)
        self.best, self._sign = None, {"min": 1, "max": -1}.get(mode)

    def _is_better(self, now, before):
        if before is None:
            return True
        if self._sign is None:
            self._sign = self._found_sign()
        return now * self._sign < before * self._sign - self.min_delta

    def _found_sign(self):
        """1 where less is better, as of losses, -1 where more is."""
        name = self.monitor.removeprefix("val_")
        if name == "loss":
            return 1
        ends = self.model._ends
        for shown, m in [] if ends is None else ends.all():
            way = getattr(m, "_direction", None)
            if way is not None and name in (shown, m.name):
                return -1 if way == "up" else 1
        if name.endswith("loss"):
            return 1
        raise ValueError(
            f"{type(self).__name__} callback received monitor={self.monitor}, but Keras isn't able "
            "to automatically determine whether that metric should be maximized or minimized. Pass "
            "`mode='max'` in order to monitor based on the highest metric value, or pass "
            "`mode='min'` in order to use the lowest value."
        )

    def _value(self, logs, what):
        """The value, or None with a warning where an epoch has none."""
        now = (logs or {}).get(self.monitor)
        if now is None:
            warnings.warn(
                f"{what} `{self.monitor}` which is not available. Available metrics are: "
                f"{','.join(logs or {})}",
                stacklevel=3,
            )
        return now


class EarlyStopping(_Monitor):
    """Ends the training when a value has not become better by `min_delta` for `patience` epochs."""

    def __init__(self, monitor="val_loss", min_delta=0, patience=0, verbose=0, mode="auto",
                 baseline=None, restore_best_weights=False, start_from_epoch=0):  # fmt: skip
        super().__init__(monitor, mode, min_delta)
        self.patience, self.verbose, self.baseline = patience, verbose, baseline
        self.restore_best_weights, self.start_from_epoch = restore_best_weights, start_from_epoch

    def on_train_begin(self, logs=None):
        """Begins anew."""
        super().on_train_begin(logs)
        self.wait = self.stopped_epoch = self.best_epoch = 0
        self.best = self.best_weights = None

    def on_epoch_end(self, epoch, logs=None):
        """Looks at the value; warns where it is not among those of the epoch."""
        now = self._value(logs, "Early stopping conditioned on metric")
        if now is None or epoch < self.start_from_epoch:
            return
        if self.restore_best_weights and self.best_weights is None:
            self.best_weights, self.best_epoch = self.model.get_weights(), epoch
        self.wait += 1
        if self._is_better(now, self.best):
            self.best, self.best_epoch = now, epoch
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            if self.baseline is None or self._is_better(now, self.baseline):
                self.wait = 0
        elif self.wait >= self.patience and epoch > 0:
            self.stopped_epoch = epoch
            self.model.stop_training = True

    def on_train_end(self, logs=None):
        """Brings the best weights back, if asked for."""
        super().on_train_end(logs)
        if self.stopped_epoch > 0 and self.verbose:
            print(f"Epoch {self.stopped_epoch + 1}: early stopping")
        if self.restore_best_weights and self.best_weights is not None:
            if self.verbose:
                print("Restoring model weights from the end of the best epoch: "
                      f"{self.best_epoch + 1}.")  # fmt: skip
            self.model.set_weights(self.best_weights)


class LearningRateScheduler(Callback):
    """Sets the learning rate of each epoch by a function of its number and the present rate."""

    def __init__(self, schedule, verbose=0):
        self.schedule, self.verbose = schedule, verbose

    def on_epoch_begin(self, epoch, logs=None):
        """Sets the rate."""
        super().on_epoch_begin(epoch, logs)
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


class ReduceLROnPlateau(_Monitor):
    """Multiplies the learning rate by `factor` when a value has not become better by `min_delta`
    for `patience` epochs, those of a `cooldown` after it not counted.
    """

    def __init__(self, monitor="val_loss", factor=0.1, patience=10, verbose=0, mode="auto",
                 min_delta=1e-4, cooldown=0, min_lr=0.0):  # fmt: skip
        super().__init__(monitor, mode, min_delta)
        if factor >= 1.0:
            raise ValueError(
                f"ReduceLROnPlateau does not support a factor >= 1.0. Received factor={factor}"
            )
        self.factor, self.patience, self.verbose = factor, patience, verbose
        self.cooldown, self.min_lr = cooldown, min_lr
        self.wait = self.cooldown_counter = 0

    def on_train_begin(self, logs=None):
        """Begins anew."""
        super().on_train_begin(logs)
        self.best, self.wait, self.cooldown_counter = None, 0, 0

    def in_cooldown(self):
        """Whether epochs are not counted."""
        return self.cooldown_counter > 0

    def on_epoch_end(self, epoch, logs=None):
        """Looks at the value; warns where it is not among those of the epoch."""
        optimizer = self.model.optimizer
        old = float(optimizer.learning_rate.numpy())
        logs["learning_rate"] = old
        now = self._value(logs, "Learning rate reduction is conditioned on metric")
        if now is None:
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self._is_better(now, self.best):
            self.best, self.wait = now, 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience and old > float(numpy.float32(self.min_lr)):
                rate = max(old * self.factor, self.min_lr)
                optimizer.learning_rate = rate
                if self.verbose:
                    print(f"\nEpoch {epoch + 1}: ReduceLROnPlateau reducing learning rate to"
                          f" {rate}.")  # fmt: skip
                self.cooldown_counter, self.wait = self.cooldown, 0


class ModelCheckpoint(_Monitor):
    """Writes the weights after each epoch, or so many batches; with `save_best_only` where a value
    is the best.
    """

    def __init__(self, filepath, monitor="val_loss", verbose=0, save_best_only=False,
                 save_weights_only=False, mode="auto", save_freq="epoch",
                 initial_value_threshold=None):  # fmt: skip
        super().__init__(monitor, mode)
        if not save_weights_only:
            raise NotImplementedError(
                message("ModelCheckpoint", "whole models are not yet available",
                        f"save_weights_only={save_weights_only}",
                        "save_weights_only=True and a .npz file")
            )  # fmt: skip
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(
                f"Unrecognized save_freq: {save_freq}. Expected save_freq are 'epoch' or integer "
                "values"
            )
        self.filepath, self.verbose = os.fspath(filepath), verbose
        self.save_best_only, self.save_freq = save_best_only, save_freq
        self.best = initial_value_threshold
        self._epoch = self._batches = 0

    def on_epoch_begin(self, epoch, logs=None):
        """Notes the number."""
        super().on_epoch_begin(epoch, logs)
        self._epoch = epoch

    def on_train_batch_end(self, batch, logs=None):
        """Writes the file after so many batches."""
        if self.save_freq == "epoch":
            return
        self._batches += 1
        if self._batches >= self.save_freq:
            self._batches = 0
            self._save(self._epoch, {"batch": batch + 1, **(logs or {})})

    def on_epoch_end(self, epoch, logs=None):
        """Writes the file, whose name may have {epoch} and the names of values."""
        if self.save_freq == "epoch":
            self._save(epoch, logs)

    def _save(self, epoch, logs):
        path = self.filepath.format(epoch=epoch + 1, **logs)
        if self.save_best_only:
            now = self._value(logs, "Can save best model only with")
            if now is not None:
                best = "None" if self.best is None else f"{self.best:.5f}"
                if not self._is_better(now, self.best):
                    if self.verbose:
                        print(f"\nEpoch {epoch + 1}: {self.monitor} did not improve from {best}")
                    return
                if self.verbose:
                    print(f"\nEpoch {epoch + 1}: {self.monitor} improved from {best} to"
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

    def on_train_begin(self, logs=None):
        """Opens the file."""
        super().on_train_begin(logs)
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

    def on_train_end(self, logs=None):
        """Closes the file."""
        super().on_train_end(logs)
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
