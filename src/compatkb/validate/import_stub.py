"""Runs files of a package with the target's interpreter beside a stub of another package that has only a version.

python import_stub.py RESULT FOLDER PACKAGE OTHER VERSION
Modules of the package that were not taken out of its wheel, and all of OTHER, are stand-ins that take whatever is done
with them, so that the package gets as far as its own checks.
"""

import importlib.abc
import importlib.machinery
import json
import sys
import types
from pathlib import Path
from typing import Any


class Meta(type):
    """Makes a class that has every attribute."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything

    def __call__(cls, *_: Any, **__: Any) -> Any:
        """Return what takes anything again."""
        return Anything if cls is Anything else super().__call__()

    def __getitem__(cls, key: Any) -> Any:
        return Anything

    def __iter__(cls) -> Any:
        return iter(())


class Anything(metaclass=Meta):
    """Whatever a stand-in is asked for."""


class StubModule(types.ModuleType):
    """A module that has every attribute."""

    __all__: Any = ()
    __path__: Any = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds a stand-in for what the folder does not hold."""

    def __init__(self, folder: str, package: str, other: str, version: str) -> None:
        self.folder, self.package, self.other, self.version = folder, package, other, version

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> Any:
        """Return the spec of a stand-in, or nothing."""
        top = name.partition(".")[0]
        taken = Path(self.folder).joinpath(*name.split("."))
        if top not in (self.package, self.other) or taken.with_name(taken.name + ".py").exists() or taken.is_dir():
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> Any:
        """Return the stand-in."""
        return StubModule(spec.name)

    def exec_module(self, module: Any) -> None:
        """Give the other package its version."""
        if module.__name__ == self.other:
            module.__version__ = self.version


def main(result: str, folder: str, package: str, other: str, version: str) -> int:
    """Import the package, and write to RESULT which of its lines it reached or how it ended."""
    sys.path.insert(0, folder)
    sys.meta_path.insert(0, Finder(folder, package, other, version))
    head = str(Path(folder) / package / "__init__.py")
    with open(result, "a", encoding="utf-8") as file:

        def say(**fact: Any) -> None:
            file.write(json.dumps(fact, default=str) + "\n")
            file.flush()

        try:
            __import__(package)
            say(done=package)
        except BaseException as error:
            frame = error.__traceback__
            while frame is not None:
                if frame.tb_frame.f_code.co_filename == head:
                    say(line=frame.tb_lineno)
                frame = frame.tb_next
            code = error.code if isinstance(error, SystemExit) else None
            say(failed=type(error).__name__, message=str(error)[:500], code=code)
            if isinstance(error, SystemExit):
                raise
            import traceback

            traceback.print_exc()
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
