"""One HTTP exchange with a declared host, and the policy above it: retries, deadline, rate, cache."""
