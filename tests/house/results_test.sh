#!/usr/bin/env bash
# results_test.sh: scripts/test counts what passed, failed, was skipped, and what the machine was too slow to tell.
set -u
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." || exit 1

expected='0.1 1 0 0 0 A.Passes
0.2 0 1 0 0 A.Fails
0.3 0 0 1 0 A.HasNoBrowser
0.4 0 0 0 1 A.IsSlow/"x"
0.5 0 1 0 0 A.FailsAndIsSlow
0.6 7 1 1 2 whole
0.7 0 0 0 1 script
0.8 1 0 0 0 program'
found=$(awk -f scripts/test_results.awk <<'END'
<testsuite name="(empty)" tests="8">
	<testcase name="fixture.start" classname="fixture.start" time="1" status="run">
		<system-out>started</system-out>
	</testcase>
	<testcase name="A.Passes" classname="A.Passes" time="0.1" status="run">
		<system-out>Note: Google Test filter = A.Passes
[  PASSED  ] 1 test.
</system-out>
	</testcase>
	<testcase name="A.Fails" classname="A.Fails" time="0.2" status="fail">
		<system-out>[  FAILED  ] A.Fails (0 ms)
[  PASSED  ] 0 tests.
[  FAILED  ] 1 test, listed below:
[  FAILED  ] A.Fails
</system-out>
	</testcase>
	<testcase name="A.HasNoBrowser" classname="A.HasNoBrowser" time="0.3" status="notrun">
		<system-out>a.cpp:4: Skipped
no chromium
[  PASSED  ] 0 tests.
[  SKIPPED ] 1 test, listed below:
</system-out>
	</testcase>
	<testcase name="A.IsSlow/&quot;x&quot;" classname="A.IsSlow" time="0.4" status="notrun">
		<system-out>a.cpp:4: Skipped
the machine was too slow to tell: the servers were away for 9 s
[  PASSED  ] 0 tests.
[  SKIPPED ] 1 test, listed below:
</system-out>
	</testcase>
	<testcase name="A.FailsAndIsSlow" classname="A.FailsAndIsSlow" time="0.5" status="fail">
		<system-out>a.cpp:6: Failure
a.cpp:6: Skipped
the machine was too slow to tell: why
[  PASSED  ] 0 tests.
[  FAILED  ] 1 test, listed below:
</system-out>
	</testcase>
	<testcase name="whole" classname="whole" time="0.6" status="fail">
		<system-out>a.cpp:4: Skipped
the machine was too slow to tell: one
a.cpp:5: Skipped
no chromium
a.cpp:6: Skipped
the machine was too slow to tell: two
[  PASSED  ] 7 tests.
[  SKIPPED ] 3 tests.
[  FAILED  ] 1 test, listed below:
</system-out>
	</testcase>
	<testcase name="script" classname="script" time="0.7" status="notrun">
		<system-out>the machine was too slow to tell: x
</system-out>
	</testcase>
	<testcase name="program" classname="program" time="0.8" status="run">
		<system-out>fine
</system-out>
	</testcase>
</testsuite>
END
)
[[ $found == "$expected" ]] || { diff <(echo "$expected") <(echo "$found"); exit 1; }
