import type { AnyRoute, Surface } from '@pipeline/contract';
import type { Check } from './check.ts';
import { must, mustEqual } from './outcome.ts';
import { keyOf, type Page, pageOf, withQuery } from './page.ts';
import { templateOf } from './request-of.ts';

/** Limits of interface.md: default, largest, and what `limit` of 0 and of a word mean. */
const LIMITS: Readonly<Record<string, { byDefault: number; max: number; ofZero: number | 400; ofWord: number | 400 }>> =
  {
    listIssueFindings: { byDefault: 100, max: 200, ofZero: 1, ofWord: 400 },
    listFindings: { byDefault: 100, max: 200, ofZero: 1, ofWord: 400 },
    listIntelligence: { byDefault: 200, max: 500, ofZero: 1, ofWord: 400 },
    listAgentMessages: { byDefault: 500, max: 2_000, ofZero: 1, ofWord: 400 },
    listLogs: { byDefault: 200, max: 1_000, ofZero: 400, ofWord: 400 },
    listDeadLetters: { byDefault: 100, max: 500, ofZero: 100, ofWord: 100 },
    listConsistencyFindings: { byDefault: 100, max: 500, ofZero: 100, ofWord: 100 },
    listPipelineEvents: { byDefault: 50, max: 200, ofZero: 50, ofWord: 50 },
  };

/** Lists whose `page.total` is null by the interface. */
const WITHOUT_TOTAL = ['listIssueFindings', 'issueEvents', 'listAgentMessages'];

/** Lists whose order changes with every event while they are read. */
const isPaged = ({ replies, undocumented, query }: AnyRoute): boolean =>
  !undocumented && 'page' in shapeOf(replies[200]?.body) && query?.shape.offset !== undefined;

const shapeOf = (body: unknown): object => (body as { shape?: object } | undefined)?.shape ?? {};

export const pagingChecks = ({ routes }: Surface): Check[] =>
  routes.filter(isPaged).flatMap((route) => {
    const template = templateOf(route);
    if (template === null) return [];
    return [limits(route, template), ...(route.id in LIMITS ? [bounds(route, template)] : []), joined(route, template)];
  });

/** Checks the values that every page has about itself. */
function mustBeSound({ items, page }: Page): void {
  const { total, limit, offset, hasMore } = page;
  must(items.length <= limit, `${items.length} items exceed the limit of ${limit}`);
  if (hasMore) must(items.length > 0, 'hasMore is true on an empty page');
  if (total !== null) mustEqual('hasMore', hasMore, offset + items.length < total);
}

const limits = (route: AnyRoute, template: string): Check => ({
  suite: 'paging',
  endpoint: route.id,
  name: 'reports limit, offset, total and hasMore of the page that it returns',
  async run(probe) {
    const first = await pageOf(probe, template, 'limit=1&offset=0');
    mustBeSound(first);
    mustEqual('page.limit', first.page.limit, 1);
    mustEqual('page.offset', first.page.offset, 0);
    const beyond = await pageOf(probe, template, 'limit=5&offset=100000');
    mustBeSound(beyond);
    mustEqual('items beyond the end', beyond.items, []);
    mustEqual('page.offset beyond the end', beyond.page.offset, 100_000);
    if (WITHOUT_TOTAL.includes(route.id)) mustEqual('page.total', first.page.total, null);
  },
});

const bounds = (route: AnyRoute, template: string): Check => ({
  suite: 'paging',
  endpoint: route.id,
  name: 'applies the default limit and clamps a limit above the largest one',
  async run(probe) {
    const rule = LIMITS[route.id] ?? { byDefault: 0, max: 0, ofZero: 400, ofWord: 400 };
    const given = [
      ['offset=0', rule.byDefault],
      [`limit=${rule.max + 1}`, rule.max],
      ['limit=99999999', rule.max],
      ['limit=0', rule.ofZero],
      ['limit=x', rule.ofWord],
    ] as const;
    for (const [query, wanted] of given) {
      const answer = await probe.send(withQuery(template, query));
      mustEqual(`status of ${query}`, answer.status, wanted === 400 ? 400 : 200);
      if (wanted !== 400) mustEqual(`page.limit of ${query}`, answer.json<Page>().page.limit, wanted);
    }
  },
});

/** Pages that are compared at most. */
const MOST_PAGES = 10;
/** Readings until the list stayed the same from begin to end. */
const ATTEMPTS = 5;

const joined = (route: AnyRoute, template: string): Check => ({
  suite: 'paging',
  endpoint: route.id,
  name: 'returns every item once when pages are joined',
  async run(probe) {
    for (let attempt = 1; ; attempt += 1) {
      const before = await pageOf(probe, template, `limit=${2 * MOST_PAGES}`);
      const pages: unknown[] = [];
      for (let offset = 0; offset < 2 * MOST_PAGES; offset += 2)
        pages.push(...(await pageOf(probe, template, `limit=2&offset=${offset}`)).items);
      const after = await pageOf(probe, template, `limit=${2 * MOST_PAGES}`);
      const isQuiet = JSON.stringify(before.items.map(keyOf)) === JSON.stringify(after.items.map(keyOf));
      if (!isQuiet && attempt < ATTEMPTS) continue;
      // A list that keeps moving has no order to compare.
      if (isQuiet) mustEqual('the joined pages', pages.map(keyOf), before.items.map(keyOf));
      return;
    }
  },
});
