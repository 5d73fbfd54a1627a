import { describe } from '@jest/globals';
import { CHROMIUM } from './chromium.ts';

/** `describe` for tests that need a browser; they are reported as skipped where no Chromium is installed. */
export const inBrowser: typeof describe.skip = CHROMIUM === undefined ? describe.skip : describe;

if (CHROMIUM === undefined) process.stderr.write('no Chromium is installed: what needs a browser is not tested\n');
