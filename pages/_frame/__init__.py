"""The frame of all pages: server, gate, sign-in, judgement picker, panels."""
