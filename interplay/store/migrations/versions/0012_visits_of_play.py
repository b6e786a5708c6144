"""What people play in a study: the variant of a visit, what of it was accepted, and which games belong to it"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("enrolments", sa.Column("variant", sa.String(), nullable=True))  # comparisons have none
    op.add_column("enrolments", sa.Column("variant_reason", sa.String(), nullable=True))
    op.add_column("enrolments", sa.Column("accepted_s", sa.Double(), nullable=True))
    # No foreign key: SQLite adds none to a table that is there, and enrolments are never removed.
    op.add_column("play_sessions", sa.Column("enrolment_id", sa.String(), nullable=True))
    op.create_index(op.f("ix_play_sessions_enrolment_id"), "play_sessions", ["enrolment_id"])
