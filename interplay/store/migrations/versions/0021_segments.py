"""Segments of games that a study compares, and the reward that says which pairs of them are asked about next"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

_FROZEN = (
    "id", "task", "task_hash", "seed", "left_episode_id", "right_episode_id", "left_agent", "right_agent", "judge",
    "served_at", "study", "purpose", "expected", "repeat_of", "judge_kind", "seat", "left_segment_id", "right_segment_id",
)  # fmt: skip
"""Columns of a match that never change."""
_JSON = sa.JSON().with_variant(postgresql.JSONB(astext_type=sa.Text()), "postgresql")


def upgrade() -> None:
    op.create_table(
        "segments",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study", sa.String(), nullable=False),
        sa.Column("study_hash", sa.String(), nullable=False),
        sa.Column("episode_id", sa.String(), nullable=False),
        sa.Column("first_step", sa.Integer(), nullable=False),
        sa.Column("last_step", sa.Integer(), nullable=False),
        sa.Column("agent", sa.String(), nullable=False),
        sa.Column("is_held_out", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["episode_id"], ["episodes.id"], name=op.f("fk_segments_episode_id_episodes")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_segments")),
        sa.UniqueConstraint("study_hash", "episode_id", "first_step", "last_step", name="uq_segments_study_hash"),
    )
    op.create_index(op.f("ix_segments_study"), "segments", ["study"])
    op.create_table(
        "segment_guides",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study", sa.String(), nullable=False),
        sa.Column("reward", sa.String(), nullable=False),
        sa.Column("sums", _JSON, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_segment_guides")),
    )
    op.create_index(op.f("ix_segment_guides_study"), "segment_guides", ["study"])
    op.add_column("matches", sa.Column("left_segment_id", sa.Integer(), nullable=True))
    op.add_column("matches", sa.Column("right_segment_id", sa.Integer(), nullable=True))
    _keep_matches()


def _keep_matches() -> None:
    """The rule of 0004 that what was served stays, with the segments among it."""
    if op.get_bind().dialect.name == "sqlite":
        differs, why, each = "IS NOT", "BEGIN SELECT RAISE(ABORT, 'matches are kept as they were made'); END", ""
        op.execute("DROP TRIGGER matches_are_kept_update")
    else:
        differs, why, each = "IS DISTINCT FROM", "EXECUTE FUNCTION matches_are_kept()", " FOR EACH ROW"
        op.execute("DROP TRIGGER matches_are_kept_update ON matches")
    changed = [f"OLD.{name} {differs} NEW.{name}" for name in _FROZEN]
    changed.append(f"(OLD.answered_at IS NOT NULL AND OLD.answered_at {differs} NEW.answered_at)")
    op.execute(f"CREATE TRIGGER matches_are_kept_update BEFORE UPDATE ON matches{each} WHEN ({' OR '.join(changed)}) {why}")
