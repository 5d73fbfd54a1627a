import type { Command } from 'commander';
import { group, leaf, type Run } from '../command/command.ts';
import { UsageError } from '../command/errors.ts';
import { table } from '../command/table.ts';

export function connectionCommands(admin: Command, run: Run): void {
  const connections = group(admin, 'connections', 'programs that read on behalf of users');
  leaf<{ org?: string; user?: string; expires?: string }>(connections, run, {
    usage: 'create <name>',
    description: 'create a client id and secret for a program that runs without a user, such as a CI pipeline',
    writes: true,
    options: [
      ['--user <email>', 'member whose read access the program has; required'],
      ['--org <id>', 'organisation that the program reads (default: default)'],
      ['--expires <when>', 'expiry: a duration (90d, 12h) or a date (2027-01-31) (default: 90d)'],
    ],
    async action({ use, admin }, [name = ''], { org = 'default', user, expires = '90d' }) {
      if (user === undefined) throw new UsageError('--user is required');
      const data = await use.createCredentials(admin, { org, email: user, name, expires });
      const { clientId, clientSecret, expiresAt } = data;
      return { data, text: `client id      ${clientId}\nclient secret  ${clientSecret}\nexpires        ${expiresAt}` };
    },
  });
  leaf<{ org?: string; user?: string }>(connections, run, {
    usage: 'list',
    description: 'list connections, newest first, including revoked ones',
    writes: false,
    options: [
      ['--org <id>', 'limit to this organisation'],
      ['--user <email>', 'limit to this user'],
    ],
    async action({ use, admin }, _args, { org, user }) {
      const data = await use.listConnections(admin, { org: org ?? null, email: user ?? null });
      const rows = data.map((one) => [one.id, one.client, one.email, one.org, one.live, one.lastUsedAt]);
      return { data, text: table(['ID', 'CLIENT', 'USER', 'ORG', 'LIVE', 'LAST USED'], rows, 'no connections') };
    },
  });
  leaf<{ user?: string }>(connections, run, {
    usage: 'revoke [id]',
    description: 'revoke a connection and all its tokens; takes effect with the next request',
    writes: true,
    options: [['--user <email>', 'revoke all connections of this user']],
    async action({ use, admin }, [id = ''], { user }) {
      if ((id === '') === (user === undefined)) throw new UsageError('give a connection id or --user');
      const data = user ? await use.endConnectionsOf(admin, user) : await use.endConnection(admin, id);
      return { data, text: `${data.revoked.length} revoked` };
    },
  });
}
