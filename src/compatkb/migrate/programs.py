"""What Python programs use of discontinued products: imports, dotted names, values. What nothing uses is taken out.

Names are followed as imports bind them, for the file as a whole. Only imports are ever edited, and only where no other word
of the program means what they bind.
"""

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from compatkb.check.document import TextDocument
from compatkb.check.migration_rules import BACKEND, CALL, HINT, IMPORT, NONE
from compatkb.check.rules import CheckRule
from compatkb.core.findings import WAITS, Edit, Finding, Severity
from compatkb.core.record import NamedTuple
from compatkb.core.text_position import SourceText
from compatkb.migrate.guide import Guide, NameReplacement, fitting
from compatkb.parsers.scripts import cells
from compatkb.parsers.source import Fragment, Segment, SourceFile, TreeError

MOST_CHARACTERS = 2_000_000
_MOST_LINES = 5
_MISSING = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException", "RuntimeError", "OSError"}
_BY_NAME = re.compile(
    r"import_module|__import__|find_spec|find_loader|importorskip|version|distribution|metadata"
    r"|(?:_?is|has|check|get|require)_\w+|(?=\w+\Z)\w*?(?:available|installed)\w*"
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class SyntaxProblemError(Exception):
    """The text is no Python that can be read; `line` counts from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


class Program(SourceText):
    """The Python of a document, a whole file or the code of a notebook; raises SyntaxProblemError where there is none."""

    def __init__(self, document: TextDocument) -> None:
        self.document = document
        self.notebook = _code_of(document) if document.path.endswith(".ipynb") else None
        super().__init__(self.notebook.text if self.notebook else document.text)
        self.nodes = list(ast.walk(parsed(self.text)))
        self.parents = {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}
        self.mentioned = [
            word
            for node in self.nodes
            if (word := node.id if isinstance(node, ast.Name) else node.value if isinstance(node, ast.Constant) else None)
        ]

    def span(self, node: ast.expr | ast.stmt | ast.alias) -> tuple[int, int]:
        """Return where a node starts and ends in the text; `ast` counts bytes of a line."""
        places = ((node.lineno, node.col_offset), (node.end_lineno or 1, node.end_col_offset or 0))
        bounds = ((*self.line_bounds(line), byte) for line, byte in places)
        start, end = (at + len(self.text[at:past].encode()[:byte].decode(errors="ignore")) for at, past, byte in bounds)
        return start, end

    def _origin(self, offset: int) -> int:
        """Return where a character of the text stands in the document, whose line ends may be of another kind."""
        if self.notebook is None:
            return offset
        return self.document.offset(*self.notebook.place(min(offset, max(0, len(self.text) - 1))))

    def line(self, node: ast.expr | ast.stmt | ast.alias) -> int:  # type: ignore[override]  # of the document, by a node
        """Return the line of the document on which a node begins."""
        return self.document.place(self._origin(self.span(node)[0])).line

    def words(self, node: ast.expr | ast.stmt | ast.alias, most: int = 100) -> str:
        """Return the text of a node in one line."""
        start, end = self.span(node)
        return " ".join(self.text[start:end].split())[:most]

    def finding(
        self, rule: CheckRule, node: ast.expr | ast.stmt | ast.alias, message: str, fix: str | None,
        sources: tuple[str, ...], subject: str = "", edits: tuple[Edit, ...] = (),
    ) -> Finding:  # fmt: skip
        """Return what is said of a node."""
        start, end = self.span(node)
        subject = subject or self.text[start:end][:120]
        first, last = self._origin(start), self._origin(max(start, end - 1)) + 1
        return self.document.finding(rule, first, last, message, fix=fix, sources=sources[:4], subject=subject, edits=edits)


def parsed(text: str) -> ast.Module:
    """Return the syntax of a text of Python; raises SyntaxProblemError."""
    if len(text) > MOST_CHARACTERS:
        raise SyntaxProblemError(1, f"is too long to be read: {len(text):,} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            tree = compile(text, "<text>", "exec", flags=flags, dont_inherit=True)
    except SyntaxError as error:
        raise SyntaxProblemError(max(1, error.lineno or 1), f"is no Python that can be read: {error.msg}") from None
    except (ValueError, OverflowError) as error:
        raise SyntaxProblemError(1, f"is no Python that can be read: {error}") from None
    except (RecursionError, MemoryError):
        raise SyntaxProblemError(1, "is no Python that can be read: it is nested too deeply") from None
    assert isinstance(tree, ast.Module)
    return tree


def _code_of(document: TextDocument) -> Fragment:
    """Return the code cells of a notebook, one after the other; lines that are no Python are left out."""
    source = SourceFile(document.path, document.text)
    pieces: list[Segment] = []
    try:
        for cell in cells(source):
            at = 0
            shown = []
            for line in cell.text.splitlines(keepends=True):
                magic = line.lstrip().startswith(("!", "%", "?")) or line.rstrip().endswith("?")
                shown += [*cell.cut(at, at + len(line)).segments()] if not magic else [Segment("\n", cell.origin(at))]
                at += len(line)
            try:
                parsed("".join(piece.text for piece in shown))
            except SyntaxProblemError:
                continue
            pieces += [*shown, Segment("\n", cell.origin(max(0, len(cell.text) - 1)))]
    except TreeError as error:
        raise SyntaxProblemError(error.place.line, str(error)) from None
    return Fragment(source, pieces)


class Import(NamedTuple):
    """One name of an import statement: what it means and what it is bound to."""

    statement: ast.Import | ast.ImportFrom
    alias: ast.alias
    name: str  # the module, or module and name
    meaning: str  # of the name that is bound
    bound: str


def imports_of(program: Program) -> list[Import]:
    """Return every name that is imported from elsewhere than the own package, in the order of the text."""
    imports = []
    for node in program.nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                meaning = alias.name if alias.asname else alias.name.partition(".")[0]
                imports.append(Import(node, alias, alias.name, meaning, alias.asname or meaning))
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = ((alias, f"{node.module}.{alias.name}") for alias in node.names)
            imports += [Import(node, alias, name, name, alias.asname or alias.name) for alias, name in names]
    return sorted(imports, key=lambda one: (one.alias.lineno, one.alias.col_offset))


@dataclass(frozen=True)
class Use:
    """Something of a product in use, beside the imports themselves."""

    product: str
    finding: Finding
    root: str = ""  # the imported name that leads to it; empty where none does


class ProgramUses:
    """What one program uses of discontinued products."""

    def __init__(self, program: Program, guide: Guide) -> None:
        self.program, self.guide = program, guide
        self.imports = imports_of(program)
        self.product_by_import = {one: product for one in self.imports if (product := self._product(one))}
        self._meanings: dict[str, dict[str, None]] = {}
        for one in self.imports:
            self._meanings.setdefault(one.bound, {})[one.meaning] = None
        chains = [chain for node in program.nodes for chain in self._chains(node)]
        self.names = [".".join(chain[-1][0].split(".")[:2]) for chain in chains]
        self._flowing = set(self._given(chains))
        self._chains_found = chains

    def _product(self, one: Import) -> str | None:
        module = self._module(one.name)
        replacement = self.guide.names.get(one.name)
        return self.guide.modules[module] if module else replacement.product if replacement else None

    def _module(self, meaning: str) -> str | None:
        """Return the module of an ended product that a dotted name leads into."""
        parts = meaning.split(".")
        heads = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
        return next((head for head in heads if head in self.guide.modules), None)

    def _chains(self, node: ast.AST) -> Iterator[list[tuple[str, ast.expr]]]:
        """Yield a dotted name whose root an import binds, part by part, as often as it may mean something else."""
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load | ast.Del):
            for meaning in self._meanings.get(node.id, ()):
                chain: list[tuple[str, ast.expr]] = [(meaning, node)]
                while isinstance(parent := self.program.parents.get(chain[-1][1]), ast.Attribute):
                    chain.append((f"{chain[-1][0]}.{parent.attr}", parent))
                yield chain

    def devices(self, known: frozenset[str]) -> frozenset[str]:
        """Return the devices that the program names: in strings such as `xpu:0`, or in names such as `torch.xpu`."""
        parents = self.program.parents
        strings = {
            node.value.partition(":")[0]
            for node in self.program.nodes
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
            and getattr(parents.get(node), "arg", "") != "map_location"
        }  # fmt: skip
        return known & (strings | {name.partition(".")[2] for name in self.names})

    def uses(self, device: str | None) -> list[Use]:
        """Return what is used; `device` is the one that the program runs on, None where that is open."""
        uses = [use for chain in self._chains_found if (use := self._named(chain))]
        for node in self.program.nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if node.value in self.guide.modules:
                    uses += self._by_name(node, node.value)
                elif any(part.rpartition(":")[2] in self.guide.values for part in node.value.split(",")):
                    uses += self._value(node, node.value, device)
        return list(dict.fromkeys(uses))

    def _named(self, chain: list[tuple[str, ast.expr]]) -> Use | None:
        root = getattr(chain[0][1], "id", "")
        (meaning, top) = chain[-1]
        for part, _ in reversed(chain):
            if replacement := self.guide.names.get(part):
                return Use(replacement.product, self._replaced(top, replacement), root)
        module = self._module(meaning)
        if module is None:
            return None
        product = self.guide.modules[module]
        what = "it is used as a whole" if meaning == module else "no documented replacement"
        message = f"{self.program.words(top)} is of {self.guide.facts.products[product].name}; {what}"
        return Use(product, self.program.finding(NONE, top, message, None, self.guide.ended_sources.get(product, ())), root)

    def _replaced(self, top: ast.expr, replacement: NameReplacement) -> Finding:
        head = f"{self.program.words(top)} is of {self.guide.facts.products[replacement.product].name}"
        fix: str | None
        if replacement.instead is None and replacement.how is None:
            rule, message, fix = NONE, f"{head}; no documented replacement", None
        elif replacement.mechanical:
            given = ", ".join((*replacement.before, *(f"{key}={value}" for key, value in replacement.defaults)))
            rule, message = CALL, f"{head}; {replacement.instead} does the same"
            fix = f"write {replacement.instead}" + (f"({given}, ...)" if given else "")
        else:
            note = "" if replacement.basis == "stated" else f" ({replacement.basis})"
            note = f" ({replacement.basis}: {replacement.note})" if replacement.note else note
            rule, message = HINT, f"{head}; nothing does just the same{note}"
            fix = replacement.how or f"see {replacement.instead}"
        return self.program.finding(rule, top, message, fix, replacement.sources)

    def _by_name(self, node: ast.Constant, module: str) -> Iterator[Use]:
        """Yield a module that is given to a call by its name, whether to load it or to ask whether it is there."""
        parent = self.program.parents.get(node)
        function = getattr(parent.func, "attr", getattr(parent.func, "id", "")) if isinstance(parent, ast.Call) else ""
        if isinstance(parent, ast.Call) and node in parent.args and _BY_NAME.fullmatch(function):
            product = self.guide.modules[module]
            message = f"{module} of {self.guide.facts.products[product].name} is asked for by its name"
            sources = self.guide.ended_sources.get(product, ())
            yield Use(product, self.program.finding(IMPORT, node, message, "take out what depends on it", sources))

    def _given(self, chains: Iterable[list[tuple[str, ast.expr]]]) -> Iterator[tuple[ast.expr | str, str]]:
        """Yield what is given to calls where they take a value that only a product understands; variables by name."""
        for chain in chains:
            meaning, top = chain[-1]
            call = self.program.parents.get(top)
            if isinstance(call, ast.Call) and call.func is top:
                for value, argument in self.guide.calls.get(meaning, {}).items():
                    given = [keyword.value for keyword in call.keywords if keyword.arg == argument.name]
                    if argument.position is not None:
                        given += call.args[argument.position : argument.position + 1]
                    yield from ((one.id if isinstance(one, ast.Name) else one, value) for one in given)

    def _is_taken(self, node: ast.Constant, value: str) -> bool:
        """Return whether a value reaches a call that takes it, or a name beside it says what it is for."""
        if (node, value) in self._flowing:
            return True
        parent = self.program.parents.get(node)
        endings = tuple(ending.replace("-", "_") for ending in self.guide.options.get(value, ()))
        if isinstance(parent, ast.Assign | ast.AnnAssign):
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            names = [getattr(target, "attr", getattr(target, "id", "")) for target in targets]
            return any((name, value) in self._flowing or name.replace("-", "_").endswith(endings) for name in names)
        if not isinstance(parent, ast.keyword):
            return False
        call = self.program.parents.get(parent)
        words = [a.value for a in getattr(call, "args", ()) if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        names = words if parent.arg == "default" else [parent.arg or ""]
        return any(name.replace("-", "_").endswith(endings) for name in names)

    def _value(self, node: ast.Constant, text: str, device: str | None) -> Iterator[Use]:
        parts = [part.rpartition(":") for part in text.split(",")]
        own, value = next((head, tail) for head, _, tail in parts if tail in self.guide.values)
        if not self._is_taken(node, value) and not self._is_taken(node, text):
            return
        product, choices = self.guide.values[value]
        fits = fitting(choices, own or device or None)
        several = len(fits) > 1
        message = f"{value!r} is specific to {self.guide.facts.products[product].name}"
        message += "; what to give instead depends on the device" if several else ""
        message += f" ({fits[0].basis}: {fits[0].note})" if fits[0].note and not several else ""
        fix = "; ".join(choice.remedy(f"give {choice.instead!r}", several=several) for choice in fits)
        sources = tuple(dict.fromkeys(source for choice in fits for source in choice.sources))
        rule = BACKEND if any(choice.instead for choice in fits) else HINT
        yield Use(product, self.program.finding(rule, node, message, fix, sources))

    def import_findings(
        self, uses: list[Use], needed: Mapping[str, str], taken: frozenset[str]
    ) -> Iterator[tuple[Finding, str]]:
        """Yield what is said of the imports of discontinued products, each statement once, with the product.

        `needed` names, by product, a place that needs it loaded; `taken` are names that other files take from elsewhere.
        """
        loaded = {*needed, *(use.product for use in uses if not use.root)}
        named = {*self.program.mentioned, *taken, "*"}
        free = (one for one in self.product_by_import if one.bound not in named)
        going = {one for one in free if self.product_by_import[one] not in loaded or not self._module(one.name)}
        by_statement: dict[ast.Import | ast.ImportFrom, list[Import]] = {}
        for one in self.product_by_import:
            by_statement.setdefault(one.statement, []).append(one)
        for statement, items in by_statement.items():
            yield self._import(statement, items, going, uses, needed), self.product_by_import[items[0]]

    def _import(
        self, statement: ast.Import | ast.ImportFrom, items: list[Import], going: set[Import], uses: list[Use],
        needed: Mapping[str, str],
    ) -> Finding:  # fmt: skip
        product = self.product_by_import[items[0]]
        shown = ", ".join(dict.fromkeys(item.name for item in items))
        message = f"{shown} is of {self.guide.facts.products[product].name}, which has ended"
        edits: tuple[Edit, ...] = ()
        fix: str | None = None
        if going.issuperset(items):
            message += "; nothing of it is left in use"
            fix = "take the import out"
            edits = self._removed(statement, items)
        elif lines := sorted({use.finding.line for use in uses if self._keeps(use, items)}):
            more = f" and {len(lines) - _MOST_LINES} more" if len(lines) > _MOST_LINES else ""
            message += f"; it stays in use in line {', '.join(map(str, lines[:_MOST_LINES]))}{more}"
            fix = WAITS
        elif product in needed:
            message += f"; {needed[product]} needs it loaded"
        else:
            message += "; other code may take the name from here"
        is_optional = not edits and self._is_optional(statement)
        message += "; the import is optional" if is_optional else ""
        sources = self.guide.ended_sources.get(product, ())
        finding = self.program.finding(IMPORT, statement, message, fix, sources, shown, edits)
        return finding._replace(level=Severity.INFO) if is_optional else finding

    def _keeps(self, use: Use, items: list[Import]) -> bool:
        """Return whether a use is by one of these names, or needs the product of a module among them without a name."""
        if use.root:
            return use.root in {item.bound for item in items}
        return any(use.product == self.product_by_import[item] for item in items if self._module(item.name))

    def _is_optional(self, statement: ast.stmt) -> bool:
        """Return whether a statement stands in a `try` that catches its failure, or in a branch."""
        node: ast.AST = statement
        while (parent := self.program.parents.get(node)) is not None and not isinstance(parent, _FUNCTIONS):
            if isinstance(parent, ast.Try) and node in parent.body and any(map(_catches, parent.handlers)):
                return True
            if isinstance(parent, ast.If) and "__name__" not in map(_name, ast.walk(parent.test)):
                return True
            node = parent
        return False

    def _removed(self, statement: ast.Import | ast.ImportFrom, items: list[Import]) -> tuple[Edit, ...]:
        """Return what takes a whole import out that has lines of its own; elsewhere hands have to."""
        text, program = self.program.text, self.program
        start, end = program.span(statement)
        head, tail = program.line_bounds(program.place(start).line)[0], program.line_bounds(program.place(end).line)[1]
        if program.notebook or len(items) < len(statement.names) or not isinstance(program.parents[statement], ast.Module):
            return ()
        behind = text[end:tail].strip()
        return (Edit(head, tail, ""),) if head == start and (not behind or behind.startswith("#")) else ()


def _catches(handler: ast.ExceptHandler) -> bool:
    names = ast.walk(handler.type) if handler.type else ()
    return handler.type is None or any(_name(node) in _MISSING for node in names)


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""
