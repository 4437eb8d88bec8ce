"""Parser of setup.cfg and setup.py: the literals that they pass to setuptools; nothing is run."""

import ast
import re
from collections.abc import Iterator

from compatkb.core.text_position import Place
from compatkb.parsers.documents import ini_values
from compatkb.parsers.requirement import is_specifier, parse, refusal, statement
from compatkb.parsers.source import SourceFile
from compatkb.parsers.statement import MAIN, Group, Include, ParsedFile, PythonUse, RequirementRole


def read_setup_cfg(source: SourceFile, reading: ParsedFile) -> None:
    """Add what a setup.cfg asks for; extras are groups based on what is always installed."""
    for section, key, text, place in ini_values(source):
        if section == "options" and key == "python_requires":
            if is_specifier(text):
                reading.add(PythonUse(place=place, text=text, specifier=text))
            continue
        group, role = MAIN, RequirementRole.INSTALL
        if section == "options.extras_require":
            group = f"extra:{key}"
            reading.groups.setdefault(group, Group(group, "extra", f"the extra {key}", (MAIN,)))
        elif section != "options" or key not in ("install_requires", "setup_requires", "tests_require"):
            continue
        if key == "setup_requires" and section == "options":
            group, role = "build", RequirementRole.BUILD
            reading.groups.setdefault(group, Group(group, "build", "the build"))
        at = 0
        for part in re.split(r"(?<=;)\s*$|;(?!\s*(?:\(|python|sys_|platform|os_|extra|implementation))", text):
            column = text.find(part, at)
            at = column + len(part)
            bare = part.strip()
            if not bare or bare.startswith(("file:", "attr:", "%(")):
                continue
            shifted = place._replace(column=place.column + column + len(part) - len(part.lstrip()))
            requirement = statement(bare, shifted, group=group, role=role, tool="project") if parse(bare) else None
            if requirement:
                reading.add(requirement)
            else:
                reading.invalid(shifted, bare, refusal(bare))


def read_setup_script(source: SourceFile, reading: ParsedFile) -> None:
    """Add the requirements of a setup.py that are literals, or names to which the file assigns literals."""
    try:
        tree = ast.parse(source.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # of another Python, or a template
    named = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if (call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")) != "setup":
            continue
        for keyword in call.keywords:
            value = named.get(keyword.value.id, keyword.value) if isinstance(keyword.value, ast.Name) else keyword.value
            _add(keyword.arg or "", value, source, reading)
            if keyword.arg == "install_requires" and (found := _file_of(keyword.value, tree)):
                reading.add(Include(_place(found[1], source), found[0], path=found[0]))


def _file_of(value: ast.expr, tree: ast.Module) -> tuple[str, ast.expr] | None:
    """Return the one list of requirements that a value names, or the statements that assign it; None for none or several."""
    found = _lists_in(value)
    if not found and isinstance(value, ast.Name):
        assigning = (node for node in ast.walk(tree) if isinstance(node, ast.Assign | ast.With) and _assigns(node, value.id))
        found = {text: node for each in assigning for text, node in _lists_in(each).items()}
    return next(iter(found.items())) if len(found) == 1 else None


def _lists_in(node: ast.AST) -> dict[str, ast.expr]:
    constants = (one for one in ast.walk(node) if isinstance(one, ast.Constant))
    return {one.value: one for one in constants if isinstance(one.value, str) and one.value.endswith(".txt")}


def _assigns(node: ast.AST, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Store) for one in ast.walk(node))


def _add(key: str, value: ast.expr, source: SourceFile, reading: ParsedFile) -> None:
    if key == "python_requires":
        literals = [(node, text) for node, text in _literals(value) if is_specifier(text)]
        reading.statements += [PythonUse(_place(node, source), text, text) for node, text in literals]
    elif key == "install_requires":
        _add_all(value, MAIN, source, reading)
    elif key == "extras_require" and isinstance(value, ast.Dict):
        for name, required in zip(value.keys, value.values, strict=True):
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                group = f"extra:{name.value}"
                reading.groups.setdefault(group, Group(group, "extra", f"the extra {name.value}", (MAIN,)))
                _add_all(required, group, source, reading)


def _add_all(value: ast.expr, group: str, source: SourceFile, reading: ParsedFile) -> None:
    for node, text in _literals(value):
        if requirement := statement(text, _place(node, source), group=group, tool="project"):
            reading.add(requirement)
        elif why := refusal(text):
            reading.invalid(_place(node, source), text, why)


def _literals(value: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    for item in value.elts if isinstance(value, ast.List | ast.Tuple) else (value,):
        if isinstance(item, ast.Constant) and isinstance(item.value, str):
            yield item, item.value


def _place(node: ast.expr, source: SourceFile) -> Place:
    """Return where the text within the quotes of a literal stands."""
    line = source.text.splitlines()[node.lineno - 1]
    return Place(node.lineno, len(line.encode()[: node.col_offset].decode()) + 2)
