"""Pay: what people's time was worth, what is owed, the ledger, and the platforms that pay."""
