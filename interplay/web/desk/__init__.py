"""The operator's desk: what is played now, studies and their people, quality, money, what was collected, and search.

Every page is behind the operator's login (`access.Operator`); what a page shows is also a command (docs/researchers.md).
"""
