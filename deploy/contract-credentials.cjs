/**
 * Creates what the contract tests of docker-compose.yml log in with, valid for one day: a client of the hosted API that reads
 * for a member of the organisation "default", and a worker token. The member has no password.
 *
 *   node contract-credentials.cjs FOLDER        writes client-id, client-secret and worker-token to FOLDER
 */
const { spawnSync } = require('node:child_process');
const { rmSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const MEMBER = 'contract-tests@pipeline.invalid';
const ORG = 'default';
const EXPIRES = '1d';

const [folder, ...rest] = process.argv.slice(2);
if (folder === undefined || rest.length > 0) {
  console.error('usage: node contract-credentials.cjs FOLDER');
  process.exitCode = 2;
} else {
  const users = pipeline('user', 'list');
  if (!users.some(({ email }) => email === MEMBER)) pipeline('user', 'create', MEMBER, '--no-password');
  // The first repository or worker token of a deployment creates it as well.
  if (!pipeline('org', 'list').some(({ id }) => id === ORG)) pipeline('org', 'create', ORG);
  const { members } = pipeline('org', 'show', ORG);
  if (!members.some(({ email }) => email === MEMBER)) pipeline('member', 'add', ORG, MEMBER, '--role', 'admin');
  const create = ['connections', 'create', 'contract-tests', '--org', ORG, '--user', MEMBER, '--expires', EXPIRES];
  const { clientId, clientSecret } = pipeline(...create);
  const { token } = pipeline('worker-token', 'create', 'contract-tests', '--org', ORG, '--expires', EXPIRES);
  const secrets = { 'client-id': clientId, 'client-secret': clientSecret, 'worker-token': token };
  for (const [name, value] of Object.entries(secrets)) {
    const path = join(folder, name);
    rmSync(path, { force: true }); // of an earlier run; it is not writable
    writeFileSync(path, value, { mode: 0o400 });
  }
}

/** @returns the answer of `pipeline admin`. */
function pipeline(...args) {
  const command = [join(__dirname, 'pipeline.cjs'), 'admin', ...args, '--json'];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`pipeline admin ${args.join(' ')}: ${stderr}`);
  return JSON.parse(stdout);
}
