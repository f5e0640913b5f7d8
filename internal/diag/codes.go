package diag

// Code is the stable name of a failure or warning.
type Code string

// Info is what docs/errors.md and --explain say of a code.
type Info struct {
	Exit  Exit   // exit status that it leads to; OK for a warning
	Title string // what happened
	Cause string // the probable cause
	Next  string // what to do next
}

// Failures of the process around a command.
const (
	Internal      Code = "SPT0001"
	BadOption     Code = "SPT0002"
	BadOperands   Code = "SPT0003"
	BadValue      Code = "SPT0004"
	WouldReplace  Code = "SPT0005"
	Interrupted   Code = "SPT0006"
	OtherState    Code = "SPT0007"
	CannotOpen    Code = "SPT0101"
	CannotRead    Code = "SPT0102"
	CannotWrite   Code = "SPT0103"
	UnknownFormat Code = "SPT0110"
	BadVersion    Code = "SPT0111"
	Truncated     Code = "SPT0112"
	Corrupt       Code = "SPT0113"
	TooLarge      Code = "SPT0114"
	Unsupported   Code = "SPT0115"
	InputSkipped  Code = "SPT0116"
)

// Failures of aggregation.
const (
	NothingUsable Code = "SPT0201"
	NoMatch       Code = "SPT0202"
	LostTooMany   Code = "SPT0203"
	TooManyNames  Code = "SPT0204"
	OtherImage    Code = "SPT0205"
)

// Warnings of aggregation.
const (
	NoIdentity     Code = "SPT1001"
	FileOffsets    Code = "SPT1002"
	LostSamples    Code = "SPT1003"
	VaryingPeriods Code = "SPT1004"
	UnknownEvents  Code = "SPT1005"
	UnknownRecords Code = "SPT1006"
	DamagedPart    Code = "SPT1007"
	PairsCut       Code = "SPT1008"
	MostlyUnmapped Code = "SPT1009"
	StaleImage     Code = "SPT1010"
	OddSPT         Code = "SPT1011"
	Saturated      Code = "SPT1012"
	AmbiguousMatch Code = "SPT1013"
	NoBranchData   Code = "SPT1014"
	NoCounterData  Code = "SPT1015"
	FileLeftOut    Code = "SPT1016"
	TooManyMaps    Code = "SPT1017"
	OverMemory     Code = "SPT1018"
)

// Warnings about managed code.
const (
	RejectedImages     Code = "SPT1020"
	RejectedReadyToRun Code = "SPT1021"
	ReJITCode          Code = "SPT1022"
	UnoptimizedCode    Code = "SPT1023"
)

// Failures and warnings of live collection.
const (
	CannotSample   Code = "SPT0301"
	CommandFailed  Code = "SPT0302"
	BiasedStacks   Code = "SPT1030"
	NoBranchStacks Code = "SPT1031"
)

// Warnings about Arm SPE recordings.
const (
	SPEFiltered      Code = "SPT1040"
	SPEEventFilter   Code = "SPT1041"
	SPELatency       Code = "SPT1042"
	SPEDiscard       Code = "SPT1043"
	SPECollisions    Code = "SPT1044"
	SPENoJitter      Code = "SPT1045"
	SPEMicroOps      Code = "SPT1046"
	SPEContradiction Code = "SPT1047"
	SPESpeculative   Code = "SPT1048"
	SPELarge         Code = "SPT1049"
	SPEKernelOnly    Code = "SPT1050"
	SPENoContext     Code = "SPT1051"
	SPEDamaged       Code = "SPT1052"
	SPELost          Code = "SPT1053"
	OtherTrace       Code = "SPT1054"
	Repeated         Code = "SPT1055"
	Overridden       Code = "SPT1056"
)

// Failures around sample profile databases.
const (
	NoSPD            Code = "SPD0101"
	SeveralSPDs      Code = "SPD0102"
	NoFunction       Code = "SPD0103"
	BrokenRules      Code = "SPD0104"
	LowOverlap       Code = "SPD0105"
	StaleProfile     Code = "SPD0106"
	SeveralFunctions Code = "SPD0107"
)

