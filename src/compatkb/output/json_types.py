"""The types of all JSON that the program writes; their schemas are made of them."""

from typing import Annotated, Any, Literal, NotRequired

from typing_extensions import TypedDict

from compatkb.core.vocabulary import Verdict


class Says:
    """What a JSON Schema says of a value beyond its type; pydantic asks it, the program itself needs none of it."""

    def __init__(self, text: str = "", **rules: Any) -> None:
        words = {
            rule.split("_")[0] + "".join(part.title() for part in rule.split("_")[1:]): value for rule, value in rules.items()
        }
        self.rules = ({"description": text} if text else {}) | words

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        return {**handler(core), **self.rules}


def one_of(*words: str | None) -> Says:
    """Return that a value is one of some words."""
    return Says(enum=list(words))


VERDICTS = one_of(*Verdict)
WHERE = one_of("same", "below", "above", "best")
SUPPORT = one_of("supported", "inferred", "unknown")
BASIS = one_of("stated", "inferred")
Text = Annotated[str, Says(min_length=1)]
Texts = Annotated[list[Text], Says(unique_items=True)]
Day = Annotated[str, Says(format="date", pattern=r"^\d{4}-\d{2}-\d{2}$")]
Count = Annotated[int, Says(minimum=0)]


class SourceJson(TypedDict):
    """A cited document."""

    text: Annotated[Text, Says("The document as people read it.")]
    url: Annotated[str | None, Says("Its address; null for a file on a package index.", format="uri")]


class PositionJson(TypedDict):
    """One side of a dispute."""

    text: Annotated[Text, Says("What it says.")]
    claim: Annotated[Text | None, Says("The id of the claim that says it; null where no claim does.")]
    sources: Annotated[list[SourceJson], Says("The documents that say so.", min_items=1)]


class DisputeJson(TypedDict):
    """A disagreement and what was decided."""

    id: Annotated[Text, Says("The id of the dispute in the data.")]
    about: Annotated[Text, Says("What the sources disagree about.")]
    positions: Annotated[list[PositionJson], Says("What each side says, with its sources.", min_items=2)]
    decision: Annotated[Text, Says("The id or value that holds, `both`, or `open`.")]
    holds: Annotated[Text | None, Says("What holds, in words; null while the dispute is open.")]
    reason: Annotated[Text, Says("Why it was decided so.")]
    decided: Annotated[Day, Says("The day of the decision.")]


class ClaimJson(TypedDict):
    """What one product's versions say of another's."""

    id: Annotated[Text, Says("The id of the claim in the data.")]
    kind: Annotated[
        str, one_of("needs", "constrains", "verified", "breaks"), Says("The kind of claim; data/README.md defines them.")
    ]
    of: Annotated[Text, Says("A term: product id and specifier.")]
    to: Annotated[list[Text], Says("Terms: of one product any of them, of several products all together.", min_items=1)]
    when: Annotated[str, Says("The condition under which it holds; empty for always.")]
    basis: Annotated[str, one_of("stated", "observed", "inferred"), Says("How the claim is known.")]
    sources: Annotated[list[SourceJson], Says("The documents that say so, best first.")]
    reason: NotRequired[Annotated[Text, Says("Why it breaks, for people.")]]
    note: NotRequired[Annotated[Text, Says("A remark; for an inference its reason.")]]
    disputes: NotRequired[
        Annotated[list[DisputeJson], Says("Disagreements between sources that this claim is part of.", min_items=1)]
    ]


class RequestJson(TypedDict):
    """The request as it was understood."""

    pins: Annotated[
        dict[str, Text], Says("Product id to the version words as typed; two pins on one product are joined by a space.")
    ]
    needs: Annotated[Texts, Says("Ids of the features that a stack must have.")]
    products: Annotated[Texts, Says("Ids of the products asked for in any version.")]
    devices: Annotated[
        Texts,
        Says("Devices asked about; all that the data know, or that the hardware offers, where none was named.", min_items=1),
    ]
    route: Annotated[Text | None, Says("The only route that will do; null where none was named.")]
    uploaded_before: Annotated[Day | None, Says("The day from which on uploads do not count; null where all do.")]


