# `make run` opens the dashboard and installs the worker meanwhile, `make look` opens only the
# dashboard, `make test` checks everything at small size, `make test-all` what takes longer.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
TESTERS ?= 3
READY := $(VENV)/installed

.PHONY: run look python test test-all suite lint smoke soak fuzz pins clean

run: python
	@$(PYTHON) compute/base/install.py run $(VENV)

look: $(VENV)/look
	@$(PY) -m compute serve

test: $(READY)
	@$(MAKE) --no-print-directory -j 2 lint suite

# Tests start hundreds of processes: where no bytecode may be kept, each compiles Beirscope again, and
# each tester all tests.
suite test-all soak: export PYTHONDONTWRITEBYTECODE =

# Three at a time on two processors: much of the suite waits for browsers, Java and disks. In the
# order of the folders, for a file of few and long tests must not come last; tests/conftest.py says
# what stays together.
suite: $(READY)
	$(PY) -m pytest -n $(TESTERS) --dist loadfile --no-loadscope-reorder

# What `make test` leaves out for its seconds; CI runs both.
test-all: $(READY)
	$(PY) -m pytest -m "long and not soak" -n $(TESTERS) --dist loadfile --no-loadscope-reorder

lint: $(READY)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/pyrefly check --python-interpreter-path $(PY) --output-format min-text
	$(VENV)/bin/lint-imports --no-cache

# That another Python serves: make smoke VENV=.smoke PYTHON=python3.13
smoke: $(READY)
	BEIRSCOPE_HOME=$$(mktemp -d) $(PY) -m compute run bm25 pydocs-networkx
	$(PY) -m pytest tests/datasets/test_*.py tests/jobs/test_serve.py

# The counts of the long runs; the rest of the suite stays as `make test` has it.
soak: $(READY)
	BEIRSCOPE_KEYS=60 BEIRSCOPE_CASES=2000 BEIRSCOPE_KILLS=30 BEIRSCOPE_JOB_KILLS=10 BEIRSCOPE_FAULTS=216 $(PY) -m pytest -m "soak or not soak" \
		tests/evaluate/test_measures.py tests/evaluate/test_runs.py tests/store/test_kills.py tests/jobs/test_backups.py tests/jobs/test_worker.py \
		tests/evaluate/holes/test_bounds.py tests/evaluate/holes/test_ranges.py tests/judgements/test_orders.py \
		tests/corpora/overlap/test_jaccard.py tests/store/test_faults.py tests/judgements/test_histories.py \
		tests/reading/test_overlay.py tests/judgements/test_agreement.py tests/judgements/test_labels.py \
		tests/evaluate/test_significance.py tests/evaluate/test_rank_intervals.py tests/views/leaderboard/test_rank_correlation.py \
		tests/evaluate/test_rbo.py tests/systems/combine/test_fusion.py tests/systems/neural/test_maxsim.py \
		tests/evaluate/test_reference.py tests/corpora/test_similarity_matrix.py tests/jobs/test_shards.py \
		tests/jobs/test_queue.py tests/pages/test_full_disk.py tests/browser/test_annotate.py \
		tests/browser/test_import.py tests/browser/test_following.py tests/browser/test_several.py

# Mangled files for every reader, fresh ones each time: make fuzz SECONDS=600
fuzz: $(READY)
	BEIRSCOPE_FUZZ_SECONDS=$(or $(SECONDS),600) $(PY) -m tests.support.fuzzing

# On Linux PyPI's torch brings gigabytes of CUDA; TORCH_INDEX=<PyTorch's CPU index> avoids them.
export TORCH_INDEX
$(READY): requirements.txt | python
	@$(PYTHON) compute/base/install.py all $(VENV)

# At the versions that are pinned for all; without what computes they take a tenth of the room.
$(VENV)/look: requirements.txt pyproject.toml | python
	@$(PYTHON) compute/base/install.py look $(VENV)

python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Beirscope needs Python 3.11 or newer: make run PYTHON=python3.11"; exit 1; }

# Compiles the short list of pyproject.toml into requirements.txt.
pins:
	$(PY) -m pip install --quiet uv
	sed -i.bak 's/^\(torch==[0-9.]*\)$$/\1+cpu/' requirements.txt
	$(VENV)/bin/uv pip compile --quiet --python $(PY) --no-header --no-emit-index-url \
		--no-emit-find-links --extra test pyproject.toml -o requirements.txt
	sed -i.bak 's/^\(torch==[0-9.]*\)+cpu/\1/' requirements.txt && rm requirements.txt.bak

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis
