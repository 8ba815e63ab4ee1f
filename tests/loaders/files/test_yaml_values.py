"""YAML of others."""

from __future__ import annotations

import pytest

from loaders.errors import InputError
from loaders.files.yaml_values import QUOTE, parse_yaml


@pytest.mark.parametrize(
    "text",
    [
        "[" * 5_000,
        "- " * 300 + "x",
        "a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]",
        "&a [*a]",
        "a: !!python/object/apply:os.getcwd []",
        "a: !!timestamp 2024-99-99",
        "? [x]\n: y",
        "\x07",
    ],
)
def test_what_is_no_plain_yaml(text: str) -> None:
    with pytest.raises(InputError, match="card"):
        parse_yaml(text, "card")


def test_yaml_is_read_as_people_mean_it() -> None:
    """PyYAML reads `no` as false, `010` as 8, `1:30` as 90 and `2020-01-01` as a date."""
    plain = "[yes, No, off, y, 010, 0x10, 1_000, 1:30, 2020-01-01, 1e5, =]"
    assert parse_yaml(plain, "card") == plain.strip("[]").split(", ")
    assert parse_yaml("[true, False, null, ~, 0, -7, +12, 2.5, -.5, 1.0e+3]", "card") == [
        *(True, False, None, None, 0, -7, 12, 2.5, -0.5, 1000.0)
    ]
    assert parse_yaml("{a: , b: '', 1: x, '1': y}", "card") == {"a": None, "b": "", 1: "x", "1": "y"}


@pytest.mark.parametrize("text", ["a: 1\nb: 2\na: 3", "x: {a: 1, a: 1}", "- a: 1\n  'a': 2"])
def test_a_key_that_occurs_twice_is_told(text: str) -> None:
    with pytest.raises(InputError, match=r"'a' stands in line 1 and again in line \d"):
        parse_yaml(text, "study.yaml")
    assert parse_yaml("a: &a {x: 1}\nb: {<<: *a, x: 2}", "study.yaml")["b"] == {"x": 2}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("- a: 1\n  b: Fears: he has CANARY", "(mapping values are not allowed here, line 2, column 11)"),
        ("a: *CANARY", "(found undefined alias …, line 1, column 4)"),
        ("a: !CANARY x", "a constructor for the tag …, line 1, column 4)"),
        ("a: 'x' CANARY", "(expected <block end>, but found '<scalar>', line 1, column 8)"),
        ("a: [CANARY", "(expected ',' or ']', but got '<stream end>', line 1, column 11)"),
        ("a: !!int CANARY", "(a value that its tag does not allow)"),
        ("a: !!bool CANARY", "(a value that its tag does not allow)"),
        ("a: !!timestamp CANARY", "(a value that its tag does not allow)"),
        ("He has CANARY: 1\nHe has CANARY: 2", "(a key stands in line 1 and again in line 2)"),
    ],
)
def test_an_error_in_yaml_says_where_and_quotes_nothing(text: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_yaml(text, "ours.yaml")
    found = str(caught.value)
    assert told in found and "CANARY" not in found
    assert found.endswith(f". {QUOTE}") == (", column " in told)


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("a:\n\tb: 1", "Indent by spaces"),
        ("a: [Are you sure?, no]", "Put quotes"),
        ("a: @x", "Put quotes"),
    ],
)
def test_the_advice_fits_the_error(text: str, advice: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_yaml(text, "study.yaml")
    assert caught.value.do.startswith(advice)


def test_yaml_may_refer_to_what_refers_no_further() -> None:
    assert parse_yaml("a: &a [x]\nb: *a", "card") == {"a": ["x"], "b": ["x"]}