class FeatureJson(TypedDict):
    """A feature that the request needs, as a stack has it."""

    feature: Annotated[Text, Says("The id of the feature.")]
    status: Annotated[
        str,
        one_of("supported", "beta", "prototype", "unknown"),
        Says("How far it has come; unknown where nothing says that it is there."),
    ]
    support: Annotated[str, SUPPORT, Says("How well that is known, on the platforms of the stack.")]
    claims: Annotated[list[ClaimJson], Says("What is said of it and the packages of the stack.")]


class WarningJson(TypedDict):
    """A reason for care."""

    kind: Annotated[
        str,
        one_of(
            "yanked",
            "eol",
            "preview",
            "security",
            "vulnerability",
            "driver",
            "known-issue",
            "unreviewed",
            "unnamed",
            "feature",
        ),
        Says("All but known-issue make the verdict works-with-warnings."),
    ]
    product: Annotated[Text, Says("The product that it concerns.")]
    message: Annotated[Text, Says("The warning as a sentence.")]
    sources: Annotated[list[SourceJson], Says("The documents that say so, best first.")]


class StackIssueJson(TypedDict):
    """A known issue that a stack has or may have."""

    id: Annotated[Text, Says("Its id in the data.")]
    title: Annotated[Text, Says("What goes wrong.")]
    effect: Annotated[Text, Says("What a user sees of it.")]
    state: Annotated[Text, Says("open, fixed or wont-fix.")]
    when: Annotated[list[str], Says("Conditions that the request does not settle, in words; empty where the stack has it.")]
    cures: Annotated[list[str], Says("What takes it away without a grave issue in its place.")]
    sources: Annotated[list[SourceJson], Says("Where it was read.")]


class StackImageJson(TypedDict):
    """A container image tag."""

    image: Annotated[Text, Says("Repository and tag, as `docker pull` takes them.")]
    basis: Annotated[str, BASIS, Says("Whether all of its contents are stated.")]
    first_listed: Annotated[Day, Says("The day on which its maker's document first listed it.")]
    listed: Annotated[bool, Says("Whether the document listed it on the as-of day.")]
    disputes: Annotated[list[DisputeJson], Says("Disagreements between sources about this tag.")]


class EdgeJson(TypedDict):
    """Two members of a stack and the claims about them."""

    between: Annotated[list[Text], Says("Two product ids.", min_items=2, max_items=2)]
    support: Annotated[str, SUPPORT, Says("How well the two are known to go together.")]
    claims: Annotated[list[ClaimJson], Says("The claims that speak of both.", min_items=1)]


class StackBuildJson(TypedDict):
    """A member of a stack and the sources that say that it exists."""

    product: Annotated[Text, Says("Product id.")]
    version: Annotated[Text, Says("Version of the build.")]
    sources: Annotated[list[SourceJson], Says("The documents that say so, best first.")]


class StackBriefJson(TypedDict):
    """What programs get of a stack that is proposed."""

    verdict: Annotated[str, one_of("works", "works-with-warnings", "likely", "unknown"), Says("The verdict of this stack.")]
    support: Annotated[
        str, one_of("observed", "stated", "inferred", "unknown"), Says("The weakest basis that the stack rests on.")
    ]
    device: Annotated[Text, Says("The device that it runs on.")]
    route: Annotated[Text, Says("The id of the way to reach the device.")]
    packages: Annotated[
        dict[str, Text],
        Says(
            "Product id to the version of the build, in the order of the products' rank; includes companions and runtimes.",
            min_properties=1,
        ),
    ]
    python: Annotated[Texts, Says("Python minors, oldest first; `t` marks the free-threaded build.", min_items=1)]
    os: Annotated[Texts, Says("Operating systems, in the order of the data.", min_items=1)]
    install: Annotated[
        list[Text],
        Says("pip commands to run in this order, quoted for a POSIX shell; empty where a package is on no known index."),
    ]
    install_uv: Annotated[list[Text], Says("The same for uv.")]
    proof: Annotated[str | None, Says("A command that fails unless exactly these versions are installed and import.")]
    warnings: Annotated[list[WarningJson], Says("Reasons for care, in the order of the packages.")]


