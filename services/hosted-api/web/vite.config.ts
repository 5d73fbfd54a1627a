import { pagesConfig } from '@pipeline/web/build/vite-config.ts';
import { defineConfig } from 'vite';

/** The customers' pages: `dist/index.html` and `dist/assets`, served by the hosted API. */
export default defineConfig({
  ...pagesConfig(import.meta.dirname),
  server: { proxy: { '^/(api|account)': 'http://127.0.0.1:8080' } },
});
