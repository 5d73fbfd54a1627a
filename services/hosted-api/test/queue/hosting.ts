import { testHosted } from '../support/hosted.ts';

/** One API and its store for all tests of this folder. */
export const hosting = testHosted();
