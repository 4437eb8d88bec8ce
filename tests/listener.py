"""A threading HTTP server that tolerates clients disconnecting."""

import sys
from http.server import ThreadingHTTPServer
from typing import Any


class Listener(ThreadingHTTPServer):
    """Answers each request in a thread; one that fails is told in a line, one whose asker went away is no failure."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say what went wrong with a request, unless its asker went away."""
        del request, client_address
        error = sys.exception()
        if not isinstance(error, (ConnectionError, TimeoutError)):
            print(f"error: a request was not answered: {type(error).__name__}: {error}", file=sys.stderr)
