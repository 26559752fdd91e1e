"""Ways to share a budget among known pages: state arrays in, rates or ranked picks out.

Every strategy is one function, `rates(pages, budget)`: the chance of each page to be fetched in the
coming tick.  A ranking is the special case of rates 0 and 1, so strategies that rank and strategies
that spread mix, are sampled and are compared in the same way (`filling.draw` turns rates into picks).
"""
