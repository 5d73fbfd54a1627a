import GithubSlugger from 'github-slugger';
import type { Element, ElementContent, Nodes, Root, RootContent } from 'hast';
import { toHtml } from 'hast-util-to-html';
import { toString as plainText } from 'hast-util-to-string';
import type { Root as MarkdownRoot } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { toHast } from 'mdast-util-to-hast';
import { gfm } from 'micromark-extension-gfm';
import { visit } from 'unist-util-visit';
import type { PageHeading, PageSection } from './page.ts';

/** Parses Markdown of GitHub's flavour. */
export const parseMarkdown = (text: string): MarkdownRoot =>
  fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });

/** Returns the address on the site for a target as the document writes it, or null to render the link as its text. */
export type ResolveLink = (target: string) => string | null;

export interface RenderedPage {
  readonly title: string;
  readonly markup: string;
  readonly headings: readonly PageHeading[];
  readonly sections: readonly PageSection[];
}

/**
 * Renders a document. Headings get the anchors that GitHub gives them; tables and code blocks can be scrolled with the
 * keyboard. Raw HTML is kept, because the documents are our own.
 */
export function renderMarkdown(tree: MarkdownRoot, resolve: ResolveLink): RenderedPage {
  const root = toHast(tree, { allowDangerousHtml: true }) as Root;
  const headings = anchorHeadings(root);
  resolveLinks(root, resolve);
  const sections = sectionsOf(root);
  makeScrollable(root);
  return {
    title: headings.find(({ depth }) => depth === 1)?.text ?? '',
    markup: toHtml(root, { allowDangerousHtml: true }),
    headings,
    sections,
  };
}

const depthOf = (node: Nodes): number =>
  node.type === 'element' && /^h[1-6]$/.test(node.tagName) ? Number(node.tagName.slice(1)) : 0;

function anchorHeadings(root: Root): PageHeading[] {
  const slugger = new GithubSlugger();
  const headings: PageHeading[] = [];
  visit(root, 'element', (node) => {
    const depth = depthOf(node);
    if (depth === 0) return;
    const text = plainText(node);
    const id = slugger.slug(text);
    node.properties.id = id;
    headings.push({ id, text, depth });
  });
  return headings;
}

function resolveLinks(root: Root, resolve: ResolveLink): void {
  visit(root, (node) => {
    if (node.type === 'raw') {
      node.value = node.value.replace(
        /\b(src|srcset|href)="([^"]*)"/g,
        (_, name: string, target: string) => `${name}="${resolve(target) ?? target}"`,
      );
    }
    if (node.type !== 'element') return;
    if (node.tagName === 'img') node.properties.src = resolve(String(node.properties.src)) ?? '';
    if (node.tagName !== 'a') return;
    const address = resolve(decodeURI(String(node.properties.href)));
    if (address !== null) node.properties.href = address;
    else Object.assign(node, { tagName: 'span', properties: {} });
  });
}

/** One section for each heading, with the text up to the next heading of any depth. */
function sectionsOf(root: Root): PageSection[] {
  const sections: { id: string; title: string; parts: string[] }[] = [];
  for (const node of root.children) {
    if (node.type === 'element' && depthOf(node) > 0) {
      sections.push({ id: String(node.properties.id), title: plainText(node), parts: [] });
    } else if (node.type === 'element') sections.at(-1)?.parts.push(spacedText(node));
  }
  return sections.map(({ id, title, parts }) => ({ id, title, text: parts.join(' ').replace(/\s+/g, ' ').trim() }));
}

/** The text of an element with a space between its blocks, so that words of two cells stay two words. */
function spacedText(node: Element): string {
  const parts: string[] = [];
  visit(node, (part) => {
    if (part.type === 'text') parts.push(part.value);
    if (part.type === 'element' && /^(td|th|li|p)$/.test(part.tagName)) parts.push(' ');
  });
  return parts.join('');
}

function makeScrollable(root: Root): void {
  visit(root, 'element', (node, index, parent) => {
    if (node.tagName === 'pre') node.properties.tabIndex = 0;
    if (node.tagName === 'th' && node.children.length === 0) node.tagName = 'td'; // a header cell must name something
    if (node.tagName !== 'table' || index === undefined || !parent) return;
    const frame: Element = {
      type: 'element',
      tagName: 'div',
      properties: { className: ['table'], role: 'group', ariaLabel: 'Table', tabIndex: 0 },
      children: [node],
    };
    (parent.children as (RootContent | ElementContent)[])[index] = frame;
  });
}
