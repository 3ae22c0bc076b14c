"""The only code that knows a framework."""
