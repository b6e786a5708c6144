"""Studies on Mechanical Turk: what a HIT is told, what is ordered, and the service that makes each once."""
