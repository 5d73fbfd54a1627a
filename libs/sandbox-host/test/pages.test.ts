/** The pages that people open: what they show of issues and pull requests. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createSandboxEnvironment, type SandboxEnvironment } from '@pipeline/testing/sandbox';
import { agoOf, textOn } from '../src/pages/parts.ts';

const MONITOR = 'http://127.0.0.1:8090';
let environment: SandboxEnvironment;
beforeAll(async () => {
  environment = await createSandboxEnvironment({ monitorUrl: MONITOR });
});
afterAll(() => environment.end());

const create = async (path: string, body: object): Promise<number> => {
  const { data } = await environment.api('POST', `/repos/acme/shop${path}`, body);
  return (data as { number: number }).number;
};
const show = async (path: string): Promise<string> => {
  const response = await fetch(`${environment.sandbox.url}/acme/shop${path}`);
  expect(response.status).toBe(200);
  return response.text();
};

test('lists the issues, the pull requests or both of a repository', async () => {
  await create('/issues', { title: 'Listed', body: '' });
  for (const path of ['', '/issues']) expect(await show(path)).toContain('Listed');
  const pulls = await show('/pulls');
  expect(pulls).not.toContain('Listed');
  expect(pulls).toContain('href="/acme/shop/issues"');
});

describe('the page of an issue', () => {
  test('renders Markdown and shows hostile markup as text', async () => {
    const body = [
      '## Goal\n\n- [x] `code`\n\n| a |\n| - |\n| b |\n',
      '<script>alert(1)</script> <img src=x onerror=alert(1)>\n',
      '[bad](javascript:alert(1)) ![picture](https://example.org/p.png)',
    ].join('\n');
    const text = await show(`/issues/${await create('/issues', { title: '<b>bold</b>', body })}`);
    expect(text).toContain('<h2>Goal</h2>');
    expect(text).toContain('<code>code</code>');
    expect(text).toContain('<td>b</td>');
    expect(text).toContain('&lt;b&gt;bold&lt;/b&gt;');
    expect(text).not.toMatch(/<script|<img|href="javascript:|<b>/);
  });

  test('shows labels in their colours, and the time since it was opened', async () => {
    await environment.api('POST', '/repos/acme/shop/labels', { name: 'dark', color: '000080' });
    await environment.api('POST', '/repos/acme/shop/labels', { name: 'light', color: 'ffff00' });
    const number = await create('/issues', { title: 'Colours', body: '', labels: ['dark', 'light'] });
    const text = await show(`/issues/${number}`);
    expect(text).toContain('style="background:#000080;color:white">dark<');
    expect(text).toContain('style="background:#ffff00;color:black">light<');
    expect(text).toMatch(/<time datetime="[^"]+" title="[^"]+">just now<\/time>/);
  });

  test('gives labels without a colour that of their kind', async () => {
    const labels = ['svc:new', 'svc:done', 'size:small'];
    const text = await show(`/issues/${await create('/issues', { title: 'Kinds', body: '', labels })}`);
    const colours = labels.map((name) => new RegExp(`background:#([0-9a-f]{6});color:black">${name}<`).exec(text)?.[1]);
    expect(colours[0]).toBe(colours[1]);
    expect(colours[2]).not.toBe(colours[0]);
    expect(colours).not.toContain('ededed');
  });

  test('shows code in the title and small print, and no other raw HTML', async () => {
    const body = '<sub>Commands: `/svc:retry`</sub>\n\n<sub>open\n\n<b>x</b>';
    const text = await show(`/issues/${await create('/issues', { title: 'Links in `libs` and `', body })}`);
    expect(text).toContain('<h1>Links in <code>libs</code> and ` ');
    expect(text).toContain('<p class="small">Commands: <code>/svc:retry</code></p>');
    expect(text).toContain('&lt;sub&gt;open');
    expect(text).not.toMatch(/<sub|<b>/);
  });

  test('links to its pull requests, and they link back', async () => {
    const number = await create('/issues', { title: 'Wanted', body: '' });
    await environment.push('wanted', 'list.txt', 'wanted\n');
    const pull = await create('/pulls', { title: 'Made', head: 'wanted', base: 'main', body: `Fixes #${number}.` });
    expect(await show(`/issues/${number}`)).toContain(`<a href="/acme/shop/pull/${pull}">#${pull} Made</a>`);
    expect(await show(`/pull/${pull}`)).toContain(`<a href="/acme/shop/issues/${number}">issue #${number}</a>`);
  });

  test('links to the page of the issue in the monitor', async () => {
    const number = await create('/issues', { title: 'Linked', body: '' });
    expect(await show(`/issues/${number}`)).toContain(`href="${MONITOR}/#/issues/acme/shop/${number}"`);
  });
});

describe('the page of a pull request', () => {
  test('shows its changes line by line and the checks of its head', async () => {
    const sha = await environment.push('change', 'list.txt', 'one\n2 <two>\nthree\n');
    const number = await create('/pulls', { title: 'A change', head: 'change', base: 'main', body: 'Please.' });
    await environment.api('POST', `/repos/acme/shop/statuses/${sha}`, { state: 'failure', context: 'lint' });
    const text = await show(`/pull/${number}`);
    expect(text).toContain('<span class="removed">-two\n</span>');
    expect(text).toContain('<span class="added">+2 &lt;two&gt;\n</span>');
    expect(text).toContain('<li>lint: <strong class="bad">failure</strong></li>');
    expect(text).not.toContain(MONITOR);
  });

  test.each([
    ['svc/issue-7', 'Please.', 7],
    ['by-hand', 'Fixes #8.', 8],
  ])('links to the issue of %s with the text %j in the monitor', async (head, body, issue) => {
    await environment.push(head, 'list.txt', 'one\n');
    const text = await show(`/pull/${await create('/pulls', { title: 'Linked', head, base: 'main', body })}`);
    expect(text).toContain(`href="${MONITOR}/#/issues/acme/shop/${issue}"`);
  });

  test('cuts a long diff and reports how much is missing when it has more than 2,000 lines', async () => {
    await environment.push('long', 'long.txt', `${'x\n'.repeat(3_000)}`);
    const text = await show(`/pull/${await create('/pulls', { title: 'Long', head: 'long', base: 'main' })}`);
    expect(text.match(/<span class="added">/g)?.length).toBeLessThanOrEqual(2_000);
    expect(text).toMatch(/1,?\d{3} more lines are not shown/);
  });
});

test.each([
  ['2026-01-01T00:00:00Z', 'just now'],
  ['2025-12-31T23:59:00Z', '1 minute ago'],
  ['2025-12-31T21:30:00Z', '2 hours ago'],
  ['2025-12-01T00:00:00Z', '31 days ago'],
  ['2026-01-01T00:00:05Z', 'just now'],
])('renders for %s how long ago it was', (at, words) => {
  expect(agoOf(at, '2026-01-01T00:00:00Z')).toBe(words);
});

test.each([
  ['ffffff', 'black'],
  ['000000', 'white'],
  ['0b5fc0', 'white'],
  ['f0b04d', 'black'],
])('writes on #%s in %s', (background, text) => {
  expect(textOn(background)).toBe(text);
});
