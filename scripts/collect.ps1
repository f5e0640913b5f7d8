<#
.SYNOPSIS
Samples a program on Windows into an ETL trace for sptaggregate.
.DESCRIPTION
Takes the best that this machine has: branch stacks (LBR), a hardware counter,
or the timer. Needs an elevated prompt and xperf of the Windows Performance
Toolkit, else wpr, which is part of Windows and samples by the timer.
.EXAMPLE
.\collect.ps1 -Output run.etl -- .\app.exe input.txt
.EXAMPLE
.\collect.ps1 -Output run.etl -Seconds 30        what runs already
#>
[CmdletBinding()]
param(
    [string]$Output = 'run.etl',
    [ValidateSet('auto', 'lbr', 'counter', 'timer')][string]$Mode = 'auto',
    [int]$Interval = 16384,   # events between samples of LBR and counter
    [int]$Seconds = 0,        # how long to sample without a command
    [Parameter(ValueFromRemainingArguments)][string[]]$Command
)
$ErrorActionPreference = 'Stop'

function Fail([string]$message, [string]$next) {
    [Console]::Error.WriteLine("collect.ps1: $message")
    if ($next) { [Console]::Error.WriteLine("  next: $next") }
    exit 1
}

$identity = [Security.Principal.WindowsIdentity]::GetCurrent()
$admin = ([Security.Principal.WindowsPrincipal]$identity).IsInRole([Security.Principal.WindowsBuiltInRole]::Administrator)
if (-not $admin) { Fail 'tracing needs administrator rights' 'Start PowerShell by "Run as administrator".' }
if (-not $Command -and $Seconds -le 0) { Fail 'nothing to sample' 'Name a command behind --, or give -Seconds.' }

$xperf = Get-Command xperf -ErrorAction SilentlyContinue
if (-not $xperf) {
    foreach ($root in ${env:ProgramFiles(x86)}, $env:ProgramFiles) {
        $path = Join-Path $root 'Windows Kits\10\Windows Performance Toolkit\xperf.exe'
        if (Test-Path $path) { $xperf = Get-Command $path; break }
    }
}
if (-not $xperf -and $Mode -in 'lbr', 'counter') {
    Fail "mode $Mode needs xperf" 'Install the Windows Performance Toolkit of the Windows ADK, or use -Mode timer.'
}

# Starts a trace; true if the system took it.
function Start-Trace([string]$kind) {
    $buffers = '-MinBuffers', '4096', '-MaxBuffers', '4096', '-BufferSize', '4096'
    $arguments = switch ($kind) {
        'lbr' {
            @('-on', 'LOADER+PROC_THREAD+PMC_PROFILE') + $buffers +
            @('-pmcprofile', 'BranchInstructionRetired', '-LastBranch', 'PmcInterrupt',
              '-setProfInt', 'BranchInstructionRetired', "$Interval")
        }
        'counter' {
            @('-on', 'LOADER+PROC_THREAD+PMC_PROFILE+PROFILE') + $buffers +
            @('-pmcprofile', 'InstructionRetired', '-setProfInt', 'InstructionRetired', "$Interval", '-stackwalk', 'profile')
        }
        'timer' {
            @('-on', 'LOADER+PROC_THREAD+PROFILE', '-setProfInt', 'Timer', '1221', '-stackwalk', 'profile')
        }
    }
    $text = & $xperf @arguments 2>&1 | Out-String
    if ($LASTEXITCODE -ne 0) { Write-Warning "$kind`: $($text.Trim())" }
    return $LASTEXITCODE -eq 0
}

$used = $null
if ($xperf) {
    $kinds = if ($Mode -eq 'auto') { 'lbr', 'counter', 'timer' } else { @($Mode) }
    foreach ($kind in $kinds) { if (Start-Trace $kind) { $used = $kind; break } }
    if (-not $used) { Fail 'xperf could not start a trace' 'Stop another kernel trace with "xperf -stop", and look at the warnings above.' }
} else {
    & wpr -start CPU.light -filemode
    if ($LASTEXITCODE -ne 0) { Fail 'wpr could not start a trace' 'Stop another recording with "wpr -cancel".' }
    $used = 'timer (wpr)'
}
Write-Host "sampling by $used"

$status = 0
try {
    if ($Command) {
        $program, $rest = $Command
        & $program @rest
        if ($null -ne $LASTEXITCODE) { $status = $LASTEXITCODE }
    } else {
        Start-Sleep -Seconds $Seconds
    }
} finally {
    if ($xperf) { & $xperf -stop -d $Output } else { & wpr -stop $Output }
    if ($LASTEXITCODE -ne 0) { Fail 'the trace could not be saved' 'Check the free space and the folder of the output.' }
}
if ($status -ne 0) { Fail "the command ended with $status; $Output was written" 'Mend the workload: its profile may not show normal use.' }
Write-Host "next: sptaggregate /etl $Output app.spt"
