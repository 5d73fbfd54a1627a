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

const LISTS_LOCALES = 'Intl.DateTimeFormat.supportedLocalesOf(';

/**
 * React Aria checks the language of the browser when its module is loaded, with a function that lists all locales of the
 * browser first: 30 ms of the main thread before anything is shown. Another one refuses the same malformed languages.
 */
const cheapLocale = (): Plugin => ({
  name: 'cheap-locale',
  transform: {
    filter: { id: /\/i18n\/useDefaultLocale\.m?js$/ },
    handler: (code) => {
      if (!code.includes(LISTS_LOCALES)) throw new Error('React Aria no longer checks the language as expected');
      return { code: code.replace(LISTS_LOCALES, 'Intl.getCanonicalLocales('), map: null };
    },
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
  plugins: [englishOnly(), cheapLocale(), react()],
  build: {
    outDir: 'dist',
    manifest: true,
    // The policy of the page allows scripts and styles as files only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: { output: { codeSplitting: { groups: CHUNKS }, chunkFileNames: fileOf } },
  },
});
