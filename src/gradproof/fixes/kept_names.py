"""What a rule that is a method can call the numbers that its forward has kept for it."""

from __future__ import annotations

import ast


def forward_of(tree: ast.Module, rule: ast.FunctionDef) -> ast.FunctionDef | None:
    """The method `forward` of the class that a rule is a method of."""
    for one in ast.walk(tree):
        if isinstance(one, ast.ClassDef) and rule in one.body:
            methods = [
                each for each in one.body if isinstance(each, ast.FunctionDef) and each.name == "forward"
            ]
            return methods[0] if methods else None
    return None


def kept_names(forward: ast.FunctionDef, rule: ast.FunctionDef) -> dict[str, str]:
    """The names of the forward that were saved, each with the name it has in the rule."""
    saved = [
        one.args
        for one in ast.walk(forward)
        if isinstance(one, ast.Call)
        and isinstance(one.func, ast.Attribute)
        and one.func.attr == "save_for_backward"
    ]
    if len(saved) != 1:
        return {}
    names = [one.id if isinstance(one, ast.Name) else "" for one in saved[0]]
    found: dict[str, str] = {}
    for statement in rule.body:
        if not isinstance(statement, ast.Assign) or "saved_tensors" not in ast.unparse(statement.value):
            continue
        target, value = statement.targets[0], statement.value
        if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant):
            places = [value.slice.value]
            given: list[ast.expr] = [target]
        else:
            given = list(target.elts) if isinstance(target, ast.Tuple | ast.List) else []
            places = list(range(len(given)))
        for place, one in zip(places, given):
            if isinstance(one, ast.Name) and isinstance(place, int) and place < len(names) and names[place]:
                found[names[place]] = one.id
    return found
