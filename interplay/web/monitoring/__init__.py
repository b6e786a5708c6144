"""Sight of a running server for its operator: numbers for Prometheus (`metrics`), and whether it takes games (`readiness`)."""
