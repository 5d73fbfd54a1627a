import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_MAPPED_FILES, type MappedFile, type MappedSymbol } from '@pipeline/domain';
import type { RunRecord } from '@pipeline/worker';
import type { Mirror } from '../git/mirror.ts';
import { names } from '../git/run-git.ts';
import type { WorkTree } from '../git/work-tree.ts';
import { languageOf } from './languages.ts';
import { symbolsOf } from './symbols.ts';

/** Maximum characters of one code-map record. */
const MAX_PART_CHARS = 400_000;
/** Longer paths do not fit into a code map. */
const MAX_PATH = 1_000;
/** Larger files are listed without symbols. */
const MAX_FILE_BYTES = 2 * 1024 * 1024;

export interface ScanContext {
  mirror: Mirror;
  tree: WorkTree;
  record(record: RunRecord): void;
}

/**
 * Records the files of the default branch and what each declares, without a model. @returns the result of the outcome
 * `scanned`, to which the recorded parts are added.
 */
export async function scan({ mirror, tree, record }: ScanContext): Promise<Record<string, unknown>> {
  const headSha = tree.start.base;
  const blobs = await listBlobs(mirror, headSha);
  const listed = blobs.slice(0, MAX_MAPPED_FILES);
  const status = `Mapping ${listed.length} of ${blobs.length} files`;
  record({ type: 'progress', status, details: null });
  const part = new Part(record);
  for (const { path, sha, size } of listed) {
    const language = languageOf(path);
    const text = language === null || size > MAX_FILE_BYTES ? null : await readText(join(tree.dir, path));
    const symbols = text === null ? [] : symbolsOf(language, text).map((symbol) => ({ path, ...symbol }));
    part.add({ path, language, sha, size, summary: null }, symbols);
  }
  part.send();
  return { headSha, truncated: listed.length < blobs.length, files: [], symbols: [] };
}

/** The regular files of a commit; sizes in bytes. */
async function listBlobs(mirror: Mirror, commit: string): Promise<{ path: string; sha: string; size: number }[]> {
  return names(await mirror.git(['ls-tree', '-r', '-l', '-z', commit])).flatMap((entry) => {
    const [, mode, sha = '', size, path = ''] = /^(\d+) \w+ (\w+) +(\S+)\t(.*)$/s.exec(entry) ?? [];
    return mode?.startsWith('100') && path.length <= MAX_PATH ? [{ path, sha, size: Number(size) }] : [];
  });
}

/** Returns the text of a file; null when it is not UTF-8. */
async function readText(path: string): Promise<string | null> {
  const bytes = await readFile(path).catch(() => null);
  if (bytes === null || bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Files with their symbols, recorded before they exceed the size of a part. */
class Part {
  readonly #record: ScanContext['record'];
  #files: MappedFile[] = [];
  #symbols: MappedSymbol[] = [];
  #chars = 0;

  constructor(record: ScanContext['record']) {
    this.#record = record;
  }

  add(file: MappedFile, symbols: readonly MappedSymbol[]): void {
    this.#makeRoom(file);
    this.#files.push(file);
    for (const symbol of symbols) {
      this.#makeRoom(symbol);
      this.#symbols.push(symbol);
    }
  }

  send(): void {
    if (this.#chars > 0) this.#record({ type: 'code-map', files: this.#files, symbols: this.#symbols });
    this.#files = [];
    this.#symbols = [];
    this.#chars = 0;
  }

  #makeRoom(item: object): void {
    const chars = JSON.stringify(item).length;
    if (this.#chars + chars > MAX_PART_CHARS) this.send();
    this.#chars += chars;
  }
}
