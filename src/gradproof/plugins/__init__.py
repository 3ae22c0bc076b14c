"""Gradproof inside other tools: each file is imported only by those who use its tool."""
