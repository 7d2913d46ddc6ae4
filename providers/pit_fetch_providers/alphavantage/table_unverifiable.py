"""The functions whose rows carry nothing that shows when they were public. "Recorded": see table_bars."""

from __future__ import annotations

from pit_fetch_providers.alphavantage.function import EQUITY, UNVERIFIABLE, Function

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

ROWS: tuple[Function, ...] = (
    UNVERIFIABLE._replace(
        name="INSIDER_TRANSACTIONS",
        why="rows carry the day of the transaction; the filing follows days later, or more",
        needs=EQUITY,
        date="transaction_date",
        identity=(
            "transaction_date",
            "executive",
            "security_type",
            "acquisition_or_disposal",
            "shares",
            "share_price",
        ),
        columns=("transaction_date",),
    ),
    UNVERIFIABLE._replace(name="CONGRESS_TRADES", why=_UNRECORDED, takes=("symbol", "bioguide_id"), header=()),
    UNVERIFIABLE._replace(name="POLITICIAN_METADATA", why=_UNRECORDED, header=()),
    UNVERIFIABLE._replace(
        name="EARNINGS_CALL_TRANSCRIPT",
        why="a transcript carries no date (recorded)",
        needs=("symbol", "quarter"),
        lists=(("transcript", "transcript_part"),),
        identity=("#",),
        columns=("content",),
    ),
    UNVERIFIABLE._replace(name="HISTORICAL_PUT_CALL_RATIO", why=_UNRECORDED, needs=EQUITY, takes=("date",), header=()),
    UNVERIFIABLE._replace(
        name="INDEX_DATA",
        why=_UNRECORDED,
        needs=("symbol", "interval"),
        date="timestamp",
        identity=("timestamp",),
        columns=("timestamp",),
        header=(),
    ),
    *(
        UNVERIFIABLE._replace(
            name=name,
            why=_BACK_ADJUSTED,
            needs=("symbols", "range", "interval", "calculations"),
            takes=takes,
            lists=(("", "analytics"),),
            columns=("payload",),
        )
        for name, takes in (
            ("ANALYTICS_FIXED_WINDOW", ("ohlc",)),
            ("ANALYTICS_SLIDING_WINDOW", ("ohlc", "window_size")),
        )
    ),
    *(
        UNVERIFIABLE._replace(
            name=name, why=_VINTAGE, takes=takes, date="date", identity=("date",), columns=("date", "value"), header=()
        )
        for names, takes in ((_ECONOMY, ("interval", "maturity")), (_COMMODITIES, ("interval",)))
        for name in names
    ),
    UNVERIFIABLE._replace(
        name="GOLD_SILVER_HISTORY",
        why=_VINTAGE,
        needs=EQUITY,
        takes=("interval",),
        date="date",
        identity=("date",),
        columns=("date",),
        header=(),
    ),
    *(
        UNVERIFIABLE._replace(
            name=name,
            why=_BACK_ADJUSTED,
            needs=("symbol", "interval"),
            takes=_INDICATOR_OPTIONS,
            date="timestamp",
            identity=("timestamp",),
            columns=("timestamp",),
            header=(),
            foreign=("open", "value"),
        )
        for name in _INDICATORS
    ),
)
