"""The functions whose rows are not dated: snapshots, dated by their receipt, and rows that nothing can verify.

"Recorded" means: seen in replies recorded in November 2025 and May 2026.
"""

from __future__ import annotations

from functools import partial

from pit_fetch.provider import Dating, Operation
from pit_fetch_providers.alphavantage import caveats, options, rows, statements, windows
from pit_fetch_providers.alphavantage.function import SYMBOL, Function
from pit_fetch_providers.alphavantage.table_dated import EARNINGS
from pit_fetch_providers.shared import fields

_RESTATED = "figures carry the end of their fiscal period only, weeks before they are published, and are restated"
_NEWEST = "; of statements, the newest 20 years and 81 quarters are served (recorded)"

_SNAPSHOT = Function(
    Operation(
        dating=Dating(
            rule="when it is fetched", why="the reply is the state of the day on which it is asked for", by="receipt"
        ),
        window="",
        normalize=options.check_query,
    ),
    dates=rows.received,
    records=rows.records,
    fetch=windows.one_reply,
    parameters=options.parameters,
)
_QUOTES = _SNAPSHOT.but(needs=SYMBOL, takes=("entitlement",), identity=SYMBOL, columns=SYMBOL)
_BULK = _QUOTES.but(normalize=options.check_many, header=())
_STATEMENT = _SNAPSHOT.but(
    why=_RESTATED + _NEWEST, needs=SYMBOL, window="fiscalDateEnding", period="fiscalDateEnding", reach="newest",
    claims="the end of the reportedDate that EARNINGS has for the fiscal end, and not before the SEC's deadline, 45 "
    "days after it (90: a year, its last quarter); figures are today's (recorded: of IBM's 196 rows 9 changed in six "
    "months, a quarter's revenue from 3.3 to 16.7 billion)",
    caveats=caveats.statement_caveats,
    fetch=partial(statements.fetch, EARNINGS),
    identity=("fiscalDateEnding",),
    lists=(("annualReports", statements.ANNUAL), ("quarterlyReports", statements.QUARTERLY)),
    columns=("fiscalDateEnding",),
)  # fmt: skip
# What a statement carries besides its figures, which all are whole numbers (recorded).
_HEAD = {"text": "record_type reportedCurrency", "date": "fiscalDateEnding"}

