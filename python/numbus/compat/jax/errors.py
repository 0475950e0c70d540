"""jax.errors: names of errors, which programs catch. What they stand for does not happen here:
functions run on values.
"""

__name__ = "jax.errors"


class JAXTypeError(TypeError):
    """An error of types."""


class JAXIndexError(IndexError):
    """An error of indices."""


class ConcretizationTypeError(JAXTypeError):
    """A value is asked for where there is none yet."""


class TracerBoolConversionError(ConcretizationTypeError):
    """The truth of a value is asked for where there is none yet."""


class TracerArrayConversionError(JAXTypeError):
    """NumPy's array is asked for where there is none yet."""


class TracerIntegerConversionError(JAXTypeError):
    """An index is asked for where there is none yet."""


class NonConcreteBooleanIndexError(JAXIndexError):
    """A mask is an index where its values are not known yet."""


class UnexpectedTracerError(JAXTypeError):
    """A value of a traced function is used outside of it."""


class KeyReuseError(RuntimeError):
    """A key is used twice."""


class JaxRuntimeError(RuntimeError):
    """An error of the device."""
