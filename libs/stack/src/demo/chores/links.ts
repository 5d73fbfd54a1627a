import { posix } from 'node:path';
import { isMarkdown, type Tree } from './chore.ts';
import { anchorsOf, linkTargets, parseMarkdown } from './markdown.ts';
import type { Entry, ReportSpec } from './report.ts';

const ABSOLUTE = /^([a-z][a-z0-9+.-]*:|\/\/)/i;

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Why a link from `path` leads nowhere; null when it is fine, absolute, or leaves the repository. */
function defect(path: string, url: string, tree: Tree): string | null {
  if (url === '' || ABSOLUTE.test(url)) return null;
  const [rest = '', fragment = ''] = url.split('#', 2);
  const file = decoded(rest.split('?')[0] ?? '');
  const from = file.startsWith('/') ? '' : posix.dirname(path);
  const target = file === '' ? path : posix.normalize(posix.join(from, file)).replace(/^\/|\/$/g, '');
  if (target === '.' || target.startsWith('..')) return null;
  const isFile = tree.paths.includes(target);
  if (!isFile && !tree.paths.some((known) => known.startsWith(`${target}/`))) return `${url}: no such file`;
  if (fragment === '' || !isFile || !isMarkdown(target)) return null;
  return anchorsOf(parseMarkdown(tree.read(target) ?? '')).has(decoded(fragment)) ? null : `${url}: no such heading`;
}

/** Relative links of a page whose file or heading does not exist. */
export function brokenLinks(path: string, text: string, tree: Tree): Entry[] {
  return linkTargets(parseMarkdown(text)).flatMap(({ url, line }) => {
    const reason = defect(path, url, tree);
    return reason === null ? [] : [{ path, line, text: reason }];
  });
}

export const LINKS: ReportSpec = {
  kind: 'links',
  heading: 'Broken relative links',
  suits: isMarkdown,
  inspect: brokenLinks,
};
