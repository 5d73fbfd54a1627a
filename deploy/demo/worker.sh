#!/bin/bash
# pipeline-agent with the scripted agent, in a container of deploy/compose/demo.yaml.
set -euo pipefail
WORKER_TOKEN=$(cat /run/secrets/demo-worker/worker-token)
GIT_TOKEN=$(cat /run/secrets/demo-worker/git-token)
export WORKER_TOKEN GIT_TOKEN
exec node /app/bin/agent.mjs --server http://hosted-api:8080 --agent 'node /app/bin/scripted-agent.mjs /app/bin/script.mjs' \
  --agent-name scripted --name "demo-worker-$HOSTNAME" --work-dir /work --sandbox none --no-check
