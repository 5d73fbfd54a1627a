import type { Command } from 'commander';
import { group, leaf, type Run, type Session } from '../command/command.ts';
import { table } from '../command/table.ts';

export function userCommands(admin: Command, run: Run): void {
  const user = group(admin, 'user', 'users who log in to connect programs');
  leaf<{ name?: string; password: boolean }>(user, run, {
    usage: 'create <email>',
    description: 'create a user; prompts for the password or reads it from standard input',
    writes: true,
    options: [
      ['--name <name>', 'display name (default: the email address)'],
      ['--no-password', 'create without a password; the user cannot log in until set-password or identity link'],
    ],
    async action({ use, admin, readPassword }, [email = ''], options) {
      const password = options.password ? await readPassword() : null;
      const data = await use.createUser(admin, { email, name: options.name ?? email, password });
      return { data, text: `user ${data.email} created` };
    },
  });
  leaf(user, run, {
    usage: 'list',
    description: 'list all users',
    writes: false,
    async action({ use, admin }) {
      const data = await use.listUsers(admin);
      const rows = data.map((one) => {
        const roles = Object.entries(one.roles).map(([org, role]) => `${org}:${role}`);
        return [one.email, one.name, one.disabled, one.hasPassword, roles];
      });
      return { data, text: table(['EMAIL', 'NAME', 'DISABLED', 'PASSWORD', 'ROLES'], rows, 'no users') };
    },
  });
  const disable = async ({ use, admin }: Session, email: string, disabled: boolean) => {
    const data = await use.disableUser(admin, email, disabled);
    const now = disabled ? 'disabled' : 'enabled';
    return { data, text: `user ${data.email} ${data.changed ? `is ${now}` : `was already ${now}`}` };
  };
  leaf(user, run, {
    usage: 'disable <email>',
    description: 'disable a user: ends all sessions and denies access to the connections of the user',
    writes: true,
    action: (session, [email = '']) => disable(session, email, true),
  });
  leaf(user, run, {
    usage: 'enable <email>',
    description: 'enable a disabled user; connections that were not revoked work again',
    writes: true,
    action: (session, [email = '']) => disable(session, email, false),
  });
  leaf(user, run, {
    usage: 'set-password <email>',
    description:
      'set a new password and end all sessions of the user; prompts for the password or reads it from standard input',
    writes: true,
    async action({ use, admin, readPassword }, [email = '']) {
      const data = await use.setPassword(admin, email, await readPassword());
      return { data, text: `password of ${data.email} set, ${data.sessionsEnded} sessions ended` };
    },
  });
}
