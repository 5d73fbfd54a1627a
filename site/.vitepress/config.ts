import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitepress';
import { repositoryLinks } from './repository-links.ts';
import { SIDEBAR } from './sidebar.ts';

const vue = join(import.meta.dirname, '../node_modules/vue');
const root = join(import.meta.dirname, '../..');
const { repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { repository: { url: string } };
const address = repository.url.replace(/^git\+|\.git$/g, '');

/** The pages are the documents of the repository where they are, and `api` of this folder. */
export default defineConfig({
  title: 'Pipeline',
  description: 'Moves the issues of a repository through a pipeline of states worked by agents.',
  srcDir: '..',
  srcExclude: [
    '{bench,deploy,libs,release,scripts,services,dist}/**',
    '**/node_modules/**',
    '.*/**',
    'docs/decisions/template.md',
  ],
  rewrites: {
    'README.md': 'index.md',
    'CHANGELOG.md': 'changelog.md',
    'CONTRIBUTING.md': 'contributing.md',
    'docs/decisions/README.md': 'decisions/index.md',
    'docs/:page(.*)': ':page',
    'site/api/:page': 'api/:page',
  },
  markdown: { config: (md) => md.use(repositoryLinks, { root, address }) },
  vite: {
    build: { chunkSizeWarningLimit: 2_000 },
    // Documents lie outside this folder, where no package is found.
    resolve: {
      alias: [
        { find: /^vue\/server-renderer$/, replacement: join(vue, 'server-renderer/index.mjs') },
        { find: /^vue$/, replacement: join(vue, 'dist/vue.runtime.esm-bundler.js') },
      ],
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: SIDEBAR,
    outline: { level: [2, 3] },
    socialLinks: [{ icon: 'github', link: address }],
  },
});
