package program

import "strings"

// NeverReturns says whether name is that of a library function that never
// returns to its caller. A leading "__imp_" and a symbol version ("@GLIBC_2.2.5")
// do not matter. The list is for functions of other binaries, whose code is not
// at hand; within a binary, what never returns shows in the code.
func NeverReturns(name string) bool {
	name = strings.TrimPrefix(name, "__imp_")
	if !strings.HasPrefix(name, "?") { // of Microsoft's C++, where "@" is part of the name
		if k := strings.IndexByte(name, '@'); k > 0 {
			name = name[:k]
		}
	}
	if neverReturns[name] {
		return true
	}
	// The library functions that throw std::length_error and its like.
	if rest, ok := strings.CutPrefix(name, "_ZNSt3__1"); ok { // libc++
		return isThrow(rest)
	}
	rest, ok := strings.CutPrefix(name, "_ZSt") // libstdc++
	return ok && isThrow(rest)
}

// isThrow recognizes "20__throw_length_error...", where 20 is the length of
// the name.
func isThrow(s string) bool {
	return strings.HasPrefix(strings.TrimLeft(s, "0123456789"), "__throw_")
}

// neverReturns holds linkage names.
var neverReturns = set(
	// C and POSIX.
	"abort", "exit", "_exit", "_Exit", "quick_exit", "pthread_exit", "thrd_exit",
	"longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", "__libc_longjmp", "__libc_siglongjmp",
	"__assert", "__assert_fail", "__assert_perror_fail", "__assert_rtn",
	"__stack_chk_fail", "__stack_chk_fail_local", "__chk_fail", "__fortify_fail", "__libc_fatal",
	"__libc_start_main", "__libc_start_call_main", "err", "errx", "verr", "verrx",
	// C++ and unwinding, Itanium ABI.
	"__cxa_throw", "__cxa_rethrow", "__cxa_bad_cast", "__cxa_bad_typeid", "__cxa_throw_bad_array_new_length",
	"__cxa_pure_virtual", "__cxa_deleted_virtual", "__cxa_call_unexpected", "__cxa_call_terminate",
	"__clang_call_terminate", "_Unwind_Resume", "_ZSt9terminatev", "_ZSt10unexpectedv", "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
	"_ZN10__cxxabiv111__terminateEPFvvE", "_ZN10__cxxabiv112__unexpectedEPFvvE",
	// Run times of Rust and Go, for their parts in assembly.
	"rust_panic", "rust_begin_unwind", "rust_eh_unwind_resume",
	"runtime.goexit1", "runtime.gogo", "runtime.abort", "runtime.exit", "os.Exit", "syscall.Exit",
	"runtime.throw", "runtime.fatal", "runtime.gopanic",
	// Windows and its C run time.
	"ExitProcess", "ExitThread", "FreeLibraryAndExitThread", "RtlExitUserProcess", "RtlExitUserThread", "RtlRaiseStatus", "RaiseFailFastException",
	"KeBugCheck", "KeBugCheckEx", "ExRaiseStatus",
	"__report_gsfailure", "__report_rangecheckfailure", "__report_securityfailure", "__report_securityfailureEx",
	"_invoke_watson", "_invalid_parameter_noinfo_noreturn", "_CxxThrowException", "__std_terminate", "terminate",
	"_amsg_exit", "_endthread", "_endthreadex", "_purecall", "_wassert", "_assert",
	"?terminate@@YAXXZ",
	"?_Xlength_error@std@@YAXPEBD@Z", "?_Xout_of_range@std@@YAXPEBD@Z", "?_Xbad_alloc@std@@YAXXZ", "?_Xinvalid_argument@std@@YAXPEBD@Z",
	"?_Xbad_function_call@std@@YAXXZ", "?_Throw_Cpp_error@std@@YAXH@Z", "?_Throw_C_error@std@@YAXH@Z",
	// The Linux kernel.
	"panic", "nmi_panic", "do_exit", "do_group_exit", "make_task_dead", "fortify_panic", "__fortify_panic",
	"kthread_exit", "kthread_complete_and_exit", "cpu_startup_entry", "stop_this_cpu",
)

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}
