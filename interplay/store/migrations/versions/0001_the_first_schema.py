"""The first schema"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "agents",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("task", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("withdrawn_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agents")),
        sa.UniqueConstraint("name", "task", name=op.f("uq_agents_name")),
    )
    with op.batch_alter_table("agents", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_agents_name"), ["name"], unique=False)
        batch_op.create_index(batch_op.f("ix_agents_task"), ["task"], unique=False)

    op.create_table(
        "participants",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_participants")),
        sa.UniqueConstraint("key", name=op.f("uq_participants_key")),
    )
    op.create_table(
        "tasks",
        sa.Column("content_hash", sa.String(), nullable=False),
        sa.Column("task", sa.String(), nullable=False),
        sa.Column("definition", sa.JSON().with_variant(postgresql.JSONB(astext_type=sa.Text()), "postgresql"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("content_hash", name=op.f("pk_tasks")),
    )
    with op.batch_alter_table("tasks", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_tasks_task"), ["task"], unique=False)

    op.create_table(
        "episodes",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("task", sa.String(), nullable=False),
        sa.Column("task_hash", sa.String(), nullable=False),
        sa.Column("env", sa.String(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("actor_kind", sa.String(), nullable=False),
        sa.Column("num_steps", sa.Integer(), nullable=False),
        sa.Column("duration_s", sa.Double(), nullable=False),
        sa.Column("total_reward", sa.Double(), nullable=False),
        sa.Column("terminated", sa.Boolean(), nullable=False),
        sa.Column("truncated", sa.Boolean(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("frames", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["participant_id"], ["participants.id"], name=op.f("fk_episodes_participant_id_participants")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_episodes")),
    )
    with op.batch_alter_table("episodes", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_episodes_actor"), ["actor"], unique=False)
        batch_op.create_index(batch_op.f("ix_episodes_actor_kind"), ["actor_kind"], unique=False)
        batch_op.create_index(batch_op.f("ix_episodes_created_at"), ["created_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_episodes_participant_id"), ["participant_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_episodes_task"), ["task"], unique=False)
        batch_op.create_index("ix_episodes_task_seed", ["task", "seed"], unique=False)
        batch_op.create_index(batch_op.f("ix_episodes_total_reward"), ["total_reward"], unique=False)

    op.create_table(
        "play_sessions",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("task", sa.String(), nullable=False),
        sa.Column("task_hash", sa.String(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("actor_kind", sa.String(), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=True),
        sa.Column("episode_id", sa.String(), nullable=True),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["participant_id"], ["participants.id"], name=op.f("fk_play_sessions_participant_id_participants")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_play_sessions")),
    )
    with op.batch_alter_table("play_sessions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_play_sessions_episode_id"), ["episode_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_play_sessions_task"), ["task"], unique=False)

    op.create_table(
        "episode_statistics",
        sa.Column("episode_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("number", sa.Double(), nullable=True),
        sa.Column("text", sa.String(), nullable=True),
        sa.ForeignKeyConstraint(["episode_id"], ["episodes.id"], name=op.f("fk_episode_statistics_episode_id_episodes")),
        sa.PrimaryKeyConstraint("episode_id", "name", name=op.f("pk_episode_statistics")),
    )
    with op.batch_alter_table("episode_statistics", schema=None) as batch_op:
        batch_op.create_index("ix_episode_statistics_number", ["name", "number"], unique=False)
        batch_op.create_index("ix_episode_statistics_text", ["name", "text"], unique=False)

    op.create_table(
        "matches",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("task", sa.String(), nullable=False),
        sa.Column("task_hash", sa.String(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("left_episode_id", sa.String(), nullable=False),
        sa.Column("right_episode_id", sa.String(), nullable=False),
        sa.Column("left_agent", sa.String(), nullable=False),
        sa.Column("right_agent", sa.String(), nullable=False),
        sa.Column("judge", sa.String(), nullable=False),
        sa.Column("served_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("released_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["left_episode_id"], ["episodes.id"], name=op.f("fk_matches_left_episode_id_episodes")),
        sa.ForeignKeyConstraint(["right_episode_id"], ["episodes.id"], name=op.f("fk_matches_right_episode_id_episodes")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_matches")),
    )
    with op.batch_alter_table("matches", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_matches_judge"), ["judge"], unique=False)
        batch_op.create_index("ix_matches_agents", ["task", "left_agent", "right_agent"], unique=False)
        is_open = sa.text("answered_at IS NULL AND released_at IS NULL")
        batch_op.create_index("ix_matches_open_task", ["task"], unique=False, sqlite_where=is_open, postgresql_where=is_open)
        batch_op.create_index("uq_matches_open_judge", ["judge"], unique=True, sqlite_where=is_open, postgresql_where=is_open)

    op.create_table(
        "answers",
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("match_id", sa.String(), nullable=False),
        sa.Column("task", sa.String(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("left_agent", sa.String(), nullable=False),
        sa.Column("right_agent", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("responses", sa.JSON().with_variant(postgresql.JSONB(astext_type=sa.Text()), "postgresql"), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("judge", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("duration_s", sa.Double(), nullable=False),
        sa.Column("viewing", sa.JSON().with_variant(postgresql.JSONB(astext_type=sa.Text()), "postgresql"), nullable=False),
        sa.ForeignKeyConstraint(["match_id"], ["matches.id"], name=op.f("fk_answers_match_id_matches")),
        sa.PrimaryKeyConstraint("sequence", name=op.f("pk_answers")),
        sa.UniqueConstraint("match_id", name=op.f("uq_answers_match_id")),
    )
    with op.batch_alter_table("answers", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_answers_judge"), ["judge"], unique=False)
        batch_op.create_index(batch_op.f("ix_answers_left_agent"), ["left_agent"], unique=False)
        batch_op.create_index(batch_op.f("ix_answers_right_agent"), ["right_agent"], unique=False)
        batch_op.create_index(batch_op.f("ix_answers_task"), ["task"], unique=False)
