/** Pages of the dashboard that are loaded again, compared pixel by pixel. */
import { expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { inBrowser } from '@pipeline/testing/in-browser';
import type { APIResponse, BrowserContext, Page } from 'playwright-core';
import { servedDashboard } from './browser.ts';

const MOST_PICTURES = 10;
const STREAM = '/api/events';
/** Pixels that the browser may draw with another rounding: those at the corners of a few borders. */
const DRAWN_ANEW = 50;

/** Number of pixels that differ between two pictures of the page, which decodes them. */
const differingPixels = (page: Page, ...pictures: [Buffer, Buffer]): Promise<number> =>
  page.evaluate(`(async (pictures) => {
    const [a, b] = await Promise.all(pictures.map(async (picture) => {
      const bytes = Uint8Array.from(atob(picture), (character) => character.charCodeAt(0));
      const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
      const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
      canvas.drawImage(image, 0, 0);
      return new Uint32Array(canvas.getImageData(0, 0, image.width, image.height).data.buffer);
    }));
    return a.reduce((count, pixel, at) => count + (pixel === b[at] ? 0 : 1), Math.abs(a.length - b.length));
  })(${JSON.stringify(pictures.map((picture) => picture.toString('base64')))})`);

/**
 * Stops time and data for a page: ages and their widths change by the second, and leases expire while a slow machine loads it again.
 * Each read gets its first response on every load; the stream stays that of the monitor.
 */
async function holdTimeAndData(context: BrowserContext): Promise<void> {
  await context.clock.setFixedTime(Date.now());
  const responses = new Map<string, Promise<APIResponse>>();
  await context.route('**/api/**', async (route) => {
    const request = route.request();
    if (request.method() !== 'GET' || new URL(request.url()).pathname === STREAM) return route.continue();
    const response = responses.get(request.url()) ?? route.fetch();
    responses.set(request.url(), response);
    await route.fulfill({ response: await response });
  });
}

inBrowser('the dashboard', () => {
  const { open, address } = servedDashboard(testDatabase());

  test.each([
    '/issues?state=all&sort=-title&q=a',
    '/system/audit?days=30&action=retry',
    '/system/api?op=retryIssue&q=retry',
  ])(
    'shows the same pixels when %s is loaded again',
    async (path) => {
      const { page, context } = await open(1440, 'dark', { reducedMotion: 'reduce' });
      await page.goto(`${address()}/#${path}`);
      await page.getByRole('button', { name: /^Live/ }).waitFor();
      await holdTimeAndData(context);
      const picture = async (): Promise<Buffer> => {
        await page.getByRole('button', { name: /^Live/ }).waitFor();
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.getByText('Loading', { exact: true }).first().waitFor({ state: 'detached' });
        // The focus is that of a new page.
        await page.evaluate('document.activeElement?.blur()');
        return page.screenshot({ mask: [page.locator('header').first()], caret: 'hide' });
      };
      await page.reload();
      /** Returns whether the page becomes the picture; a panel may still read. */
      const becomes = async (wanted: Buffer): Promise<boolean> => {
        for (let pictures = 0; pictures < MOST_PICTURES; pictures += 1)
          if ((await differingPixels(page, await picture(), wanted)) <= DRAWN_ANEW) return true;
        return false;
      };
      const before = await picture();
      const settled = (await becomes(before)) ? before : await picture();
      await page.reload();
      expect(await becomes(settled)).toBe(true);
    },
    60_000,
  );
});
