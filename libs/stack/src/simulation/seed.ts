import { ENQUEUE_LABEL, type ProjectionAction, type RepoRef, type VcsHost } from '@pipeline/domain';
import { type Logger, sleep } from '@pipeline/runtime';
import { demoIssues, fillReferences } from '../demo/index.ts';

/** The first issue has the machine to itself for a moment; the others come one by one. */
const FIRST_PAUSE_MS = 2_000;
const PAUSE_MS = 500;

export interface SeedOptions {
  host: VcsHost;
  repo: RepoRef;
  /** Paths of the repository's files. */
  files: readonly string[];
  count: number;
  log: Logger;
  signal: AbortSignal;
}

/**
 * Opens the demo issues that this person has not opened yet, known by their titles, so that a seeding that was cut off
 * goes on where it stopped.
 * @throws Error when the host refuses one.
 */
export async function seedIssues({ host, repo, files, count, log, signal }: SeedOptions): Promise<void> {
  const login = await host.login();
  const page = await host.listIssues(repo, { state: 'all' });
  const mine = new Map(page?.issues.filter((issue) => issue.author === login).map((i) => [i.title, i.number]));
  const wanted = demoIssues(files).slice(0, count);
  if (wanted.length < count)
    log.warn('the repository has chores for fewer issues than requested', { issues: wanted.length });
  for (const [index, issue] of wanted.entries()) {
    if (mine.size >= count || signal.aborted) return;
    if (mine.has(issue.title)) continue;
    const first = mine.get(wanted[0]?.title ?? '') ?? 1;
    const { title, body, labels } = fillReferences(issue, first);
    const all = [...labels, ENQUEUE_LABEL];
    const action: ProjectionAction = { type: 'createIssue', title, body, labels: all, marker: title };
    const result = await host.execute(repo, 0, action, { mayHaveHappened: false, signal });
    if (result.status !== 'ok') throw new Error(`the host rejected the issue "${title}": ${result.message}`);
    mine.set(title, result.created?.number ?? 0);
    log.info('issue opened', { issue: result.created?.number, title });
    await sleep(index === 0 ? FIRST_PAUSE_MS : PAUSE_MS, signal);
  }
}