// Failures of imports into sample profile databases.
const (
	Incompatible   Code = "SPD0201"
	MixedKinds     Code = "SPD0202"
	WrongMode      Code = "SPD0203"
	NoSamples      Code = "SPD0204"
	LowCoverage    Code = "SPD0205"
	FewSamples     Code = "SPD0206"
	ManyDropped    Code = "SPD0207"
	LowDensity     Code = "SPD0208"
	DamagedSamples Code = "SPD0209"
)

// Failures that spddump /doctor finds.
const (
	OtherBuild   Code = "SPD0301"
	OtherAge     Code = "SPD0302"
	OtherProgram Code = "SPD0303"
	NoProgramID  Code = "SPD0304"
	OtherMachine Code = "SPD0305"
	OtherCode    Code = "SPD0306"
	NoUsableKind Code = "SPD0307"
	NoProfile    Code = "SPD0308"
	NothingFits  Code = "SPD0309"
	NoReference  Code = "SPD0310"
)

// Warnings and notes of spddump /doctor.
const (
	NotImported     Code = "SPD1101"
	LimitedCoverage Code = "SPD1102"
	ThinSamples     Code = "SPD1103"
	MostlyOutside   Code = "SPD1104"
	MuchChanged     Code = "SPD1105"
	EmptyInput      Code = "SPD1106"
	NoInput         Code = "SPD1107"
	OtherEmbedded   Code = "SPD1108"
	EditedPDB       Code = "SPD1109"
	FlatProfile     Code = "SPD1110"
	SoundProfile    Code = "SPD1111"
	OlderProfile    Code = "SPD1112"
	OneKind         Code = "SPD1113"
	NotAggregated   Code = "SPD1114"
	NoSPDNamed      Code = "SPD1115"
)

// Warnings of imports into sample profile databases.
const (
	LongPath        Code = "SPD1001"
	IdentityIgnored Code = "SPD1002"
	UnlikelyCode    Code = "SPD1003"
	UnwholeFlow     Code = "SPD1004"
	EmptyDatabase   Code = "SPD1005"
	OtherBinary     Code = "SPD1006"
	NothingToDo     Code = "SPD1007"
	SplitMissing    Code = "SPD1008"
	UnusedDebug     Code = "SPD1009"
)

// speNext is the recording of Arm SPE that suits profiles best.
const speNext = "Record again with perf record -e arm_spe/branch_filter=1,event_filter=2,jitter=1/u -c N; docs/format/spe.md has the reasons."

// profilerNext is what to do about code that a profiler changed.
const profilerNext = "Record again without the profiler: a profile of such code does not describe a release."

