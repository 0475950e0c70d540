"""Mandelbrot and Julia sets by masked arrays: who has left, takes part no more.

python examples/mandelbrot.py [--julia] [--module cupy]
python -m numbus examples/mandelbrot.py [--julia] [--module cupy]
"""

import common
import numpy as np

JULIA = complex(-0.8, 0.156)


def plane(xp, n, julia):
    """The parameter c and the first z of each point, as n × n arrays."""
    left, right, height = (-1.6, 1.6, 1.6) if julia else (-2.2, 0.8, 1.5)
    x = xp.linspace(left, right, n)
    y = xp.linspace(-height, height, n)
    points = x[None, :] + 1j * y[:, None]
    return (xp.full_like(points, JULIA), points) if julia else (points, xp.zeros_like(points))


def escape_steps(xp, c, z, steps):
    """For each point the number of steps that it stays within |z| <= 2."""
    z = z.copy()
    count = xp.zeros(z.shape, xp.int32)
    inside = xp.ones(z.shape, bool)
    for _ in range(steps):
        z[inside] = z[inside] * z[inside] + c[inside]
        inside = inside & (xp.abs(z) <= 2)
        count += inside
    return count


def arguments(doc, options):
    """The options of both forms of this example."""
    parser = options(doc, 480, "points a side")
    parser.add_argument("--julia", action="store_true", help="the Julia set of -0.8 + 0.156 i")
    parser.add_argument("--steps", type=int, default=100, help="(default: %(default)s)")
    return parser


def show(chosen, count):
    """Saves the counts and draws them, on a scale that favours small numbers."""
    common.save(chosen, count)
    common.colour_map(np.sqrt(count), chosen.picture, "sea")


def main():
    chosen = arguments(__doc__, common.array_options).parse_args()
    xp = common.array_module(chosen.module)
    c, z = plane(xp, chosen.size, chosen.julia)
    title = f"{chosen.size}², {chosen.steps} steps"
    show(chosen, common.host(common.timed(title, escape_steps, xp, c, z, chosen.steps, xp=xp)))


if __name__ == "__main__":
    main()
