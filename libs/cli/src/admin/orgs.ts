import type { Command } from 'commander';
import { group, leaf, type Run } from '../command/command.ts';
import { table } from '../command/table.ts';

export function orgCommands(admin: Command, run: Run): void {
  const org = group(admin, 'org', 'organisations, which own repos and have members');
  leaf<{ name?: string }>(org, run, {
    usage: 'create <id>',
    description: 'create an organisation',
    writes: true,
    options: [['--name <name>', 'display name (default: the id)']],
    async action({ use, admin }, [id = ''], { name }) {
      const data = await use.createOrg(admin, { id, name: name ?? id });
      return { data, text: `organisation ${data.id} created` };
    },
  });
  leaf(org, run, {
    usage: 'list',
    description: 'list all organisations',
    writes: false,
    async action({ use, admin }) {
      const data = await use.listOrgs(admin);
      const rows = data.map((one) => [
        one.id,
        one.name,
        one.members,
        `${one.enabledRepos}/${one.repos}`,
        one.createdAt,
      ]);
      return { data, text: table(['ID', 'NAME', 'MEMBERS', 'REPOS ENABLED', 'CREATED'], rows, 'no organisations') };
    },
  });
  leaf(org, run, {
    usage: 'show <id>',
    description: 'show an organisation with its members and repos',
    writes: false,
    async action({ use, admin }, [id = '']) {
      const data = await use.showOrg(admin, id);
      const members = data.members.map((one) => [one.email, one.role, one.disabled, one.granted]);
      const repos = data.repos.map((one) => [one.repo, one.enabled]);
      const text = [
        `${data.id} (${data.name}), since ${data.createdAt}`,
        table(['MEMBER', 'ROLE', 'DISABLED', 'GRANTED'], members, 'no members'),
        table(['REPO', 'ENABLED'], repos, 'no repos'),
      ].join('\n\n');
      return { data, text };
    },
  });
}
