"""Asking language models: an answer is kept and paid for once, whoever is killed and whenever."""

import asyncio
from contextlib import closing

import pytest
from inspect_ai.model import ChatMessageUser, GenerateConfig

from bench.model_server import ModelServer
from interplay.cli.explore.models import spent_text
from interplay.explore.evaluation.calls import CallError
from interplay.explore.evaluation.providers import At, model_named
from interplay.explore.evaluation.runs import LinesError
from interplay.explore.make.chat import Chat, ChatError


def ask(path, address: str, questions: list[tuple[str, int]], **options) -> tuple[list[str], Chat]:
    """Answers of the model `m` to questions, each a text and a sample, and the chat, which is closed."""

    async def all_of(chat: Chat) -> list[str]:
        model, config = model_named("m", At(address)), GenerateConfig(temperature=0.3)
        asked = [chat.ask(model, [ChatMessageUser(content=text)], sample=n, config=config) for text, n in questions]
        return [one.completion for one in await asyncio.gather(*asked)]

    with closing(Chat(path, **options)) as chat:
        return asyncio.run(all_of(chat)), chat


def test_an_answer_is_kept_and_paid_for_once_and_a_torn_line_is_asked_again(tmp_path):
    path, said = tmp_path / "answers.jsonl", iter(range(100))
    with ModelServer(lambda model, texts: f"{texts[-1]} {next(said)}") as server:
        questions = [("a", 0), ("a", 1), ("b", 0)]
        first, chat = ask(path, server.address, questions, prices={"m": (1e6, 1e6)}, num_at_once=1)
        assert first == ["a 0", "a 1", "b 2"], "each sample is an answer of its own"
        assert (chat.spent["m"].calls, chat.spent["m"].kept) == (3, 0)
        assert chat.spent["m"].cost == chat.spent["m"].input_tokens + chat.spent["m"].output_tokens
        again, chat = ask(path, server.address, questions)
        assert (again, chat.spent["m"].calls, chat.spent["m"].kept, chat.spent["m"].cost) == (first, 0, 3, None)
        path.write_bytes(path.read_bytes()[:-9])  # as a process leaves it that was killed while it wrote
        torn, chat = ask(path, server.address, questions)
        assert (torn, chat.spent["m"].calls) == (["a 0", "a 1", "b 3"], 1)
        assert len(server.prompts) == 4


def test_without_usage_tokens_and_cost_are_unknown(tmp_path):
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}
    with ModelServer(lambda model, texts: {"usage": None, "choices": [choice]}) as server:
        _, chat = ask(tmp_path / "answers.jsonl", server.address, [("a", 0)], prices={"m": (1.0, 1.0)})
    assert (chat.spent["m"].input_tokens, chat.spent["m"].cost) == (None, None)
    assert spent_text(chat.spent) == "1 answer, tokens unknown"


def test_a_file_of_answers_has_one_writer_and_what_is_none_is_refused(tmp_path):
    with closing(Chat(tmp_path / "answers.jsonl")), pytest.raises(LinesError, match=r"another process writes .*answers"):
        Chat(tmp_path / "answers.jsonl")
    for text in ("nonsense\n", "[]\n", '{"asked": 1}\n'):
        (tmp_path / "other.jsonl").write_text(text)
        with pytest.raises(ChatError, match=r"not a file of answers.*\nMove it away"):
            Chat(tmp_path / "other.jsonl")


def test_a_model_that_refuses_is_an_error_without_its_key_and_nothing_is_kept(tmp_path):
    with ModelServer(lambda model, texts: 401) as server:

        async def refused(chat: Chat) -> None:
            await chat.ask(model_named("m", At(server.address, "sk-secret-4711")), [ChatMessageUser(content="a")])

        with (
            closing(Chat(tmp_path / "answers.jsonl")) as chat,
            pytest.raises(CallError, match=r"m did not answer: [A-Za-z]+Error: .*refused") as caught,
        ):
            asyncio.run(refused(chat))
    assert "4711" not in str(caught.value)
    assert (tmp_path / "answers.jsonl").read_bytes() == b""
