/** Builders of Markdown trees for the generated pages. */
import type { BlockContent, Heading, Paragraph, PhrasingContent, Root, RootContent, Table } from 'mdast';
import { parseMarkdown } from '../pages/markdown.ts';

export type Inline = string | PhrasingContent | readonly Inline[];

/** Inline content: strings are plain text. */
export const inline = (content: Inline): PhrasingContent[] => {
  if (typeof content === 'string') return [{ type: 'text', value: content }];
  return Array.isArray(content) ? content.flatMap(inline) : [content as PhrasingContent];
};

export const code = (value: string): PhrasingContent => ({ type: 'inlineCode', value });

export const link = (url: string, content: Inline): PhrasingContent => ({
  type: 'link',
  url,
  children: inline(content) as never,
});

/** The inline content of a description, which OpenAPI defines as Markdown. */
export function description(text: string | undefined): PhrasingContent[] {
  const blocks = parseMarkdown(text ?? '').children as BlockContent[];
  return blocks.flatMap((block) => (block.type === 'paragraph' ? block.children : []));
}

export const heading = (depth: 1 | 2 | 3, content: Inline): Heading => ({
  type: 'heading',
  depth,
  children: inline(content),
});

export const paragraph = (...content: Inline[]): Paragraph => ({ type: 'paragraph', children: inline(content) });

/** A table; null when it would have no rows. */
export function table(titles: readonly string[], rows: readonly (readonly Inline[])[]): Table | null {
  if (rows.length === 0) return null;
  return {
    type: 'table',
    children: [titles, ...rows].map((cells) => ({
      type: 'tableRow',
      children: cells.map((cell) => ({ type: 'tableCell', children: inline(cell) })),
    })),
  };
}

export const jsonBlock = (value: unknown): RootContent => ({
  type: 'code',
  lang: 'json',
  value: JSON.stringify(value, null, 2),
});

/** A document of the blocks that are not null. */
export const root = (blocks: readonly (RootContent | null)[]): Root => ({
  type: 'root',
  children: blocks.filter((block) => block !== null),
});
