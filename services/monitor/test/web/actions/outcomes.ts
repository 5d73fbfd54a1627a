/** Messages of the dashboard about actions that are stopped, that fail in part, or that the API refuses. */
import { expect, test } from '@jest/globals';
import { inBrowser } from '@pipeline/testing/in-browser';
import type { Page, Route } from 'playwright-core';
import { addDeadLetter, IMPOSSIBLE, makeBench } from '../../support/bench.ts';
import { findings } from '../browser.ts';
import { address, api, database, open, pipeline, post } from './dashboard.ts';

const BULK = '**/api/issues/actions';
const REFUSED = 'Acme/Refused';
/** Longer than the entry of an action that succeeded is shown. */
const LATER_MS = 60_000;

interface Issues {
  items: { repo: string; issueNumber: number }[];
  page: { total: number };
}
interface BulkCall {
  repo: string;
  issueNumbers: number[];
}

const nameOf = (repo: string, issueNumber: number): string => `${repo}#${issueNumber}`;
const filterOf = (route: Route): BulkCall => (route.request().postDataJSON() as { filter: BulkCall }).filter;

/** The issues that are not done, and whether each is paused, by name. */
async function pausedOf(): Promise<Map<string, boolean>> {
  const rows = await database.db
    .selectFrom('issues')
    .innerJoin('repos', 'repos.id', 'issues.repo_id')
    .select(['repos.owner', 'repos.name', 'issues.issue_number', 'issues.is_paused'])
    .where('issues.state', '!=', 'done')
    .execute();
  return new Map(rows.map((row) => [nameOf(`${row.owner}/${row.name}`, row.issue_number), row.is_paused]));
}

inBrowser('the dashboard', () => {
  async function openAt(path: string): Promise<Page> {
    const { page } = await open(1440, 'light');
    await page.clock.install();
    await page.goto(`${address()}/#${path}`);
    return page;
  }
  const actions = (page: Page) => page.getByRole('region', { name: 'Actions', exact: true });

  test('sends no further call of a bulk action when it is stopped, and counts the issues that are left', async () => {
    const page = await openAt('/issues?state=all');
    const { total } = (await api<Issues>('/api/issues?state=all&limit=1')).page;
    const before = await pausedOf();
    const calls: BulkCall[] = [];
    const secondCall = Promise.withResolvers<void>();
    const stop = Promise.withResolvers<void>();
    await page.route(BULK, async (route) => {
      calls.push(filterOf(route));
      if (calls.length === 2) {
        secondCall.resolve();
        await stop.promise;
      }
      await route.continue();
    });
    await page.getByRole('checkbox').first().click();
    await page.getByRole('button', { name: `Select all ${total} matching` }).click();
    await page.getByText(`${total} selected`).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByLabel(`Type ${total} to confirm`).fill(String(total));
    await page.getByRole('button', { name: `Pause ${total} issues` }).click();
    await secondCall.promise;
    await actions(page).getByText(`Sent: ${calls[0]?.issueNumbers.length} of ${total}`).waitFor();
    await actions(page).getByRole('button', { name: 'Stop' }).click();
    await actions(page).getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    stop.resolve();
    const text = await actions(page)
      .getByText(/stopped before the other/)
      .textContent();
    expect(calls).toHaveLength(2);
    const sent = new Set(calls.flatMap(({ repo, issueNumbers }) => issueNumbers.map((number) => nameOf(repo, number))));
    // The loops of the monitor may have finished an issue since it was listed.
    const after = await pausedOf();
    const changed = [...after.keys()].filter((name) => sent.has(name)).length;
    expect(text).toContain(
      `${changed} changed, ${sent.size - changed} no longer applied, stopped before the other ${total - sent.size}`,
    );
    const wanted = [...after.keys()].map((name) => [name, sent.has(name) || before.get(name)] as const);
    expect(after).toEqual(new Map(wanted));
  });

  test('names the issues that failed in a bulk action until the entry is dismissed', async () => {
    const page = await openAt('/issues?state=all');
    const names: string[] = [];
    await page.route(BULK, async (route) => {
      const { repo, issueNumbers } = filterOf(route);
      names.push(...issueNumbers.map((number) => `${nameOf(repo, number)} STORE_BUSY`));
      const failed = issueNumbers.map((issueNumber) => ({ repo, issueNumber, code: 'STORE_BUSY', error: 'busy' }));
      const counts = { matched: failed.length, succeeded: 0, skipped: 0, failed };
      await route.fulfill({ json: { ok: true, dryRun: false, ...counts, issues: [], next: null } });
    });
    for (let row = 1; row <= 6; row += 1) await page.getByRole('checkbox').nth(row).click();
    await page.getByText('6 selected').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Resume 6 issues' }).click();
    await actions(page)
      .getByText(/changed/)
      .waitFor();
    await page.clock.fastForward(LATER_MS);
    expect(
      await actions(page)
        .getByText(/changed/)
        .textContent(),
    ).toContain(`0 changed, 6 failed (${names.slice(0, 5).join(', ')}, …)`);
    await actions(page).getByRole('button', { name: 'Dismiss Resume 6 issues' }).click();
    await actions(page)
      .getByText(/changed/)
      .waitFor({ state: 'detached' });
  });

  test('shows a refused action with its code and beside its row until the entry is dismissed', async () => {
    const [issue] = (await api<Issues>('/api/issues?state=analyzing&limit=1')).items;
    if (!issue) throw new Error('the history has no issue that is analyzed');
    const { repo, issueNumber } = issue;
    const name = nameOf(repo, issueNumber);
    const page = await openAt(`/issues/${repo}/${issueNumber}`);
    await page.getByRole('button', { name: 'Move …' }).click();
    await page.getByLabel('Reason').fill('by hand');
    expect((await post(`/api/issues/${repo}/${issueNumber}/cancel`)).status).toBe(200);
    await page
      .getByRole('dialog')
      .getByRole('button', { name: `Move ${name}` })
      .click();
    const refusal = actions(page).getByText(/^Failed: .* INVALID_TRANSITION$/);
    await refusal.waitFor();
    expect(await findings(page)).toEqual([]);
    await page.clock.fastForward(LATER_MS);
    const [, text = ''] = /^Failed: (.*) INVALID_TRANSITION$/.exec((await refusal.textContent()) ?? '') ?? [];
    await page.goto(`${address()}/#/issues?state=all&q=${issueNumber}&repo=${encodeURIComponent(repo)}`);
    const mark = page.getByRole('row').getByText(`failed: ${text}`);
    await mark.waitFor();
    await actions(page)
      .getByRole('button', { name: `Dismiss Move ${name}` })
      .click();
    await refusal.waitFor({ state: 'detached' });
    await mark.waitFor({ state: 'detached' });
  });

  test('shows that the transition of a dead letter failed again until the entry is dismissed', async () => {
    const bench = { ...(await makeBench(database.store, REFUSED)), engine: pipeline().engine };
    await addDeadLetter(bench, 1, IMPOSSIBLE);
    await pipeline().deadLetters.refresh();
    const page = await openAt(`/trouble/dead-letters?repo=${REFUSED}`);
    await page.getByRole('button', { name: 'Retry …' }).click();
    await page.getByRole('button', { name: `Retry the dead letter of ${REFUSED}#1` }).click();
    const failure = actions(page).getByText('Failed: the transition failed again');
    await failure.waitFor();
    await page.clock.fastForward(LATER_MS);
    await actions(page)
      .getByRole('button', { name: /^Dismiss Retry/ })
      .click();
    await failure.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Retry …' }).waitFor();
  });
});
