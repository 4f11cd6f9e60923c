# Of ctest's report a line for each of its tests: SECONDS, how many passed, failed, were skipped, and were skipped because
# the machine was too slow to tell (tests/support/too_slow.hpp), and its NAME, which may have spaces. A program of
# GoogleTest that runs whole is one test of ctest's, and says how many it has.
function said(word) { return index($0, "[  " word "  ]") == 1 || index($0, "[  " word " ]") == 1 ? $4 : 0 }

/<testcase / { split($0, of, "\""); passed = failed = skipped = slow = 0 }
{ sub(/.*<system-out>/, ""); passed += said("PASSED"); skipped += said("SKIPPED") }
/^\[  FAILED  \] [0-9]+ test/ { failed += $4 }
/^the machine was too slow to tell/ { ++slow }
/<\/testcase>/ {
    if (of[8] == "run" && passed + skipped == 0) passed = 1
    if (of[8] == "fail" && failed == 0) failed = 1
    if (of[8] !~ /run|fail/ || of[8] == "notrun") { skipped = 1; passed = 0 }
    # One that has failed before it says so has failed.
    if (slow > skipped) slow = skipped
    name = of[2]
    gsub(/&lt;/, "<", name); gsub(/&gt;/, ">", name); gsub(/&quot;/, "\"", name); gsub(/&amp;/, "\\&", name)
    if (name !~ /^fixture\./) print of[6], passed, failed, skipped - slow, slow, name
}
