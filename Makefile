# SPDX-License-Identifier: MIT
# The front door. CMake does the work; this says what can be asked for (`make help`) and sees that
# what the work needs is there (tools/setup; `make SETUP=:` leaves that to you).
BUILD  ?= build
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
# Tests wait for servers, browsers and clocks: two more than there are processors.
TEST_JOBS ?= $(shell expr $(JOBS) + 2)
SETUP  ?= tools/setup
WERROR ?= OFF
FUZZ_SECONDS ?= 60
TORTURE_SECONDS ?= 3600
TORTURE ?= --seed $$(date +%s)
KILLS ?= 6000
BENCH_LINES ?= 20e6
LOAD_SECONDS ?= 600

# A new tree is Ninja's where there is one. One that is there stays as it is.
CMAKE  = CMAKE_GENERATOR="$$(command -v ninja >/dev/null 2>&1 && echo Ninja)" cmake -S .
BUILDS = cmake --build
STAMP  = $(BUILD)/.setup

.DEFAULT_GOAL := build
MAKEFLAGS += --no-print-directory
.PHONY: build run run-cluster test test-quick test-interop test-cluster machines bench bench-cli bench-redis performance fuzz torture kill coverage analyse \
	statistics adversary load \
	valgrind install uninstall amalgamation python bench-python web bench-web dist deb static format clean help

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | \
	    while IFS='|' read -r name words; do printf '  make %-14s %s\n' "$$name" "$$words"; done
	@printf '%s\n' 'Variables: BUILD=build  PREFIX=/usr/local  DESTDIR=  JOBS=processors  CC  CFLAGS  FUZZ_SECONDS=60  TORTURE_SECONDS=3600  LOAD_SECONDS=600  BENCH_LINES=20e6'

# What has once been found there is not looked for again until tools/setup changes or `make clean`.
$(STAMP)-%: tools/setup
	@$(SETUP) $*
	@mkdir -p $(BUILD) && touch $@

# Hundreds of programs are linked sooner with Ninja. Make does its work as well.
$(STAMP)-build: | $(STAMP)-ninja
$(STAMP)-ninja: tools/setup
	@$(SETUP) ninja || echo 'no ninja: make does its work'
	@mkdir -p $(BUILD) && touch $@

# Only the test of other machines needs these, and it is skipped without them.
$(STAMP)-cross: tools/setup
	@$(SETUP) cross || echo 'no cross compilers: amalgamation.cross and kernel.neon will be skipped'
	@mkdir -p $(BUILD) && touch $@

# Nor does anything but the tests of the page and the package need these.
$(STAMP)-web: tools/setup
	@$(SETUP) web || echo 'no compiler for WebAssembly, or no browser: web.package and web.page will be skipped'
	@mkdir -p $(BUILD) && touch $@

$(BUILD)/CMakeCache.txt: | $(STAMP)-build
	$(CMAKE) -B $(BUILD) -DBLOOMERY_TESTS=OFF -DBLOOMERY_WERROR=$(WERROR) -DCMAKE_INSTALL_PREFIX=$(PREFIX)

build: $(BUILD)/CMakeCache.txt ## the library, its examples and tools (the default)
	$(BUILDS) $(BUILD) -j $(JOBS)

run: $(BUILD)/CMakeCache.txt ## build the command line, then deduplicate two days of a crawler's log
	$(BUILDS) $(BUILD) -j $(JOBS) --target bloomery_cli
	@examples/crawl.sh $(BUILD)/bloomery $(BUILD)/run

run-cluster: build ## build, then one filter over six Redis servers, one of which is killed
	@examples/cluster.sh $(BUILD)/bloomery $(BUILD)/redis/bloomery.so

# clang's opinion of everything, ASan, UBSan, and the libFuzzer targets.
CLANG = $(CMAKE) -B $(BUILD)/clang -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBLOOMERY_FUZZ=ON -DBLOOMERY_SHARED=OFF $(LLD)
# Links in half the time.
LLD = $$(command -v ld.lld >/dev/null 2>&1 && echo -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld)

