"""Records of data/exceptions.toml: correct findings of `lint` that are tolerated for a while."""

from datetime import date

from compatkb.schema.base import Id, Record, Text


class Exemption(Record):
    """One finding, or one kind of finding, that is accepted until a day; `subject` may hold `*` for any text."""

    rule: Id
    subject: Text  # the record, as the finding names it
    reason: Text
    until: date  # the last day on which it is accepted


class ExceptionFile(Record):
    """data/exceptions.toml."""

    exception: tuple[Exemption, ...] = ()
