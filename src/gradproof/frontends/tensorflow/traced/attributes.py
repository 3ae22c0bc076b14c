"""The attributes of a graph op, as eager execution takes them."""

from __future__ import annotations

from typing import Any

from tensorflow.python.framework import tensor_shape


def execution_attrs(operation: Any) -> tuple[Any, ...]:
    """The attributes of a graph op in the form that eager execution takes."""
    flat: list[Any] = []
    attrs = operation.node_def.attr
    for declared in operation.op_def.attr:
        if declared.name in attrs:
            flat += [declared.name, _attr(attrs[declared.name], declared.type)]
    return tuple(flat)


def _attr(proto: Any, kind: str) -> Any:
    field_name = proto.WhichOneof("value")
    if field_name == "shape":
        return tensor_shape.TensorShape(proto.shape)
    if field_name == "func":
        return proto.func.name
    if field_name != "list":
        return getattr(proto, field_name)
    inner = {"int": "i", "float": "f", "bool": "b", "string": "s"}.get(kind[5:-1], kind[5:-1])
    items = list(getattr(proto.list, inner))
    return [tensor_shape.TensorShape(item) for item in items] if inner == "shape" else items
