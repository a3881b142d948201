"""Where models compute: the setting `device`."""

import pytest

from compute.base.errors import Unavailable
from compute.base.settings import Settings
from compute.systems.checkpoints import MINILM
from compute.systems.neural import dense, weights


def test_a_device_that_is_not_here_is_refused_in_a_sentence() -> None:
    for device in ("cuda:7", "nonsense"):
        with pytest.raises(Unavailable, match=f"device is {device}.*BEIRSCOPE_DEVICE=cpu"):
            weights.torch_on(Settings(device=device, threads=1))


def test_a_model_is_loaded_on_the_device_of_the_settings() -> None:
    # The device `meta` computes nothing, but every torch has it.
    model = dense.loaded(MINILM.folder(), Settings(device="meta", threads=1))
    assert model.device.type == "meta"
