/** The customers' pages in a real browser, on a store with the history of two organisations. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { beforeAll, expect, test } from '@jest/globals';
import { axeFindings } from '@pipeline/testing/axe-findings';
import { simulateHistory } from '@pipeline/testing/history';
import { inBrowser } from '@pipeline/testing/in-browser';
import { openWatched } from '@pipeline/testing/watched-page';
import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { authorizeUrl, type Connected, connect, PASSWORD, type Person } from '../oauth/oauth-world.ts';
import { browser, world } from './world.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

inBrowser('the customers’ pages', () => {
  const { database } = world.hosting;
  let issue = 0;
  let owner: Person;
  const orgs: { id: number; external_id: string; name: string }[] = [];

  beforeAll(async () => {
    await simulateHistory(database.db, { tenants: 2, repos: 2, days: 3, issues: 40, seed: 1, end: new Date() });
    const rows = database.db.selectFrom('tenants as t').innerJoin('repos as r', 'r.tenant_id', 't.id');
    orgs.push(...(await rows.select(['t.id', 't.external_id', 't.name']).distinct().orderBy('t.id').execute()));
    owner = await personIn(0, 'owner');
    const numbers = database.db
      .selectFrom('issues')
      .select('issue_number')
      .where('tenant_id', '=', orgs[0]?.id ?? 0);
    issue = (await numbers.where('state', '=', 'done').limit(1).executeTakeFirstOrThrow()).issue_number;
  });

  async function personIn(org: number, role: 'owner' | 'member', ...more: number[]): Promise<Person> {
    const names = [org, ...more].map((index) => orgs[index]?.external_id ?? '');
    const person = await world.person(...names);
    await database.db.updateTable('memberships').set({ role }).where('user_id', '=', person.id).execute();
    return person;
  }

  /** A page of a browser of its own; what it complains about is kept. */
  async function open(width: number, colorScheme: 'light' | 'dark'): Promise<{ page: Page; complaints: string[] }> {
    const context = await browser().newContext({ viewport: { width, height: 800 }, colorScheme });
    return openWatched(context);
  }

  async function logIn(page: Page, { email }: Person): Promise<void> {
    await page.goto(world.front.url);
    await page.getByRole('link', { name: 'Log in' }).click();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('navigation').first().waitFor();
  }

  async function checkPage(page: Page, what: string): Promise<void> {
    expect([what, await axeFindings(page, AXE)]).toEqual([what, []]);
    const fits = 'document.documentElement.scrollWidth <= document.documentElement.clientWidth';
    expect([what, await page.evaluate(fits)]).toEqual([what, true]);
  }

  test.each([1440, 768, 360])(
    'has no findings of axe, no refused resource and no sideways scroll at %d px',
    async (width) => {
      const { page, complaints } = await open(width, 'light');
      await page.goto(world.front.url);
      await checkPage(page, 'start page');
      await page.goto(`${world.front.url}/account/login?return_to=%2F`);
      await checkPage(page, 'login');
      await logIn(page, owner);
      const paths = [
        ...['/', '/issues', '/issues?state=done', `/issues/${issue}`, '/issues/999999', '/repositories'],
        ...['/costs', '/members', '/connections', '/sessions', '/no-such-page', '/?org=no-such-org'],
      ];
      for (const path of paths) {
        await page.goto(`${world.front.url}/#${path}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.waitForLoadState('networkidle');
        await checkPage(page, path);
      }
      await page.goto(`${world.front.url}/#/members`);
      await page.getByRole('button', { name: 'Invite a person' }).click();
      await page.getByRole('dialog').waitFor();
      await checkPage(page, 'invite dialog');
      await page.keyboard.press('Escape');
      if (width < 720) {
        await page.getByRole('button', { name: 'More' }).click();
        await page.getByRole('dialog', { name: 'Pages' }).waitFor();
        await checkPage(page, 'list of pages');
      }
      await page.goto(`${world.front.url}/account/connections`);
      await checkPage(page, 'connections without script');
      // The issue that does not exist.
      expect(complaints.filter((text) => !text.includes('/issues/999999/'))).toEqual([]);
    },
    120_000,
  );

  test('reads the overview again at once when the organisation reports a change', async () => {
    const { page, complaints } = await open(1440, 'light');
    await logIn(page, owner);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByText('Workers online', { exact: true }).waitFor();
    const reread = page.waitForRequest((request) => request.url().includes('/account/data/overview'), {
      timeout: 8_000,
    });
    await sql`select pg_notify('svc_stream', ${String(orgs[0]?.id)})`.execute(database.db);
    await reread;
    expect(complaints).toEqual([]);
  });

  test('shows an issue with its explanation and its timeline when it is opened from the list', async () => {
    const { page } = await open(1440, 'light');
    await logIn(page, owner);
    await page.goto(`${world.front.url}/#/issues?state=done`);
    await page
      .getByRole('link', { name: /^#\d+ / })
      .first()
      .click();
    await page.getByRole('heading', { name: 'Why it is where it is' }).waitFor();
    await page
      .getByText(/ is done/)
      .first()
      .waitFor();
    expect(await page.getByRole('listitem').count()).toBeGreaterThan(3);
  });

  test('ends one connection, then all of them, and the programs get 401', async () => {
    const person = await personIn(0, 'owner');
    const clients = await Promise.all(
      ['Acme Agent', 'Reader', 'Writer'].map((client_name) => world.program({ client_name })),
    );
    const connected: Connected[] = [];
    for (const clientId of clients) connected.push(await connect(world, { clientId, person }));
    const statuses = () => Promise.all(connected.map(({ access }) => world.call(access)));
    const { page, complaints } = await open(360, 'light');
    await logIn(page, person);
    await page.goto(`${world.front.url}/#/connections`);
    await page.getByRole('button', { name: 'End the connection of Acme Agent' }).click();
    await page.getByRole('alertdialog').waitFor();
    await checkPage(page, 'dialog');
    expect(await statuses()).toEqual([200, 200, 200]);
    await page.getByRole('button', { name: 'End connection' }).click();
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    await page.getByText('Acme Agent', { exact: true }).waitFor({ state: 'detached' });
    expect(await statuses()).toEqual([401, 200, 200]);
    await page.getByRole('button', { name: 'End all connections' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'End all connections' }).click();
    await page.getByText('No program reads on your behalf.').waitFor();
    expect(await statuses()).toEqual([401, 401, 401]);
    expect(complaints).toEqual([]);
  });

  test('leads from the sessions to the ways to log in when the link is followed', async () => {
    const { page } = await open(768, 'light');
    await logIn(page, await personIn(0, 'owner'));
    await page.goto(`${world.front.url}/#/sessions`);
    await page.getByRole('link', { name: 'Ways to log in' }).click();
    await page.getByRole('heading', { name: 'Ways to log in' }).waitFor();
    expect(await page.getByText('can log in with your password').count()).toBe(1);
  });

  test('ends the session of another browser, which shows the login at its next read', async () => {
    const person = await personIn(0, 'owner');
    const [first, second] = [(await open(768, 'light')).page, (await open(768, 'light')).page];
    await logIn(first, person);
    await logIn(second, person);
    await second.goto(`${world.front.url}/#/sessions`);
    await second.getByText('this browser').waitFor();
    await second.getByRole('button', { name: /^End the session/ }).click();
    await second.getByRole('button', { name: 'End session' }).click();
    await second.getByRole('alertdialog').waitFor({ state: 'detached' });
    await first.goto(`${world.front.url}/#/connections`);
    await first.getByRole('heading', { name: 'Log in to Pipeline' }).waitFor();
  });

  test('shows nothing of an organisation to a member of another one, and a switch to a member of both', async () => {
    const { page } = await open(1440, 'light');
    await logIn(page, await personIn(1, 'owner'));
    await page.goto(`${world.front.url}/#/issues?org=${orgs[0]?.external_id}`);
    await page.getByRole('heading', { name: 'No such organisation' }).waitFor();
    const { page: both } = await open(1440, 'light');
    await logIn(both, await personIn(0, 'owner', 1));
    await both.getByRole('combobox', { name: 'Organisation' }).selectOption(orgs[1]?.external_id ?? '');
    await both.goto(`${world.front.url}/#/repositories?org=${orgs[1]?.external_id}`);
    await both.getByText(`Repositories of ${orgs[1]?.name}`).waitFor();
  });

  test('invites a person, changes their role and removes them, and they read nothing more', async () => {
    const { page, complaints } = await open(360, 'light');
    await logIn(page, owner);
    await page.goto(`${world.front.url}/#/members`);
    await page.getByText('No invitation is open.').waitFor();
    await page.getByRole('button', { name: 'Invite a person' }).click();
    await page.getByLabel('Email address').fill('nina@example.org');
    await page.getByLabel('Role', { exact: true }).selectOption('member');
    await page.getByRole('button', { name: 'Create the link' }).click();
    const link = (await page.getByRole('dialog').locator('code').textContent()) ?? '';
    await checkPage(page, 'link of the invitation');
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText('nina@example.org as member').waitFor();

    const { page: hers } = await open(768, 'dark');
    await hers.goto(link);
    await hers.getByLabel('Name').fill('Nina');
    await hers.getByLabel('Password').fill(PASSWORD);
    await hers.getByRole('button', { name: /^Create/ }).click();
    await hers.getByRole('navigation').first().waitFor();

    await page.reload();
    await page.getByText('No invitation is open.').waitFor();
    await page.getByLabel('Role of nina@example.org').selectOption('owner');
    await checkPage(page, 'change of a role');
    await page.getByRole('button', { name: 'Change role' }).click();
    await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    expect(await page.getByLabel('Role of nina@example.org').inputValue()).toBe('owner');
    await hers.goto(`${world.front.url}/#/members`);
    await hers.reload();
    await hers.getByRole('button', { name: `Remove ${owner.email}` }).waitFor();

    await page.getByRole('button', { name: 'Remove nina@example.org' }).click();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByText('Nina · nina@example.org').waitFor({ state: 'detached' });
    await hers.reload();
    await hers.getByText('You are not a member of an organisation.').waitFor();
    expect(complaints).toEqual([]);
  });

  test('leaves to the start page when the user logs out', async () => {
    const { page } = await open(360, 'dark');
    await logIn(page, owner);
    await page.getByRole('button', { name: /^Log out/ }).click();
    await page.getByRole('heading', { name: 'Log in to Pipeline' }).waitFor();
    await page.goto(world.front.url);
    await page.getByRole('link', { name: 'Log in' }).waitFor();
  });

  test('asks in plain words whether a program may read', async () => {
    const { page } = await open(360, 'dark');
    await page.goto(authorizeUrl(world, await world.program({ client_name: 'Acme Agent' })));
    await checkPage(page, 'login for a program');
    await page.getByLabel('Email').fill(owner.email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'Allow Acme Agent to read your pipeline?' }).waitFor();
    await checkPage(page, 'consent');
  });
});
