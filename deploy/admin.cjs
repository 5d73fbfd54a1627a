/** The command for operators, for programs of the image of `migrate`. */
const { spawnSync } = require('node:child_process');
const { join } = require('node:path');

/** @returns the answer of `pipeline admin`. @throws Error with what it printed when it fails. */
function admin(...args) {
  const command = [join(__dirname, 'pipeline.cjs'), 'admin', ...args, '--json'];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`pipeline admin ${args.join(' ')}: ${stderr}`);
  return JSON.parse(stdout);
}

/** Creates the organisation where it is missing. The first repository or worker token of a deployment creates it as well. */
function ensureOrg(id) {
  if (!admin('org', 'list').some((org) => org.id === id)) admin('org', 'create', id);
}

module.exports = { admin, ensureOrg };
