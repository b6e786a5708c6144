"""Assignment of variants: `balance.py` gives one to each visit, `simulation.py` tries a study on simulated people."""
