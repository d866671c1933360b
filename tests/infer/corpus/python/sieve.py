"""Primes below a limit, by the sieve of Eratosthenes."""
import sys
import time


def primes_below(limit: int) -> list[int]:
    flags = bytearray([1]) * limit
    flags[0:2] = b"\x00\x00"
    for n in range(2, int(limit**0.5) + 1):
        if flags[n]:
            flags[n * n :: n] = bytes(len(range(n * n, limit, n)))
    return [n for n, is_prime in enumerate(flags) if is_prime]


if __name__ == "__main__":
    limit = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    started = time.perf_counter()
    found = primes_below(limit)
    elapsed = time.perf_counter() - started
    print(f"{len(found)} primes below {limit}, the largest is {found[-1]}")
    print(f"{'fast' if elapsed < 1 else 'slow'}", file=sys.stderr)
