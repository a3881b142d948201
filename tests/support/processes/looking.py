"""What `serve` starts, without its worker: `python -m tests.support.processes.looking [newer]`.

With `newer` it is a dashboard of the next version, whose state has a format more.
"""

import sys

from compute.base import listen_address, settings
from compute.jobs import serve
from compute.store import state

NEWER = (*state.STEPS, ("create table of_the_next_version (id text)",))

if __name__ == "__main__":
    if sys.argv[1:]:
        state.STEPS = NEWER
        state.open_state.__defaults__ = (NEWER,)
    now = settings.load()
    signed = listen_address.sign_in(now, listen_address.secrets_files(now))
    sys.argv[1:] = serve.options(now, now.port, signed)
    from pages._frame.server import main

    main()
