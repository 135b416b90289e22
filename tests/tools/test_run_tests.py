# SPDX-License-Identifier: MIT
"""tools/run-tests counts and names the cases that were skipped, also inside tests that passed, above
CTest's own closing lines, and keeps CTest's exit status."""
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from harness import SOURCE, check, scratch, write  # noqa: E402

work = scratch("run-tests")
CMOCKA = ("[==========] Running 3 test(s).\n[ RUN      ] a_case\n[  SKIPPED ] a_case\n"
          "[ RUN      ] other\n[       OK ] other\n[ RUN      ] b_case\n[  SKIPPED ] b_case\n"
          "[  PASSED  ] 1 test(s).\n[  SKIPPED ] 2 test(s), listed below:\n[  SKIPPED ] a_case\n"
          "[  SKIPPED ] b_case\n\n 2 SKIPPED TEST(S)\n")
SCRIPT = "one: ok, 0.1 s\nskipped: two on Valkey, there is none\n"


def suite(**tests):
    lines = []
    for name, (output, status) in tests.items():
        write(work / f"{name}.txt", output)
        lines.append(f'add_test({name.replace("_", ".")} sh -c "cat \'{work}/{name}.txt\'; exit {status}")\n')
        lines.append(f"set_tests_properties({name.replace('_', '.')} PROPERTIES SKIP_RETURN_CODE 77)\n")
    write(work / "CTestTestfile.cmake", "".join(lines))
    done = subprocess.run([str(SOURCE / "tools/run-tests"), "--test-dir", str(work)],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


code, text = suite(unit_x=(CMOCKA, 0), asan_unit_x=(CMOCKA, 0), unit_y=("[       OK ] fine\n", 0),
                   redis_z=(SCRIPT, 0), none=("skipped: no compiler\n", 77))
check(code == 0, text)
head, _, listed = text.partition("6 cases skipped in 4 tests:\n")
check(listed, text)
check("  none: no compiler\n  redis.z: two on Valkey, there is none\n  unit.x, asan.unit.x: a_case; b_case\n" in listed, text)
check("100% tests passed" not in head and "100% tests passed" in listed, text)
check("none (Skipped)" in listed, "whole tests are named by CTest too")

code, text = suite(unit_x=(CMOCKA, 1), unit_y=(SCRIPT, 0))
check(code == 8 and "3 cases skipped in 2 tests:" in text and "unit.x (Failed)" in text, text)

code, text = suite(unit_y=("[       OK ] fine\n", 0))
check(code == 0 and "skipped" not in text and text.rstrip().splitlines()[-1].startswith("Total Test time"),
      text)

# ---- the gate ends in it
makefile = (SOURCE / "Makefile").read_text()
check("tools/run-tests --test-dir" in makefile and "\tctest" not in makefile, "make test uses it")
