"""Several servers on one database: each continues the games of another that is gone."""
