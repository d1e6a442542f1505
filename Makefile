# SPDX-License-Identifier: Apache-2.0
# Short names for what CMake, ctest and the scripts do. `make demo` and `make test` set everything up themselves.
MAKEFLAGS += --no-print-directory
RELEASE := build/release

.PHONY: help setup build build-all demo test walkthrough bench-cluster bench-idle bench-failover bench-doors bench-engine bench-limits \
  bench-kueue bench-appwrapper bench-queue bench-packing bench-simulate ui-screenshots bench-ui differential-kueue oracle oracle-soak soak same-log exact negative chaos fuzz asan tsan tidy long format clean \
  docs-check reference package package-check

help:
	@echo 'make demo            a gang that starts whole and one that waits, on the embedded cluster, narrated'
	@echo 'make build           the release binary at bin/tutti'
	@echo 'make test            everything: unit tests, scenarios, layers, walkthroughs on both clusters'
	@echo 'make walkthrough NAME= one walkthrough on the embedded cluster, with REAL=1 on the real control plane: $(notdir $(basename $(wildcard tests/walkthroughs/*.yaml)))'
	@echo 'make ui-screenshots  a picture of each view of the console, in build/ui (installs a Chromium)'
	@echo
	@echo 'make docs-check      links, plain words and short sentences of the documents, the reference, and each command in them on tutti sim'
	@echo 'make reference       writes the pages of docs/reference that follow from the program and the manifests'
	@echo 'make package         build/package: a Debian package and a tarball; package-check installs the first into a bare Debian 12'
	@echo
	@echo 'make soak STEPS=     seeds of hostile worlds until so many steps are done; a failing one is shrunk and can be replayed'
	@echo 'make same-log        the same seeds by GCC, by Clang and under AddressSanitizer: one decision log (installs clang 19)'
	@echo 'make negative        planted bugs, and which invariant finds each'
	@echo 'make chaos           gangs come and go while all that can be killed is killed, then the invariants (T= seconds, ROUNDS=, SEED=)'
	@echo 'make exact           gangs and streams of gangs beside an exact solver (GANGS= STREAMS= VICTIMS=)'
	@echo 'make oracle          3,000 questions put to kube-scheduler and to Tutti: differences, coverage by plugin; oracle-soak: 200,000'
	@echo 'make differential-kueue   the real Kueue and Tutti play the same scripts, and a cluster moves from one to the other and back'
	@echo 'make fuzz T=60       libFuzzer for T seconds on each target: runs, crashes (installs clang 19)'
	@echo 'make asan, make tsan the tests but for the walkthroughs, under AddressSanitizer and UBSan, and under ThreadSanitizer'
	@echo
	@echo 'make long            all that takes hours, each to its end, and a table: $(shell scripts/long --list | paste -sd " ") (JOBS=)'
	@echo
	@echo 'make bench-cluster   5,000 nodes and waves of 1,000 pods on the real control plane, beside kube-scheduler (CASE= NODES= PODS= REPEAT=); CASE=preemption: a full cluster'
	@echo 'make bench-kueue     admissions, CPU and writes beside the real Kueue, on the real control plane (JOBS=)'
	@echo 'make bench-appwrapper  dispatches of AppWrappers beside raw creates, on the real control plane (WRAPPERS=, ROOM=)'
	@echo 'make bench-idle      what 10,000 waiting gangs cost while nothing happens, on the real control plane'
	@echo 'make bench-failover  the leader is killed at 5,000 nodes and 20,000 pods: until the next bind; and a cold start'
	@echo 'make bench-doors     what it costs to read /apis/tutti/v1/: lists, questions of what-if, watches; and binds beside all of it'
	@echo 'make bench-engine    what a decision costs, without an API server: a table, and build/bench-engine/*.csv and scale.svg'
	@echo 'make bench-queue     what 1,000 queues with 50,000 waiting gangs cost when 1,000 finish a second'
	@echo 'make bench-limits    what one object as large as the API server takes costs everybody else'
	@echo 'make bench-simulate  what tutti simulate takes on clusters of several sizes, and on the shape of a public trace (ROW=)'
	@echo 'make bench-ui        what the console costs a browser with 5,000 nodes and 50,000 gangs (NODES=)'
	@echo 'make bench-packing   what large gangs can still start, by the score that placed the small ones'
	@echo
	@echo 'make tidy            clang-tidy and -Wthread-safety over scheduler/, plugins/ and sim/, and the format (installs clang 19)'
	@echo 'make format          clang-format over all sources'
	@echo 'make clean           removes build/ and bin/'

setup:
	@scripts/setup

$(RELEASE)/build.ninja: CMakePresets.json | setup
	cmake --preset release

build: $(RELEASE)/build.ninja
	cmake --build --preset release --target tutti
	@install -D -m 755 $(RELEASE)/scheduler/app/tutti bin/tutti

build-all: $(RELEASE)/build.ninja
	cmake --build --preset release
	@install -D -m 755 $(RELEASE)/scheduler/app/tutti bin/tutti

demo: build
	bin/tutti demo

test:
	@scripts/setup --controlplane
	@$(MAKE) build-all
	@tests/controlplane/build
	@tests/chart/build
	@scripts/test

docs-check:
	@scripts/setup --controlplane
	@$(MAKE) build
	@tests/controlplane/build kubectl
	@tests/chart/build
	tests/docs/check.py
	scripts/reference --check bin/tutti
	tests/docs/commands_test.py bin/tutti

reference: build
	scripts/reference bin/tutti

package: build
	scripts/package bin/tutti build/package

