"""What ``.ci/run`` does where things are missing: it goes on, and says at its end what it left."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = ("bash", "cat", "dirname", "env", "grep", "mkdir", "tee", "timeout")
MAKE = """#!/bin/bash
echo "made $* with ${SPINNEY_NEEDS_BROWSER:-no browser}"
case "$*" in
  test) echo 'SKIPPED [1] tests/some.py:3: a guest is absent'; exit ${TEST_STATUS:-0} ;;
  *stamp) exit ${STAMP_STATUS:-0} ;;
esac
"""
APT = """#!/bin/bash
[ "$1" = update ] && exit ${APT_STATUS:-0}
printf '#!/bin/bash\\n' > "$HERE/chromium" && /bin/chmod +x "$HERE/chromium"
"""


@pytest.fixture
def ci(tmp_path):
    """Run a copy of the script among programs that only say what they were asked."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/run", tmp_path / ".ci/run")
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in TOOLS:
        (programs / name).symlink_to(shutil.which(name))
    texts = {"make": MAKE, "apt-get": APT, "id": "#!/bin/bash\necho ${USER_ID:-0}\n"}
    for name, text in texts.items():
        (programs / name).write_text(text, encoding="utf-8")
        (programs / name).chmod(0o755)

    def run(*, has_browser=False, **settings):
        if has_browser:
            (programs / "chromium").symlink_to(shutil.which("bash"))
        environment = {"PATH": str(programs), "HERE": str(programs), **settings}
        done = subprocess.run(
            [tmp_path / ".ci/run"], env=environment, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout

    return run


def test_a_browser_that_is_there_must_be_used(ci):
    status, said = ci(has_browser=True)
    assert status == 0
    assert "made test with 1" in said
    assert "made docs with 1" in said
    assert said.endswith("left out, and why:\n  * SKIPPED [1] tests/some.py:3: a guest is absent\n")


def test_a_browser_that_can_be_had_is_installed_and_must_be_used(ci):
    status, said = ci()
    assert status == 0
    assert "made test with 1" in said


@pytest.mark.parametrize("settings", [{"APT_STATUS": "1"}, {"USER_ID": "1000"}])
def test_without_network_or_root_the_rest_is_tested_and_the_end_says_so(ci, settings):
    status, said = ci(**settings)
    assert status == 0
    assert "made test with no browser" in said
    end = said[said.index("left out, and why:") :]
    assert "reports in a browser: there is no chromium, and it could not be installed" in end


def test_tools_of_the_documentation_may_be_absent_and_that_is_said(ci):
    status, said = ci(has_browser=True, STAMP_STATUS="1")
    assert status == 0
    assert "made docs" not in said
    assert "make docs: its tools could not be installed" in said


def test_a_failure_stays_one_and_the_end_is_told_all_the_same(ci):
    status, said = ci(has_browser=True, TEST_STATUS="2")
    assert status == 2
    assert "made docs" not in said
    assert "left out, and why:" in said


def test_browser_tests_that_are_needed_never_skip(tmp_path):
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    found = {}
    for needed in ("", "1"):
        environment = {**os.environ, "PATH": str(tmp_path), "SPINNEY_NEEDS_BROWSER": needed}
        found[needed] = subprocess.run(
            [*command, "tests/unit/report/test_browser.py"],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    assert "SKIPPED [1]" in found[""].stdout
    assert found["1"].returncode != 0
    assert "SPINNEY_NEEDS_BROWSER is set, but there is no browser" in found["1"].stdout
