"""Classes, what people write about pages, and addresses for raffles"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0017"
down_revision = "0014"
branch_labels = None
depends_on = None

_JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), "postgresql")


def _time(name: str, *, nullable: bool = False) -> sa.Column:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def upgrade() -> None:
    op.create_table(
        "classes",
        sa.Column("code", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("definition", _JSON, nullable=False),
        _time("opened_at"),
        _time("ends_at"),
        _time("closed_at", nullable=True),
        _time("forgotten_at", nullable=True),
        sa.PrimaryKeyConstraint("code", name=op.f("pk_classes")),
    )
    op.create_table(
        "raffle_entries",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("study", sa.String(), nullable=False),
        sa.Column("address", sa.String(), nullable=True),
        sa.Column("seed", sa.Integer(), nullable=True),
        sa.Column("has_won", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["study"], ["studies.id"], name=op.f("fk_raffle_entries_study_studies")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_raffle_entries")),
        sqlite_with_rowid=False,  # the order in which addresses came would say whose they are
    )
    op.create_index("ix_raffle_entries_study", "raffle_entries", ["study"])
    op.create_index("uq_raffle_entries_address", "raffle_entries", ["study", "address"], unique=True)
    op.create_table(
        "feedback",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("words", sa.String(), nullable=False),
        sa.Column("page", sa.String(), nullable=False),
        sa.Column("episode", sa.String(), nullable=False),
        sa.Column("study", sa.String(), nullable=False),
        sa.Column("browser", sa.String(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=True),
        _time("created_at"),
        sa.ForeignKeyConstraint(["participant_id"], ["participants.id"], name=op.f("fk_feedback_participant_id_participants")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_feedback")),
    )
    op.create_index("ix_feedback_participant_id", "feedback", ["participant_id"])
    op.add_column("enrolments", sa.Column("has_entered_raffle", sa.Boolean(), nullable=False, server_default=sa.false()))
