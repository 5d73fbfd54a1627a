import type { Command } from 'commander';
import { leaf, type Run } from './command/command.ts';

const MARKS = { ok: 'ok', warning: 'WARNING', unknown: 'unknown' } as const;

/** Checks of a repository that need its host; each says what it found and what to do. */
export function doctorCommand(program: Command, run: Run): void {
  leaf<{ org?: string }>(program, run, {
    usage: 'doctor <repo>',
    description: 'check how a repo, owner/name, is set up on its host; ends with 1 when something needs attention',
    writes: false,
    options: [['--org <id>', 'which organisation, where several have the repo']],
    async deed({ use, admin, hostOf }, [slug = ''], { org }) {
      const data = await use.examineRepo(admin, { slug, org: org ?? null, hostOf });
      const lines = data.checks.map(({ check, status, message }) => `${MARKS[status]}  ${check}: ${message}`);
      const ok = data.checks.every(({ status }) => status !== 'warning');
      return { data, text: [`${data.repo} of ${data.org}`, ...lines].join('\n'), ok };
    },
  });
}
