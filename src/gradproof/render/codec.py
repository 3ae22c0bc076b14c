"""The parts a format is declared with: from one declaration follow the writer, the reader and the JSON Schema."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gradproof.errors import UnreadableReport

JSON = Any  # what `json` takes; nested too deeply for a type that helps
Schema = dict[str, Any]


@dataclass
class WritingState:
    """What is known while a document is written: whether large arrays are given in full, and tables of what is shared.

    The tables lead from a thing that many refer to, such as a program, to its number.
    """

    full: bool = False
    tables: dict[str, dict[Any, int]] = field(default_factory=dict)

    def number_of(self, table: str, thing: Any) -> int:
        numbers = self.tables.setdefault(table, {})
        return numbers.setdefault(thing, len(numbers))


@dataclass(frozen=True)
class ReadingPlace:
    """Where in a document the reader is, and the tables that were read by then."""

    place: str = ""
    tables: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    def inside(self, key: str | int) -> ReadingPlace:
        step = f"[{key}]" if isinstance(key, int) else f".{key}"
        return replace(self, place=(self.place + step).lstrip("."))

    def refused(self, complaint: str) -> UnreadableReport:
        return UnreadableReport(f"not a gradproof report: {self.place}: {complaint}")


@dataclass(frozen=True)
class Codec:
    """One kind of value: what its document looks like, and how it is written and read.

    Only what fits the schema is read. `defines` are the schemas that it refers to by name.
    """

    schema: Schema
    write: Callable[[Any, WritingState], JSON] = lambda value, _: value
    read: Callable[[JSON, ReadingPlace], Any] = lambda document, _: document
    defines: Mapping[str, Schema] = field(default_factory=dict)


def named(name: str, codec: Codec) -> Codec:
    """The same kind, described once in the schema under a name."""
    return replace(codec, schema=ref(name), defines={name: codec.schema, **codec.defines})


def ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def enum(values: Iterable[str], read: Callable[[str], Any] = str) -> Codec:
    return Codec({"enum": list(values)}, lambda value, _: str(value), lambda document, _: read(document))


def optional(inner: Codec) -> Codec:
    return Codec(
        {"anyOf": [{"type": "null"}, inner.schema]},
        lambda value, writing: None if value is None else inner.write(value, writing),
        lambda document, reading: None if document is None else inner.read(document, reading),
        inner.defines,
    )


def list_of(inner: Codec, **limits: int) -> Codec:
    return Codec(
        {"type": "array", "items": inner.schema, **limits},
        lambda value, writing: [inner.write(each, writing) for each in value],
        lambda document, reading: tuple(
            inner.read(each, reading.inside(k)) for k, each in enumerate(document)
        ),
        inner.defines,
    )


def pair_of(inner: Codec) -> Codec:
    return list_of(inner, minItems=2, maxItems=2)


def map_of(inner: Codec) -> Codec:
    return Codec(
        {"type": "object", "additionalProperties": inner.schema},
        lambda value, writing: {key: inner.write(each, writing) for key, each in value.items()},
        lambda document, reading: {
            key: inner.read(each, reading.inside(key)) for key, each in document.items()
        },
        inner.defines,
    )


def numbered(table: str, counts: Codec) -> Codec:
    """A thing that many refer to, by its number in a table."""

    def read(number: int, reading: ReadingPlace) -> Any:
        things = reading.tables.get(table, ())
        if number >= len(things):
            raise reading.refused(f"there are {len(things)} {table}, and none has the number {number}")
        return things[number]

    return Codec(counts.schema, lambda value, writing: writing.number_of(table, value), read)


def record(
    make: Callable[..., Any],
    required: Mapping[str, Codec],
    added: Mapping[str, Codec] | None = None,
    *,
    take: Callable[[Any], Mapping[str, Any]] | None = None,
    names: Mapping[str, str] | None = None,
    omit: Sequence[str] = (),
    check: Callable[[Any, ReadingPlace], None] | None = None,
) -> Codec:
    """An object with these fields; those of `added` came later and may lack.

    Fields are the attributes of the same name, or that of `names`, or what `take` makes of the value; `make` gets those
    that are there by name. Fields of `omit` are left out where they are empty. `check` refuses what no schema can.
    """
    codecs, called = {**required, **(added or {})}, names or {}

    def write(value: Any, writing: WritingState) -> JSON:
        taken = {key: getattr(value, called.get(key, key)) for key in codecs} if take is None else take(value)
        return {
            key: codec.write(taken[key], writing)
            for key, codec in codecs.items()
            if key not in omit or taken[key]
        }

    def read(document: JSON, reading: ReadingPlace) -> Any:
        given = {
            key: codecs[key].read(document[key], reading.inside(key)) for key in codecs if key in document
        }
        made = make(**{called.get(key, key): value for key, value in given.items()})
        if check is not None:
            check(made, reading)
        return made

    schema = {
        "type": "object",
        "required": list(required),
        "properties": {key: codec.schema for key, codec in codecs.items()},
    }
    defines = {name: each for codec in codecs.values() for name, each in codec.defines.items()}
    return Codec(schema, write, read, defines)
