/**
 * Creates the credentials of deploy/compose/demo.yaml, one folder for each reader; those that exist are kept.
 *
 *   node demo-credentials.cjs FOLDER        FOLDER/demo-host, demo-monitor, demo-hosted-api, demo-people and demo-worker exist
 */
const { randomBytes } = require('node:crypto');
const { existsSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { admin, ensureOrg } = require('./admin.cjs');

const WEBHOOK = 'http://hosted-api:8080/webhooks/github';
const ORG = 'default';

const [folder, ...rest] = process.argv.slice(2);
if (folder === undefined || rest.length > 0) {
  console.error('usage: node demo-credentials.cjs FOLDER');
  process.exitCode = 2;
} else if (!existsSync(join(folder, 'demo-worker/worker-token'))) {
  const [bot, person, agent, webhook] = Array.from({ length: 4 }, () => randomBytes(24).toString('hex'));
  const accounts = [
    { login: 'pipeline-bot', token: bot, type: 'Bot' },
    { login: 'demo-person', token: person },
    { login: 'demo-agent', token: agent },
  ];
  write('demo-host/accounts', JSON.stringify(accounts));
  write('demo-host/webhooks', JSON.stringify([{ url: WEBHOOK, secret: webhook }]));
  write('demo-monitor/token', bot);
  write('demo-hosted-api/webhook-secret', webhook);
  write('demo-people/token', person);
  write('demo-worker/git-token', agent);
  // The last one, so that an interrupted run is repeated as a whole.
  write('demo-worker/worker-token', workerToken());
}

function write(name, value) {
  writeFileSync(join(folder, name), value, { mode: 0o600 });
}

function workerToken() {
  ensureOrg(ORG);
  return admin('worker-token', 'create', 'demo', '--org', ORG).token;
}
