"""Optimizers and schedules whose steps are recorded, as tables."""

import numpy as np
from inputs import seeded

STEPS = 20
# What is minimised is a sum of squares that depend on each other; its gradient is found here, so
# that both sides begin from equal bits: (name, shape) of the parameters.
SHAPES = {"w": (3, 2), "b": (2,), "s": ()}


def start(name, dtype):
    return {
        key: np.array(seeded(f"{name} {key}").normal(size=shape), dtype)
        for key, shape in SHAPES.items()
        if len(shape) == 2 or not name.startswith("Muon")
    }


def gradients(name, step, dtype):
    """Gradients of one step; some are far smaller than others, and some are 0."""
    random = seeded(f"{name} step {step}")
    return {
        key: np.array(random.normal(size=shape) * 10.0 ** random.randint(-3, 2)
                      * (random.uniform(size=shape) < 0.9), dtype)
        for key, shape in SHAPES.items()
    }  # fmt: skip


OPTIMIZERS = {
    "SGD": [
        {}, {"lr": 0.1}, {"lr": 0.1, "momentum": 0.9}, {"lr": 0.1, "weight_decay": 0.1},
        {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01},
        {"lr": 0.1, "momentum": 0.5, "dampening": 0.3}, {"lr": 0.1, "maximize": True},
    ],
    "Adam": [
        {}, {"lr": 0.1}, {"lr": 0.1, "betas": (0.8, 0.9), "eps": 1e-3}, {"weight_decay": 0.1},
        {"lr": 0.1, "amsgrad": True}, {"lr": 0.1, "maximize": True, "weight_decay": 0.1},
        {"decoupled_weight_decay": True, "weight_decay": 0.1},
    ],
    "AdamW": [{}, {"lr": 0.1, "weight_decay": 0.2}, {"lr": 0.1, "amsgrad": True}],
    "RMSprop": [
        {}, {"lr": 0.1, "alpha": 0.8}, {"momentum": 0.9}, {"centered": True},
        {"centered": True, "momentum": 0.5, "weight_decay": 0.1, "maximize": True},
    ],
    "Adagrad": [
        {}, {"lr": 0.1, "lr_decay": 0.1}, {"initial_accumulator_value": 0.5, "eps": 1e-3},
        {"weight_decay": 0.1, "maximize": True},
    ],
    "Adadelta": [{}, {"lr": 0.5, "rho": 0.8, "eps": 1e-3}, {"weight_decay": 0.1, "maximize": True}],
    "Adamax": [{}, {"lr": 0.1, "weight_decay": 0.1}],
    "NAdam": [{}, {"weight_decay": 0.1}, {"weight_decay": 0.1, "decoupled_weight_decay": True}],
    "RAdam": [{}, {"lr": 0.1, "weight_decay": 0.1}],
    "ASGD": [{}, {"lr": 0.1, "t0": 5, "weight_decay": 0.1, "lambd": 0.1}],
    "Rprop": [{}, {"etas": (0.3, 1.5), "step_sizes": (1e-3, 0.05), "maximize": True}],
    "Adafactor": [{}, {"lr": 0.5, "eps": (1e-3, 1e-2), "d": 2.0, "weight_decay": 0.1,
                       "beta2_decay": -0.5, "maximize": True}],
    "Muon": [{}, {"nesterov": False, "adjust_lr_fn": "match_rms_adamw", "ns_steps": 3}],
}  # fmt: skip
# Each with float64, the first also with float32 and with two groups of parameters.
CASES = {
    f"{kind}-{k}-{dtype}": (kind, words, dtype)
    for kind, table in OPTIMIZERS.items()
    for k, words in enumerate(table)
    for dtype in (("float64", "float32") if k == 0 else ("float64",))
}
# State of PyTorch's that is an array, under the names that both sides have.
STATES = (
    "momentum_buffer exp_avg exp_avg_sq max_exp_avg_sq square_avg grad_avg sum acc_delta exp_inf "
    "ax prev step_size row_var col_var variance"
).split()

EPOCHS = 25
# (schedule, keywords, optimizer, its keywords)
SCHEDULES = [
    ("StepLR", {"step_size": 4}), ("StepLR", {"step_size": 3, "gamma": 0.5}),
    ("MultiStepLR", {"milestones": [3, 7, 7, 12]}), ("ExponentialLR", {"gamma": 0.8}),
    ("MultiStepLR", {"milestones": [2], "gamma": 0.3}), ("ConstantLR", {}), ("LinearLR", {}),
    ("LinearLR", {"start_factor": 0.1, "end_factor": 0.6, "total_iters": 9}),
    ("ConstantLR", {"factor": 0.5, "total_iters": 8}), ("PolynomialLR", {}),
    ("PolynomialLR", {"total_iters": 12, "power": 2.0}), ("CosineAnnealingLR", {"T_max": 10}),
    ("CosineAnnealingLR", {"T_max": 5, "eta_min": 0.01}),
    ("CosineAnnealingWarmRestarts", {"T_0": 4}),
    ("CosineAnnealingWarmRestarts", {"T_0": 3, "T_mult": 2, "eta_min": 0.01}),
    ("OneCycleLR", {"max_lr": 1.0, "total_steps": 30}),
    ("OneCycleLR", {"max_lr": 1.0, "epochs": 5, "steps_per_epoch": 6, "three_phase": True}),
    ("OneCycleLR", {"max_lr": 2.0, "total_steps": 26, "anneal_strategy": "linear",
                    "pct_start": 0.5, "div_factor": 10.0}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 4}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 3, "step_size_down": 5,
                  "mode": "triangular2"}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 3, "mode": "exp_range",
                  "gamma": 0.9}),
]  # fmt: skip
# What a plateau is told: improvements, then none.
METRICS = [5.0, 4.0, 3.9995, 3.999, 3.9985, 3.998, 3.0, 3.0, 3.1, 3.0, 3.0, 3.2, 3.0, 2.5]
METRICS += [2.5] * 11
PLATEAUS = [
    {"patience": 2}, {"patience": 1, "factor": 0.5, "cooldown": 2}, {"patience": 0, "min_lr": 0.02},
    {"mode": "max", "patience": 3, "threshold": 0.1, "threshold_mode": "abs"},
]  # fmt: skip
