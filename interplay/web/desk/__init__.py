"""The operator's desk: live games, studies and their people, quality, money, collected data, and search.

Every page needs the operator's login (`access.signed_in`); each page is also a command (docs/researchers.md).
"""
