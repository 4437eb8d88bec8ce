"""Files for installers, put before the installers themselves: uv, pip, conda's parser; indexes of this machine stand in.

Every channel of a stack is an index on the loopback interface with wheels of the names, versions, labels and requirements
that the data have; beside them lie newer and plain builds of the same names, which a file that names no index would take.
"""

import json
import os
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import loopback
from packaging.pylock import Pylock
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from compatkb.core.clock import Clock, current_day
from compatkb.core.text_position import quoted
from compatkb.engine.answer import resolve
from compatkb.output import registry
from compatkb.output.commands import bounds_of
from compatkb.output.installer_files import by_device, packages_of, platforms_of, stack_of
from compatkb.output.presenter import present
from compatkb.output.things import StackView
from compatkb.output.view import AnswerView
from compatkb.request.parser import make_request
from compatkb.request.words import read_words
from compatkb.store.reader import Snapshot
from compatkb.validate.limits import find_uv
from compatkb.validate.session import interpreters

REQUESTS = (
    "torch --device xpu --python 3.12",
    "torch==2.9.1 --device xpu --os linux",
    "torch==2.6.0 --device xpu --os linux",
    "torch==2.5.1 --device cpu --os debian12",
    "ipex==2.5.10 --device xpu --os linux",
    "ipex==2.4.0 oneccl-bind-pt --device cpu",
    "torch==2.7.1 torchvision --device cpu --device xpu --os linux",
)
_TAGS = {"linux": "manylinux_2_28_x86_64", "windows": "win_amd64", "macos": "macosx_14_0_arm64"}
_FUTURE = "99.0"


class Asked(NamedTuple):
    """A request and its answer."""

    words: str
    answer: AnswerView
    wanted: registry.Wanted

    def file(self, form: str, *indexes: str) -> str:
        """Return a form of the answer."""
        made = registry.form("resolve", form)(self.answer, self.wanted._replace(indexes=indexes))
        assert isinstance(made, str)
        return made


def asked(facts: Snapshot, words: str) -> Asked:
    """Return a request as the command line reads it, with its answer."""
    left, options = shlex.split(words), []
    while "--device" in left or any(word.startswith("--") for word in left):
        at = next(n for n, word in enumerate(left) if word.startswith("--"))
        options.append((left[at].removeprefix("--"), left[at + 1]))
        del left[at : at + 2]
    read, rest = read_words(facts, left)
    request = make_request(facts, [*options, *read], rest, clock=Clock(current_day()))
    each = sum(name == "device" for name, _ in options) > 1
    return Asked(words.strip(), present(facts, resolve(facts, request)), registry.Wanted(each_device=each))


@contextmanager
def channels(facts: Snapshot, stacks: list[StackView]) -> Iterator[dict[str, str]]:
    """Serve the channels of stacks, and the default index; returns the address of each."""
    with ExitStack() as servers:
        served = {"default": servers.enter_context(loopback.serve())}
        links = set()
        for stack in stacks:
            provider = next(e for e in stack.packages if e.product.id == facts.routes[0].provider)
            bases = [f"{e.distribution}=={e.version}" for e in stack.packages if e.distribution and e != provider]
            placed = {each.name: each for each in packages_of(stack)}
            brought = [
                pin for pin in bases if canonicalize_name(pin.partition("==")[0]) not in {canonicalize_name(n) for n in placed}
            ]
            brought += [f"{n}=={p.build.version}" for n, p in placed.items() if p.build.product.automatic]
            for name, each in placed.items():
                channel = each.channel
                if channel.id not in served:
                    served[channel.id] = servers.enter_context(loopback.serve())
                links |= {channel.id} if channel.style == "find-links" else set()
                needs = brought if each.build == provider else [f"{provider.distribution}=={Version(provider.version).public}"]
                if each.build.product.automatic:
                    needs = []
                for family, _ in platforms_of(stack):
                    served[channel.id].add(
                        name, each.build.version, "", requires=tuple(needs), tag=f"py3-none-{_TAGS[family]}"
                    )
                public = Version(each.build.version).public
                for version in {_FUTURE, public} - {each.build.version}:
                    served["default"].add(name, version, "")
                _add_missing(served["default"], [*needs, *bounds_of(stack)], set(placed))
        for index in served.values():
            index.add("filelock", _FUTURE if index is not served["default"] else "3.20.0", "")
        yield {name: f"{index.url}/links" if name in links else f"{index.url}/simple" for name, index in served.items()}


