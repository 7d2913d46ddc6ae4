# Needs Python 3.11 or later and make; everything else is installed into .venv.
PYTHON ?= python3
BIN = .venv/bin
RUN = .venv/.installed-run
DEV = .venv/.installed-dev
CORPUS = .venv/corpus
CLIENT = .venv/.installed-client
NEO4J = .venv/neo4j/.installed
FRAMEWORKS = .venv/frameworks/.installed
PROGRAMS = .venv/programs/.installed
DOCS = .venv/.installed-docs
ENVIRONMENT = .venv/.installed-all
INSTALL = $(BIN)/python -m pip install -qq --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help environment demo docs test test-wheel test-guide test-client test-neo4j test-frameworks test-programs test-page cover lint kit-score proof corpus bench clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

environment: $(ENVIRONMENT) ## set up what the targets below need, but for Neo4j, in one go

demo: $(RUN) ## set up, then fetch as of an instant from bundled sample data
	@$(BIN)/python examples/demo.py

# Wherever Python is told not to: what pytest makes of the tests is kept, or each worker would make it again.
test: export PYTHONDONTWRITEBYTECODE =
test: $(DEV) ## set up, then run the test suite; ALL=1 for the thorough tests, too, and more examples of each law
	$(BIN)/python -m pytest -n auto $(if $(ALL),--hypothesis-profile=many,-m "not thorough") $(PYTEST_ARGS)

# The wheel holds the checkout's files, byte for byte and all of them, so that the suite speaks for its code, too. What
# an editable install could hide is run on the wheel itself: the console command, entry points (sources, plugins, the
# kit's pytest plugin), data found beside the code (skeletons, hooks, agents, skills), gate and guard as modules.
test-wheel: $(DEV) ## compare a wheel with the checkout, and test what depends on how it is installed
	@$(BIN)/python tests/repo/wheel.py

test-guide: $(DEV) ## run every command of the provider guide in a clean folder
	@$(BIN)/python -m tests.repo.guide

cover: $(DEV) ## check the coverage floor of the pure core
	@$(BIN)/python -m pytest tests/unit/pipeline tests/unit/request/test_fetch_request.py tests/unit/hooks/test_gate.py \
		tests/unit/formats/test_frames.py tests/unit/test_times.py tests/unit/test_api.py tests/unit/test_authoring.py \
		tests/unit/test_gaps.py --cov=pit_fetch.pipeline --cov=pit_fetch.times --cov=pit_fetch.gaps \
		--cov=pit_fetch.request.fetch_request --cov-report=term-missing --cov-fail-under=97

lint: $(DEV) ## check format, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

test-client: $(CLIENT) ## set up, then measure what reaches the model on the real Claude Code client; ALL=1 for every cell
	$(BIN)/python -m tests.client.matrix $(if $(ALL),--all)
	$(BIN)/python -m tests.client.wirings $(if $(ALL),--all)
	$(BIN)/python -m tests.client.mcp_instant

kit-score: $(DEV) ## score the author's kit: named plants in honest providers, each shown to leak by the real command
	@$(BIN)/python -m tests.kit.score

test-page: $(DEV) ## open the HTML page in headless Chromium, in SHOTS keep its pictures (apt-get install chromium)
	$(BIN)/python -m tests.browser.check $(SHOTS)

test-neo4j: $(NEO4J) ## set up, then hold the Neo4j patterns to their laws on a Bolt server, through the MCP server
	.venv/neo4j/bin/python -m tests.neo4j.integration

# The suite runs what of it is installed beside it.
test-frameworks: $(FRAMEWORKS) ## set up, then run the snippets for frameworks with the real packages, 600 MB of them
	.venv/frameworks/bin/python -m pytest -c /dev/null --rootdir . -p no:cacheprovider --noconftest -q \
		tests/unit/instants/test_styles.py tests/unit/instants/test_frameworks.py

test-programs: $(PROGRAMS) ## set up, then show yfinance and edgartools the same in two worlds, through views
	$(BIN)/python -m tests.programs.run .venv/programs/bin/python

# What the site shows or links to. It keeps its place in the repository, so that a link works in both.
PAGES = *.md docs tests/README.md examples/looking.ipynb examples/backtest \
	providers/pit_fetch_providers/bz_news_api/__init__.py providers/pit_fetch_providers/federal_register/__init__.py

docs: export NO_MKDOCS_2_WARNING = 1
docs: $(DOCS) ## build the site with search, in build/site, and fail for a link that leads nowhere
	@rm -rf build/pages && mkdir -p build/pages
	@tar -cf - $(PAGES) | tar -xf - -C build/pages
	$(BIN)/mkdocs build --strict

# How much `make proof` runs: this many pairs of worlds, or until the time is up.
PAIRS ?= 100000
SECONDS ?= 3600

proof: $(DEV) ## run the laws on PAIRS pairs of worlds, for at most SECONDS, and the leaks they must see
	@$(BIN)/python -m tests.laws.mutate
	@$(BIN)/python -m tests.laws.proof --pairs $(PAIRS) --seconds $(SECONDS)

corpus: $(CORPUS) ## score pit_fetch and common ways of filtering on the leak corpus; needs jq
	@PYTHONPATH=$(CORPUS) $(BIN)/python -m tests.corpus.score
	@$(BIN)/python -m tests.repo.seal

bench: $(DEV) ## measure start-up, fetch and archive times, as ratios within one run
	@$(BIN)/python tests/repo/bench.py
	@$(BIN)/python tests/repo/bench_gate.py
	@$(BIN)/python tests/repo/bench_archive.py
	@$(BIN)/python tests/repo/bench_mcp.py
	@$(BIN)/python tests/repo/bench_edgar.py

clean: ## remove the environment and caches
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "pit_fetch needs Python 3.11 or later: make PYTHON=python3.11")'
	@$(PYTHON) -m venv .venv

$(RUN): pyproject.toml | $(BIN)/python
	@$(INSTALL) --editable .
	@touch $@

# Kept apart: only the scores of other approaches need these.
$(CORPUS): $(DEV)
	@$(INSTALL) --target $@ pandas python-dateutil

$(DEV): $(RUN)
	@$(INSTALL) --editable '.[dev]'
	@touch $@

$(DOCS): $(RUN)
	@$(INSTALL) --editable '.[docs]'
	@touch $@

$(CLIENT): $(DEV)
	@$(INSTALL) --editable '.[client]'
	@touch $@

$(ENVIRONMENT): pyproject.toml | $(BIN)/python
	@$(INSTALL) --editable '.[dev,docs,client]'
	@touch $(RUN) $(DEV) $(DOCS) $(CLIENT) $@

$(FRAMEWORKS): pyproject.toml
	@test -x .venv/frameworks/bin/python || $(PYTHON) -m venv .venv/frameworks
	@.venv/frameworks/bin/python -m pip install -qq --disable-pip-version-check --editable '.[mcp,frameworks,client]' pytest
	@touch $@

$(PROGRAMS): $(DEV)
	@test -x .venv/programs/bin/python || $(BIN)/python -m venv .venv/programs
	@.venv/programs/bin/python -m pip install -qq --disable-pip-version-check 'edgartools>=5.62,<6' 'yfinance>=1.7,<2'
	@touch $@

# Kept apart: the MCP server of Neo4j needs an older SDK than ours.
$(NEO4J): $(DEV)
	@test -x .venv/neo4j/bin/python || $(BIN)/python -m venv .venv/neo4j
	@.venv/neo4j/bin/python -m pip install -qq --disable-pip-version-check --editable '.[neo4j]' 'kglite>=0.21,<0.22'
	@touch $@
