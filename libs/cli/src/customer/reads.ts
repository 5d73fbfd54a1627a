import type { Command } from 'commander';
import { type Answer, type LocalSession, leaf, type Run } from '../command/command.ts';
import { table } from '../command/table.ts';
import { wholeNumber } from '../command/values.ts';
import { issueRef, repoSlug } from './arguments.ts';
import { HOST_OPTION } from './host-option.ts';
import type { CostSummary, IssuePage, IssueWhy, PipelineOverview } from './operations.ts';
import { ago, cell, lines, text, usd, usdWith } from './render.ts';
import { type HostOption, openService } from './session.ts';

const OVERVIEW_ROWS = 10;

const TRANSITIONS = 5;

const ROWS = 100;

type Windows = Omit<CostSummary['byRepo'][number], 'repo'>;

type Options = HostOption & { limit?: string; offset?: string; state?: string };

const MAX_REPOS = 1_000;

/** Adds the commands that read the pipeline once. */
export function readCommands(program: Command, run: Run<LocalSession>): void {
  const read = (usage: string, description: string, action: Action, more: [string, string][] = []) =>
    leaf<Options, LocalSession>(program, run, {
      usage,
      description,
      writes: false,
      options: [...more, HOST_OPTION],
      action: ({ env }, args, options) => action({ env, args, options }),
    });
  read('org', 'show the organisation and the user of the login', org);
  read('repos', 'list the enabled repositories that the login has access to', repos, [
    ['--limit <n>', `repositories, 1 to ${MAX_REPOS} (default: 100)`],
  ]);
  read('issues <repo>', 'list the issues of a repository, owner/name, longest in their state first', issues, [
    ['--state <state>', 'open, blocked, paused, or the name of a state (default: open)'],
    ['--limit <n>', 'issues, 1 to 500 (default: 50)'],
    ['--offset <n>', 'issues to skip (default: 0)'],
  ]);
  read('why <issue>', 'explain why an issue, owner/name#number, is in its state', why);
  read('overview <repo>', 'show the state counts, queue, workers, failures and cost of a repository', overview);
  read('costs [repo]', 'show the costs in USD, of all repositories or of one, by repository and by agent', costs);
}

interface Call {
  env: LocalSession['env'];
  args: string[];
  options: Options;
}
type Action = (call: Call) => Promise<Answer>;

async function org({ env, options }: Call): Promise<Answer> {
  const { host, client } = await openService(options, env);
  const { org: data, viewer, repos: found, monitorUrl } = await client.bootstrap();
  const rows = [
    ['organisation', `${text(data.name)} (${text(data.slug)})`],
    ['since', data.createdAt],
    ['user', `${text(viewer.login)}, ${viewer.role}`],
    ['repositories', found.length],
    ['service', host],
    ['monitor', cell(monitorUrl)],
  ];
  return { data: { host, org: data, viewer, repos: found.length, monitorUrl }, text: table(['', ''], rows, '').trim() };
}

async function repos({ env, options }: Call): Promise<Answer> {
  const limit = wholeNumber('--limit', options.limit ?? '100', [1, MAX_REPOS]);
  const { client } = await openService(options, env);
  const { repos: found } = await client.bootstrap();
  const items = found.slice(0, limit);
  const rows = items.map(({ slug, defaultBranch, vcsHost }) => [cell(slug), cell(defaultBranch), cell(vcsHost)]);
  const list = table(['REPOSITORY', 'BRANCH', 'HOST'], rows, 'no repositories');
  const more = found.length > items.length ? `\n${items.length} of ${found.length}; --limit shows more` : '';
  return { data: { items, total: found.length }, text: list + more };
}

async function issues({ env, args: [given = ''], options }: Call): Promise<Answer> {
  const { state } = options;
  const query = {
    repo: repoSlug(given),
    limit: wholeNumber('--limit', options.limit ?? '50', [1, 500]),
    offset: wholeNumber('--offset', options.offset ?? '0', [0, 99_999]),
    ...(state !== undefined && { state }),
  };
  const { client } = await openService(options, env);
  const data = await client.listIssues({ query });
  return { data, text: issuesText(data, new Date().toISOString()) };
}

/** Formats a page of issues as a table. */
export function issuesText({ items, page }: IssuePage, now: string): string {
  const rows = items.map((issue) => [
    `#${issue.issueNumber}`,
    [issue.state, issue.isBlocked && 'blocked', issue.isPaused && 'paused'].filter(Boolean).join(', '),
    ago(issue.stateEnteredAt, now),
    cell(issue.assignedAgent),
    issue.prNumber === null ? null : `#${issue.prNumber}`,
    usd(issue.costUsd),
    cell(issue.title),
  ]);
  const list = table(['ISSUE', 'STATE', 'FOR', 'AGENT', 'PR', 'COST', 'TITLE'], rows, 'no issues');
  const end = page.offset + items.length;
  return page.hasMore ? `${list}\n${end} of ${page.total}; --offset ${end} continues` : list;
}

