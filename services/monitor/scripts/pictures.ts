/**
 * Takes the pictures of docs/images from a running stack, so that they show what the product shows:
 *
 *   npm start -- --fresh --json > stack.json     # in another terminal
 *   npm run pictures -- stack.json
 *
 * It waits until the demo fleet has merged some issues, while others are in work and one waits for a person. The argument is
 * the line that `npm start -- --json` prints. Requires an installed Chromium.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sleep } from '@pipeline/runtime';
import { launchOptions } from '@pipeline/testing/chromium';
import { type Browser, chromium, type Page } from 'playwright-core';

const IMAGES = join(import.meta.dirname, '../../../docs/images');
const LARGEST_BYTES = 200_000;
const SIZE = { width: 1_120, height: 820 };
const EVERY_MS = 500;
const WITHIN_MS = 600_000;
/** Issues that the pictures must show before they are taken. */
const WANTED = { done: 6, openStates: 4 };
const FOR_A_PERSON = ['needs-clarification', 'human-review-ready', 'failure-blocked'];

interface Stack {
  monitor: { url: string; username: string; password: string };
}

interface Picture {
  name: string;
  theme: 'light' | 'dark';
  path: string;
  /** A text of the page that shows that its data has arrived. */
  shows: string;
  /** Selector of what is drawn after that. */
  draws?: string;
}

const OVERVIEW = { path: '/', shows: 'Issues by state, 24 hours', draws: '.uplot canvas' };

/** @param issue path of the issue that is shown. */
const picturesOf = (issue: string): readonly Picture[] => [
  { ...OVERVIEW, name: 'dashboard-overview-light', theme: 'light' },
  { ...OVERVIEW, name: 'dashboard-overview-dark', theme: 'dark' },
  { name: 'dashboard-issues', theme: 'light', path: '/issues?state=all', shows: 'Title' },
  { name: 'dashboard-issue-light', theme: 'light', path: `/issues/${issue}`, shows: 'Zoom in' },
  { name: 'dashboard-issue-dark', theme: 'dark', path: `/issues/${issue}`, shows: 'Zoom in' },
  { name: 'dashboard-costs', theme: 'light', path: '/costs', shows: 'Cost reported by agents' },
];

async function main(file: string | undefined): Promise<void> {
  if (file === undefined) throw new Error('usage: npm run pictures -- STACK.json');
  const stack = JSON.parse(readFileSync(file, 'utf8')) as Stack;
  const issue = await longestIssue(stack);
  const browser = await chromium.launch(launchOptions());
  try {
    for (const theme of ['light', 'dark'] as const) {
      const page = await logIn(browser, stack, theme);
      for (const picture of picturesOf(issue).filter((each) => each.theme === theme)) await take(page, stack, picture);
    }
  } finally {
    await browser.close();
  }
}

interface Item {
  repo: string;
  issueNumber: number;
  state: string;
  costUsd: number;
}

/** Waits until the issues are in many states. @returns the path of the done issue with the longest history. */
async function longestIssue({ monitor }: Stack): Promise<string> {
  const authorization = `Basic ${Buffer.from(`${monitor.username}:${monitor.password}`).toString('base64')}`;
  const until = Date.now() + WITHIN_MS;
  while (Date.now() < until) {
    const response = await fetch(`${monitor.url}/api/issues?state=all&limit=500`, { headers: { authorization } });
    const { items } = (await response.json()) as { items: Item[] };
    const done = items.filter(({ state }) => state === 'done').sort((a, b) => b.costUsd - a.costUsd);
    const open = new Set(items.map(({ state }) => state).filter((state) => state !== 'done'));
    const isLively = done.length >= WANTED.done && open.size >= WANTED.openStates;
    if (done[0] && isLively && FOR_A_PERSON.some((state) => open.has(state)))
      return `${done[0].repo}/${done[0].issueNumber}`;
    await sleep(EVERY_MS);
  }
  throw new Error('the issues were never in enough states: start with npm start -- --fresh --json');
}

async function logIn(browser: Browser, { monitor }: Stack, colorScheme: 'light' | 'dark'): Promise<Page> {
  const context = await browser.newContext({ viewport: SIZE, colorScheme, reducedMotion: 'reduce', timezoneId: 'UTC' });
  const page = await context.newPage();
  await page.goto(monitor.url);
  await page.getByLabel('Username').fill(monitor.username);
  await page.getByLabel('Password').fill(monitor.password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('button', { name: /^Live/ }).waitFor();
  return page;
}

async function take(page: Page, { monitor }: Stack, { name, path, shows, draws }: Picture): Promise<void> {
  await page.goto(`${monitor.url}/#${path}`);
  await page.getByRole('main').getByText(shows).first().waitFor();
  await page.getByText('Loading', { exact: true }).first().waitFor({ state: 'detached' });
  if (draws) await page.locator(draws).first().waitFor();
  const file = join(IMAGES, `${name}.png`);
  await page.screenshot({ path: file });
  const { size } = statSync(file);
  process.stdout.write(`${name}.png: ${Math.round(size / 1_000)} kB\n`);
  if (size > LARGEST_BYTES) throw new Error(`${name}.png has more than ${LARGEST_BYTES} bytes`);
}

await main(process.argv[2]);
