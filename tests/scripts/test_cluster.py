"""The scripts for clusters: Slurm's runs one command on the first of its nodes, KubeRay's manifest is of one piece."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import yaml

from scripts.cli import execute
from tests.parts.places import ROOT

SCRIPT = ROOT / "scripts" / "cluster" / "slurm.sh"


def test_slurm_starts_ray_on_all_nodes_and_the_command_on_the_first(tmp_path: Path) -> None:
    stubs = {
        "scontrol": "printf 'node1\\nnode2\\n'",
        "hostname": "echo 10.0.0.1 fe80::1",
        "srun": 'echo "srun $*" >> "$TOLD"; while [ "${1#--}" != "$1" ]; do shift; done; exec "$@"',
        "ray": 'echo "ray $*" >> "$TOLD"',
    }
    for name, does in stubs.items():
        (tmp_path / name).write_text(f"#!/usr/bin/env bash\n{does}\n")
        (tmp_path / name).chmod(0o755)
    told = tmp_path / "told"
    variables = {"SLURM_JOB_NODELIST": "node[1-2]", "SLURM_NNODES": "2", "SLURM_CPUS_PER_TASK": "16", "TOLD": str(told)}
    environment = os.environ | variables | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run([SCRIPT, "build", "medconceal", "--out", "a b"], env=environment, check=True)
    *_, started = told.read_text().splitlines()
    assert started.startswith("ray symmetric-run --address 10.0.0.1:6379 --min-nodes 2 --num-cpus=16 -- ")
    assert started.endswith("env RAY_ADDRESS=10.0.0.1:6379 bedside build medconceal --out a b --engine ray")
    assert "--nodelist=node1" in told.read_text() and "--nodes=2 --ntasks=2" in told.read_text()
    assert subprocess.run([SCRIPT], env=environment, capture_output=True).returncode == 2


def test_the_job_of_kuberay_is_of_one_piece(capsys: Any) -> None:
    job = yaml.safe_load((SCRIPT.with_name("kuberay.yaml")).read_text())
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    cluster = job["spec"]["rayClusterSpec"]
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    pods = [group["template"]["spec"] for group in groups]
    assert len({pod["containers"][0]["image"] for pod in pods}) == 1  # another one would be refused as other code
    for pod in pods:
        (mount,), (volume,) = pod["containers"][0]["volumeMounts"], pod["volumes"]
        assert mount["name"] == volume["name"] and "persistentVolumeClaim" in volume
    inner = shlex.split(job["spec"]["entrypoint"])[-1]
    folder, command = inner.split(" && ")
    assert folder == f"cd {pods[0]['containers'][0]['volumeMounts'][0]['mountPath']}"
    assert command.startswith("bedside build ") and command.endswith(" --engine ray")
    assert execute([*shlex.split(command)[1:3], "--help"]) == 0 and "--engine" in capsys.readouterr().out
