import { pagesConfig } from '@pipeline/web/build/vite-config.ts';
import { defineConfig } from 'vite';

/** The dashboard: `dist/index.html` and `dist/assets`, served by the monitor. */
export default defineConfig({
  ...pagesConfig(import.meta.dirname),
  server: { proxy: { '^/(api|pipeline|dashboard|health|ready|prometheus)': 'http://127.0.0.1:8090' } },
});
