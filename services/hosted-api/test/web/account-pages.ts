import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, expect, test } from '@jest/globals';
import { serverClosedWithFile } from '@pipeline/testing/closing';
import { inBrowser } from '@pipeline/testing/in-browser';
import type { Page } from 'playwright-core';
import { authorizeUrl, PASSWORD, redeem } from '../oauth/oauth-world.ts';
import { browser, world } from './world.ts';

inBrowser('in Chromium', () => {
  let callback = '';
  const seen: string[] = [];

  beforeAll(async () => {
    // The program redirects again, as many do: browsers apply the policy of the form to that redirect, too.
    const program = createServer((request, response) => {
      seen.push(request.url ?? '');
      if (request.url?.startsWith('/callback')) response.writeHead(302, { location: '/done' }).end();
      else response.end('<!doctype html><title>Connected</title><p>You may close this page.');
    });
    serverClosedWithFile(program);
    program.listen(0, '127.0.0.1');
    await once(program, 'listening');
    callback = `http://127.0.0.1:${(program.address() as AddressInfo).port}/callback`;
  });

  /** A page of a browser that knows no cookies; what it complains about is kept. */
  const open = async () => {
    const context = await browser().newContext({ viewport: { width: 360, height: 640 }, isMobile: true });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('requestfailed', (request) => complaints.push(`${request.url()} ${request.failure()?.errorText}`));
    return { page, complaints, close: () => context.close() };
  };
  const press = (page: Page, selector: string) =>
    Promise.all([page.waitForEvent('load'), page.locator(selector).first().click()]);
  const logIn = async (page: Page, email: string, password = PASSWORD) => {
    await page.locator('#email').fill(email);
    await page.locator('#password').fill(password);
    await press(page, 'form[action="/account/login"] button');
  };
  /** Returns whether the page can be read on a narrow screen without moving it sideways. */
  const fits = (page: Page) =>
    page.evaluate<boolean>('document.documentElement.scrollWidth <= document.documentElement.clientWidth');

  test('a person logs in, allows, and the redirects to the program are followed', async () => {
    const person = await world.person('acme');
    const clientId = await world.program({ redirect_uris: [callback] });
    const { page, complaints, close } = await open();
    await page.goto(authorizeUrl(world, clientId, { redirect_uri: callback }));
    expect(await page.title()).toBe('Log in to Pipeline');
    expect(await fits(page)).toBe(true);
    await logIn(page, person.email, 'a wrong password');
    expect(await page.locator('[role=alert]').textContent()).toBe('The email or the password is wrong.');
    expect(await page.locator('#email').getAttribute('value')).toBe(person.email);
    await logIn(page, person.email);
    expect(await page.title()).toBe('Allow Reader to read your pipeline? - Pipeline');
    expect(await fits(page)).toBe(true);
    await press(page, 'button[value=allow]');
    expect(await page.title()).toBe('Connected');
    expect(complaints.filter((text) => !text.includes('favicon'))).toEqual([
      expect.stringContaining('the server responded with a status of 400'),
    ]);
    const code = new URL(`http://x${seen.find((url) => url.startsWith('/callback'))}`).searchParams.get('code') ?? '';
    const tokens = await redeem(world, clientId, code, { redirect_uri: callback });
    expect(await world.call(tokens.access)).toBe(200);
    await page.goto(`${world.front.url}/account/connections`);
    expect(await page.locator('main').textContent()).toContain('Reader');
    expect(await fits(page)).toBe(true);
    await press(page, 'a.bad');
    expect(await page.title()).toBe('End the connection of Reader? - Pipeline');
    expect(await fits(page)).toBe(true);
    await press(page, 'button.bad');
    expect(await page.locator('[role=status]').textContent()).toContain('was ended');
    expect(await world.call(tokens.access)).toBe(401);
    await close();
  });

  test('the redirects to a provider are followed from the login and from the page that connects accounts', async () => {
    const { page, complaints, close } = await open();
    await page.goto(`${world.front.url}/account/login`);
    await press(page, 'a[href^="/account/login/github/start"]');
    expect(await page.title()).toBe('Provider');
    await page.goto(`${world.front.url}/account/login`);
    await logIn(page, (await world.person('acme')).email);
    await page.goto(`${world.front.url}/account/logins`);
    expect(await fits(page)).toBe(true);
    await press(page, 'form[action="/account/logins/github/connect"] button');
    expect(await page.title()).toBe('Provider');
    expect(complaints.filter((text) => /policy|form-action/i.test(text))).toEqual([]);
    await close();
  });

  test('fields have labels, and the style sheet is let through by its hash', async () => {
    const { page, complaints, close } = await open();
    await page.goto(`${world.front.url}/account/login`);
    await page.getByRole('heading', { name: 'Log in to Pipeline' }).waitFor();
    for (const name of ['Email', 'Password']) await page.getByRole('textbox', { name, exact: true }).waitFor();
    const box = await page.getByRole('button', { name: 'Log in', exact: true }).boundingBox();
    expect(box?.width).toBeGreaterThanOrEqual(44);
    expect(box?.height).toBeGreaterThanOrEqual(44);
    expect(complaints.filter((text) => /policy/i.test(text))).toEqual([]);
    await close();
  });

  test('injected content in a page does not run, load or send', async () => {
    const { page, complaints, close } = await open();
    await page.goto(`${world.front.url}/account/login`);
    const thief = new URL(callback).origin;
    // As text: this file knows no DOM.
    await page.evaluate(`
      document.body.insertAdjacentHTML('beforeend',
        '<form method="post" action="${thief}/stolen" id="thief"></form><img src="${thief}/stolen-too">');
      document.getElementById('thief').submit();`);
    const text = () => complaints.join('\n');
    for (let round = 0; round < 50 && !text().includes('form-action'); round += 1) await page.evaluate(() => null);
    expect(text()).toContain('form-action');
    expect(seen.filter((url) => url.startsWith('/stolen'))).toEqual([]);
    await close();
  });
});
