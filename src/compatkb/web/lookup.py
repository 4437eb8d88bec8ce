"""The front page: its form, the words that its script needs, and one answer for those without script."""

from typing import Any

from compatkb.engine.answer import resolve
from compatkb.records import Request
from compatkb.rendering.text import VERDICTS, answer_text
from compatkb.web.page import Markup, Page, fill, markup, tag, template
from compatkb.web.questions import Field, Form
from compatkb.web.working import ANY, sheet_name

STALE_DAYS = 180
SHORT = {
    "works": "works",
    "works-with-warnings": "works, with warnings",
    "likely": "likely",
    "unknown": "unknown",
    "does-not-work": "does not work",
}
"""Verdicts as a badge says them."""
MEANINGS = {
    "works": "Every link that matters is stated by a primary source or was observed, and none is denied.",
    "works-with-warnings": "Every link that matters is stated or was observed; there is something to know before you use it.",
    "likely": "At least one link is only inferred. The answer says which, and what would settle it.",
    "unknown": "The data cannot tell. The answer names what is not settled.",
    "does-not-work": "A statement, a rule or a recorded failure denies it, or nothing that fits was ever published.",
}
_SUPPORTS = {
    "observed": "observed, in dated and repeatable runs",
    "stated": "stated by primary sources",
    "inferred": "inferred in part",
    "unknown": "not known",
}
_SIDES = {"same": "In the same series", "below": "Nearest below", "above": "Nearest above", "best": "Best today"}
_WORDS = {
    "yanked": "Yanked",
    "eol": "End of life",
    "preview": "Preview",
    "security": "Security",
    "driver": "Driver",
    "known-issue": "Known issue",
    "noindex": "No install command: a package of this stack is on no index that the data know.",
    "excluded": "What is chosen of the platform excludes itself: no such system and Python go together.",
    "notworkedout": "This combination was not worked out for the page. The command line answers it:",
}
GROUPS = (("Machine", ("device", "hardware", "os", "python")), ("Versions", ("main", "route")))


def form_data(form: Form) -> dict[str, Any]:
    """Return what the script needs to know before any answer."""
    products = {product.id: [product.id, product.role] for product in form.facts.products.values()}
    return {
        "as_of": form.today.isoformat(),
        "data_date": form.facts.meta["data_date"],
        "stale_after": STALE_DAYS,
        "any": ANY,
        "example": example_text(form),
        "fields": [_field_data(field) for field in form.fields],
        "products": products,
        "routes": {route.id: route.name for route in form.facts.routes},
        "verdicts": {
            name: {"word": SHORT[name], "meaning": MEANINGS[name], "answer": name not in ("does-not-work", "unknown")}
            for name in VERDICTS
        },
        "bound": _bound(form),
        "images": [[name, device, held] for name, device, held in form.images],
        "supports": _SUPPORTS,
        "sides": _SIDES,
        "words": _WORDS,
        "denied": "does-not-work",
    }


def _bound(form: Form) -> dict[str, Any]:
    """Return the packages of the form that a route brings along, with the route and the release of each build."""
    found = {}
    for route in form.facts.routes:
        for product in route.with_:
            if product in form.packages:
                releases = {element.version: element.release for element in form.facts.elements(product)}
                found[product] = {"route": route.id, "releases": releases}
    return found


def _field_data(field: Field) -> dict[str, Any]:
    return {
        "id": field.id,
        "label": field.label,
        "param": field.option.removeprefix("--"),
        "option": field.option,
        "said": "" if field.id in ("hardware", "os") else field.option.removeprefix("--"),
        "values": [[value.id, value.label] for value in field.values],
    }


def example(form: Form) -> dict[str, str]:
    """Return the choices of the front page's example: the newest series that has no stack on the first device."""
    device = form.values("device")[0]
    for main in form.values("main"):
        chosen = {"device": device, "main": main}
        if resolve(form.facts, form.request(chosen)).verdict == "does-not-work" and _is_amid(form, main):
            return chosen
    return {"device": device}


def _is_amid(form: Form, main: str) -> bool:
    """Return whether a series is none of the newest, of which little is known yet."""
    return form.values("main").index(main) > len(form.values("main")) // 4


def example_text(form: Form) -> str:
    """Return the example as the address has it."""
    chosen = example(form)
    params = {field.id: field.option.removeprefix("--") for field in form.fields}
    return "&".join(f"{params[name]}={value}" for name, value in chosen.items())


def lookup_page(form: Form) -> Page:
    """Return the front page."""
    chosen = example(form)
    request: Request = form.request(chosen)
    plain = answer_text(form.facts, resolve(form.facts, request))
    content = fill(
        template("lookup.html"),
        fields=_fields(form),
        question=f"{chosen.get('main', '')} on {chosen['device']}",
        plain=plain,
    )
    scripts = ("app.js", "data/form.js", f"data/answers/{sheet_name(chosen['device'], chosen.get('main', ''))}.js")
    return Page(
        "index.html",
        "compatkb: which versions of PyTorch work together on Intel hardware",
        content,
        scripts=scripts,
        wide=True,
    )


def _fields(form: Form) -> Markup:
    by_id = {field.id: field for field in form.fields}
    groups = [*GROUPS, ("Further packages", form.packages)]
    made = []
    for legend, names in groups:
        controls = [_control(by_id[name]) for name in names if name in by_id]
        if names is form.packages:
            controls.append(_image_control(form))
        made.append(tag("fieldset", tag("legend", legend), tag("div", controls, class_="fields")))
    return markup(made)


def _control(field: Field) -> Markup:
    if field.id == "device":
        labels = [
            tag("label", tag("input", type="radio", name=field.id, value=value.id), tag("span", value.label))
            for value in field.values
        ]
        group = tag("div", labels, class_="segments", role="radiogroup", aria_labelledby="label-device")
        return tag("div", tag("span", field.label, class_="label", id="label-device"), group, class_="whole")
    options = [tag("option", "any", value=""), *(tag("option", value.label, value=value.id) for value in field.values)]
    wide = "whole" if field.id == "hardware" else None if field.id in ("main", "route", "python", "os") else "package"
    name = f"field-{field.id}"
    return tag("div", tag("label", field.label, for_=name), tag("select", options, id=name, name=field.id), class_=wide)


def _image_control(form: Form) -> Markup:
    options = [tag("option", "any", value=""), *(tag("option", name, value=name) for name, _, _ in form.images)]
    label = tag("label", "Container image", for_="field-image")
    return tag("div", label, tag("select", options, id="field-image", name="image"), class_="whole")
