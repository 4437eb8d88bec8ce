"""The format of compiled knowledge bases, and how they are opened: read-only."""

import sqlite3

FORMAT = "25"
"""Changes whenever a reader of an older snapshot would misread a newer one."""


DatabaseError = sqlite3.Error
"""What is raised where a snapshot is damaged while it is open."""


def connect(path: str) -> sqlite3.Connection:
    """Return a read-only connection to a file that nobody changes; raises sqlite3.Error where it cannot be opened.

    Whoever lets several threads ask sees to it that they do so one by one.
    """
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")  # what SQLite would misread in a URI
    connection = sqlite3.connect(f"file:{quoted}?mode=ro&immutable=1", uri=True, check_same_thread=False)
    connection.execute("pragma trusted_schema = off")  # what a file defines calls nothing that could do harm
    return connection
