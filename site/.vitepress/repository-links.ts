import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { MarkdownRenderer } from 'vitepress';

/** Documents that are pages of the site, by their path in the repository. */
const PAGE = /^(README|CHANGELOG|CONTRIBUTING)\.md$|^docs\/(?!decisions\/template).*\.md$/;
const API = /^docs\/reference\/openapi-(hosted|monitor)\.json$/;

interface Options {
  /** Folder of the repository. */
  readonly root: string;
  /** Address of the repository on its host. */
  readonly address: string;
}

/**
 * Rewrites the relative links of documents: a link to a document leads to its page, any other to the file on the host of the
 * repository. Pictures that markup names are made
 * relative to their document, and indented blocks are shown as fenced ones.
 * @throws Error for a link to a file that does not exist.
 */
export function repositoryLinks(md: MarkdownRenderer, options: Options): void {
  md.core.ruler.push('repository-links', ({ tokens, env }) => {
    const all = tokens.flatMap((token) => [token, ...(token.children ?? [])]);
    for (const token of all) {
      // VitePress protects only fenced blocks from being read as a template.
      if (token.type === 'code_block') Object.assign(token, { type: 'fence', info: 'sh' });
      const href = token.type === 'link_open' ? token.attrGet('href') : null;
      if (href !== null) token.attrSet('href', addressOf(href, env.realPath ?? env.path, options));
      if (/^html_(block|inline)$/.test(token.type))
        token.content = token.content.replace(/\b(src|srcset)="(?![a-z]+:|[./])/g, '$1="./');
    }
  });
}

function addressOf(href: string, document: string, { root, address }: Options): string {
  if (/^([a-z]+:|#|\/)/i.test(href)) return href;
  const [target = '', anchor] = href.split('#');
  const file = join(dirname(document), decodeURI(target));
  const path = relative(root, file);
  if (path.startsWith('..') || !existsSync(file))
    throw new Error(`${relative(root, document)}: ${href} does not exist`);
  const suffix = anchor === undefined ? '' : `#${anchor}`;
  if (PAGE.test(path)) return pageOf(path) + suffix;
  const api = API.exec(path)?.[1];
  if (api !== undefined) return `/api/${api}.md`;
  return `${address}/${statSync(file).isDirectory() ? 'tree' : 'blob'}/main/${path}${suffix}`;
}

/** Path of the page, as the rewrites of the configuration name it. */
const pageOf = (path: string): string =>
  `/${
    path === 'README.md'
      ? 'index.md'
      : path
          .replace(/^docs\//, '')
          .replace(/README\.md$/, 'index.md')
          .replace(/^[A-Z]+\.md$/, (name) => name.toLowerCase())
  }`;
