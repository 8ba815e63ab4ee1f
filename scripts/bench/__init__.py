"""Speed, side by side with the alternatives."""
