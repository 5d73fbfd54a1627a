/**
 * The dashboard under conditions that are not the usual ones: other addresses, failures, settings of the reader,
 * hostile texts.
 */
import { expect, test } from '@jest/globals';
import { inBrowser } from '@pipeline/testing/in-browser';
import { findings, HOST_NAME, logIn } from '../browser.ts';
import { address, database, open, openAnonymous } from './dashboard.ts';

/** After 75 seconds without a message the stream counts as cut. */
const LONG_CUT_MS = 80_000;
const HOSTILE = [
  '<img src=x onerror="document.title=1"><b>bold</b>',
  '\u202Edrow ni si siht\u202C and \u2066isolated\u2069',
  `${'word '.repeat(100)}${'x'.repeat(300)}`,
  '[a link](javascript:alert(1)) {{constructor}}',
];

inBrowser('the dashboard', () => {
  test('explains that the address needs https when the browser drops the session on http with a host name', async () => {
    const { page } = await openAnonymous(768, 'light');
    await page.goto(address().replace('127.0.0.1', HOST_NAME));
    await logIn(page);
    await page.getByText(/This address needs https/).waitFor();
    expect(await findings(page)).toEqual([]);
  });

  test('shows the failure of one panel in this panel alone, and reads it again when asked', async () => {
    const { page } = await open(1440, 'dark');
    const broken = '**/api/pipeline/cohort-funnel**';
    const body = JSON.stringify({ error: 'INTERNAL_ERROR', message: 'The funnel is broken' });
    await page.route(broken, (route) => route.fulfill({ status: 500, contentType: 'application/json', body }));
    await page.goto(address());
    const funnel = page.getByRole('region', { name: /^Funnel/ });
    await funnel.getByText('Could not be read').waitFor();
    await page
      .getByRole('region', { name: /^Cost reported/ })
      .getByText('All time')
      .waitFor();
    expect(await page.getByText('Could not be read').count()).toBe(1);
    expect(await findings(page)).toEqual([]);
    await page.unroute(broken);
    await funnel.getByRole('button', { name: 'Try again' }).click();
    await funnel.getByText(/entered. Beside each bar/).waitFor();
  });

  test('shows hostile titles as text, on one line and without sideways scroll', async () => {
    const rows = database.db.selectFrom('issue_list').select(['tenant_id', 'repo_id', 'issue_number', 'body']);
    const listed = await rows.where('body', 'is not', null).limit(HOSTILE.length).execute();
    for (const [index, { body, ...row }] of listed.entries()) {
      const renamed = JSON.stringify({ ...JSON.parse(body ?? ''), title: HOSTILE[index] });
      const change = database.db
        .updateTable('issue_list')
        .set({ body: renamed })
        .where('tenant_id', '=', row.tenant_id);
      await change.where('repo_id', '=', row.repo_id).where('issue_number', '=', row.issue_number).execute();
    }
    for (const width of [360, 1440]) {
      const { page, complaints } = await open(width, 'light');
      await page.goto(`${address()}/#/issues?state=all&sort=title`);
      await page.getByText('<img src=x').first().waitFor({ state: 'attached' });
      expect(await page.locator('main img, main b').count()).toBe(0);
      const heights = await page
        .getByRole('row')
        .evaluateAll((rows) => [...new Set(rows.slice(1).map((row) => row.getBoundingClientRect().height))]);
      expect(heights).toHaveLength(1);
      const fits = 'document.documentElement.scrollWidth <= document.documentElement.clientWidth';
      expect(await page.evaluate(fits)).toBe(true);
      expect(await page.title()).not.toBe('1');
      expect(complaints).toEqual([]);
    }
  });

  test('the page has no findings of axe when its figures are grey because the stream is cut', async () => {
    const { page } = await open(1440, 'light');
    await page.clock.install();
    await page.goto(address());
    await page.getByRole('button', { name: /^Live/ }).waitFor();
    await page.route('**/api/events', (route) => route.abort());
    await page.clock.fastForward(LONG_CUT_MS);
    const found: unknown[] = [];
    for (const path of ['/', '/issues?state=all', '/queue', '/costs', '/trouble/blocked', '/system/audit']) {
      await page.goto(`${address()}/#${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.clock.fastForward(LONG_CUT_MS);
      await page.locator('main[data-outdated]').waitFor();
      await page.getByText('Loading', { exact: true }).first().waitFor({ state: 'detached' });
      for (const finding of await findings(page)) found.push([path, finding]);
    }
    expect(found).toEqual([]);
  }, 120_000);

  test('keeps its pages readable with forced colours, at 200 percent and without motion', async () => {
    // What a browser shows at 200 percent in a window of 720 pixels.
    const { page } = await open(360, 'light', { deviceScaleFactor: 2 });
    await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' });
    await page.goto(address());
    await page.getByRole('button', { name: /^Live/ }).waitFor();
    for (const path of ['/', '/issues?state=all', '/costs', '/system/audit']) {
      await page.goto(`${address()}/#${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      const wide = 'document.documentElement.scrollWidth <= document.documentElement.clientWidth';
      expect([path, await page.evaluate(wide)]).toEqual([path, true]);
    }
  });

  test('shows times in the zone of the reader, and in UTC from then on when the zone is switched', async () => {
    const { page } = await open(1440, 'light', { timezoneId: 'Europe/Berlin' });
    await page.goto(`${address()}/#/system/events`);
    const zone = page.getByRole('button', { name: /^Times are in/ });
    const time = page.getByRole('row').nth(1).locator('time').first();
    const at = new Date((await time.getAttribute('datetime')) ?? '');
    const clock = (timeZone: string) => at.toLocaleTimeString('en-GB', { timeZone });
    const title = async () => {
      await time.hover();
      return time.getAttribute('title');
    };
    expect(await title()).toContain(`${clock('Europe/Berlin')} `);
    await zone.click();
    await page.getByRole('button', { name: 'Times are in UTC. Switch to local time' }).waitFor();
    expect(await title()).toContain(`${clock('UTC')} UTC`);
    await page.reload();
    await page.getByRole('button', { name: 'Times are in UTC. Switch to local time' }).waitFor();
  });
});
