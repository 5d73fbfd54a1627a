import type { Root, RootContent } from 'mdast';
import { type Chore, changed, isMarkdown, pathsUnder } from './chore.ts';
import { type HeadingAnchor, headingAnchors, parseMarkdown } from './markdown.ts';

const START = '<!-- toc -->';
const END = '<!-- /toc -->';
const MIN_DEPTH = 2;
const MAX_DEPTH = 3;

const escapeText = (text: string): string => text.replace(/[\\`*_[\]<>&!#]/g, '\\$&');

function contents(headings: HeadingAnchor[], eol: string): string {
  const listed = headings.filter(
    ({ depth, slug, topLevel }) => topLevel && slug !== '' && depth >= MIN_DEPTH && depth <= MAX_DEPTH,
  );
  // Under a page that starts at the third level an indented list would be a code block.
  const base = Math.min(...listed.map(({ depth }) => depth));
  const hasBase = listed[0]?.depth === base;
  const indent = (depth: number) => (hasBase ? '  '.repeat(depth - base) : '');
  return listed.map(({ depth, text, slug }) => `${indent(depth)}- [${escapeText(text)}](#${slug})`).join(eol);
}

interface Region {
  from: number;
  to: number;
}

/**
 * Finds the text of an earlier run: the two markers with nothing but a list between them. Other markers are people's
 * text.
 */
function generated({ children }: Root): Region | null {
  const isMarker = (index: number, marker: string) => {
    const node = children[index];
    return node?.type === 'html' && node.value.trim() === marker;
  };
  for (let start = 0; start < children.length; start += 1) {
    const end = children[start + 1]?.type === 'list' ? start + 2 : start + 1;
    if (isMarker(start, START) && isMarker(end, END))
      return { from: offset(children[start], 'start'), to: offset(children[end], 'end') };
  }
  return null;
}

const offset = (node: RootContent | undefined, side: 'start' | 'end'): number => node?.position?.[side].offset ?? 0;

/**
 * The page with a table of contents of its second and third level headings between two marker comments.
 * @returns the text itself when there is nothing to list.
 */
export function withTableOfContents(text: string): string {
  const root = parseMarkdown(text);
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const list = contents(headingAnchors(root), eol);
  if (list === '') return text;
  const block = [START, '', list, '', END].join(eol);
  const old = generated(root);
  if (old) return text.slice(0, old.from) + block + text.slice(old.to);
  const title = root.children.find((node) => node.type === 'heading' && node.depth === 1);
  if (title) {
    const end = offset(title, 'end');
    return text.slice(0, end) + eol + eol + block + text.slice(end);
  }
  const top = text.slice(0, offset(root.children[0], 'start')).lastIndexOf('\n') + 1;
  return text.slice(0, top) + block + eol + eol + text.slice(top);
}

export function tocChore(target: string): Chore {
  return {
    kind: 'toc',
    target,
    title: `Add a table of contents to ${target}`,
    edits: (tree) =>
      changed(
        tree,
        pathsUnder(tree, target)
          .filter(isMarkdown)
          .map((path) => ({ path, text: withTableOfContents(tree.read(path) ?? '') })),
      ),
  };
}
