#!/bin/sh
# A batch as an array of Slurm: each task has a part of the jobs, and results of its own.
#
#   mkdir -p parts results
#   split --number=l/16 --numeric-suffixes --suffix-length=2 --additional-suffix=.jsonl jobs.jsonl parts/
#   sbatch slurm.sh --profile readonly
#   cat results/*.jsonl
#
# A task that was preempted, or whose node failed, is queued again and goes on behind its last result.
#SBATCH --job-name=stockade-batch
#SBATCH --array=0-15
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=04:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
set -u

part=$(printf '%02d.jsonl' "$SLURM_ARRAY_TASK_ID")
# One processor is one job at a time, plus Stockade's own work for it.
srun stockade batch "$@" --jobs "$SLURM_CPUS_PER_TASK" --output "results/$part" "parts/$part"
code=$?
# 1: some jobs have no answer, which their results say. The task itself is complete.
[ "$code" -eq 1 ] || exit "$code"
