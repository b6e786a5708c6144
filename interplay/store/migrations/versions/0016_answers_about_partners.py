"""What people in a study of play answer about the partners that they had"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "visit_answers",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("enrolment_id", sa.String(), nullable=False),
        sa.Column("form", sa.String(), nullable=False),
        sa.Column("game", sa.Integer(), nullable=False),
        sa.Column("episode_id", sa.String(), nullable=False),
        sa.Column("partner", sa.String(), nullable=False),
        sa.Column("before_episode_id", sa.String(), nullable=True),  # of comparisons only
        sa.Column("before_partner", sa.String(), nullable=True),
        sa.Column("question", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=True),  # none where the form was skipped
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["enrolment_id"], ["enrolments.id"], name=op.f("fk_visit_answers_enrolment_id_enrolments")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_visit_answers")),
        sa.UniqueConstraint("enrolment_id", "form", "question", name="uq_visit_answers_question"),
    )
    op.create_index(op.f("ix_visit_answers_enrolment_id"), "visit_answers", ["enrolment_id"])
