import type { Root } from 'mdast';

/** One document of the site before it is rendered. */
export interface SiteDocument {
  /** Path in the repository, to which the links of the document are relative; generated documents use one in docs/. */
  readonly source: string;
  readonly tree: Root;
}

/** One heading of a page; `id` is its anchor. */
export interface PageHeading {
  readonly id: string;
  readonly text: string;
  readonly depth: number;
}

/** The text below one heading, for the search. */
export interface PageSection {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

/** Path of the page of a source file in the output: README files are the index of their folder. */
export function outputPath(source: string): string {
  const inSite = source.startsWith('docs/') ? source.slice('docs/'.length) : source;
  if (!/\.md$/.test(inSite)) return `source/${source.replace(/^\./, '')}.html`;
  const page = inSite
    .replace(/\.md$/, '')
    .toLowerCase()
    .replace(/(^|\/)readme$/, '$1index');
  return `${source.startsWith('docs/') || !source.includes('/') ? page : `source/${page}`}.html`;
}
