"""The record of what was shown to the callers of a run: written call by call, compared, and asked again."""

RECORD_VARIABLE = "PIT_FETCH_RECORD"
RUN_VARIABLE, STEP_VARIABLE, AGENT_VARIABLE = "PIT_FETCH_RUN", "PIT_FETCH_STEP", "PIT_FETCH_AGENT"
# The run of calls that name none.
DEFAULT_RUN = "default"
