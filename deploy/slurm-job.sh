#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A Slurm job that is recorded, and whose sessions are on the server when it ends; docs/guide/upload.md.
# The key is in a file that only its user can read.
#SBATCH --job-name=train
#SBATCH --gpus=1
#SBATCH --time=04:00:00
# Time to send the rest where the job runs into its limit.
#SBATCH --signal=B:TERM@180
set -u

export GPUFL_BACKEND_URL=${GPUFL_BACKEND_URL:-https://gpu.example.com}
key=${KEY_FILE:-$HOME/.config/gpufl/key}
# On the node's own disk, which ends with the job: what is not sent by then is lost.
logs=${SLURM_TMPDIR:-${TMPDIR:-/tmp}}/gpufl-${SLURM_JOB_ID:-$$}
mkdir -p "$logs"

gpufl agent --key-file "$key" "$logs" &
agent=$!
gpufl trace --output "$logs" -- "$@" &
program=$!
# The limit's signal goes to the program, whose session is sealed before it ends.
trap 'kill -TERM "$program"' TERM
# A signal ends the first wait early.
wait "$program"
code=$?
if kill -0 "$program" 2>/dev/null; then
  wait "$program"
  code=$?
fi

# The server knows what it has, so another agent continues where this one is ended.
kill -TERM "$agent" && wait "$agent"
gpufl agent --key-file "$key" --drain --drain-for 2m "$logs" ||
  echo "not everything was sent from $logs" >&2
exit "$code"
