"""A signed token stands for an enrolment, and nothing else does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from itsdangerous import URLSafeSerializer

from interplay.study import EnrolmentTokenError, tokens

SECRET = b"a server's secret"
ENROLMENT = "0123456789abcdef01234567"


@given(st.text("0123456789abcdefABC_-", min_size=1, max_size=64))
def test_a_token_says_whose_it_is(enrolment):
    token = tokens.make(SECRET, enrolment)
    assert tokens.read(SECRET, token) == enrolment
    assert all(char.isalnum() or char in "-_." for char in token)  # stands in addresses and headers as it is


def test_any_other_token_is_refused():
    for token in [
        "",
        ENROLMENT,
        "..",
        "a" * 100_000,
        "\x00\ud800",
        tokens.make(b"another secret", ENROLMENT),
        tokens.make(SECRET, ENROLMENT)[:-1],
        tokens.make(SECRET, ENROLMENT).replace(".", "x."),
        URLSafeSerializer(SECRET, salt="interplay.seat").dumps(ENROLMENT),  # a seat is not an enrolment
        URLSafeSerializer(SECRET, salt="interplay.study.enrolment").dumps([ENROLMENT]),
        URLSafeSerializer(SECRET, salt="interplay.study.enrolment").dumps("a/../b"),
    ]:
        with pytest.raises(EnrolmentTokenError, match="was not signed by this server") as caught:
            tokens.read(SECRET, token)
        assert "Open the study again" in str(caught.value)


@given(st.text(max_size=200))
def test_no_text_breaks_reading(token):
    with pytest.raises(EnrolmentTokenError):
        tokens.read(SECRET, token)


@pytest.mark.parametrize("enrolment", ["", "a b", "ü", "x" * 65])
def test_an_id_that_could_not_come_back_is_not_signed(enrolment):
    with pytest.raises(ValueError, match="an enrolment id is 1 to 64"):
        tokens.make(SECRET, enrolment)
