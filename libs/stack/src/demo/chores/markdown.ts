import GithubSlugger from 'github-slugger';
import type { Heading, Nodes, Root } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { toString as plainText } from 'mdast-util-to-string';
import { visit } from 'unist-util-visit';

/** Front matter is not Markdown: blanked, so that every position after it stays what it was. */
const withoutFrontMatter = (text: string): string =>
  text.replace(/^---\r?\n[\s\S]*?\n---(?=\r?\n|$)/, (block) => block.replace(/[^\r\n]/g, ' '));

export const parseMarkdown = (text: string): Root => fromMarkdown(withoutFrontMatter(text));

export interface HeadingAnchor {
  depth: number;
  text: string;
  slug: string;
  /** False within a quotation or a list, where it has an anchor but is no section of the page. */
  topLevel: boolean;
}

/** Every heading with the anchor the host gives it; repeated texts are numbered over the whole page. */
export function headingAnchors(root: Root): HeadingAnchor[] {
  const slugger = new GithubSlugger();
  const found: HeadingAnchor[] = [];
  visit(root, 'heading', (node: Heading, _index, parent) => {
    const text = plainText(node).replace(/\s+/g, ' ').trim();
    found.push({ depth: node.depth, text, slug: slugger.slug(text), topLevel: parent === root });
  });
  return found;
}

/** Anchors that a link may point to: headings, and `id` or `name` in inline HTML. */
export function anchorsOf(root: Root): Set<string> {
  const anchors = new Set(headingAnchors(root).map((heading) => heading.slug));
  visit(root, 'html', (node) => {
    for (const [, id] of node.value.matchAll(/\b(?:id|name)=["']([^"']+)["']/g)) if (id) anchors.add(id);
  });
  return anchors;
}

export interface LinkTarget {
  url: string;
  /** 1-based. */
  line: number;
}

/** Links, images and reference definitions, in the order of the page. */
export function linkTargets(root: Root): LinkTarget[] {
  const found: LinkTarget[] = [];
  visit(root, (node: Nodes) => {
    if (node.type === 'link' || node.type === 'image' || node.type === 'definition')
      found.push({ url: node.url, line: node.position?.start.line ?? 1 });
  });
  return found;
}
