"""What a user of the benchmark did wrong."""


class BenchError(Exception):
    """A mistake of the user; the message is all there is to say."""


def complain(wrong, got, expected):
    return BenchError(f"[bench] {wrong}; got {got}; expected {expected}")
