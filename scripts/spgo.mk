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
#   make spgo-collect    build the program without the profile, run and sample it
#   make spgo-update     put the samples into the profile, which outlives builds
#   make spgo-check      fail if the profile is thin, covers little, or is of old code
#   make spgo-build      build the program again with the profile
#   make spgo            all four
#
# The goal of a plain make stays what it is without this file.
#
# In $(SPGO_DIR), the database (.spd) and the profile can be committed: counts
# carry over to later builds function by function, and old ones lose weight.
#
# Whether the code is old shows a build of the present source as it would be
# sampled. If the program was built in another way before, spgo-check builds it
# all over and puts the program back; object files are then without the profile.

spgo.kinds := clang gcc go bolt
SPGO_KIND ?= clang
ifeq ($(filter $(SPGO_KIND),$(spgo.kinds)),)
$(error SPGO_KIND is "$(SPGO_KIND)", and can be one of: $(spgo.kinds))
endif
ifeq ($(SPGO_BIN),)
$(error SPGO_BIN has to name the program, before spgo.mk is included)
endif

SPGO_RUN  ?= ./$(SPGO_BIN)
# Where the profile is kept.
SPGO_DIR  ?= .spgo
# Prefix of the tools' names, such as /opt/spgo/bin/; without one the folder
# where make build puts them, or else the path.
spgo.bin   := $(dir $(lastword $(MAKEFILE_LIST)))../bin/
SPGO_TOOLS ?= $(if $(wildcard $(spgo.bin)sptcollect),$(spgo.bin))
# BOLT; without a name the newest that is installed.
SPGO_BOLT ?= $(firstword $(foreach name,llvm-bolt $(addprefix llvm-bolt-,22 21 20 19 18 17 16 15 14),$(shell command -v $(name) 2>/dev/null)))
# Further options of sptcollect, such as --count=100003
SPGO_SAMPLING ?=
# Samples of other machines (SPT), added to those of spgo-collect.
SPGO_MORE ?=
# What is built again by spgo-build.
SPGO_GOAL ?= $(SPGO_BIN)
# Gates of spgo-check: per cent of the blocks, samples (branches, where stacks were recorded), samples a block of the
# hot functions (10 is good), per cent of the weight.
SPGO_MIN_COVERAGE ?= 0
SPGO_MIN_SAMPLES  ?= 100
SPGO_MIN_DENSITY  ?= 0.1
SPGO_MIN_MATCH    ?= 90

spgo.goal    := $(.DEFAULT_GOAL)
spgo.name    := $(notdir $(SPGO_BIN))
spgo.spd     := $(SPGO_DIR)/$(spgo.name).spd
spgo.spt     := $(SPGO_DIR)/$(spgo.name).spt
spgo.sampled := $(SPGO_DIR)/sampled/$(spgo.name)
# Databases without counts: of the program that was sampled, and of the present one.
spgo.fresh   := $(SPGO_DIR)/$(spgo.name).fresh.spd
spgo.now     := $(SPGO_DIR)/$(spgo.name).now.spd
# The program while spgo-check builds another one.
spgo.kept    := $(SPGO_DIR)/$(spgo.name).kept
# With which flags all was built, while it is without the profile.
spgo.plain   := $(SPGO_DIR)/$(spgo.name).plain
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

spgo.flags   := $(SPGO_KIND) $(SPGO_CFLAGS) $(SPGO_LDFLAGS) $(SPGO_GOFLAGS)
spgo.isplain := echo '$(spgo.flags)' | cmp -s - $(spgo.plain)

.PHONY: spgo spgo-collect spgo-update spgo-check spgo-build spgo-plain spgo-ready

spgo: spgo-ready
	@$(MAKE) --no-print-directory spgo-collect
	@$(MAKE) --no-print-directory spgo-update
	@$(MAKE) --no-print-directory spgo-check
	@$(MAKE) --no-print-directory spgo-build

# Fail before anything is sampled if a tool is missing.
spgo-ready:
	@mkdir -p $(SPGO_DIR)
	@for tool in sptcollect spdconvert spddump; do command -v $(SPGO_TOOLS)$$tool >/dev/null || { \
		echo "spgo.mk: there is no $(SPGO_TOOLS)$$tool: make build of the toolkit makes it; SPGO_TOOLS=/folder/bin/ says where it is" >&2; exit 1; }; done
ifeq ($(SPGO_KIND),bolt)
	@command -v "$(SPGO_BOLT)" >/dev/null || { \
		echo "spgo.mk: there is no llvm-bolt, with or without a version behind the name: install it (Debian: bolt-19), or set SPGO_BOLT=/folder/llvm-bolt" >&2; exit 1; }
