# SPDX-License-Identifier: Apache-2.0
"""`python -m gpufl` is the `gpufl` command."""

from ._command import main

main()
