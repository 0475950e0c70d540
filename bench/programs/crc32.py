"""The cyclic redundancy check of a message, bit by bit.

Class: loops.
Method: the reflected polynomial of IEEE 802.3, without a table.
"""

import numpy as np

SIZES = {"small": 1000, "middle": 32000, "large": 1050000}


def setup(n, rng):
    return (rng.integers(0, 256, n, dtype=np.uint8),)


def run(message):
    one = np.uint32(1)
    polynomial = np.uint32(0xEDB88320)
    crc = np.uint32(0xFFFFFFFF)
    for i in range(message.size):
        crc = crc ^ np.uint32(message[i])
        for _ in range(8):
            odd = crc & one
            crc = crc >> one
            if odd:
                crc = crc ^ polynomial
    return crc ^ np.uint32(0xFFFFFFFF)
