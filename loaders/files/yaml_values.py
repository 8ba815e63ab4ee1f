"""YAML of somebody else, as people mean it."""

from __future__ import annotations

import re
from typing import Any

import yaml

from loaders.errors import InputError
from loaders.files.json_values import MOST_DEPTH

QUOTE = "Put quotes around a text that holds a colon, quotation mark, bracket or another sign of YAML"
_NAME = re.compile(r"[\w-]+")
_QUOTATION = re.compile(r"(['\"])(.*?)\1")


class _Yaml(yaml.SafeLoader):
    """YAML as people mean it: a plain scalar is null, true, false, a number, or text.

    PyYAML follows YAML 1.1, in which `no` is false, `010` is 8, `1:30` is 90, and `2020-01-01` a date. A key that
    occurs twice in a mapping is an error; PyYAML would keep the last.
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        lines: dict[tuple[str, str], int] = {}
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                line, name = key.start_mark.line + 1, (key.tag, key.value)
                if name in lines:
                    # A key of several words may be a text with a colon, and that may be a hidden one.
                    told = repr(key.value[:40]) if _NAME.fullmatch(key.value) else "a key"
                    raise yaml.YAMLError(f"{told} stands in line {lines[name]} and again in line {line}")
                lines[name] = line
        return super().construct_mapping(node, deep)


_Yaml.yaml_implicit_resolvers = {}  # not those of PyYAML


for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
    (
        "float",
        r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
    ("merge", r"<<", ["<"]),
):
    _Yaml.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_pattern})\Z"), _first)


def parse_yaml(text: str, where: object, *, expected: str = "YAML") -> Any:
    """YAML that nests no deeper than JSON may, and whose references do not lead to other references: a few bytes of
    such references could expand without end. Plain words are text, except null, true and false.

    Raises: InputError for anything else, and for a key that occurs twice.
    """
    named: list[bool] = []  # for the collections that are open, from the outside in
    try:
        for event in yaml.parse(text, yaml.SafeLoader):
            if isinstance(event, yaml.CollectionStartEvent):
                named.append(event.anchor is not None)
            elif isinstance(event, yaml.CollectionEndEvent):
                named.pop()
            if len(named) > MOST_DEPTH:
                raise InputError(where, found="cannot be read as YAML (nested too deep)", expected=expected)
            if isinstance(event, yaml.AliasEvent) and any(named):
                raise InputError(where, found="holds a nested reference", expected=expected)
        return yaml.load(text, _Yaml)
    except yaml.MarkedYAMLError as error:
        problem = _yaml_problem(error)
        do = "Indent by spaces, not by tabs" if r"'\t'" in problem else QUOTE
    except (yaml.YAMLError, RecursionError) as error:
        problem, do = " ".join(str(error).split())[:200], ""
    except (ValueError, TypeError, LookupError, AttributeError):  # their messages quote the value
        problem, do = "a value that its tag does not allow", ""
    raise InputError(where, found=f"cannot be read as YAML ({problem})", expected=expected, do=do)


def _yaml_problem(error: yaml.MarkedYAMLError) -> str:
    """What is wrong and where; never a part of the file, which may hold what patients hide."""
    problem = _QUOTATION.sub(_unquoted, error.problem or error.context or "no YAML")
    mark = error.problem_mark or error.context_mark
    return f"{problem}, line {mark.line + 1}, column {mark.column + 1}" if mark else problem


def _unquoted(quotation: re.Match[str]) -> str:
    """Dots for names of references and tags; a single character and <the name of a token> stay."""
    return quotation[0] if len(quotation[2]) < 2 or quotation[2].startswith(("<", "\\")) else "…"
