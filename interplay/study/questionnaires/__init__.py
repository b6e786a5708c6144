"""Questions after a game with a partner: `questions.py` reads them from a study's file, `forms.py` says which are due. Pure
rules.

`sets/` holds questions that ship with the package. The service is `Visits` (`play/visits.py`).
"""
