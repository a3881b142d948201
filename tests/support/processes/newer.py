"""A dashboard of the next version: its state has a format more.

`python -m tests.support.processes.newer OPTION…`, as `pages._frame.server`.
"""

from compute.store import state

NEWER = (*state.STEPS, ("create table of_the_next_version (id text)",))

if __name__ == "__main__":
    state.STEPS = NEWER
    state.open_state.__defaults__ = (NEWER,)
    from pages._frame.server import main

    main()
