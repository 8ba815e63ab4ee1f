#!/usr/bin/env bash
# One command of Bedside on all nodes of a Slurm job: Ray starts on each, the command runs on the first, Ray ends with it.
#
#   sbatch --nodes 8 scripts/cluster/slurm.sh build medlaybench-v --captions captions.parquet --out release
#
# Submit it in a folder that all nodes share, with the environment that has `bedside[ray]` in PATH. A job that ran out of
# time, or was killed, goes on where it was when it is submitted again.
#SBATCH --job-name=bedside
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --time=04:00:00
set -euo pipefail
[ $# -gt 0 ] || { echo "say which command: slurm.sh build medlaybench-v …" >&2; exit 2; }

first=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | sed -n 1p)  # not `head`, which breaks the pipe
host=$(srun --nodes=1 --ntasks=1 --nodelist="$first" hostname --ip-address | awk '{print $1}')
address=$host:${BEDSIDE_RAY_PORT:-6379}

export RAY_USAGE_STATS_ENABLED=0
# Without a token, whoever reaches a node may run code there. It lies in the home folder, which nodes of Slurm share.
export RAY_AUTH_MODE=token
ray get-auth-token --generate > /dev/null

exec srun --nodes="$SLURM_NNODES" --ntasks="$SLURM_NNODES" \
  ray symmetric-run --address "$address" --min-nodes "$SLURM_NNODES" --num-cpus="${SLURM_CPUS_PER_TASK:-1}" -- \
  env RAY_ADDRESS="$address" bedside "$@" --engine ray
