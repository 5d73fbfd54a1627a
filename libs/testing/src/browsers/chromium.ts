import { existsSync } from 'node:fs';

/** The first is a Chromium without the windows of a desktop: the tests of pages take a sixth less CPU with it. */
const PLACES = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
];
/**
 * A Chromium without a screen loads the pages of its own address bar in every new window: a third of a second of a core
 * while the page that is tested is loaded.
 */
const WITHOUT_OWN_PAGES = '--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup';

/** Path of the Chromium of this machine; undefined where none is installed. */
export const CHROMIUM: string | undefined = PLACES.find((path) => existsSync(path));

/**
 * Options of Playwright that start the Chromium of this machine.
 * @throws Error where none is installed.
 */
export function launchOptions(...args: string[]): { executablePath: string; args: string[] } {
  if (CHROMIUM === undefined) throw new Error(`no Chromium is installed: looked for ${PLACES.join(', ')}`);
  return { executablePath: CHROMIUM, args: ['--no-sandbox', WITHOUT_OWN_PAGES, ...args] };
}
