/** Methods of a Playwright page that the accessibility tests use; this library does not depend on Playwright. */
interface CheckedPage {
  context(): {
    newCDPSession(
      page: never,
    ): Promise<{ send(method: 'Runtime.evaluate', what: { expression: string }): Promise<unknown> }>;
  };
  emulateMedia(media: { colorScheme: 'light' | 'dark'; reducedMotion: 'reduce' }): Promise<void>;
  evaluate(expression: string): Promise<unknown>;
}

const IS_DARK = `matchMedia('(prefers-color-scheme: dark)').matches`;
/** The rules that depend on colours. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];
const run = (options: object): string =>
  `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]))`;

/**
 * Returns what axe finds on a page in the light and in the dark theme, each with its theme and its first element. The themes
 * differ in colours alone, so that one of them is checked by all rules and the other one by those of colours.
 * @param axe the text of axe, which the policy of the page allows only from the debugger.
 */
export async function axeFindings(page: CheckedPage, axe: string): Promise<unknown[]> {
  if (!(await page.evaluate(`'axe' in window`))) {
    const session = await page.context().newCDPSession(page as never);
    await session.send('Runtime.evaluate', { expression: axe });
  }
  const own = (await page.evaluate(IS_DARK)) ? 'dark' : 'light';
  const found: unknown[] = [];
  for (const theme of own === 'dark' ? (['light', 'dark'] as const) : (['dark', 'light'] as const)) {
    // Without motion: colours would change gradually.
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    const rules = theme === own ? {} : { runOnly: { type: 'rule', values: OF_COLOURS } };
    const options = { resultTypes: ['violations'], selectors: false, ...rules };
    for (const finding of (await page.evaluate(run(options))) as unknown[][]) found.push([theme, ...finding]);
  }
  return found;
}
