"""Writes a made-up cluster's jobs into the accounting database of a real Slurm."""

from __future__ import annotations

import subprocess

import numpy as np

COLUMNS = (
    "account, cpus_req, job_name, id_assoc, id_job, id_qos, id_resv, id_wckey, id_user, id_group, "
    "het_job_id, het_job_offset, state_reason_prev, nodelist, nodes_alloc, `partition`, priority, "
    "state, timelimit, time_submit, time_eligible, time_start, time_end, mem_req, tres_alloc, "
    "tres_req, mod_time"
)
LAST = 12 * 3600
PENDING, RUNNING, COMPLETED, CANCELLED = 0, 1, 3, 4  # enum job_states of slurm.h


def insert(folder, trace, shift, first=1_000_000):
    """Inserts the jobs of a Trace that have ended (its waits moved by `shift` seconds), with job
    numbers from `first` on; returns their mask. Of its last hours there are none: among them those
    that have ended would be the ones that waited and ran for a short time.
    """
    start = trace.submit + trace.wait
    ended = ~trace.cancelled & (start + trace.run <= trace.end)
    ended &= trace.submit < trace.end - LAST
    rows = []
    gpus = subprocess.run(
        sql(folder) + ["-N", "-e", "select id from tres_table where type='gres' and name='gpu'"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    # Time limits are minutes, memory is megabytes, TRES are numbered: 1 CPU, 2 memory, 4 nodes.
    for i in np.flatnonzero(ended).tolist():
        cpus, memory = int(trace.cpus[i]), int(trace.memory[i]) * 1024
        tres = f"1={cpus},2={memory},4=1,5={cpus}"
        if trace.gpus[i]:
            tres += f",{gpus}={trace.gpus[i]}"
        submit, begin = int(trace.submit[i]) + shift, int(start[i]) + shift
        # A name that tries what it can; the tool must not ask for it.
        name = "x|y" if i % 7 else "a\\tb\\n\\033[2J$(reboot)"
        rows.append(
            f"('root',{cpus},'{name}',0,{first + i},1,0,0,{trace.user[i] % 3},0,0,4294967294,0,"
            f"'m1',1,'{trace.partition[i]}',1,{COMPLETED},{int(trace.limit[i]) // 60},{submit},"
            f"{submit},{begin},{begin + int(trace.run[i])},{memory},'{tres}','{tres}',{begin})"
        )
    text = ["set autocommit=0;"]
    for at in range(0, len(rows), 2000):
        values = ",\n".join(rows[at : at + 2000])
        text.append(f"insert into toy_job_table ({COLUMNS}) values {values};")
    text.append("commit;")
    subprocess.run(sql(folder), input="\n".join(text), text=True, check=True, capture_output=True)
    return ended


def sql(folder):
    """The call of the database's client."""
    return [
        "mariadb",
        "--no-defaults",
        f"--socket={folder}/run/mysql.socket",
        "-u",
        "root",
        "slurm",
    ]
