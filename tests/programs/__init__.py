"""Random programs of the kernel language: CPython and NumPy say what compiled functions must do."""
