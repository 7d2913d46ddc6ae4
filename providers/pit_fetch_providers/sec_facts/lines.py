"""The lines of the three statements, and the concepts under which companies report them. Pure.

The concepts of a line are synonyms: a period moves from one to another in later filings (revenue: 13 periods of AAPL,
12 of NVDA), so the newest public filing decides among them. Other measures of a thing are not synonyms (cash with and
without restricted cash, net income with and without minorities): later filings repeat only the wider one, and the line
would change its meaning.

>>> cell_names("cashflow")[-3:]
('dividends_paid', 'share_repurchases', 'free_cash_flow')
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Statement = Literal["income", "balance", "cashflow"]
STATEMENTS: tuple[Statement, ...] = ("income", "balance", "cashflow")
# "amount": of money, additive over time. "per_share" and "average" (a number of shares) are not.
Measure = Literal["amount", "per_share", "average"]


class Line(NamedTuple):
    """A line of a statement. ``concepts`` holds synonyms, in US GAAP or IFRS, the usual one first.

    totals      of several values in one filing, the largest counts, if it is under one of these: the others are parts
    substitute  another measure that some companies show in the place of the line. It counts where the line is not
                reported, and in no sum
    wider       what may have more in it: alone, it is no figure of the line, and the cell says so
    narrow      what is no figure of the line if it is all there is, and something of ``beside`` is reported, too
    minorities  their part of ``wider``
    """

    name: str
    concepts: tuple[str, ...]
    measure: Measure = "amount"
    totals: tuple[str, ...] = ()
    substitute: Line | None = None
    wider: tuple[str, ...] = ()
    narrow: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    minorities: str = ""

    def unit(self, currency: str) -> str:
        """Return the unit of the line's figures in a currency."""
        match self.measure:
            case "amount":
                return currency
            case "per_share":
                return f"{currency}/shares"
        return "shares"


def _line(
    name: str,
    us_gaap: str,
    ifrs: str = "",
    measure: Measure = "amount",
    *,
    substitute: str = "",
    wider_ifrs: str = "",
    minorities: str = "",
    **others: str,
) -> Line:
    concepts = (*_named("us-gaap", us_gaap), *_named("ifrs-full", ifrs))
    more = {name: _named("us-gaap", text) for name, text in others.items()}
    more["wider"] = (*more.get("wider", ()), *_named("ifrs-full", wider_ifrs))
    instead = Line(name, _named("us-gaap", substitute)) if substitute else None
    return Line(name, concepts, measure, substitute=instead, minorities="".join(_named("us-gaap", minorities)), **more)


def _named(taxonomy: str, concepts: str) -> tuple[str, ...]:
    return tuple(f"{taxonomy}:{concept}" for concept in concepts.split())


