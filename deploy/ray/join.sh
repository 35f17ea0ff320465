#!/bin/bash
# Adds what Ray Serve serves to Groundstate's pool. It starts no engine: it watches the endpoint and reports, and when
# it ends, the endpoint leaves the pool. Run it beside the cluster's head, under whatever restarts programs there.
#
#   GROUNDSTATE_SERVER=https://groundstate.example.org TOKEN_FILE=join-token deploy/ray/join.sh
set -euo pipefail

: "${GROUNDSTATE_SERVER:?the URL of the server, https}"
: "${TOKEN_FILE:?a file with what groundstate workers token printed}"
# As players reach it, not only this machine.
url=${RAY_URL:-http://$(hostname -f):8000/v1}

# Ray spreads the requests over its replicas: the bound holds for all of them together.
exec groundstate worker \
    --server "$GROUNDSTATE_SERVER" \
    --token-file "$TOKEN_FILE" \
    --name "ray-$(hostname -s)" \
    --engine external \
    --url "$url" \
    --model "${MODEL:-qwen3-8b}" \
    --max-in-flight "${MAX_IN_FLIGHT:-1024}"
