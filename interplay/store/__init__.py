"""The database for small, shared data. No other package of Interplay uses SQL.

`Database.open(url)` opens a database with the models in `interplay.store.models` and migrates it to the newest schema. Ratings
are not stored: they are computed from the append-only answers.
"""

from interplay.store.database import Database as Database
from interplay.store.database import StoreError as StoreError
from interplay.store.database import check_place as check_place
from interplay.store.models import Answer as Answer
from interplay.store.models import ApiToken as ApiToken
from interplay.store.models import Ban as Ban
from interplay.store.models import Base as Base
from interplay.store.models import ClassRow as ClassRow
from interplay.store.models import Enrolment as Enrolment
from interplay.store.models import Entrant as Entrant
from interplay.store.models import EpisodeRow as EpisodeRow
from interplay.store.models import EpisodeSeat as EpisodeSeat
from interplay.store.models import EpisodeStatistic as EpisodeStatistic
from interplay.store.models import EpisodeVerdict as EpisodeVerdict
from interplay.store.models import FeedbackRow as FeedbackRow
from interplay.store.models import Match as Match
from interplay.store.models import Participant as Participant
from interplay.store.models import PayEvent as PayEvent
from interplay.store.models import PlaySession as PlaySession
from interplay.store.models import Problem as Problem
from interplay.store.models import QuizAttempt as QuizAttempt
from interplay.store.models import RaffleEntry as RaffleEntry
from interplay.store.models import ReleaseChoice as ReleaseChoice
from interplay.store.models import Retraction as Retraction
from interplay.store.models import ReviewRow as ReviewRow
from interplay.store.models import SavedQuery as SavedQuery
from interplay.store.models import SeatStatistic as SeatStatistic
from interplay.store.models import ShownTask as ShownTask
from interplay.store.models import StudyRow as StudyRow
from interplay.store.models import StudyVersion as StudyVersion
from interplay.store.models import TaskRow as TaskRow
from interplay.store.models import VisitAnswer as VisitAnswer
