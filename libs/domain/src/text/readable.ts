/**
 * The lines of Markdown written by its author: without HTML comments, code blocks, code spans and quotations. Removed
 * text becomes empty, so lines keep their numbers. An unclosed comment or fence continues to the end, as it does when
 * rendered.
 */
export function ownWords(markdown: string): string[] {
  const reader: Reader = { fence: null, quoted: false, inList: false, blankBefore: true, inCode: false };
  const text = markdown.replace(/\r\n?/g, '\n').replace(/<!--[\s\S]*?(?:-->|$)/g, blanked);
  return text.split('\n').map((line) => readLine(reader, line));
}

/** Line breaks are kept, so that later text keeps its line. */
const blanked = (hidden: string): string => hidden.replace(/[^\n]/g, '');

interface Reader {
  /** The fence that opened the current code block. */
  fence: string | null;
  /** In a quotation, which plain lines continue. */
  quoted: boolean;
  inList: boolean;
  blankBefore: boolean;
  /** In an indented code block. */
  inCode: boolean;
}

const FENCE = /^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(`{3,}(?=[^`]*$)|~{3,})/;
const ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])\s/;
/** Lines that may begin a block; most do not. */
const MARKED = /^\s*[-*+_#>`~\d]/;
const HEADING = /^ {0,3}(?:#{1,6}(?:\s|$)|(?:[-*_]\s*){3,}$)/;

function readLine(reader: Reader, line: string): string {
  if (reader.fence !== null) {
    if (closes(line, reader.fence)) reader.fence = null;
    return '';
  }
  const blank = line.trim() === '';
  const kept = blank ? '' : readBlock(reader, line);
  reader.blankBefore = blank;
  if (blank) reader.quoted = false;
  return kept;
}

function readBlock(reader: Reader, line: string): string {
  const marked = MARKED.test(line);
  if (marked) readQuote(reader, line);
  if (reader.quoted) return '';
  reader.inCode = isCode(reader, line);
  if (reader.inCode) return '';
  const item = marked && ITEM.test(line);
  // A list continues over indented lines, and ends at an unindented line that is no item.
  reader.inList = item || (reader.inList && (/^\s/.test(line) || !reader.blankBefore));
  const [, fence] = (marked && FENCE.exec(line)) || [];
  if (fence === undefined) return withoutSpans(line);
  reader.fence = fence;
  return '';
}

function readQuote(reader: Reader, line: string): void {
  if (/^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?>/.test(line)) reader.quoted = true;
  else if (reader.quoted && (ITEM.test(line) || FENCE.test(line) || HEADING.test(line))) reader.quoted = false;
}

/** Four spaces begin code after an empty line, except in a list, whose items are indented too. */
const isCode = ({ inCode, inList, blankBefore }: Reader, line: string): boolean =>
  /^(?: {4}| {0,3}\t)/.test(line) && !inList && (inCode || blankBefore);

const closes = (line: string, fence: string): boolean => {
  const run = line.trim();
  return run.length >= fence.length && run === (fence[0] ?? '').repeat(run.length);
};

/**
 * Replaces code spans by a blank. A span ends with as many backticks as it began with; without an end the backticks are
 * plain. Linear: the runs of each length are found once.
 */
function withoutSpans(line: string): string {
  if (!line.includes('`')) return line;
  const runs = [...line.matchAll(/`+/g)].map(({ index, 0: run }) => ({ start: index, length: run.length }));
  const byLength = Map.groupBy(runs.toReversed(), ({ length }) => length);
  let [kept, end] = ['', 0];
  for (const { start, length } of runs) {
    if (start < end) continue;
    const alike = byLength.get(length) ?? [];
    while ((alike.at(-1)?.start ?? Number.POSITIVE_INFINITY) <= start) alike.pop();
    const closing = alike.at(-1);
    if (!closing) continue;
    kept += `${line.slice(end, start)} `;
    end = closing.start + length;
  }
  return kept + line.slice(end);
}
