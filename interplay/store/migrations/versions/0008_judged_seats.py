"""Which seat is judged: of an entered episode and of a match; published episodes get a row of their seat"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_FROZEN = (
    "id", "task", "task_hash", "seed", "left_episode_id", "right_episode_id", "left_agent", "right_agent", "judge",
    "served_at", "study", "purpose", "expected", "repeat_of", "judge_kind", "seat",
)  # fmt: skip
"""Columns of a match that never change."""


def upgrade() -> None:
    op.execute(
        "INSERT INTO episode_seats (episode_id, seat, actor, actor_kind, num_steps, total_reward, position, participant_id) "
        "SELECT id, 'player', actor, actor_kind, num_steps, total_reward, 0, participant_id FROM episodes "
        "WHERE NOT EXISTS (SELECT 1 FROM episode_seats WHERE episode_seats.episode_id = episodes.id)"
    )
    # People held what seats they held; a choice of an agent's episodes was of those with the agent in the first seat.
    # Where nobody of the entrant is known to have held one, the row is of the first seat: it must not be lost.
    entered = op.get_bind().execute(
        sa.text(
            "SELECT DISTINCT entered.entrant_id, entered.episode_id, entered.added_at, COALESCE(held.seat, ("
            "SELECT one.seat FROM episode_seats AS one WHERE one.episode_id = entered.episode_id ORDER BY one.position LIMIT 1"
            ")) AS seat "
            "FROM entrant_episodes AS entered JOIN entrants ON entrants.id = entered.entrant_id "
            "LEFT JOIN episode_seats AS held ON held.episode_id = entered.episode_id "
            "AND ((entrants.origin = 'people' AND held.actor_kind = 'human') "
            "OR (entrants.origin = 'person' AND held.participant_id = entrants.participant_id) "
            "OR (entrants.origin NOT IN ('people', 'person') AND held.position = 0))"
        )
    )
    rows = [row._asdict() for row in entered]
    op.drop_table("entrant_episodes")
    op.create_table(
        "entrant_episodes",
        sa.Column("entrant_id", sa.Integer(), nullable=False),
        sa.Column("episode_id", sa.String(), nullable=False),
        sa.Column("seat", sa.String(), nullable=False),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["entrant_id"], ["entrants.id"], name=op.f("fk_entrant_episodes_entrant_id_entrants")),
        sa.ForeignKeyConstraint(["episode_id"], ["episodes.id"], name=op.f("fk_entrant_episodes_episode_id_episodes")),
        sa.PrimaryKeyConstraint("entrant_id", "episode_id", "seat", name=op.f("pk_entrant_episodes")),
    )
    op.create_index(op.f("ix_entrant_episodes_episode_id"), "entrant_episodes", ["episode_id"])
    op.create_index(op.f("ix_entrant_episodes_added_at"), "entrant_episodes", ["added_at"])
    if rows:
        columns = "entrant_id, episode_id, seat, added_at"
        op.get_bind().execute(
            sa.text(f"INSERT INTO entrant_episodes ({columns}) VALUES (:entrant_id, :episode_id, :seat, :added_at)"), rows
        )
    op.add_column("matches", sa.Column("seat", sa.String(), nullable=False, server_default=""))
    _keep_matches()


def _keep_matches() -> None:
    """The rule of 0004 that what was served stays, with the seat among it."""
    if op.get_bind().dialect.name == "sqlite":
        differs, why = "IS NOT", "BEGIN SELECT RAISE(ABORT, 'matches are kept as they were made'); END"
        op.execute("DROP TRIGGER matches_are_kept_update")
        each = ""
    else:
        differs, why, each = "IS DISTINCT FROM", "EXECUTE FUNCTION matches_are_kept()", " FOR EACH ROW"
        op.execute("DROP TRIGGER matches_are_kept_update ON matches")
    changed = [f"OLD.{name} {differs} NEW.{name}" for name in _FROZEN]
    changed.append(f"(OLD.answered_at IS NOT NULL AND OLD.answered_at {differs} NEW.answered_at)")
    op.execute(f"CREATE TRIGGER matches_are_kept_update BEFORE UPDATE ON matches{each} WHEN ({' OR '.join(changed)}) {why}")
