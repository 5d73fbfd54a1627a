import type { Command } from 'commander';
import { group, leaf, type Run } from '../command/command.ts';
import { UsageError } from '../command/errors.ts';
import { table } from '../command/table.ts';

const MOST = 10_000;

export function auditCommands(admin: Command, run: Run): void {
  const audit = group(admin, 'audit', 'audit log of actions on users, organisations, tokens and agents');
  leaf<{ limit?: string }>(audit, run, {
    usage: 'list',
    description: 'list the latest actions, newest first; actions on a repo are recorded as its pipeline events',
    writes: false,
    options: [['--limit <n>', 'maximum number of entries (default: 100)']],
    async action({ use, admin }, _args, { limit = '100' }) {
      const wanted = Number(limit);
      if (!Number.isInteger(wanted) || wanted < 1 || wanted > MOST) {
        throw new UsageError(`--limit must be a whole number from 1 to ${MOST}, not ${limit}`);
      }
      const data = await use.listAudit(admin, wanted);
      const rows = data.map((one) => [one.at, one.actor, one.action, one.subject, one.reason]);
      return { data, text: table(['AT', 'WHO', 'WHAT', 'TO', 'WHY'], rows, 'no entries') };
    },
  });
}