class StackJson(StackBriefJson):
    """Builds that go together on every combination of the listed python, os and arch values."""

    distributions: Annotated[
        dict[str, Text],
        Says("Product id to the name under which the build is installed, where that is another one than the id."),
    ]
    arch: Annotated[Texts, Says("Architectures, in the order of the data.", min_items=1)]
    hardware: Annotated[Texts, Says("Hardware that the builds name, or the pinned one; empty where nothing is said.")]
    driver: Annotated[Texts, Says("GPU drivers that the builds name, newest first, or the pinned one.")]
    oneapi: Annotated[Texts, Says("oneAPI Base Toolkits that the builds name, newest first, or the pinned one.")]
    glibc: Annotated[Texts, Says("glibc versions that the builds name, newest first, or the pinned one.")]
    software: Annotated[
        dict[str, Annotated[Texts, Says(min_items=1)]],
        Says("What else the builds name of the software of a device, by its label (`level zero`), newest first."),
    ]
    features: Annotated[list[FeatureJson], Says("What is known of the features that the request needs.")]
    bounds: Annotated[
        dict[str, Text], Says("Product id to the PEP 440 specifier that the install command adds, since no metadata say it.")
    ]
    known_issues: Annotated[list[StackIssueJson], Says("Known issues that it has or may have, the surest and gravest first.")]
    indexes: Annotated[Texts, Says("Addresses of the package indexes needed; `default` is the client's own.")]
    images: Annotated[list[StackImageJson], Says("Container image tags declared to contain the stack.")]
    disputes: Annotated[list[DisputeJson], Says("Disagreements between sources that this rests on, open ones first.")]
    unsettled: Annotated[list[Text], Says("Sentences: what is only inferred or not known, and what would settle it.")]
    sources: Annotated[list[SourceJson], Says("The documents that say so, best first.")]
    edges: NotRequired[
        Annotated[list[EdgeJson], Says("With --why, and in an explain that finds a stack: what speaks for each two members.")]
    ]
    builds: NotRequired[
        Annotated[list[StackBuildJson], Says("With --why, and in an explain that finds a stack: the sources of each build.")]
    ]


class CauseJson(TypedDict):
    """One fact, or group of facts, that excludes every stack of a device and route."""

    kind: Annotated[
        str,
        one_of("offer", "platform", "claim", "unsettled"),
        Says(
            "offer: no build to install; platform: no wheel; claim: two products exclude each other; "
            "unsettled: what keeps an answer from being given."
        ),
    ]
    products: Annotated[list[Text], Says("Ids of the products that it is about.", min_items=1)]
    device: Annotated[Text, Says("The device that it is about.")]
    route: Annotated[Text, Says("The id of the route that it is about.")]
    certain: Annotated[bool, Says("False where an absence or an inference proves nothing; then the verdict is `unknown`.")]
    message: Annotated[Text, Says("The cause as a sentence.")]
    claims: Annotated[Texts, Says("Ids of the claims that deny.")]
    disputes: Annotated[list[DisputeJson], Says("Disagreements between sources that this cause rests on.")]
    sources: Annotated[list[SourceJson], Says("The documents that say so, best first.")]


class NearJson(TypedDict):
    """A stack that answers the request after pins were given up."""

    relaxed: Annotated[Texts, Says("Ids of the products whose pins were given up.", min_items=1)]
    where: Annotated[
        str,
        WHERE,
        Says(
            "Where the stack lies from the pin given up: in the same series, the nearest series below "
            "or above, or the best today."
        ),
    ]
    stack: StackJson


