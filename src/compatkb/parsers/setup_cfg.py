"""setup.cfg: what setuptools reads there."""

import re

from compatkb.parsers.documents import ini_values
from compatkb.parsers.requirement import is_specifier, parse, statement
from compatkb.parsers.source import SourceFile
from compatkb.parsers.statement import MAIN, Group, ParsedFile, PythonUse, RequirementRole


def read_setup_cfg(source: SourceFile, reading: ParsedFile) -> None:
    """Add what a setup.cfg asks for; extras are groups based on what is always installed."""
    for section, key, text, place in ini_values(source):
        if section == "options" and key == "python_requires":
            if is_specifier(text):
                reading.statements.append(PythonUse(place=place, text=text, specifier=text))
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
                reading.statements.append(requirement)
            else:
                reading.problem(shifted, f"invalid requirement: {bare[:80]!r}")
