import {
  type FileSymbol,
  MAX_MAPPED_FILES,
  type MappedFile,
  type MappedSymbol,
  withoutTrailing,
} from '@pipeline/domain';
import type { RunRecord } from '@pipeline/worker';
import type { Mirror } from '../git/mirror.ts';
import { names } from '../git/run-git.ts';

const MAX_NAME = 200;

type Reader = (lines: readonly string[]) => FileSymbol[];

/** Declarations at the beginning of a line, by a pattern whose groups are kind and name. */
const declarations =
  (pattern: RegExp): Reader =>
  (lines) =>
    lines.flatMap((line, index) => {
      const { kind, name } = pattern.exec(line)?.groups ?? {};
      return kind === undefined || name === undefined ? [] : [{ name: name.slice(0, MAX_NAME), kind, line: index + 1 }];
    });

const script = declarations(
  /^(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?<kind>function|class|interface|type|enum|const|let|var)\b\*?\s*(?<name>[A-Za-z_$][\w$]*)/,
);

/** Headings, those in fenced code left out. */
const markdown: Reader = (lines) => {
  let fence: string | null = null;
  return lines.flatMap((line, index) => {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined && (fence === null || mark.startsWith(fence))) {
      fence = fence === null ? mark : null;
      return [];
    }
    const name = fence === null ? headingOf(line) : '';
    return name === '' ? [] : [{ name: name.slice(0, MAX_NAME), kind: 'heading', line: index + 1 }];
  });
};

const READERS: Readonly<Record<string, Reader>> = {
  JavaScript: script,
  TypeScript: script,
  Markdown: markdown,
  Python: declarations(/^(?:async\s+)?(?<kind>def|class)\s+(?<name>[A-Za-z_]\w*)/),
  Go: declarations(/^(?<kind>func|type|const|var)\s+(?:\([^)]*\)\s*)?(?<name>[A-Za-z_]\w*)/),
  Rust: declarations(
    /^(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?(?<kind>fn|struct|enum|trait|mod|const|static)\s+(?<name>[A-Za-z_]\w*)/,
  ),
  SQL: declarations(
    /^create\s+(?:or\s+replace\s+)?(?<kind>table|view|function)\s+(?:if\s+not\s+exists\s+)?(?<name>[\w.]+)/i,
  ),
};

const BY_EXTENSION: Readonly<Record<string, string>> = {
  c: 'C',
  cc: 'C++',
  cpp: 'C++',
  cs: 'C#',
  css: 'CSS',
  cts: 'TypeScript',
  go: 'Go',
  h: 'C',
  html: 'HTML',
  java: 'Java',
  js: 'JavaScript',
  json: 'JSON',
  jsx: 'JavaScript',
  kt: 'Kotlin',
  markdown: 'Markdown',
  md: 'Markdown',
  mjs: 'JavaScript',
  mts: 'TypeScript',
  php: 'PHP',
  py: 'Python',
  rb: 'Ruby',
  rs: 'Rust',
  sh: 'Shell',
  sql: 'SQL',
  svg: 'SVG',
  toml: 'TOML',
  ts: 'TypeScript',
  tsx: 'TypeScript',
  yaml: 'YAML',
  yml: 'YAML',
};

const BY_NAME: Readonly<Record<string, string>> = { dockerfile: 'Dockerfile', makefile: 'Makefile' };

/** Maximum characters of one code-map record. */
const MAX_PART_CHARS = 400_000;
/** Longer paths do not fit into a code map. */
const MAX_PATH = 1_000;
/** Larger files are listed without symbols. */
const MAX_FILE_BYTES = 2 * 1024 * 1024;

export interface ScanContext {
  mirror: Mirror;
  /** Commit of the default branch. */
  commit: string;
  record(record: RunRecord): void;
  signal: AbortSignal;
}

/**
 * Records the files of the default branch and what each declares, without a model. @returns the result of the outcome
 * `scanned`, to which the recorded parts are added.
 */
export async function scan({ mirror, commit: headSha, record, signal }: ScanContext): Promise<Record<string, unknown>> {
  const blobs = await listBlobs(mirror, headSha);
  const listed = blobs.slice(0, MAX_MAPPED_FILES);
  const status = `Mapping ${listed.length} of ${blobs.length} files`;
  record({ type: 'progress', status, details: null });
  const part = new Part(record);
  const isRead = ({ path, size }: Blob) => languageOf(path) !== null && size <= MAX_FILE_BYTES;
  const texts = mirror.blobs(
    listed.filter(isRead).map(({ sha }) => sha),
    signal,
  );
  for (const blob of listed) {
    const { path, sha, size } = blob;
    const language = languageOf(path);
    const bytes = isRead(blob) ? (await texts.next()).value : undefined;
    const text = bytes ? textOf(bytes) : null;
    const symbols = text === null ? [] : symbolsOf(language, text).map((symbol) => ({ path, ...symbol }));
    part.add({ path, language, sha, size, summary: null }, symbols);
  }
  part.send();
  return { headSha, truncated: listed.length < blobs.length, files: [], symbols: [] };
}

/** A regular file of a commit. */
interface Blob {
  path: string;
  sha: string;
  /** Bytes. */
  size: number;
}

/** The regular files of a commit. */
async function listBlobs(mirror: Mirror, commit: string): Promise<Blob[]> {
  return names(await mirror.git(['ls-tree', '-r', '-l', '-z', commit])).flatMap((entry) => {
    const [, mode, sha = '', size, path = ''] = /^(\d+) \w+ (\w+) +(\S+)\t(.*)$/s.exec(entry) ?? [];
    return mode?.startsWith('100') && path.length <= MAX_PATH ? [{ path, sha, size: Number(size) }] : [];
  });
}

/** Returns the text of a file; null when it is not UTF-8. */
function textOf(bytes: Buffer): string | null {
  if (bytes.includes(0)) return null;
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

/** The language of a file by its name; null for an unknown name. */
export function languageOf(path: string): string | null {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const extension = /\.([^.]+)$/.exec(name)?.[1];
  return BY_NAME[name] ?? (extension === undefined ? null : (BY_EXTENSION[extension] ?? null));
}

/** The text of a Markdown heading without the number signs around it; '' for every other line. */
function headingOf(line: string): string {
  const mark = /^ {0,3}#{1,6}\s/.exec(line)?.[0];
  return mark === undefined ? '' : withoutTrailing(line.slice(mark.length).trim(), '#').trim();
}

/** Lists what a file declares at its top level, in the order of its lines; nothing for languages that are not read. */
export function symbolsOf(language: string | null, text: string): FileSymbol[] {
  const reader = language === null ? undefined : READERS[language];
  return reader ? reader(text.split(/\r?\n/)) : [];
}
