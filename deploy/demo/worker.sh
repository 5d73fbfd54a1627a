#!/bin/bash
# pipeline-agent with the scripted agent, in a container of deploy/compose/demo.yaml.
set -euo pipefail
export WORKER_TOKEN_FILE=/run/secrets/demo-worker/worker-token GIT_TOKEN_FILE=/run/secrets/demo-worker/git-token
# The container is the sandbox: programs of the scripted agent may do all that its user may.
exec node /app/bin/agent.mjs --server http://hosted-api:8080 --agent 'node /app/bin/scripted-agent.mjs /app/bin/script.mjs' \
  --agent-name scripted --name "demo-worker-$HOSTNAME" --work-dir /work --sandbox none --no-check
