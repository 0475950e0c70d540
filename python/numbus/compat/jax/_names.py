"""Which names of NumPy's jax.numpy has, by the rule of their dtypes."""

# Operands are taken to one floating-point type.
FLOATING = frozenset(
    "acos acosh arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan atan2 atanh "
    "cbrt copysign cos cosh deg2rad degrees divide exp exp2 expm1 fabs float_power heaviside "
    "hypot i0 log log10 log1p log2 logaddexp logaddexp2 nextafter rad2deg radians reciprocal sin "
    "sinc sinh sqrt tan tanh true_divide".split()
)

# Operands are taken to one type, which is the result's, too (or bool, or that of real parts).
COMMON = frozenset(
    "abs absolute add angle bitwise_and bitwise_invert bitwise_left_shift bitwise_not bitwise_or "
    "bitwise_right_shift bitwise_xor ceil clip conj conjugate divmod equal floor floor_divide "
    "fmax fmin fmod gcd greater greater_equal imag invert isfinite isinf isnan lcm left_shift "
    "less less_equal maximum minimum mod modf multiply negative not_equal positive pow power "
    "real remainder right_shift rint sign signbit spacing square subtract trunc".split()
)

# Logical functions: operands of any types.
LOGICAL = frozenset("logical_and logical_not logical_or logical_xor".split())

# Arrays among the operands, also within a list, are taken to one type.
JOINING = frozenset(
    "append array_equal array_equiv allclose block column_stack concat concatenate convolve "
    "correlate cross dot dstack einsum hstack inner insert interp intersect1d isclose isin kron "
    "matmul matvec outer polyadd polymul polysub polyval select setdiff1d setxor1d stack "
    "tensordot union1d vdot vecdot vecmat vstack".split()
)

# The rest: what Numbus's function gives, in JAX's dtypes.
PLAIN = frozenset(
    "all amax amin any apply_along_axis apply_over_axes argmax argmin argpartition argsort "
    "argwhere around array_split atleast_1d atleast_2d atleast_3d average bartlett bincount "
    "bitwise_count blackman broadcast_arrays broadcast_to choose compress corrcoef count_nonzero "
    "cov cumprod cumsum cumulative_prod cumulative_sum delete diag diag_indices_from diagflat "
    "diagonal diff digitize dsplit ediff1d expand_dims extract flatnonzero flip fliplr flipud "
    "frexp gradient hamming hanning histogram histogram2d histogram_bin_edges histogramdd hsplit "
    "iscomplex isneginf isposinf isreal ix_ kaiser ldexp lexsort matrix_transpose max mean "
    "median meshgrid min moveaxis nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax "
    "nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar nonzero "
    "packbits pad partition percentile permute_dims piecewise poly polyder polydiv polyfit "
    "polyint prod ptp quantile ravel ravel_multi_index repeat reshape resize roll rollaxis roots "
    "rot90 round searchsorted sort sort_complex split squeeze std sum swapaxes take "
    "take_along_axis tile trace transpose trapezoid tril tril_indices_from trim_zeros triu "
    "triu_indices_from unique unique_all unique_counts unique_inverse unique_values unpackbits "
    "unravel_index unstack unwrap vander var vsplit".split()
)

# Of these two groups: no list is taken for an array.
NO_LISTS = frozenset(
    "all allclose amax amin any append argmax argmin argsort argwhere array_split atleast_1d "
    "average bincount broadcast_to convolve corrcoef count_nonzero cov cross cumprod cumsum delete "
    "diag diff dot expand_dims fft fft2 fftn flatnonzero flip histogram hfft ifft ifft2 ifftn "
    "ihfft inner insert interp irfft irfft2 irfftn isclose kron matmul max mean median min "
    "moveaxis nan_to_num nanmean nansum nonzero outer pad percentile polyval prod ptp quantile "
    "ravel repeat reshape rfft rfft2 rfftn roll round searchsorted sort split squeeze std sum "
    "swapaxes take take_along_axis tensordot tile trace transpose tril triu unique var vdot".split()
)
# Of these the second operand, too, is no list.
NO_LISTS_BUT_ARRAYS = frozenset("take take_along_axis".split())
# These take lists of arrays, and no lists in these.
OF_ARRAYS = frozenset("column_stack concat concatenate dstack hstack stack vstack".split())

# Functions without operands, whose dtype is float32 or int32 unless it is asked for.
MAKING = frozenset(
    "arange diag_indices empty eye full geomspace identity indices linspace logspace mask_indices "
    "ones tri tril_indices triu_indices zeros".split()
)

# What NumPy itself has, as it is.
CONSTANTS = frozenset(
    "broadcast_shapes complexfloating character dtype e euler_gamma flexible floating "
    "generic get_printoptions iinfo index_exp inexact inf integer iterable nan newaxis number "
    "object_ pi printoptions s_ set_printoptions signedinteger unsignedinteger".split()
)

SCALARS = (
    "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "complex64 complex128".split()
)

# Operators and methods of arrays that are functions of jnp.
METHODS = (
    "all any argmax argmin argpartition argsort astype choose clip compress conj conjugate cumprod "
    "cumsum diagonal dot max mean min nonzero partition prod ptp ravel repeat reshape round "
    "searchsorted sort squeeze std sum swapaxes take trace transpose var".split()
)
OPERATORS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide",
    "floordiv": "floor_divide", "mod": "remainder", "pow": "power", "matmul": "matmul",
    "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift",
    "rshift": "right_shift", "divmod": "divmod",
}  # fmt: skip
COMPARISONS = {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
    "ge": "greater_equal",
}  # fmt: skip
