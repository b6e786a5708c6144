"""`interplay judge quiz`: show qualification quizzes, check your own, export them, and score answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from interplay.cli.options import SeedOption, choose_seed
from interplay.cli.output import JsonOption, emit, progress_console, table
from interplay.study.errors import QuizAnswerError, QuizError
from interplay.study.quizzes.file import builtin_quizzes, find_quiz, load_quiz
from interplay.study.quizzes.quiz import Quiz
from interplay.tables import read_text
from interplay.wording import amount

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Qualification quizzes: what somebody must know before taking part.\n\nTry:  interplay judge quiz show minecraft",
)

QuizArgument = Annotated[str, typer.Argument(metavar="QUIZ", help="A built-in quiz, or a TOML file.")]


@app.command()
def show(
    quiz: Annotated[
        str | None,
        typer.Argument(metavar="[QUIZ]", help="A built-in quiz, or a TOML file. Without it, the built-in quizzes are listed."),
    ] = None,
    key: Annotated[bool, typer.Option("--key", help="Mark the right boxes.")] = False,
    seed: SeedOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a quiz as participants see it, with boxes in random order; without a name, list the built-in quizzes.

    Try:  interplay judge quiz show minecraft --key
    """
    import numpy as np

    from interplay.study.quizzes.export import quiz_text

    if quiz is None:
        quizzes = list(builtin_quizzes().values())
        rows = [(one.id, one.title, len(one.questions), one.num_boxes, f"{one.pass_share:.0%}") for one in quizzes]
        emit(
            [_summary(one) for one in quizzes],
            as_json=as_json,
            text=table(["quiz", "title", "#questions", "#boxes", "#passes"], rows),
        )
        return
    found, rng = find_quiz(quiz), np.random.default_rng(choose_seed(seed))
    form = {**found.form(rng), "pass_share": found.pass_share, "content_hash": found.content_hash}
    if key:
        form["key"] = {
            question.id: [option.id for option in question.options if option.is_right] for question in found.questions
        }
    emit(form, as_json=as_json, text=None if as_json else quiz_text(found, rng, with_key=key).rstrip())


@app.command()
def check(file: Annotated[Path, typer.Argument(help="A TOML file.")], as_json: JsonOption = False) -> None:
    """Check a quiz of your own: its form, its pictures, and that nobody passes by ticking no box or every box.

    Try:  interplay judge quiz check my_quiz.toml
    """
    from interplay.study.quizzes.export import answer_key

    quiz = load_quiz(file)
    fits = True
    try:
        answer_key(quiz)
    except QuizError:
        fits = False
    lines = [
        f"{file} is in order: {amount(len(quiz.questions), 'question')}, {amount(quiz.num_boxes, 'box', 'boxes')}, "
        f"passed at {quiz.pass_share:.0%}."
    ]
    if not fits:
        lines.append("It is too long for Mechanical Turk's own tests; give it on your own pages.")
    lines.append(f"Look at it:  interplay judge quiz show {file} --key")
    emit({**_summary(quiz), "fits_mturk": fits}, as_json=as_json, text="\n".join(lines))


@app.command()
def export(
    quiz: QuizArgument,
    folder: Annotated[Path, typer.Option("--out", help="Folder to write to; made if missing.")] = Path("quiz"),
    kind: Annotated[
        Literal["text", "mturk", "toml"],
        typer.Option(
            "--format", help="text: plain text; mturk: XML for a test of Mechanical Turk; toml: a file that you can edit."
        ),
    ] = "text",
    picture_base: Annotated[
        str | None, typer.Option("--picture-base", help="https address of the folder with the quiz's pictures (for mturk).")
    ] = None,
    seed: SeedOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a quiz as text (with a key beside it), as XML for a Mechanical Turk qualification test, or as TOML to start from.

    Try:  interplay judge quiz export minecraft --format text --out quiz
    """
    import numpy as np

    from interplay.study.quizzes.export import answer_key, question_form, quiz_text

    found, chosen = find_quiz(quiz), choose_seed(seed)
    files: dict[str, str | bytes]
    if kind == "text":
        shown, marked = (quiz_text(found, np.random.default_rng(chosen), with_key=key) for key in (False, True))
        files = {f"{found.id}.txt": shown, f"{found.id}-key.txt": marked}
    elif kind == "mturk":
        form = question_form(found, np.random.default_rng(chosen), picture_base=picture_base)
        files = {f"{found.id}-questions.xml": form, f"{found.id}-answers.xml": answer_key(found)}
    else:
        files = {f"{found.id}.toml": read_text(Path(found.source), QuizError, hint="")}
    if kind != "text":
        files |= {
            q.picture.name: q.picture.read() for q in found.questions if q.picture is not None and not q.picture.is_remote
        }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    except OSError as error:
        raise QuizError(f"cannot write to {folder}: {error.strerror or error}\nGive another folder with --out.") from error
    progress_console.print(f"seed {chosen}", highlight=False)
    written = [str(folder / name) for name in files]
    emit({"quiz": found.id, "seed": chosen, "files": written}, as_json=as_json, text="wrote " + ", ".join(written))


@app.command()
def score(
    quiz: QuizArgument,
    answers: Annotated[Path, typer.Argument(help="JSON: {question: [ticked options]}, or a list of {worker, answers}.")],
    as_json: JsonOption = False,
) -> None:
    """Print the share of right boxes of each person, and who passes. Answers name options by id or by text.

    Try:  interplay judge quiz score minecraft answers.json
    """
    found = find_quiz(quiz)
    results = [{"worker": worker, **_scored(found, given, worker)} for worker, given in _answers(answers)]
    rows = [
        (one["worker"] or "-", one["num_right"], one["num_boxes"], f"{one['share']:.1%}", "yes" if one["passed"] else "no")
        for one in results
    ]
    document = {"quiz": found.id, "content_hash": found.content_hash, "pass_share": found.pass_share, "results": results}
    emit(document, as_json=as_json, text=table(["worker", "#right", "#boxes", "#share", "passed"], rows))


def _summary(quiz: Quiz) -> dict[str, Any]:
    return {
        "id": quiz.id,
        "title": quiz.title,
        "num_questions": len(quiz.questions),
        "num_boxes": quiz.num_boxes,
        "pass_share": quiz.pass_share,
        "content_hash": quiz.content_hash,
    }


def _scored(quiz: Quiz, given: Any, worker: str) -> dict[str, Any]:
    try:
        result = quiz.score(quiz.ids_of(given) if isinstance(given, dict) else given)
    except QuizAnswerError as error:
        raise QuizAnswerError(f"{worker}: {error}" if worker else str(error)) from None
    return {
        "num_right": result.num_right,
        "num_boxes": result.num_boxes,
        "share": result.share,
        "passed": result.is_passed,
        "by_question": result.by_question,
    }


def _answers(file: Path) -> list[tuple[str, Any]]:
    """Return the pairs (worker, answers) of a file; the worker is empty if the file holds one person's answers."""
    text = read_text(file, QuizAnswerError, hint="It should hold JSON: {question id: [texts of ticked options]}")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise QuizAnswerError(f"{file}: not JSON: {error}") from None
    if not isinstance(document, list):
        return [("", document)]
    for index, one in enumerate(document):
        if not isinstance(one, dict) or not isinstance(one.get("worker"), str) or "answers" not in one:
            raise QuizAnswerError(f'{file}: entry {index} must be {{"worker": "...", "answers": {{...}}}}, got {str(one)[:80]}')
    return [(one["worker"], one["answers"]) for one in document]
