package ingest

import "testing"

// TestWine has PE images as Wine maps them: a reservation of the whole image,
// the headers of the file over its start, then the sections, from the file or,
// if they are not aligned to pages there, as anonymous memory.
func TestWine(t *testing.T) {
	const loader = `
		1 comm 10 wine64-preloade exec
		1 map 10 7d000000+1000 0 /t/wine64-preloader
	`
	const image = loader + `
		2 map 10 140000000+30000 140000000 //anon prot=7
		3 map 10 140000000+1000 0 /t/app.exe prot=7
	`
	for _, sc := range []scenario{
		{name: "sections read into the reservation", script: image + `
			4 map 10 140001000+20000 140001000 //anon
			5 sample 10 140001010
			5 sample 10 14002f010
			5 sample 10 140030010
			5 sample 10 13fffffff
			5 sample 10 7d000010`,
			want: `ip app.exe+1010
			ip app.exe+2f010
			ip wine64-preloader+10
			samples: used:3 unmapped:2`},
		{name: "sections mapped from the file", script: image + `
			4 map 10 140001000+20000 400 /t/app.exe
			4 map 10 140021000+1000 20400 /t/app.exe
			5 sample 10 140001010
			5 sample 10 140021010`,
			want: `ip app.exe+1010
			ip app.exe+21010
			samples: used:2`},
		{name: "headers that are not executable", script: loader + `
			2 map 10 140000000+30000 140000000 //anon prot=7
			3 map 10 140000000+1000 0 /t/app.exe prot=1
			4 map 10 140001000+20000 140001000 //anon
			5 sample 10 140001010`,
			want: `ip app.exe+1010
			samples: used:1`},
		{name: "two images", script: image + `
			4 map 10 140001000+20000 140001000 //anon
			5 map 10 170000000+90000 170000000 //anon prot=7
			6 map 10 170000000+1000 0 /t/ntdll.dll prot=7
			7 map 10 170001000+50000 1000 /t/ntdll.dll
			8 sample 10 140001010
			8 sample 10 170050010
			8 sample 10 17008ffff
			8 sample 10 140030010`,
			want: `ip app.exe+1010
			ip ntdll.dll+50010
			ip ntdll.dll+8ffff
			samples: used:3 unmapped:1`},
		{name: "larger image at the same base later", script: image + `
			4 map 10 140001000+20000 140001000 //anon
			5 sample 10 140001010
			6 map 10 140000000+50000 140000000 //anon prot=7
			7 map 10 140000000+1000 0 /t/big.dll prot=7
			8 map 10 140001000+40000 140001000 //anon
			9 sample 10 140001010
			9 sample 10 140040010`,
			want: `ip app.exe+1010
			ip big.dll+1010
			ip big.dll+40010
			samples: used:3`},
		{name: "image of the same size at the same base later", script: image + `
			4 map 10 140001000+20000 140001000 //anon
			6 map 10 140000000+30000 140000000 //anon prot=7
			7 sample 10 140001010
			7 map 10 140000000+1000 0 /t/same.dll prot=7
			8 map 10 140001000+20000 140001000 //anon
			9 sample 10 140001010`,
			want: `ip same.dll+1010
			ip same.dll+1010
			samples: used:2`},
		{name: "smaller image at the same base later", script: image + `
			4 map 10 140001000+20000 140001000 //anon
			6 map 10 140000000+10000 140000000 //anon prot=7
			7 map 10 140000000+1000 0 /t/small.dll prot=7
			8 map 10 140001000+8000 140001000 //anon
			9 sample 10 140001010
			9 sample 10 14000f010`,
			want: `ip small.dll+1010
			ip small.dll+f010
			samples: used:2`},
		{name: "run-time code in place of an image", script: image + `
			4 map 10 140001000+20000 140001000 //anon
			5 sample 10 140001010
			6 map 10 140000000+30000 140000000 //anon prot=7
			7 sample 10 140001010`,
			want: `ip app.exe+1010
			samples: used:1 jit:1`},
		{name: "image inside the window of a former one", script: image + `
			6 map 10 140010000+10000 140010000 //anon prot=7
			7 map 10 140010000+1000 0 /t/small.dll prot=7
			8 map 10 140011000+8000 140011000 //anon
			9 sample 10 140011010`,
			want: `ip small.dll+1010
			samples: used:1`},
		{name: "same image in two processes", script: image + `
			4 map 10 140001000+20000 140001000 //anon
			5 map 11 7b600000+30000 7b600000 //anon prot=7
			6 map 11 7b600000+1000 0 /t/app.exe prot=7
			7 map 11 7b601000+20000 7b601000 //anon
			8 sample 10 140001010
			8 sample 11 7b602010
			8 sample 11 7b62f010`,
			want: `ip app.exe+1010
			ip app.exe+2010
			ip app.exe+2f010
			samples: used:3`},
		{name: "size of the image is not known", script: loader + `
			3 map 10 140000000+1000 0 /t/app.exe prot=7
			4 map 10 140001000+20000 140001000 //anon
			5 sample 10 140000010
			5 sample 10 140001010`,
			want: `ip app.exe+10
			samples: used:1 jit:1`},
		{name: "run-time code beside the window", script: image + `
			4 map 10 140030000+1000 140030000 //anon
			5 sample 10 140030010`,
			want: `samples: jit:1`},
		{name: "run-time code is no reservation for a library of Linux", script: loader + `
			2 map 10 50000000+30000 50000000 //anon prot=7
			3 map 10 50000000+1000 0 /t/lib.so
			5 sample 10 50000010
			5 sample 10 50002010`,
			want: `ip lib.so+10
			samples: used:1 jit:1`},
		{name: "program that was running already, without its headers", script: `
			1 map 10 140001000+20000 400 /t/app.exe
			5 sample 10 140001010`,
			want: `ip app.exe+410
			samples: used:1`},
	} {
		sc.run(t)
	}
}

