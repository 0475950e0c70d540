"""How many iterations points of the plane take to leave the disc, with numbers only."""


def mandelbrot(width, height, most):
    total = 0
    inside = 0
    for row in range(height):
        ci = 2.0 * row / height - 1.0
        for column in range(width):
            cr = 3.0 * column / width - 2.0
            zr = zi = 0.0
            k = 0
            while k < most and zr * zr + zi * zi <= 4.0:
                zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
                k += 1
            total += k
            if k == most:
                inside += 1
    return total, inside


print(*mandelbrot(900, 600, 200))
