"""All primes below a number, and the gaps between them.

Class: small.
Method: the sieve of Eratosthenes, multiples crossed out by slices.
"""

import numpy as np

SIZES = {"small": 450000, "middle": 12000000, "large": 220000000}


def setup(n, rng):
    return (n,)


def run(n):
    prime = np.ones(n, dtype=bool)
    prime[:2] = False
    prime[4::2] = False
    for i in range(3, int(n**0.5) + 1, 2):
        if prime[i]:
            prime[i * i :: 2 * i] = False
    found = np.nonzero(prime)[0]
    return found.size, np.diff(found).max()