_SNAPSHOTS: tuple[Function, ...] = (
    _QUOTES.but(name="GLOBAL_QUOTE", header=("price",), single=True),
    _BULK.but(name="REALTIME_BULK_QUOTES"),
    _BULK.but(name="REALTIME_BULK_BID_ASK_PRICES"),
    _SNAPSHOT.but(
        name="CURRENCY_EXCHANGE_RATE", needs=("from_currency", "to_currency"),
        identity=("from_currency_code", "to_currency_code"), columns=("from_currency_code",), single=True,
    ),
    _SNAPSHOT.but(name="GOLD_SILVER_SPOT", needs=SYMBOL),
    _SNAPSHOT.but(
        name="REALTIME_OPTIONS", needs=SYMBOL, takes=("contract", "expiration", "require_greeks", "entitlement"),
        identity=("contractID",), columns=("contractID",), header=(),
    ),
    _SNAPSHOT.but(name="REALTIME_PUT_CALL_RATIO", needs=SYMBOL),
    _SNAPSHOT.but(
        name="SYMBOL_SEARCH", needs=("keywords",), identity=SYMBOL, columns=SYMBOL, header=("name",),
        foreign=("reportDate", "ipoDate"),
    ),
    _SNAPSHOT.but(name="MARKET_STATUS", identity=("market_type", "region"), columns=("market_type",)),
    _SNAPSHOT.but(
        name="TOP_GAINERS_LOSERS", takes=("entitlement",),
        fields=fields("record_type ticker change_percentage", number="price change_amount", integer="volume"),
        lists=(("top_gainers", "top_gainer"), ("top_losers", "top_loser"), ("most_actively_traded", "most_active")),
        identity=("ticker",), columns=("ticker",),
    ),
    _SNAPSHOT.but(name="INDEX_CATALOG", identity=SYMBOL, columns=SYMBOL, header=()),
    _SNAPSHOT.but(name="OVERVIEW", needs=SYMBOL, lists=(("", "overview"),), columns=("Symbol",), single=True),
    _SNAPSHOT.but(name="ETF_PROFILE", needs=SYMBOL, lists=(("", "etf_profile"),), columns=("net_assets",)),
    _SNAPSHOT.but(
        name="EARNINGS_ESTIMATES", needs=SYMBOL, window="date", period="date", lists=(("estimates", "estimate"),),
        why="a past period's consensus is the one at its report, weeks after the period's end",
        fields=fields("record_type horizon", "date", """
            eps_estimate_average eps_estimate_high eps_estimate_low eps_estimate_analyst_count
            eps_estimate_average_7_days_ago eps_estimate_average_30_days_ago eps_estimate_average_60_days_ago
            eps_estimate_average_90_days_ago eps_estimate_revision_up_trailing_7_days
            eps_estimate_revision_down_trailing_7_days eps_estimate_revision_up_trailing_30_days
            eps_estimate_revision_down_trailing_30_days revenue_estimate_average revenue_estimate_high
            revenue_estimate_low revenue_estimate_analyst_count"""),
        identity=("date", "horizon"), columns=("date", "horizon"),
    ),
    _SNAPSHOT.but(
        name="EARNINGS_CALENDAR", takes=("symbol", "horizon"), window="reportDate", newer=("timeOfTheDay",),
        fields=fields(
            "record_type symbol name currency timeOfTheDay", date="reportDate fiscalDateEnding", number="estimate"
        ),
        lists=(("", "earnings_calendar"),), identity=("symbol", "fiscalDateEnding", "reportDate"),
        columns=("symbol", "reportDate"), header=("fiscalDateEnding",),
    ),
    _SNAPSHOT.but(
        name="IPO_CALENDAR", window="ipoDate",
        fields=fields("record_type symbol name currency exchange", "ipoDate", "priceRangeLow priceRangeHigh"),
        lists=(("", "ipo_calendar"),), identity=("symbol", "ipoDate"), columns=("symbol", "ipoDate"), header=("name",),
        foreign=("status",),
    ),
    _SNAPSHOT.but(
        name="LISTING_STATUS", why="names and dates are of the fetch, for past dates too", takes=("date", "state"),
        fields=fields("record_type symbol name exchange assetType status", date="ipoDate delistingDate"),
        lists=(("", "listing"),), identity=("symbol", "ipoDate", "status"), columns=("symbol", "status"),
        header=("ipoDate",),
    ),
    _STATEMENT.but(name="INCOME_STATEMENT", fields=fields(**_HEAD, integer="""
        grossProfit totalRevenue costOfRevenue costofGoodsAndServicesSold operatingIncome
        sellingGeneralAndAdministrative researchAndDevelopment operatingExpenses investmentIncomeNet netInterestIncome
        interestIncome interestExpense nonInterestIncome otherNonOperatingIncome depreciation
        depreciationAndAmortization incomeBeforeTax incomeTaxExpense interestAndDebtExpense
        netIncomeFromContinuingOperations comprehensiveIncomeNetOfTax ebit ebitda netIncome""")),
    _STATEMENT.but(name="BALANCE_SHEET", fields=fields(**_HEAD, integer="""
        totalAssets totalCurrentAssets cashAndCashEquivalentsAtCarryingValue cashAndShortTermInvestments inventory
        currentNetReceivables totalNonCurrentAssets propertyPlantEquipment accumulatedDepreciationAmortizationPPE
        intangibleAssets intangibleAssetsExcludingGoodwill goodwill investments longTermInvestments
        shortTermInvestments otherCurrentAssets otherNonCurrentAssets totalLiabilities totalCurrentLiabilities
        currentAccountsPayable deferredRevenue currentDebt shortTermDebt totalNonCurrentLiabilities
        capitalLeaseObligations longTermDebt currentLongTermDebt longTermDebtNoncurrent shortLongTermDebtTotal
        otherCurrentLiabilities otherNonCurrentLiabilities totalShareholderEquity treasuryStock retainedEarnings
        commonStock commonStockSharesOutstanding""")),
    _STATEMENT.but(name="CASH_FLOW", fields=fields(**_HEAD, integer="""
        operatingCashflow paymentsForOperatingActivities proceedsFromOperatingActivities changeInOperatingLiabilities
        changeInOperatingAssets depreciationDepletionAndAmortization capitalExpenditures changeInReceivables
        changeInInventory profitLoss cashflowFromInvestment cashflowFromFinancing
        proceedsFromRepaymentsOfShortTermDebt paymentsForRepurchaseOfCommonStock paymentsForRepurchaseOfEquity
        paymentsForRepurchaseOfPreferredStock dividendPayout dividendPayoutCommonStock dividendPayoutPreferredStock
        proceedsFromIssuanceOfCommonStock proceedsFromIssuanceOfLongTermDebtAndCapitalSecuritiesNet
        proceedsFromIssuanceOfPreferredStock proceedsFromRepurchaseOfEquity proceedsFromSaleOfTreasuryStock
        stockBasedCompensation changeInCashAndCashEquivalents changeInExchangeRate netIncome""")),
    _SNAPSHOT.but(
        name="SHARES_OUTSTANDING", why=_RESTATED, needs=SYMBOL, window="date", period="date", identity=("date",),
        columns=("date",),
        fields=fields("record_type", "date", integer="shares_outstanding_diluted shares_outstanding_basic"),
        header=("shares_outstanding_basic",),
    ),
)  # fmt: skip

_INDICATOR_OPTIONS = ("month", "entitlement", "time_period", "series_type", *options.INDICATOR_NUMBERS)

_INDICATORS = (
    "SMA", "EMA", "WMA", "DEMA", "TEMA", "TRIMA", "KAMA", "MAMA", "VWAP", "T3", "MACD", "MACDEXT", "STOCH", "STOCHF",
    "RSI", "STOCHRSI", "WILLR", "ADX", "ADXR", "APO", "PPO", "MOM", "BOP", "CCI", "CMO", "ROC", "ROCR", "AROON",
    "AROONOSC", "MFI", "TRIX", "ULTOSC", "DX", "MINUS_DI", "PLUS_DI", "MINUS_DM", "PLUS_DM", "BBANDS", "MIDPOINT",
    "MIDPRICE", "SAR", "TRANGE", "ATR", "NATR", "AD", "ADOSC", "OBV", "HT_TRENDLINE", "HT_SINE", "HT_TRENDMODE",
    "HT_DCPERIOD", "HT_DCPHASE", "HT_PHASOR",
)  # fmt: skip
_COMMODITIES = (
    "WTI", "BRENT", "NATURAL_GAS", "COPPER", "ALUMINUM", "WHEAT", "CORN", "COTTON", "SUGAR", "COFFEE",
    "ALL_COMMODITIES",
)  # fmt: skip
_ECONOMY = (
    "REAL_GDP", "REAL_GDP_PER_CAPITA", "TREASURY_YIELD", "FEDERAL_FUNDS_RATE", "CPI", "INFLATION", "RETAIL_SALES",
    "DURABLES", "UNEMPLOYMENT", "NONFARM_PAYROLL",
)  # fmt: skip
# The interval of a series that is asked for without one, if it is not a month.
_PERIODS = {"REAL_GDP": "annual", "REAL_GDP_PER_CAPITA": "quarterly", "INFLATION": "annual"}

