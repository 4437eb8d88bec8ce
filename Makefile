# `make` alone lists what there is to do. Two commands set everything up: `make run` and `make test`.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# The tests start hundreds of processes, each of which would compile the program anew.
unexport PYTHONDONTWRITEBYTECODE
# Three for two processors: many tests wait, for a kill or for an index that is silent. What was skipped is told.
PYTEST := $(BIN)/python -m pytest --quiet -rs -n 3
LOCK := .github/requirements.txt
SUITE ?= quick
MARKS_quick := not long and not soak and not online
MARKS_long := long and not soak and not online
MARKS_all := not soak and not online
QUICK := -m "$(MARKS_quick)" --hypothesis-profile=few

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(VENV)/made: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "error: $(PYTHON) is older than Python 3.11; name another one: make PYTHON=python3.12"; exit 2; }
	@echo "making $(VENV) and installing compatkb into it"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[web]'
	@touch $@

$(VENV)/made-dev: $(VENV)/made
	@echo "installing what the tests need into $(VENV)"
	$(BIN)/python -m pip install --quiet --editable '.[dev,docs]'
	@touch $@

locked: ## set .venv up from the lock with hashes, as CI does
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes --requirement $(LOCK)
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $(VENV)/made $(VENV)/made-dev

lock: $(VENV)/made-dev ## write the lock anew, with the newest versions
	$(BIN)/uv pip compile pyproject.toml --extra dev --extra docs --universal --python-version 3.11 --generate-hashes --no-annotate \
		--upgrade --quiet --custom-compile-command "make lock" --output-file $(LOCK)

run: $(VENV)/made ## set up, and answer: which versions for torch 2.4 on xpu?
	@echo "compatkb resolve --torch 2.4 --device xpu"
	@$(BIN)/compatkb resolve --torch 2.4 --device xpu || test $$? -eq 1
	@echo "ask more with $(BIN)/compatkb --help"
	@echo "or as a page: $(BIN)/compatkb web serve, then open http://localhost:8000/"

test: checked ## set up, and run lint, types and tests, those of the site in a browser too; SUITE=all: the long ones as well, as CI does
	$(PYTEST) -m "$(MARKS_$(SUITE))" --hypothesis-profile=few

test-long: $(VENV)/made-dev chromium ## what `make test` leaves out: attacks, kills, real installers, brute force, later days
	$(PYTEST) -m "$(MARKS_long)" --hypothesis-profile=few

checked: $(VENV)/made-dev chromium
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/compatkb fmt --check
	$(BIN)/compatkb lint

test-soak: $(VENV)/made-dev chromium ## the rest, one by one: every matrix, many kills, ten times the random input; before a release and every week
	$(PYTEST) -m "(soak or hypothesis) and not online"

test-later: $(VENV)/made-dev chromium ## the quick tests as if it were DAYS (1 90 400) after the day of the data: what ages is no verdict
	for days in $(or $(DAYS),1 90 400); do $(PYTEST) $(QUICK) --days-later $$days || exit 1; done

same: $(VENV)/made-dev ## tell where answers, findings, documents, database and site differ from what `make same-update` recorded
	$(BIN)/python tests/same compare $(SAME)

same-update: $(VENV)/made-dev ## record them in .same/, before a change of structure; SAME="--every 5" takes each fifth request
	$(BIN)/python tests/same record $(SAME)

test-web: $(VENV)/made-dev chromium ## test the site in a real browser
	$(BIN)/python -m pytest --quiet tests/web

chromium:
	@command -v chromium-headless-shell >/dev/null || test -n "$$COMPATKB_CHROMIUM" || \
		{ command -v apt-get >/dev/null && test "$$(id -u)" = 0 && echo "installing chromium-headless-shell" && \
			apt-get -qq update && apt-get -qq install --yes --no-install-recommends chromium-headless-shell >/dev/null; } || \
		command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
		{ echo "error: the browser tests need chromium: apt-get install chromium, or COMPATKB_CHROMIUM=PATH"; exit 2; }

web: $(VENV)/made ## write the lookup page and the JSON API to site/
	$(BIN)/compatkb web build

docs: $(VENV)/made ## write the generated regions of README.md and docs/ anew
	$(BIN)/compatkb docs render

pages: $(VENV)/made-dev ## build the documentation as a site in site-docs/; every link is checked
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

generate: $(VENV)/made ## rewrite the JSON Schemas that are made from the models
	$(BIN)/compatkb schema --out data/schema
	$(BIN)/compatkb export --format schema --out docs/schema/export.schema.json

backtest: $(VENV)/made-dev ## take 12 weeks from SINCE on out of the data, and tell what refresh gives back of them
	$(BIN)/python tests/backtest.py --since $(or $(SINCE),2026-08-29)

soak: $(VENV)/made-dev ## ask compatkb and real pip the same 500 random questions; resumes
	$(BIN)/python tests/differential.py --work .soak

soak-web: $(VENV)/made-dev chromium ## compare thousands of answers of server and browser with the command line, and fuzz the server
	COMPATKB_SOAK=2000 $(BIN)/python -m pytest --quiet -m "long or soak" tests/web/test_server.py tests/web/test_engine.py tests/web/test_same_commands.py

soak-properties: $(VENV)/made-dev ## run the tests of rules over random input with new input, ROUNDS times (20)
	for round in $$(seq $(or $(ROUNDS),20)); do \
		$(BIN)/python -m pytest --quiet --exitfirst -n 2 -m "hypothesis and not online" --hypothesis-profile=new || exit 1; done

bench: $(VENV)/made-dev ## measure start-up, queries, memory, server and page as ratios within one run
	$(BIN)/python bench/bench.py --json bench/out/bench.json --check

bench-check: $(VENV)/made-dev ## the same with fewer questions, as CI runs it: fails on a clear regression of a ratio
	$(BIN)/python bench/bench.py --requests 1500 --json bench/out/bench.json --check

bench-scale: $(VENV)/made-dev ## answers over 3, 10 and 30 times as many releases of the shape of the real ones
	$(BIN)/python bench/growth.py

clean: ## remove what the other targets made
	rm -rf $(VENV) .soak site site-docs build dist .mypy_cache .ruff_cache .pytest_cache

.PHONY: backtest help locked lock run test test-long checked test-soak test-later same same-update test-web chromium web docs pages generate soak soak-web \
	soak-properties bench bench-check bench-scale clean
