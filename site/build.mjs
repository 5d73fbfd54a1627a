/**
 * Writes the documentation as a static site. Exits with 1 when a link or an anchor of a page leads to nothing.
 *
 *   npm run site -- [FOLDER] [--base PATH]     defaults: dist/site, /
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'vitepress';

const home = fileURLToPath(new URL('.', import.meta.url));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { base: { type: 'string', default: '/' } },
});
const outDir = resolve(positionals[0] ?? join(home, '../dist/site'));
rmSync(outDir, { recursive: true, force: true });
await build(home, { outDir, base: values.base });

const pages = new Map(
  readdirSync(outDir, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.html'))
    .map((path) => [path, readFileSync(join(outDir, path), 'utf8')]),
);
const problems = deadAnchors(pages, values.base);
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
else process.stdout.write(`${pages.size} pages in ${outDir}\n`);

/** VitePress fails for a link to a page that does not exist, but not for an anchor. Returns one line for each. */
function deadAnchors(pages, base) {
  const found = new Set();
  for (const [page, html] of pages) {
    for (const [, path, anchor] of html.matchAll(/ href="([^"#:]*)#([^"]+)"/g)) {
      const relative = path === '' ? page : path.slice(base.length);
      const text = pages.get(relative === '' || relative.endsWith('/') ? `${relative}index.html` : relative);
      if (text !== undefined && !text.includes(` id="${decodeURIComponent(anchor)}"`))
        found.add(`${page}: ${path}#${anchor} does not exist`);
    }
  }
  return [...found];
}
