"""Bans, payments and matches are kept as answers are; problems with pairs; durations that a clock made unknown"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_ADDED_ONLY = ("answers", "pay_events", "hit_events", "problems")
_KEYS = {
    "answers": ["sequence = NEW.sequence", "match_id = NEW.match_id"],
    "pay_events": ["id = NEW.id"],
    "hit_events": ["id = NEW.id"],
    "problems": ["id = NEW.id"],
    "bans": ["id = NEW.id"],
    # The second: a judge has one open match, and REPLACE would remove the one that is there.
    "matches": [
        "id = NEW.id",
        "judge = NEW.judge AND coalesce(answered_at, released_at, NEW.answered_at, NEW.released_at) IS NULL",
    ],
}
"""Table -> how a row that INSERT OR REPLACE would remove is found. SQLite fires no DELETE trigger for it by default."""
_FROZEN = {
    "bans": ("id", "judge", "reason", "created_at"),
    "matches": (
        "id", "task", "task_hash", "seed", "left_episode_id", "right_episode_id", "left_agent", "right_agent", "judge",
        "served_at", "study", "purpose", "expected", "repeat_of", "judge_kind",
    ),
}  # fmt: skip
"""Table -> columns that never change; the others may."""
_ONCE = {"bans": "lifted_at", "matches": "answered_at"}
"""Table -> the time that is filled in once and then stays."""


def _why(table: str) -> str:
    return f"{table} are only ever added" if table in _ADDED_ONLY else f"{table} are kept as they were made"


def _sqlite() -> list[str]:
    statements = []
    for table, keys in _KEYS.items():
        there = " OR ".join(f"EXISTS (SELECT 1 FROM {table} WHERE {key})" for key in keys)
        when = {"insert": f" WHEN {there}", "delete": "", "update": ""}
        if table in _FROZEN:
            once = _ONCE[table]
            changed = [f"OLD.{name} IS NOT NEW.{name}" for name in _FROZEN[table]]
            changed.append(f"(OLD.{once} IS NOT NULL AND OLD.{once} IS NOT NEW.{once})")
            when["update"] = f" WHEN {' OR '.join(changed)}"
        statements += [
            f"CREATE TRIGGER {table}_are_kept_{change} BEFORE {change} ON {table}{condition} "
            f"BEGIN SELECT RAISE(ABORT, '{_why(table)}'); END"
            for change, condition in when.items()
        ]
    return statements


def _postgresql() -> list[str]:
    statements = []
    for table in _KEYS:
        statements.append(
            f"CREATE OR REPLACE FUNCTION {table}_are_kept() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{_why(table)}'; END $$"
        )
        condition = ""
        if table in _FROZEN:
            once = _ONCE[table]
            changed = [f"OLD.{name} IS DISTINCT FROM NEW.{name}" for name in _FROZEN[table]]
            changed.append(f"(OLD.{once} IS NOT NULL AND OLD.{once} IS DISTINCT FROM NEW.{once})")
            condition = f" WHEN ({' OR '.join(changed)})"
        do = f"EXECUTE FUNCTION {table}_are_kept()"
        statements += [
            f"CREATE TRIGGER {table}_are_kept_update BEFORE UPDATE ON {table} FOR EACH ROW{condition} {do}",
            f"CREATE TRIGGER {table}_are_kept_delete BEFORE DELETE ON {table} FOR EACH ROW {do}",
            f"CREATE TRIGGER {table}_are_kept_truncate BEFORE TRUNCATE ON {table} FOR EACH STATEMENT {do}",
        ]
    return statements


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    if not is_sqlite:
        op.execute("DROP TRIGGER answers_are_kept ON answers")
    op.create_table(
        "problems",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("match_id", sa.String(), nullable=False),
        sa.Column("judge", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("words", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name=op.f("fk_problems_match_id_matches")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_problems")),
    )
    with op.batch_alter_table("problems", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_problems_match_id"), ["match_id"], unique=False)
    # On SQLite this copies the table, and the triggers of before go with the old one.
    with op.batch_alter_table("answers", schema=None) as batch_op:
        batch_op.alter_column("duration_s", existing_type=sa.Double(), nullable=True)
    for statement in _sqlite() if is_sqlite else _postgresql():
        op.execute(statement)
