"""What a labelled report expects of doctor, and what of it is missing."""

from collections.abc import Iterator, Mapping
from typing import Any

from compatkb.doctor.verdict import Examination

Case = Mapping[str, Any]


def missing(case: Case, made: Examination) -> Iterator[str]:
    """Yield what an examination lacks, or has wrong."""
    expect = case["expect"]
    if made.verdict not in expect["verdict"]:
        yield f"verdict {made.verdict}"
    stack = made.best.stack if made.best else None
    if "device" in expect and (stack is None or stack.device != expect["device"]):
        yield f"a stack for {stack.device if stack else None}"
    if "os" in expect and made.system != expect["os"]:
        yield f"system {made.system}"
    if "python" in expect and made.machine.python != expect["python"]:
        yield f"Python {made.machine.python}"
    if "hardware" in expect and expect["hardware"] not in {seen.hardware for seen in made.seen}:
        yield f"hardware {[seen.hardware for seen in made.seen]}"
    if "change" in expect and (expect["change"] == "some") is not bool(made.steps):
        yield f"steps {made.steps}"
    held = {element.product: element.version for element in stack.packages} if stack else {}
    for product, version in expect.get("packages", {}).items():
        if not held.get(product, "").startswith(version):
            yield f"{product} {held.get(product)}"
    rules = {remark.rule for remark in made.remarks}
    yield from (f"no remark {rule}" for rule in expect.get("remarks", ()) if rule not in rules)
    yield from (f"remark {rule}" for rule in expect.get("not-remarks", ()) if rule in rules)
    if "ended" in expect and (made.instead is None or list(made.instead.ended) != expect["ended"]):
        yield "nothing in place of what has ended"
