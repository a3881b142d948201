"""Files that a browser has uploaded: Streamlit holds them in memory until somebody lets them go."""

from pages._shared import streamlit_internals


def sizes(session: str) -> list[int]:
    """The bytes of each file that a session holds."""
    held = streamlit_internals.uploads()
    return [len(one.data) for one in held.file_storage.get(session, {}).values()] if held else []


def forget() -> None:
    """Let go of what this session has uploaded: it was taken in, or its page was left."""
    session, held = streamlit_internals.session(), streamlit_internals.uploads()
    if session and held:
        held.remove_session_files(session)


def end_left() -> None:
    """End the sessions that hold files and whose browsers are gone; nobody else ever would."""
    if held := streamlit_internals.uploads():
        for session in [*held.file_storage]:
            if streamlit_internals.end(session):
                held.remove_session_files(session)