class BesideJson(TypedDict):
    """A stack beside the best one, and why it is named."""

    kind: Annotated[
        str,
        one_of("proven", "default-index", "successor"),
        Says(
            "proven: every part is stated or observed; default-index: from the client's own index; "
            "successor: without what has ended."
        ),
    ]
    stack: StackJson


class DocumentJson(TypedDict):
    """What each document begins with."""

    schema: Annotated[Literal[1], Says("The number of this contract. Within one number fields are only added.")]
    data_date: Annotated[Day, Says("The newest day on which a source of the data was read.")]
    as_of: Annotated[Day, Says("The day that the answer is for, to its end in UTC.")]


class ProblemJson(TypedDict):
    """One thing that is wrong with a call, or with what it needs."""

    message: Annotated[Text, Says("What is wrong, and where.")]
    hints: Annotated[list[Text], Says("What would be right, a line each.")]


class RefusalJson(TypedDict):
    """Why there is no result."""

    exit_code: Annotated[int, Says("The exit code of the command.", minimum=1, maximum=130)]
    kind: Annotated[
        str,
        one_of("usage", "data", "unavailable", "gave-up", "unknown", "other"),
        Says("What the exit code means, in a word."),
    ]
    problems: Annotated[list[ProblemJson], Says("Everything that is wrong, in the order in which it was found.", min_items=1)]


class RefusalDocument(TypedDict):
    """What a command with `--format json` prints where it has no result."""

    schema: Annotated[Literal[1], Says("The number of this contract. Within one number fields are only added.")]
    error: RefusalJson


class AnswerJson(DocumentJson):
    """What `resolve --format json` and `explain --format json` print."""

    request: RequestJson
    verdict: Annotated[
        str,
        VERDICTS,
        Says("The verdict of the best stack, or of systems that differ the worst; `does-not-work` where there is none."),
    ]
    stacks: Annotated[
        list[StackJson],
        Says("The stacks that answer the request, best first; with verdict `unknown` those that nothing speaks against."),
    ]
    causes: Annotated[list[CauseJson], Says("Why there is no stack, or why nothing can be said; empty for an answer.")]
    nearest: Annotated[
        list[NearJson], Says("Stacks that need some pins given up: fewest pins first; empty for an answer.", max_items=8)
    ]
    beside: Annotated[list[BesideJson], Says("Stacks that stand beside the best one, at most one of a kind.", max_items=3)]
    gave_up: Annotated[bool, Says("Whether the search ended before everything near was looked for.")]


class InsteadJson(TypedDict):
    """What takes the place of products that have ended."""

    ended: Annotated[Texts, Says("Ids of the products that have ended.", min_items=1)]
    stack: StackBriefJson


class HeldPackageJson(TypedDict):
    """An installed package."""

    product: Annotated[Text, Says("The id of the product.")]
    name: Annotated[Text, Says("The distribution as it is installed.")]
    version: Annotated[str | None, Says("Its version with the local label; null for metadata without one.")]
    known: Annotated[bool, Says("Whether the data know this version.")]


class GraphicsJson(TypedDict):
    """A display device."""

    slot: Annotated[Text, Says("Where it is on the bus, or its place in the report.")]
    id: Annotated[str, Says("Vendor and device, in hexadecimal.", pattern="^[0-9a-f]{4}:[0-9a-f]{4}$")]
    name: Annotated[Text, Says("What it is called.")]
    hardware: Annotated[Text | None, Says("The hardware of the data that it is; null for what no table names.")]
    kernel_driver: Annotated[
        Text | None, Says("The kernel driver that has taken it; null where none has, or nobody could tell.")
    ]
    note: Annotated[Text | None, Says("What to know of it.")]
    sources: Annotated[list[SourceJson], Says("The documents that say so.")]


