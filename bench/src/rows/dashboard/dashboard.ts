import { sleep, withDeadline } from '@pipeline/runtime';
import { launchOptions } from '@pipeline/testing/chromium';
import { simulateHistory } from '@pipeline/testing/history';
import { type Browser, chromium } from 'playwright-core';
import { makeHistory } from '../../ours/history.ts';
import { type OurStore, openOurStore } from '../../ours/store.ts';
import type { Bench, Bound, Fact, Row } from '../../runner/model.ts';
import { median } from '../../runner/verdict.ts';
import { buildService } from '../../services/build.ts';
import { startChild } from '../../services/child.ts';
import { serveBarePage } from './bare-page.ts';
import { openSlowLine } from './slow-line.ts';
import { SlowPage } from './slow-page.ts';
import { underEvents } from './under-events.ts';

const ISSUES = 10_000;
const WITHIN_MS = 420_000;
/** Between the keys of a word. */
const TYPING_MS = 50;

/**
 * Goal 22: the dashboard of a built monitor with 10,000 issues in Chromium: what the first view loads, how soon it is
 * there on a slow machine and line, how long the longest interaction takes there, and how the list of all issues sorts
 * and scrolls on this machine. Then what the events of the stream cost an open page. Medians of the rounds; the
 * limits are those of a reader, and the anchor of the first view is a page of React alone.
 */
export const dashboardRow: Row = {
  goal: 22,
  title: 'dashboard in a browser',
  async open(bench) {
    const launch = launchOptions();
    const ours = await openOurStore(bench, 'bench_dashboard');
    await makeHistory(ours, ISSUES, ISSUES / 10);
    // With runs and costs, so that the overview shows what it shows in use.
    await simulateHistory(ours.store.db, { tenants: 1, repos: 2, days: 3, issues: 60, seed: 1, end: new Date() });
    const url = await startMonitor(bench, ours.url);
    const line = await openSlowLine(url);
    bench.stack.add('slow line', () => line.stop());
    const bare = await serveBarePage();
    bench.stack.add('page of React alone', () => bare.stop());
    const bareLine = await openSlowLine(bare.url);
    bench.stack.add('slow line to React alone', () => bareLine.stop());
    const browser = await chromium.launch(launch);
    bench.stack.add('browser', () => browser.close());
    return {
      cases: [],
      facts: () =>
        withDeadline(
          measure({ bench, browser, url, lineUrl: line.url, bareUrl: bareLine.url, ours }),
          WITHIN_MS,
          'the browser',
        ),
    };
  },
};

async function startMonitor(bench: Bench, databaseUrl: string): Promise<string> {
  const child = await startChild({
    args: [await buildService('monitor', bench.workDir)],
    env: { NODE_ENV: 'production', DATABASE_URL: databaseUrl, LOG_LEVEL: 'warn', REQUESTS_PER_MINUTE: '0' },
    logFile: `${bench.workDir}/monitor-dashboard.log`,
  });
  bench.stack.add('monitor', () => child.stop());
  return child.url;
}

type Figures = Record<keyof typeof LIMITS, number>;
/** Figures that are measured in every round. */
type View = Omit<Figures, 'tick' | 'idle' | 'heap'>;

type FirstView = Omit<View, 'sort' | 'frame' | 'paintRatio'>;

/** Title, unit and limit of each figure. */
const LIMITS = {
  script: ['script of the first view, compressed', 'kB', { atMost: 200 }],
  styles: ['styles, compressed', 'kB', { atMost: 20 }],
  requests: ['requests to the API for the first view', 'requests', { atMost: 12 }],
  paint: ['largest contentful paint, slow machine and line', 'ms', { atMost: 1_000 }],
  paintRatio: ['the same beside a page of React alone', 'x', { atMost: 2 }],
  interaction: ['longest interaction, slow machine', 'ms', { atMost: 150 }],
  sort: [`sort of ${ISSUES.toLocaleString('en')} rows`, 'ms', { atMost: 80 }],
  frame: ['frame while the list is scrolled, p95', 'ms', { atMost: 25 }],
  tick: ['main thread per event at two a second', 'ms', { atMost: 20 }],
  idle: ['main thread of an idle page', '%', { atMost: 0.5 }],
  heap: ['heap after the events of an hour, five a second', 'MB', { atMost: 10 }],
} as const satisfies Record<string, readonly [string, string, Bound]>;

interface Stage {
  bench: Bench;
  browser: Browser;
  url: string;
  /** The same pages through a slow line. */
  lineUrl: string;
  /** A page of React alone through a slow line. */
  bareUrl: string;
  ours: OurStore;
}

async function measure({ bench, browser, url, lineUrl, bareUrl, ours }: Stage): Promise<Fact[]> {
  const rounds: View[] = [];
  for (let round = 0; round < (bench.quick ? 3 : 5); round += 1) {
    const bare = await barePaint(browser, bareUrl);
    const view = await firstView(browser, lineUrl);
    rounds.push({ ...view, paintRatio: view.paint / bare, ...(await wholeList(browser, url)) });
  }
  const names = Object.keys(rounds[0] ?? {}) as (keyof View)[];
  const medians = names.map((name) => [name, median(rounds.map((figures) => figures[name]))]);
  const figures: Figures = { ...(Object.fromEntries(medians) as View), ...(await underEvents(browser, url, ours)) };
  return (Object.keys(LIMITS) as (keyof Figures)[]).map((name) => {
    const [title, unit, bound] = LIMITS[name];
    return { title, unit, bound, value: figures[name] };
  });
}

