import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

export interface LogFile {
  path: string;
  /** The name without extension and without what rotation has added. */
  agent: string;
  /** Tells the file from another one that later gets its name; a rotated file keeps it. */
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
