"""Hook of the site's generator: links to files outside docs/ lead to the repository."""

import re
from typing import Any

_OUTSIDE = re.compile(r"\[([^\]]*)\]\(((?:\.\./|schema/)[^)#\s]+)(#[^)\s]*)?\)")


def on_page_markdown(markdown: str, config: Any, **_: object) -> str:
    """Return a page whose links out of the folder are addresses of the repository, or mere text where the build knows none."""

    def address(found: re.Match[str]) -> str:
        if not config.repo_url:
            return found[1]
        path = found[2].removeprefix("../") if found[2].startswith("../") else f"docs/{found[2]}"
        return f"[{found[1]}]({config.repo_url}/blob/main/{path}{found[3] or ''})"

    return _OUTSIDE.sub(address, markdown)
