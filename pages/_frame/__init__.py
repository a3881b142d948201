"""Frame of every page: the server and its gate, signing in, switch, panel."""
