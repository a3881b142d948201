"""English and Polish words that are too frequent to characterise a text."""

import re

# The 33 words of Lucene's English analyser, then function words that are common in English and
# Polish claims and questions. Marking them would hide the words that matter.
STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        a an and are as at be but by for if in into is it no not of on or such that the their then
        there these they this to was will with
        about after all also am any because been before being between both can could did do does
        doing during each from had has have having he her here his how i its just may me might more
        most must my of our out over she should so some than them those through too under until up
        us very we were what when where which while who whom why would you your
        ale albo bo by być co czy dla do gdzie i ich ile jak jaka jakie jaki jako jest jej jego już
        kiedy kto która które który lub ma mi mnie może na nad nie o od oraz po pod przez przy są
        się ta tak także te tej ten to tu tym w we więc z za ze że
        """,
    )
)
