module github.com/spgo-tools/spgo

go 1.26.0

tool honnef.co/go/tools/cmd/staticcheck

require (
	github.com/elastic/go-perf v0.0.0-20241029065020-30bec95324b8
	github.com/google/go-cmp v0.7.0
	github.com/google/pprof v0.0.0-20261105003125-4bf881d7fb0b
	github.com/ianlancetaylor/demangle v0.0.0-20260724033716-83e58baca724
	github.com/klauspost/compress v1.20.4
	github.com/rogpeppe/go-internal v1.16.0
	github.com/urfave/cli/v2 v2.27.7
	github.com/vbauerster/mpb/v8 v8.16.2
	golang.org/x/arch v0.33.0
	golang.org/x/sys v0.48.0
	honnef.co/go/tools v0.8.2
	www.velocidex.com/golang/go-ntfs v0.2.1
)
