"""Save a report: `report.html`, `report.pdf`, `report.json`, and every table as CSV. The same report gives the same bytes."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader

from interplay.errors import InterplayError, not_installed
from interplay.report.plots import WIDTH_IN, png, svg
from interplay.report.table import Cell, Column, Figure, Report, Table, csv_of

_INK, _SOFT, _LINE, _STRIPE = "#1d2422", "#5a6561", "#d9d6cd", "#f6f4ee"
_WIDE, _WIDE_WITH_PROSE = 7, 4
"""Most columns of a table in full size; tables with more columns get a smaller font."""
_WHOLE_ROWS = 24
"""Most rows of a table that stays on one page; longer tables may be split."""
_PADDING = 2.2
"""Empty space at the sides of a cell, in widths of a letter."""
_HIGHEST_PICTURE = 455.0
"""Largest height of a picture in points, which leaves room for the table below."""


def pdf(report: Report) -> bytes:
    """Write the report as a PDF on A4; raise an `InterplayError` if reportlab or matplotlib is not installed."""
    try:
        from reportlab.lib.pagesizes import A4
        from reportlab.lib.units import mm
        from reportlab.platypus import KeepTogether, PageBreak, Paragraph, SimpleDocTemplate, Spacer
    except ModuleNotFoundError:
        raise InterplayError(not_installed("a PDF needs", "reportlab", "report")) from None
    styles = _styles()
    out = io.BytesIO()
    document = SimpleDocTemplate(
        out,
        pagesize=A4,
        leftMargin=18 * mm,
        rightMargin=18 * mm,
        topMargin=18 * mm,
        bottomMargin=18 * mm,
        title=report.title,
        author="Interplay",
        invariant=1,
    )
    facts = " · ".join(f"{escape(name)}: <b>{escape(value)}</b>" for name, value in report.facts)
    story: list[Any] = [
        Paragraph(escape(report.title), styles["title"]),
        Paragraph(escape(report.lead), styles["soft"]),
        Spacer(1, 4 * mm),
        Paragraph(facts, styles["text"]),
        Spacer(1, 6 * mm),
    ]
    for section in report.sections:
        story.append(Paragraph(f'<a href="#{section.id}"><b>{escape(section.title)}</b></a>', styles["contents"]))
        links = (f'<a href="#{block.id}">{escape(block.title)}</a>' for block in section.blocks)
        story += [Paragraph(link, styles["contents-block"]) for link in links]
    story.append(PageBreak())
    for section in report.sections:
        # A heading stays with what it is about: it waits for the first block, or goes alone if there is none.
        waiting: list[Any] = [_heading(section.title, section.id, styles["section"], level=0)]
        waiting += [Paragraph(escape(paragraph), styles["text"]) for paragraph in section.paragraphs]
        for block in section.blocks:
            is_figure = isinstance(block, Figure)
            body = _picture(block, document.width) if is_figure else _table(block, document.width, styles)
            parts = [
                *waiting,
                _heading(block.title, block.id, styles["block"], level=1),
                body,
                Paragraph(escape(block.caption), styles["caption"]),
            ]
            waiting = []
            story += [KeepTogether(parts)] if is_figure or len(block.rows) <= _WHOLE_ROWS else parts
        story += waiting
    document.build(story, onFirstPage=_page_number, onLaterPages=_page_number)
    return out.getvalue()


def _heading(text: str, anchor: str, style: Any, *, level: int) -> Any:
    from reportlab.platypus import Paragraph

    class Heading(Paragraph):
        def draw(self) -> None:
            self.canv.bookmarkPage(anchor)
            self.canv.addOutlineEntry(text, anchor, level=level, closed=level == 0)
            super().draw()

    return Heading(escape(text), style)


def _picture(figure: Figure, width: float) -> Any:
    from reportlab.lib.units import inch
    from reportlab.platypus import Image

    scale = min(1.0, width / (WIDTH_IN * inch), _HIGHEST_PICTURE / (figure.height_in * inch))
    return Image(io.BytesIO(png(figure)), WIDTH_IN * inch * scale, figure.height_in * inch * scale, hAlign="LEFT")


def _table(table: Table, width: float, styles: Any) -> Any:
    from reportlab.lib.colors import HexColor
    from reportlab.platypus import Paragraph
    from reportlab.platypus import Table as Grid

    size = "small" if len(table.columns) > (_WIDE_WITH_PROSE if table.prose else _WIDE) else "cell"
    head = [Paragraph(escape(_parted(column.name)), styles[f"head-{_side(column)}"]) for column in table.columns]
    rows = [
        [_cell(column, cell, styles[f"{size}-{_side(column)}"]) for column, cell in zip(table.columns, row, strict=True)]
        for row in table.rows
    ]
    grid = Grid([head, *rows], colWidths=_widths(table, width, styles[f"{size}-left"].fontSize), repeatRows=1)
    grid.setStyle(
        [
            ("VALIGN", (0, 0), (-1, 0), "BOTTOM"),
            ("VALIGN", (0, 1), (-1, -1), "TOP"),
            ("LINEBELOW", (0, 0), (-1, 0), 0.8, HexColor(_SOFT)),
            ("LINEBELOW", (0, 1), (-1, -1), 0.25, HexColor(_LINE)),
            ("ROWBACKGROUNDS", (0, 1), (-1, -1), [None, HexColor(_STRIPE)]),
            ("LEFTPADDING", (0, 0), (-1, -1), 6),
            ("RIGHTPADDING", (0, 0), (-1, -1), 3),
            ("TOPPADDING", (0, 0), (-1, -1), 2),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 2.5),
        ]
    )
    return grid


def _cell(column: Column, cell: Cell, style: Any) -> Any:
    from reportlab.platypus import Paragraph

    text = escape(column.write(cell))
    theirs = column.write_paper(cell)
    if theirs:
        text += f'<br/><font size="{style.fontSize - 1.6}" color="{_SOFT}">{escape(theirs)}</font>'
    return Paragraph(text, style)


def _widths(table: Table, width: float, font_size: float) -> list[float]:
    """Return column widths: the longest word of each column fits, and columns with long texts get the rest of the width.

    Widths are counted in letters of cell text; the paper's numbers are smaller, and headings are bold.
    """
    floors, needs = [], []
    for place, column in enumerate(table.columns):
        cells = [row[place] for row in table.rows]
        texts = [column.write(cell) for cell in cells]
        words = [word for text in texts for word in ([text] if column.form != "text" else text.split())]
        small = [0.8 * len(column.write_paper(cell)) for cell in cells]
        bold = [1.15 * len(word) for word in _parted(column.name).split()]
        floors.append(min(30.0, max([*map(len, words), *small, *bold], default=0.0)) + _PADDING)
        needs.append(min(60.0, max([floors[-1], *(len(text) + _PADDING for text in texts)])))
    letters = width / (0.6 * font_size)  # as many letters as a line takes, about
    spare = max(0.0, letters - sum(floors))
    wished = sum(need - floor for need, floor in zip(needs, floors, strict=True))
    share = min(1.0, spare / wished) if wished else 0.0
    letters_each = [floor + share * (need - floor) for need, floor in zip(needs, floors, strict=True)]
    return [width * each / sum(letters_each) for each in letters_each]


def _parted(name: str) -> str:
    """Split the longest CamelCaseWords of a heading, so that it may take several lines.

    >>> _parted("CreateVillageAnimalPen mu"), _parted("GoUp")
    ('Create Village Animal Pen mu', 'GoUp')
    """
    return " ".join(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", word) if len(word) > 14 else word for word in name.split())


def _side(column: Column) -> str:
    return "left" if column.form == "text" else "right"


def _styles() -> dict[str, Any]:
    """Return the paragraph styles, in a font that has every letter that names are likely to have."""
    from reportlab.lib.colors import HexColor
    from reportlab.lib.enums import TA_LEFT, TA_RIGHT
    from reportlab.lib.styles import ParagraphStyle

    font, bold = _fonts()

    def style(name: str, family: str, size: float, leading: float, colour: str = _INK, **more: Any) -> ParagraphStyle:
        return ParagraphStyle(
            name, fontName=family, fontSize=size, leading=leading, textColor=HexColor(colour), splitLongWords=True, **more
        )

    styles = [
        style("title", bold, 22, 27, spaceAfter=6),
        style("section", bold, 15, 19, spaceBefore=16, spaceAfter=5),
        style("block", bold, 10, 13, spaceBefore=12, spaceAfter=4),
        style("text", font, 9.5, 14),
        style("soft", font, 9.5, 14, _SOFT),
        style("caption", font, 7.8, 10.5, _SOFT, spaceBefore=4, spaceAfter=6),
        style("contents", font, 9.2, 12, spaceBefore=4),
        style("contents-block", font, 7.8, 10, _SOFT, leftIndent=12),
    ]
    for side, alignment in (("left", TA_LEFT), ("right", TA_RIGHT)):
        styles += [
            style(f"cell-{side}", font, 8, 10.2, alignment=alignment),
            style(f"small-{side}", font, 7, 9, alignment=alignment),
            style(f"head-{side}", bold, 7, 9, _SOFT, alignment=alignment),
        ]
    return {style.name: style for style in styles}


def _fonts() -> tuple[str, str]:
    """Register DejaVu Sans, which comes with matplotlib; the standard fonts of PDF readers have only Latin letters."""
    import matplotlib
    from reportlab.lib.fonts import addMapping
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont

    folder = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    if "DejaVuSans" not in pdfmetrics.getRegisteredFontNames():
        pdfmetrics.registerFont(TTFont("DejaVuSans", folder / "DejaVuSans.ttf"))
        pdfmetrics.registerFont(TTFont("DejaVuSans-Bold", folder / "DejaVuSans-Bold.ttf"))
        for bold in (0, 1):
            addMapping("DejaVuSans", bold, 0, "DejaVuSans-Bold" if bold else "DejaVuSans")
    return "DejaVuSans", "DejaVuSans-Bold"


def _page_number(canvas: Any, document: Any) -> None:
    canvas.setFont("DejaVuSans", 7.5)
    canvas.setFillColor(_SOFT)
    canvas.drawRightString(document.pagesize[0] - document.rightMargin, 10 * 2.83, str(canvas.getPageNumber()))


_HERE = Path(__file__).parent


def html(report: Report) -> str:
    """Write the report as an HTML page; texts from answers are escaped, and the page loads no other files."""
    pages = Environment(
        loader=FileSystemLoader(_HERE), trim_blocks=True, keep_trailing_newline=True, autoescape=False
    )  # by `esc`
    pages.filters |= {
        "esc": escape,
        "breakable": _breakable,
        "number_class": _class,
        "cell": _html_cell,
        "picture": _html_picture,
    }
    style = (_HERE / "report.css").read_text(encoding="utf-8")
    return pages.get_template("report.html.jinja").render(report=report, style=style)


def _html_picture(figure: Figure) -> str:
    return svg(figure).replace("<svg ", f'<svg role="img" aria-label="{escape(figure.alt)}" ', 1)


def _html_cell(column: Column, cell: Cell, is_first: bool, is_prose: bool) -> str:
    ours = column.write(cell)
    theirs = column.write_paper(cell)
    small = f"<small>{escape(theirs)}</small>" if theirs else ""
    tag = 'th scope="row"' if is_first and column.form == "text" else "td"
    kind = ' class="prose"' if is_prose else _class(column)
    return f"<{tag}{kind}>{_breakable(ours) if tag != 'td' else escape(ours)}{small}</{tag.split()[0]}>"


def _breakable(name: str) -> str:
    """Escape a name, and allow a line break before each capital inside a CamelCaseName."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "<wbr>", escape(name))


