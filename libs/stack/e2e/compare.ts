import { isOutputLabel, outputLabels, parseSlug, type State } from '@pipeline/domain';
import { createGitHubHost } from '@pipeline/vcs/github';
import type { StackState } from '../src/data/state.ts';
import type { StackReport } from '../src/start/report.ts';
import type { Checks } from './checks.ts';
import { withClone } from './host-clone.ts';
import type { StoredIssue, StoredPull, StoreView } from './store-view.ts';

const STATUS_MARKER = '<!-- svc:status';

interface Sides {
  report: StackReport;
  state: StackState;
  store: StoreView;
  /** Value of PATH with which git is found. */
  searchPath: string;
}

/** Compares host and store item by item, in both directions, when a journey is over. */
export async function compare(checks: Checks, sides: Sides): Promise<void> {
  const { report, state, store } = sides;
  const slug = report.repos[0] ?? '';
  const repo = parseSlug(slug) ?? { owner: '', name: '' };
  const { bot, person } = state.sandbox;
  const host = createGitHubHost({
    baseUrl: report.sandbox.url,
    token: person.token,
    clientType: 'sandbox',
    userAgent: 'pipeline-e2e',
    now: () => new Date(),
  });
  const page = await host.listIssues(repo, { state: 'all' });
  const onHost = page?.issues ?? [];
  const [issues, pulls] = [await store.issues(), await store.pulls()];
  const numbers = (list: readonly { number: number }[]) => list.map(({ number }) => number).sort((a, b) => a - b);
  checks.equal('host and store have the same issues', numbers(issues), numbers(onHost));

  const problems = { labels: [] as string[], closed: [] as string[], comments: [] as string[] };
  for (const issue of issues) {
    const there = onHost.find(({ number }) => number === issue.number);
    if (!there) continue;
    problems.labels.push(...differingLabels(issue, there.labels));
    if (there.state !== (issue.state === 'done' ? 'closed' : 'open'))
      problems.closed.push(`#${issue.number} is ${there.state} on the host and ${issue.state} in the store`);
    const comments = await host.listComments(repo, issue.number);
    const bodies = comments.filter(({ author }) => author === bot.login).map(({ body }) => body);
    problems.comments.push(...doubledComments(issue.number, bodies));
  }
  checks.none('labels of each issue agree', problems.labels);
  checks.none('each issue is closed exactly when it is done', problems.closed);
  checks.none('each issue has exactly one status comment, and no comment twice', problems.comments);

  const merges: string[] = [];
  for (const pull of pulls) {
    const there = await host.getPullRequest(repo, pull.number);
    merges.push(...differingPull(pull, there));
  }
  checks.equal('host and store have the same pull requests', numbers(pulls), numbers(page?.changedPullRequests ?? []));
  checks.none('merges agree, commit by commit', merges);
  await compareCommits(checks, sides, pulls);
}

function doubledComments(number: number, bodies: readonly string[]): string[] {
  const statuses = bodies.filter((body) => body.includes(STATUS_MARKER)).length;
  return [
    ...(statuses === 1 ? [] : [`#${number} has ${statuses} status comments`]),
    ...(new Set(bodies).size === bodies.length ? [] : [`#${number} has the same comment twice`]),
  ];
}

function differingLabels(issue: StoredIssue, onHost: readonly string[]): string[] {
  const wanted = outputLabels({ state: issue.state as State, isBlocked: issue.isBlocked, isPaused: issue.isPaused });
  const shown = onHost.filter(isOutputLabel).sort();
  const same = (a: readonly string[], b: readonly string[]) => [...a].sort().join() === [...b].sort().join();
  const problems: string[] = [];
  if (!same(shown, wanted)) problems.push(`#${issue.number} shows ${shown} instead of ${wanted}`);
  if (!same(onHost, issue.labels)) problems.push(`#${issue.number} has ${onHost} on the host, ${issue.labels} here`);
  return problems;
}

function differingPull(
  pull: StoredPull,
  there: { merged: boolean; mergeCommitSha: string | null; headSha: string } | null,
): string[] {
  if (!there) return [`!${pull.number} is not on the host`];
  const problems: string[] = [];
  if (there.merged !== pull.merged)
    problems.push(`!${pull.number}: merged ${there.merged} on the host, ${pull.merged} here`);
  if (pull.merged && there.mergeCommitSha !== pull.mergeSha)
    problems.push(`!${pull.number}: merge commit ${there.mergeCommitSha} on the host, ${pull.mergeSha} here`);
  return problems;
}

/** The git repository itself: on the default branch stands one commit for each merged pull request. */
async function compareCommits(checks: Checks, sides: Sides, pulls: readonly StoredPull[]): Promise<void> {
  const log = (await withClone(sides, (git) => git('log', '--first-parent', '--format=%H %s'))).split('\n');
  const problems = pulls.flatMap((pull) => {
    const found = log.filter((line) => line.endsWith(`(#${pull.number})`)).map((line) => line.slice(0, 40));
    const wanted = pull.merged ? [pull.mergeSha] : [];
    return found.join() === wanted.join() ? [] : [`!${pull.number}: commits ${found} instead of ${wanted}`];
  });
  checks.none('the default branch has one commit for each merged pull request', problems);
}
