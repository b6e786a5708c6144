"""Options and helpers of the verbs that ask language models: their addresses and prices, and whether Inspect is installed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import inf
from typing import TYPE_CHECKING, Annotated

import typer

from interplay.errors import InterplayError, not_installed
from interplay.wording import amount

if TYPE_CHECKING:
    from interplay.explore.evaluation.providers import At
    from interplay.explore.make.chat import Spent

AddressOption = Annotated[
    str | None,
    typer.Option(
        help="Address of an OpenAI-compatible server, such as http://127.0.0.1:8080/v1; --model is the model's name there."
    ),
]
KeyOption = Annotated[
    str | None, typer.Option("--key-env", help="Environment variable with the key for --address; it is never stored.")
]
PricesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--price",
        metavar="MODEL=IN,OUT",
        help="Dollars for a million tokens read and a million tokens written; may be repeated.",
    ),
]
TimeoutOption = Annotated[
    int,
    typer.Option(
        "--timeout", min=1, help="Longest wait for an answer, in seconds; then the call is sent again, up to four times."
    ),
]


@contextmanager
def needs_models(verb: str) -> Iterator[None]:
    """Say what to install if an import in the block does not find Inspect, or a client of OpenAI's protocol."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("inspect_ai", "openai"):
            raise
        raise InterplayError(not_installed(f"`interplay explore {verb}` needs", error.name, "explore")) from None


def server_at(address: str | None, key_env: str | None) -> At | None:
    """Return the server of `--address` with the key of `--key-env`; None without an address."""
    from interplay.explore.evaluation.providers import At

    if key_env is not None and address is None:
        raise typer.BadParameter("--key-env needs --address; models without it have variables of their own for keys")
    if address is None:
        return None
    if not re.match("https?://[^/]", address):
        raise typer.BadParameter(f"--address takes the address of a server, such as http://127.0.0.1:8080/v1; got {address!r}")
    if key_env is None:
        return At(address)
    key = os.environ.get(key_env)
    if not key:
        raise InterplayError(f"the environment variable {key_env} is not set; it should hold the model's key")
    return At(address, key)


def prices_of(texts: list[str] | None) -> dict[str, tuple[float, float]]:
    """Return model -> dollars for a million tokens (read, written); BadParameter if a text has another form."""
    found = {}
    for text in texts or []:
        model, _, price = text.rpartition("=")
        try:
            read, written = (float(part) for part in price.split(","))
            if not (0 <= read < inf and 0 <= written < inf):
                raise ValueError
        except ValueError:
            raise typer.BadParameter(f"--price takes MODEL=IN,OUT, such as openai/NAME=2.5,10; got {text!r}") from None
        found[model] = (read, written)
    return found


def spent_text(spent: Mapping[str, Spent]) -> str:
    answers = sum(one.calls + one.kept for one in spent.values())
    numbers = [number for one in spent.values() for number in (one.input_tokens, one.output_tokens)]
    tokens = "tokens unknown" if None in numbers else amount(sum(number or 0 for number in numbers), "token")
    costs = [one.cost for one in spent.values() if one.cost is not None]
    return f"{amount(answers, 'answer')}, {tokens}" + (f", {sum(costs):.2f} dollars" if costs else "")
