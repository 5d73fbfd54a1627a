import { existsSync, statSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { outputPath } from './pages/page.ts';

/** One link of a page to a place of the site. */
export interface SiteLink {
  /** The document that holds it. */
  readonly source: string;
  readonly target: string;
  /** The file of the output. */
  readonly path: string;
  /** Without `#`; empty when the link names none. */
  readonly anchor: string;
}

/** Files that are copied as they are; other files become a page that shows their text. */
const COPIED = /\.(png|svg|json)$/;

/** Resolves the links of all documents and records what they lead to. */
export class LinkResolver {
  /** Links to places of the site, to be compared with the anchors of the finished pages. */
  readonly links: SiteLink[] = [];
  /** One line for each link that leads to nothing. */
  readonly problems: string[] = [];
  /** Repository paths of files that a page links to and that are no page yet. */
  readonly files = new Set<string>();
  readonly #root: string;
  readonly #generated: ReadonlySet<string>;

  /** `generated` are the sources of documents that have no file in the repository. */
  constructor(root: string, generated: ReadonlySet<string>) {
    this.#root = root;
    this.#generated = generated;
  }

  /** Returns the address relative to the page of `source`; null for a folder, which has no page. */
  resolve(source: string, target: string): string | null {
    if (/^[a-z]+:/i.test(target)) return target;
    const [file = '', anchor = ''] = target.split('#');
    const path = file === '' ? source : posix.normalize(posix.join(dirname(source), file));
    const isGenerated = this.#generated.has(path);
    if (!isGenerated && (path.startsWith('..') || !existsSync(join(this.#root, path)))) {
      this.problems.push(`${source}: ${target} does not exist`);
      return null;
    }
    if (!isGenerated && statSync(join(this.#root, path)).isDirectory()) return null;
    const output = COPIED.test(path) ? path.replace(/^docs\//, '') : outputPath(path);
    if (!isGenerated) this.files.add(path);
    this.links.push({ source, target, path: output, anchor });
    return addressFrom(outputPath(source), output) + (anchor && `#${anchor}`);
  }

  /** Whether the file is copied to the output unchanged. */
  isCopied(path: string): boolean {
    return COPIED.test(path);
  }
}

/** The relative address of one file of the output seen from another. */
export const addressFrom = (from: string, to: string): string => posix.relative(posix.dirname(from), to) || to;
