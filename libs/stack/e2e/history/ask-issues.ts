import { STATES, type State } from '@pipeline/domain';
import type { Store } from '@pipeline/store';
import {
  diagnosisOf,
  findingsOf,
  foundOf,
  listItemOf,
  ofIssue,
  type Rows,
  type Search,
  timelineOf,
  whyOf,
} from '@pipeline/testing/oracle';
import { sql } from 'kysely';
import type { Scope } from './ask-analytics.ts';
import type { Asker } from './asker.ts';

const OPEN: readonly State[] = STATES.filter((state) => state !== 'done');

/** Issues in every way in which they are looked for. */
export async function askSearch(asker: Asker, { whose, rows }: Scope): Promise<void> {
  const asked: [string, Search][] = [
    ['', { states: OPEN }],
    ['&state=all', {}],
    ['&state=blocked', { states: OPEN, flag: 'blocked' }],
    ['&state=paused', { states: OPEN, flag: 'paused' }],
    ['&state=all&flag=paused', { flag: 'paused' }],
    ...STATES.map((state): [string, Search] => [`&state=${state}`, { states: [state] }]),
  ];
  for (const [query, search] of asked) {
    const found = foundOf(rows, search);
    const page = { total: found.length, limit: 100, offset: 0, hasMore: found.length > 100 };
    await asker.expect(`/api/issues?limit=100${query}${whose}`, { items: found.slice(0, 100), page });
  }
  for (const [q, search] of [
    ['42', { number: 42 }],
    ['issue 17 of', { text: 'issue 17 of' }],
  ] as const) {
    const items = foundOf(rows, search).slice(0, 100);
    await asker.expect(`/api/issues?limit=100&q=${encodeURIComponent(q)}${whose}`, { items, page: { total: null } });
  }
}

/** The findings of a repo, by what they can be narrowed to. */
export async function askFindings(asker: Asker, { whose, rows }: Scope): Promise<void> {
  const page = { limit: 200, offset: 0 };
  const query = (filter: Record<string, string>) => new URLSearchParams(filter).toString();
  for (const filter of [{}, { status: 'open' }, { severity: 'high' }, { category: 'security', status: 'resolved' }]) {
    await asker.expect(`/api/findings?limit=200&${query(filter)}${whose}`, findingsOf(rows, filter, page));
  }
}

interface Timeline {
  entries: { kind: string; timestamp: string }[];
}

interface IssueAsked {
  asker: Asker;
  store: Store;
  /** Of the issue's repo. */
  rows: Rows;
  now: number;
}

/** All reads of one issue. */
export async function askIssue({ asker, store, rows, now }: IssueAsked, issue: Rows['issues'][number]): Promise<void> {
  const [repo] = rows.repos;
  const path = (what: string) => `/api/issues/${repo?.slug}/${issue.number}/${what}?tenant=${repo?.tenant}`;
  const own = ofIssue(rows, issue);
  await asker.expect(path('why'), whyOf(own));
  await asker.expect(path('digest'), diagnosisOf(own));
  await asker.expect(path('status'), { state: issue.state, currentStatus: issue.status });
  await asker.expect(`/api/timeline/${repo?.slug}/${issue.number}?tenant=${repo?.tenant}`, timelineOf(own, now), {
    shaped: (body: Timeline) => ({ ...body, kinds: kindsOf(body) }),
  });
  const { rows: events } = await sql<{ id: number; status: string; state: string }>`
    select id, status, state from issue_events where issue_id = ${issue.id} order by created_at desc, id desc`.execute(
    store.fleet,
  );
  await asker.expect(`${path('events')}&limit=200`, { items: events.slice(0, 200) });
  const { rows: looks } = await sql<{ id: string; outcome: string | null }>`
    select id, outcome_classification as outcome from retrospectives where issue_id = ${issue.id}
    order by created_at desc limit 1`.execute(store.fleet);
  const [look] = looks;
  const retrospective = look ? { id: look.id, outcomeClassification: look.outcome } : null;
  await asker.expect(path('retrospective'), { retrospective });
  const found = await asker.ask<{ items: { issueNumber: number; repo: string }[] }>(
    `/api/issues?repo=${repo?.slug}&tenant=${repo?.tenant}&q=${issue.number}`,
  );
  asker.compare(
    '/api/issues',
    found.items.find((item) => item.issueNumber === issue.number),
    listItemOf(own, rows.costs),
  );
}

/** Other rows record the same history of an issue: they are counted, and the order is checked. */
function kindsOf({ entries }: Timeline): Record<string, number> {
  const inOrder = entries.every(
    ({ timestamp }, index) => index === 0 || timestamp >= (entries[index - 1]?.timestamp ?? ''),
  );
  const kinds = new Map<string, number>(
    ['transition', 'agent-run', 'projection', 'finding', 'dead-letter'].map((k) => [k, 0]),
  );
  for (const { kind } of entries) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  return inOrder ? Object.fromEntries(kinds) : {};
}
