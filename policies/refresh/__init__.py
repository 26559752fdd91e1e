"""Ways to share a budget among known pages: state arrays in, rates or ranked picks out."""
