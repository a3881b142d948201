"""Requests to an LLM for grades: the prompt, the endpoint, and a journal of every request."""
