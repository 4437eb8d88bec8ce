"""Shell completion: a static script, so that completing costs no Python start."""

import argparse


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the completion script of `shell`."""
    import shtab

    text: str = shtab.complete(parser, shell)
    return text if text.endswith("\n") else text + "\n"
