"""Data that a function draws by itself, from an iterator or a dataset: every element it gets is kept on its way.

An element that was drawn cannot be drawn again. The user's call is given an iterator, or a dataset, that hands on
the elements of the user's own, one by one and only when it is asked, and remembers them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from tensorflow.python.data.ops import options as options_lib
from tensorflow.python.eager.polymorphic_function import polymorphic_function
from tensorflow.python.framework import constant_op, dtypes, errors, tensor
from tensorflow.python.ops import gen_dataset_ops, script_ops

from gradproof.frontends.tensorflow.traced.subgraphs import bodies_of, body_of

DRAWS = {"IteratorGetNext", "IteratorGetNextSync", "IteratorGetNextAsOptional"}
MOST_ROUNDS = 100  # enough for the 1st, 2nd, 10th and 100th of a loop that trains, which are looked at
NO_MORE_ROUNDS = f"no more than {MOST_ROUNDS} rounds of a loop that trains are looked at"
PASSING_ON = {"TakeDataset", "SkipDataset", "RewriteDataset", "OptionsDataset", "PrefetchDataset"}
_ENDLESS = 1 << 62
_DRAWN_BY = "_gradproof_drawn_by"

Element = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class FedElement:
    """An argument of a graph that data is drawn from: its place, and what an element consists of."""

    position: int
    kind: str
    specs: tuple[Any, ...]


@dataclass(eq=False)
class Feeds:
    """The elements that one call drew, by the number of the tensor it drew them from; filled while it runs."""

    elements: dict[int, list[Element]] = field(default_factory=dict)
    error: Exception | None = None

    def keep(self, elements: list[Element], element: Element) -> None:
        if len(elements) < MOST_ROUNDS:
            elements.append(element)


def divert(graph: Any, args: Sequence[Any]) -> tuple[tuple[Any, ...], Feeds]:
    """The arguments for the user's call, and where what it draws from them will be found."""
    feeds, replaced = Feeds(), list(args)
    for drawn in drawn_by(graph):
        make = _iterator if drawn.kind == "iterator" else _dataset
        substitute, elements = make(feeds, args[drawn.position], drawn.specs)
        replaced[drawn.position] = substitute
        feeds.elements[substitute._id] = elements
    return tuple(replaced), feeds


def _iterator(feeds: Feeds, users: Any, specs: Sequence[Any]) -> tuple[Any, list[Element]]:
    """An iterator whose every step is a step of the user's."""
    elements: list[Element] = []
    types, shapes = [spec.dtype for spec in specs], [spec.shape for spec in specs]

    def draw(_: Any) -> list[Any]:
        try:
            element = gen_dataset_ops.iterator_get_next(users, types, shapes)
        except errors.OutOfRangeError:
            raise StopIteration from None
        except Exception as error:
            feeds.error = error  # TensorFlow would pass on its text only
            raise
        feeds.keep(elements, tuple(element))
        return list(element)

    numbers = gen_dataset_ops.range_dataset(
        *(constant_op.constant(n, dtypes.int64) for n in (0, _ENDLESS, 1)), [dtypes.int64], [()]
    )
    count = tensor.TensorSpec([], dtypes.int64)
    dataset = _mapped(numbers, lambda n: script_ops.eager_py_func(draw, [n], types), [count], specs)
    iterator = gen_dataset_ops.anonymous_iterator_v3(types, shapes)
    gen_dataset_ops.make_iterator(_unhurried(dataset, types, shapes), iterator)
    return iterator, elements


def _dataset(feeds: Feeds, users: Any, specs: Sequence[Any]) -> tuple[Any, list[Element]]:
    """The user's dataset, with an eye on every element that passes."""
    elements: list[Element] = []

    def see(*element: Any) -> Any:
        def note(*seen: Any) -> None:
            feeds.keep(elements, seen)

        script_ops.eager_py_func(note, list(element), [])
        return list(element)

    return _mapped(users, see, specs, specs), elements


