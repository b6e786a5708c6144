"""Statistics of what each owner of a seat did, computed live or from recordings"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "seat_statistics",
        sa.Column("episode_id", sa.String(), nullable=False),
        sa.Column("seat", sa.String(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("number", sa.Double(), nullable=True),
        sa.Column("counts", sa.JSON().with_variant(postgresql.JSONB(astext_type=sa.Text()), "postgresql"), nullable=False),
        sa.ForeignKeyConstraint(["episode_id"], ["episodes.id"], name=op.f("fk_seat_statistics_episode_id_episodes")),
        sa.PrimaryKeyConstraint("episode_id", "seat", "actor", "name", name=op.f("pk_seat_statistics")),
    )
    op.create_index("ix_seat_statistics_number", "seat_statistics", ["name", "number"], unique=False)
