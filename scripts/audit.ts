/**
 * Asks the package registry for known vulnerabilities of what each lockfile pins. Exits with 1 for one of high or
 * critical severity; a registry that answers no audits, or none that can be reached, is a skipped check and is
 * reported.
 *
 *   node scripts/audit.ts
 */
import { spawnSync } from 'node:child_process';
import { basename, dirname, join } from 'node:path';
import manifest from '../package.json' with { type: 'json' };
import { judgeAudit } from './checks/judge-audit.ts';
import { repositoryFiles } from './checks/workspace.ts';

const root = join(import.meta.dirname, '..');
const args = ['--yes', manifest.packageManager, 'audit', '--audit-level', 'high'];
for (const lockfile of repositoryFiles().filter((path) => basename(path) === 'pnpm-lock.yaml')) {
  const cwd = join(root, dirname(lockfile));
  const { status, stdout, stderr, error } = spawnSync('npx', args, { cwd, encoding: 'utf8', timeout: 120_000 });
  const output = `${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}`;
  const { failed, message } = judgeAudit(status, output);
  process.stdout.write(`${output.trim()}\n\n${lockfile}: ${message}\n`);
  if (failed) process.exitCode = 1;
}
