import react from '@vitejs/plugin-react';
import type { Plugin, UserConfig } from 'vite';

const FOREIGN_TEXTS = /\/(?!en-US)[a-z]{2}-[A-Z]{2}\.m?js$/;

const isOfReactAria = (id: string): boolean =>
  id.includes('/intl/') && (id.includes('/react-aria') || id.includes('/react-stately'));

/** Leaves out the texts of React Aria in languages that the pages do not have: 12 kB of the first script. */
const englishOnly = (): Plugin => ({
  name: 'english-only',
  enforce: 'pre',
  load: {
    filter: { id: FOREIGN_TEXTS },
    handler: (id) => (isOfReactAria(id) ? 'export default {};' : null),
  },
});

/** Module that replaces React Aria's detection of the browser's language, for pages in English. */
const ENGLISH = `const english = { locale: 'en-US', direction: 'ltr' };
export const getDefaultLocale = () => english;
export const useDefaultLocale = () => english;`;

/**
 * React Aria reads the language of the browser, its direction included, when its module is loaded: the first use of Intl,
 * for which a browser reads its locales, 30 ms of the main thread before anything is shown. These pages are in English.
 */
const englishLocale = (): Plugin => ({
  name: 'english-locale',
  enforce: 'pre',
  load: {
    filter: { id: /\/i18n\/useDefaultLocale\.m?js$/ },
    handler: () => ENGLISH,
  },
});

/**
 * One file for what the first view needs, and few for what pages share: by default each of 50 small modules is a file of
 * its own, and a browser loads six at a time.
 */
const CHUNKS = [
  { name: 'first', tags: ['$initial' as const], priority: 2 },
  { name: 'shared', minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: 8_000, priority: 1 },
];

/** Chunks of several pages would be named after all of them. */
const fileOf = ({ name }: { name: string }): string =>
  `assets/${name.startsWith('shared') ? 'shared' : '[name]'}-[hash].js`;

/** Settings of a build into `dist/index.html` and `dist/assets`, served by a service under a strict content policy. */
export const pagesConfig = (root: string): UserConfig => ({
  root,
  plugins: [englishOnly(), englishLocale(), react()],
  build: {
    outDir: 'dist',
    manifest: true,
    // The policy of the page allows scripts and styles as files only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    cssMinify: 'esbuild', // installed for the bundles; Lightning CSS would be 10 MB more
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: { output: { codeSplitting: { groups: CHUNKS }, chunkFileNames: fileOf } },
  },
});
