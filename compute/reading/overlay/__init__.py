"""Official + added: a reading's scores, means and judgements with added judgements counted in.

Published scores never change. An overlay holds only the queries that added judgements moved,
scored again for all systems, in the reading's own database. A cursor of `Overlays` finds views
of the same names and columns as the reading's tables, so that every query works on either.
`versions` opens a cursor, `counting` reads the labels, `rescoring` scores queries, `views` joins.
"""

from compute.reading.overlay.counting import Official
from compute.reading.overlay.versions import Overlays
