/**
 * Prepares the secrets of docker-compose.yml: one folder for each reader, so that no service can read the secrets of
 * another. A secret is taken from the environment; otherwise it is kept if its file exists, and generated if not.
 *
 *   node secrets.cjs FOLDER        FOLDER/owner, hosted-api, monitor and operator in it exist and are writable
 *
 * DATABASE_POOLER and DATABASE_REPLICA (host:port, deploy/compose/scale.yaml) add the addresses of the services there, and
 * what the two log in with, in FOLDER/pooler and FOLDER/replication.
 */
const { randomBytes } = require('node:crypto');
const { existsSync, readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const SERVER = 'postgres:5432';
const { DATABASE_POOLER, DATABASE_REPLICA } = process.env;

const [folder, ...rest] = process.argv.slice(2);
if (folder === undefined || rest.length > 0) {
  console.error('usage: node secrets.cjs FOLDER');
  process.exitCode = 2;
} else {
  const owner = secret('owner/postgres-password', 'POSTGRES_PASSWORD');
  write('owner/database-url', urlOf('pipeline', owner));
  const hosted = secret('hosted-api/database-password', 'HOSTED_API_DATABASE_PASSWORD');
  write('hosted-api/database-url', urlOf('pipeline_hosted_api', hosted));
  secret('hosted-api/oauth-cookie-keys', 'OAUTH_COOKIE_KEYS');
  const monitor = secret('monitor/database-password', 'MONITOR_DATABASE_PASSWORD');
  write('monitor/database-url', urlOf('pipeline_monitor', monitor));
  secret('operator/password', 'MONITOR_PASSWORD');
  if (DATABASE_POOLER) {
    write('hosted-api/pooled-database-url', urlOf('pipeline_hosted_api', hosted, DATABASE_POOLER));
    write('monitor/pooled-database-url', urlOf('pipeline_monitor', monitor, DATABASE_POOLER));
    const logins = { pipeline_hosted_api: hosted, pipeline_monitor: monitor };
    const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
    const lines = Object.entries(logins).map(([user, password]) => `${quoted(user)} ${quoted(password)}\n`);
    write('pooler/userlist.txt', lines.join(''));
  }
  if (DATABASE_REPLICA) {
    write('hosted-api/replica-database-url', urlOf('pipeline_hosted_api', hosted, DATABASE_REPLICA));
    secret('replication/password', 'REPLICATION_PASSWORD');
  }
  console.log('Operators log in as "operator". To print the password:');
  console.log('docker compose exec monitor cat /run/secrets/operator/password');
}

/** @returns the value of a secret, which is in its file afterwards. */
function secret(name, variable) {
  const given = process.env[variable];
  const path = join(folder, name);
  if (given) return write(name, given, `taken from ${variable}`);
  if (existsSync(path)) return readFileSync(path, 'utf8');
  return write(name, randomBytes(24).toString('hex'), 'generated');
}

/**
 * Replaces a file as a whole, so that no reader sees half of it. Postgres runs under another user id than the services;
 * nothing else runs where the owner's folder is mounted.
 */
function write(name, value, how) {
  const path = join(folder, name);
  rmSync(`${path}.new`, { force: true }); // of a run that was killed; it is not writable
  writeFileSync(`${path}.new`, value, { mode: name.startsWith('owner/') ? 0o444 : 0o400 });
  renameSync(`${path}.new`, path);
  if (how) console.log(`${name}: ${how}`);
  return value;
}

function urlOf(user, password, server = SERVER) {
  return `postgres://${user}:${encodeURIComponent(password)}@${server}/pipeline`;
}
