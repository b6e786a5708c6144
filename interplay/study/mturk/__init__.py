"""Studies on Mechanical Turk: settings of HITs, plans of HITs, and the service that makes each planned HIT once."""
