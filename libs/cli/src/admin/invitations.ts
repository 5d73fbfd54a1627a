import type { Command } from 'commander';
import { group, leaf, type Run } from '../command/command.ts';
import { InputError } from '../command/errors.ts';
import { table } from '../command/table.ts';
import { ROLE_NOTE } from './members.ts';

interface CreateOptions {
  role?: string;
  days?: string;
  url?: string;
}

export function invitationCommands(admin: Command, run: Run): void {
  const invitation = group(admin, 'invitation', 'invitations to an organisation by link');
  leaf<CreateOptions>(invitation, run, {
    usage: 'create <org> <email>',
    description: 'invite a person to an organisation; prints a link that can be used once and is not shown again',
    writes: true,
    options: [
      ['--role <role>', `${ROLE_NOTE} (default: member)`],
      ['--days <number>', 'days until it expires, 1 to 30 (default: 7)'],
      ['--url <address>', 'public address of the hosted API (its PUBLIC_URL); required'],
    ],
    async action({ use, admin }, [org = '', email = ''], { role = 'member', days = '7', url }) {
      const base = parseBaseUrl(url);
      const data = await use.inviteMember(admin, { org, email, role, days: Number(days) });
      const link = new URL(`/account/invitation?token=${data.token}`, base).href;
      const { token: _token, ...shown } = data;
      const text = `${link}\ninvites ${data.email} to ${data.org} as ${data.role} until ${data.expiresAt}; send it to that person only${data.replaced ? '; the earlier link of this address works no more' : ''}`;
      return { data: { ...shown, link }, text };
    },
  });
  leaf(invitation, run, {
    usage: 'list <org>',
    description: 'list the invitations of an organisation, newest first',
    writes: false,
    async action({ use, admin }, [org = '']) {
      const data = await use.listInvitations(admin, org);
      const rows = data.map(({ id, email, role, state, invitedBy, expiresAt }) => [
        id,
        email,
        role,
        state,
        invitedBy,
        expiresAt,
      ]);
      return { data, text: table(['ID', 'EMAIL', 'ROLE', 'STATE', 'INVITED BY', 'EXPIRES'], rows, 'no invitations') };
    },
  });
  leaf(invitation, run, {
    usage: 'revoke <org> <id>',
    description: 'revoke a pending invitation',
    writes: true,
    async action({ use, admin }, [org = '', id = '']) {
      const data = await use.revokeInvitation(admin, { org, id });
      return { data, text: `the invitation of ${data.email} to ${data.org} is revoked` };
    },
  });
}

function parseBaseUrl(url: string | undefined): URL {
  if (url !== undefined && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return new URL(url);
  throw new InputError('--url must be the public address of the hosted API, such as https://pipeline.example.com');
}
