# membrane: see README.md. Everything that is built lands in build/.
#
#   make            build/bin/membrane, membrane-gate, membrane-reader.so,
#                   membrane-watch, membrane-view
#   make run        install what is missing, build, demo; with Docker, its images
#   make check      install what the tests need, run all of them
#   make test       unit tests and golden cases only (no root, no Docker)
#   make check-all  and what takes half an hour: a fault at every third step of
#                   a session, 200 sessions in a row and 50 at once, and what of
#                   the code the live programs run
#   make coverage   the tests under clang's sanitizers, and what of the code they
#                   run, folder by folder; LIVE=1: without sanitizers, and with
#                   what is run as root in namespaces, too
#   make guest      the tracer, init and seal on Debian's own kernels, emulated;
#                   ARCH=arm64
#   make stock      whole sessions on stock Debian hosts, emulated
#   make install    PREFIX=/usr/local DESTDIR=
#   make deb        Debian packages, in build/deb

SHELL := /bin/bash
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

PREFIX ?= /usr/local
# The only place that says it; whatever else names a version is held against it
# by tests/check/version.
VERSION := 0.1.0

# Another machine's programs: make ARCH=arm64, with what image/setup.sh arm64
# installs.
THIS := $(patsubst x86_64,amd64,$(patsubst aarch64,arm64,$(shell uname -m)))
ifneq ($(origin ARCH),command line)
ARCH := $(THIS)
endif
ifneq ($(ARCH),$(THIS))
B := build/$(ARCH)
CC := aarch64-linux-gnu-gcc --sysroot=$(B)/root
endif

# B is where a build lives; `make asan` is the same build elsewhere.
B ?= build
BIN := $(B)/bin
GEN := build/gen

CC ?= gcc
ifeq ($(origin CC),default)
CC := gcc
endif
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wundef -Wvla -Wwrite-strings -Wcast-qual -Wformat=2 -Wconversion \
	-Wno-sign-conversion -Werror=switch
OPT ?= -O2 -g
HARDEN := -fstack-protector-strong -fPIE
LDHARDEN := -pie -Wl,-z,relro,-z,now
WATCH_LINK := -static-pie -Wl,-z,relro,-z,now
# Tests are many programs of much the same: what links them quickly counts.
TEST_LINKER := $(if $(shell command -v ld.lld),-fuse-ld=lld)
ifneq ($(SAN)$(COVERAGE),)
OPT := -O1 -g1
HARDEN := -fPIE
LDHARDEN = -pie
WATCH_LINK = $(LDHARDEN)
ifeq ($(SAN),1)
HARDEN += -fno-omit-frame-pointer -fsanitize=address,undefined \
	-fno-sanitize-recover=all -DARENA_MALLOC
LDHARDEN += -fsanitize=address,undefined
endif
ifeq ($(COVERAGE),1)
# Counted in the source, before anything is optimised: tests/check/coverage.
# A program has a file for its counts, which its processes map: what one did is
# in there however it ends, and whoever it has become.
WARN := -w
COUNTED := -fprofile-instr-generate
HARDEN += $(COUNTED) -fcoverage-mapping -mllvm \
	-runtime-counter-relocation -DCOVERAGE
COUNTS = $(CURDIR)/$(B)/counts/%c%m-$(subst /,-,$(@:$(B)/%=%)).profraw
LDHARDEN += -fPIE $(COUNTED) -DCOUNTS_FILE='"$(COUNTS)"' \
	tests/check/coverage.c
# Fuzz targets may be of the same objects. What libFuzzer would know of each
# comparison doubles what tests take: those of `make fuzz` have it.
HARDEN += $(if $(SAN),-fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp)
endif
ifeq ($(FUZZ),1)
WARN := -w
HARDEN += -fsanitize=fuzzer-no-link
endif
else
HARDEN += -D_FORTIFY_SOURCE=3
endif
CPPFLAGS := -I. -I$(GEN) -D_GNU_SOURCE -DMEMBRANE_PREFIX='"$(PREFIX)"'
CFLAGS := -std=gnu17 $(OPT) $(WARN) $(HARDEN)

