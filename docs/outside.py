"""Hook of the site's generator: links to files outside docs/ lead to the repository."""

import re
from typing import Any

_OUTSIDE = re.compile(r"\]\(((?:\.\./|schema/)[^)#\s]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown: str, config: Any, **_: object) -> str:
    """Return a page whose links out of the folder are addresses of the repository."""

    def address(found: re.Match[str]) -> str:
        path = found[1].removeprefix("../") if found[1].startswith("../") else f"docs/{found[1]}"
        return f"]({config.repo_url}/blob/main/{path}{found[2] or ''})"

    return _OUTSIDE.sub(address, markdown)
