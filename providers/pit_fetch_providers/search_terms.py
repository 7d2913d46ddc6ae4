"""Names in other tools of options that several sources have."""

SYMBOL = "ticker tickers symbols sym stock t"
TICKERS = "ticker symbol symbols sym stock stocks t"
INTERVAL = "frequency freq resolution timeframe granularity"
QUERY = "q search keyword keywords term terms text phrase"
KEYWORDS = "keyword query q search term terms text phrase"