_REVENUE = (
    "RevenueFromContractWithCustomerExcludingAssessedTax Revenues SalesRevenueNet "
    "RevenueFromContractWithCustomerIncludingAssessedTax SalesRevenueGoodsNet RevenuesNetOfInterestExpense"
)
_CONTRACTS = "RevenueFromContractWithCustomerExcludingAssessedTax RevenueFromContractWithCustomerIncludingAssessedTax"
# Revenue that is none from contracts with customers: of a bank, an insurer, a utility.
_NO_CONTRACTS = (
    "InterestAndDividendIncomeOperating InterestAndFeeIncomeLoansAndLeases PremiumsEarnedNet "
    "RegulatedAndUnregulatedOperatingRevenue"
)
_DEPRECIATION = (
    "DepreciationDepletionAndAmortization DepreciationAndAmortization DepreciationAmortizationAndAccretionNet"
)
_BOTH = "EarningsPerShareBasicAndDiluted"
LINES: dict[Statement, tuple[Line, ...]] = {
    "income": (
        _line(
            "revenue", _REVENUE, "Revenue",
            totals="Revenues RevenuesNetOfInterestExpense", narrow=_CONTRACTS, beside=_NO_CONTRACTS,
        ),
        _line(
            "cost_of_revenue", "CostOfGoodsAndServicesSold CostOfRevenue CostOfGoodsSold", "CostOfSales",
            totals="CostOfGoodsAndServicesSold CostOfRevenue",
            substitute="CostOfGoodsAndServiceExcludingDepreciationDepletionAndAmortization",
        ),
        _line("gross_profit", "GrossProfit", "GrossProfit"),
        _line("research_and_development", "ResearchAndDevelopmentExpense", "ResearchAndDevelopmentExpense"),
        _line("selling_general_administrative", "SellingGeneralAndAdministrativeExpense"),
        _line("selling_and_marketing", "SellingAndMarketingExpense"),
        _line("general_and_administrative", "GeneralAndAdministrativeExpense"),
        _line("operating_expenses", "OperatingExpenses"),
        _line("costs_and_expenses", "CostsAndExpenses"),
        _line("operating_income", "OperatingIncomeLoss", "ProfitLossFromOperatingActivities"),
        _line("income_tax", "IncomeTaxExpenseBenefit", "IncomeTaxExpenseContinuingOperations"),
        _line(
            "net_income", "NetIncomeLoss", "ProfitLossAttributableToOwnersOfParent",
            wider="ProfitLoss", wider_ifrs="ProfitLoss", minorities="NetIncomeLossAttributableToNoncontrollingInterest",
        ),
        _line("eps_basic", f"EarningsPerShareBasic {_BOTH}", "BasicEarningsLossPerShare", "per_share"),
        _line("eps_diluted", f"EarningsPerShareDiluted {_BOTH}", "DilutedEarningsLossPerShare", "per_share"),
        _line("shares_basic", "WeightedAverageNumberOfSharesOutstandingBasic", "WeightedAverageShares", "average"),
        _line("shares_diluted", "WeightedAverageNumberOfDilutedSharesOutstanding", measure="average"),
    ),
    "balance": (
        _line("assets", "Assets", "Assets"),
        _line("current_assets", "AssetsCurrent", "CurrentAssets"),
        _line(
            "cash", "CashAndCashEquivalentsAtCarryingValue", "CashAndCashEquivalents",
            wider="CashCashEquivalentsRestrictedCashAndRestrictedCashEquivalents",
        ),
        _line("receivables", "AccountsReceivableNetCurrent"),
        _line("inventory", "InventoryNet", "Inventories"),
        _line("liabilities", "Liabilities", "Liabilities"),
        _line("current_liabilities", "LiabilitiesCurrent", "CurrentLiabilities"),
        # All of the debt in most filings, and in some what is due after a year: they do not tell.
        _line(
            "long_term_debt", "LongTermDebtNoncurrent",
            substitute="LongTermDebtAndCapitalLeaseObligations", wider="LongTermDebt",
        ),
        _line("current_debt", "DebtCurrent"),
        _line("current_portion_of_long_term_debt", "LongTermDebtCurrent"),
        _line("commercial_paper", "CommercialPaper"),
        _line("debt", "", "Borrowings"),
        _line("retained_earnings", "RetainedEarningsAccumulatedDeficit", "RetainedEarnings"),
        _line("equity", "StockholdersEquity", "EquityAttributableToOwnersOfParent", wider_ifrs="Equity"),
    ),
    "cashflow": (
        *(
            _line(
                f"{kind.lower()}_cash_flow",
                f"NetCashProvidedByUsedIn{kind}Activities NetCashProvidedByUsedIn{kind}ActivitiesContinuingOperations",
                f"CashFlowsFromUsedIn{kind}Activities",
            )
            for kind in ("Operating", "Investing", "Financing")
        ),
        _line(
            "capex",
            "PaymentsToAcquirePropertyPlantAndEquipment PaymentsToAcquireProductiveAssets",
            "PurchaseOfPropertyPlantAndEquipmentClassifiedAsInvestingActivities",
        ),
        _line(
            "depreciation_and_amortization",
            _DEPRECIATION,
            totals=_DEPRECIATION,  # all of it is added back: an expense of the income statement is a part of that
            substitute="OtherDepreciationAndAmortization",
        ),
        _line("stock_compensation", "ShareBasedCompensation"),
        _line(
            "dividends_paid",
            "PaymentsOfDividends PaymentsOfDividendsCommonStock",
            totals="PaymentsOfDividends",  # to all holders
        ),
        _line("share_repurchases", "PaymentsForRepurchaseOfCommonStock"),
    ),
}  # fmt: skip
# Cells that are computed from others of their period, where no concept gives them, in the first way that is possible.
# LongTermDebt is not among the concepts of debt: it is rounded in some notes, and leaves out short-term debt.
SUMS: dict[Statement, dict[str, tuple[tuple[str, ...], ...]]] = {
    "income": {
        "gross_profit": (("revenue", "-cost_of_revenue"),),
        "selling_general_administrative": (("selling_and_marketing", "general_and_administrative"),),
    },
    "balance": {
        "debt": (
            ("long_term_debt", "current_debt"),
            ("long_term_debt", "current_portion_of_long_term_debt", "commercial_paper"),
            ("long_term_debt", "current_portion_of_long_term_debt"),
        )
    },
    "cashflow": {"free_cash_flow": (("operating_cash_flow", "-capex"),)},
}
# What companies owe for less than a year under other names; some use one for the current part of long-term debt.
_SHORT_TERM = (
    "ShortTermBorrowings OtherShortTermBorrowings ShortTermBankLoansAndNotesPayable BridgeLoan BankOverdrafts "
    "ShortTermNonBankLoansAndNotesPayable SecuritiesSoldUnderAgreementsToRepurchase LinesOfCreditCurrent "
    "NotesPayableCurrent LoansPayableCurrent"
)
# Sums that leave out what is reported beside their parts, unless it is one of them: the part that includes all of it,
# and the concepts.
BESIDE: dict[str, tuple[str, tuple[str, ...]]] = {"debt": ("current_debt", _named("us-gaap", _SHORT_TERM))}
PROFITS = ("us-gaap:NetIncomeLoss", "us-gaap:ProfitLoss", "ifrs-full:ProfitLoss")
# What tells that a company reported on a period of its own.
ANCHORS = (*PROFITS, *LINES["income"][0].concepts)


def cell_names(statement: Statement) -> tuple[str, ...]:
    """Return the names of the cells of ``statement``, in their order."""
    return tuple(dict.fromkeys([*(line.name for line in LINES[statement]), *SUMS[statement]]))


def concepts(statement: Statement) -> frozenset[str]:
    """Return the concepts that ``statement`` rests on, with those that show the company's periods."""
    lines = LINES[statement]
    beside = (BESIDE[name][1] for name in SUMS[statement] if name in BESIDE)
    substitutes = (line.substitute.concepts for line in lines if line.substitute)
    others = ((*line.wider, *line.beside, *filter(None, [line.minorities])) for line in lines)
    return frozenset(ANCHORS).union(*(line.concepts for line in lines), *beside, *substitutes, *others)
