"""Parser of Renovate and Dependabot configurations: groups of packages that are updated together."""

import re

from compatkb.parsers.positioned_yaml import YamlNode, read_json, read_yaml
from compatkb.parsers.source import SourceFile
from compatkb.parsers.statement import MOVES, Action, ParsedFile

_ANCHORED = re.compile(r"\^([\w.-]+)(\$?)")
_NAMES = ("matchPackageNames", "matchDepNames")
_PREFIXES = ("matchPackagePrefixes", "matchDepPrefixes")
_PATTERNS = ("matchPackagePatterns", "matchDepPatterns")
_OTHERS = ("excludePackageNames", "excludeDepNames")


def read_renovate(source: SourceFile, reading: ParsedFile) -> None:
    """Add the groups of a Renovate configuration whose packages can be told without running its patterns."""
    tree = read_json(source, reading, comments=True)
    rules = tree.rows("packageRules") if tree else []
    ignored = tree.get("ignoreDeps") if tree else None
    held = [f"-{item.text}" for item in (ignored.texts() if ignored else [])]
    for rule in rules:
        enabled, updates = rule.get("enabled"), rule.get("matchUpdateTypes")
        if enabled and enabled.text == "false" and not updates:
            held += [f"-{word}" for word in _matched(rule) or [] if not word.startswith("!")]
    for rule in rules:
        name = rule.get("groupName")
        words = _matched(rule)
        if name is not None and name.text and words:
            _add(reading, rule, words + held, "renovate")


def _matched(rule: YamlNode) -> list[str] | None:
    """Return the names and globs that a rule matches; None where a pattern is more than a beginning or a name."""
    patterns = []
    for key in (*_NAMES, *_PREFIXES, *_PATTERNS, *_OTHERS):
        node = rule.get(key)
        for item in node.texts() if node else []:
            text = item.text
            outside = "!" if key in _OTHERS or text.startswith("!") else ""
            text = text.removeprefix("!")
            pattern = text[1:].rstrip("i").removesuffix("/") if text.startswith("/") else text if key in _PATTERNS else None
            if pattern is not None:
                match = _ANCHORED.fullmatch(pattern)
                if match is None:
                    return None
                text = match[1] if match[2] else f"{match[1]}*"
            elif key in _PREFIXES:
                text = f"{text}*"
            patterns.append(outside + text)
    return patterns


def read_dependabot(source: SourceFile, reading: ParsedFile) -> None:
    """Add the groups of a Dependabot configuration that are about packages of Python."""
    root = read_yaml(source, reading)
    for update in root.rows("updates") if root else ():
        ecosystem = update.get("package-ecosystem")
        groups = update.get("groups")
        if ecosystem is None or ecosystem.text not in ("pip", "uv", "conda") or groups is None:
            continue
        folders = update.get("directory") or update.get("directories")
        scope = [f"/{item.text.strip('/')}" for item in (folders.texts() if folders else [])]
        for one in update.rows("ignore"):
            named = one.get("dependency-name")
            if named and not one.get("versions") and not one.get("update-types"):
                scope.append(f"-{named.text}")
        for name, group in groups.pairs:
            patterns, others, applies = (group.get(key) for key in ("patterns", "exclude-patterns", "applies-to"))
            if (applies and applies.text == "security-updates") or (group.get("dependency-type") and not patterns):
                continue  # what has an advisory, or is for developers, moves alone
            words = [item.text for item in patterns.texts()] if patterns else ["*"]
            words += [f"!{item.text}" for item in (others.texts() if others else [])]
            _add(reading, group, words + scope, "dependabot", name)


def _add(reading: ParsedFile, node: YamlNode, words: list[str], tool: str, named: YamlNode | None = None) -> None:
    place = (named or node).place
    names = tuple(word.lower() for word in words[:200] if len(word) <= 200)
    reading.add(Action(place=place, text=named.text if named else "{", verb=MOVES, words=names, tool=tool))
