"""Studies on Mechanical Turk: settings and orders of HITs, and the service that makes each HIT once."""
