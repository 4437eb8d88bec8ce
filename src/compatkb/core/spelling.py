"""Edit distance between words, and which rare word is a misspelling of a common one."""

from collections import Counter


def meant_words(counts: Counter[str]) -> dict[str, str]:
    """Return for each rare word that is close to a common one that common one."""
    return {word: right for word in counts if (right := meant(word, counts))}


def meant(word: str, counts: Counter[str]) -> str | None:
    """Return the common word that a rare one is close to: one slip apart, or two in words of five letters or more."""
    allowed = 1 if len(word) < 5 else 2
    near = [
        (slips(word, other, allowed), -count, other)
        for other, count in counts.items()
        if count >= 2 * counts[word] and abs(len(other) - len(word)) <= allowed
    ]
    best = min((item for item in near if 0 < item[0] <= allowed), default=None)
    return best[2] if best else None


def slips(left: str, right: str, most: int) -> int:
    """Return how many letters are added, dropped, changed or swapped with their neighbour; more than `most` ends early."""
    if abs(len(left) - len(right)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(right) + 1))
    for n, letter in enumerate(left, 1):
        fresh = [n]
        for m, other in enumerate(right, 1):
            cost = min(row[m] + 1, fresh[m - 1] + 1, row[m - 1] + (letter != other))
            if n > 1 and m > 1 and letter == right[m - 2] and left[n - 2] == other:
                cost = min(cost, before[m - 2] + 1)
            fresh.append(cost)
        if min(fresh) > most:
            return most + 1
        before, row = row, fresh
    return row[-1]
