"""A report as one self-contained HTML file: style and pictures inside, light and dark, readable on a phone."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from interplay.report.pictures import svg
from interplay.report.table import Cell, Column, Figure, Measured, Report, Section, Table

_STYLE = Path(__file__).with_name("report.css")


def html(report: Report) -> str:
    """The page. What comes from answers is escaped; nothing in it is fetched from anywhere."""
    facts = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in report.facts)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{escape(report.title)}</title>
<style>
{_STYLE.read_text(encoding="utf-8")}</style>
</head>
<body>
<header>
<h1>{escape(report.title)}</h1>
<p class="lead">{escape(report.lead)}</p>
<dl class="facts">{facts}</dl>
{_contents(report)}
</header>
<main>
{"".join(_section(section) for section in report.sections)}</main>
<footer>Every table is saved as CSV beside this page, everything at once as report.json.</footer>
</body>
</html>
"""


def _contents(report: Report) -> str:
    items = []
    for section in report.sections:
        blocks = "".join(f'<li><a href="#{block.id}">{escape(block.title)}</a></li>' for block in section.blocks)
        items.append(f'<li><a href="#{section.id}">{escape(section.title)}</a><ul>{blocks}</ul></li>')
    return f'<nav aria-label="Contents"><details open><summary>Contents</summary><ol>{"".join(items)}</ol></details></nav>'


def _section(section: Section) -> str:
    paragraphs = "".join(f"<p>{escape(paragraph)}</p>\n" for paragraph in section.paragraphs)
    blocks = "".join(_table(block) if isinstance(block, Table) else _figure(block) for block in section.blocks)
    heading = f'<h2 id="{section.id}"><a href="#{section.id}">{escape(section.title)}</a></h2>'
    return f"<section>\n{heading}\n{paragraphs}{blocks}</section>\n"


def _figure(figure: Figure) -> str:
    picture = svg(figure).replace("<svg ", f'<svg role="img" aria-label="{escape(figure.alt)}" ', 1)
    return _block(figure, f"{picture}\n")


def _table(table: Table) -> str:
    prose = table.prose
    head = "".join(f'<th scope="col"{_class(column)}>{_breakable(column.name)}</th>' for column in table.columns)
    rows = []
    for row in table.rows:
        cells = [
            _cell(column, cell, is_first=not place, is_prose=place in prose)
            for place, (column, cell) in enumerate(zip(table.columns, row, strict=True))
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>\n")
    body = f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{''.join(rows)}</tbody>\n</table>"
    scroll = f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(table.title)}">\n{body}\n</div>\n'
    return _block(table, scroll)


def _block(block: Table | Figure, inside: str) -> str:
    heading = f'<h3><a href="#{block.id}">{escape(block.title)}</a></h3>'
    saved = f'<a href="tables/{block.id}.csv">{block.id}.csv</a>'
    return f'<figure id="{block.id}">\n{heading}\n{inside}<figcaption>{escape(block.caption)} {saved}</figcaption>\n</figure>\n'


def _cell(column: Column, cell: Cell, *, is_first: bool, is_prose: bool) -> str:
    ours = column.write(cell.value if isinstance(cell, Measured) else cell)
    theirs = column.write_paper(cell)
    small = f"<small>{escape(theirs)}</small>" if theirs else ""
    tag = 'th scope="row"' if is_first and column.form == "text" else "td"
    kind = ' class="prose"' if is_prose else _class(column)
    return f"<{tag}{kind}>{_breakable(ours) if tag != 'td' else escape(ours)}{small}</{tag.split()[0]}>"


def _breakable(name: str) -> str:
    """Escaped, and free to be parted where a CamelCaseName has its next capital."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "<wbr>", escape(name))


def _class(column: Column) -> str:
    return "" if column.form == "text" else ' class="number"'
