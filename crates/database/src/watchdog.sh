# Runs PostgreSQL for as long as somebody holds a shared lock on the lock file, and again if it is killed meanwhile.
# Arguments: the lock file, a directory to remove afterwards or nothing, the command.
trap '' HUP INT TERM
lock=$1 remove=$2
shift 2
# How often it may still fail to start after it was killed: what is left of the killed one may take a while to go.
left=0
while :; do
    "$@" &
    postgres=$!
    # Gets the exclusive lock when all users are gone, and keeps it until PostgreSQL is: a newcomer waits for that.
    flock -x "$lock" sh -c 'kill -INT "$0"; while kill -0 "$0" 2>/dev/null; do sleep 0.02; done' "$postgres" &
    guard=$!
    wait "$postgres"
    status=$?
    kill -KILL "$guard" 2>/dev/null
    if [ "$status" -gt 128 ]; then
        left=100
    elif [ "$status" -eq 0 ] || [ "$left" -eq 0 ]; then
        break
    fi
    left=$((left - 1))
    sleep 0.3
done
if [ -n "$remove" ]; then
    cd / && rm -rf -- "$remove"
fi
exit "$status"
