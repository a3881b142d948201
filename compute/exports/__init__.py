"""Exports: figures as pictures and pages, tables for papers and programs, and complete views."""