// Codes is the table of all codes.
var Codes = map[Code]Info{
	Internal: {Failed, "a defect of this program",
		"The program met a state that it should never reach.",
		"Report it with the command line and the text above."},
	BadOption: {Usage, "unknown option",
		"The option is misspelled or belongs to another command.",
		"Run the command with /help for its options; write -- before an operand that looks like an option."},
	BadOperands: {Usage, "wrong operands",
		"Files are missing or too many, or options do not go together.",
		"Run the command with /help for its form."},
	BadValue: {Usage, "wrong value of an option",
		"The value is not of the form that the option takes.",
		"Run the command with /help for the form."},
	WouldReplace: {Usage, "the output exists and must not be replaced",
		"The output is also an input, a folder, or a file of another kind; without -o the last operand is the output.",
		"Give the output a new name, or remove the file first."},
	Interrupted: {Failed, "interrupted",
		"The command was stopped by a signal before it was done.",
		"Run it again; an existing output was left as it was."},
	OtherState: {Usage, "the state of an interrupted run cannot be used",
		"The run had other inputs or options, or its inputs changed since.",
		"Give the command of that run, or remove the file to begin again."},
	CannotOpen: {Failed, "a file cannot be opened",
		"The path is wrong or access is denied.",
		"Check the path and its permissions."},
	CannotRead: {Failed, "a file cannot be read",
		"The device or file system reported an error.",
		"Copy the file to a sound disk and try again."},
	CannotWrite: {Failed, "the output cannot be written",
		"The disk is full or the folder is not writable.",
		"Free space or choose another folder; an existing output was left as it was."},
	UnknownFormat: {Failed, "the format is not recognised",
		"The file is not of a format that this command reads, or its beginning is damaged.",
		"Check that the right file was named."},
	BadVersion: {Failed, "the format version is not supported",
		"The file was written by a newer or older tool.",
		"Write it again with a tool of the supported version."},
	Truncated: {Damaged, "the input ends too early",
		"The recording was not closed, or the file was copied only in part.",
		"Compare its size with the original, or record again and stop the recorder before copying."},
	Corrupt: {Damaged, "the input is damaged",
		"Bytes were changed, or the writer is at fault.",
		"Compare its checksum with the original, or record again."},
	TooLarge: {Failed, "a limit is exceeded",
		"A size or count is beyond what the format or an option allows.",
		"Raise the option if there is one, or split the input."},
	Unsupported: {Failed, "a variant of the format is not supported",
		"The file is sound but uses a feature that this program does not read.",
		"Record or convert it without that feature."},
	InputSkipped: {Damaged, "one of the inputs could not be used; the others were",
		"The file is not a trace, or it is damaged at its beginning.",
		"Check that file, or leave it out."},
	NothingUsable: {Nothing, "nothing usable in the input",
		"The input holds no samples that fall into a known binary, or filters left none.",
		"Look at the reasons in the summary; record with branch stacks or a supported event, and widen the filters."},
	NoMatch: {Nothing, "a filter matches nothing",
		"No process or binary of the input has that name.",
		"Choose one of the candidates listed."},
	LostTooMany: {Gate, "too many samples were lost",
		"The recorder could not keep up.",
		"Record with larger buffers (perf record -m 512M) or a longer sampling period."},
	OtherImage: {Mismatch, "the image is not the build that was sampled",
		"The program was built again after it was sampled, or a file of the same name was named.",
		"Name the image of that build; sptdump /progid shows the identity that is wanted."},
	TooManyNames: {Failed, "the names of the binaries do not fit into an SPT",
		"An SPT holds at most 65,535 bytes of names and 65,535 program ids.",
		"Aggregate fewer binaries at once with /binary."},
	NoIdentity: {OK, "a binary has no identity",
		"The recording has no build id and the file was not found.",
		"Give the folder that holds the binary with --image-path, or record with --buildid-all."},
	FileOffsets: {OK, "addresses of a binary are file offsets",
		"Its program headers are needed to translate them and the file was not found.",
		"Give the folder that holds the very same build with --image-path."},
	LostSamples: {OK, "samples were lost while recording",
		"The recorder could not keep up.",
		"Record with larger buffers (perf record -m 512M) or a longer sampling period; --max-lost makes it an error."},
	VaryingPeriods: {OK, "sampling periods vary by more than 2 times",
		"The recorder was asked for a frequency (-F), which adapts the period.",
		"Record with a fixed period (-c), or weigh samples with --weight=period."},
	UnknownEvents: {OK, "samples of unrecognised events were left out",
		"The event has no place in an SPT or its name is not known.",
		"Map it with --event NAME=OPCODE if it counts cycles, instructions or branches."},
	UnknownRecords: {OK, "records of unknown kinds were skipped",
		"The recording was made by a newer tool.",
		"Nothing, unless samples are missing."},
	DamagedPart: {OK, "a part of the input is damaged and was skipped",
		"Bytes were changed, or the writer is at fault.",
		"Compare the file with its original."},
	PairsCut: {OK, "neighbouring branches were separated",
		"Stacks are longer than --lbr-depth allows.",
		"Aggregate the traces themselves with a greater --lbr-depth."},
	MostlyUnmapped: {OK, "many samples fall into no known binary",
		"Map events are missing, or the code is made at run time.",
		"Record from the start of the process, and look at the reasons in the summary."},
	StaleImage: {OK, "a file on disk is another build than the recorded one",
		"The binary was rebuilt or updated after the recording.",
		"Give the folder of the recorded build with --image-path."},
	OddSPT: {OK, "an SPT was read in an unusual form",
		"It was written by a tool that reads the format differently.",
		"Check names and counts with sptdump."},
	Saturated: {OK, "a count reached its maximum",
		"Weights or repeat counts are extremely large.",
		"Use smaller weights."},
	AmbiguousMatch: {OK, "a filter matches several binaries or processes",
		"Several have that name.",
		"Give the full path to choose one."},
	NoBranchData: {OK, "the input has no branch stacks",
		"The recorder or the machine has none.",
		"Use /mode:IP in the next step, or record with branch stacks (perf record -b)."},
	NoCounterData: {OK, "the input has no counter samples",
		"The session was started without PMC_PROFILE, or the virtual machine has no counters.",
		"Use /mode:IP in the next step, or record counters (xperf -on ...+PMC_PROFILE -pmcprofile InstructionRetired)."},
	FileLeftOut: {OK, "a file was left out",
		"It is a copy of another input, no log file, or recorded on another clock.",
		"Nothing, unless samples or binaries are missing."},
	TooManyMaps: {OK, "there are too many maps",
		"The recording is of very many processes or maps, or made to use up memory.",
		"Record a shorter time or fewer processes, or raise --max-memory."},
	OverMemory: {OK, "more memory is needed than --max-memory allows",
		"A binary has so many distinct branches that its records take more to put together.",
		"Raise --max-memory, or aggregate fewer binaries at a time with /binary."},
	RejectedImages: {OK, "a profiler kept precompiled code from being used",
		"COR_PRF_USE_PROFILE_IMAGES, COR_PRF_MONITOR_ENTERLEAVE or COR_PRF_MONITOR_CODE_TRANSITIONS was set.",
		profilerNext},
	RejectedReadyToRun: {OK, "ReadyToRun code was rejected",
		"COR_PRF_USE_PROFILE_IMAGES, COR_PRF_MONITOR_ENTERLEAVE or COR_PRF_MONITOR_CODE_TRANSITIONS was set.",
		profilerNext},
	ReJITCode: {OK, "a profiler had methods compiled again",
		"A profiler with COR_PRF_ENABLE_REJIT replaced them.",
		profilerNext},
	UnoptimizedCode: {OK, "managed code was not optimised",
		"COR_PRF_DISABLE_OPTIMIZATIONS or COR_PRF_DISABLE_INLINING was set, or it is a debug build.",
		profilerNext},
	SPEFiltered: {OK, "Arm SPE data have no branches",
		"The event was filtered to other operations (load_filter, store_filter, simd_filter, float_filter).",
		speNext},
	SPEEventFilter: {OK, "Arm SPE data have only operations with some events",
		"event_filter has more than the bit of retired operations, or inv_event_filter leaves some out, so that the records do not show how often code ran.",
		speNext},
	SPELatency: {OK, "Arm SPE data have only slow operations",
		"min_latency was set, so that the records do not show how often code ran.",
		speNext},
	SPEDiscard: {OK, "Arm SPE was recorded in discard mode",
		"discard=1 counts events of the PMU and keeps no records.",
		speNext},
	SPECollisions: {OK, "Arm SPE missed operations because it sampled too fast",
		"The interval is so small that the operation before was still in flight; slow operations are then missing, and what follows them.",
		"Record with a greater interval: perf record -e arm_spe/branch_filter=1,event_filter=2,jitter=1/u -c N."},
	SPENoJitter: {OK, "Arm SPE sampled at a fixed interval",
		"jitter=1 was not set; a loop whose length divides the interval then shows the same instruction each time.",
		speNext},
	SPEMicroOps: {OK, "the processor samples micro-operations",
		"Instructions that are split into several count several times; branches are not.",
		"Record branches alone: perf record -e arm_spe/branch_filter=1,event_filter=2,jitter=1/u -c N."},
	SPEContradiction: {OK, "Arm SPE filters contradict each other",
		"The same event is in event_filter and in inv_event_filter.",
		speNext},
	SPESpeculative: {OK, "Arm SPE data hold speculative operations",
		"The bit of retired operations is not in event_filter.",
		"Record with event_filter=2, which saves their space: perf record -e arm_spe/branch_filter=1,event_filter=2,jitter=1/u -c N."},
	SPELarge: {OK, "Arm SPE data are larger than a profile needs",
		"The interval is small for the length of the run.",
		"Record with a greater interval: perf record -e arm_spe/branch_filter=1,event_filter=2,jitter=1/u -c N."},
	SPEKernelOnly: {OK, "Arm SPE data are of the kernel alone",
		"The event was restricted with the modifier k, or the program did not run meanwhile.",
		speNext},
	SPENoContext: {OK, "Arm SPE data do not tell their processes",
		"Context packets need a privileged recorder and a kernel with CONFIG_PID_IN_CONTEXTIDR, and there are no context switches either.",
		"Record as root, or one program alone: perf record -e arm_spe/branch_filter=1,event_filter=2,jitter=1/u -- PROGRAM."},
	SPEDamaged: {OK, "some Arm SPE records cannot be used",
		"The kernel or the processor broke them off, or they have packets of a newer version.",
		"Nothing if they are few; else record with a larger AUX buffer (perf record -m ,64M) and arm_spe/branch_filter=1,event_filter=2,jitter=1/u."},
	SPELost: {OK, "Arm SPE data were lost while recording",
		"The AUX buffer was full.",
		"Record with a larger AUX buffer and a greater interval: perf record -m ,64M -e arm_spe/branch_filter=1,event_filter=2,jitter=1/u -c N."},
	OtherTrace: {OK, "the hardware trace is of a kind that is not read",
		"It was recorded with a trace unit such as intel_pt or cs_etm. Of hardware traces only Arm SPE is read.",
		"Record branch stacks (perf record -b), or Arm SPE: perf record -e arm_spe/branch_filter=1,event_filter=2,jitter=1/u."},
	Repeated: {OK, "an input counts more than once",
		"A list names it again, or a copy of it lies beside it.",
		"Name it once; to count it more on purpose, give it a weight: FILE@2."},
	Overridden: {OK, "an option is given twice with different values",
		"A script adds its options to those of another; the last value counts.",
		"Leave out the one that is not meant."},
	NoSPD: {Nothing, "there is no SPD in the file",
		"The program was linked without /spgo, or without /spdembed into its PDB.",
		"Link with /spgo /spdembed, or name the .spd file beside the program."},
	SeveralSPDs: {Failed, "there are several SPDs in the file",
		"A library has one for each of its objects.",
		"List them with spddump and choose one with --index."},
	NoFunction: {Nothing, "there is no such function",
		"The name is written in another way, or the function was inlined everywhere.",
		"List the names with spddump /symbol."},
	SeveralFunctions: {Failed, "several functions have the name",
		"Functions of different objects can have one name, and different decorated names can read the same.",
		"Choose one by its id."},
	BrokenRules: {Damaged, "the SPD breaks rules that real files keep",
		"It was written by a tool that is at fault, or it was changed.",
		"Make it again with spdconvert from the linker's SPD."},
	LowOverlap: {Gate, "the profiles overlap too little",
		"They describe different workloads, or other code.",
		"Look at the functions that moved most; profile the workload that counts."},
	StaleProfile: {Gate, "too much of the profile is stale",
		"The code has changed since the profile was taken.",
		"Profile the new build."},
	CannotSample: {Failed, "nothing can be sampled here",
		"The kernel, a container or a virtual machine does not allow it.",
		"Allow it as the text says, or record with perf on another machine and aggregate its file."},
	CommandFailed: {Failed, "the sampled command failed",
		"The workload ended with an error or by a signal, so its profile may not show normal use.",
		"Mend the workload, or keep the samples with --ignore-exit-status."},
	BiasedStacks: {OK, "the branch stacks are biased",
		"They were triggered by an event other than taken branches, which shows branches before long straight code too often.",
		"Sample taken branches (--event=taken-branches) where the processor can, or let sptaggregate weigh the stacks."},
	NoBranchStacks: {OK, "no branch stacks were recorded",
		"The processor, or the virtual machine, has no branch records that are known here.",
		"Profiles from addresses alone need about ten times the samples; sample longer, or on a machine with branch records."},
	Incompatible: {Mismatch, "SPD version incompatible",
		"The samples are of another build than the SPD.",
		"Take the SPD of the build that was profiled, or profile the build of the SPD; spddump /doctor compares all identities."},
	MixedKinds: {Usage, "inputs of different kinds",
		"Some inputs have branch stacks and others only instruction addresses, which do not add up.",
		"Say with /mode which to use, or import them into SPDs of their own and /merge these."},
	WrongMode: {Nothing, "the inputs have no samples of the mode",
		"The recording was made without what the mode needs.",
		"Choose the other mode, or leave /mode out."},
	NoSamples: {Nothing, "no sample falls into a function of the SPD",
		"The addresses are not those of the build that the SPD describes.",
		"Compare sptdump /summary with spddump /func; aggregate again with --image-path."},
	LowCoverage: {Gate, "too few blocks are covered",
		"The workload exercises little of the program, or samples are few.",
		"Profile a wider workload for longer; --min-coverage sets the limit."},
	FewSamples: {Gate, "too few samples",
		"The recording is short or the sampling rate low.",
		"Sample for a longer period or at a higher rate; --min-samples sets the limit."},
	ManyDropped: {Gate, "too many samples were dropped",
		"The addresses are not those of the build that the SPD describes.",
		"Look at the reasons in the summary; --max-dropped sets the limit."},
	LowDensity: {Gate, "hot functions are sampled too thinly",
		"The recording is short or the sampling rate low.",
		"Sample for a longer period or at a higher rate; --min-density sets the limit."},
	DamagedSamples: {Damaged, "an SPT is damaged",
		"It was written or copied only in part, or bytes were changed.",
		"Make it again, or import what can be read with --tolerate; the SPD was left as it was."},
	OtherBuild: {Mismatch, "a file is of another build of the program",
		"The program was built again between the two files: its name is the same, its GUID another.",
		"Put the files of one build together; the table shows which belong together."},
	OtherAge: {Mismatch, "a file is of the same link with another age",
		"An incremental link, or a tool that signs or edits PDBs, counted the age up.",
		"Link without /INCREMENTAL and take all files of that link; if the code is the same, spdconvert --ignore-age imports."},
	OtherProgram: {Mismatch, "a file is of another program",
		"A file of another program was named, or the recording has no samples of this one.",
		"Name the files of one program; aggregate with sptaggregate /binary:NAME."},
	NoProgramID: {Mismatch, "a file has no identity to compare",
		"The image was linked without /DEBUG or without a build id, or the SPD was not made by a link.",
		"Link with /DEBUG (ELF: --build-id), or take the SPD that the linker made."},
	OtherMachine: {Mismatch, "a file is for another processor architecture",
		"The program is built for several architectures and their files were mixed up.",
		"Take the files of one architecture: each has a profile of its own."},
	OtherCode: {Mismatch, "the SPD describes code where the image has none",
		"The image was changed after the link, or its identity was copied from another build.",
		"Take the image as the linker wrote it, or link it again with /spgo for an SPD that describes it."},
	NoUsableKind: {Nothing, "no samples of a kind that counts",
		"The recording has no branch stacks, instructions, cycles or timer samples of the program, or filters left none.",
		"Look at sptdump /summary; record again with one of these."},
	NoProfile: {Nothing, "the SPD holds no profile",
		"It is as the linker wrote it: no samples were imported.",
		"Import samples with spdconvert app.spd run.spt before the SPD is given to a link with /spdin."},
	NothingFits: {Nothing, "nothing of the profile fits the code",
		"The profile is of other code: every function was changed, renamed or removed.",
		"Profile the new build."},
	NoReference: {Nothing, "there is nothing to compare with",
		"Only recordings were named, which belong to no build of themselves.",
		"Name the SPD, or the image or PDB of the program."},
	NotImported: {OK, "the samples were not imported yet",
		"The SPD is as it was made by the linker, or of an image.",
		"Import them with spdconvert."},
	LimitedCoverage: {OK, "few blocks of the program are covered",
		"The workload exercises little of the program, or samples are few.",
		"Profile a wider workload for longer and import that as well."},
	ThinSamples: {OK, "hot functions have few samples",
		"The recording is short or the sampling rate low. The compiler is careful where counts are uncertain.",
		"Sample for a longer period or at a higher rate, or import more recordings of the same build."},
	MostlyOutside: {OK, "most samples lie outside of the functions of the SPD",
		"The image was changed after the link, or most time is spent in code that the linker did not compile (libraries without /GL, assembler).",
		"Compare with the image: spddump /doctor app.spd run.spt app.exe; compile hot libraries with /GL."},
	MuchChanged: {OK, "much of the profile does not fit the code",
		"The code has changed since the profile was taken; changed functions are compiled as if they had none.",
		"Profile the new build; Microsoft advises to do so below 90 %."},
	EmptyInput: {OK, "the input of the last link held no counts",
		"The SPD given to /spdin was one that nothing had been imported into, or the linker made a new one because the path was wrong.",
		"Import samples with spdconvert, then link with /spdin and the path of that very file."},
	NoInput: {OK, "the last link used no profile",
		"The program was linked without /spdin: this build is the one to profile, it is not faster yet.",
		"Link again with /spgo /spdin and this SPD."},
	OtherEmbedded: {OK, "the SPD in a PDB, object or image differs from the file",
		"The linker embedded the SPD before samples were imported into the file, or the file was changed.",
		"Use the file: it has the imported counts."},
	EditedPDB: {OK, "a tool wrote the PDB again after the link",
		"Source indexing or the like counted its own age up. Images are matched by the DBI age, which stayed.",
		"Nothing."},
	FlatProfile: {OK, "most of the code is hot",
		"The workload spends its time evenly over the code, so that a profile tells a compiler little about what to prefer.",
		"Little gain is to be expected; profile the workload that matters alone."},
	SoundProfile: {OK, "the profile is sound",
		"Identities agree, the counts cover the program, and the last link used its input.",
		"If the program is not faster, its time is spent outside of compiled code: look for waiting, memory and system calls."},
	OlderProfile: {OK, "a profile of another build fits the code",
		"It is the profile of an earlier build, which is what /spdin takes.",
		"Nothing."},
	OneKind: {OK, "samples of one mode only",
		"The recorder took one kind of samples.",
		"Import with the mode that the samples have; the other one finds none."},
	NotAggregated: {OK, "a recording has to be aggregated before it is imported",
		"spdconvert reads SPTs.",
		"Aggregate it with sptaggregate."},
	NoSPDNamed: {OK, "there is no SPD among the files",
		"The program was linked without /spgo, or the SPD was not named.",
		"Name the .spd file that the linker wrote beside the program; link with /spgo for one."},
	LongPath: {OK, "the path of the SPD is too long for the linker",
		"link.exe refuses paths of more than 260 characters.",
		"Move the SPD to a shorter path before the link."},
	IdentityIgnored: {OK, "samples of another build are used",
		"--ignore-age or --ignore-identity was given.",
		"Where the code differs, counts go to wrong blocks without further notice: compare the coverage with that of a sound import."},
	UnlikelyCode: {OK, "counts of some functions are far from the samples",
		"The samples are of other code, or the flow graph lacks edges.",
		"Check that SPT and SPD are of the same build; the functions are listed with -v and --json."},
	UnwholeFlow: {OK, "some flow graphs have no way from entry to exit",
		"These functions never return.",
		"Nothing: their loops have counts, their entries cannot."},
	EmptyDatabase: {OK, "the SPD has no functions",
		"It was created without the linker, which alone knows the code.",
		"Give it to a link as /spdin, or make a database from the image, before samples are imported."},
	OtherBinary: {OK, "the SPDs are of different binaries",
		"Files of several programs were named.",
		"Merge SPDs of one program; functions are matched by their names alone."},
	NothingToDo: {OK, "nothing to do",
		"No SPT is named, and neither /retire nor /reset.",
		"Name the SPTs to import behind the SPD."},
	SplitMissing: {OK, "split debug information is missing, damaged or of another build",
		"The program was compiled with -gsplit-dwarf, and its .dwo files were moved or deleted: of their units only lines are known, and no inlined calls.",
		"Put the .dwp file (made with dwp or llvm-dwp) beside the image as IMAGE.dwp, or the .dwo files where the compiler left them or beside the image."},
	UnusedDebug: {OK, "the debug file that was found is not used",
		"It was copied only in part, or is of another build.",
		"Put the debug file of this build in its place, or name it with /pdb; without it names, lines and inlined calls are missing."},
}