# One CTest run, and its closing lines, the verdict, come last; what was skipped, also inside
# tests that passed, is listed above them. Before it come the builds whose programs it runs:
# optimised with warnings as errors; by clang with ASan, UBSan and the fuzzer; with TSan. Of what clang
# does not compile there, benchmarks, its opinion is asked (tools/opinion).
test: $(STAMP)-build $(STAMP)-test $(STAMP)-cross $(STAMP)-web ## everything: optimised, slow tests, sanitizers, second compiler
	$(CLANG) -DBLOOMERY_TESTS=ON -DBLOOMERY_WERROR=ON
	$(BUILDS) $(BUILD)/clang -j $(JOBS)
	tools/opinion $(BUILD)/clang $(JOBS)
	$(CMAKE) -B $(BUILD)/tsan -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBLOOMERY_TESTS=ON \
	    -DBLOOMERY_SHARED=OFF -DBLOOMERY_SANITIZE=thread -DBLOOMERY_UNIT_REGEX=threads $(LLD)
	$(BUILDS) $(BUILD)/tsan -j $(JOBS) --target chosen
	$(CMAKE) -B $(BUILD) -DBLOOMERY_TESTS=ON -DBLOOMERY_WERROR=ON -DBLOOMERY_GATE=ON
	$(BUILDS) $(BUILD) -j $(JOBS)
	BLM_SLOW=1 tools/run-tests --test-dir $(BUILD) -j $(TEST_JOBS) --timeout 900 --no-label-summary --output-on-failure

test-quick: $(STAMP)-build $(STAMP)-test ## the optimised build's tests without the slow ones
	$(CMAKE) -B $(BUILD) -DBLOOMERY_TESTS=ON
	$(BUILDS) $(BUILD) -j $(JOBS)
	tools/run-tests --test-dir $(BUILD) -j $(JOBS) -LE gate --no-label-summary --output-on-failure

test-interop: build $(STAMP)-interop ## write with ours and read with theirs (Guava, Go, DCSO), and back
	$(BUILDS) $(BUILD) -j $(JOBS) --target interop.peer
	BLM_BUILD=$(abspath $(BUILD)) PYTHONDONTWRITEBYTECODE=1 python3 tests/interop/interop.py

test-cluster: $(STAMP)-build $(STAMP)-test ## the tests of clusters and near copies at full size: 10^7 keys, minutes
	$(CMAKE) -B $(BUILD) -DBLOOMERY_TESTS=ON
	$(BUILDS) $(BUILD) -j $(JOBS)
	BLM_LONG=1 tools/run-tests --test-dir $(BUILD) -R '^redis\.(shards|near)$$' --timeout 900 --no-label-summary --verbose

machines: $(STAMP)-build $(STAMP)-test $(STAMP)-machines ## the tests on other machines and in other builds (MACHINES="s390x gcc-O0"): hours
	tools/machines --jobs $(JOBS) $(MACHINES)

valgrind: $(STAMP)-build $(STAMP)-test $(STAMP)-valgrind ## the unit tests under valgrind (uninitialised reads)
	$(CMAKE) -B $(BUILD)/valgrind -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBLOOMERY_TESTS=ON
	$(BUILDS) $(BUILD)/valgrind -j $(JOBS)
	@set -e; cd $(BUILD)/valgrind; for t in unit.*; do echo "== $$t"; \
	    BLM_QUICK=1 valgrind -q --error-exitcode=1 --leak-check=full ./$$t; done

