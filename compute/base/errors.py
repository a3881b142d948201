"""Errors that are not bugs. Each message is one sentence that ends with the next step."""


class BeirscopeError(Exception):
    """An error that the user can act on; pages and the command line show its message unchanged."""


class WrongInput(BeirscopeError):
    """A file, name or value is wrong; the message says where."""


class Missing(BeirscopeError):
    """Something requested does not exist; the message says how to get it."""


class Unavailable(BeirscopeError):
    """Something required is unavailable here, such as a package, a model, a port or memory."""


class Conflict(BeirscopeError):
    """The request contradicts the store, for example because a name is already in use."""
