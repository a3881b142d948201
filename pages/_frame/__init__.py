"""Frame of every page: the server and its gate, sign-in, judgement switch, panels."""
