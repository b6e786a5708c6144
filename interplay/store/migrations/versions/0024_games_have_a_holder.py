"""Servers of one database form a cluster: each live game names the server that holds it, and its journal has a mirror."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "nodes",
        sa.Column("node", sa.String(), nullable=False),
        sa.Column("cluster", sa.String(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("started_at", moment, nullable=False),
        sa.Column("seen_at", moment, nullable=False),
        sa.Column("is_draining", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("node", name="pk_nodes"),
    )
    op.create_table(
        "games",
        sa.Column("episode", sa.String(), nullable=False),
        sa.Column("node", sa.String(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("lobby", sa.String(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("invitation", sa.String(), nullable=False),
        sa.Column("opened_at", moment, nullable=False),
        sa.Column("is_open", sa.Boolean(), nullable=False),
        sa.Column("facts", sa.JSON().with_variant(JSONB(), "postgresql"), nullable=True),
        sa.PrimaryKeyConstraint("episode", name="pk_games"),
    )
    op.create_index("ix_games_node", "games", ["node"])
    op.create_index("ix_games_lobby", "games", ["lobby"])
    op.create_table(
        "journal_parts",
        sa.Column("episode", sa.String(), nullable=False),
        sa.Column("segment", sa.Integer(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["episode"], ["games.episode"], name="fk_journal_parts_episode_games", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("episode", "segment", "start", name="pk_journal_parts"),
    )
    op.add_column("play_sessions", sa.Column("game", sa.String(), nullable=True))
    op.create_index("ix_play_sessions_game", "play_sessions", ["game"])