class DriverJson(TypedDict):
    """A package of the system."""

    name: Annotated[Text, Says("Its name.")]
    version: Annotated[Text, Says("Its version.")]


class RemarkJson(TypedDict):
    """One thing that is wrong."""

    rule: Annotated[
        str,
        one_of(
            "no-metadata",
            "broken-metadata",
            "missing-package",
            "two-versions",
            "installed-twice",
            "unknown-version",
            "unnamed-graphics",
            "no-kernel-driver",
            "driver-part-missing",
            "driver-not-named",
            "no-render-node",
            "render-node-refused",
            "devices-hidden",
            "mixed-runtimes",
            "no-graphics-for-build",
            "build-for-another-device",
        ),
        Says("The stable id; docs/doctor.md has one row for each."),
    ]
    level: Annotated[str, one_of("error", "warning"), Says("An error keeps things from working; a warning may.")]
    message: Annotated[Text, Says("What is wrong, as a sentence.")]
    fix: Annotated[Text | None, Says("What to do.")]
    sources: Annotated[list[SourceJson], Says("The documents that say so.")]


class StepJson(TypedDict):
    """A change of one package."""

    distribution: Annotated[Text, Says("The distribution.")]
    before: Annotated[Text | None, Says("The version that is installed; null where none is.")]
    after: Annotated[Text | None, Says("The version to install; null to remove it.")]


class ExaminationJson(DocumentJson):
    """What `compatkb doctor --format json` prints."""

    origin: Annotated[Text, Says("The interpreter, or the report.")]
    python: Annotated[Text | None, Says("The Python minor, `t` for the free-threaded build; null where nobody could tell.")]
    os: Annotated[Text | None, Says("The operating system by its id in the data; null where nobody could tell.")]
    arch: Annotated[Text | None, Says("The architecture; null where nobody could tell.")]
    kernel: Annotated[Text | None, Says("The release of the kernel; null where nobody could tell.")]
    glibc: Annotated[Text | None, Says("The version of glibc; null where there is none or nobody could tell.")]
    packages: Annotated[list[HeldPackageJson], Says("The installed packages that the data know.")]
    graphics: Annotated[list[GraphicsJson] | None, Says("The display devices; null where nobody looked.")]
    drivers: Annotated[list[DriverJson], Says("Packages of the system that bring parts of the driver.")]
    driver: Annotated[Text | None, Says("The series of the driver that they belong to; null where nobody can tell.")]
    variables: Annotated[dict[str, str], Says("Variables that decide which libraries and devices programs get, by name.")]
    libraries: Annotated[list[Text], Says("Run-time libraries on the way of programs, as paths.")]
    verdict: Annotated[str, one_of(*Verdict, "nothing-installed", "gpu-not-used"), Says("The verdict of what is installed.")]
    healthy: Annotated[bool, Says("Whether what is installed works and nothing is wrong.")]
    request: Annotated[RequestJson | None, Says("The question that the verdict answers; null where nothing was asked.")]
    reasons: Annotated[list[Text], Says("Why the verdict is no, as sentences.")]
    remarks: Annotated[list[RemarkJson], Says("What is wrong.")]
    steps: Annotated[list[StepJson], Says("The changes on the way to the stack; empty where nothing has to change.")]
    commands: Annotated[list[Text], Says("What to run, in this order; empty where nothing has to change.")]
    stack: Annotated[StackBriefJson | None, Says("The stack that works; null where none is known.")]
    instead: Annotated[
        InsteadJson | None, Says("What takes the place of installed products that have ended; null where none has.")
    ]
    proven: Annotated[
        StackBriefJson | None,
        Says(
            "Beside a stack that is proposed and only likely, the best one of which every part is "
            "stated or observed; else null."
        ),
    ]
    known_issues: Annotated[list[Text], Says("Known issues of what is installed, on this kernel, driver and GPU.")]


class TextLineJson(TypedDict):
    """A line of the text."""

    line: Annotated[int, Says("Its number, from 1.", minimum=1)]
    text: Annotated[str, Says("The line, shortened.")]


