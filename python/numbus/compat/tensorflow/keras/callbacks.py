"""keras.callbacks."""

import math

from ....core.errors import message
from ..._missing import missing as _missing

__name__ = "keras.callbacks"


class Callback:
    """Methods that `fit` calls."""

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

    def on_train_batch_begin(self, batch, logs=None):
        """Before a batch."""

    def on_train_batch_end(self, batch, logs=None):
        """After a batch, with the means so far."""


class History(Callback):
    """The values of each epoch: `history`, a dict of lists, and `epoch`."""

    def __init__(self):
        self.history, self.epoch = {}, []

    def on_epoch_end(self, epoch, logs=None):
        """Notes the values."""
        self.epoch.append(epoch)
        for key in sorted(logs or {}, key=lambda k: (k.startswith("val_"), k)):
            self.history.setdefault(key, []).append(logs[key])


class LambdaCallback(Callback):
    """Functions in the place of methods."""

    def __init__(self, on_epoch_begin=None, on_epoch_end=None, on_train_begin=None,
                 on_train_end=None):  # fmt: skip
        given = {"on_epoch_begin": on_epoch_begin, "on_epoch_end": on_epoch_end,
                 "on_train_begin": on_train_begin, "on_train_end": on_train_end}  # fmt: skip
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
        rising = mode == "max" or (mode == "auto" and monitor.endswith(("acc", "accuracy", "auc")))
        self._sign = -1 if rising else 1
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
        rate = self.schedule(epoch, float(optimizer.learning_rate.numpy()))
        optimizer.learning_rate = rate
        if self.verbose:
            print(f"\nEpoch {epoch + 1}: LearningRateScheduler setting learning rate to {rate}.")


def __getattr__(name):
    return _missing("keras.callbacks", name)