def _class(column: Column) -> str:
    return "" if column.form == "text" else ' class="number"'


class WrittenReport(NamedTuple):
    """Paths of the parts of a written report."""

    html: Path
    pdf: Path
    json: Path
    tables: Path


def write_report(report: Report, folder: Path, *, on_part: Callable[[str], None] = lambda part: None) -> WrittenReport:
    """Write `report.html`, `report.pdf`, `report.json` and `tables/ID.csv` into a folder; earlier files are replaced.

    The same report gives the same bytes. `on_part` gets the name of each part before the part is made.

    Raises:
        InterplayError: If a package of the extra `report` is missing.
        OSError: If the folder cannot be written.
    """
    parts: dict[str, Callable[[], bytes]] = {
        "report.json": lambda: (json.dumps(report.to_json(), indent=1, ensure_ascii=False) + "\n").encode(),
        "report.html": lambda: html(report).encode(),
        "report.pdf": lambda: pdf(report),
    }
    tables = folder / "tables"
    tables.mkdir(parents=True, exist_ok=True)
    for block in report.blocks:
        is_table = isinstance(block, Table)
        text = csv_of(block.records(), [column.name for column in block.columns]) if is_table else csv_of(block.table)
        (tables / f"{block.id}.csv").write_text(text, encoding="utf-8", newline="")
    for name, make in parts.items():
        on_part(name)
        (folder / name).write_bytes(make())
    return WrittenReport(folder / "report.html", folder / "report.pdf", folder / "report.json", tables)
