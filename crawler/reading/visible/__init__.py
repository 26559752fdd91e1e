"""What a shopper sees: the heading, the prices after it, the stock, the cards of a listing."""
