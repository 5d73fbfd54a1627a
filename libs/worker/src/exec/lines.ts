const NEWLINE = 0x0a;

export interface LineHandlers {
  onLine(line: string): void;
  /** A line above the limit; `start` is its retained beginning. */
  onTooLong(start: string, bytes: number): void;
}

/** Splits a byte stream into lines, buffering at most the limit. */
export interface LineSplitter {
  push(chunk: Buffer): void;
  /** Text after the last newline is a line, too. */
  end(): void;
}

const MAX_LINE_BYTES = 1024 * 1024;
const KEPT_OF_TOO_LONG = 1_000;

export function splitLines({ onLine, onTooLong }: LineHandlers, maxBytes = MAX_LINE_BYTES): LineSplitter {
  let parts: Buffer[] = [];
  let size = 0;

  const add = (part: Buffer) => {
    // Above the limit only the length is counted.
    if (size <= maxBytes) parts.push(part);
    size += part.length;
  };
  const finish = () => {
    const line = Buffer.concat(parts);
    if (size > maxBytes) onTooLong(line.toString('utf8', 0, KEPT_OF_TOO_LONG), size);
    else if (size > 0) onLine(line.toString('utf8').replace(/\r$/, ''));
    parts = [];
    size = 0;
  };

  return {
    push(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
        add(chunk.subarray(from, at));
        finish();
        from = at + 1;
      }
      if (from < chunk.length) add(chunk.subarray(from));
    },
    end: finish,
  };
}
