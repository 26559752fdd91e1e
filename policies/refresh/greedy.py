"""The pages whose fetch is worth most right now (003)."""

from policies.refresh.filling import take_best
from policies.refresh.pages import FloatArray, PageColumns
from policies.values.greedy import greedy_value
from policies.values.model import PageModel


def rates(pages: PageColumns, budget: float) -> FloatArray:
    """Rank by V = mu / Delta * P(2, Delta * elapsed), mu importance, Delta change rate.

    The same optimum as LambdaCrawl's continuous form, reached by looking at what each page's copy is
    worth now instead of drawing from fixed rates, so fetches come evenly spaced by themselves.
    """
    return take_best(
        greedy_value(PageModel.of(pages.change_rate, pages.importance), pages.elapsed), budget
    )