// TestWineWithoutHeaders checks that offsets in a PE are not taken for
// addresses.
func TestWineWithoutHeaders(t *testing.T) {
	const both = `
		1 map 10 140000000+30000 140000000 //anon prot=7
		1 map 10 140000000+1000 0 /t/app.exe prot=7
		2 map 11 140001000+20000 400 /t/app.exe
		5 sample 10 140001010
		5 sample 11 140001010`
	got, _, reg := outcome(t, recording{}.write(t, both), Options{})
	const want = "ip app.exe+1010\nsamples: used:1 unmapped:1\n"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, b := reg.find(t, "app.exe"); b.FileOffsets {
		t.Error("addresses that count from the window are said to be file offsets")
	}

	const alone = `
		1 map 10 140001000+20000 400 /t/app.exe
		5 sample 10 140001010`
	_, facts, reg := outcome(t, recording{}.write(t, alone), Options{})
	if _, b := reg.find(t, "app.exe"); !b.FileOffsets {
		t.Error("offsets in the file are said to be addresses")
	}
	if codes(facts) != "SPT1001 SPT1002" {
		t.Errorf("warnings %s", codes(facts))
	}
}

// TestWineNames checks that a program under Wine goes by its own name.
func TestWineNames(t *testing.T) {
	path := recording{}.write(t, `
		1 comm 10 wine64 exec
		1 map 10 7d000000+1000 0 /t/wine64-preloader
		2 map 10 140000000+30000 140000000 //anon prot=7
		3 map 10 140000000+1000 0 /t/a_long_program_name.exe prot=7
		4 comm 10 a_long_program_
		5 sample 10 140001010
		6 map 10 170000000+1000 0 /t/helper.exe prot=7`)
	for _, filter := range []string{"a_long_program_name.exe", "A_LONG_PROGRAM_NAME.EXE", "a_long_program_", "wine64", ""} {
		var o Options
		if filter != "" {
			o.Processes = []string{filter}
		}
		_, facts, _ := outcome(t, path, o)
		if n := facts.Stats.Processes["a_long_program_name.exe"]; n != 1 || facts.Stats.Samples.Used() != 1 {
			t.Errorf("filter %q: processes %v, %s", filter, facts.Stats.Processes, account(&facts.Stats.Samples))
		}
	}
}
