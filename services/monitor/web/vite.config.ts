import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** Texts of React Aria in languages that the dashboard does not have: 12 kB of the first script. */
const FOREIGN_TEXTS = /\/react-(?:aria|stately)[^/]*\/.*intl\/.*\/(?!en-US)[a-z]{2}-[A-Z]{2}\.m?js$/;

const englishOnly = (): Plugin => ({
  name: 'english-only',
  enforce: 'pre',
  load: { filter: { id: FOREIGN_TEXTS }, handler: () => 'export default {};' },
});

/** The dashboard: `dist/index.html` and `dist/assets`, served by the monitor. */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [englishOnly(), react()],
  build: {
    outDir: 'dist',
    manifest: true,
    // The policy of the page allows scripts and styles as files only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
  },
  server: { proxy: { '^/(api|pipeline|dashboard|health|ready|prometheus)': 'http://127.0.0.1:8090' } },
});
