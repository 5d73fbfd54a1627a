#!/bin/bash
# Starts a streaming replica of the server "postgres". The first start copies the server.
set -euo pipefail
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  # The copy has its name when it is complete; one that was interrupted is removed.
  rm -rf "$PGDATA" "$PGDATA.new"
  install -d -o postgres -g postgres "$(dirname "$PGDATA")"
  PGPASSWORD=$(cat /run/secrets/replication/password)
  export PGPASSWORD
  # --write-recovery-conf keeps the password in the data folder, for the connection to the server.
  gosu postgres pg_basebackup --host postgres --username pipeline_replication --pgdata "$PGDATA.new" \
    --wal-method stream --checkpoint fast --write-recovery-conf
  mv "$PGDATA.new" "$PGDATA"
  unset PGPASSWORD
fi
# At least as many connections as the server, or the replica does not start.
exec docker-entrypoint.sh postgres -c max_connections=200
