"""Pay: the worth of people's time, the amounts owed, the ledger, and the platforms that pay."""