class ReadVersionJson(TypedDict):
    """A version that the text names."""

    product: Annotated[Text, Says("The id of the product.")]
    version: Annotated[Text, Says("The version.")]
    line: Annotated[int, Says("The line that names it, from 1.", minimum=0)]


class WantedBuildJson(TypedDict):
    """A build of a release."""

    version: Annotated[Text, Says("Its version.")]
    channels: Annotated[list[Text], Says("Ids of the indexes that have it.")]


class WantedJson(TypedDict):
    """A requirement that was not met."""

    requirement: Annotated[Text, Says("The requirement as the text has it.")]
    known: Annotated[bool, Says("Whether the data have this very build.")]
    builds: Annotated[list[WantedBuildJson], Says("Builds of that release, newest first.")]
    near: Annotated[list[Text], Says("Releases near to it.")]


class NearBriefJson(TypedDict):
    """A stack that works, and what was given up for it."""

    relaxed: Annotated[list[Text], Says("Ids of products whose version was given up.")]
    where: Annotated[str, WHERE, Says("How it lies to what was asked.")]
    stack: StackBriefJson


class ChoiceJson(TypedDict):
    """A stack that works, and what it is for."""

    device: Annotated[Text, Says("Id of the device.")]
    systems: Annotated[
        list[Annotated[str, one_of("linux", "windows", "macos")]],
        Says("Kinds of operating system; empty where it serves all that may be meant."),
    ]
    relaxed: Annotated[list[Text], Says("Ids of products whose version was given up.")]
    where: Annotated[str, WHERE, Says("How it lies to what was asked.")]
    stack: StackBriefJson


class TargetJson(TypedDict):
    """What an answer is for."""

    device: Annotated[str | None, Says("The device, null where the text tells none that compatkb serves.")]
    foreign: Annotated[str | None, Says("A device that compatkb has no stacks for, such as cuda; nothing is proposed then.")]
    os: Annotated[str | None, Says("The operating system.")]
    python: Annotated[str | None, Says("The Python version.")]
    installer: Annotated[str, one_of("pip", "uv", "uv-pip", "poetry", "pixi"), Says("What installs packages there.")]


class TextCauseJson(TypedDict):
    """A cause that the text speaks for."""

    id: Annotated[Text, Says("The id of the cause.")]
    kind: Annotated[
        str, one_of("issue", "version", "index", "library", "runtime", "machine", "code"), Says("What has to change.")
    ]
    title: Annotated[Text, Says("The cause in a line.")]
    why: Annotated[Text, Says("Why it happens.")]
    do: Annotated[list[Text], Says("What to do, in this order.", min_items=1)]
    weight: Annotated[int, Says("How much speaks for it; comparable within one answer only.")]
    certainty: Annotated[str, one_of("cause", "possible"), Says("Whether the text proves it.")]
    confirm: Annotated[str | None, Says("What to run or look at, and which outcome refutes it.")]
    avoid: Annotated[str | None, Says("What does not help, and why.")]
    lines: Annotated[list[TextLineJson], Says("The lines of the text that speak for it; empty where the data alone do.")]
    sources: Annotated[list[SourceJson], Says("Threads in which others had it.", min_items=1)]


