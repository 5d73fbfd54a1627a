import type { Command } from 'commander';
import { group, leaf, type Run, type Session } from '../command/command.ts';
import { table } from '../command/table.ts';

const ROLE_NOTE = 'owner, admin (both reach every repo of the organisation) or member (reaches what is granted)';

export function memberCommands(admin: Command, run: Run): void {
  const member = group(admin, 'member', 'who belongs to an organisation');
  leaf<{ role?: string }>(member, run, {
    usage: 'add <org> <email>',
    description: 'make a user a member of an organisation',
    writes: true,
    options: [['--role <role>', `${ROLE_NOTE} (default: member)`]],
    async deed({ use, admin }, [org = '', email = ''], { role = 'member' }) {
      const data = await use.addMember(admin, { org, email, role });
      return { data, text: `${data.email} is ${data.role} of ${data.org}` };
    },
  });
  leaf(member, run, {
    usage: 'remove <org> <email>',
    description: 'take a member out of an organisation, with all grants in it',
    writes: true,
    async deed({ use, admin }, [org = '', email = '']) {
      const data = await use.removeMember(admin, { org, email });
      return { data, text: `${data.email} is no member of ${data.org} any more` };
    },
  });
  leaf(member, run, {
    usage: 'role <org> <email> <role>',
    description: `change the role of a member: ${ROLE_NOTE}`,
    writes: true,
    async deed({ use, admin }, [org = '', email = '', role = '']) {
      const data = await use.changeRole(admin, { org, email, role });
      return { data, text: `${data.email} ${data.changed ? 'is' : 'was already'} ${data.role} of ${data.org}` };
    },
  });
  grantCommands(admin, run);
}

interface RepoOption {
  org?: string;
}
const ORG_OPTION: [string, string] = ['--org <id>', 'which organisation, where several have the repo'];

function grantCommands(admin: Command, run: Run): void {
  const grant = group(admin, 'grant', 'which repos a member reaches');
  const change = async (
    { use, admin }: Session,
    [email = '', repo = '']: string[],
    org: RepoOption,
    granted: boolean,
  ) => {
    const data = await use.changeGrant(admin, { org: org.org ?? null, email, repo }, granted);
    const all = data.reachesAll ? `; as ${data.role} ${data.email} reaches every repo of ${data.org} anyway` : '';
    const done = granted ? 'reaches' : data.changed ? 'does not reach' : 'had no grant of';
    return { data, text: `${data.email} ${done} ${data.repo}${all}` };
  };
  leaf<RepoOption>(grant, run, {
    usage: 'add <email> <repo>',
    description: 'let a member reach a repo',
    writes: true,
    options: [ORG_OPTION],
    deed: (session, args, options) => change(session, args, options, true),
  });
  leaf<RepoOption>(grant, run, {
    usage: 'remove <email> <repo>',
    description: 'take a grant back',
    writes: true,
    options: [ORG_OPTION],
    deed: (session, args, options) => change(session, args, options, false),
  });
  leaf(grant, run, {
    usage: 'list <org>',
    description: 'list what the members of an organisation reach',
    writes: false,
    async deed({ use, admin }, [org = '']) {
      const data = await use.listGrants(admin, org);
      const rows = data.map(({ email, role, repos }) => [email, role, repos ?? 'all']);
      return { data, text: table(['EMAIL', 'ROLE', 'REPOS'], rows, 'no members') };
    },
  });
}
