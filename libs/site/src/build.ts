import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build as bundle, stop as stopBundler } from 'esbuild';
import { layOut } from './layout.ts';
import { LinkResolver } from './links.ts';
import { navigationOf } from './navigation.ts';
import { parseMarkdown, type RenderedPage, renderMarkdown } from './pages/markdown.ts';
import { outputPath, type SiteDocument } from './pages/page.ts';
import type { OpenApiDocument } from './reference/openapi.ts';
import { referenceDocuments } from './reference/reference.ts';
import { searchIndex } from './search-index.ts';

interface SitePage extends RenderedPage {
  readonly source: string;
  readonly output: string;
}

export interface BuiltSite {
  readonly pages: number;
  /** Links and anchors that lead to nothing, and required pages that do not exist. The output is not written then. */
  readonly problems: readonly string[];
}

/** Files whose names the build chooses: documents of the repository by their path, APIs by the name of their service. */
export interface SiteInput {
  readonly root: string;
  /** Repository paths of Markdown documents. */
  readonly documents: readonly string[];
  /** Names in `docs/reference/openapi-NAME.json`. */
  readonly apis: readonly string[];
}

/** Renders all documents and writes the site to `out`, which it empties first. */
export async function buildSite(input: SiteInput, out: string): Promise<BuiltSite> {
  const generated = input.apis.flatMap((name) => referenceDocuments(name, readApi(input.root, name)));
  const resolver = new LinkResolver(input.root, new Set(generated.map(({ source }) => source)));
  const pages = renderAll(input, generated, resolver);
  const { groups, problems: missing } = navigationOf(new Set(pages.map(({ source }) => source)));
  const problems = [...resolver.problems, ...deadAnchors(resolver, pages), ...missing];
  if (problems.length > 0) return { pages: pages.length, problems };

  rmSync(out, { recursive: true, force: true });
  for (const page of pages) write(join(out, page.output), layOut(page, groups));
  for (const path of resolver.files) {
    if (resolver.isCopied(path)) copy(join(input.root, path), join(out, path.replace(/^docs\//, '')));
  }
  write(join(out, 'search-index.json'), searchIndex(pages));
  await writeAssets(join(out, 'assets'));
  return { pages: pages.length, problems: [] };
}

function readApi(root: string, name: string): OpenApiDocument {
  return JSON.parse(readFileSync(join(root, `docs/reference/openapi-${name}.json`), 'utf8'));
}

/** Renders the documents, then the files that they link to, until no link leads to a file without a page. */
function renderAll(input: SiteInput, generated: readonly SiteDocument[], resolver: LinkResolver): SitePage[] {
  const fromFile = (source: string): SiteDocument => ({ source, tree: fileTree(source, readText(input.root, source)) });
  const pages = new Map<string, SitePage>();
  let next: SiteDocument[] = [...input.documents.map(fromFile), ...generated];
  while (next.length > 0) {
    for (const { source, tree } of next) {
      const rendered = renderMarkdown(tree, (target) => resolver.resolve(source, target));
      pages.set(source, { source, output: outputPath(source), ...rendered });
    }
    next = [...resolver.files].filter((path) => !pages.has(path) && !resolver.isCopied(path)).map(fromFile);
  }
  return [...pages.values()];
}

const readText = (root: string, path: string): string => readFileSync(join(root, path), 'utf8');

/** Markdown is parsed; the text of any other file is shown as it is. */
function fileTree(source: string, text: string): SiteDocument['tree'] {
  if (source.endsWith('.md')) return parseMarkdown(text);
  return {
    type: 'root',
    children: [
      { type: 'heading', depth: 1, children: [{ type: 'text', value: source }] },
      { type: 'code', value: text.trimEnd() },
    ],
  };
}

function deadAnchors(resolver: LinkResolver, pages: readonly SitePage[]): string[] {
  const anchors = new Map(pages.map(({ output, headings }) => [output, new Set(headings.map(({ id }) => id))]));
  return resolver.links
    .filter(({ path, anchor }) => anchor !== '' && !anchors.get(path)?.has(anchor))
    .map(({ source, target }) => `${source}: ${target} names an anchor that does not exist`);
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}

async function writeAssets(folder: string): Promise<void> {
  const browser = join(import.meta.dirname, '../browser');
  const shared = { bundle: true, minify: true, target: 'es2023', logLevel: 'silent' } as const;
  const file = (name: string): string => join(browser, name);
  await bundle({ ...shared, entryPoints: [file('search.mjs'), file('site.css')], outdir: folder, format: 'esm' });
  await bundle({ ...shared, entryPoints: [file('theme.mjs')], outdir: folder, format: 'iife' });
  await stopBundler(); // its process would keep that of the caller alive
  copy(createRequire(import.meta.url).resolve('@pipeline/web/design/icon.svg'), join(folder, 'icon.svg'));
}