package-check: package
	tests/package/debian build/package/*.deb

walkthrough:
	@test -n '$(NAME)' || { echo 'which one? make walkthrough NAME=... [REAL=1], where NAME is one of:'; tests/walkthroughs/run --list; exit 2; }
	@scripts/setup $(if $(REAL),--controlplane)
	@$(MAKE) build
	tests/walkthroughs/run --on $(if $(REAL),real,sim) $(NAME)

ui-screenshots:
	@scripts/setup --browser
	@tests/ui/screenshots.py build/ui

bench-ui:
	@scripts/setup --browser
	tests/ui/measure.py $(if $(NODES),--nodes $(NODES))

bench-cluster:
	@scripts/setup --controlplane
	cmake --preset release -DTUTTI_BENCHMARKS=ON
	cmake --build --preset release --target tutti raw_binder grpc_call
	@install -D -m 755 $(RELEASE)/scheduler/app/tutti bin/tutti
	CASE='$(CASE)' benchmarks/cluster/$(if $(filter preemption,$(CASE)),preemption,run)

bench-idle:
	@scripts/setup --controlplane
	@$(MAKE) build
	benchmarks/cluster/idle

bench-failover:
	@scripts/setup --controlplane
	@$(MAKE) build
	benchmarks/cluster/failover

chaos:
	@scripts/setup --controlplane
	@$(MAKE) build
	@T='$(T)' ROUNDS='$(ROUNDS)' SEED='$(SEED)' tests/chaos/run

bench-engine: setup
	cmake --preset release -DTUTTI_BENCHMARKS=ON
	cmake --build --preset release --target engine_bench
	@mkdir -p build/bench-engine
	$(RELEASE)/benchmarks/engine_bench --out build/bench-engine

bench-simulate: build
	benchmarks/simulate/run.py $(RELEASE)/scheduler/app/tutti $(ROW)

bench-doors: build
	benchmarks/doors/run.py $(RELEASE)/scheduler/app/tutti
	$(MAKE) bench-cluster CASE=doors REPEAT=$(or $(REPEAT),1)

bench-queue: setup
	cmake --preset release -DTUTTI_BENCHMARKS=ON
	cmake --build --preset release --target queue_bench
	$(RELEASE)/benchmarks/queue_bench

bench-limits: setup
	cmake --preset release -DTUTTI_BENCHMARKS=ON
	cmake --build --preset release --target limits
	$(RELEASE)/benchmarks/limits

QUESTIONS ?= 3000
ORACLE_SEED ?= 1
oracle oracle-soak: $(RELEASE)/build.ninja
	@scripts/setup --controlplane
	@cmake --build --preset release --target oracle_answer
	tests/oracle/run --answer $(CURDIR)/$(RELEASE)/tests/oracle/oracle_answer --seed $(ORACLE_SEED) --questions $(QUESTIONS)

oracle-soak: QUESTIONS = 200000

bench-appwrapper: build
	@scripts/setup --controlplane
	@tests/controlplane/build
	benchmarks/appwrapper/run --wrappers $(or $(WRAPPERS),2000) --room $(or $(ROOM),500)

bench-kueue: build
	@scripts/setup --controlplane
	@tests/controlplane/build
	@tests/controlplane/build kueue
	benchmarks/kueue/run --jobs $(or $(JOBS),1000)

differential-kueue: build
	@scripts/setup --controlplane
	@tests/controlplane/build
	@tests/controlplane/build kueue
	tests/differential/kueue/run
	tests/differential/kueue/takeover

STEPS ?= 1600000
soak: $(RELEASE)/build.ninja
	cmake --build --preset release --target soak
	$(RELEASE)/tests/simulation/soak --total $(STEPS)

same-log: $(RELEASE)/build.ninja
	@scripts/setup --fuzz
	@for preset in release clang asan; do \
	  cmake --preset $$preset && cmake --build --preset $$preset --target soak || exit; done
	tests/simulation/same-log build/release/tests/simulation/soak build/clang/tests/simulation/soak build/asan/tests/simulation/soak

bench-packing: setup
	cmake --preset release -DTUTTI_BENCHMARKS=ON
	cmake --build --preset release --target packing
	$(RELEASE)/benchmarks/packing

GANGS ?= 5000
STREAMS ?= 200
VICTIMS ?= 1000
exact: $(RELEASE)/build.ninja
	cmake --build --preset release --target exact
	$(RELEASE)/tests/exact/exact --gangs $(GANGS) --streams $(STREAMS) --victims $(VICTIMS)

negative: $(RELEASE)/build.ninja
	cmake --build --preset release --target negative
	$(RELEASE)/tests/negative/negative

fuzz: T ?= 60
fuzz:
	@scripts/setup --fuzz
	cmake --preset fuzz
	cmake --build --preset fuzz --target $(patsubst tests/fuzz/%_target.cc,fuzz_%,$(wildcard tests/fuzz/*_target.cc))
	tests/fuzz/run --seconds $(T)

asan tsan:
	@scripts/setup --controlplane
	@$(MAKE) build
	@tests/controlplane/build
	@tests/chart/build
	cmake --preset $@
	cmake --build --preset $@
	ctest --preset $@

tidy: $(RELEASE)/build.ninja
	@scripts/setup --tidy
	git ls-files '*.h' '*.cc' | xargs clang-format-19 --dry-run --Werror
	scripts/tidy

long:
	@scripts/long $(JOBS)

format:
	@scripts/setup --tidy
	@git ls-files '*.h' '*.cc' | xargs clang-format-19 -i

clean:
	rm -rf build bin
