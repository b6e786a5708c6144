-- Views of the catalogue; `docs/data.md` describes them for readers.

-- The seats of people whose games may not be released: the game's own study decides; else what a study beside it withholds; else
-- what the operator chose for open play; and before all of them the newest choice of the person, where there is one. A seat of
-- somebody who is called as participants are and whom the database does not know is a person's like any other.
CREATE VIEW withheld_seats AS
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
  FALSE);

CREATE VIEW episode_facts AS
SELECT id AS episode, task, task_hash, env, seed, held_out, outcome, terminated, truncated, num_steps, duration_s,
  total_reward AS score, frames, created_at, path, size_bytes, sha256,
  NOT EXISTS (SELECT 1 FROM withheld_seats WHERE withheld_seats.episode_id = episodes.id) AS may_release
FROM episodes;

CREATE VIEW seat_facts AS
SELECT episode_id AS episode, seat, actor, actor_kind, num_steps, total_reward AS score, participant_id AS participant
FROM episode_seats;

CREATE VIEW statistic_facts AS
SELECT episode_id AS episode, name, number, text FROM episode_statistics;

CREATE VIEW seat_statistic_facts AS
SELECT episode_id AS episode, seat, actor, name, kind, number FROM seat_statistics;

CREATE VIEW choice_facts AS
SELECT participants.id AS participant, enrolments.study AS study, enrolments.arrived_at AS arrived_at,
  enrolments.consented_at AS consented_at, enrolments.may_release AS may_release
FROM participants JOIN enrolments ON enrolments.participant_id = participants.id;