def _add_missing(index: loopback.Index, needs: list[str], placed: set[str]) -> None:
    """Add what is needed and lies on no index of its own, in a version that is admitted."""
    for need in map(Requirement, needs):
        pinned = next((s.version for s in need.specifier if s.operator in ("==", ">=")), "1.0")
        if need.name not in placed:
            index.add(need.name, next(v for v in (pinned, "1.0", "80.0") if need.specifier.contains(v)), "")


def here(facts: Snapshot, stack: StackView) -> str | None:
    """Return an interpreter of this machine on which a stack is, None where there is none."""
    known = interpreters()
    usable = [
        python.id
        for python in reversed(stack.python)
        if python.id in known and tuple(map(int, python.id.split("."))) >= (3, 9)
    ]
    return known[usable[0]] if usable and ("linux", "x86_64") in platforms_of(stack) else None


def expected(facts: Snapshot, stack: StackView) -> dict[str, str]:
    """Return the distributions that a file names, with their versions."""
    return {str(canonicalize_name(each.name)): each.build.version for each in packages_of(stack)}


def routed(text: str, facts: Snapshot, stacks: list[StackView], urls: Mapping[str, str]) -> str:
    """Return a file with the addresses of this machine."""
    for channel in {each.channel.id: each.channel for stack in stacks for each in packages_of(stack)}.values():
        if channel.url:
            text = text.replace(quoted(channel.url), quoted(urls[channel.id]))
    return text


