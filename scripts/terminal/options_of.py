"""A command's options from dataclasses: each field is an option, defined once.

    @dataclass(frozen=True, kw_only=True)
    class Drawing:
        out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where to write.")]
        names: Annotated[tuple[str, ...], typer.Option("--name", help="May be repeated.")] = ()
        seed: Annotated[int, typer.Option(help="Which are drawn.")] = 0

    @options_of(Drawing)
    def command(drawing: Drawing) -> None: ...

Options that commands share are a base class. A field without `typer.Option` or `typer.Argument` is not an option: it
keeps its default, and programs may set it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, fields
from functools import wraps
from inspect import Parameter, Signature
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from typer.models import ParameterInfo

_Returned = TypeVar("_Returned")


def options_of(*kinds: type[Any]) -> Callable[[Callable[..., _Returned]], Callable[..., _Returned]]:
    """Turns a function of instances of these dataclasses, in this order, into a command whose options are their fields.

    A class's own fields come before those of its bases. One without a default is required. A repeatable option is a
    field of type `tuple[X, ...]`, `frozenset[X]` or `list[X]`.

    Raises ValueError for two classes with a field of one name, and for a field that nothing can fill.
    """
    parameters = {kind: tuple(_parameters(kind)) for kind in kinds}

    def decorate(command: Callable[..., _Returned]) -> Callable[..., _Returned]:
        @wraps(command)
        def run(**given: Any) -> _Returned:
            filled = []
            for kind in kinds:
                names = {each.name: _collection(each.annotation) for each in parameters[kind] if each.name in given}
                filled.append(kind(**{name: collect(given.pop(name)) for name, collect in names.items()}))
            return command(*filled, **given)

        # Typer reads the signature, `typing.get_type_hints` the annotations.
        shown = [_shown(each) for kind in kinds for each in parameters[kind]]
        run.__signature__ = Signature(shown)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in shown}
        return run

    return decorate


def _parameters(kind: type[Any]) -> Iterator[Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    by_name = {field.name: field for field in fields(kind)}
    own_first = dict.fromkeys(name for owner in kind.__mro__ for name in vars(owner).get("__annotations__", {}))
    for name in own_first:
        if name not in by_name:
            continue
        if any(isinstance(mark, ParameterInfo) for mark in get_args(hints[name])[1:]):
            yield Parameter(name, Parameter.KEYWORD_ONLY, default=_default(by_name[name]), annotation=hints[name])
        elif _default(by_name[name]) is Parameter.empty:
            raise ValueError(
                f"{kind.__name__}.{name} is no option: annotate it with typer.Option, or give it a default"
            )


def _default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return Parameter.empty if field.default is MISSING else field.default


def _collection(annotation: Any) -> Callable[[Any], Any]:
    """Converts typer's value, a list for any repeatable option, to the field's type."""
    kind = get_args(annotation)[0]
    return {tuple: tuple, frozenset: frozenset}.get(get_origin(kind), lambda given: given)


def _shown(parameter: Parameter) -> Parameter:
    """The parameter in the form that typer knows, in which repeatable options are lists."""
    kind, *marks = get_args(parameter.annotation)
    if get_origin(kind) not in (tuple, frozenset):
        return parameter
    default = parameter.default if parameter.default is Parameter.empty else list(parameter.default)
    return parameter.replace(annotation=Annotated[(list[get_args(kind)[0]], *marks)], default=default)  # type: ignore[misc]
