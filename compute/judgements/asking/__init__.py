"""Requests to an LLM for grades: prompt, endpoint, and a journal of every request."""
