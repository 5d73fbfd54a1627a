/**
 * Creates what the contract tests of docker-compose.yml log in with, valid for one day: a client of the hosted API that reads
 * for a member of the organisation "default", and a worker token. The member has no password.
 *
 *   node contract-credentials.cjs FOLDER        writes client-id, client-secret and worker-token to FOLDER
 */
const { rmSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { admin, ensureOrg } = require('./admin.cjs');

const MEMBER = 'contract-tests@pipeline.invalid';
const ORG = 'default';
const EXPIRES = '1d';

const [folder, ...rest] = process.argv.slice(2);
if (folder === undefined || rest.length > 0) {
  console.error('usage: node contract-credentials.cjs FOLDER');
  process.exitCode = 2;
} else {
  const users = admin('user', 'list');
  if (!users.some(({ email }) => email === MEMBER)) admin('user', 'create', MEMBER, '--no-password');
  ensureOrg(ORG);
  const { members } = admin('org', 'show', ORG);
  if (!members.some(({ email }) => email === MEMBER)) admin('member', 'add', ORG, MEMBER, '--role', 'admin');
  const create = ['connections', 'create', 'contract-tests', '--org', ORG, '--user', MEMBER, '--expires', EXPIRES];
  const { clientId, clientSecret } = admin(...create);
  const { token } = admin('worker-token', 'create', 'contract-tests', '--org', ORG, '--expires', EXPIRES);
  const secrets = { 'client-id': clientId, 'client-secret': clientSecret, 'worker-token': token };
  for (const [name, value] of Object.entries(secrets)) {
    const path = join(folder, name);
    rmSync(path, { force: true }); // of an earlier run; it is not writable
    writeFileSync(path, value, { mode: 0o400 });
  }
}