bench: build $(STAMP)-bench ## measure, beside libbloom on the same machine
	$(CMAKE) -B $(BUILD)
	$(BUILDS) $(BUILD) -j $(JOBS) --target bloomery_bench
	@set -e; for b in $(BUILD)/bench/*; do [ -f "$$b" ] || continue; echo "== $$b"; "$$b"; done

bench-redis: build $(STAMP)-bench-redis ## the Redis module beside a plain one (or MODULES=path.so ...)
	$(BUILDS) $(BUILD) -j $(JOBS) --target bench.redis_plain
	BLM_BUILD=$(abspath $(BUILD)) PYTHONDONTWRITEBYTECODE=1 python3 bench/redis.py \
	    $(if $(MODULES),$(BUILD)/redis/bloomery.so $(MODULES))

bench-cli: build $(STAMP)-bench-cli ## dedup, add, check beside sort -u, awk, a Python set, bloom
	BUILD=$(BUILD) bench/cli.sh $(BENCH_LINES)

performance: build $(STAMP)-bench $(STAMP)-bench-cli ## measure all of docs/performance.md, then write its tables and charts
	$(CMAKE) -B $(BUILD)
	tools/performance measure --build $(abspath $(BUILD))
	tools/performance fill

fuzz: $(STAMP)-build $(STAMP)-fuzz ## each fuzz target for FUZZ_SECONDS of processor time, which fuzz/record.tsv adds up
	$(CLANG) -DBLOOMERY_TESTS=OFF
	$(BUILDS) $(BUILD)/clang -j $(JOBS) --target fuzzers
	$(BUILD)/clang/seeds $(BUILD)/clang/seeds.d
	tools/fuzz run --build $(BUILD)/clang --seconds $(FUZZ_SECONDS)

torture: $(STAMP)-build $(STAMP)-test ## break the guard's law with every data set for TORTURE_SECONDS (TORTURE="--adapter redis --seed 7")
	$(CMAKE) -B $(BUILD)/torture -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBLOOMERY_TESTS=ON
	$(BUILDS) $(BUILD)/torture -j $(JOBS) --target torture.law
	$(BUILD)/torture/torture.law --quiet --seconds $(TORTURE_SECONDS) $(TORTURE)

coverage: $(STAMP)-build $(STAMP)-test $(STAMP)-coverage ## which lines and branches the tests reach, in docs/testing.md (clang; half an hour)
	$(CMAKE) -B $(BUILD)/coverage -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=None \
	    -DCMAKE_C_FLAGS=-O1 -DBLOOMERY_TESTS=ON -DBLOOMERY_COVERAGE=ON
	LLVM_PROFILE_FILE=/dev/null $(BUILDS) $(BUILD)/coverage -j $(JOBS)
	tools/coverage run --build $(BUILD)/coverage
	tools/coverage report --build $(BUILD)/coverage --write --strict

analyse: $(STAMP)-build $(STAMP)-analyse ## cppcheck, gcc -fanalyzer and clang-tidy over the sources: an hour (cppcheck and a part of clang-tidy are in the gate)
	$(CMAKE) -B $(BUILD)
	JOBS=$(JOBS) BUILD=$(BUILD) tools/analyse

kill: $(STAMP)-build $(STAMP)-test ## thousands of processes are killed in the middle of their files, which are opened again (KILLS=6000)
	$(CMAKE) -B $(BUILD)/torture -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBLOOMERY_TESTS=ON
	$(BUILDS) $(BUILD)/torture -j $(JOBS) --target unit.store.kills bloomery_cli genlines
	cd $(BUILD)/torture && BLM_KILLS=$(KILLS) ./unit.store.kills
	BLM_KILLS=$(KILLS) BLM_BUILD=$(abspath $(BUILD))/torture BLM_SOURCE=$(CURDIR) python3 tests/cli/test_kills.py

statistics: build ## rates on patterned keys and coverage of intervals: docs/statistics.md anew, minutes
	$(CMAKE) -B $(BUILD)
	tools/evidence measure statistics --build $(abspath $(BUILD))
	tools/evidence fill

adversary: build ## what prepared keys, a watcher and a stolen file can do: docs/adversary.md anew
	$(CMAKE) -B $(BUILD)
	tools/evidence measure adversary --build $(abspath $(BUILD))
	tools/evidence fill

load: build $(STAMP)-test ## 64 clients on Redis, 64 threads on filters and a guard, LOAD_SECONDS each, killed in between
	$(CMAKE) -B $(BUILD) -DBLOOMERY_TESTS=ON
	$(BUILDS) $(BUILD) -j $(JOBS) --target load.threads
	BLM_BUILD=$(abspath $(BUILD)) PYTHONDONTWRITEBYTECODE=1 python3 tests/load/test_load.py $(LOAD_SECONDS)

install: build ## into DESTDIR PREFIX: command line, header, libraries, Redis module, manual
	DESTDIR=$(DESTDIR) cmake --install $(BUILD) --prefix $(PREFIX)
	@cp $(BUILD)/install_manifest.txt $(INSTALLED)

# Tests install too, and CMake remembers only the last time. Folders go if they are ours and empty.
INSTALLED = $(BUILD)/installed.txt
uninstall: ## remove from DESTDIR what the last `make install` put there
	@[ -r $(INSTALLED) ] || { echo "make uninstall: there is no $(INSTALLED), which make install writes:" \
	    "nothing was installed from this tree, or its list is gone" >&2; exit 1; }
	@set -e; while IFS= read -r file || [ "$$file" ]; do rm -f "$(DESTDIR)$$file"; done < $(INSTALLED)
	@sed 's|/[^/]*$$||' $(INSTALLED) | sort -ru | while IFS= read -r folder; do \
	    while case $$folder in */bloomery|*/bloomery/*) rmdir "$(DESTDIR)$$folder" 2>/dev/null ;; *) false ;; esac; \
	    do folder=$${folder%/*}; done; done
	@echo "removed $$(sed -n '$$=' $(INSTALLED)) files, from $(DESTDIR)$$(head -n 1 $(INSTALLED)) on"
	@rm -f $(INSTALLED)

python: $(STAMP)-build $(STAMP)-python ## the Python package: wheel and sdist, in build/python
	python3 python/backend.py $(abspath $(BUILD))/python

bench-python: build $(STAMP)-test $(STAMP)-bench-python ## the Python package beside a set, the C call and flor
	BLM_BUILD=$(abspath $(BUILD)) python3 tests/python/run.py build
	BLM_BUILD=$(abspath $(BUILD)) PYTHONPATH=$(abspath $(BUILD))/python/site /usr/bin/python3 bench/python.py

web: $(STAMP)-web ## the page, in web/dist, and the npm package, in build/web/pkg
	web/build $(BUILD)/web web/dist

bench-web: $(STAMP)-web ## the npm package beside bloom-filters and bloomfilter
	web/build $(BUILD)/web
	cd $(BUILD)/web && npm install --no-package-lock --no-save --no-audit --no-fund --silent --prefix bench \
	    bloom-filters@3.0.4 bloomfilter@1.1.0
	node bench/web.mjs $(abspath $(BUILD))/web

amalgamation: $(BUILD)/CMakeCache.txt ## write build/amalgamation/bloomery.h and bloomery.c
	$(BUILDS) $(BUILD) --target bloomery_amalgamation

dist: $(STAMP)-web ## the source tarball with the page, and its checksum, in build/release
	$(MAKE) web
	tools/release dist $(BUILD)/release

deb: dist $(STAMP)-deb ## Debian packages, built twice, compared, and used in a new Debian (root)
	tools/release deb $(BUILD)/release
	tools/release chroot $(BUILD)/release

static: $(STAMP)-static ## the command line as one file that needs nothing, in build/release
	tools/release static $(BUILD)/release

format: ## clang-format what differs from .clang-format
	git ls-files '*.c' '*.h' | xargs clang-format -i

clean: ## remove the build directory
	rm -rf $(BUILD)
