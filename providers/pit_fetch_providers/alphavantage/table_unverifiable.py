"""The functions whose rows carry nothing that shows when they were public. "Recorded": see table_bars."""

from __future__ import annotations

from pit_fetch.provider import Operation
from pit_fetch_providers.alphavantage import options, rows, windows
from pit_fetch_providers.alphavantage.function import SYMBOL, Function, fields

_INDICATOR_OPTIONS = (
    "month", "entitlement", "time_period", "series_type", "fastlimit", "slowlimit", "fastperiod", "slowperiod",
    "signalperiod", "fastmatype", "slowmatype", "signalmatype", "fastkperiod", "slowkperiod", "slowdperiod",
    "fastdperiod", "slowkmatype", "slowdmatype", "fastdmatype", "matype", "timeperiod1", "timeperiod2", "timeperiod3",
    "nbdevup", "nbdevdn", "acceleration", "maximum",
)  # fmt: skip

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

_VINTAGE = "a row is labelled with the start of its period, months before its release, and holds the latest vintage"
_BACK_ADJUSTED = "values are computed from prices that are adjusted for later dividends and splits"
_UNRECORDED = "no reply was ever recorded, so nothing shows when its rows were public"

_UNVERIFIABLE = Function(
    Operation(rule="not at all", dating="never", window=None, normalize_query=options.understood),
    dates=rows.undated,
    records=rows.records,
    fetch=windows.one_reply,
    parameters=options.parameters,
)

_SERIES = _UNVERIFIABLE.but(
    why=_VINTAGE, fields=fields("record_type", "date", "value"), window="date", identity=("date",),
    columns=("date", "value"), header=(),
)  # fmt: skip
_LABELLED = _UNVERIFIABLE.but(
    needs=("symbol", "interval"), window="timestamp", identity=("timestamp",), columns=("timestamp",), header=()
)
_ANALYTICS = _UNVERIFIABLE.but(
    why=_BACK_ADJUSTED, needs=("symbols", "range", "interval", "calculations"), parameters=options.in_capitals,
    lists=(("", "analytics"),), columns=("payload",),
)  # fmt: skip

ROWS: tuple[Function, ...] = (
    _UNVERIFIABLE.but(
        name="INSIDER_TRANSACTIONS", needs=SYMBOL, window="transaction_date", columns=("transaction_date",),
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
    *(_SERIES.but(name=name, takes=("interval", "maturity")) for name in _ECONOMY),
    *(_SERIES.but(name=name, takes=("interval",)) for name in _COMMODITIES),
    _SERIES.but(name="GOLD_SILVER_HISTORY", needs=SYMBOL, takes=("interval",), fields=(), columns=("date",)),
    *(
        _LABELLED.but(name=name, why=_BACK_ADJUSTED, takes=_INDICATOR_OPTIONS, foreign=("open", "value"))
        for name in _INDICATORS
    ),
)  # fmt: skip
