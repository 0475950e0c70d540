"""The masked Mandelbrot iteration as NumPy users write it."""

from common import Workload
from numbus_bench.suites.mandelbrot import PROGRAMS, compiled, inputs, masked


def workloads(quick):
    n, steps = (256, 20) if quick else (1024, 100)
    yield Workload(
        name="mandelbrot",
        title=f"masked Mandelbrot, {n}², {steps} steps",
        make=lambda: {k: v for k, v in inputs(n, steps).items() if k != "steps"},
        code=masked,
        # c, c0 and it stay in registers between steps: c0 read once, it written once.
        bytes=24.0 * n * n,
        flops=10.0 * n * n * steps,
        programs={"numba": compiled("numba"), **PROGRAMS},
        steps=steps,
        cpu=(("numpy", 8.0),),
        gpu_ms=1.0,
        # One pixel whose orbit meets the threshold within a rounding may take one step more.
        rtol=2.0 / steps,
    )
