"""Matrix products: one of unlike sides in two precisions, and squares that grow."""

from ..cases import Case, fill, traced
from .arrays import product

TITLE = "Matrix products"
ABOUT = (
    "C = A B of 1024 × 2048 and 2048 × 512 in float32 and float64, and of squares from 512 to "
    "8192 in float32. Sixteen rows of each result are compared with NumPy's."
)
BUDGET = 2.0


def every(n):
    """The distance of the rows that are compared."""
    return max(1, n // 16)


def case(name, operation, size, n, m, k, dtype):
    item = 4 if dtype == "float32" else 8
    step = every(n)
    return Case(
        name, operation, size, max(n, m, k),
        lambda i: {"a": fill((n, m), dtype, [n, i]), "b": fill((m, k), dtype, [k, i, 1])},
        bytes=item * (n * m + m * k + n * k) * 1.0, flops=2.0 * n * m * k, code=product,
        programs=traced(product), reference=lambda a, b: a[::step] @ b,
        see=lambda xp, result: result[::step], dtype=dtype, headline=True,
        rtol=1e-5 if dtype == "float32" else 1e-12,
        input_bytes=item * (n * m + m * k) * 1.0, memory=4.0 * item * (n * m + m * k + n * k),
    )  # fmt: skip


def cases(quick=False):
    n, m, k = (64, 128, 32) if quick else (1024, 2048, 512)
    for dtype in ("float32", "float64"):
        yield case(f"{n}×{m}×{k} {dtype}", f"{n}×{m}×{k}", dtype, n, m, k, dtype)
    for size in (64, 128) if quick else (512, 1024, 2048, 4096, 8192):
        yield case(f"square {size}", "square", f"{size}²", size, size, size, "float32")