LIBS_MEMBRANE := -lyajl -lz -lyaml -lcjson -lidn2 -lnettle -lseccomp -lmnl
# Static: its image holds nothing else.
# libelf compresses by zstd from Debian 13 on; where it does not, none is here.
LIBS_WATCH := -lbpf -lelf -lz -ldeflate -lyajl_s -lseccomp -lresolv \
	$(if $(findstring /,$(shell $(CC) -print-file-name=libzstd.a)),-lzstd)
LIBS_UNPACK := -larchive -lcjson -lnettle -lseccomp
LIBS_VIEW := -lfuse3 -lcjson -lpthread
LIBS_GATE := -lnftables -lnftnl -lmnl -lldns -lcjson -lcap -lssl -lcrypto \
	-lnettle

# --- sources ---------------------------------------------------------------

BASE_SRC := $(wildcard compiler/base/*.c compiler/base/*/*.c)
# Rooms, and the rooms inside them.
HOST_SRC := $(wildcard compiler/*.c compiler/*/*.c compiler/*/*/*.c \
	runtime/broker/*.c runtime/forward/*.c runtime/launch/*.c \
	runtime/launch/*/*.c runtime/gate/plan/names.c)
# Of the broker who asks it.
GATE_SRC := $(BASE_SRC) $(wildcard runtime/broker/ask.c runtime/forward/*.c \
	runtime/gate/*.c runtime/gate/*/*.c) $(addprefix compiler/plan/,manifest.c \
	read.c write.c)
READER_SRC := $(wildcard runtime/reader/*.c) runtime/broker/ask.c \
	compiler/base/sys/fdpass.c
WATCH_SRC := $(addprefix compiler/base/,arena.c buf.c err.c str.c \
	sys/clock.c sys/fdpass.c sys/fileio.c sys/pathwalk.c sys/signals.c) \
	$(wildcard runtime/watch/*.c runtime/watch/asked/*.c)
UNPACK_SRC := $(addprefix compiler/base/,arena.c ascii.c buf.c err.c sha256.c \
	str.c sys/fileio.c sys/landlock.c sys/pathwalk.c) \
	$(wildcard runtime/unpack/*.c)
VIEW_SRC := $(addprefix compiler/base/,arena.c buf.c err.c gitignore.c \
	pattern.c reason.c str.c sys/clock.c sys/fileio.c sys/pathwalk.c \
	sys/signals.c) compiler/plan/mountsplan.c $(wildcard runtime/view/*.c \
	runtime/view/*/*.c)
