"""Official + added: a reading's scores, means and judgements with added judgements counted in.
Published scores never change. An overlay contains only the queries affected by added judgements,
rescored for all systems, in the reading's own database. A cursor of `Overlays` has, if added
judgements count, views with the names and columns of the reading's tables, so that every query
works on both; else it reads these tables. `versions` opens a
cursor, `counting` reads the labels, `rescoring` scores queries, `views` joins them."""

from compute.reading.overlay.counting import Official
from compute.reading.overlay.versions import Overlays
