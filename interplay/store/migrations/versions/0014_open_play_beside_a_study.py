"""Open play beside a study may be released only if the operator allowed open play; a study can then only withhold it"""

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

# What somebody agreed to in a study is about the games that it gave: who never ends a visit is in the study for months.
# A seat of somebody who is called as participants are and whom the database does not know is a person's like any other.
WITHHELD_SEATS = """
SELECT game.episode_id AS episode_id, game.seat AS seat, game.actor AS actor FROM (
  SELECT held.episode_id, held.seat, held.actor, held.participant_id, (
    SELECT play.enrolment_id FROM play_sessions AS play
    WHERE play.episode_id = held.episode_id AND play.participant_id = held.participant_id AND play.enrolment_id IS NOT NULL
    ORDER BY play.created_at, play.id LIMIT 1
  ) AS given_by, (
    SELECT part.id FROM enrolments AS part
    WHERE part.participant_id = held.participant_id AND part.arrived_at <= episodes.created_at
      AND (part.ended_at IS NULL OR part.ended_at >= episodes.created_at)
    ORDER BY part.arrived_at DESC, part.id LIMIT 1
  ) AS beside
  FROM episode_seats AS held JOIN episodes ON episodes.id = held.episode_id
  WHERE held.actor_kind = 'human' AND (held.participant_id IS NOT NULL OR held.actor LIKE 'participant-%')
) AS game
WHERE NOT COALESCE(
  (SELECT said.may_release FROM release_choices AS said WHERE said.participant_id = game.participant_id
   ORDER BY said.id DESC LIMIT 1),
  CASE
    WHEN game.given_by IS NOT NULL THEN (SELECT may_release FROM enrolments WHERE enrolments.id = game.given_by)
    WHEN EXISTS (SELECT 1 FROM enrolments WHERE enrolments.id = game.beside AND NOT COALESCE(may_release, FALSE)) THEN FALSE
    WHEN game.participant_id IS NOT NULL THEN
      (SELECT said.may_release FROM release_choices AS said WHERE said.participant_id IS NULL ORDER BY said.id DESC LIMIT 1)
  END,
  FALSE)"""


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":  # which replaces none, and lets others name one that is gone for a moment
        op.execute("DROP VIEW withheld_seats")
        op.execute(f"CREATE VIEW withheld_seats AS{WITHHELD_SEATS}")
    else:
        op.execute(f"CREATE OR REPLACE VIEW withheld_seats AS{WITHHELD_SEATS}")