_VINTAGE = "a row is labelled with the start of its period, months before its release, and holds the latest vintage"
_BACK_ADJUSTED = "values are computed from prices that are adjusted for later dividends and splits"
_UNRECORDED = "no reply was ever recorded, so nothing shows when its rows were public"

_UNVERIFIABLE = Function(
    Operation(dating=Dating(rule="not at all", by="never"), window="", normalize=options.check_query),
    dates=rows.undated,
    records=rows.records,
    fetch=windows.one_reply,
    parameters=options.parameters,
)

_SERIES = _UNVERIFIABLE.but(
    why=_VINTAGE, fields=fields("record_type", "date", "value"), window="date", period="date",
    ends=rows.end_of_interval("monthly"), identity=("date",), columns=("date", "value"), header=(),
)  # fmt: skip
_LABELLED = _UNVERIFIABLE.but(
    needs=("symbol", "interval"), window="timestamp", period="timestamp", ends=rows.end_of_interval("daily"),
    identity=("timestamp",), columns=("timestamp",), header=(),
)  # fmt: skip
_ANALYTICS = _UNVERIFIABLE.but(
    why=_BACK_ADJUSTED, needs=("symbols", "range", "interval", "calculations"), ends=rows.end_of_interval("daily"),
    parameters=options.capital_parameters, lists=(("", "analytics"),), columns=("payload",),
)  # fmt: skip

ROWS: tuple[Function, ...] = (
    *_SNAPSHOTS,
    _UNVERIFIABLE.but(
        name="INSIDER_TRANSACTIONS", needs=SYMBOL, window="transaction_date", period="transaction_date",
        columns=("transaction_date",),
        why="rows carry the day of the transaction; the filing follows days later, or more",
        fields=fields(
            "record_type ticker executive executive_title security_type acquisition_or_disposal",
            date="transaction_date", number="shares share_price",
        ),
        identity=(
            "transaction_date", "executive", "security_type", "acquisition_or_disposal", "shares", "share_price",
        ),
    ),
    _UNVERIFIABLE.but(name="CONGRESS_TRADES", why=_UNRECORDED, takes=("symbol", "bioguide_id"), header=()),
    _UNVERIFIABLE.but(name="POLITICIAN_METADATA", why=_UNRECORDED, header=()),
    _UNVERIFIABLE.but(
        name="EARNINGS_CALL_TRANSCRIPT", why="a transcript carries no date (recorded)", needs=("symbol", "quarter"),
        fields=fields("record_type speaker title content", number="sentiment"),
        lists=(("transcript", "transcript_part"),), identity=("#",), columns=("content",),
    ),
    _UNVERIFIABLE.but(name="HISTORICAL_PUT_CALL_RATIO", why=_UNRECORDED, needs=SYMBOL, takes=("date",), header=()),
    _LABELLED.but(name="INDEX_DATA", why=_UNRECORDED),
    _ANALYTICS.but(name="ANALYTICS_FIXED_WINDOW", takes=("ohlc",)),
    _ANALYTICS.but(name="ANALYTICS_SLIDING_WINDOW", takes=("ohlc", "window_size")),
    *(
        _SERIES.but(
            name=name, takes=("interval", "maturity"), lists=(("data", name.lower()),),
            ends=rows.end_of_interval(_PERIODS.get(name, "monthly")),
        )
        for name in _ECONOMY
    ),
    *(_SERIES.but(name=name, takes=("interval",), lists=(("data", name.lower()),)) for name in _COMMODITIES),
    _SERIES.but(name="GOLD_SILVER_HISTORY", needs=SYMBOL, takes=("interval",), fields=(), columns=("date",)),
    *(
        _LABELLED.but(name=name, why=_BACK_ADJUSTED, takes=_INDICATOR_OPTIONS, foreign=("open", "value"))
        for name in _INDICATORS
    ),
)  # fmt: skip
