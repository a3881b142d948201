"""No reader answers any file with anything but a sound value or one sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.fuzzing import READERS, hold
from tests.support.worlds import FEWER


@pytest.mark.parametrize("name", READERS)
def test_a_reader_gives_a_sound_value_or_one_sentence(name: str) -> None:
    reader = READERS[name]

    @FEWER
    @given(st.data())
    def property(data: st.DataObject) -> None:
        hold(reader, data.draw(reader.content))

    property()
