"""What a piece of text means, away from its page: amounts, currencies, titles, stock."""
