"""How often pages change and how good signals are, learned from own fetches."""
