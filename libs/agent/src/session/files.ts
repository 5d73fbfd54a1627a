import { dirname, isAbsolute, resolve } from 'node:path';
import { RequestError } from '@agentclientprotocol/sdk/unstable';
import { CONFINER_ENV } from '@pipeline/worker';
import type { Box } from '../sandbox/sandbox.ts';
import { isGitInternal, isInside, realPath } from './paths.ts';

const MAX_READ_BYTES = 16 * 1024 * 1024;
/** A named pipe that took the place of a file ends a request, not the worker. */
const WITHIN_MS = 20_000;
/** Each request is a program with several descriptors of the worker. */
const MAX_RUNNING = 16;
const MAX_WAITING = 1_000;

const READ =
  'if [ -f "$1" ]; then exec cat < "$1"; fi; [ -e "$1" ] || exit 4; echo "it is no regular file" >&2; exit 5';
const WRITE =
  'mkdir -p "$2"; if [ ! -e "$1" ] || [ -f "$1" ]; then exec cat > "$1"; fi; echo "it is no regular file" >&2; exit 5';
const MISSING = 4;

/**
 * The file methods of the protocol, limited to the work tree. A program in the box of the agent reads and writes: it has no
 * more rights than the agent, which may replace a folder by a link after the path was checked.
 */
export class WorkTreeFiles {
  readonly #root: string;
  readonly #box: Box;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(root: string, box: Box) {
    this.#root = root;
    this.#box = box;
  }

  /** @param window first line, one-based, and number of lines; absent = the whole file. */
  async read(path: string, window: { line?: number | null; limit?: number | null } = {}): Promise<string> {
    this.#check(path);
    const text = await this.#run(path, READ, '');
    const { line, limit } = window;
    if (line == null && limit == null) return text;
    const from = Math.max(0, (line ?? 1) - 1);
    return text
      .split('\n')
      .slice(from, limit == null ? undefined : from + limit)
      .join('\n');
  }

  async write(path: string, content: string): Promise<void> {
    this.#check(path);
    if (isGitInternal(this.#root, path)) throw refused(path, 'belongs to git');
    await this.#run(path, WRITE, content);
  }

  #check(path: string): void {
    if (!isInside(this.#root, path)) throw refused(path, 'is outside the work tree');
  }

  async #run(path: string, script: string, input: string): Promise<string> {
    const target = realPath(isAbsolute(path) ? path : resolve(this.#root, path));
    const command = ['/bin/sh', '-euc', script, 'sh', target, dirname(target)] as const;
    const limits = { input, maxBytes: MAX_READ_BYTES, timeoutMs: WITHIN_MS };
    const { exitCode, stdout, stderr } = await this.#inTurn(() =>
      this.#box.run({ command, env: CONFINER_ENV, cwd: this.#root }, limits),
    ).catch((error: Error) => Promise.reject(refused(path, `cannot be used: ${error.message}`)));
    if (exitCode === MISSING) throw RequestError.resourceNotFound(path);
    if (exitCode !== 0) throw refused(path, `cannot be used: ${stderr.trim()}`);
    return stdout.toString('utf8');
  }

  /** @throws Error when too many requests wait. */
  async #inTurn<T>(run: () => Promise<T>): Promise<T> {
    if (this.#running < MAX_RUNNING) this.#running += 1;
    else if (this.#waiting.length < MAX_WAITING) await new Promise<void>((next) => this.#waiting.push(next));
    else throw new Error(`more than ${MAX_WAITING} requests wait`);
    try {
      return await run();
    } finally {
      // The next one takes the place of this one.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}

const refused = (path: string, why: string): RequestError => RequestError.invalidParams({ path }, `${path} ${why}`);
