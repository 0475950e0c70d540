"""NumPy and math for compiled functions, in Python that compiles; see ../_library.py."""
