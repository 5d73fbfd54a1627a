/** Actions of operators in the dashboard, its event stream, and its session. */
import { expect, test } from '@jest/globals';
import { startCutProxy } from '@pipeline/testing';
import { inBrowser } from '@pipeline/testing/in-browser';
import type { Page } from 'playwright-core';
import { findings, logIn, passReconnectWait } from '../browser.ts';
import { address, api, database, open, openAnonymous, post } from './dashboard.ts';

interface Issues {
  items: { repo: string; issueNumber: number; title: string; state: string; isPaused: boolean }[];
  page: { total: number };
}
interface Audit {
  items: { actor: string; action: string; target: string; reason: string | null }[];
}

const PLAN = [
  '# Plan',
  '### Steps',
  '1. Read **all** of `totals.ts`',
  '- [x] done',
  '[docs](https://example.org/x) [bad](javascript:alert(1)) [page](#/costs) ![pic](https://foreign.example/p.png)',
  '<img src=x onerror="document.title=1"><script>document.title = 1</script>',
].join('\n\n');

inBrowser('the dashboard', () => {
  const issuesOf = async (state: string) => (await api<Issues>(`/api/issues?state=${state}&limit=100`)).items;
  const openIssue = async () => {
    const found = (await issuesOf('failure-blocked'))[0] ?? (await issuesOf('analyzing'))[0];
    if (!found) throw new Error('the history has no open issue');
    return found;
  };
  const live = (page: Page) => page.getByRole('button', { name: /^Live/ });

  test('retries a blocked issue when only the keyboard is used', async () => {
    const { page } = await openAnonymous(1440, 'light');
    const issue = await openIssue();
    await page.goto(`${address()}/#/issues/${issue.repo}/${issue.issueNumber}`);
    await page.getByLabel('Username').focus();
    await page.keyboard.type('olga');
    await page.keyboard.press('Tab');
    await page.keyboard.type('pw');
    await page.keyboard.press('Enter');
    await page.getByRole('toolbar', { name: 'Actions on the issue' }).waitFor();
    await page.keyboard.press('.');
    await page.getByRole('dialog', { name: /^Actions on/ }).waitFor();
    expect(await findings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('r');
    await page.getByRole('dialog', { name: /^Retry/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText(/^Accepted/).waitFor();
    const { items } = await api<Audit>('/api/audit?action=retry&actor=olga');
    expect(items[0]).toMatchObject({ target: `${issue.repo}#${issue.issueNumber}` });
  });

  test('sends a refused form once for each press of Enter, however long it is held', async () => {
    const { page } = await open(1440, 'light');
    await page.goto(`${address()}/#/steering/tracks?repo=acme/repo-1`);
    let requests = 0;
    await page.route('**/api/tracks', async (route) => {
      if (route.request().method() === 'GET') return route.fallback();
      requests += 1;
      await route.fulfill({ status: 409, json: { error: `Refusal ${requests}`, code: 'CONFLICT' } });
    });
    await page.getByRole('button', { name: 'Add a track' }).click();
    await page.getByLabel('Name').fill('held');
    for (const press of [1, 2]) {
      await page.keyboard.down('Enter');
      await page.getByText(`Refusal ${press}`).first().waitFor();
      for (let repeat = 0; repeat < 3; repeat += 1) await page.keyboard.down('Enter');
      await page.keyboard.up('Enter');
    }
    expect(requests).toBe(2);
  });

  test('pauses an issue at once and resumes it when the action is undone', async () => {
    const { page } = await open(1440, 'dark');
    const issue = (await issuesOf('analyzing'))[0] ?? (await openIssue());
    const isPaused = async () =>
      (await api<{ isPaused: boolean }>(`/api/issues/${issue.repo}/${issue.issueNumber}/why`)).isPaused;
    await page.goto(`${address()}/#/issues/${issue.repo}/${issue.issueNumber}`);
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    expect(await isPaused()).toBe(true);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('undone').waitFor();
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    expect(await isPaused()).toBe(false);
  });

  test('selects every matching issue and shows the action in the audit when it is done', async () => {
    const { page } = await open(1440, 'light');
    await page.goto(`${address()}/#/issues?state=all`);
    const { total } = (await api<Issues>('/api/issues?state=all&limit=1')).page;
    await page.getByRole('checkbox').first().click();
    await page.getByRole('button', { name: `Select all ${total} matching` }).click();
    await page.getByText(`${total} selected`).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByLabel('Reason (optional)').fill('maintenance');
    await page.getByLabel(`Type ${total} to confirm`).fill(String(total));
    await page.getByRole('button', { name: `Pause ${total} issues` }).click();
    await page.getByText(/changed/).waitFor();
    await page.goto(`${address()}/#/system/audit?action=bulk-pause`);
    await page.getByRole('row').filter({ hasText: 'maintenance' }).first().waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'CSV' }).click();
    expect((await download).suggestedFilename()).toMatch(/^audit-.*\.csv$/);
  });

  test('renders a plan without HTML, foreign images and unsafe links when an agent wrote them', async () => {
    const issue = await openIssue();
    await database.db
      .insertInto('artefacts')
      .columns(['tenant_id', 'run_id', 'issue_id', 'kind', 'media_type', 'title', 'body'])
      .expression((eb) =>
        eb
          .selectFrom('runs')
          .innerJoin('issues', (join) =>
            join.onRef('issues.tenant_id', '=', 'runs.tenant_id').onRef('issues.id', '=', 'runs.issue_id'),
          )
          .innerJoin('repos', 'repos.id', 'issues.repo_id')
          .where('issues.issue_number', '=', issue.issueNumber)
          .where('repos.name', '=', issue.repo.split('/')[1] ?? '')
          .select((row) => [
            'runs.tenant_id',
            'runs.id',
            'runs.issue_id',
            row.val('plan').as('kind'),
            row.val('text/markdown').as('media_type'),
            row.val('The plan').as('title'),
            row.val(PLAN).as('body'),
          ])
          .limit(1),
      )
      .execute();
    const { page, complaints } = await open(360, 'light');
    await page.goto(`${address()}/#/issues/${issue.repo}/${issue.issueNumber}?tab=artefacts`);
    await page.getByRole('heading', { name: 'Steps' }).waitFor();
    const panel = page.getByRole('region', { name: 'Artefacts' });
    expect(await panel.locator('img, script, input').count()).toBe(0);
    expect(
      await panel.locator('a[href]').evaluateAll((links) => links.map((link) => link.getAttribute('href'))),
    ).toEqual(['https://example.org/x', 'https://foreign.example/p.png']);
    expect(await findings(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test('zooms the timeline and keeps the zoom in the address when the page is loaded again', async () => {
    const issue = await openIssue();
    const { page } = await open(1440, 'light');
    await page.goto(`${address()}/#/issues/${issue.repo}/${issue.issueNumber}`);
    await page.getByRole('button', { name: 'Zoom in' }).click();
    await page.getByRole('button', { name: 'Show all' }).waitFor();
    expect(page.url()).toMatch(/zoom=\d+-\d+/);
    await page.reload();
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.waitForURL((url) => !url.hash.includes('zoom='));
  });

  test('opens one event stream for two tabs, and another one when the tab that holds it closes', async () => {
    const { page, context } = await open(1440, 'light');
    const streams: string[] = [];
    context.on('request', (request) => {
      if (new URL(request.url()).pathname === '/api/events') streams.push(request.url());
    });
    await page.goto(address());
    await live(page).waitFor();
    const second = await context.newPage();
    await second.goto(address());
    await live(second).waitFor();
    expect(streams).toHaveLength(1);
    const taken = second.waitForRequest((request) => new URL(request.url()).pathname === '/api/events');
    await page.close();
    await taken;
    await live(second).waitFor();
    expect(streams).toHaveLength(2);
  });

  const unpaused = async () => {
    const issue = (await issuesOf('analyzing')).at(-1) ?? (await openIssue());
    await post(`/api/issues/${issue.repo}/${issue.issueNumber}/resume`);
    return issue;
  };

  test('shows that the stream is cut, and shows what happened meanwhile when it is back', async () => {
    const way = await startCutProxy(address());
    const { page } = await open(1440, 'light');
    await page.clock.install();
    const issue = await unpaused();
    await page.goto(`${way.url.replace(/\/$/, '')}/#/issues/${issue.repo}/${issue.issueNumber}`);
    await live(page).waitFor();
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    way.cut();
    await page.getByRole('button', { name: /^Reconnecting/ }).waitFor();
    await post(`/api/issues/${issue.repo}/${issue.issueNumber}/pause`);
    way.restore();
    await passReconnectWait(page);
    await page.getByRole('button', { name: 'Resume', exact: true }).waitFor();
  });

  test('shows a page without tooltips when their code cannot be loaded', async () => {
    const issue = await unpaused();
    const { page } = await open(1440, 'light');
    await page.route('**/assets/tooltip-*', (route) => route.abort());
    const refused = page.waitForEvent('requestfailed', (request) => /tooltip-.*js$/.test(request.url()));
    await page.goto(`${address()}/#/issues/${issue.repo}/${issue.issueNumber}`);
    await refused;
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
  });

  test('shows an action of another operator on the issue page and in the list when its event arrives', async () => {
    const issue = (await issuesOf('analyzing')).at(-1) ?? (await openIssue());
    const path = `/api/issues/${issue.repo}/${issue.issueNumber}`;
    const { page, context } = await open(1440, 'light');
    await page.goto(`${address()}/#/issues/${issue.repo}/${issue.issueNumber}`);
    await live(page).waitFor();
    const list = await context.newPage();
    await list.goto(`${address()}/#/issues?q=${issue.issueNumber}&repo=${encodeURIComponent(issue.repo)}`);
    await live(list).waitFor();
    const row = list
      .getByRole('row')
      .filter({ hasText: `#${issue.issueNumber}` })
      .first();
    await row.waitFor();
    const { isPaused } = await api<{ isPaused: boolean }>(`${path}/why`);
    if (isPaused) await post(`${path}/resume`);
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    await post(`${path}/pause`);
    await page.getByRole('button', { name: 'Resume', exact: true }).waitFor();
    await row.getByText('paused').first().waitFor({ state: 'attached' });
    await post(`${path}/resume`);
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    await row.getByText('paused').first().waitFor({ state: 'detached' });
  });

  test('keeps what was typed when the session ends during an edit', async () => {
    const { page, context } = await open(1440, 'light');
    await page.goto(`${address()}/#/steering/strategy?repo=acme/repo-1`);
    await page.getByRole('button', { name: 'Write a charter' }).click();
    await page.getByLabel('Goals').fill('Fewer regressions.');
    await context.clearCookies();
    await page.getByRole('button', { name: 'Store the charter' }).click();
    await page.getByRole('dialog', { name: 'The session has ended' }).waitFor();
    await logIn(page);
    await page.getByRole('dialog', { name: 'The session has ended' }).waitFor({ state: 'detached' });
    expect(await page.getByLabel('Goals').inputValue()).toBe('Fewer regressions.');
    await page.getByRole('button', { name: 'Store the charter', exact: true }).click();
    await page.getByLabel('Goals').waitFor({ state: 'detached' });
  });
});
