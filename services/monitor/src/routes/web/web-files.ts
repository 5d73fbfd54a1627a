import { createReadStream, type ReadStream } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { contentType } from 'mime-types';

export interface Asset {
  type: string;
  size: number;
  read(): ReadStream;
}

/** The dashboard's page; null where it has not been built. */
export const readPage = (webDir: string): Promise<string | null> =>
  readFile(join(webDir, 'index.html'), 'utf8').catch(orNull);

/**
 * Opens a file below `<webDir>/assets`.
 * @param path decoded once, as a browser would have meant it.
 * @returns null for a missing file, and for every path that leaves the folder by dots, separators or links.
 */
export async function openAsset(webDir: string, path: string): Promise<Asset | null> {
  const segments = path.split('/');
  if (!segments.every(isPlainName)) return null;
  const root = await realpath(join(webDir, 'assets')).catch(orNull);
  const file = root === null ? null : await realpath(join(root, ...segments)).catch(orNull);
  // Names may be links; what counts is where they lead.
  if (root === null || file === null || !file.startsWith(root + sep)) return null;
  const found = await stat(file).catch(orNull);
  if (!found?.isFile()) return null;
  const type = contentType(segments.at(-1) ?? '') || 'application/octet-stream';
  return { type, size: found.size, read: () => createReadStream(file) };
}

/** A file name and nothing else: no way up, no hidden file, no separator of any system, no byte that ends a name. */
const isPlainName = (segment: string): boolean =>
  segment !== '' && segment.length <= 255 && !segment.startsWith('.') && !/[\\/:\p{Cc}]/u.test(segment);

function orNull(error: NodeJS.ErrnoException): null {
  const absent = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EACCES', 'EISDIR'];
  if (absent.includes(error.code ?? '')) return null;
  throw error;
}
