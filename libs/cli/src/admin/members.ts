import type { Command } from 'commander';
import { group, leaf, type Run, type Session } from '../command/command.ts';
import { table } from '../command/table.ts';

export const ROLE_NOTE =
  'owner, admin (both have access to every repo of the organisation) or member (access by grant)';

export function memberCommands(admin: Command, run: Run): void {
  const member = group(admin, 'member', 'members of an organisation');
  leaf<{ role?: string }>(member, run, {
    usage: 'add <org> <email>',
    description: 'add a user to an organisation',
    writes: true,
    options: [['--role <role>', `${ROLE_NOTE} (default: member)`]],
    async action({ use, admin }, [org = '', email = ''], { role = 'member' }) {
      const data = await use.addMember(admin, { org, email, role });
      return { data, text: `${data.email} is ${data.role} of ${data.org}` };
    },
  });
  leaf(member, run, {
    usage: 'remove <org> <email>',
    description: 'remove a member and all grants of the member from an organisation',
    writes: true,
    async action({ use, admin }, [org = '', email = '']) {
      const data = await use.removeMember(admin, { org, email });
      return { data, text: `${data.email} is no longer a member of ${data.org}` };
    },
  });
  leaf(member, run, {
    usage: 'role <org> <email> <role>',
    description: `change the role of a member: ${ROLE_NOTE}`,
    writes: true,
    async action({ use, admin }, [org = '', email = '', role = '']) {
      const data = await use.changeRole(admin, { org, email, role });
      return { data, text: `${data.email} ${data.changed ? 'is' : 'was already'} ${data.role} of ${data.org}` };
    },
  });
  grantCommands(admin, run);
}

interface RepoOption {
  org?: string;
}
const ORG_OPTION: [string, string] = [
  '--org <id>',
  'organisation id; required when several organisations have the repo',
];

function grantCommands(admin: Command, run: Run): void {
  const grant = group(admin, 'grant', 'access of members to repos');
  const change = async (
    { use, admin }: Session,
    [email = '', repo = '']: string[],
    org: RepoOption,
    granted: boolean,
  ) => {
    const data = await use.changeGrant(admin, { org: org.org ?? null, email, repo }, granted);
    const all = data.reachesAll ? `; as ${data.role}, ${data.email} has access to every repo of ${data.org}` : '';
    const done = granted ? 'has access to' : data.changed ? 'has no access to' : 'had no grant for';
    return { data, text: `${data.email} ${done} ${data.repo}${all}` };
  };
  leaf<RepoOption>(grant, run, {
    usage: 'add <email> <repo>',
    description: 'grant a member access to a repo',
    writes: true,
    options: [ORG_OPTION],
    action: (session, args, options) => change(session, args, options, true),
  });
  leaf<RepoOption>(grant, run, {
    usage: 'remove <email> <repo>',
    description: 'revoke a grant',
    writes: true,
    options: [ORG_OPTION],
    action: (session, args, options) => change(session, args, options, false),
  });
  leaf(grant, run, {
    usage: 'list <org>',
    description: 'list the grants of the members of an organisation',
    writes: false,
    async action({ use, admin }, [org = '']) {
      const data = await use.listGrants(admin, org);
      const rows = data.map(({ email, role, repos }) => [email, role, repos ?? 'all']);
      return { data, text: table(['EMAIL', 'ROLE', 'REPOS'], rows, 'no members') };
    },
  });
}
