"""A small matrix type with a determinant, and statistics about random ones."""
from __future__ import annotations

import random
import statistics
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Matrix:
    rows: tuple[tuple[Fraction, ...], ...]

    @classmethod
    def random(cls, size: int, source: random.Random) -> Matrix:
        return cls(tuple(tuple(Fraction(source.randint(-9, 9)) for _ in range(size)) for _ in range(size)))

    def determinant(self) -> Fraction:
        rows = [list(row) for row in self.rows]
        sign, result = 1, Fraction(1)
        for column in range(len(rows)):
            pivot = next((r for r in range(column, len(rows)) if rows[r][column]), None)
            if pivot is None:
                return Fraction(0)
            if pivot != column:
                rows[column], rows[pivot] = rows[pivot], rows[column]
                sign = -sign
            result *= rows[column][column]
            for below in range(column + 1, len(rows)):
                factor = rows[below][column] / rows[column][column]
                rows[below] = [a - factor * b for a, b in zip(rows[below], rows[column])]
        return sign * result


def main() -> None:
    source = random.Random(42)
    values = [float(Matrix.random(4, source).determinant()) for _ in range(200)]
    print(f"mean   {statistics.mean(values):10.2f}")
    print(f"median {statistics.median(values):10.2f}")
    print(f"stdev  {statistics.stdev(values):10.2f}")


if __name__ == "__main__":
    main()
