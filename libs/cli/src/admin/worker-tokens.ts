import type { Command } from 'commander';
import { group, leaf, type Run } from '../command/command.ts';
import { UsageError } from '../command/errors.ts';
import { table } from '../command/table.ts';

export function workerTokenCommands(admin: Command, run: Run): void {
  const token = group(admin, 'worker-token', 'tokens that authenticate workers');
  leaf<{ org?: string; repos?: string; taskTypes?: string; expires?: string }>(token, run, {
    usage: 'create <name>',
    description: 'create a token and print it; it is shown only once and stored as a hash',
    writes: true,
    options: [
      ['--org <id>', 'organisation whose tasks the token may claim (default: default)'],
      ['--repos <slugs>', 'limit the token to these repos, owner/name,… (default: all, including repos added later)'],
      [
        '--task-types <types>',
        'limit the token to these types of tasks, such as review,merge, so that reviewers do not develop (default: all)',
      ],
      ['--expires <when>', 'expiry: a duration (30d, 12h) or a date (2027-01-31) (default: never)'],
    ],
    async action({ use, admin }, [name = ''], { org = 'default', repos, taskTypes, expires = null }) {
      const scope = { repos: listOf(repos), taskTypes: listOf(taskTypes) };
      const data = await use.createWorkerToken(admin, { org, name, ...scope, expires });
      return { data, text: data.token };
    },
  });
  leaf<{ org?: string }>(token, run, {
    usage: 'list',
    description: 'list tokens with expiry and last use, including revoked tokens',
    writes: false,
    options: [['--org <id>', 'limit to this organisation']],
    async action({ use, admin }, _args, { org }) {
      const data = await use.listWorkerTokens(admin, org ?? null);
      const rows = data.map(({ id, name, org, repos, taskTypes, createdAt, expiresAt, lastUsedAt, revokedAt }) => {
        return [
          id,
          name,
          org,
          repos ?? 'all',
          taskTypes ?? 'all',
          createdAt,
          expiresAt ?? 'never',
          lastUsedAt,
          revokedAt,
        ];
      });
      const head = ['ID', 'NAME', 'ORG', 'REPOS', 'TASK TYPES', 'CREATED', 'EXPIRES', 'LAST USED', 'REVOKED'];
      return { data, text: table(head, rows, 'no worker tokens') };
    },
  });
  leaf<{ name?: string; org?: string }>(token, run, {
    usage: 'revoke [id]',
    description: 'revoke a token; takes effect within two seconds and releases the names of its workers',
    writes: true,
    options: [
      ['--name <name>', 'revoke all tokens with this name'],
      ['--org <id>', 'organisation for --name (default: default)'],
    ],
    async action({ use, admin }, [id = ''], { name, org = 'default' }) {
      if ((id === '') === (name === undefined)) throw new UsageError('give a token id or --name');
      const data = name ? await use.revokeWorkerTokens(admin, { org, name }) : await use.revokeWorkerToken(admin, id);
      return { data, text: `${data.revoked} revoked` };
    },
  });
}

const listOf = (text = ''): string[] => text.split(',').flatMap((item) => item.trim() || []);
