import { type DoctorCheck, needsAction } from '@pipeline/domain';
import { withDeadline } from '@pipeline/runtime';
import type { Command } from 'commander';
import { leaf, type Run } from './command/command.ts';
import { UsageError } from './command/errors.ts';

const MARKS = { ok: 'ok', warning: 'WARNING', error: 'error', unknown: 'unknown' } as const;

/** Bound on one check with all of its requests. */
const CHECK_MS = 20_000;
const bounded = <T>(work: Promise<T>): Promise<T> => withDeadline(work, CHECK_MS, 'the check');

/** Adds the command that checks the service and its repositories and reports findings with remedies. */
export function doctorCommand(program: Command, run: Run): void {
  leaf<{ org?: string }>(program, run, {
    usage: 'doctor [repo]',
    description:
      'check a repo, owner/name, on its host and in the pipeline; without a repo, check the service and every enabled repo. Uses the host variables of the monitor. Exits with 1 when a check reports a warning or an error',
    writes: false,
    options: [['--org <id>', 'organisation id; required when several organisations have the repo']],
    async action({ use, admin, hostOf, diagnosticsOf }, [slug = ''], { org }) {
      const context = { hostOf, diagnosticsOf, now: () => new Date(), deadline: bounded };
      if (slug !== '') {
        const data = await use.examineRepo(admin, { slug, org: org ?? null, ...context });
        return { data, text: section(data), ok: !data.checks.some(needsAction) };
      }
      if (org !== undefined) throw new UsageError('--org needs a repo');
      const checks = await use.examineService(admin, context);
      const repos = await use.examineEnabledRepos(admin, context);
      const text = [lines('service', checks), ...repos.map(section)].join('\n\n');
      const ok = ![...checks, ...repos.flatMap((repo) => repo.checks)].some(needsAction);
      return { data: { checks, repos }, text, ok };
    },
  });
}

const section = ({ repo, org, checks }: { repo: string; org: string; checks: DoctorCheck[] }): string =>
  lines(`${repo} of ${org}`, checks);

const lines = (title: string, checks: readonly DoctorCheck[]): string =>
  [title, ...checks.map(({ check, status, message }) => `${MARKS[status]}  ${check}: ${message}`)].join('\n');
