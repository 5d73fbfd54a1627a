import type { Command } from 'commander';
import { group, leaf, type Run } from '../command/command.ts';
import { InputError, UsageError } from '../command/errors.ts';
import { table } from '../command/table.ts';

interface RepoOption {
  org?: string;
}
const ORG: [string, string] = ['--org <id>', 'organisation id; required when several organisations have the repo'];

export function workflowCommands(admin: Command, run: Run): void {
  const workflow = group(admin, 'workflow', 'workflows: the states of a repo’s issues, their tasks and transitions');
  readingCommands(workflow, run);
  leaf<RepoOption & { activate?: boolean }>(workflow, run, {
    usage: 'put <repo> <file>',
    description: 'validate a workflow, YAML or JSON (- = standard input), and store it as the next version',
    writes: true,
    options: [ORG, ['--activate', 'activate it immediately']],
    async action({ use, admin, readText }, [repo = '', file = ''], { org, activate = false }) {
      const document = await parsed(file, await readText(file));
      const data = await use.putWorkflow(admin, { repo, org: org ?? null, document, activate });
      const done = `version ${data.version} of ${data.repo} stored${data.active ? ' and activated' : ''}`;
      return { data, text: [done, ...data.warnings.map(warning)].join('\n') };
    },
  });
  leaf<RepoOption>(workflow, run, {
    usage: 'activate <repo> <version>',
    description: 'activate a stored version; issues keep their state and continue with the new version',
    writes: true,
    options: [ORG],
    async action({ use, admin }, [repo = '', version = ''], { org }) {
      const data = await use.activateWorkflow(admin, { repo, org: org ?? null }, versionNumber(version));
      const done = `version ${data.version} of ${data.repo} ${data.changed ? 'is' : 'was already'} active`;
      return { data, text: [done, ...data.warnings.map(warning)].join('\n') };
    },
  });
  leaf<RepoOption>(workflow, run, {
    usage: 'plan-approval <repo> <mode>',
    description: 'required: each plan waits for the approval of a person; off: development begins at once (default)',
    writes: true,
    options: [ORG],
    async action({ use, admin }, [repo = '', mode = ''], { org }) {
      if (mode !== 'required' && mode !== 'off') throw new UsageError(`mode must be required or off, got "${mode}"`);
      const data = await use.setPlanApproval(admin, { repo, org: org ?? null }, mode);
      const done = `plan approval of ${data.repo} ${data.changed ? 'is now' : 'was already'} ${mode} (version ${data.version})`;
      return { data, text: [done, ...data.warnings.map(warning)].join('\n') };
    },
  });
}

function readingCommands(workflow: Command, run: Run): void {
  leaf<RepoOption & { at?: string }>(workflow, run, {
    usage: 'show <repo>',
    description: 'print the active workflow as YAML, in the form that put accepts',
    writes: false,
    options: [ORG, ['--at <version>', 'version to print (default: the active version)']],
    async action({ use, admin }, [repo = ''], { org, at }) {
      const version = at === undefined ? null : versionNumber(at);
      const data = await use.showWorkflow(admin, { repo, org: org ?? null }, version);
      const { stringify } = await import('yaml');
      return { data, text: stringify(data).trimEnd() };
    },
  });
  leaf<RepoOption>(workflow, run, {
    usage: 'versions <repo>',
    description: 'list the versions of a workflow',
    writes: false,
    options: [ORG],
    async action({ use, admin }, [repo = ''], { org }) {
      const data = await use.listWorkflows(admin, { repo, org: org ?? null });
      const rows = data.map((one) => [
        one.version,
        one.active,
        one.createdAt,
        one.createdBy,
        one.activatedAt,
        one.activatedBy,
      ]);
      const heads = ['VERSION', 'IN FORCE', 'STORED', 'BY', 'LAST ACTIVATED', 'BY'];
      return { data, text: table(heads, rows, 'no versions') };
    },
  });
  leaf<RepoOption>(workflow, run, {
    usage: 'check <repo> [file]',
    description: 'validate a workflow and report its errors and warnings; without a file, the active workflow',
    writes: false,
    options: [ORG],
    async action({ use, admin, readText }, [repo = '', file = ''], { org }) {
      const choice = { repo, org: org ?? null };
      const document =
        file === '' ? await use.showWorkflow(admin, choice, null) : await parsed(file, await readText(file));
      const { errors, warnings } = await use.checkWorkflowFor(admin, choice, document);
      const ok = errors.length === 0;
      const lines = [...errors.map((line) => `error: ${line}`), ...warnings.map(warning)];
      return { data: { ok, errors, warnings }, text: [...lines, ok ? 'ok' : 'not valid'].join('\n'), ok };
    },
  });
}

const warning = (line: string): string => `warning: ${line}`;

/** YAML holds JSON too. @throws InputError naming the file and the place. */
async function parsed(file: string, text: string): Promise<unknown> {
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error) throw new InputError(`${file === '-' ? 'standard input' : file}: ${error.message}`);
  try {
    return document.toJS();
  } catch (cause) {
    throw new InputError(`${file}: ${(cause as Error).message}`, { cause });
  }
}

function versionNumber(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`version must be a number such as 2, got "${text}"`);
}