GRAMMARS := $(basename $(notdir $(wildcard grammar/*.y)))
GEN_SRC := $(foreach g,$(GRAMMARS),$(GEN)/grammar/$g.tab.c \
	$(GEN)/grammar/$g.lex.c)
GEN_HDR := $(foreach g,$(GRAMMARS),$(GEN)/grammar/$g.tab.h \
	$(GEN)/grammar/$g.lex.h) $(GEN)/version.h
# All subcommands: each has a man page.
VERBS := $(shell awk -F'"' '/^COMMAND/ { print $$2 }' \
	compiler/cli/frame/commands.def)
GEN_INC := $(if $(wildcard grammar/tracee-events.tsv),\
	$(GEN)/grammar/tracee-events.inc $(GEN)/grammar/native-events.inc) \
	$(GEN)/compiler/emit/gate/gate.lua.inc \
	$(GEN)/compiler/emit/gate/tokens.lua.inc \
	$(GEN)/policies/forges/known_hosts.inc \
	$(GEN)/image/gate/protocols.inc \
	$(addprefix $(GEN)/,$(addsuffix .inc,\
		$(wildcard compiler/emit/*.cfg compiler/emit/*/*.cfg \
			compiler/emit/*/*.sh compiler/emit/*/*.yaml \
			compiler/cli/complete.*sh \
			compiler/cli/page/*.css \
			compiler/cli/frame/*.txt))) \
	$(GEN)/doc/man/pages.inc

COMMA := ,
obj = $(patsubst %.c,$(B)/obj/%.o,$(patsubst $(GEN)/%,gen/%,$1))
HOST_OBJ := $(call obj,$(HOST_SRC) $(GEN_SRC))
GATE_OBJ := $(call obj,$(GATE_SRC))
WATCH_OBJ := $(call obj,$(WATCH_SRC))
UNPACK_OBJ := $(call obj,$(UNPACK_SRC))
VIEW_OBJ := $(call obj,$(VIEW_SRC))
VIEW_LIB_OBJ := $(filter-out $(B)/obj/runtime/view/main.o,$(VIEW_OBJ))
WATCH_LIB_OBJ := $(filter-out $(B)/obj/runtime/watch/main.o,$(WATCH_OBJ))
WATCH_BPF := $(B)/obj/runtime/watch/kernel/watch.bpf.o
HOST_LIB_OBJ := $(filter-out $(B)/obj/compiler/cli/main.o,$(HOST_OBJ))
GATE_LIB_OBJ := $(sort $(filter-out $(B)/obj/runtime/gate/supervisor.o, \
	$(GATE_OBJ)) $(call obj,$(filter-out %/interpose.c,$(READER_SRC))))

# Unit tests and oracles: one program per file. Those of the gate (gate/, and
# gate_*.c of the oracles) link with its objects, those of the tracer with its.
UNIT_SRC := $(wildcard tests/unit/*/*.c tests/oracle/*.c)
UNIT_GATE := $(filter $(B)/%,$(patsubst tests/%.c,$(B)/tests/%,\
	$(wildcard tests/unit/gate/*.c tests/oracle/gate_*.c)))
UNIT_WATCH := $(patsubst tests/%.c,$(B)/tests/%,\
	$(wildcard tests/unit/watch/*.c))
UNIT_VIEW := $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/unit/view/*.c))
UNIT_HOST := $(filter-out $(UNIT_GATE) $(UNIT_WATCH) $(UNIT_VIEW),\
	$(patsubst tests/%.c,$(B)/tests/%,$(UNIT_SRC)))

# Fuzz targets: likewise, of a build with sanitizers.
FUZZ_GATE := $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/fuzz/gate_*.c))
FUZZ_VIEW := $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/fuzz/view_*.c))
FUZZ_HOST := $(filter-out $(FUZZ_GATE) $(FUZZ_VIEW),\
	$(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/fuzz/*.c)))

# --- build -----------------------------------------------------------------

.PHONY: all units version generated
all: $(BIN)/membrane $(BIN)/membrane-gate $(BIN)/membrane-watch \
	$(BIN)/membrane-view $(BIN)/membrane-reader.so $(BIN)/membrane-unpack
units: $(UNIT_HOST) $(UNIT_GATE) $(UNIT_WATCH) $(UNIT_VIEW)

version:
	@echo $(VERSION)

generated: $(GEN_HDR) $(GEN_INC)

$(BIN)/membrane: $(HOST_OBJ)
	@mkdir -p $(@D)
	$(CC) $(LDHARDEN) -o $@ $(HOST_OBJ) $(LIBS_MEMBRANE)

$(BIN)/membrane-gate: $(GATE_OBJ)
	@mkdir -p $(@D)
	$(CC) $(LDHARDEN) -o $@ $(GATE_OBJ) $(LIBS_GATE)

$(BIN)/membrane-view: $(VIEW_OBJ)
	@mkdir -p $(@D)
	$(CC) $(LDHARDEN) -o $@ $(VIEW_OBJ) $(LIBS_VIEW)

$(BIN)/membrane-unpack: $(UNPACK_OBJ)
	@mkdir -p $(@D)
	$(CC) $(LDHARDEN) -o $@ $(UNPACK_OBJ) $(LIBS_UNPACK)

# In HAProxy's process: no sanitizer, and nothing of HAProxy's names, which
# would come before ours.
$(BIN)/membrane-reader.so: $(READER_SRC) $(wildcard runtime/reader/*.h \
		runtime/reader/*.def) compiler/plan/gate.h
	@mkdir -p $(@D)
	$(CC) -I. -D_GNU_SOURCE -std=gnu17 $(OPT) $(WARN) -fPIC \
		-fvisibility=hidden \
		-fstack-protector-strong -D_FORTIFY_SOURCE=3 -shared \
		-Wl,-z,relro,-z,now -o $@ $(READER_SRC) -lssl -lcrypto

# Into whatever image, and whatever process of it: no library, no sanitizer.
INSIDE := $(B)/obj/runtime/inside
SEAL := $(INSIDE)/membrane-seal.so
INIT := $(INSIDE)/membrane-init
INIT_SRC := $(addprefix runtime/inside/,command.c init.c memory.c \
	surroundings.c told.c)
# A loop stays one: there is no memcpy, and memset is one itself. clang knows no
# such option, and needs none where it is told of no library.
INSIDE_LOOPS := $(if $(findstring clang,$(CC)),,-fno-tree-loop-distribute-patterns)
INSIDE_CC = $(CC) -I. -D_GNU_SOURCE -std=gnu17 -O2 $(WARN) -ffreestanding \
	-fno-stack-protector $(INSIDE_LOOPS) -nostdlib -s \
	-Wl,-z,noexecstack,--build-id=none
$(SEAL) $(INIT): $(wildcard runtime/inside/*.h compiler/plan/*.h)
$(SEAL): runtime/inside/seal.c
	@mkdir -p $(@D)
	$(INSIDE_CC) -fPIC -fvisibility=hidden -shared \
		-Wl,-z,relro,-z,now,-z,defs -o $@ $<

# At a fixed place: nothing is there that would move it.
$(INIT): $(INIT_SRC)
	@mkdir -p $(@D)
	$(INSIDE_CC) -fno-pie -no-pie -static -o $@ $(INIT_SRC)

$(B)/obj/runtime/launch/inside/inside.o: \
	CPPFLAGS += -DSEAL_OBJECT='"$(SEAL)"' -DINIT_OBJECT='"$(INIT)"'
$(B)/obj/runtime/launch/inside/inside.o: $(SEAL) $(INIT)

# For the kernel: no sanitizer, no hardening, one object for all kernels.
BPF_ARCH := $(patsubst aarch64,arm64,$(patsubst x86_64,x86,$(firstword \
	$(subst -, ,$(shell $(CC) -dumpmachine)))))
$(WATCH_BPF): runtime/watch/kernel/watch.bpf.c runtime/watch/kernel/event.h \
		runtime/watch/kernel/kernel.h $(wildcard runtime/watch/kernel/*.bpf.h)
	@mkdir -p $(@D)
	clang -target bpf -D__TARGET_ARCH_$(BPF_ARCH) -I. -O2 -g -Wall \
		-ffile-prefix-map=$(CURDIR)=. -c -o $@ $<
	llvm-strip -g $@

$(B)/obj/runtime/watch/programs.o: CPPFLAGS += -DWATCH_OBJECT='"$(WATCH_BPF)"'
$(B)/obj/runtime/watch/programs.o: $(WATCH_BPF)

$(BIN)/membrane-watch: $(WATCH_OBJ)
	@mkdir -p $(@D)
	$(CC) $(WATCH_LINK) -o $@ $(WATCH_OBJ) $(LIBS_WATCH)

# It makes the certificates that the program only reads.
$(B)/tests/unit/launch/roots: LIBS_MEMBRANE += -lcrypto
$(UNIT_HOST): $(B)/tests/%: $(B)/obj/tests/%.o $(HOST_LIB_OBJ)
	@mkdir -p $(@D)
	$(CC) $(LDHARDEN) $(TEST_LINKER) -o $@ $^ $(LIBS_MEMBRANE)


$(UNIT_GATE): $(B)/tests/%: $(B)/obj/tests/%.o $(GATE_LIB_OBJ)
	@mkdir -p $(@D)
	$(CC) $(LDHARDEN) $(TEST_LINKER) -o $@ $^ $(LIBS_GATE)

# Programs in which system calls fail: tests/unit/failing.h; a socket that takes
# its time; a reader without memory or random numbers.
FAILING := $(addprefix $(B)/tests/unit/,base/failing cli/saving plan/failing \
	gate/failing)
FAILING_CALLS := pwrite fsync ftruncate flock pipe fork fdopendir signalfd \
	sigprocmask renameat renameat2 fcntl
$(FAILING): LDHARDEN += $(addprefix -Wl$(COMMA)--wrap=,$(FAILING_CALLS))
$(B)/tests/unit/gate/failing: LDHARDEN += \
	$(addprefix -Wl$(COMMA)--wrap=,malloc calloc fstat read __read_chk)
$(B)/tests/unit/gate/commands: LDHARDEN += \
	$(addprefix -Wl$(COMMA)--wrap=,send recv poll clock_ms)
$(B)/tests/unit/gate/signer: LDHARDEN += -Wl,--wrap=ca_leaf
$(B)/tests/unit/gate/serving: LDHARDEN += \
	$(addprefix -Wl$(COMMA)--wrap=,poll ca_new ca_leaf)
$(B)/tests/unit/gate/http1: LDHARDEN += -Wl,--wrap=malloc,--wrap=getrandom
# What a test plays itself, in its source or its own header:
# tests/unit/gate/played.h.
parts = $(addprefix -Wl$(COMMA)--wrap=,$(shell sed -n \
	's/^PART[^,]*, \([a-z0-9_]*\),.*/\1/p' \
	$(wildcard $(addprefix tests/unit/gate/$(1).,h c))))
$(B)/tests/unit/gate/worker_parts: LDHARDEN += $(call parts,worker_parts)
$(B)/tests/unit/gate/beginnings: LDHARDEN += $(call parts,beginnings)
$(B)/tests/unit/gate/change_parts: LDHARDEN += $(call parts,change_parts)
$(B)/tests/unit/gate/onward_parts: LDHARDEN += $(call parts,onward_parts)
$(B)/tests/unit/gate/supervisor_parts: LDHARDEN += $(call parts,supervisor_parts)

$(UNIT_WATCH): $(B)/tests/%: $(B)/obj/tests/%.o $(WATCH_LIB_OBJ)
	@mkdir -p $(@D)
	$(CC) $(LDHARDEN) $(TEST_LINKER) -o $@ $^ $(LIBS_WATCH)

$(UNIT_VIEW): $(B)/tests/%: $(B)/obj/tests/%.o $(VIEW_LIB_OBJ)
	@mkdir -p $(@D)
	$(CC) $(LDHARDEN) $(TEST_LINKER) -o $@ $^ $(LIBS_VIEW)

$(B)/obj/gen/%.o: $(GEN)/%.c | $(GEN_HDR) $(GEN_INC)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -std=gnu17 $(OPT) -Wall $(HARDEN) -MMD -MP -c -o $@ $<

$(B)/obj/%.o: %.c | $(GEN_HDR) $(GEN_INC)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(GEN)/grammar/%.tab.c $(GEN)/grammar/%.tab.h &: grammar/%.y
	@mkdir -p $(@D)
	bison -Wall -Werror --output=$(GEN)/grammar/$*.tab.c \
		--header=$(GEN)/grammar/$*.tab.h $<

$(GEN)/grammar/%.lex.c $(GEN)/grammar/%.lex.h &: grammar/%.l
	@mkdir -p $(@D)
	flex --outfile=$(GEN)/grammar/$*.lex.c \
		--header-file=$(GEN)/grammar/$*.lex.h $<

$(GEN)/grammar/tracee-events.inc: grammar/tracee-events.tsv \
		grammar/tracee-events.awk
	@mkdir -p $(@D)
	awk -f grammar/tracee-events.awk $< > $@

# Written when it says another, so that what includes it is built again; aside
# by a name of its own, as another build may run beside this one.
$(GEN)/version.h: FORCE
	@mkdir -p $(@D)
	@new=$@.$$$$ && \
		echo '#define MEMBRANE_VERSION "$(VERSION)"' > $$new && \
		{ cmp -s $$new $@ && rm $$new || mv $$new $@; }

# HAProxy's text in parts, each a C string of the name that "#: NAME" gives it;
# lines that begin with "##" are for whoever changes the text.
$(GEN)/%.cfg.inc: %.cfg
	@mkdir -p $(@D)
	@awk '/^##/ {next} \
		/^#: / {print end "static const char " $$2 "[] ="; end = ";\n"; \
			next} \
		{gsub(/[\\"]/, "\\\\&"); print "\"" $$0 "\\n\""} \
		END {print ";"}' $< > $@

# A text file as one C string, line by line.
$(GEN)/%.inc: %
	@mkdir -p $(@D)
	sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' $< > $@

# The text of all man pages likewise, each behind a line with its name.
$(GEN)/doc/man/pages.inc: $(patsubst %,doc/man/%.mdoc,membrane policy $(VERBS))
	@mkdir -p $(@D)
	for page in $^; do \
		echo "@PAGE $$(basename $$page .mdoc)"; cat $$page; \
	done | sed 's/[\\"]/\\&/g; s/.*/"&\\n"/' > $@

$(GEN)/grammar/native-events.inc: grammar/native-events.awk \
		grammar/native-events.def grammar/tracee-events.tsv
	@mkdir -p $(@D)
	awk -f $^ > $@

.SECONDARY: $(GEN_SRC) $(GEN_HDR) $(GEN_INC)

-include $(patsubst %.o,%.d,$(HOST_OBJ) $(GATE_OBJ) $(WATCH_OBJ) \
	$(UNPACK_OBJ) $(VIEW_OBJ) $(call obj,$(UNIT_SRC) $(READER_SRC)))

.PHONY: asan coverage fmt compile_commands.json clean
asan:
	$(MAKE) B=build/asan SAN=1 all units

# What the tests reach, against tests/check/coverage.floors: tests/check/coverage.
# HAProxy is checked with the reader as it is built for it.
coverage: build/bin/membrane-reader.so
	$(MAKE) $(if $(LIVE),B=build/counted,B=build/coverage SAN=1) COVERAGE=1 \
		CC=clang all units
	tests/check/coverage $(if $(LIVE),live)

fmt:
	clang-format -i $$(git ls-files '*.c' '*.h')

clean:
	rm -rf build

# --- install ---------------------------------------------------------------

# Programs that go into images, and are run in these alone.
LIBEXEC := $(DESTDIR)$(PREFIX)/libexec/membrane
# What `membrane images` builds them with.
IMAGE := $(addprefix image/,images.sh base.sh lib.sh agent agents gate \
	watch view)
SHARE := $(DESTDIR)$(PREFIX)/share
DOC := $(SHARE)/doc/membrane
MAN := $(SHARE)/man
MAN1 := $(MAN)/man1/membrane.1 $(VERBS:%=$(MAN)/man1/membrane-%.1)
MAN5 := $(MAN)/man5/membrane-policy.5
COMPLETIONS := $(SHARE)/bash-completion/completions/membrane \
	$(SHARE)/zsh/site-functions/_membrane \
	$(SHARE)/fish/vendor_completions.d/membrane.fish

# The prefix is compiled in: where the presets are when they are not beside
# the program. A build for another prefix is told from this one by a stamp.
$(B)/prefix: FORCE
	@mkdir -p $(@D)
	@echo '$(PREFIX)' | cmp -s - $@ || echo '$(PREFIX)' > $@
$(B)/obj/compiler/cli/workspace/installed.o: $(B)/prefix

.PHONY: install uninstall FORCE
FORCE:
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(LIBEXEC) $(SHARE)/membrane/image \
		$(DOC) $(dir $(COMPLETIONS)) $(MAN)/man1 $(MAN)/man5
	install -m 755 $(BIN)/membrane $(DESTDIR)$(PREFIX)/bin/
	install -m 755 $(BIN)/membrane-gate $(BIN)/membrane-watch \
		$(BIN)/membrane-view $(BIN)/membrane-unpack $(LIBEXEC)/
	install -m 644 $(BIN)/membrane-reader.so $(LIBEXEC)/
	rm -rf $(SHARE)/membrane/image/* $(SHARE)/membrane/policies
	cp -R policies $(SHARE)/membrane/
	cp -R $(IMAGE) $(SHARE)/membrane/image/
	chmod -R u=rwX,go=rX $(SHARE)/membrane
	install -m 644 README.md CONTRIBUTING.md CHANGELOG.md SECURITY.md \
		LICENSE $(DOC)/
	cp -RL doc $(DOC)/
	rm -rf $(DOC)/doc/man
	$(BIN)/membrane help --man > $(firstword $(MAN1))
	for verb in $(VERBS); do \
		$(BIN)/membrane help --man $$verb \
			> $(MAN)/man1/membrane-$$verb.1 || exit; \
	done
	$(BIN)/membrane help --man policy > $(MAN5)
	$(BIN)/membrane completion bash > $(word 1,$(COMPLETIONS))
	$(BIN)/membrane completion zsh > $(word 2,$(COMPLETIONS))
	$(BIN)/membrane completion fish > $(word 3,$(COMPLETIONS))

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/membrane $(COMPLETIONS) $(MAN1) $(MAN5)
	rm -rf $(LIBEXEC) $(SHARE)/membrane $(DOC)

# Debian packages, of a copy of what git tracks: debian/build.sh.
.PHONY: deb
deb:
	@image/setup.sh build package
	@debian/build.sh

# --- images and tests ------------------------------------------------------

# What a fresh machine needs, and only what is missing: image/setup.sh.
.PHONY: run images test check check-all nightly guest stock fuzzers fuzz live cluster \
	bench mutants prove
run:
	@image/run.sh

images: all
	@image/setup.sh run docker
	@image/images.sh agent gate watch view

check:
	@tests/check.sh

check-all: check
	$(B)/tests/oracle/algebra 240000 2
	$(B)/tests/oracle/additions 2 6000
	$(B)/tests/oracle/algebra_files 1280000 2
	$(B)/tests/oracle/proof 6000 2
	$(MAKE) coverage LIVE=1
	FAULTS=3 tests/live/run faults.
	MANY=all tests/live/run -v -j 1 many.
	MEMBRANE_ENGINE=native tests/live/run
	MEMBRANE_ENGINE=native-root tests/live/run
	MEMBRANE_ENGINE=pod tests/live/run

# Longer than anybody waits for: 10^7 requests of another seed each day to the
# model, what is seen of wrong plans, and each cell of the golden cases and of
# some policies to HAProxy.
nightly: all $(B)/tests/oracle/cells
	tests/model/run 10000000 $$(date -u +%Y%m%d)
	tests/model/grade || [ $$? = 77 ]
	$(B)/tests/oracle/cells 12 $$(date -u +%Y%m%d) '*' || [ $$? = 77 ]
	$(B)/tests/oracle/cells -f || [ $$? = 77 ]

test: all units
	tests/check/layers
	tests/check/references
	tests/check/constants
	tests/check/contract
	tests/check/specification
	tests/check/warnings
	tests/units $(B)
	tests/run
	tests/check/determinism

live: images
	@image/setup.sh test
	@tests/live/clients.sh || [ $$? = 77 ]
	tests/live/run

# Pods on a Kubernetes node of its own: tests/cluster/run.
cluster: images
	@tests/cluster/run -v || [ $$? = 77 ]

# Both ends of the throughput measurement run where no library is.
BENCH := $(addprefix $(B)/tests/bench/,algebra scan stream load question \
	forward)
$(B)/tests/bench/algebra $(B)/tests/bench/scan: $(B)/tests/bench/%: \
		$(B)/obj/tests/bench/%.o $(HOST_LIB_OBJ)
	@mkdir -p $(@D)
	$(CC) $(LDHARDEN) $(TEST_LINKER) -o $@ $^ $(LIBS_MEMBRANE)

$(addprefix $(B)/tests/bench/,stream question forward): $(B)/tests/bench/%: \
		tests/bench/%.c tests/bench/clock.h
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -std=gnu17 -O2 $(WARN) -static -o $@ $<

$(B)/tests/bench/load: tests/bench/load.c tests/bench/clock.h
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -std=gnu17 -O2 $(WARN) -static -o $@ $< -lssl -lcrypto

# The tracer, the init and the seal on Debian's own kernels, emulated; of another
# machine, too.
guest:
	@image/setup.sh build test $(filter-out $(THIS),$(ARCH))
	$(MAKE) $(BIN)/membrane-watch $(SEAL) $(INIT)
	tests/guest/run.py $(ARCH)

# Whole sessions there, with Debian's Docker and without: an hour.
stock: images
	@image/setup.sh test base
	tests/guest/sessions.py

bench: images $(BENCH)
	@image/setup.sh test bench
	tests/bench/run

# Which changes of the sources no test notices: a night's work.
mutants:
	@image/setup.sh build test mutants
	tests/mutants/run.py $(MUTANTS)

# Leaf functions, for every input.
prove:
	@image/setup.sh build prove
	tests/proofs/run

fuzzers: $(FUZZ_HOST) $(FUZZ_GATE) $(FUZZ_VIEW)
fuzz:
	$(MAKE) B=build/fuzz SAN=1 FUZZ=1 CC=clang fuzzers
	BUILD=build/fuzz tests/fuzz/run 600

# libFuzzer's own counters alone: nothing is linked that would write the others.
FUZZ_LINK = -pie -fsanitize=fuzzer,address,undefined $(TEST_LINKER)
# A step through patterns takes forty times as long.
FUZZ_WALK := $(B)/obj/tests/fuzz/filewalk.o
FUZZ_LIB_OBJ = $(FUZZ_WALK) $(filter-out %/space/filewalk.o,$(HOST_LIB_OBJ))
$(FUZZ_WALK): compiler/algebra/space/filewalk.c | $(GEN_HDR) $(GEN_INC)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -DLIMIT_FILE_STATES=4096u \
		-DLIMIT_FILE_STEPS=131072u -MMD -MP -c -o $@ $<

$(FUZZ_HOST): $(B)/tests/fuzz/%: $(B)/obj/tests/fuzz/%.o $(FUZZ_LIB_OBJ)
	@mkdir -p $(@D)
	$(CC) $(FUZZ_LINK) -o $@ $^ $(LIBS_MEMBRANE)

$(B)/tests/fuzz/gate_http1: LIBS_GATE += -lhttp_parser
$(FUZZ_GATE): $(B)/tests/fuzz/%: $(B)/obj/tests/fuzz/%.o $(GATE_LIB_OBJ)
	@mkdir -p $(@D)
	$(CC) $(FUZZ_LINK) -o $@ $^ $(LIBS_GATE)

$(FUZZ_VIEW): $(B)/tests/fuzz/%: $(B)/obj/tests/fuzz/%.o $(VIEW_LIB_OBJ)
	@mkdir -p $(@D)
	$(CC) $(FUZZ_LINK) -o $@ $^ $(LIBS_VIEW)

-include $(B)/obj/tests/fuzz/filewalk.d
-include $(patsubst tests/%.c,$(B)/obj/tests/%.d,$(wildcard tests/fuzz/*.c))
