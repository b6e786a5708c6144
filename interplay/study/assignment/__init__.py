"""Who plays what: `balance.py` gives a variant to somebody who comes, `simulation.py` tries a study out on simulated people."""
