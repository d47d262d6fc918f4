# SPDX-License-Identifier: Apache-2.0
"""GitHub's workflows: what they do can be done anywhere, and nothing leaves without a person's tag."""

import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKFLOWS = {path.name: path.read_text() for path in (ROOT / ".github/workflows").glob("*.yml")}
ACTIONS = {
    "actions/checkout@v4",
    "actions/download-artifact@v4",
    "actions/upload-artifact@v4",
    "./.github/workflows/wheels.yml",
}


class WorkflowsTest(unittest.TestCase):
    def test_every_step_is_a_verb_of_dev(self):
        usage = subprocess.run([ROOT / "dev", "help"], check=True, capture_output=True, text=True).stdout
        verbs = set(re.findall(r"^  (\S+) +\S", usage, re.MULTILINE))
        commands = [command for text in WORKFLOWS.values() for command in re.findall(r"\brun: (.*)", text)]
        self.assertGreaterEqual(len(commands), 5)
        for command in commands:
            self.assertRegex(command, r"^\./dev \S+")
            self.assertIn(command.split()[1], verbs)

    def test_few_actions_are_used(self):
        used = {action for text in WORKFLOWS.values() for action in re.findall(r"\buses: (\S+)", text)}
        self.assertLessEqual(used, ACTIONS)

    def test_one_job_may_write_and_runs_for_tags_alone(self):
        for name, text in WORKFLOWS.items():
            self.assertRegex(text, r"(?m)^permissions:\n  contents: read$", name)
            granted = re.findall(r"\b\S+: write", text)
            self.assertEqual(granted, ["contents: write"] if name == "release.yml" else [], name)
        trigger = WORKFLOWS["release.yml"].partition("\non:\n")[2].partition("permissions:")[0]
        self.assertEqual(trigger, '  push:\n    tags: ["v*"]\n')


if __name__ == "__main__":
    unittest.main()
