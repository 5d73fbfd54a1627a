import type { Command } from 'commander';
import { group, leaf, type Run, type Session } from '../command/command.ts';
import { table } from '../command/table.ts';

/** A host failure does not revert the change, because the monitor also checks the repo. */
async function checksOf({ use, admin, hostOf }: Session, { org, repo }: { org: string; repo: string }) {
  try {
    return (await use.examineRepo(admin, { slug: repo, org, hostOf })).checks;
  } catch (error) {
    return [
      { check: 'push-protection', status: 'unknown', message: `the host did not respond: ${String(error)}` } as const,
    ];
  }
}

interface RepoOption {
  org?: string;
}

export function repoCommands(admin: Command, run: Run): void {
  const repo = group(admin, 'repo', 'repos that the pipeline works on');
  leaf<RepoOption>(repo, run, {
    usage: 'list',
    description: 'list repos, including disabled ones',
    writes: false,
    options: [['--org <id>', 'limit to this organisation']],
    async action({ use, admin }, _args, { org }) {
      const data = await use.listRepos(admin, org ?? null);
      const rows = data.map(({ repo, org, enabled, host, branch, pushRestricted, poolSize }) => {
        const pushes = pushRestricted === null ? 'unknown' : pushRestricted ? 'restricted' : 'OPEN';
        return [repo, org, enabled, host, branch, pushes, poolSize];
      });
      const head = ['REPO', 'ORG', 'ENABLED', 'HOST', 'BRANCH', 'PUSHES', 'POOL SIZE'];
      return { data, text: table(head, rows, 'no repos') };
    },
  });
  const change = async (session: Session, slug: string, org: string | undefined, enabled: boolean) => {
    const { use, admin } = session;
    const changed = await use.enableRepo(admin, slug, { org: org ?? null, enabled });
    const data = { ...changed, checks: enabled ? await checksOf(session, changed) : [] };
    const now = enabled ? 'enabled' : 'disabled';
    const rest = enabled || data.underWay === 0 ? '' : `; ${data.underWay} issues in progress continue`;
    const warnings = data.checks.flatMap(({ status, message }) => (status === 'ok' ? [] : `\n${status}: ${message}`));
    const text = `${data.repo} of ${data.org} ${data.changed ? `is ${now}` : `was already ${now}`}${rest}`;
    return { data, text: text + warnings.join('') };
  };
  const options: [string, string][] = [
    ['--org <id>', 'organisation id; required when several organisations have the repo'],
  ];
  leaf<RepoOption>(repo, run, {
    usage: 'enable <repo>',
    description: 'enable a repo, owner/name; issues with the enqueue label are imported immediately',
    writes: true,
    options,
    action: (session, [slug = ''], { org }) => change(session, slug, org, true),
  });
  leaf<RepoOption>(repo, run, {
    usage: 'disable <repo>',
    description:
      'stop importing issues of a repo; a repo listed in the configuration is enabled again when the monitor starts',
    writes: true,
    options,
    action: (session, [slug = ''], { org }) => change(session, slug, org, false),
  });
}
