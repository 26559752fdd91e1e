"""Which price is the price, and the offer put together around it."""
