"""An answer as pylock.toml (PEP 751): uv finds the files and their hashes on indexes that the user names, since no data do."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from compatkb.core.text_position import quoted
from compatkb.errors import NoRequirementsError, UnavailableError, UsageError
from compatkb.output.installer_files import markers_of, minors, packages_of, python_range, stack_of, uv_text
from compatkb.output.registry import Wanted
from compatkb.output.view import AnswerView
from compatkb.validate.indexes import DEFAULT
from compatkb.validate.limits import find_uv, isolated, run_limited

_SECONDS, _MEGABYTES = 600.0, 4000


def pylock_text(view: AnswerView, wanted: Wanted) -> str:
    """Return a stack as pylock.toml: every file that it needs, with its address and hash, on each of its platforms.

    Raises NoRequirementsError where a hash is missing or nothing resolves, UnavailableError where uv is missing.
    """
    stack = stack_of(view, wanted)
    project = uv_text(view, wanted._replace(each_device=False))
    placed = packages_of(stack)
    if not wanted.indexes:
        names = ", ".join(f"{each.name} {each.build.version} ({each.channel.id})" for each in placed)
        raise NoRequirementsError(
            f"no lock file: the data have neither addresses nor hashes of the files of {names}; name an index that has, "
            "such as --index default, or let `uv lock` find them from --format uv"
        )
    urls = _urls(wanted.indexes, {each.channel.id: each.channel.url for each in placed})
    for each in placed:
        if each.channel.url and each.channel.id in urls:
            project = project.replace(f"url = {quoted(each.channel.url)}", f"url = {quoted(urls[each.channel.id])}")
    pythons = minors(stack)
    lock = tomllib.loads(_asked(project, pythons[0], urls.get(DEFAULT, "")))
    place = {"requires-python": python_range(pythons), "environments": markers_of(stack)}
    return _checked({**lock, **place, "created-by": "compatkb"})


def _urls(words: tuple[str, ...], channels: Mapping[str, str | None]) -> dict[str, str]:
    """Return address by channel; a bare one is that of the default index, the word `default` pip's and uv's own."""
    urls: dict[str, str] = {}
    for word in words:
        named, equal, address = word.partition("=")
        channel, url = (named, address) if equal and "://" not in named else (DEFAULT, word)
        if channel not in {*channels, DEFAULT} or ("://" not in url and word != DEFAULT):
            raise UsageError(f"--index {word}: write `default`, an address, or CHANNEL=URL; channels: {', '.join(channels)}")
        urls |= {} if word == DEFAULT else {channel: url}
    return urls


def _asked(project: str, oldest: str, default: str) -> str:
    """Return what uv writes for a project from its oldest Python on; `default` is an address, empty for uv's own index."""
    uv = find_uv()
    if uv is None:
        raise UnavailableError("a lock file needs uv; run: python -m pip install 'compatkb[validate]'")
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pyproject.toml").write_text(project, encoding="utf-8")
        words = [uv, "pip", "compile", "--quiet", "--color", "never", "--universal", "--no-build"]
        words += ["--python-version", oldest]
        words += ["--format", "pylock.toml", "--output-file", "pylock.toml", "--cache-dir", str(folder / "cache")]
        words += ["--default-index", default] if default else []
        ended = run_limited([*words, "pyproject.toml"], folder, isolated(folder), _SECONDS, _MEGABYTES)
        if not ended.ok:
            raise NoRequirementsError(f"no lock file: uv: {ended.output.strip() or ended.how}")
        return (folder / "pylock.toml").read_text(encoding="utf-8")


def _checked(content: Mapping[str, object]) -> str:
    """Return the text of a lock file that keeps the specification; raises NoRequirementsError for files without a hash."""
    try:
        import tomlkit
        from packaging.pylock import Pylock
    except ImportError:
        raise UnavailableError("a lock file needs more; run: python -m pip install 'compatkb[validate]'") from None
    lock = Pylock.from_dict(content)
    wheels = [wheel for package in lock.packages for wheel in package.wheels or ()]
    if bare := [wheel.filename for wheel in wheels if not wheel.hashes]:
        raise NoRequirementsError(f"no lock file: no hash of {', '.join(bare)}")
    return tomlkit.dumps(lock.to_dict())
