#!/bin/bash
# Creates the role that replicas log in with, or sets its password.
set -euo pipefail
PGPASSWORD=$(cat /run/secrets/owner/postgres-password)
ROLE_PASSWORD=$(cat /run/secrets/replication/password)
export PGPASSWORD ROLE_PASSWORD
# By standard input: arguments are seen by every process.
psql --quiet --no-psqlrc --set ON_ERROR_STOP=1 --host postgres --username pipeline --dbname pipeline <<'SQL'
\set password `printf %s "$ROLE_PASSWORD"`
select 'create role pipeline_replication'
 where not exists (select from pg_roles where rolname = 'pipeline_replication') \gexec
alter role pipeline_replication with login replication connection limit 5 password :'password';
SQL
