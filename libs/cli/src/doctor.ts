import type { Command } from 'commander';
import { leaf, type Run } from './command/command.ts';

const MARKS = { ok: 'ok', warning: 'WARNING', unknown: 'unknown' } as const;

/** Adds the command that checks the host settings of a repository and reports findings with remedies. */
export function doctorCommand(program: Command, run: Run): void {
  leaf<{ org?: string }>(program, run, {
    usage: 'doctor <repo>',
    description: 'check the settings of a repo, owner/name, on its host; exits with 1 when a check warns',
    writes: false,
    options: [['--org <id>', 'organisation id; required when several organisations have the repo']],
    async action({ use, admin, hostOf }, [slug = ''], { org }) {
      const data = await use.examineRepo(admin, { slug, org: org ?? null, hostOf });
      const lines = data.checks.map(({ check, status, message }) => `${MARKS[status]}  ${check}: ${message}`);
      const ok = data.checks.every(({ status }) => status !== 'warning');
      return { data, text: [`${data.repo} of ${data.org}`, ...lines].join('\n'), ok };
    },
  });
}
