"""`gradproof schema`: prints the JSON Schema of the machine format."""

from __future__ import annotations

import argparse
import json

from gradproof.render.schema import schema


def configure(parser: argparse.ArgumentParser) -> None:
    del parser  # no options: there is one schema


def execute(given: argparse.Namespace) -> int:
    del given
    print(json.dumps(schema(), indent=1))
    return 0
