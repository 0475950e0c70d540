#!/usr/bin/env bash
# A real Slurm on this machine, for the tests: munge, MariaDB, slurmdbd, slurmctld and a slurmd for
# each virtual node, on the loopback interface and ports of its own, everything in one folder.
#
#   cluster.sh start FOLDER [SECONDS]   starts it; it stops by itself after so long (default: 170)
#   cluster.sh stop FOLDER              stops it and removes the folder
#
# Afterwards SLURM_CONF=FOLDER/etc/slurm.conf makes sbatch, squeue, sacct … talk to it.
set -euo pipefail
command=${1:?start or stop}
folder=${2:?a folder}
lifetime=${3:-170}
# A range of ports that follows from the folder, so that two of them do not meet.
base=$((20000 + $(printf %s "$folder" | cksum | cut -d' ' -f1) % 400 * 50))
nodes=(m1 m2 m3 g1 i1)

stop() {
  for file in "$folder"/run/*.pid; do
    [ -f "$file" ] && kill "$(cat "$file")" 2>/dev/null
  done
  for _ in $(seq 50); do
    alive=0
    for file in "$folder"/run/*.pid; do
      [ -f "$file" ] && kill -0 "$(cat "$file")" 2>/dev/null && alive=1
    done
    [ $alive = 1 ] || break
    sleep 0.1
  done
  for file in "$folder"/run/*.pid; do
    [ -f "$file" ] && kill -KILL "$(cat "$file")" 2>/dev/null
  done
  rm -rf "$folder"
}

if [ "$command" = stop ]; then
  [ -f "$folder/etc/slurm.conf" ] || { echo "cluster.sh: $folder is no cluster of mine" >&2; exit 1; }
  [ -f "$folder/watch" ] && kill "$(cat "$folder/watch")" 2>/dev/null
  stop || true
  exit 0
fi
[ "$command" = start ] || { echo "cluster.sh: start or stop, not $command" >&2; exit 2; }
[ ! -e "$folder" ] || { echo "cluster.sh: $folder exists already" >&2; exit 1; }
for program in munged mariadbd mariadb-install-db slurmdbd slurmctld slurmd; do
  command -v $program >/dev/null || { echo "cluster.sh: there is no $program; see install.sh" >&2; exit 1; }
done

mkdir -p "$folder"/{etc,run,log,state,db,spool}
chmod 755 "$folder"
trap 'echo "cluster.sh: cannot start; the last lines of its logs:" >&2; tail -n 4 "$folder"/log/* >&2; [ -n "${KEEP:-}" ] || stop' ERR

# Waits until a command succeeds.
await() {
  local what=$1
  shift
  for _ in $(seq 100); do
    timeout 3 "$@" >/dev/null 2>&1 && return 0
    sleep 0.1
  done
  echo "cluster.sh: $what does not answer" >&2
  return 1
}

# --- munge ---------------------------------------------------------------------------------------
head -c 128 /dev/urandom >"$folder/etc/munge.key"
chmod 400 "$folder/etc/munge.key"
munged --force --key-file="$folder/etc/munge.key" --socket="$folder/run/munge.socket" \
  --pid-file="$folder/run/munged.pid" --log-file="$folder/log/munged" \
  --seed-file="$folder/run/munge.seed" 2>>"$folder/log/munged.err"

# --- MariaDB ---------------------------------------------------------------------------------------
mariadb-install-db --no-defaults --datadir="$folder/db" --auth-root-authentication-method=normal \
  --skip-test-db --user="$(id -un)" >"$folder/log/install-db" 2>&1
setsid mariadbd --no-defaults --user="$(id -un)" --datadir="$folder/db" --socket="$folder/run/mysql.socket" \
  --port=$base --bind-address=127.0.0.1 --pid-file="$folder/run/mariadbd.pid" \
  --innodb-buffer-pool-size=128M --innodb-lock-wait-timeout=900 --innodb-log-file-size=64M \
  --innodb-flush-log-at-trx-commit=0 --innodb-doublewrite=0 --local-infile=1 \
  >"$folder/log/mariadbd" 2>&1 &
sql=(mariadb --no-defaults --socket="$folder/run/mysql.socket" -u root)
await MariaDB "${sql[@]}" -e 'select 1'
"${sql[@]}" -e "create database slurm; create user slurm@localhost identified by 'slurm';
  create user slurm@'127.0.0.1' identified by 'slurm';
  grant all on slurm.* to slurm@localhost; grant all on slurm.* to slurm@'127.0.0.1';"

# --- Slurm -----------------------------------------------------------------------------------------
cat >"$folder/etc/slurmdbd.conf" <<END
AuthType=auth/munge
AuthInfo=socket=$folder/run/munge.socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$((base + 1))
SlurmUser=$(id -un)
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$base
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm
LogFile=$folder/log/slurmdbd
PidFile=$folder/run/slurmdbd.pid
END
chmod 600 "$folder/etc/slurmdbd.conf"

host=$(hostname -s)
{
  cat <<END
ClusterName=toy
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$folder/run/munge.socket
CryptoType=crypto/munge
SlurmctldPort=$((base + 2))
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=$folder/run/slurmctld.pid
SlurmdPidFile=$folder/run/slurmd-%n.pid
SlurmctldLogFile=$folder/log/slurmctld
SlurmdLogFile=$folder/log/slurmd-%n
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
SwitchType=switch/none
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=2,sched_min_interval=100000,batch_sched_delay=1,bf_window=10080
PriorityType=priority/basic
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
DefMemPerCPU=512
MinJobAge=30
MaxJobCount=20000
GresTypes=gpu
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$((base + 1))
AccountingStoragePass=$folder/run/munge.socket
AccountingStorageTRES=gres/gpu
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
KillWait=2
NodeName=m[1-3] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((base + 10))-$((base + 12))] CPUs=8 RealMemory=32000
NodeName=g1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((base + 13)) CPUs=8 RealMemory=64000 Gres=gpu:2
NodeName=i1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((base + 14)) CPUs=4 RealMemory=16000
PartitionName=medium Nodes=m[1-3] Default=YES MaxTime=2-00:00:00 State=UP
PartitionName=gpu Nodes=g1 MaxTime=2-00:00:00 State=UP
PartitionName=int Nodes=i1 MaxTime=08:00:00 State=UP
END
} >"$folder/etc/slurm.conf"
# GPUs must be device files; these exist everywhere.
echo "NodeName=g1 Name=gpu File=/dev/null,/dev/zero" >"$folder/etc/gres.conf"
export SLURM_CONF=$folder/etc/slurm.conf

listening=(bash -c "exec 3<>/dev/tcp/127.0.0.1/\$0")
(cd "$folder" && slurmdbd 2>>"$folder/log/slurmdbd.err")
await slurmdbd "${listening[@]}" $((base + 1))
await slurmdbd sacctmgr -i add cluster toy
(cd "$folder" && slurmctld 2>>"$folder/log/slurmctld.err")
await slurmctld scontrol ping
for node in "${nodes[@]}"; do
  mkdir -p "$folder/spool/$node"
  (cd "$folder" && slurmd -N "$node" 2>>"$folder/log/slurmd.err")
done
await "a node" bash -c '[ "$(sinfo -h -N -t idle -o %N | sort -u | wc -l)" = "$0" ]' ${#nodes[@]}

# Whatever becomes of who started it, nothing stays.
setsid bash -c 'sleep "$1"; exec bash "$2" stop "$3"' watch "$lifetime" "$(realpath "$0")" "$folder" \
  </dev/null >/dev/null 2>&1 &
echo $! >"$folder/watch"
trap - ERR
echo "SLURM_CONF=$SLURM_CONF"
