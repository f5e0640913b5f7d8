# Collect a profile of a program and build it again with the profile.
#
#   SPGO_BIN  := app                      the program, built with $(SPGO_CFLAGS) or $(SPGO_GOFLAGS)
#   SPGO_KIND := clang|gcc|go|bolt        who uses the profile
#   SPGO_RUN  := ./app input.txt          a typical run                     [./$(SPGO_BIN)]
#   include spgo.mk
#
#   app: app.c
#           clang -O2 $(SPGO_CFLAGS) $(SPGO_LDFLAGS) -o $@ $<
#
#   make spgo-collect    run the program and sample it
#   make spgo-update     put the samples into the profile, which outlives builds
#   make spgo-check      fail if the profile is thin, covers little, or is of old code
#   make spgo-build      build the program again with the profile
#   make spgo            all four
#
# The profile database is kept in $(SPGO_DIR) and can be committed: counts carry
# over to later builds function by function, and old ones lose weight.

SPGO_KIND ?= clang
SPGO_RUN  ?= ./$(SPGO_BIN)
# Where the profile is kept.
SPGO_DIR  ?= .spgo
# Prefix of the tools' names, such as /opt/spgo/bin/
SPGO_TOOLS ?=
# Further options of sptcollect, such as --count=100003
SPGO_SAMPLING ?=
# Samples of other machines (SPT), added to those of spgo-collect.
SPGO_MORE ?=
# What is built again by spgo-build.
SPGO_GOAL ?= $(SPGO_BIN)
# Gates of spgo-check: per cent of the blocks, samples (branches, where stacks were recorded), per cent of the weight.
SPGO_MIN_COVERAGE ?= 0
SPGO_MIN_SAMPLES  ?= 100
SPGO_MIN_MATCH    ?= 90

spgo.name    := $(notdir $(SPGO_BIN))
spgo.spd     := $(SPGO_DIR)/$(spgo.name).spd
spgo.fresh   := $(SPGO_DIR)/$(spgo.name).fresh.spd
spgo.spt     := $(SPGO_DIR)/$(spgo.name).spt
spgo.profile := $(SPGO_DIR)/$(spgo.name).$(SPGO_KIND).profile

# What the build takes from the profile, once there is one.
spgo.use.clang := -fprofile-sample-use=$(spgo.profile)
spgo.use.gcc   := -fauto-profile=$(spgo.profile)
spgo.use.go    := -pgo=$(abspath $(spgo.profile))
spgo.format.clang := llvm-binary
spgo.format.gcc   := gcov
spgo.format.go    := pprof
spgo.format.bolt  := bolt

# A profile is about lines, so the build that is sampled needs debug
# information; BOLT needs relocations. With frame pointers, call chains show
# where calls through pointers lead, which branch stacks do by themselves.
SPGO_CFLAGS  :=
SPGO_LDFLAGS :=
SPGO_GOFLAGS := -pgo=off
ifeq ($(SPGO_KIND),clang)
SPGO_CFLAGS += -g -fdebug-info-for-profiling -funique-internal-linkage-names
endif
ifeq ($(SPGO_KIND),gcc)
SPGO_CFLAGS += -g
endif
ifeq ($(SPGO_KIND),bolt)
SPGO_LDFLAGS += -Wl,--emit-relocs
endif
ifeq ($(SPGO_USE),yes)
ifeq ($(SPGO_KIND),go)
SPGO_GOFLAGS := $(spgo.use.go)
else
SPGO_CFLAGS += $(spgo.use.$(SPGO_KIND))
endif
else ifneq ($(filter clang gcc,$(SPGO_KIND)),)
SPGO_CFLAGS += -fno-omit-frame-pointer
endif

.PHONY: spgo spgo-collect spgo-update spgo-check spgo-build

spgo:
	@$(MAKE) --no-print-directory spgo-collect
	@$(MAKE) --no-print-directory spgo-update
	@$(MAKE) --no-print-directory spgo-check
	@$(MAKE) --no-print-directory spgo-build

spgo-collect: $(SPGO_BIN)
	@mkdir -p $(SPGO_DIR)
	$(SPGO_TOOLS)sptcollect $(SPGO_SAMPLING) --binary=$(spgo.name) -o $(spgo.spt) -- $(SPGO_RUN)

# The database of the build that was sampled, with the counts of older builds
# where their functions are the same; then the new samples.
spgo-update: $(SPGO_BIN)
	@mkdir -p $(SPGO_DIR)
	@rm -f $(spgo.fresh)
	$(SPGO_TOOLS)spdconvert -q /build:$(SPGO_BIN) $(spgo.fresh)
	@test -f $(spgo.spd) || cp $(spgo.fresh) $(spgo.spd)
	$(SPGO_TOOLS)spdconvert -q /merge /retire:0 $(spgo.spd) $(spgo.spd) $(spgo.fresh)
	$(SPGO_TOOLS)spdconvert $(spgo.spd) $(spgo.spt) $(SPGO_MORE)
	$(SPGO_TOOLS)spdconvert /export:$(spgo.format.$(SPGO_KIND)) --image $(SPGO_BIN) $(spgo.spd) $(spgo.profile)

spgo-check:
	$(SPGO_TOOLS)spddump /doctor $(spgo.spd) $(spgo.spt)
	$(SPGO_TOOLS)spddump /stale:$(spgo.fresh) --fail-under=$(SPGO_MIN_MATCH) $(spgo.spd)
	$(SPGO_TOOLS)spdconvert /summary --min-coverage=$(SPGO_MIN_COVERAGE) --min-samples=$(SPGO_MIN_SAMPLES) $(spgo.spd) $(spgo.spt)

ifeq ($(SPGO_KIND),bolt)
spgo-build: $(SPGO_BIN)
	llvm-bolt $(SPGO_BIN) -o $(SPGO_BIN).bolt -data $(spgo.profile) -reorder-blocks=ext-tsp -reorder-functions=cdsort -split-functions -split-all-cold -dyno-stats
else
spgo-build:
	$(MAKE) --no-print-directory --always-make SPGO_USE=yes $(SPGO_GOAL)
endif
