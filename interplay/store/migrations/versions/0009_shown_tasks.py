"""Who was shown what a task is made of"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "shown_tasks",
        sa.Column("participant_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("task", sa.String(), nullable=False),
        sa.Column("shown_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("participant_id", "task", name=op.f("pk_shown_tasks")),
    )
