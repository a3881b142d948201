"""What stands around every page: the server and its gate, signing in, switch, panel."""