async function why({ env, args: [given = ''], options }: Call): Promise<Answer> {
  const { repo, number } = issueRef(given);
  const { client } = await openService(options, env);
  const data = await client.explainIssue({ params: { number }, query: { repo } });
  return { data, text: whyText(data) };
}

async function overview({ env, args: [given = ''], options }: Call): Promise<Answer> {
  const repo = repoSlug(given);
  const { client } = await openService(options, env);
  const data = await client.pipelineOverview({ query: { repo } });
  return { data, text: overviewText(data) };
}

async function costs({ env, args: [given = ''], options }: Call): Promise<Answer> {
  const args = given === '' ? {} : { repo: repoSlug(given) };
  const { client } = await openService(options, env);
  const data = (await client.callTool('get_cost_summary', args)) as CostSummary;
  return { data, text: costsText(data) };
}

const windows = (cost: Windows): string[] => [
  usdWith(cost.last24hUsd, cost.last24hUnreportedCosts),
  usdWith(cost.last7dUsd, cost.last7dUnreportedCosts),
  usdWith(cost.last30dUsd, cost.last30dUnreportedCosts),
  usdWith(cost.lifetimeUsd, cost.lifetimeUnreportedCosts),
];

/** Formats costs as two tables: by repository and by agent, the first rows of each. */
function costsText(costs: CostSummary): string {
  const byRepo = costs.byRepo.slice(0, ROWS).map((one) => [cell(one.repo), ...windows(one)]);
  const byAgent = costs.byAgent
    .slice(0, ROWS)
    .map(({ agent, usd, invocations, unreportedCosts }) => [cell(agent), usdWith(usd, unreportedCosts), invocations]);
  const hidden = Math.max(costs.byRepo.length, costs.byAgent.length) > ROWS;
  return lines(
    table(['REPOSITORY', '24 H', '7 D', '30 D', 'ALL'], [...byRepo, ['total', ...windows(costs)]], ''),
    '',
    table(['AGENT', 'ALL', 'INVOCATIONS'], byAgent, 'no invocations'),
    hidden && `only the first ${ROWS} rows are shown; --json prints all`,
  );
}

/** Formats the explanation of an issue. */
function whyText(why: IssueWhy): string {
  return lines(
    `${text(why.repo)}#${why.issueNumber}  ${cell(why.title)}`,
    text(why.explanation),
    why.blockReason !== null && `blocked: ${text(why.blockReason)}`,
    list(
      'Waits for',
      why.waitingOn.map(({ detail }) => text(detail)),
    ),
    list(
      'Suggestions',
      why.recommendations.map((one) => text(one)),
    ),
    list(
      'Checks that did not succeed',
      why.checks.filter(({ state }) => state !== 'success').map(({ name, state }) => `${cell(name)}: ${state}`),
    ),
    why.lastError !== null && `\nLast error, ${why.lastError.occurredAt}:\n  ${text(why.lastError.message)}`,
    list(
      'Last transitions',
      why.recentTransitions
        .slice(0, TRANSITIONS)
        .map(
          ({ at, from, to, reason }) => `${at}  ${from ?? '-'} -> ${to}${reason === null ? '' : `  ${cell(reason)}`}`,
        ),
    ),
  );
}

const list = (title: string, items: readonly string[]): string | null =>
  items.length === 0 ? null : `\n${title}:\n${items.map((item) => `  ${item}`).join('\n')}`;

/** Formats the overview of a repository; of each list the first rows. */
function overviewText(overview: PipelineOverview): string {
  const { workerPool: pool, cost, serverTimestamp: now } = overview;
  const counts = Object.entries(overview.issuesByState).filter(([, count]) => count > 0);
  const blocked = overview.blockedIssues
    .slice(0, OVERVIEW_ROWS)
    .map((one) => [`#${one.issueNumber}`, ago(one.blockedSince, now), cell(one.title), cell(one.blockReason)]);
  const failures = overview.recentFailures
    .slice(0, OVERVIEW_ROWS)
    .map((one) => [
      one.issueNumber === null ? null : `#${one.issueNumber}`,
      ago(one.finishedAt, now),
      cell(one.agentName),
      cell(one.errorMessage),
    ]);
  return lines(
    `${cell(overview.repo)}: ${overview.openIssues} open issues, ${overview.queueDepth.total} pending tasks, ${overview.inFlightTasks.length} running`,
    `workers: ${pool.total} (${pool.busy} busy, ${pool.idle} idle, ${pool.offline} offline)`,
    `cost: ${usdWith(cost.last24hUsd, cost.last24hUnreportedCosts)} in 24 h, ${usdWith(cost.lifetimeUsd, cost.lifetimeUnreportedCosts)} in all`,
    `dead letters: ${overview.dlqDepth}; host writes waiting: ${overview.vcsWriteQueueDepth}, failed: ${overview.vcsWriteQueueFailed}`,
    '',
    table(['STATE', 'ISSUES'], counts, 'no issues'),
    blocked.length > 0 && `\n${table(['BLOCKED', 'FOR', 'TITLE', 'REASON'], blocked, '')}`,
    failures.length > 0 && `\n${table(['FAILED', 'AGO', 'AGENT', 'ERROR'], failures, '')}`,
  );
}
