import { type FileSymbol, withoutTrailing } from '@pipeline/domain';

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

/** The text of a Markdown heading without the number signs around it; '' for every other line. */
function headingOf(line: string): string {
  const mark = /^ {0,3}#{1,6}\s/.exec(line)?.[0];
  return mark === undefined ? '' : withoutTrailing(line.slice(mark.length).trim(), '#').trim();
}

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

/** Lists what a file declares at its top level, in the order of its lines; nothing for languages that are not read. */
export function symbolsOf(language: string | null, text: string): FileSymbol[] {
  const reader = language === null ? undefined : READERS[language];
  return reader ? reader(text.split(/\r?\n/)) : [];
}
