import { MAX_MAPPED_FILES, type MappedFile, type MappedSymbol } from '@pipeline/domain';
import type { AgentRecordInput } from '@pipeline/worker';
import type { Checkout } from '../checkout.ts';
import { languageOf } from '../code-map/languages.ts';
import { symbolsOf } from '../code-map/symbols.ts';
import { type OutcomeInput, outcome } from './context.ts';

interface ScanContext {
  checkout: Checkout;
  emit(record: AgentRecordInput): void;
}

/** The runner takes lines of up to 1 MiB. */
const MAX_PART_CHARS = 400_000;

/** Maps the default branch: its files as git lists them, and what each declares. */
export async function scan({ checkout, emit }: ScanContext): Promise<OutcomeInput> {
  const headSha = await checkout.commitOf(checkout.base);
  const blobs = await checkout.blobs();
  const listed = blobs.slice(0, MAX_MAPPED_FILES);
  emit({ type: 'progress', status: `Mapping ${listed.length} of ${blobs.length} files` });
  const tree = await checkout.tree();
  const part = new Part(emit);
  for (const { path, sha, size } of listed) {
    const language = languageOf(path);
    const text = language === null ? null : tree.read(path);
    const symbols = text === null ? [] : symbolsOf(language, text).map((symbol) => ({ path, ...symbol }));
    part.add({ path, language, sha, size, summary: null }, symbols);
  }
  part.send();
  return outcome('scanned', { headSha, truncated: listed.length < blobs.length, files: [], symbols: [] });
}

/** Files with their symbols, sent on before they outgrow a line. */
class Part {
  readonly #emit: ScanContext['emit'];
  #files: MappedFile[] = [];
  #symbols: MappedSymbol[] = [];
  #chars = 0;

  constructor(emit: ScanContext['emit']) {
    this.#emit = emit;
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
    if (this.#chars > 0) this.#emit({ type: 'code-map', files: this.#files, symbols: this.#symbols });
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
