"""The record of what was shown to the callers of a run: written call by call, compared, and asked again."""

RECORD_VARIABLE = "PIT_FETCH_RECORD"
RUN_VARIABLE, STEP_VARIABLE, AGENT_VARIABLE = "PIT_FETCH_RUN", "PIT_FETCH_STEP", "PIT_FETCH_AGENT"
# The shape of an entry that a program was shown: no question of ours, so that none can be asked again.
EXCHANGE = "exchange"
# The run of calls that name none.
DEFAULT_RUN = "default"
