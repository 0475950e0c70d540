"""Waiting times of a Slurm cluster, and where a job finishes first."""

__version__ = "0.1.0"