def _mapped(dataset: Any, function: Callable[..., Any], takes: Sequence[Any], gives: Sequence[Any]) -> Any:
    """A dataset through a function, one element after the other."""
    types, shapes = [spec.dtype for spec in gives], [spec.shape for spec in gives]

    def typed(*element: Any) -> list[Any]:
        results = list(function(*element))
        for result, shape in zip(results, shapes):
            result.set_shape(shape)
        return results

    traced = polymorphic_function.function(typed, autograph=False).get_concrete_function(*takes)
    return gen_dataset_ops.map_dataset(
        dataset, traced.captured_inputs, traced, types, shapes, force_synchronous=True
    )


def _unhurried(dataset: Any, types: Sequence[Any], shapes: Sequence[Any]) -> Any:
    """A dataset of which TensorFlow draws nothing in advance."""
    options = options_lib.Options()
    options.autotune.enabled = False
    options.experimental_optimization.apply_default_optimizations = False
    options.experimental_optimization.inject_prefetch = False
    return gen_dataset_ops.options_dataset(dataset, options._to_proto().SerializeToString(), types, shapes)


def drawn_by(graph: Any) -> tuple[FedElement, ...]:
    """The arguments of a graph that it, or a graph it calls, draws data from; looked up once."""
    if not hasattr(graph, _DRAWN_BY):
        setattr(graph, _DRAWN_BY, ())  # for a function that calls itself
        places = {symbol._id: i for i, symbol in enumerate(graph.inputs)}
        found: dict[int, FedElement] = {}
        for operation in graph.get_operations():
            for symbol, kind, specs in _draws(graph, operation):
                position = places.get(_origin(symbol)._id)
                if position is not None and all(spec.dtype != dtypes.variant for spec in specs):
                    found.setdefault(position, FedElement(position, kind, tuple(specs)))
        setattr(graph, _DRAWN_BY, tuple(found.values()))
    drawn: tuple[FedElement, ...] = getattr(graph, _DRAWN_BY)
    return drawn


def _origin(symbol: Any) -> Any:
    while symbol.op.type == "Identity":
        symbol = symbol.op.inputs[0]
    return symbol


def _draws(graph: Any, operation: Any) -> Iterator[tuple[Any, str, Sequence[Any]]]:
    """The tensors that an op draws data from: which, whether iterator or dataset, what an element consists of."""
    if operation.type in DRAWS:
        types, shapes = operation.get_attr("output_types"), operation.get_attr("output_shapes")
        specs = [tensor.TensorSpec(shape, dtype) for dtype, shape in zip(types, shapes)]
        yield operation.inputs[0], "iterator", specs
    elif operation.type == "ScanDataset":
        body = body_of(graph, operation.get_attr("f").name)
        n_state = len(operation.get_attr("Tstate"))
        inner = body.inputs[n_state : len(body.inputs) - len(operation.get_attr("Targuments"))]
        yield from _leaf(operation.inputs[0], [tensor.TensorSpec(s.shape, s.dtype) for s in inner])
    else:
        for body, symbols in bodies_of(graph, operation):
            yield from ((symbols[one.position], one.kind, one.specs) for one in drawn_by(body))


def _leaf(symbol: Any, specs: Sequence[Any]) -> Iterator[tuple[Any, str, Sequence[Any]]]:
    """The dataset that another one was made from, where every element of it passes unchanged."""
    kind = symbol.op.type
    if kind == "Placeholder":
        yield symbol, "dataset", specs
    elif kind in PASSING_ON:
        yield from _leaf(symbol.op.inputs[0], specs)
    elif kind == "ZipDataset":
        parts = symbol.op.inputs
        sizes = [_n_components(one) for one in parts]
        if sizes.count(None) <= 1:
            rest = len(specs) - sum(size or 0 for size in sizes)
            ends = list(accumulate(rest if size is None else size for size in sizes))
            for part, start, end in zip(parts, [0, *ends], ends):
                yield from _leaf(part, specs[start:end])


def _n_components(symbol: Any) -> int | None:
    names = {attr.name for attr in symbol.op.op_def.attr}
    return len(symbol.op.get_attr("output_types")) if "output_types" in names else None
