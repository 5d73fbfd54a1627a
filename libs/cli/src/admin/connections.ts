import type { Command } from 'commander';
import { group, leaf, type Run } from '../command/command.ts';
import { UsageError } from '../command/input.ts';
import { table } from '../command/table.ts';

export function connectionCommands(admin: Command, run: Run): void {
  const connections = group(admin, 'connections', 'programs that read on behalf of users');
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
