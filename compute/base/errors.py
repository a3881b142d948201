"""Errors that are no bugs: each is one sentence that ends with the next step."""


class BeirscopeError(Exception):
    """An error a person can act on; pages and the command line show its message unchanged."""


class WrongInput(BeirscopeError):
    """A file, name or value is not what it should be; the message says where."""


class Missing(BeirscopeError):
    """Something asked for is not there; the message says how to get it."""


class Unavailable(BeirscopeError):
    """Something needed cannot be reached or run here: a package, a model, a port, memory."""


class Conflict(BeirscopeError):
    """The request contradicts the store, such as a name already taken."""
