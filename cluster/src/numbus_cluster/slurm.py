"""Calls Slurm's programs: without a shell, with a time limit, their complaints as one line."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile

from .errors import complain

__all__ = ["run", "stream"]

SECONDS = 600
ENVIRONMENT = {"TZ": "UTC", "SLURM_TIME_FORMAT": "standard", "LC_ALL": "C"}


def find(program):
    """The program's path."""
    path = shutil.which(program)
    if path is None:
        raise complain(
            program,
            f"there is no program {program}",
            "nothing of that name in PATH",
            "Slurm's programs, or a saved dump (--dump FILE)",
        )
    return path


def environment():
    # SACCT_*, SQUEUE_* and SINFO_* would change what is printed.
    mine = {
        k: v
        for k, v in os.environ.items()
        if not re.match(r"(SACCT|SQUEUE|SINFO|SCONTROL|SBATCH)_", k)
    }
    return mine | ENVIRONMENT


def failure(program, code, errors):
    """What a program's complaint means."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    said = lines[-1] if lines else f"exit status {code}"
    lower = errors.lower()
    if "accounting storage is disabled" in lower or "not running with slurmdbd" in lower:
        wrong, expected = (
            "Slurm's accounting is switched off",
            "AccountingStorageType = accounting_storage/slurmdbd in slurm.conf, or --dump FILE",
        )
    elif "permission denied" in lower or "access denied" in lower or "invalid user" in lower:
        wrong, expected = "permission denied", "a user who may read the accounting"
    elif "connection refused" in lower or "unable to contact" in lower or "timed out" in lower:
        wrong, expected = "Slurm does not answer", "running daemons, or --dump FILE"
    elif "could not establish a configuration" in lower:
        wrong, expected = (
            "this machine belongs to no Slurm cluster",
            "a login node of one, or --dump FILE",
        )
    else:
        wrong, expected = f"{program} failed", "jobs"
    return complain(program, wrong, repr(said), expected)


def stream(arguments):
    """Yields what a program prints, in blocks of bytes; a Problem where it fails."""
    program = arguments[0]
    command = [find(program), *arguments[1:]]
    with tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=environment(),
            )
        except OSError as error:
            raise complain(program, "it cannot be started", error, "Slurm's program") from None
        try:
            while block := process.stdout.read(1 << 20):
                yield block
            code = process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            raise complain(
                program, "it does not end", f"{SECONDS} s of waiting", "an answer"
            ) from None
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            process.stdout.close()
        errors.seek(0)
        said = errors.read(1 << 16).decode(errors="replace")
    if code != 0 or ("error" in said.lower() and program == "sacct"):
        raise failure(program, code, said)


def run(arguments, text=None):
    """What a program prints, as text; a Problem where it fails. text: its input."""
    program = arguments[0]
    try:
        done = subprocess.run(
            [find(program), *arguments[1:]],
            input=text,
            capture_output=True,
            timeout=SECONDS,
            env=environment(),
            encoding="utf-8",
            errors="replace",
        )
    except subprocess.TimeoutExpired:
        raise complain(program, "it does not end", f"{SECONDS} s of waiting", "an answer") from None
    except OSError as error:
        raise complain(program, "it cannot be started", error, "Slurm's program") from None
    if done.returncode:
        raise failure(program, done.returncode, done.stderr)
    return done.stdout
