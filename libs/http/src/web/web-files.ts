import { createReadStream, type ReadStream } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { contentType } from 'mime-types';
import type { Encoding } from './encodings.ts';
import { etagOf } from './etag.ts';

/** Endings of the files that the build stores beside the plain ones. */
const SUFFIXES: Readonly<Record<Encoding, string>> = { br: '.br', gzip: '.gz' };

export interface Asset {
  type: string;
  /** Size of the file as it is sent. */
  size: number;
  encoding: Encoding | null;
  read(): ReadStream;
}

export interface WebPage {
  html: string;
  etag: string;
}

/** The dashboard's page with its ETag; null where it has not been built. */
export async function readPage(webDir: string): Promise<WebPage | null> {
  const html = await readFile(join(webDir, 'index.html'), 'utf8').catch(orNull);
  if (html === null) return null;
  return { html, etag: etagOf(html) };
}

/**
 * Opens a file below `<webDir>/assets`, or its compressed form.
 * @param path decoded once, as a browser would have meant it.
 * @param encodings accepted by the caller, the preferred first.
 * @returns null for a missing file, and for every path that leaves the folder by dots, separators or links.
 */
export async function openAsset(webDir: string, path: string, encodings: readonly Encoding[]): Promise<Asset | null> {
  const segments = path.split('/');
  if (!segments.every(isPlainName)) return null;
  const root = await realpath(join(webDir, 'assets')).catch(orNull);
  const file = root === null ? null : await realpath(join(root, ...segments)).catch(orNull);
  // Names may be links; what counts is where they lead.
  if (root === null || file === null || !file.startsWith(root + sep)) return null;
  const found = await stat(file).catch(orNull);
  if (!found?.isFile()) return null;
  const type = contentType(segments.at(-1) ?? '') || 'application/octet-stream';
  for (const encoding of encodings) {
    const compressed = file + SUFFIXES[encoding];
    const stored = await stat(compressed).catch(orNull);
    if (stored?.isFile()) return { type, size: stored.size, encoding, read: () => createReadStream(compressed) };
  }
  return { type, size: found.size, encoding: null, read: () => createReadStream(file) };
}

/** A file name and nothing else: no way up, no hidden file, no separator of any system, no byte that ends a name. */
const isPlainName = (segment: string): boolean =>
  segment !== '' && segment.length <= 255 && !segment.startsWith('.') && !/[\\/:\p{Cc}]/u.test(segment);

function orNull(error: NodeJS.ErrnoException): null {
  const absent = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EACCES', 'EISDIR'];
  if (absent.includes(error.code ?? '')) return null;
  throw error;
}