class DiagnosisJson(DocumentJson):
    """What `compatkb diagnose --format json` prints."""

    certainty: Annotated[str, one_of("cause", "possible", "unknown"), Says("How sure the first of the causes is.")]
    causes: Annotated[list[TextCauseJson], Says("What may be behind it, the likeliest first.")]
    commands: Annotated[list[str], Says("What to run, for the device, the system and the installer of the text.")]
    fixes: Annotated[list[str], Says("What the commands change, and further steps, in this order.")]
    detected: Annotated[list[str], Says("What the text names: versions, GPU, parts of the driver, system, in words.")]
    versions: Annotated[list[ReadVersionJson], Says("The versions that the text names, in the order of the products' rank.")]
    unknown_versions: Annotated[list[Text], Says("Versions in the text that the data do not know.")]
    wanted: Annotated[list[WantedJson], Says("Requirements that no installer could meet.")]
    verdict: Annotated[
        str | None,
        one_of(*Verdict, None),
        Says("What the data say of the versions; null where the text names fewer than two packages."),
    ]
    request: Annotated[RequestJson | None, Says("The question that the verdict answers; null where there is none.")]
    reasons: Annotated[list[Text], Says("Why the verdict is no, as sentences.")]
    nearest: Annotated[
        list[NearBriefJson], Says("Stacks that work, for the device and the system that the text tells.", max_items=3)
    ]
    either: Annotated[
        list[ChoiceJson],
        Says("Where the text does not tell the device or the system: a stack for each that may be meant; else empty."),
    ]
    ended: Annotated[list[Text], Says("Ids of products that have ended, among those that the text or the advice names.")]
    instead: Annotated[
        InsteadJson | None, Says("What takes the place of products that have ended, for that device and system; else null.")
    ]
    target: Annotated[TargetJson, Says("What the answer is for, as far as the text tells.")]
    known_issues: Annotated[list[str], Says("Known issues of what the text names, of which it shows no sign.")]
    missing: Annotated[list[str], Says("What tells more, where no cause is proven; else empty.")]


class WheelsJson(TypedDict):
    """The Pythons for which there are wheels on a system."""

    os: str
    arch: str
    python: list[str]
    basis: Annotated[str, one_of("seen", "inferred")]


class LinksJson(TypedDict):
    """The libraries that the wheels for a system link to."""

    os: str
    arch: str
    needs: list[str]
    unlinked: list[str]
    seen: Day
    conflict: str | None


class BuildJson(TypedDict):
    """A build of a release."""

    version: str
    stage: str
    devices: list[str]
    channels: list[str]
    yanked: bool
    yank_reason: str | None
    wheels: list[WheelsJson]
    links: list[LinksJson]
    sources: list[SourceJson]


class ListedReleaseJson(TypedDict):
    """A release in a list."""

    version: str
    name: str | None
    aliases: list[str]
    released: str | None
    eol: Day | None
    ended: bool
    yanked: bool
    builds: list[str]
    disputed: list[str]


class NoticeJson(TypedDict):
    """What was said of the security of releases: by their vendor, in an advisory, or where they were yanked for it."""

    message: Text
    since: Day
    sources: list[SourceJson]


class ReleaseJson(TypedDict):
    """A release with its builds, claims, disputes and sources."""

    version: str
    released: str | None
    released_basis: str | None
    eol: Day | None
    note: str | None
    security: list[NoticeJson]
    disputed: list[str]
    sources: list[SourceJson]
    builds: list[BuildJson]
    claims: list[ClaimJson]
    claimed_by: list[str]
    disputes: list[DisputeJson]
    features: list[dict[str, Any]]
    machine: dict[str, list[Any]]


PartJson = TypedDict("PartJson", {"is": str, "basis": Annotated[str, BASIS]})


class TagJson(TypedDict):
    """An image tag: when it was listed (first and last day), and what it is declared to hold."""

    tag: str
    device: str
    listed: list[tuple[Day, Day | None]]
    is_listed: bool
    contains: list[PartJson]
    run: str
    run_notes: list[str]
    note: str | None
    disputes: list[DisputeJson]
    sources: list[SourceJson]


class RepositoryJson(TypedDict):
    """A repository of images."""

    repository: str
    tags: list[TagJson]


class EndJson(TypedDict):
    """An end of life."""

    product: str
    version: str
    last_day: Day
    precision: str | None
    ended: bool
    disputed: bool
    sources: list[SourceJson]


