import { writeFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { type Allowed, judge, parseAllowed } from './allowed.ts';
import { diffDocuments } from './diff-documents.ts';
import { diffMarkdown, diffSummary, diffText } from './diff-report.ts';
import { DocumentError } from './openapi-document.ts';
import { readDocument } from './read-document.ts';

interface DiffOptions {
  allow: Allowed[];
  json?: string;
  markdown?: string;
}

function allowed(value: string, before: Allowed[]): Allowed[] {
  const parsed = parseAllowed(value);
  if (parsed) return [...before, parsed];
  throw new InvalidArgumentError('must be RULE@PLACE=REASON with a rule and a place as the report prints them.');
}

const AFTER = `
OLD and NEW are OpenAPI 3.1 documents in JSON: files, http(s) addresses, or - for standard input. Each is read within
30 s and up to 32 MiB.

Exit status: 0 no breaking change, 1 breaking changes, 2 wrong usage, 78 a document that cannot be read.`;

interface ExitStatuses {
  readonly ok: number;
  readonly findings: number;
  readonly config: number;
}

/** Makes a command `pipeline-contract diff`, which sets the exit status of the process. */
export function diffCommand(command: Command, exit: ExitStatuses): Command {
  return command
    .description('Compares two OpenAPI documents and lists breaking, additive and cosmetic changes.')
    .argument('<old>', 'the document that clients were written against')
    .argument('<new>', 'the document that replaces it')
    .option('--allow <rule@place=reason>', 'a breaking change that was decided; repeatable', allowed, [])
    .option('--json <file>', 'also write the changes to this file')
    .option('--markdown <file>', 'also write the changes to this file as a table')
    .allowExcessArguments(false)
    .addHelpText('after', AFTER)
    .action(async (before: string, after: string, options: DiffOptions) => {
      const breaks = await diff(command, [before, after], { ...options, exit });
      process.exitCode = breaks ? exit.findings : exit.ok;
    });
}

/** Reports the changes and returns whether one of them breaks clients. */
async function diff(
  command: Command,
  sources: readonly [string, string],
  { exit, ...options }: DiffOptions & { exit: ExitStatuses },
): Promise<boolean> {
  if (sources.every((source) => source === '-')) command.error('error: only one document can be standard input');
  const { judged, unused, breaks } = await compare(sources, options.allow).catch((error: unknown) => {
    if (!(error instanceof DocumentError)) throw error;
    return command.error(`error: ${error.message}`, { exitCode: exit.config });
  });
  const json = { breaks, changes: judged, unusedAllowances: unused };
  const files = [
    [options.json, () => `${JSON.stringify(json, null, 2)}\n`],
    [options.markdown, () => diffMarkdown(judged)],
  ] as const;
  for (const [file, text] of files) {
    if (file === undefined) continue;
    await writeFile(file, text()).catch((error: Error) => command.error(`error: ${error.message}`));
  }
  for (const { rule, place } of unused) process.stderr.write(`--allow ${rule}@${place} matches no breaking change\n`);
  process.stdout.write(`${diffText(judged)}${diffSummary(judged)}\n`);
  return breaks;
}

async function compare([before, after]: readonly [string, string], allow: readonly Allowed[]) {
  const [a, b] = await Promise.all([readDocument(before), readDocument(after)]);
  return judge(diffDocuments(a, b), allow);
}
