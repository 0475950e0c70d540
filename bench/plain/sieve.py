"""Primes below n by the sieve of Eratosthenes, in a list of bools."""


def sieve(n):
    prime = [True] * n
    prime[0] = prime[1] = False
    count = 0
    for i in range(2, n):
        if prime[i]:
            count += 1
            for j in range(i * i, n, i):
                prime[j] = False
    return count


print(sum(sieve(3_000_000 + k) for k in range(8)))
