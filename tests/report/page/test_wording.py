"""Templates of words: paragraphs, spaces and values without letters."""

from __future__ import annotations

import pytest
from jinja2 import UndefinedError

from genesig.report.page.wording import Wording

TEMPLATE = """
{% macro section(name, count) %}
{{ clean(name) }} has
{{ counted(count, "gene") }}
{% if count > 1 %}
(several)
{% endif %}
.

{{ aside("") }}

{{ aside("") }} Second {{ p_value(0.01) }}.
{% endmacro %}

{% macro aside(text) %}
{{ text }}
{% endmacro %}

{% macro unknown() %}
{{ absent }}
{% endmacro %}
"""


@pytest.fixture
def wording(tmp_path):
    (tmp_path / "topic.j2").write_text(TEMPLATE, encoding="utf-8")
    return Wording(str(tmp_path / "topic.py"))


def test_paragraphs_end_at_blank_lines_and_have_single_spaces(wording):
    paragraphs = wording.paragraphs("section", "<b>A</b>", 2)
    assert paragraphs == ["<b>A</b> has 2 genes (several).", "Second p\u00a0=\u00a00.01."]


def test_text_joins_paragraphs(wording):
    assert wording.text("section", "A", 1) == "A has 1 gene. Second p\u00a0=\u00a00.01."


def test_unknown_name_in_a_template_is_an_error(wording):
    with pytest.raises(UndefinedError):
        wording.text("unknown")
