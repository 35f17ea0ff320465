# Runs PostgreSQL for as long as somebody holds a shared lock on the lock file.
# Arguments: the lock file, a directory to remove afterwards or nothing, the command.
trap '' HUP INT TERM
lock=$1 remove=$2
shift 2
"$@" &
postgres=$!
# Gets the exclusive lock when all users are gone, and keeps it until PostgreSQL is: a newcomer waits for that.
flock -x "$lock" sh -c 'kill -INT "$0"; while kill -0 "$0" 2>/dev/null; do sleep 0.02; done' "$postgres" &
guard=$!
wait "$postgres"
status=$?
kill -KILL "$guard" 2>/dev/null
if [ -n "$remove" ]; then
    cd / && rm -rf -- "$remove"
fi
exit "$status"
