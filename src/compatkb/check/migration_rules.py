"""Declares the rules of `migrate`; docs/check.md describes each."""

from compatkb.check.rules import CheckRule
from compatkb.core.findings import Severity

IMPORT = CheckRule("migrate-import", Severity.WARNING, "a module of a product that has ended is imported")
CALL = CheckRule("migrate-call", Severity.WARNING, "a name has a documented replacement that does the same")
HINT = CheckRule("migrate-hint", Severity.INFO, "a name has a counterpart that does not do just the same")
NONE = CheckRule("migrate-none", Severity.INFO, "a name has no documented replacement")
BACKEND = CheckRule("migrate-backend", Severity.WARNING, "a value is given that only a product that has ended understands")
COMMAND = CheckRule("migrate-command", Severity.WARNING, "a command runs a program or a module of a product that has ended")
PIN = CheckRule("migrate-pin", Severity.WARNING, "a product that has ended is installed")
BUILD = CheckRule(
    "migrate-build", Severity.WARNING, "a package is installed in a version that went with a product that has ended"
)
INDEX = CheckRule("migrate-index", Severity.WARNING, "an index is asked that is there for products that have ended")
IMAGE = CheckRule("migrate-image", Severity.WARNING, "a container image holds a product that has ended")
RULES = (IMPORT, CALL, HINT, NONE, BACKEND, COMMAND, PIN, BUILD, INDEX, IMAGE)
