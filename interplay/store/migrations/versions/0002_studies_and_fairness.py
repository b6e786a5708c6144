"""Studies, recruiting, checks, bans, moderation and tokens"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_JSON = sa.JSON().with_variant(postgresql.JSONB(astext_type=sa.Text()), "postgresql")

# The log of answers is only ever added to; from here on the database itself says so.
_KEEP_ANSWERS = {
    "sqlite": [
        f"CREATE TRIGGER answers_are_kept_{change} BEFORE {change} ON answers "
        "BEGIN SELECT RAISE(ABORT, 'answers are only ever added'); END"
        for change in ("update", "delete")
    ],
    "postgresql": [
        "CREATE FUNCTION answers_are_kept() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'answers are only ever added'; END $$",
        "CREATE TRIGGER answers_are_kept BEFORE UPDATE OR DELETE ON answers FOR EACH ROW EXECUTE FUNCTION answers_are_kept()",
    ],
}


def upgrade() -> None:
    op.create_table(
        "api_tokens",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_tokens")),
        sa.UniqueConstraint("digest", name=op.f("uq_api_tokens_digest")),
        sa.UniqueConstraint("name", name=op.f("uq_api_tokens_name")),
    )
    op.create_table(
        "bans",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("judge", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("lifted_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bans")),
    )
    with op.batch_alter_table("bans", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_bans_judge"), ["judge"], unique=False)

    op.create_table(
        "study_versions",
        sa.Column("content_hash", sa.String(), nullable=False),
        sa.Column("study", sa.String(), nullable=False),
        sa.Column("definition", _JSON, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("content_hash", name=op.f("pk_study_versions")),
    )
    with op.batch_alter_table("study_versions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_study_versions_study"), ["study"], unique=False)

    op.create_table(
        "studies",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("content_hash", sa.String(), nullable=False),
        sa.Column("opened_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["content_hash"], ["study_versions.content_hash"], name=op.f("fk_studies_content_hash_study_versions")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_studies")),
    )
    op.create_table(
        "enrolments",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("study", sa.String(), nullable=False),
        sa.Column("study_hash", sa.String(), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("channel", sa.String(), nullable=False),
        sa.Column("worker", sa.String(), nullable=False),
        sa.Column("assignment", sa.String(), nullable=False),
        sa.Column("arrival", _JSON, nullable=False),
        sa.Column("arrived_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("consented_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("outcome", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(
            ["participant_id"], ["participants.id"], name=op.f("fk_enrolments_participant_id_participants")
        ),
        sa.ForeignKeyConstraint(["study"], ["studies.id"], name=op.f("fk_enrolments_study_studies")),
        sa.ForeignKeyConstraint(
            ["study_hash"], ["study_versions.content_hash"], name=op.f("fk_enrolments_study_hash_study_versions")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_enrolments")),
        sa.UniqueConstraint("study", "channel", "worker", "assignment", name="uq_enrolments_assignment"),
    )
    with op.batch_alter_table("enrolments", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_enrolments_participant_id"), ["participant_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_enrolments_study"), ["study"], unique=False)

    op.create_table(
        "pay_events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("enrolment_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("amount_cents", sa.Integer(), nullable=False),
        sa.Column("currency", sa.String(), nullable=False),
        sa.Column("request", sa.String(), nullable=False),
        sa.Column("detail", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["enrolment_id"], ["enrolments.id"], name=op.f("fk_pay_events_enrolment_id_enrolments")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pay_events")),
    )
    with op.batch_alter_table("pay_events", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_pay_events_enrolment_id"), ["enrolment_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_pay_events_request"), ["request"], unique=False)

    op.create_table(
        "quiz_attempts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("enrolment_id", sa.String(), nullable=False),
        sa.Column("quiz", sa.String(), nullable=False),
        sa.Column("quiz_hash", sa.String(), nullable=False),
        sa.Column("responses", _JSON, nullable=False),
        sa.Column("share", sa.Double(), nullable=False),
        sa.Column("passed", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["enrolment_id"], ["enrolments.id"], name=op.f("fk_quiz_attempts_enrolment_id_enrolments")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_quiz_attempts")),
    )
    with op.batch_alter_table("quiz_attempts", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_quiz_attempts_enrolment_id"), ["enrolment_id"], unique=False)

    with op.batch_alter_table("agents", schema=None) as batch_op:
        batch_op.add_column(sa.Column("approved_at", sa.DateTime(timezone=True), nullable=True))
        batch_op.add_column(sa.Column("declined_at", sa.DateTime(timezone=True), nullable=True))
        batch_op.add_column(sa.Column("declined_because", sa.String(), nullable=False, server_default=""))
        batch_op.add_column(sa.Column("proposed_by", sa.String(), nullable=True))
        batch_op.add_column(sa.Column("description", sa.String(), nullable=False, server_default=""))

    with op.batch_alter_table("answers", schema=None) as batch_op:
        batch_op.add_column(sa.Column("study", sa.String(), nullable=True))
        batch_op.add_column(sa.Column("purpose", sa.String(), nullable=False, server_default="rating"))
        batch_op.add_column(sa.Column("judge_kind", sa.String(), nullable=False, server_default="person"))
        batch_op.add_column(sa.Column("source", _JSON, nullable=True))
        batch_op.create_index(batch_op.f("ix_answers_study"), ["study"], unique=False)

    with op.batch_alter_table("matches", schema=None) as batch_op:
        batch_op.add_column(sa.Column("study", sa.String(), nullable=True))
        batch_op.add_column(sa.Column("purpose", sa.String(), nullable=False, server_default="rating"))
        batch_op.add_column(sa.Column("expected", sa.String(), nullable=True))
        batch_op.add_column(sa.Column("repeat_of", sa.String(), nullable=True))
        batch_op.add_column(sa.Column("judge_kind", sa.String(), nullable=False, server_default="person"))
        batch_op.add_column(sa.Column("draft", _JSON, nullable=True))
        batch_op.create_index(batch_op.f("ix_matches_study"), ["study"], unique=False)
        batch_op.drop_index(batch_op.f("ix_matches_judge"))
        batch_op.create_index("ix_matches_judge_answered", ["judge", "answered_at"], unique=False)

    with op.batch_alter_table("participants", schema=None) as batch_op:
        batch_op.add_column(sa.Column("channel", sa.String(), nullable=True))
        batch_op.add_column(sa.Column("worker", sa.String(), nullable=True))
        batch_op.create_index("uq_participants_worker", ["channel", "worker"], unique=True)

    # What was there before: every agent was let in when it was admitted, and whoever is not a participant is a program.
    op.execute("UPDATE agents SET approved_at = created_at")
    for table in ("matches", "answers"):
        op.execute(f"UPDATE {table} SET judge_kind = 'program' WHERE judge NOT LIKE 'participant-%'")

    for statement in _KEEP_ANSWERS[op.get_bind().dialect.name]:
        op.execute(statement)
