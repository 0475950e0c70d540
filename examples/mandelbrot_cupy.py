"""Mandelbrot and Julia sets by CuPy's ElementwiseKernel: C for one point.

python examples/mandelbrot_cupy.py [--julia]                  with CuPy and a GPU
python -m numbus examples/mandelbrot_cupy.py [--julia]        with or without a GPU
"""

import common
import cupy as cp
from mandelbrot import arguments, plane, show

escape_steps = cp.ElementwiseKernel(
    "float64 cr, float64 ci, float64 zr, float64 zi, int32 steps",
    "int32 count",
    """
    double x = zr, y = zi;
    count = steps;
    for (int k = 0; k < steps; ++k) {
        double t = x * x - y * y + cr;
        y = 2 * x * y + ci;
        x = t;
        if (x * x + y * y > 4) {
            count = k;
            break;
        }
    }
    """,
    "escape_steps",
)


def main():
    chosen = arguments(__doc__, common.options).parse_args()
    c, z = plane(cp, chosen.size, chosen.julia)
    title = f"{chosen.size}², {chosen.steps} steps"
    count = common.timed(title, escape_steps, c.real, c.imag, z.real, z.imag, chosen.steps, xp=cp)
    show(chosen, common.host(count))


if __name__ == "__main__":
    main()
