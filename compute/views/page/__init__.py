"""A page as records, which the dashboard, exported files, captions and tests all read. A page is a
generator without Streamlit. It yields *parts*, which are shown where they are yielded, and
*controls*, whose values are sent back to it. A *holder* arranges further steps. It takes a function
that returns the steps, so that they can be left out, drawn later or redrawn."""

from compute.views.page import offers
from compute.views.page.ask import Ask
from compute.views.page.controls import (
    Asked,
    Choice,
    Few,
    Many,
    Number,
    Offered,
    Pick,
    Slide,
    Switch,
    Words,
)
from compute.views.page.holders import (
    Above,
    Beside,
    Box,
    Group,
    Inside,
    Into,
    Live,
    Page,
    Recalled,
    Remember,
    Row,
    Section,
    Slot,
    Step,
    Steps,
    Wait,
    Window,
    folded,
)
from compute.views.page.parts import (
    Button,
    Code,
    Column,
    Figure,
    Heading,
    Legends,
    Link,
    Message,
    Note,
    Opens,
    Part,
    Passage,
    Prose,
    Static,
    Table,
    Text,
    Widget,
)
from compute.views.page.walk import Found, control, every, find, parts, prepare
