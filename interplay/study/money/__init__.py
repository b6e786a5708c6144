"""Pay: estimates from measured times, the amounts owed, the ledger, and the platforms that pay."""
