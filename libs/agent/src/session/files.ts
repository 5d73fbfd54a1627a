import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readlink } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import { RequestError } from '@agentclientprotocol/sdk/unstable';
import type { RunAs } from '@pipeline/worker';
import { isGitInternal, isInside, realPath } from './paths.ts';

const MAX_READ_BYTES = 16 * 1024 * 1024;

/**
 * The file methods of the protocol, limited to the work tree. The path is checked before a file is opened and again on the
 * open file, because the agent may replace a folder by a link in between.
 */
export class WorkTreeFiles {
  readonly #root: string;
  readonly #user: RunAs | null;

  /** @param user owner of created files; null = user of this process. */
  constructor(root: string, user: RunAs | null) {
    this.#root = root;
    this.#user = user;
  }

  /** @param window first line, one-based, and number of lines; absent = the whole file. */
  async read(path: string, window: { line?: number | null; limit?: number | null } = {}): Promise<string> {
    const file = await this.#open(path, constants.O_RDONLY);
    try {
      const { size } = await file.stat();
      if (size > MAX_READ_BYTES) throw RequestError.invalidParams({ path }, `the file has ${size} bytes`);
      const text = await file.readFile('utf8');
      const { line, limit } = window;
      if (line == null && limit == null) return text;
      const from = Math.max(0, (line ?? 1) - 1);
      return text
        .split('\n')
        .slice(from, limit == null ? undefined : from + limit)
        .join('\n');
    } finally {
      await file.close();
    }
  }

  async write(path: string, content: string): Promise<void> {
    this.#check(path);
    if (isGitInternal(this.#root, path)) throw refused(path, 'belongs to git');
    await mkdir(dirname(realPath(this.#absolute(path))), { recursive: true });
    const file = await this.#open(path, constants.O_WRONLY | constants.O_CREAT);
    try {
      if (this.#user !== null) await file.chown(this.#user.uid, this.#user.gid);
      await file.truncate();
      await file.writeFile(content);
    } finally {
      await file.close();
    }
  }

  #absolute(path: string): string {
    return isAbsolute(path) ? path : resolve(this.#root, path);
  }

  #check(path: string): void {
    if (!isInside(this.#root, path)) throw refused(path, 'is outside the work tree');
  }

  async #open(path: string, flags: number): Promise<FileHandle> {
    this.#check(path);
    const target = realPath(this.#absolute(path));
    const file = await open(target, flags | constants.O_NOFOLLOW).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') throw RequestError.resourceNotFound(path);
      throw RequestError.invalidParams({ path }, error.message);
    });
    const opened = await readlink(`/proc/self/fd/${file.fd}`).catch(() => realPath(target));
    if (isInside(this.#root, opened)) return file;
    await file.close();
    throw refused(path, 'is outside the work tree');
  }
}

const refused = (path: string, why: string): RequestError => RequestError.invalidParams({ path }, `${path} ${why}`);
