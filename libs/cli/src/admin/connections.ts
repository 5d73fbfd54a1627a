import type { Command } from 'commander';
import { group, leaf, type Run } from '../command/command.ts';
import { UsageError } from '../command/input.ts';
import { table } from '../command/table.ts';

export function connectionCommands(admin: Command, run: Run): void {
  const connections = group(admin, 'connections', 'programs that read in the name of users');
  leaf<{ org?: string; user?: string }>(connections, run, {
    usage: 'list',
    description: 'list connections, revoked ones too, the newest first',
    writes: false,
    options: [
      ['--org <id>', 'only those for this organisation'],
      ['--user <email>', 'only those of this user'],
    ],
    async deed({ use, admin }, _args, { org, user }) {
      const data = await use.listConnections(admin, { org: org ?? null, email: user ?? null });
      const rows = data.map((one) => [one.id, one.client, one.email, one.org, one.live, one.lastUsedAt]);
      return { data, text: table(['ID', 'CLIENT', 'USER', 'ORG', 'LIVE', 'LAST USED'], rows, 'no connections') };
    },
  });
  leaf<{ user?: string }>(connections, run, {
    usage: 'revoke [id]',
    description: 'end a connection with all its tokens, from the next request on',
    writes: true,
    options: [['--user <email>', 'end all of this user instead']],
    async deed({ use, admin }, [id = ''], { user }) {
      if ((id === '') === (user === undefined)) throw new UsageError('say which connection: an id, or --user');
      const data = user ? await use.endConnectionsOf(admin, user) : await use.endConnection(admin, id);
      return { data, text: `${data.revoked.length} revoked` };
    },
  });
}
