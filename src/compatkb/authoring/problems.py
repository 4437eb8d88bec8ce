"""What keeps data that could be read from becoming a knowledge base."""

from typing import NamedTuple


class DataProblem(NamedTuple):
    """Something that does not resolve: its file, its record there by kind and name (None: the file as a whole), and why."""

    path: str
    record: tuple[str, str] | None
    message: str

    @property
    def text(self) -> str:
        """The problem with the record that has it."""
        return f"{' '.join(self.record)}: {self.message}" if self.record else self.message

    def __str__(self) -> str:
        """The problem as one line."""
        return f"{self.path}: {self.text}"
