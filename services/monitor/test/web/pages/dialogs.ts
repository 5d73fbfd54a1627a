/** Login, keyboard and dialogs of the dashboard, and what the dialogs write. */
import { expect, test } from '@jest/globals';
import { inBrowser } from '@pipeline/testing/in-browser';
import { findings, logIn } from '../browser.ts';
import { address, api, open, openAnonymous } from './dashboard.ts';

const REPO = 'repo=acme/repo-1';
inBrowser('the dashboard', () => {
  test('asks for a login, names wrong credentials, and opens the wanted page afterwards', async () => {
    const { page } = await openAnonymous(1440, 'light');
    await page.goto(`${address()}/#/queue`);
    await logIn(page, 'wrong');
    await page.getByText('The username or the password is wrong.').waitFor();
    expect(await findings(page)).toEqual([]);
    await logIn(page);
    await page.getByRole('heading', { name: 'Queue', level: 1 }).waitFor();
    await page.getByRole('button', { name: /^Live/ }).waitFor();
  });

  test('opens pages and the palette by keyboard', async () => {
    const { page } = await open(1440, 'light');
    await page.goto(address());
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    // Together: the second key must follow within a moment, however busy the machine is.
    await Promise.all([page.keyboard.press('g'), page.keyboard.press('i')]);
    await page.getByRole('heading', { name: 'Issues', level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Command palette' }).waitFor();
    expect(await findings(page)).toEqual([]);
    await page.keyboard.type('dead');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Dead letters', level: 1 }).waitFor();
  });

  test('chooses in the palette by arrows and pointer, and closes it by Escape and beside it', async () => {
    const { page } = await open(1440, 'light');
    await page.goto(address());
    const palette = page.getByRole('dialog', { name: 'Command palette' });
    const field = palette.getByRole('combobox', { name: 'Search pages, actions and issues' });
    const chosen = () => palette.getByRole('option', { selected: true }).textContent();
    const search = page.getByRole('button', { name: 'Search Ctrl K' });
    await search.click();
    await field.fill('re');
    expect(await chosen()).toContain('Regressions');
    await page.keyboard.press('ArrowDown');
    expect(await chosen()).toContain('Retrieval');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    expect(await chosen()).toContain('Pause or resume live updates');
    await field.fill('zz');
    await palette.getByText('Nothing found').waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await palette.waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Search Ctrl K');
    await search.click();
    await page.mouse.click(20, 700);
    await palette.waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await palette.getByRole('option', { name: 'Workers' }).click();
    await page.getByRole('heading', { name: 'Workers', level: 1 }).waitFor();
  });

  interface Tracks {
    tracks: { name: string; enabled: boolean; active_version: number }[];
  }

  test('adds a track, switches it off and on, writes a prompt and activates it', async () => {
    const { page } = await open(1440, 'light');
    await page.goto(`${address()}/#/steering/tracks?${REPO}`);
    await page.getByRole('button', { name: 'Add a track' }).click();
    await page.getByLabel('Name').fill('gaps');
    expect(await findings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Add track gaps' }).click();
    await page.getByRole('link', { name: 'gaps' }).click();
    await page.getByRole('heading', { name: 'Track gaps', level: 1 }).waitFor();
    const track = async () =>
      (await api<Tracks>('/api/tracks?repo=acme/repo-1')).tracks.find(({ name }) => name === 'gaps');
    expect(await track()).toMatchObject({ enabled: true, active_version: 0 });
    await page.locator('label', { has: page.getByRole('switch', { name: 'Enable the track gaps' }) }).click();
    await page.getByText('Accepted: disabled').waitFor();
    expect(await track()).toMatchObject({ enabled: false });
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Accepted: undone').waitFor();
    expect(await track()).toMatchObject({ enabled: true });
    await page.locator('label', { hasText: /^on$/ }).waitFor();
    await page.getByRole('button', { name: 'Write a version' }).click();
    await page.getByLabel('Instructions to agents').fill('Prefer small tests.');
    await page.getByRole('button', { name: 'Store a version' }).click();
    await page.getByRole('button', { name: 'Activate version 1' }).click();
    await page.getByRole('button', { name: 'Activate version 1 of gaps' }).click();
    await page.getByText('version 1 is active').waitFor();
    expect(await track()).toMatchObject({ active_version: 1 });
  });

  test('disables a repository at once and enables it again by undo', async () => {
    const { page } = await open(360, 'dark');
    await page.goto(`${address()}/#/system/config`);
    const enabled = async () =>
      (await api<{ items: { repo: string; enabled: boolean }[] }>('/api/repos')).items.find(
        ({ repo }) => repo === 'acme/repo-1',
      )?.enabled;
    await page.locator('label', { has: page.getByRole('switch', { name: 'Import issues of acme/repo-1' }) }).click();
    await page.getByText('Accepted: disabled').waitFor();
    expect(await enabled()).toBe(false);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Accepted: undone').waitFor();
    expect(await enabled()).toBe(true);
    await page.locator('label', { hasText: 'Enabled' }).first().waitFor();
  });

  test('writes a charter and shows its limits as sentences', async () => {
    const { page } = await open(768, 'light');
    await page.goto(`${address()}/#/steering/strategy?${REPO}`);
    await page.getByRole('button', { name: 'Write a charter' }).click();
    await page.getByLabel('Goals').fill('Fewer regressions.');
    await page.getByLabel('Never increase').fill('epic, docs');
    expect(await findings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Store the charter' }).click();
    await page.getByText('Accepted: version 1 is in force').waitFor();
    await page.getByText('Never increase epic, docs.').waitFor();
    const { charter } = await api<{ charter: { envelope: object } }>('/api/strategy/acme/repo-1/charter');
    expect(charter.envelope).toMatchObject({ avoid: ['epic', 'docs'], max_auto_size: 'small' });
  });
});
