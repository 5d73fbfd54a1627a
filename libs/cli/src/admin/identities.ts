import type { Command } from 'commander';
import { group, leaf, type Run } from '../command/command.ts';
import { table } from '../command/table.ts';

interface Key {
  issuer: string;
  subject: string;
}

const KEY: [string, string][] = [
  ['--issuer <url>', 'needed: issuer of the provider, exactly as it names itself; for GitHub: https://github.com'],
  ['--subject <id>', 'needed: id of the account at the provider: the claim sub; for GitHub: the numeric id'],
];

export function identityCommands(admin: Command, run: Run): void {
  const identity = group(admin, 'identity', 'logins of users by GitHub or an OpenID Connect provider');
  leaf<Key & { name?: string }>(identity, run, {
    usage: 'link <email>',
    description: 'let an account at a provider log in as a user',
    writes: true,
    options: [...KEY, ['--name <name>', 'name of the account, for display (default: the id)']],
    async action({ use, admin }, [email = ''], { issuer, subject, name }) {
      const data = await use.linkIdentityOf(admin, email, { issuer, subject, name: name ?? null });
      const done = data.changed ? 'now logs in' : 'logged in already';
      return { data, text: `${data.email} ${done} as ${data.subject} of ${data.issuer}` };
    },
  });
  leaf<{ user?: string }>(identity, run, {
    usage: 'list',
    description: 'list linked accounts',
    writes: false,
    options: [['--user <email>', 'limit to this user']],
    async action({ use, admin }, _args, { user }) {
      const data = await use.listIdentities(admin, user ?? null);
      const rows = data.map((one) => [one.email, one.issuer, one.subject, one.name, one.lastLoginAt]);
      return { data, text: table(['USER', 'ISSUER', 'SUBJECT', 'NAME', 'LAST LOGIN'], rows, 'no linked accounts') };
    },
  });
  leaf<Key>(identity, run, {
    usage: 'unlink <email>',
    description: 'remove a linked account and end all sessions of the user',
    writes: true,
    options: KEY,
    async action({ use, admin }, [email = ''], { issuer, subject }) {
      const data = await use.unlinkIdentityOf(admin, email, { issuer, subject });
      const { sessionsEnded } = data;
      return {
        data,
        text: `${subject} of ${issuer} no longer logs in as ${data.email}, ${sessionsEnded} sessions ended`,
      };
    },
  });
}
