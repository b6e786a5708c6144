"""What people said about the release of their games, saved queries, and views of the catalogue"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

VIEWS = {
    # Which study a person's game belongs to: the one that gave them the seat; else the one they had agreed to and not ended
    # when it began, the newest of several.
    # A seat of somebody who is called as participants are and whom the database does not know is a person's like any other.
    "withheld_seats": """
SELECT game.episode_id AS episode_id, game.seat AS seat, game.actor AS actor FROM (
  SELECT held.episode_id, held.seat, held.actor, held.participant_id, COALESCE((
    SELECT play.enrolment_id FROM play_sessions AS play
    WHERE play.episode_id = held.episode_id AND play.participant_id = held.participant_id AND play.enrolment_id IS NOT NULL
    ORDER BY play.created_at, play.id LIMIT 1
  ), (
    SELECT part.id FROM enrolments AS part
    WHERE part.participant_id = held.participant_id AND part.arrived_at <= episodes.created_at
      AND (part.ended_at IS NULL OR part.ended_at >= episodes.created_at)
    ORDER BY part.arrived_at DESC, part.id LIMIT 1
  )) AS enrolment_id
  FROM episode_seats AS held JOIN episodes ON episodes.id = held.episode_id
  WHERE held.actor_kind = 'human' AND (held.participant_id IS NOT NULL OR held.actor LIKE 'participant-%')
) AS game
WHERE NOT COALESCE(
  (SELECT said.may_release FROM release_choices AS said WHERE said.participant_id = game.participant_id
   ORDER BY said.id DESC LIMIT 1),
  CASE
    WHEN game.enrolment_id IS NOT NULL THEN (SELECT may_release FROM enrolments WHERE enrolments.id = game.enrolment_id)
    WHEN game.participant_id IS NOT NULL THEN
      (SELECT said.may_release FROM release_choices AS said WHERE said.participant_id IS NULL ORDER BY said.id DESC LIMIT 1)
  END,
  FALSE)""",
    "episode_facts": """
SELECT id AS episode, task, task_hash, env, seed, held_out, outcome, terminated, truncated, num_steps, duration_s,
  total_reward AS score, frames, created_at, path, size_bytes, sha256,
  NOT EXISTS (SELECT 1 FROM withheld_seats WHERE withheld_seats.episode_id = episodes.id) AS may_release
FROM episodes""",
    "seat_facts": """
SELECT episode_id AS episode, seat, actor, actor_kind, num_steps, total_reward AS score, participant_id AS participant
FROM episode_seats""",
    "statistic_facts": """
SELECT episode_id AS episode, name, number, text FROM episode_statistics""",
    "seat_statistic_facts": """
SELECT episode_id AS episode, seat, actor, name, kind, number FROM seat_statistics""",
    "choice_facts": """
SELECT participants.id AS participant, enrolments.study AS study, enrolments.arrived_at AS arrived_at,
  enrolments.consented_at AS consented_at, enrolments.may_release AS may_release
FROM participants JOIN enrolments ON enrolments.participant_id = participants.id""",
}
"""Name -> what a view selects. `docs/data.md` describes them for readers."""


def upgrade() -> None:
    op.add_column("enrolments", sa.Column("may_release", sa.Boolean(), nullable=True))
    op.create_table(
        "release_choices",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=True),
        sa.Column("may_release", sa.Boolean(), nullable=False),
        sa.Column("note", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["participant_id"], ["participants.id"], name=op.f("fk_release_choices_participant_id_participants")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_release_choices")),
    )
    op.create_index(op.f("ix_release_choices_participant_id"), "release_choices", ["participant_id"])
    op.create_table(
        "saved_queries",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("task", sa.String(), nullable=True),
        sa.Column("conditions", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("num_episodes", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", "version", name=op.f("pk_saved_queries")),
    )
    op.create_table(
        "saved_query_episodes",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("episode_id", sa.String(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["name", "version"], ["saved_queries.name", "saved_queries.version"],
            name=op.f("fk_saved_query_episodes_name_saved_queries"),
        ),
        sa.PrimaryKeyConstraint("name", "version", "episode_id", name=op.f("pk_saved_query_episodes")),
    )  # fmt: skip
    for name, selects in VIEWS.items():
        op.execute(f"CREATE VIEW {name} AS{selects}")
