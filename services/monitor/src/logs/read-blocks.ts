import { createReadStream } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';

export interface LogFile {
  path: string;
  /** The name without extension and without what rotation has added. */
  agent: string;
  /** Distinguishes the file from another one that later gets its name; a rotated file keeps it. */
  id: string;
  size: number;
  gzipped: boolean;
}

/** `name.log`, then `.1` or `-20261121` as logrotate adds it, then `.gz`. */
const NAME = /^(.+)\.log(?:\.\d+|-\d{4,14})?(\.gz)?$/;

/**
 * The log files of a folder, of all agents, rotated ones included. A folder that is missing or cannot be read has none.
 * Our own logger rotates `name.log` to `name1.log`, `name2.log` and so on: those count as `name`'s where `name.log` is
 * there.
 */
export async function listLogFiles(dir: string): Promise<LogFile[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  const named = entries.flatMap((entry) => {
    const match = entry.isFile() ? NAME.exec(entry.name) : null;
    return match?.[1] ? [{ name: entry.name, base: match[1], gzipped: match[2] !== undefined }] : [];
  });
  const bases = new Set(named.map(({ base }) => base));
  const files = named.map(async ({ name, base, gzipped }) => {
    const path = join(dir, name);
    const unnumbered = base.replace(/\d{1,2}$/, '');
    const agent = unnumbered !== base && bases.has(unnumbered) ? unnumbered : base;
    // It may have been rotated away since it was listed.
    const found = await stat(path, { bigint: true }).catch(() => null);
    return found && { path, agent, id: `${found.dev}:${found.ino}`, size: Number(found.size), gzipped };
  });
  return (await Promise.all(files)).filter((file) => file !== null);
}

/** Octets that are read at a time; a longer line makes its block longer. */
const BLOCK = 1024 * 1024;
/** A line beyond this is no log entry; what is that long is passed over, so that memory stays bounded. */
const MAX_LINE = 16 * BLOCK;
export const NEWLINE = 0x0a;

export interface Block {
  bytes: Buffer;
  /** Offset in the file, uncompressed. */
  start: number;
}

/**
 * A file in blocks of whole lines, about 1 MiB each, from `start` to `end` (both at the beginning of a line). A gzipped
 * file is always read whole, and its offsets are those of what is inside. A last line without its newline is left out: it
 * is being written.
 * @param room where blocks are read to, one after the other: each is valid until the next is read.
 */
export const readBlocks = (file: LogFile, start = 0, end = file.size, room = newRoom()): AsyncGenerator<Block> =>
  file.gzipped ? readGzipped(file.path) : readPlain(file.path, { start, end }, room);

/** Memory for blocks; one for many files spares the allocation of each. */
export const newRoom = (): Buffer => Buffer.allocUnsafe(BLOCK);

async function* readPlain(
  path: string,
  { start, end }: { start: number; end: number },
  room: Buffer,
): AsyncGenerator<Block> {
  const handle = await open(path);
  try {
    let buffer = room;
    for (let at = start; at < end; ) {
      const wanted = Math.min(buffer.length, end - at);
      const { bytesRead } = await handle.read(buffer, 0, wanted, at);
      if (bytesRead === 0) return;
      const whole = buffer.lastIndexOf(NEWLINE, bytesRead - 1) + 1;
      if (whole > 0) yield { bytes: buffer.subarray(0, whole), start: at };
      else if (at + bytesRead >= end) return;
      const isTooLong = whole === 0 && buffer.length >= MAX_LINE;
      at += isTooLong ? bytesRead : whole;
      // A line that is longer than the room: again, with more of it.
      buffer = whole > 0 || isTooLong ? room : Buffer.allocUnsafe(buffer.length * 2);
    }
  } finally {
    await handle.close();
  }
}

async function* readGzipped(path: string): AsyncGenerator<Block> {
  let rest = Buffer.alloc(0);
  let at = 0;
  for await (const chunk of createReadStream(path).compose(createGunzip()) as AsyncIterable<Buffer>) {
    rest = Buffer.concat([rest, chunk]);
    const whole = rest.lastIndexOf(NEWLINE) + 1;
    if (rest.length < BLOCK || (whole === 0 && rest.length < MAX_LINE)) continue;
    if (whole > 0) yield { bytes: rest.subarray(0, whole), start: at };
    at += whole || rest.length;
    rest = rest.subarray(whole || rest.length);
  }
  const whole = rest.lastIndexOf(NEWLINE) + 1;
  if (whole > 0) yield { bytes: rest.subarray(0, whole), start: at };
}

/** Calls back with the bounds of each line, the newest last; `end` is its newline. */
export function eachLine(bytes: Buffer, use: (start: number, end: number) => void): void {
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
    if (end > start) use(start, end);
    start = end + 1;
  }
}
