"""What the operator types and sees: commands, progress, reports."""
