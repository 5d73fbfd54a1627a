import {
  MAX_MAPPED_FILES,
  MAX_MAPPED_SYMBOLS,
  type MappedFile,
  type MappedSymbol,
  type ScannedResult,
} from '@pipeline/domain';

/** Collects the code-map lines of a scan for one report, because a whole repository does not fit into one line. */
export class CodeMap {
  readonly #files: MappedFile[] = [];
  readonly #symbols: MappedSymbol[] = [];
  #isPartial = false;

  add({ files, symbols }: { files: readonly MappedFile[]; symbols: readonly MappedSymbol[] }): void {
    for (const file of files) if (this.#fits(this.#files, MAX_MAPPED_FILES)) this.#files.push(file);
    for (const symbol of symbols) if (this.#fits(this.#symbols, MAX_MAPPED_SYMBOLS)) this.#symbols.push(symbol);
  }

  /** Returns the collected map merged with the outcome's result, truncated to the limits and marked when truncated. */
  completed(said: ScannedResult): ScannedResult {
    this.add(said);
    if (!this.#isPartial) return { ...said, files: this.#files, symbols: this.#symbols };
    const kept = new Set(this.#files.map(({ path }) => path));
    const symbols = this.#symbols.filter(({ path }) => kept.has(path));
    return { ...said, truncated: true, files: this.#files, symbols };
  }

  #fits(list: readonly unknown[], max: number): boolean {
    if (list.length < max) return true;
    this.#isPartial = true;
    return false;
  }
}
