"""Entrants: who is ranked may be people too; agents become entrants of their kind"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_KEPT = "name, task, kind, created_at, withdrawn_at, approved_at, declined_at, declined_because, proposed_by, description"
_IS_JUDGED_ELSEWHERE = {
    "sqlite": "json_extract(answers.source, '$.dataset') IS NOT NULL",
    "postgresql": "answers.source ->> 'dataset' IS NOT NULL",
}


def upgrade() -> None:
    op.create_table(
        "entrants",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("task", sa.String(), nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("withdrawn_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("approved_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("declined_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("declined_because", sa.String(), nullable=False),
        sa.Column("proposed_by", sa.String(), nullable=True),
        sa.Column("description", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["participant_id"], ["participants.id"], name=op.f("fk_entrants_participant_id_participants")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_entrants")),
        sa.UniqueConstraint("name", "task", name=op.f("uq_entrants_name")),
    )
    op.create_index(op.f("ix_entrants_name"), "entrants", ["name"])
    op.create_index(op.f("ix_entrants_task"), "entrants", ["task"])
    op.create_table(
        "entrant_episodes",
        sa.Column("entrant_id", sa.Integer(), nullable=False),
        sa.Column("episode_id", sa.String(), nullable=False),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["entrant_id"], ["entrants.id"], name=op.f("fk_entrant_episodes_entrant_id_entrants")),
        sa.ForeignKeyConstraint(["episode_id"], ["episodes.id"], name=op.f("fk_entrant_episodes_episode_id_episodes")),
        sa.PrimaryKeyConstraint("entrant_id", "episode_id", name=op.f("pk_entrant_episodes")),
    )
    op.create_index(op.f("ix_entrant_episodes_episode_id"), "entrant_episodes", ["episode_id"])
    op.create_index(op.f("ix_entrant_episodes_added_at"), "entrant_episodes", ["added_at"])
    op.create_table(
        "judging_agreements",
        sa.Column("episode_id", sa.String(), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("agreed", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["participant_id"], ["participants.id"], name=op.f("fk_judging_agreements_participant_id_participants")
        ),
        sa.PrimaryKeyConstraint("episode_id", "participant_id", name=op.f("pk_judging_agreements")),
    )
    elsewhere = _IS_JUDGED_ELSEWHERE[op.get_bind().dialect.name]
    # What came with a published data set may have brought videos too, so it is asked first.
    op.execute(
        f"""
        INSERT INTO entrants (origin, {_KEPT})
        SELECT CASE
            WHEN EXISTS (
                SELECT 1 FROM answers WHERE answers.task = agents.task AND {elsewhere}
                AND (answers.left_agent = agents.name OR answers.right_agent = agents.name)
            ) THEN 'published'
            WHEN EXISTS (
                SELECT 1 FROM episodes WHERE episodes.task = agents.task AND episodes.actor = agents.name
                AND episodes.frames = 'uploaded'
            ) THEN 'upload'
            WHEN agents.proposed_by IS NOT NULL THEN 'upload'
            ELSE 'agent' END, {_KEPT}
        FROM agents ORDER BY agents.id
        """
    )
    op.drop_table("agents")
