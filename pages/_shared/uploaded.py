"""Files that a browser has uploaded: Streamlit holds them in memory until somebody lets them go."""

from streamlit import runtime
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx


def manager() -> MemoryUploadedFileManager:
    """Who holds them."""
    found = runtime.get_instance().uploaded_file_mgr
    assert isinstance(found, MemoryUploadedFileManager)
    return found


def forget() -> None:
    """Let go of what this session has uploaded: it was taken in, or its page was left."""
    context = get_script_run_ctx()
    held = runtime.get_instance().uploaded_file_mgr if runtime.exists() else None
    # An export at the command line runs pages without a server that holds any.
    if context and isinstance(held, MemoryUploadedFileManager):
        held.remove_session_files(context.session_id)


def end_left() -> None:
    """End the sessions that hold files and whose browsers are gone; nobody else ever would."""
    running = runtime.get_instance()
    for session in [*manager().file_storage]:
        if not running.is_active_session(session):
            running.close_session(session)
            manager().remove_session_files(session)
