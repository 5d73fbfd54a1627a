import type { Command } from 'commander';
import { group, leaf, type Run } from '../command/command.ts';
import { UsageError } from '../command/input.ts';
import { table } from '../command/table.ts';

export function workerTokenCommands(admin: Command, run: Run): void {
  const token = group(admin, 'worker-token', 'what workers log in with');
  leaf<{ org?: string; repos?: string; expires?: string }>(token, run, {
    usage: 'create <name>',
    description: 'make a token and print it; it is shown this once and stored as a hash only',
    writes: true,
    options: [
      ['--org <id>', 'whose work it may do (default: default)'],
      ['--repos <slugs>', 'only the work of these, owner/name,… (default: all, those of later too)'],
      ['--expires <when>', 'after how long (30d, 12h) or from when (2027-01-31) it is refused (default: never)'],
    ],
    async deed({ use, admin }, [name = ''], { org = 'default', repos, expires = null }) {
      const list = (repos ?? '').split(',').flatMap((slug) => slug.trim() || []);
      const data = await use.createWorkerToken(admin, { org, name, repos: list, expires });
      return { data, text: data.token };
    },
  });
  leaf<{ org?: string }>(token, run, {
    usage: 'list',
    description: 'list tokens with their expiry and last use, revoked ones too',
    writes: false,
    options: [['--org <id>', 'only those of this organisation']],
    async deed({ use, admin }, _args, { org }) {
      const data = await use.listWorkerTokens(admin, org ?? null);
      const rows = data.map(({ id, name, org, repos, createdAt, expiresAt, lastUsedAt, revokedAt }) => {
        return [id, name, org, repos ?? 'all', createdAt, expiresAt ?? 'never', lastUsedAt, revokedAt];
      });
      const head = ['ID', 'NAME', 'ORG', 'REPOS', 'CREATED', 'EXPIRES', 'LAST USED', 'REVOKED'];
      return { data, text: table(head, rows, 'no worker tokens') };
    },
  });
  leaf<{ name?: string; org?: string }>(token, run, {
    usage: 'revoke [id]',
    description: 'revoke a token; it ends within two seconds, and the names of its workers are free',
    writes: true,
    options: [
      ['--name <name>', 'revoke all of that name instead'],
      ['--org <id>', 'of this organisation, for --name (default: default)'],
    ],
    async deed({ use, admin }, [id = ''], { name, org = 'default' }) {
      if ((id === '') === (name === undefined)) throw new UsageError('say which token: an id, or --name');
      const data = name ? await use.revokeWorkerTokens(admin, { org, name }) : await use.revokeWorkerToken(admin, id);
      return { data, text: `${data.revoked} revoked` };
    },
  });
}