/** @returns the largest contentful paint of a page of React alone, with an empty cache. */
async function barePaint(browser: Browser, url: string): Promise<number> {
  const page = await SlowPage.open(browser);
  await page.goto(url);
  await page.waitFor(`document.querySelector('h2')`);
  await page.evaluate(OBSERVE);
  const paint = await page.evaluate<number>('window.largest');
  await page.close();
  return paint;
}

/** The overview with an empty cache; then the search palette and another page. */
async function firstView(browser: Browser, url: string): Promise<FirstView> {
  const page = await SlowPage.open(browser);
  await page.goto(url);
  await page.evaluate(LOADED_ALL);
  await page.waitFor(
    `[...document.querySelectorAll('button')].some(({ textContent }) => textContent.startsWith('Live'))`,
  );
  await page.evaluate(LOADED_ALL);
  await page.evaluate(OBSERVE);
  const loaded = await page.evaluate<Omit<FirstView, 'interaction'>>(LOADED);
  await page.press('k', { control: true });
  await page.waitFor(`document.querySelector('dialog[open]')`);
  for (const key of 'Issues') {
    await page.press(key);
    await sleep(TYPING_MS);
  }
  await page.press('Enter');
  await page.waitFor(`document.querySelector('[role=grid]')`);
  const interaction = await page.evaluate<number>(SETTLED);
  await page.close();
  return { ...loaded, interaction };
}

/** The list of all issues, loaded whole, sorted and scrolled. */
async function wholeList(browser: Browser, url: string): Promise<Pick<View, 'sort' | 'frame'>> {
  const page = await browser.newPage();
  await page.goto(`${url}/#/issues?state=all`);
  const title = page.getByRole('columnheader', { name: 'Title' });
  // All pages are read while the list is sorted.
  await title.getByRole('button').click();
  await page
    .getByText(/^1\d,\d{3} issues$/)
    .first()
    .waitFor();
  await page.evaluate(LOADED_ALL);
  const rows = Number(await page.getByRole('grid').getAttribute('aria-rowcount'));
  if (rows <= ISSUES) throw new Error(`the list has ${rows} rows`);
  const sort = await page.evaluate<number>(SORT);
  const frame = await page.evaluate<number>(SCROLL);
  await page.close();
  return { sort, frame };
}

/** The longest interaction so far, once its frame was painted. */
const SETTLED = 'new Promise((done) => setTimeout(() => done(window.longest), 500))';

/** Resolves when what was observed before has been reported. */
const OBSERVE = `
  window.longest = 0; window.largest = 0;
  new PerformanceObserver((list) => { for (const e of list.getEntries()) if (e.interactionId) window.longest = Math.max(window.longest, e.duration); })
    .observe({ type: 'event', durationThreshold: 16, buffered: true });
  new PerformanceObserver((list) => { for (const e of list.getEntries()) window.largest = e.startTime; })
    .observe({ type: 'largest-contentful-paint', buffered: true });
  new Promise((done) => setTimeout(done, 100));`;

const LOADED = `(() => {
  const entries = performance.getEntriesByType('resource');
  const kilobytes = (type) => entries.filter((e) => new URL(e.name).pathname.endsWith(type)).reduce((sum, e) => sum + e.encodedBodySize, 0) / 1e3;
  const isApi = (e) => e.initiatorType === 'fetch';
  return { script: kilobytes('.js'), styles: kilobytes('.css'), requests: entries.filter(isApi).length, paint: window.largest };
})()`;

/** Until nothing more has been loaded for half a second; the stream stays open. */
const LOADED_ALL = `new Promise((done) => {
  let loaded = -1;
  const timer = setInterval(() => {
    const now = performance.getEntriesByType('resource').length;
    if (now === loaded) { clearInterval(timer); done(); }
    loaded = now;
  }, 500);
})`;

/** Sorts by the title. @returns until the frame after it was painted. @throws Error when the list was not sorted. */
const SORT = `new Promise((done, fail) => {
  const title = [...document.querySelectorAll('[role=columnheader]')].find((e) => e.textContent.includes('Title'));
  const button = title.querySelector('button') ?? title;
  const before = title.getAttribute('aria-sort');
  const began = performance.now();
  button.click();
  const step = () => {
    const took = performance.now() - began;
    if (title.getAttribute('aria-sort') !== before) setTimeout(() => done(performance.now() - began));
    else if (took < 5000) requestAnimationFrame(step);
    else fail(new Error('the list was not sorted'));
  };
  requestAnimationFrame(step);
})`;

/** Scrolls the list through 150 frames. */
const SCROLL = `new Promise((done) => {
  const scroller = [...document.querySelectorAll('*')].filter((e) => e.scrollHeight > e.clientHeight + 1000).at(-1) ?? document.scrollingElement;
  const frames = []; let last = performance.now();
  const step = (now) => {
    frames.push(now - last); last = now; scroller.scrollTop += 200;
    if (frames.length < 150) requestAnimationFrame(step);
    else done(frames.sort((a, b) => a - b)[Math.floor(frames.length * 0.95)]);
  };
  requestAnimationFrame(step);
})`;
