"""Show the API description as a page. Our own template draws openapi.json, so the page needs no other host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from interplay.web.rendering import render

router = APIRouter(include_in_schema=False)

_VERBS = ("get", "post", "put", "patch", "delete", "head")


@dataclass(frozen=True)
class Field:
    """One parameter of an operation, or one field of a body."""

    name: str
    kind: str
    is_required: bool
    text: str


@dataclass(frozen=True)
class Answer:
    """The answer that an operation gives with one status."""

    status: str
    text: str
    kind: str
    fields: list[Field]


@dataclass(frozen=True)
class Operation:
    """One HTTP verb at one address."""

    verb: str
    path: str
    title: str
    text: str
    needs_token: bool
    parameters: list[Field]
    body_kind: str
    body: list[Field]
    answers: list[Answer]


@router.get("/api/docs")
def api_docs(request: Request) -> Response:
    document = request.app.openapi()
    return render(request, "api_docs.html", "Leaderboard", groups=operations(document), version=document["info"]["version"])


def operations(document: Mapping[str, Any]) -> dict[str, list[Operation]]:
    groups: dict[str, list[Operation]] = {}
    for path, verbs in document["paths"].items():
        for verb in _VERBS:
            if verb in verbs:
                tag = (verbs[verb].get("tags") or ["other"])[0]
                groups.setdefault(tag, []).append(_operation(document, verb, path, verbs[verb]))
    return dict(sorted(groups.items()))


def _operation(document: Mapping[str, Any], verb: str, path: str, found: Mapping[str, Any]) -> Operation:
    body_kind, body = _content(document, found.get("requestBody", {}))
    answers = []
    for status, answer in sorted(found.get("responses", {}).items()):
        kind, fields = _content(document, answer)
        text = answer.get("description", "")
        if text in ("", "Successful Response") and status.isdigit():
            text = HTTPStatus(int(status)).phrase
        answers.append(Answer(status, text, kind, fields))
    parameters = [
        Field(one["name"], _kind(one.get("schema", {})), one.get("required", False), one.get("description", one["in"]))
        for one in found.get("parameters", ())
    ]
    return Operation(
        verb=verb.upper(),
        path=path,
        title=found.get("summary", path),
        text=found.get("description", ""),
        needs_token=bool(found.get("security")),
        parameters=parameters,
        body_kind=body_kind,
        body=body,
        answers=answers,
    )


def _content(document: Mapping[str, Any], holder: Mapping[str, Any]) -> tuple[str, list[Field]]:
    for kind, content in holder.get("content", {}).items():
        return kind, list(_fields(document, content.get("schema", {})))
    return "", []


def _fields(document: Mapping[str, Any], schema: Mapping[str, Any], prefix: str = "", depth: int = 0) -> Iterator[Field]:
    """Yield the fields of an object or of a list's entries. Names of inner fields begin with the name of the outer field."""
    schema = _resolved(document, schema)
    if schema.get("type") == "array" and depth < 4:
        yield from _fields(
            document, schema.get("items", {}), f"{prefix}[]." if not prefix.endswith("[].") else prefix, depth + 1
        )
        return
    for name, field in schema.get("properties", {}).items():
        inner = _resolved(document, field)
        text = field.get("description") or inner.get("description", "")
        if inner.get("examples"):
            text = f"{text} For example {inner['examples'][0]!r}.".strip()
        yield Field(prefix + name, _kind(inner), name in schema.get("required", ()), text)
        if depth < 4 and (inner.get("type") == "array" or "properties" in inner):
            yield from _fields(document, inner, f"{prefix}{name}{'[]' if inner.get('type') == 'array' else ''}.", depth + 1)


def _resolved(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the target of a reference. If the alternatives are null and another schema, return the other schema."""
    if "$ref" in schema:
        return _resolved(document, document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[-1]])
    choices = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    return {**_resolved(document, choices[0]), **{k: v for k, v in schema.items() if k != "anyOf"}} if choices else schema


def _kind(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(str(value) for value in schema["enum"])
    if schema.get("anyOf"):
        return " or ".join(_kind(one) for one in schema["anyOf"])
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[-1]
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return schema.get("format") or schema.get("type", "any")
