"""A small data directory that every rule of lint accepts, as TOML; tests change a copy of it."""

import tomllib
from typing import Any

from families import written_text

from compatkb.authoring.canonical import text_of
from compatkb.authoring.loader import model_of

Content = dict[str, Any]

TEXTS = {
    "products/torch.toml": """
[product]
id = "torch"
name = "PyTorch"
role = "package"
scheme = "pep440"
rank = 1
distribution = "torch"
aliases = ["pytorch-core"]
eol-note = "None is published."
complete = [{ what = "release", of = "torch>=2.0", until = 2026-11-01, sources = ["list"] }]

[source]
list = { repo = "pytorch/pytorch", ref = "v2.1.0", path = "RELEASE.md", at = "Releases", seen = 2026-11-01 }
talk = { repo = "pytorch/pytorch", thread = "issues/7", seen = 2026-11-01 }
wheel = { channel = "default", file = "torch-2.1.0-cp311-cp311-linux_x86_64.whl", sha256 = "SHA", at = "N", seen = 2026-11-01 }

[[release]]
version = "2.1.0"
sources = ["list"]

[[release.build]]
version = "2.1.0"
channels = ["default"]
devices = ["cpu"]
sources = ["wheel"]

[[release.build]]
version = "2.1.0+xpu"
channels = ["extra"]
devices = ["xpu"]
wheels = [
    { os = ["linux"], python = ["3.11"], glibc = "2.28", basis = "inferred", note = "As others are.", sources = ["talk"] },
]
sources = ["list"]

[[release]]
version = "2.0.0"
sources = ["list"]

[[release.build]]
version = "2.0.0"
channels = ["default"]
devices = ["cpu"]
sources = ["list"]
""",
    "products/ipex.toml": """
[product]
id = "ipex"
name = "Extension"
role = "package"
scheme = "pep440"
rank = 2
distribution = "ext-for-torch"
eol = { last-day = 2026-03-31, precision = "month", sources = ["plan"] }
replaced-by = { product = "torch", version = ">=2.1", device = "xpu", sources = ["plan"] }

[source]
plan = { repo = "maker/ext", ref = "v2.1.10", path = "README.md", at = 12, seen = 2026-11-01 }
page = { url = "https://example.org/table", at = "Versions", seen = 2026-11-01 }

[[release]]
version = "2.1.20"
released = { on = 2024-06-01, basis = "announcement", sources = ["plan"] }
sources = ["plan"]

[[release.build]]
version = "2.1.20+xpu"
channels = ["extra"]
devices = ["xpu"]
sources = ["plan"]

[[release]]
version = "2.1.10"
released = { on = 2023-12-01, basis = "announcement", sources = ["plan"] }
yanked = { by = 2026-03-01, reason = "for security", sources = ["plan"] }
sources = ["plan"]

[[release.build]]
version = "2.1.10+xpu"
channels = ["extra"]
devices = ["xpu"]
sources = ["plan"]

[[claim]]
id = "ipex-2.1.10-torch"
kind = "needs"
of = "ipex==2.1.10+xpu"
to = ["torch==2.1.0+xpu"]
sources = ["plan"]

[[claim]]
id = "ipex-2.1.20-torch"
kind = "needs"
of = "ipex==2.1.20+xpu"
to = ["torch==2.1.0+xpu"]
sources = ["plan"]

[[claim]]
id = "ipex-2.1.10-hardware"
kind = "verified"
of = "ipex==2.1.10"
to = ["hardware==max"]
when = { os = ["ubuntu22.04"] }
sources = ["plan"]

[[claim]]
id = "ipex-2.1.10-numpy"
kind = "constrains"
of = "ipex==2.1.10"
to = ["numpy<2"]
sources = ["plan"]

[[claim]]
id = "ipex-2.1.20-python"
kind = "breaks"
of = "ipex==2.1.20"
to = ["python>=3.12"]
reason = "It does not start."
sources = ["plan"]

[[claim]]
id = "ipex-2.1.20-numpy-readme"
kind = "constrains"
of = "ipex==2.1.20"
to = ["numpy==1.26.4"]
sources = ["plan"]

[[claim]]
id = "ipex-2.1.20-numpy-page"
kind = "constrains"
of = "ipex==2.1.20"
to = ["numpy==2.0.0"]
sources = ["page"]

[[dispute]]
id = "ipex-2.1.20-numpy"
about = "which numpy goes with 2.1.20"
claims = ["ipex-2.1.20-numpy-readme", "ipex-2.1.20-numpy-page"]
decision = "ipex-2.1.20-numpy-readme"
reason = "The README is newer."
decided = 2026-11-01

[[install]]
of = "ipex==2.1.20"
steps = [["torch"], ["ipex"]]
waives = ["torch==2.1.0+xpu: numpy<2"]
sources = ["plan"]

[[advisory]]
of = "ipex==2.1.10"
kind = "security"
message = "Do not use it."
since = 2026-03-01
sources = ["page"]
""",
    "products/numpy.toml": """
[product]
id = "numpy"
name = "NumPy"
role = "leaf"
scheme = "pep440"
rank = 3
distribution = "numpy"

[source]
""",
    "products/hardware.toml": """
[product]
id = "hardware"
name = "hardware"
role = "dimension"
scheme = "listed"
rank = 4

[source]
page = { url = "https://example.org/hardware", at = "GPUs", seen = 2026-11-01 }

[[release]]
version = "max"
name = "Data Center GPU Max"
aliases = ["pvc"]
part-of = ["gpu"]
devices = ["xpu"]
sources = ["page"]

[[release]]
version = "gpu"
name = "any GPU"
devices = ["xpu"]
sources = ["page"]
""",
    "products/os.toml": """
[product]
id = "os"
name = "operating system"
role = "dimension"
scheme = "listed"
rank = 5
platform = true

[source]
page = { url = "https://example.org/os", at = "Releases", seen = 2026-11-01 }

[[release]]
version = "linux"
eol-note = "A family."
sources = ["page"]

[[release]]
version = "ubuntu22.04"
name = "Ubuntu 22.04"
aliases = ["jammy"]
part-of = ["linux"]
released = { on = 2022-04-21, sources = ["page"] }
eol = { last-day = 2027-04-01, precision = "month", sources = ["page"] }
sources = ["page"]
""",
    "products/python.toml": """
[product]
id = "python"
name = "Python"
role = "dimension"
scheme = "minor"
rank = 6
eol-note = "Not looked up."
platform = true

[source]
page = { url = "https://example.org/python", at = "Releases", seen = 2026-11-01 }

[[release]]
version = "3.12"
sources = ["page"]

[[release]]
version = "3.11"
sources = ["page"]
""",
    "products/arch.toml": """
[product]
id = "arch"
name = "architecture"
role = "dimension"
scheme = "listed"
rank = 7
default = "x86_64"
platform = true

[source]
page = { url = "https://example.org/arch", at = "Names", seen = 2026-11-01 }

[[release]]
version = "x86_64"
aliases = ["amd64"]
sources = ["page"]
""",
    "products/device.toml": """
[product]
id = "device"
name = "device"
role = "dimension"
scheme = "listed"
rank = 8

[source]
page = { url = "https://example.org/devices", at = "Names", seen = 2026-11-01 }

[[release]]
version = "xpu"
sources = ["page"]

[[release]]
version = "cpu"
sources = ["page"]
""",
    "index/torch.toml": """
distribution = "torch"
seen = 2026-11-01

[[release]]
version = "2.1.0"
uploaded = 2023-10-04T12:00:00Z
requires-python = ">=3.8"
requires = ["numpy==1.26.4", "sympy; python_version >= '3.8'"]
wheels = { cp311 = ["manylinux2014_x86_64"] }
file = "torch-2.1.0-cp311-cp311-manylinux2014_x86_64.whl"

[[release]]
version = "2.0.0"
uploaded = 2023-03-15T12:00:00Z
yanked = { files = "all", reason = "broken", seen = 2026-10-01 }
wheels = { cp311 = ["manylinux2014_x86_64"] }
""",
    "index/numpy.toml": """
distribution = "numpy"
seen = 2026-11-01

[[release]]
version = "2.0.0"
uploaded = 2024-05-16T12:00:00Z
wheels = { cp311 = ["manylinux2014_x86_64.manylinux_2_17_x86_64"] }

[[release]]
version = "1.26.4"
uploaded = 2023-02-05T12:00:00Z
wheels = { "py2.py3" = ["any"] }
""",
    "images/ext.toml": """
[repository]
id = "ext"
name = "maker/ext"
document = "README.md"
repo = "maker/images"
other-tables = ["services"]

[source]
table = { repo = "maker/images", ref = "abcdef0", path = "README.md", at = "Images", seen = 2026-11-01 }

[[revision]]
n = 1
commit = "abcdef0"
at = 2024-07-01T10:00:00Z

[[revision]]
n = 2
commit = "abcdef1"
at = 2024-08-01T10:00:00Z

[[tag]]
name = "2.1.20-xpu-pip-base"
device = "xpu"
flavour = "base"
option = "pip"
contains = [
    { is = "ipex==2.1.20+xpu", sources = ["table"] },
    { is = "torch==2.1.0+xpu", basis = "inferred", note = "Its build file says so.", sources = ["table"] },
]
sources = ["table"]

[[tag]]
name = "2.1.20-xpu"
device = "xpu"
same-as = "2.1.20-xpu-pip-base"
sources = ["table"]

[[tag]]
name = "2.1.20-xpu-pip-jupyter"
device = "xpu"
flavour = "jupyter"
option = "pip"
contains = [{ is = "ipex==2.1.20+xpu", sources = ["table"] }]
sources = ["table"]

[[tag]]
name = "2.1.10-xpu-pip-jupyter"
device = "xpu"
flavour = "jupyter"
option = "pip"
contains = [{ is = "ipex==2.1.10+xpu", sources = ["table"] }]
sources = ["table"]

[[tag]]
name = "2.1.10-xpu-idp-jupyter"
device = "xpu"
flavour = "jupyter"
option = "idp"
contains = [{ is = "ipex==2.1.10+xpu", sources = ["table"] }]
sources = ["table"]

[[listing]]
tags = ["2.1.20-xpu-pip-base", "2.1.20-xpu"]
table = "xpu"
order = 1
runs = [[1, 2]]

[[listing]]
tags = ["jupyter"]
table = "services"
order = 1
runs = [[1, 1]]
""",
    "channels.toml": """
[[channel]]
id = "default"
name = "the client's own index"
style = "default"
note = "What is asked when no index is named."

[[channel]]
id = "extra"
name = "wheels of the maker"
url = "https://example.org/wheels"
style = "index-url"
hardware = ["max"]
sources = ["readme"]

[source]
readme = { repo = "maker/ext", ref = "v2.1.10", path = "README.md", at = 3, seen = 2026-11-01 }
""",
    "routes.toml": """
[[route]]
id = "native"
name = "native"
rank = 1
device = ["xpu", "cpu"]
provider = "torch"
without = ["ipex"]

[[route]]
id = "ipex"
name = "extension"
rank = 2
device = ["xpu"]
provider = "ipex"
with = ["ipex"]
""",
}


def good() -> dict[str, Content]:
    """Return the content of every file, by path; each call a new one."""
    return {path: tomllib.loads(text.replace("SHA", "0" * 64)) for path, text in TEXTS.items()}


def written(data: dict[str, Content]) -> dict[str, bytes]:
    """Return the files as they stand on disk, in canonical form but in the given order."""
    return {path: text_in(path, content).encode() for path, content in data.items()}


def text_in(path: str, content: Content) -> str:
    """Return the text of a file in the order of its records."""
    return written_text(content) if path.startswith("products/") else text_of(model_of(path).model_validate(content))
