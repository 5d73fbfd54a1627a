import type { Command } from 'commander';
import { type Answer, type Flags, type LocalSession, leaf, type Run } from '../command/command.ts';
import { jsonText } from '../command/json-text.ts';
import { wholeNumber } from '../command/values.ts';
import { type IssueRef, issueRef, repoSlug } from './arguments.ts';
import { HOST_OPTION } from './host-option.ts';
import type { Issue, IssueWhy } from './operations.ts';
import { cell, text } from './render.ts';
import { type HostOption, openService, type ServiceSession } from './session.ts';

interface WatchOptions extends Flags, HostOption {
  every?: string;
  changes?: string;
  state?: string;
}

/** Issues of a repository that are watched: one page. */
const MAX_ISSUES = 500;

/** Retries of a read, with growing pauses: a watch survives an outage of about a minute. */
const RETRIES = 6;

/** Adds the command that prints changes as they happen. */
export function watchCommand(program: Command, run: Run<LocalSession>): void {
  leaf<WatchOptions, LocalSession>(program, run, {
    usage: 'watch <target>',
    description: `print each change of an issue, owner/name#number, until it is done, or of the first ${MAX_ISSUES} issues of a repository, owner/name, until Ctrl-C; with --json one document per line`,
    writes: false,
    options: [
      [
        '--every <seconds>',
        'seconds between two requests, 1 to 3600 (default: 5); an unchanged issue list costs a 304',
      ],
      ['--changes <n>', 'end after this number of changes, 1 to 99999'],
      ['--state <state>', 'of a repository: open, blocked, paused, or the name of a state (default: open)'],
      HOST_OPTION,
    ],
    action: (session, [target = ''], options) => watch(session, target, options),
  });
}

async function watch({ env, streams, isJson }: LocalSession, target: string, options: WatchOptions): Promise<Answer> {
  const everyMs = wholeNumber('--every', options.every ?? '5', [1, 3_600]) * 1_000;
  const most = options.changes === undefined ? null : wholeNumber('--changes', options.changes, [1, 99_999]);
  const issue = target.includes('#') ? issueRef(target) : null;
  const repo = issue?.repo ?? repoSlug(target);
  const service = await openService(options, env, RETRIES);
  const changes = issue
    ? issueChanges(service, issue, everyMs)
    : repoChanges(service, { repo, everyMs, state: options.state });
  let count = 0;
  for await (const { data, line } of changes) {
    streams.stdout.write(isJson ? `${jsonText(data)}\n` : `${line}\n`);
    count += 1;
    if (count === most) break;
  }
  return { data: null, text: '', isPrinted: true };
}

interface Change {
  data: object;
  line: string;
}

/** Yields the explanation and each different one; ends when the issue is done. */
async function* issueChanges(
  { client }: ServiceSession,
  { repo, number }: IssueRef,
  everyMs: number,
): AsyncGenerator<Change> {
  let last = '';
  for await (const why of client.watch('explainIssue', { params: { number }, query: { repo } }, { everyMs })) {
    const shown = `${why.state} ${why.explanation}`;
    if (shown !== last) yield { data: changeOf(why), line: `${why.serverTimestamp}  ${text(why.explanation)}` };
    last = shown;
    if (why.state === 'done') return;
  }
}

const changeOf = ({ repo, issueNumber, state, isBlocked, isPaused, explanation, serverTimestamp }: IssueWhy) => ({
  repo,
  issueNumber,
  state,
  isBlocked,
  isPaused,
  explanation,
  at: serverTimestamp,
});

/** Yields issues that are new in the list, that changed, and that left it; the first page yields nothing. */
async function* repoChanges(
  { client }: ServiceSession,
  { repo, everyMs, state }: { repo: string; everyMs: number; state: string | undefined },
): AsyncGenerator<Change> {
  let known: Map<number, Issue> | null = null;
  const query = { repo, limit: MAX_ISSUES, ...(state !== undefined && { state }) };
  for await (const { items } of client.watch('listIssues', { query }, { everyMs })) {
    const found = new Map(items.map((item) => [item.issueNumber, item]));
    if (known !== null) yield* differences(known, found);
    known = found;
  }
}

function* differences(before: ReadonlyMap<number, Issue>, after: ReadonlyMap<number, Issue>): Generator<Change> {
  for (const [number, issue] of after) {
    const old = before.get(number);
    if (old === undefined || shownOf(old) !== shownOf(issue))
      yield changed(issue, old === undefined ? 'added' : 'changed');
  }
  for (const [number, issue] of before) if (!after.has(number)) yield changed(issue, 'removed');
}

const shownOf = ({ state, isBlocked, isPaused, currentStatus, assignedAgent, title }: Issue): string =>
  JSON.stringify([state, isBlocked, isPaused, currentStatus, assignedAgent, title]);

function changed(issue: Issue, change: 'added' | 'changed' | 'removed'): Change {
  const { issueNumber, state, isBlocked, isPaused, assignedAgent, currentStatus } = issue;
  const flags = [isBlocked && 'blocked', isPaused && 'paused'].filter(Boolean).join(', ');
  const parts = [`#${issueNumber}`, change === 'removed' ? 'left the list' : state, flags, cell(currentStatus)];
  return {
    data: { change, issueNumber, state, isBlocked, isPaused, assignedAgent, currentStatus },
    line: `${parts.filter(Boolean).join('  ')}  ${cell(issue.title)}`,
  };
}
