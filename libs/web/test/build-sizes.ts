import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

interface Chunk {
  file: string;
  css?: string[];
  imports?: string[];
}

const FIRST = 'index.html';
const LARGE = 10_000;

/** The sizes of built pages, in bytes. @param dist the folder that the build wrote. */
export class BuildSizes {
  readonly #dist: string;
  readonly #chunks: Record<string, Chunk>;

  constructor(dist: string) {
    this.#dist = dist;
    this.#chunks = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8'));
  }

  /** Modules of the pages, each loaded when it is opened. */
  get pages(): string[] {
    return Object.keys(this.#chunks).filter((name) => /^src\/pages\/.*-page\.tsx$/.test(name));
  }

  /** Compressed script that a browser loads for the first page, and for what it loads later by itself. */
  firstScript(later: readonly string[]): number {
    return this.#compressed(this.#filesOf([FIRST, ...later]), '.js');
  }

  /** Files that a browser loads before the first page is shown. */
  get firstFiles(): string[] {
    return [...this.#filesOf([FIRST])];
  }

  /** Compressed script that a page adds to the shell. */
  addedScript(page: string): number {
    return this.#compressed(this.#filesOf([page]).difference(this.#filesOf([FIRST])), '.js');
  }

  /** Compressed styles of all pages. */
  get styles(): number {
    return this.#compressed(new Set(this.#assets.filter((file) => file.endsWith('.css'))), '.css');
  }

  /** Files from 10 kB on whose compressed copies are missing, or are not smaller than the file. */
  get badlyCompressed(): string[] {
    const size = (file: string) =>
      existsSync(join(this.#dist, file)) ? statSync(join(this.#dist, file)).size : Infinity;
    return this.large.filter((file) => !(size(`${file}.br`) < size(`${file}.gz`) && size(`${file}.gz`) < size(file)));
  }

  /** Scripts and styles from 10 kB on. */
  get large(): string[] {
    return this.#assets.filter((file) => statSync(join(this.#dist, file)).size > LARGE);
  }

  get #assets(): string[] {
    const files = readdirSync(join(this.#dist, 'assets')).filter((file) => /\.(js|css)$/.test(file));
    return files.map((file) => `assets/${file}`);
  }

  /** The files of these modules, with what they import statically. */
  #filesOf(modules: readonly string[], seen = new Set<string>()): Set<string> {
    for (const name of modules) {
      const chunk = this.#chunks[name];
      if (!chunk || seen.has(chunk.file)) continue;
      seen.add(chunk.file);
      for (const file of chunk.css ?? []) seen.add(file);
      this.#filesOf(chunk.imports ?? [], seen);
    }
    return seen;
  }

  #compressed(files: ReadonlySet<string>, type: string): number {
    return [...files]
      .filter((file) => file.endsWith(type))
      .reduce((sum, file) => sum + gzipSync(readFileSync(join(this.#dist, file)), { level: 9 }).length, 0);
  }
}
