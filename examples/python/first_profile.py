# SPDX-License-Identifier: Apache-2.0
"""Scopes and a counter around a program's work, and the report of it.

python first_profile.py [FOLDER]
"""

import sys

import gpufl


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else "logs"
    with gpufl.session(app_name="first", log_path=folder) as session:
        for batch in range(3):
            with gpufl.Scope("step", f"batch {batch}"):
                with gpufl.Scope("load"):
                    data = list(range(10_000))
                with gpufl.Scope("work"):
                    sum(value * value for value in data)
            gpufl.tick("batches")
    print(session.log_dir)
    gpufl.generate_report()


if __name__ == "__main__":
    main()