endif

# The program without the profile: what changed, if that is how all was built
# before, else all of it.
spgo-plain: spgo-ready
	@if $(spgo.isplain); then $(MAKE) --no-print-directory $(SPGO_BIN); \
	else $(MAKE) --no-print-directory --always-make $(SPGO_BIN); fi
	@echo '$(spgo.flags)' >$(spgo.plain)

# What was sampled is kept, since the profile is made of its debug information.
spgo-collect: spgo-plain
	$(SPGO_TOOLS)sptcollect $(SPGO_SAMPLING) --binary=$(spgo.name) -o $(spgo.spt) -- $(SPGO_RUN)
	@mkdir -p $(dir $(spgo.sampled))
	@for part in "" .dwp .debug; do rm -f $(spgo.sampled)$$part; \
		test ! -f $(SPGO_BIN)$$part || cp -p $(SPGO_BIN)$$part $(spgo.sampled)$$part || exit 1; done

# The database of the build that was sampled, with the counts of older builds
# where their functions are the same; then the new samples.
spgo-update: spgo-ready
	@test -f $(spgo.sampled) || { echo "spgo.mk: nothing was sampled yet: make spgo-collect" >&2; exit 1; }
	@rm -f $(spgo.fresh)
	$(SPGO_TOOLS)spdconvert -q /build:$(spgo.sampled) $(spgo.fresh)
	@test -f $(spgo.spd) || cp $(spgo.fresh) $(spgo.spd)
	$(SPGO_TOOLS)spdconvert -q /merge /retire:0 $(spgo.spd) $(spgo.spd) $(spgo.fresh)
	$(SPGO_TOOLS)spdconvert $(spgo.spd) $(spgo.spt) $(SPGO_MORE)
	$(SPGO_TOOLS)spdconvert /export:$(spgo.format.$(SPGO_KIND)) --image $(spgo.sampled) $(spgo.spd) $(spgo.profile)

# What there is of the profile, how many samples the last update had, and how
# much of the profile fits the source as it is now. Samples are not committed,
# so that there may be none.
spgo-check: spgo-ready
	@test -f $(spgo.spd) || { echo "spgo.mk: there is no profile yet: make spgo-collect spgo-update" >&2; exit 1; }
	@if test -f $(spgo.spt) && test -f $(spgo.fresh); then \
		$(SPGO_TOOLS)spddump /doctor $(spgo.spd) $(spgo.spt) $(SPGO_MORE) && \
		$(SPGO_TOOLS)spdconvert /summary --min-samples=$(SPGO_MIN_SAMPLES) --min-density=$(SPGO_MIN_DENSITY) $(spgo.fresh) $(spgo.spt) $(SPGO_MORE); \
	else echo "spgo.mk: no samples are here, only the profile is judged"; fi
	$(SPGO_TOOLS)spdconvert /summary --min-coverage=$(SPGO_MIN_COVERAGE) $(spgo.spd)
	@rm -f $(spgo.now)
	@if test ! -f $(SPGO_BIN) || $(spgo.isplain); then $(MAKE) --no-print-directory spgo-plain || exit; \
	else \
		trap 'mv -f $(spgo.kept) $(SPGO_BIN); touch $(SPGO_BIN)' EXIT; trap 'exit 1' HUP INT TERM; \
		cp -p $(SPGO_BIN) $(spgo.kept) && $(MAKE) --no-print-directory --always-make $(SPGO_BIN) || exit; \
	fi; \
	$(SPGO_TOOLS)spdconvert -q /build:$(SPGO_BIN) $(spgo.now) >/dev/null
	$(SPGO_TOOLS)spddump /stale:$(spgo.now) --fail-under=$(SPGO_MIN_MATCH) $(spgo.spd)

ifeq ($(SPGO_KIND),bolt)
spgo-build: spgo-plain
	$(SPGO_BOLT) $(SPGO_BIN) -o $(SPGO_BIN).bolt -data $(spgo.profile) -reorder-blocks=ext-tsp -reorder-functions=cdsort -split-functions -split-all-cold -dyno-stats
else
spgo-build: spgo-ready
	@test -f $(spgo.profile) || { echo "spgo.mk: there is no $(spgo.profile) yet: make spgo-collect spgo-update" >&2; exit 1; }
	@rm -f $(spgo.plain)
	$(MAKE) --no-print-directory --always-make SPGO_USE=yes $(SPGO_GOAL)
endif

.DEFAULT_GOAL := $(spgo.goal)