class EventJson(TypedDict):
    """An event of the timeline; it happened between two days."""

    id: str
    vendor: str
    kind: str
    title: str
    date: str
    first_day: Day
    last_day: Day
    precision: str
    basis: str | None
    state: str
    announced: Day | None
    product: str | None
    version: str | None
    note: str | None
    disputes: list[dict[str, Any]]
    sources: list[SourceJson]


class VendorJson(TypedDict):
    """Whose events the timeline has."""

    id: str
    name: str


class ProductRowJson(TypedDict):
    """A product in a list, with numbers of its releases and builds."""

    id: str
    name: str
    role: str
    releases: Count
    builds: Count
    distribution: str | None


class FurtherJson(TypedDict):
    """A further successor, on one device or on any."""

    device: str | None
    version: str
    by: NotRequired[str | None]
    sources: list[str]


class SuccessorJson(TypedDict):
    """What takes the place of a product that has ended."""

    product: str
    version: str
    device: NotRequired[str | None]
    by: NotRequired[str | None]
    also: NotRequired[list[FurtherJson]]
    sources: list[str]


class EndRuleJson(TypedDict):
    """How the end of life of a product is decided, and whether its makers publish one."""

    published: bool
    says: str
    sources: list[SourceJson]


class ProductEndRuleJson(EndRuleJson):
    """The same in a list of products."""

    product: str


class SeriesBestJson(TypedDict):
    """The best stack of a device, of any series or of one."""

    series: str | None
    device: str
    stack: StackJson


class ProductDocument(DocumentJson):
    """A product with its releases, newest first."""

    id: str
    name: str
    role: str
    distribution: str | None
    eol: Day | None
    eol_rule: EndRuleJson | None
    replaced_by: SuccessorJson | None
    note: str | None
    security: list[NoticeJson]
    releases: list[ListedReleaseJson]
    disputes: list[DisputeJson]


class DefectJson(TypedDict):
    """A known issue."""

    id: str
    title: str
    effect: str
    state: str
    read: Day
    products: list[str]
    cures: list[str]
    note: str | None
    sources: list[SourceJson]


class ShieldDocument(TypedDict):
    """A badge as shields.io reads it (https://shields.io/badges/endpoint-badge)."""

    schemaVersion: Literal[1]
    label: str
    message: str
    color: str
    isError: NotRequired[bool]


class NewestJson(TypedDict):
    """The newest release of a series, as API v1 of endoflife.date has it."""

    name: str
    date: Day | None
    link: None


class CycleJson(TypedDict):
    """A series as API v1 of endoflife.date has it; one without a known end counts as maintained."""

    name: str
    codename: None
    label: str
    releaseDate: Day
    isLts: Literal[False]
    ltsFrom: None
    isEol: bool
    eolFrom: Day | None
    isMaintained: bool
    latest: NewestJson
    custom: None


class TitlesJson(TypedDict):
    """The names of columns, as API v1 of endoflife.date has them; null for those that a product does not have."""

    eol: str
    eoas: None
    discontinued: None
    eoes: None


class AddressesJson(TypedDict):
    """The addresses of a product, from the file's own."""

    icon: None
    html: str
    releasePolicy: None


class TermsJson(TypedDict):
    """A product as API v1 of endoflife.date has it."""

    name: str
    aliases: list[str]
    label: str
    category: Annotated[str, one_of("framework", "library", "os", "lang", "device")]
    tags: list[str]
    versionCommand: None
    identifiers: list[str]
    labels: TitlesJson
    links: AddressesJson
    releases: list[CycleJson]


class EndoflifeDocument(TypedDict):
    """A product in the envelope of API v1 of endoflife.date."""

    schema_version: str
    generated_at: str
    last_modified: str
    result: TermsJson


class UpdateJson(TypedDict):
    """A release in the shape of Renovate."""

    version: str
    releaseTimestamp: NotRequired[str]
    isDeprecated: NotRequired[bool]
    sourceUrl: NotRequired[str]


class RenovateDocument(TypedDict):
    """The releases of a product for a custom datasource of Renovate."""

    releases: list[UpdateJson]
