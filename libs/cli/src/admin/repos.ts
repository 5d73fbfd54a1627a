import type { Command } from 'commander';
import { group, leaf, type Run, type Session } from '../command.ts';
import { table } from '../table.ts';

interface RepoOption {
  org?: string;
}

export function repoCommands(admin: Command, run: Run): void {
  const repo = group(admin, 'repo', 'repos that the pipeline works on');
  leaf<RepoOption>(repo, run, {
    usage: 'list',
    description: 'list repos, enabled or not',
    writes: false,
    options: [['--org <id>', 'only those of this organisation']],
    async deed({ use, admin }, _args, { org }) {
      const data = await use.listRepos(admin, org ?? null);
      const rows = data.map((one) => [one.repo, one.org, one.enabled, one.host, one.branch, one.poolSize]);
      return { data, text: table(['REPO', 'ORG', 'ENABLED', 'HOST', 'BRANCH', 'POOL SIZE'], rows, 'no repos') };
    },
  });
  const change = async ({ use, admin }: Session, slug: string, org: string | undefined, enabled: boolean) => {
    const data = await use.enableRepo(admin, slug, { org: org ?? null, enabled });
    const now = enabled ? 'enabled' : 'disabled';
    const rest = enabled || data.underWay === 0 ? '' : `; ${data.underWay} issues are under way and go on`;
    return { data, text: `${data.repo} of ${data.org} ${data.changed ? `is ${now}` : `was ${now} already`}${rest}` };
  };
  const options: [string, string][] = [['--org <id>', 'which organisation, where several have the repo']];
  leaf<RepoOption>(repo, run, {
    usage: 'enable <repo>',
    description: 'let issues of a repo in, owner/name; those that ask for the pipeline are read at once',
    writes: true,
    options,
    deed: (session, [slug = ''], { org }) => change(session, slug, org, true),
  });
  leaf<RepoOption>(repo, run, {
    usage: 'disable <repo>',
    description: 'let no more issues in; one that the configuration lists is enabled again when the monitor starts',
    writes: true,
    options,
    deed: (session, [slug = ''], { org }) => change(session, slug, org, false),
  });
}
