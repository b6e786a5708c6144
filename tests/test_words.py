"""One word for one idea, in everything a user reads: pages, commands, errors, documentation, task files."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent

WORDS = {
    r"automatic(ally)?[ -](judg|answer)": "model judge: a program that answers matches",
    r"automatic(ally)?[ -](evaluat|check|rule)": "outcome check: a rule that says whether a task was achieved",
    r"pools?": "candidates: episodes that may be shown; workers: processes that step worlds",
    r"(match(making)?|pairing|judging|default)('s)? polic(y|ies)": "pairing: which match is served next",
    r"(frames?|of) polic(y|ies)|polic(y|ies) (replay|indexed|video)": "frame storage: replay, indexed or video",
    r"none that": "a sentence with a subject and a verb",
    r"whence": "from where",
    r"of before": "earlier",
    r"can(not)? be believed|be believed": "accurate, or calibrated",
    r"doubt": "uncertainty",
    r"nobody at the keyboard": "scripted players and judges",
    r"(come|comes|came|brought) about": "happen; or a noun, such as history",
    r"(pair|match) (is )?before (you|them)": "an open pair",
    r"(before|with) (a|their|its|every) judge (right )?now": "open, or being judged",
    r"sign(s)? of life": "heartbeat",
    r"nobody can read off": "so it does not show",
    r"counts? (in|for) no": "does not count for",
    r"no (more|longer) once": "stops when",
    r"(is|are|was|were) given (up|back)": "becomes free, or is released",
    r"gives? (it|a match|the match) back": "release",
    r"taken for (certain|independent|known)": "treated as, or counts as",
    r"play(s)? on without": "keep playing without",
    r"(made|make|makes|computed|begins?) anew": "again",
    r"commonest": "most common",
    r"likeliest": "most likely",
    r"whoever runs": "the operator of",
    r"parted by": "separated by",
    r"one's own": "your own",
    r"by itself in": "automatically",
}

IN_DOCSTRINGS = WORDS | {
    r"go(es)? on\b": "continue",
    r"(is|are|was|were) none\b": "there is no",
    r"(that|who|which) (is|are) there\b": "existing, available",
    r"whoever": "players who, people who",
    r"to be had": "available",
}
"""Words that are not used, as a pattern, and what to write instead. The glossary's other words are checked by readers."""

STILL: dict[str, int] = {}
"""File -> how many such words it still has. These numbers may only become smaller."""

CLAUSE = re.compile(
    r"(?:(?:\A|\n\s*\n|[.!?:;|*-]\s)\s*(?:Who|What|Whoever|Whatever)|;\s+(?:who|whoever))\s[^.?!;:|\n]*(?:\n[^.?!;:|\n]+)*[.;:](?!\*)"
)
"""A sentence whose subject is a clause ("Who plays ..., gets ..."); questions, headings and labels are none."""


def prose(path: Path) -> str:
    """What a user may read of a file: without code, template statements and names."""
    text = path.read_text()
    if path.suffix == ".md":
        return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL).replace("`", "")
    if path.suffix == ".html":
        return re.sub(r"\{[{%#].*?[}%#]\}", "", text, flags=re.DOTALL)
    if path.suffix == ".py":  # errors; the help of commands is on docs/command-line.md
        raised = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Raise)]
        parts = [part.value for one in raised for part in ast.walk(one) if isinstance(part, ast.Constant)]
        return "\n".join(part for part in parts if isinstance(part, str))
    return text


def read_by_users() -> list[Path]:
    package = ROOT / "interplay"
    return [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "docs").rglob("*.md")),
        *sorted((package / "web" / "templates").rglob("*.html")),
        *sorted((package / "web" / "static" / "js").rglob("*.js")),
        *sorted((package / "tasks").rglob("*.toml")),
        *sorted((package / "study").rglob("*.toml")),
        *sorted(package.rglob("*.py")),
    ]


def found_in(text: str, words: dict[str, str] = WORDS) -> Counter[str]:
    """Words of the list in a text, in lower case -> how often."""
    return Counter(
        " ".join(found.group().lower().split())
        for pattern in words
        for found in re.finditer(rf"\b(?:{pattern.replace(' ', chr(92) + 's+')})\w*", text, re.IGNORECASE)
    )


def test_what_users_read_uses_the_words_of_the_glossary():
    found = {str(path.relative_to(ROOT)): found_in(prose(path)) for path in read_by_users()}
    new = {name: dict(words) for name, words in found.items() if words.total() > STILL.get(name, 0)}
    assert not new, f"write instead: {WORDS}"
    mended = [name for name in STILL if name not in found or not found[name]]
    assert not mended, "these have no such words any more: take them off the list"


def clauses_in(path: Path) -> list[str]:
    """Sentences of a text that begin with a clause instead of a named subject."""
    text = re.sub(r"</?(?:a|b|code|em|i|span|strong|time)\b[^>]*>", "", prose(path))
    return [" ".join(found.group().split()) for found in CLAUSE.finditer(re.sub(r"<[^>]*>", "\n\n", text))]


def test_sentences_name_their_subject():
    texts = [path for path in [*read_by_users(), ROOT / "CHANGELOG.md"] if path.suffix in (".md", ".html")]
    found = {str(path.relative_to(ROOT)): clauses for path in texts if (clauses := clauses_in(path))}
    assert not found, "name the subject: 'Players who ...', 'Recordings that ...'"


def docstrings() -> Iterator[tuple[str, str]]:
    """Yield (file and name, docstring) of both packages, without what is between backquotes."""
    for path in [*(ROOT / "interplay").rglob("*.py"), *(ROOT / "packages" / "blockworld" / "blockworld").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
                text := ast.get_docstring(node)
            ):
                yield f"{path.relative_to(ROOT)}: {getattr(node, 'name', '')}", re.sub(r"`[^`]*`", "x", text)


def test_docstrings_use_the_words_and_name_their_subject():
    found = {name: [*found_in(text, IN_DOCSTRINGS), *CLAUSE.findall(text)] for name, text in docstrings()}
    assert not {name: words for name, words in found.items() if words}, f"name the subject; write instead: {IN_DOCSTRINGS}"


def test_words_are_found_in_prose_and_in_errors_and_not_in_code(tmp_path):
    page, template, module = tmp_path / "page.md", tmp_path / "page.html", tmp_path / "module.py"
    page.write_text("Automatic\njudges and their `pool`.\n```python\nwhence = 1\n```\n")
    assert found_in(prose(page)) == {"automatic judges": 1, "pool": 1}
    template.write_text("{% if pool %}<p title='Made of before'>{{ pool }}</p>{% endif %}")
    assert found_in(prose(template)) == {"of before": 1}
    module.write_text("pool = 'whence'\nraise ValueError(f'{pool} of before')\n")
    assert found_in(prose(module)) == {"of before": 1}


def test_clauses_are_found_and_questions_headings_and_labels_are_not(tmp_path):
    page, template = tmp_path / "page.md", tmp_path / "page.html"
    page.write_text(
        "# What is kept\n\nWhat is `kept`\nstays. What is it?\n\n**What is kept.** Games; who leaves goes.\n\n| What | who |\n"
    )
    assert clauses_in(page) == ["What is kept stays.", "; who leaves goes."]
    template.write_text("<h2>What counts</h2><p>Stop. Who <b>plays</b> {{ now }} is paid.</p><p>What is wrong?</p>")
    assert clauses_in(template) == [". Who plays is paid."]