class Tools:
    """uv and pip in a folder of their own, away from the user's settings."""

    def __init__(self, folder: Path, default: str) -> None:
        self.folder = folder
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        self.environment = {**kept, "HOME": str(folder), "UV_CACHE_DIR": str(folder / "cache"), "UV_PYTHON_DOWNLOADS": "never"}
        self.environment |= {"UV_DEFAULT_INDEX": default, "PIP_INDEX_URL": default, "PIP_CONFIG_FILE": os.devnull}
        self.environment |= {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_CACHE_DIR": "1"}

    def run(self, *words: str, fails: bool = False) -> str:
        """Run a command; raises AssertionError with its words where it does not end as it should."""
        done = subprocess.run(words, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False)
        assert (done.returncode != 0) == fails, f"{shlex.join(words)}: {done.stdout}{done.stderr}"
        return done.stdout + (done.stderr if fails else "")

    def installed(self, python: str) -> dict[str, str]:
        """Return what an environment holds."""
        rows = json.loads(self.run(uv(), "pip", "list", "--python", python, "--format", "json"))
        return {row["name"]: row["version"] for row in rows}


def uv() -> str:
    """Return uv."""
    found = find_uv()
    assert found, "uv is not installed"
    return found


def prove_uv(facts: Snapshot, one: Asked) -> str:
    """Lock and sync the project, twice; `uv run` keeps the builds. Returns what was shown, raises AssertionError."""
    with TemporaryDirectory() as name:
        text = one.file("uv")
        stacks = stacks_in(facts, one, text)
        with channels(facts, list(stacks.values())) as urls:
            tools = Tools(Path(name), urls["default"])
            (tools.folder / "pyproject.toml").write_text(routed(text, facts, list(stacks.values()), urls), encoding="utf-8")
            pythons = [here(facts, stack) for stack in stacks.values()]
            python = next((p for p in pythons if p), None)
            tools.run(uv(), "lock", *(["--python", python] if python else []))
            lock = (tools.folder / "uv.lock").read_bytes()
            tools.run(uv(), "lock", *(["--python", python] if python else []))
            assert (tools.folder / "uv.lock").read_bytes() == lock, "the second lock is another"
            locked = {(p["name"], p["version"]) for p in tomllib.loads(lock.decode())["package"]}
            for stack in stacks.values():
                assert expected(facts, stack).items() <= locked, "the lock holds other builds"
            assert not [name for name, version in locked if version == _FUTURE], "a build of another index was taken"
            if python is None:
                return "locked"
            for extra, stack in stacks.items():
                more = ["--extra", extra] if len(stacks) > 1 else []
                tools.run(uv(), "sync", "--python", python, *more)
                inside = str(tools.folder / ".venv" / "bin" / "python")
                first = tools.installed(inside)
                assert expected(facts, stack).items() <= first.items(), "other builds were installed"
                tools.run(uv(), "sync", "--locked", "--check", *more)
                tools.run(uv(), "run", *more, "python", "-c", "pass")
                assert tools.installed(inside) == first, "uv run changed the environment"
            if len(stacks) > 1:
                both = [word for extra in stacks for word in ("--extra", extra)]
                assert "incompatible" in tools.run(uv(), "sync", *both, fails=True)
                return "locked, each extra synced, both together refused"
            return "locked, synced"


def stacks_in(facts: Snapshot, one: Asked, text: str) -> dict[str, StackView]:
    """Return the stacks of a project by device."""
    first = stack_of(one.answer, one.wanted)
    extras = list(tomllib.loads(text)["project"].get("optional-dependencies", ()))
    if not extras:
        return {first.device.id: first}
    found = by_device(one.answer, first)
    assert list(found) == extras
    return found


def prove_pylock(facts: Snapshot, one: Asked) -> str:
    """Lock by PEP 751, and let pip and uv take the file. Returns what was shown, raises AssertionError."""
    stack = stack_of(one.answer, one.wanted)
    python = here(facts, stack)
    with TemporaryDirectory() as name, channels(facts, [stack]) as urls:
        tools = Tools(Path(name), urls["default"])
        text = one.file(
            "pylock", *(f"{channel}={url}" for channel, url in urls.items() if channel != "default"), urls["default"]
        )
        (tools.folder / "pylock.toml").write_text(text, encoding="utf-8")
        lock = Pylock.from_dict(tomllib.loads(text))
        lock.validate()
        assert all(wheel.hashes for package in lock.packages for wheel in package.wheels or ())
        assert expected(facts, stack).items() <= {(str(p.name), str(p.version)) for p in lock.packages}
        if python is None:
            return "valid"
        report = tools.run(
            sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--dry-run", "--ignore-installed",
            "--report", "-", "-r", "pylock.toml",
        )  # fmt: skip
        items = {item["metadata"]["name"]: item["metadata"]["version"] for item in json.loads(report)["install"]}
        assert {str(canonicalize_name(n)): v for n, v in items.items()}.items() >= expected(facts, stack).items()
        tools.run(uv(), "venv", "--quiet", "--python", python, "env")
        inside = str(tools.folder / "env" / "bin" / "python")
        tools.run(uv(), "pip", "sync", "--preview-features", "pylock", "--python", inside, "pylock.toml")
        have = tools.installed(inside)
        assert have == {str(canonicalize_name(n)): v for n, v in items.items()}, "pip and uv differ"
        return "valid, pip and uv install the same"


def prove_conda(facts: Snapshot, one: Asked) -> str:
    """Let conda's parser read what environment.yml says. Returns what was shown, raises AssertionError."""
    import yaml
    from rattler import Channel, MatchSpec

    stack = stack_of(one.answer, one.wanted)
    wanted = {name: f"=={version}" for name, version in expected(facts, stack).items()}
    environment: dict[str, Any] = yaml.safe_load(one.file("conda"))
    for channel in environment["channels"]:
        Channel(channel)
    plain = [MatchSpec(text, strict=True) for text in environment["dependencies"] if isinstance(text, str)]
    assert [str(spec).split()[0] for spec in plain] == ["python", "pip"]
    lines = environment["dependencies"][-1]["pip"]
    pins = [Requirement(line) for line in lines if not line.startswith("--")]
    brought = {each.name for each in packages_of(stack) if each.build.product.automatic}
    named = {name: pin for name, pin in wanted.items() if name not in set(map(canonicalize_name, brought))}
    assert named.items() <= {str(canonicalize_name(pin.name)): str(pin.specifier) for pin in pins}.items()
    return "parsed"


def prove_dockerfile(facts: Snapshot, one: Asked) -> str:
    """Let BuildKit's parser read the Dockerfile, and a shell its command. Returns what was shown, raises AssertionError."""
    import dockerfile

    commands = dockerfile.parse_string(one.file("dockerfile"))
    assert [command.cmd.upper() for command in commands] == ["FROM", "ENV", "RUN", "USER", "WORKDIR"]
    done = subprocess.run(["sh", "-n", "-c", commands[2].value[0]], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return "parsed"


PROOFS = {"uv": prove_uv, "pylock": prove_pylock, "conda": prove_conda, "dockerfile": prove_dockerfile}
