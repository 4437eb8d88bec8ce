"""The command `features`: open the facts, ask, print."""

import argparse

from compatkb.asking import find_feature, find_product
from compatkb.cli.commands import open_facts
from compatkb.errors import UsageError
from compatkb.rendering.features import features_text


def features(arguments: argparse.Namespace) -> int:
    """List features with what is said of them, or the table of them."""
    facts, day = open_facts(arguments)
    product = feature = None
    if arguments.product:
        try:
            feature = find_feature(facts, arguments.product)
        except UsageError:
            product = find_product(facts, arguments.product).id
    print(features_text(facts, day, product=product, feature=feature, form=arguments.format), end="")
    return 0
