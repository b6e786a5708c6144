"""Questions after a game with a partner: `questions.py` is what a study's file says, `forms.py` what is asked next. Pure rules.

`sets/` holds questions that ship with the package. The service is `Visits` (`playing/visits.py`).
"""
