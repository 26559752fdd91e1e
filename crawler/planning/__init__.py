"""From what is known to the next tick's picks, each with its reason."""
