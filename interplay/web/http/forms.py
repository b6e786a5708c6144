"""Read posted forms, and redirect after a form."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import parse_qsl

from fastapi import Depends, HTTPException, Request
from fastapi.responses import RedirectResponse

_MAX_FIELDS = 500


async def pairs_of(request: Request) -> list[tuple[str, str]]:
    """Return the fields of a posted form in order; names may repeat (HTTPException 400 if invalid or over 500 fields)."""
    body = await request.body()
    try:
        return parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MAX_FIELDS)
    except ValueError:
        raise HTTPException(400, "the server could not read this form; go back and send it again") from None


async def fields_of(request: Request) -> dict[str, str]:
    return dict(await pairs_of(request))


FormPairs = Annotated[list[tuple[str, str]], Depends(pairs_of)]
FormFields = Annotated[dict[str, str], Depends(fields_of)]


def is_own_address(address: str) -> bool:
    """Whether a submitted address leads to a page of this server.

    >>> [is_own_address(one) for one in ("/scores", "//lab.example", "/\\\\lab.example", "/\\t/lab.example")]
    [True, False, False, False]
    """
    return address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable()


def sentence(text: str) -> str:
    """Return the text of an error as a sentence for a page.

    >>> sentence("please write a few words")
    'Please write a few words.'
    """
    return f"{text[:1].upper()}{text[1:]}."


def see_other(address: str) -> RedirectResponse:
    return RedirectResponse(address, 303, {"Cache-Control": "no-store"})
