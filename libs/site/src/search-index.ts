import MiniSearch from 'minisearch';
import { SEARCH_OPTIONS } from '../browser/search-options.mjs';
import type { PageSection } from './pages/page.ts';

const EXCERPT_LENGTH = 160;

/** The serialised index of all sections; the search of the page loads it at its first use. */
export function searchIndex(
  pages: readonly { readonly output: string; readonly title: string; readonly sections: readonly PageSection[] }[],
): string {
  const index = new MiniSearch(SEARCH_OPTIONS);
  for (const { output, title, sections } of pages) {
    index.addAll(
      sections.map((section) => ({
        id: `${output}#${section.id}`,
        page: title,
        title: section.title,
        text: section.text,
        excerpt: section.text.slice(0, EXCERPT_LENGTH),
      })),
    );
  }
  return JSON.stringify(index);
}
